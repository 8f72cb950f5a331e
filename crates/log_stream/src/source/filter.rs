//! Replication filters: `replicate_do_db` and related variables.
//!
//! The rules are MariaDB's (`Rpl_filter`): a database is renamed first (`replicate_rewrite_db`); then the rules for
//! databases apply, then those for tables. Row events are filtered by their table, statements by their current
//! database.

use std::collections::BTreeSet;

/// Rules of a connection. Without rules everything is replicated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filters {
    /// `replicate_do_db`.
    pub do_databases: BTreeSet<String>,
    /// `replicate_ignore_db`.
    pub ignore_databases: BTreeSet<String>,
    /// `replicate_do_table`: `database.table`.
    pub do_tables: BTreeSet<String>,
    /// `replicate_ignore_table`.
    pub ignore_tables: BTreeSet<String>,
    /// `replicate_wild_do_table`: patterns with `%` and `_`.
    pub wild_do_tables: Vec<String>,
    /// `replicate_wild_ignore_table`.
    pub wild_ignore_tables: Vec<String>,
    /// `replicate_rewrite_db`: old and new name.
    pub rewrites: Vec<(String, String)>,
}

/// Kind of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilterKind {
    /// `replicate_do_db`.
    DoDb,
    /// `replicate_ignore_db`.
    IgnoreDb,
    /// `replicate_do_table`.
    DoTable,
    /// `replicate_ignore_table`.
    IgnoreTable,
    /// `replicate_wild_do_table`.
    WildDoTable,
    /// `replicate_wild_ignore_table`.
    WildIgnoreTable,
    /// `replicate_rewrite_db`.
    RewriteDb,
}

/// An invalid rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a rule of this kind")]
pub struct BadRule(pub String);

impl Filters {
    /// Sets the rules of a kind from a list separated by commas, as in the variable.
    ///
    /// # Errors
    /// [`BadRule`]; nothing is changed then.
    pub fn set(&mut self, kind: FilterKind, list: &str) -> Result<(), BadRule> {
        let items = || list.split(',').map(str::trim).filter(|item| !item.is_empty());
        let table = |item: &str| match item.split_once('.') {
            Some((database, table)) if !database.is_empty() && !table.is_empty() => Ok(item.to_owned()),
            _ => Err(BadRule(item.to_owned())),
        };
        match kind {
            FilterKind::DoDb => self.do_databases = items().map(str::to_owned).collect(),
            FilterKind::IgnoreDb => self.ignore_databases = items().map(str::to_owned).collect(),
            FilterKind::DoTable => self.do_tables = items().map(table).collect::<Result<_, _>>()?,
            FilterKind::IgnoreTable => self.ignore_tables = items().map(table).collect::<Result<_, _>>()?,
            FilterKind::WildDoTable => self.wild_do_tables = items().map(table).collect::<Result<_, _>>()?,
            FilterKind::WildIgnoreTable => {
                self.wild_ignore_tables = items().map(table).collect::<Result<_, _>>()?;
            }
            FilterKind::RewriteDb => {
                let pair = |item: &str| match item.split_once("->") {
                    Some((from, to)) if !from.trim().is_empty() && !to.trim().is_empty() => {
                        Ok((from.trim().to_owned(), to.trim().to_owned()))
                    }
                    _ => Err(BadRule(item.to_owned())),
                };
                self.rewrites = items().map(pair).collect::<Result<_, _>>()?;
            }
        }
        Ok(())
    }

    /// Returns the rules of a kind as `SHOW SLAVE STATUS` and the variable show them.
    pub fn show(&self, kind: FilterKind) -> String {
        let set = |names: &BTreeSet<String>| names.iter().cloned().collect::<Vec<_>>().join(",");
        match kind {
            FilterKind::DoDb => set(&self.do_databases),
            FilterKind::IgnoreDb => set(&self.ignore_databases),
            FilterKind::DoTable => set(&self.do_tables),
            FilterKind::IgnoreTable => set(&self.ignore_tables),
            FilterKind::WildDoTable => self.wild_do_tables.join(","),
            FilterKind::WildIgnoreTable => self.wild_ignore_tables.join(","),
            FilterKind::RewriteDb => {
                let pairs: Vec<String> = self
                    .rewrites
                    .iter()
                    .map(|(from, to)| format!("{from}->{to}"))
                    .collect();
                pairs.join(",")
            }
        }
    }

    /// Returns whether there is no rule.
    pub fn is_empty(&self) -> bool {
        *self == Filters::default()
    }

    /// Returns whether there are rules about tables.
    pub fn has_table_rules(&self) -> bool {
        !(self.do_tables.is_empty()
            && self.ignore_tables.is_empty()
            && self.wild_do_tables.is_empty()
            && self.wild_ignore_tables.is_empty())
    }

    /// Returns the name of a database on this server.
    pub fn rewrite<'a>(&'a self, database: &'a str) -> &'a str {
        self.rewrites
            .iter()
            .find(|(from, _)| from == database)
            .map_or(database, |(_, to)| to)
    }

