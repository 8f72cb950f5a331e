//! `--rewrite-db`: prints changes of one database as changes of another.
//!
//! As in `mariadb-binlog`, this concerns the default database of statements and the tables of rows. A database that is
//! named in a statement's text is not changed. An encoded table map keeps its checksum: servers do not check it in a
//! BINLOG statement.

use paceline_binlog::event::HEADER_LENGTH;
use std::str::FromStr;

/// Offset of the length in an event's header.
const LENGTH_OFFSET: usize = 9;
/// Number of bytes before the database's name in the body of a table map: table number and flags.
const TABLE_MAP_HEAD: usize = 8;
/// Maximum length of a database name in characters.
const NAME_MAX: usize = 64;

/// A rule FROM->TO.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rewrite {
    from: String,
    to: String,
}

impl FromStr for Rewrite {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (from, to) = text
            .split_once("->")
            .map(|(from, to)| (from.trim(), to.split_whitespace().next().unwrap_or_default()))
            .filter(|(from, to)| !from.is_empty() && !to.is_empty())
            .ok_or("Bad syntax in rewrite-db. Expected syntax is FROM->TO.")?;
        match to.chars().count() > NAME_MAX {
            true => Err("the name of a database has at most 64 characters"),
            false => Ok(Rewrite {
                from: from.to_owned(),
                to: to.to_owned(),
            }),
        }
    }
}

/// A list of rules. The first one for a database applies.
#[derive(Clone, Debug, Default)]
pub struct Rewrites(Vec<Rewrite>);

impl Rewrites {
    /// Creates the list from the command line.
    pub fn new(rewrites: &[Rewrite]) -> Self {
        Rewrites(rewrites.to_vec())
    }

    /// Returns the new name of a database; `None` if no rule applies.
    pub fn of(&self, database: &[u8]) -> Option<&[u8]> {
        let rewrite = self
            .0
            .iter()
            .find(|rewrite| rewrite.from.as_bytes() == database)?;
        Some(rewrite.to.as_bytes())
    }
}

/// Returns a table map with another database, whose name must have at most 255 bytes. Returns `None` if the bytes are
/// not a table map.
pub fn with_database(table_map: &[u8], database: &[u8]) -> Option<Vec<u8>> {
    let (head, rest) = table_map.split_at_checked(HEADER_LENGTH + TABLE_MAP_HEAD)?;
    let (length, rest) = rest.split_first()?;
    let behind = rest.get(usize::from(*length)..)?;
    let mut bytes = head.to_vec();
    bytes.push(u8::try_from(database.len()).ok()?);
    bytes.extend_from_slice(database);
    bytes.extend_from_slice(behind);
    let length = u32::try_from(bytes.len()).ok()?;
    bytes[LENGTH_OFFSET..LENGTH_OFFSET + 4].copy_from_slice(&length.to_le_bytes());
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read_as_mariadb_binlog_reads_them() {
        let read = |text: &str| text.parse::<Rewrite>().map(|rule| (rule.from, rule.to));
        let rule = |from: &str, to: &str| Ok((from.to_owned(), to.to_owned()));
        assert_eq!(read("a->b"), rule("a", "b"));
        assert_eq!(read(" my db -> x y"), rule("my db", "x"));
        assert_eq!(read("a->b->c"), rule("a", "b->c"));
        for wrong in [
            "",
            "ab",
            "->b",
            "  ->b",
            "a->",
            "a->  ",
            &format!("a->{}", "x".repeat(65)),
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_first_rule_counts() {
        let rules: Vec<Rewrite> = ["a->b", "a->c", "b->d"].map(|rule| rule.parse().unwrap()).into();
        let rewrites = Rewrites::new(&rules);
        assert_eq!(rewrites.of(b"a"), Some(&b"b"[..]));
        assert_eq!(rewrites.of(b"b"), Some(&b"d"[..]));
        assert_eq!(rewrites.of(b"A"), None);
    }

    #[test]
    fn the_database_of_a_table_map_is_replaced_and_other_bytes_are_refused() {
        let mut map = vec![0; HEADER_LENGTH + TABLE_MAP_HEAD];
        assert_eq!(with_database(&map, b"x"), None);
        map.extend_from_slice(b"\x02ab\0\x01t\0rest");
        let changed = with_database(&map, b"longer").unwrap();
        assert!(changed.ends_with(b"\x06longer\0\x01t\0rest"));
        assert_eq!(changed[LENGTH_OFFSET], changed.len() as u8);
        map.truncate(HEADER_LENGTH + TABLE_MAP_HEAD + 2);
        assert_eq!(with_database(&map, b"x"), None);
    }
}