    /// Returns whether changes in a database, under its name on this server, are replicated.
    pub fn wants_database(&self, database: &str) -> bool {
        if !self.do_databases.is_empty() {
            return self.do_databases.contains(database);
        }
        !self.ignore_databases.contains(database)
    }

    /// Returns whether the rules about tables allow changes of a table, under its name on this server.
    pub fn wants_table(&self, database: &str, table: &str) -> bool {
        self.wants_one_of([(database, table)])
    }

    /// Returns whether a statement that changes these tables is replicated. The first table that a rule names decides,
    /// as in MariaDB.
    pub fn wants_one_of<'a>(&self, tables: impl IntoIterator<Item = (&'a str, &'a str)>) -> bool {
        let mut decisions = tables
            .into_iter()
            .filter_map(|(database, table)| self.rule_for(&format!("{database}.{table}")));
        decisions
            .next()
            .unwrap_or(self.do_tables.is_empty() && self.wild_do_tables.is_empty())
    }

    /// Returns the decision of the rules on `database.table`, if one names it.
    fn rule_for(&self, name: &str) -> Option<bool> {
        let is_named = |patterns: &[String]| patterns.iter().any(|pattern| matches(pattern, name));
        if self.do_tables.contains(name) {
            return Some(true);
        }
        if self.ignore_tables.contains(name) {
            return Some(false);
        }
        if is_named(&self.wild_do_tables) {
            return Some(true);
        }
        is_named(&self.wild_ignore_tables).then_some(false)
    }

    /// Returns whether rows of a table are replicated.
    pub fn wants_rows(&self, database: &str, table: &str) -> bool {
        self.wants_database(database) && self.wants_table(database, table)
    }

    /// Returns whether the wildcard rules allow CREATE, ALTER and DROP DATABASE: a pattern `name.%` includes the
    /// database.
    pub fn wants_whole_database(&self, database: &str) -> bool {
        let is_whole = |pattern: &String| {
            pattern
                .split_once('.')
                .is_some_and(|(name, tables)| tables == "%" && matches(name, database))
        };
        if self.wild_do_tables.iter().any(is_whole) {
            return true;
        }
        if self.wild_ignore_tables.iter().any(is_whole) {
            return false;
        }
        self.wild_do_tables.is_empty()
    }
}

/// Matches like `LIKE`, with `%`, `_`, and a backslash before either.
fn matches(pattern: &str, text: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let text: Vec<char> = text.chars().collect();
    let (mut p, mut t) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while t < text.len() {
        let step = match pattern.get(p) {
            Some('%') => {
                retry = Some((p + 1, t));
                p += 1;
                continue;
            }
            Some('_') => Some(1),
            Some('\\') if pattern.get(p + 1) == Some(&text[t]) => Some(2),
            Some(character) if *character == text[t] => Some(1),
            _ => None,
        };
        match (step, retry) {
            (Some(step), _) => {
                p += step;
                t += 1;
            }
            (None, Some((after, from))) => {
                p = after;
                t = from + 1;
                retry = Some((after, from + 1));
            }
            (None, None) => return false,
        }
    }
    pattern[p..].iter().all(|character| *character == '%')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filters(rules: &[(FilterKind, &str)]) -> Filters {
        let mut filters = Filters::default();
        for (kind, list) in rules {
            filters.set(*kind, list).unwrap();
            assert_eq!(filters.show(*kind), *list);
        }
        filters
    }

    #[test]
    fn databases_and_tables() {
        assert!(filters(&[]).wants_rows("a", "t"));
        let one = filters(&[(FilterKind::DoDb, "a,b"), (FilterKind::IgnoreTable, "a.log")]);
        assert!(one.wants_rows("a", "t") && !one.wants_rows("c", "t") && !one.wants_rows("a", "log"));
        let two = filters(&[
            (FilterKind::WildDoTable, "shop%.ord\\_%"),
            (FilterKind::IgnoreDb, "shop9"),
        ]);
        assert!(two.wants_rows("shop1", "ord_er") && !two.wants_rows("shop1", "order"));
        assert!(!two.wants_rows("shop9", "ord_er") && !two.wants_rows("other", "ord_er"));
        let three = filters(&[(FilterKind::WildIgnoreTable, "tmp.%")]);
        assert!(!three.wants_whole_database("tmp") && three.wants_whole_database("shop"));
        assert!(Filters::default().set(FilterKind::DoTable, "nodot").is_err());
    }

    #[test]
    fn databases_are_renamed() {
        let filters = filters(&[(FilterKind::RewriteDb, "a->b,c->d")]);
        assert_eq!((filters.rewrite("a"), filters.rewrite("x")), ("b", "x"));
    }

    #[test]
    fn a_wild_table_pattern_matches_as_like_does() {
        for (pattern, text, expected) in [
            ("%", "", true),
            ("a%b%c", "axxbyyc", true),
            ("a%b%c", "axxbyy", false),
            ("_b", "ab", true),
            ("\\_b", "ab", false),
            ("a%", "a", true),
            ("%a", "ba", true),
            ("", "x", false),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }
}
