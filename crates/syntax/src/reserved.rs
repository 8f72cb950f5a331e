//! Reserved words: those that must be quoted to be a name.
//!
//! The list was found by asking MariaDB 10.11 to create a table of each name in
//! `information_schema.KEYWORDS`.

/// Returns whether the word is reserved, in any case.
pub(crate) fn is_reserved(word: &[u8]) -> bool {
    let Some(words) = BY_LENGTH.get(word.len()) else {
        return false;
    };
    if words.is_empty() {
        return false;
    }
    let mut upper = [0; LENGTH_MAX];
    let upper = &mut upper[..word.len()];
    upper.copy_from_slice(word);
    upper.make_ascii_uppercase();
    words
        .binary_search_by(|candidate| candidate.as_bytes().cmp(upper))
        .is_ok()
}

const LENGTH_MAX: usize = 29;

/// The words by length, then alphabetically.
static BY_LENGTH: [&[&str]; LENGTH_MAX + 1] = [
    &[],
    &[],
    &["AS", "BY", "IF", "IN", "IS", "ON", "OR", "TO"],
    &[
        "ADD", "ALL", "AND", "ASC", "DEC", "DIV", "FOR", "INT", "KEY", "MOD", "NOT", "OUT", "SET", "SQL",
        "SSL", "USE", "XOR",
    ],
    &[
        "BLOB", "BOTH", "CALL", "CASE", "CHAR", "DESC", "DROP", "DUAL", "EACH", "ELSE", "EXIT", "FROM",
        "INT1", "INT2", "INT3", "INT4", "INT8", "INTO", "JOIN", "KEYS", "KILL", "LEFT", "LIKE", "LOAD",
        "LOCK", "LONG", "LOOP", "NULL", "OVER", "READ", "REAL", "ROWS", "SHOW", "THEN", "TRUE", "UNDO",
        "WHEN", "WITH",
    ],
    &[
        "ALTER", "CHECK", "CROSS", "FALSE", "FETCH", "FLOAT", "FORCE", "GRANT", "GROUP", "INDEX", "INNER",
        "INOUT", "LEAVE", "LIMIT", "LINES", "MATCH", "ORDER", "OUTER", "PURGE", "RANGE", "READS", "RIGHT",
        "RLIKE", "TABLE", "UNION", "USAGE", "USING", "WHERE", "WHILE", "WRITE",
    ],
    &[
        "BEFORE", "BIGINT", "BINARY", "CHANGE", "COLUMN", "CREATE", "CURSOR", "DELETE", "DOUBLE", "ELSEIF",
        "EXCEPT", "EXISTS", "FLOAT4", "FLOAT8", "HAVING", "IGNORE", "INFILE", "INSERT", "LINEAR", "OFFSET",
        "REGEXP", "RENAME", "REPEAT", "RETURN", "REVOKE", "SELECT", "SIGNAL", "UNIQUE", "UNLOCK", "UPDATE",
        "VALUES",
    ],
    &[
        "ANALYZE", "BETWEEN", "CASCADE", "COLLATE", "CONVERT", "DECIMAL", "DECLARE", "DEFAULT", "DELAYED",
        "ESCAPED", "EXPLAIN", "FOREIGN", "INTEGER", "ITERATE", "LEADING", "NATURAL", "NUMERIC", "OUTFILE",
        "PORTION", "PRIMARY", "RELEASE", "REPLACE", "REQUIRE", "SCHEMAS", "SPATIAL", "TINYINT", "TRIGGER",
        "VARCHAR", "VARYING",
    ],
    &[
        "CONTINUE", "DAY_HOUR", "DESCRIBE", "DISTINCT", "ENCLOSED", "FULLTEXT", "INTERVAL", "LONGBLOB",
        "LONGTEXT", "MAXVALUE", "MODIFIES", "OPTIMIZE", "RESIGNAL", "RESTRICT", "SMALLINT", "SPECIFIC",
        "SQLSTATE", "STARTING", "TINYBLOB", "TINYTEXT", "TRAILING", "UNSIGNED", "UTC_DATE", "UTC_TIME",
        "ZEROFILL",
    ],
    &[
        "CHARACTER",
        "CONDITION",
        "DATABASES",
        "INTERSECT",
        "LOCALTIME",
        "MEDIUMINT",
        "MIDDLEINT",
        "PARTITION",
        "PRECISION",
        "PROCEDURE",
        "RECURSIVE",
        "RETURNING",
        "SENSITIVE",
        "SEPARATOR",
        "VARBINARY",
    ],
    &[
        "ACCESSIBLE",
        "ASENSITIVE",
        "CONSTRAINT",
        "DAY_MINUTE",
        "DAY_SECOND",
        "MEDIUMBLOB",
        "MEDIUMTEXT",
        "OPTIONALLY",
        "READ_WRITE",
        "REFERENCES",
        "ROW_NUMBER",
        "SQLWARNING",
        "TERMINATED",
        "YEAR_MONTH",
    ],
    &["DISTINCTROW", "HOUR_MINUTE", "HOUR_SECOND", "INSENSITIVE"],
    &[
        "CURRENT_DATE",
        "CURRENT_ROLE",
        "CURRENT_TIME",
        "CURRENT_USER",
        "LOW_PRIORITY",
        "SQLEXCEPTION",
        "VARCHARACTER",
    ],
    &[
        "DETERMINISTIC",
        "DO_DOMAIN_IDS",
        "HIGH_PRIORITY",
        "MINUTE_SECOND",
        "PAGE_CHECKSUM",
        "REF_SYSTEM_ID",
        "STRAIGHT_JOIN",
        "UTC_TIMESTAMP",
    ],
    &["LOCALTIMESTAMP", "SQL_BIG_RESULT"],
    &["DAY_MICROSECOND", "PARSE_VCOL_EXPR"],
    &[
        "DELETE_DOMAIN_ID",
        "HOUR_MICROSECOND",
        "SQL_SMALL_RESULT",
        "STATS_PERSISTENT",
    ],
    &["CURRENT_TIMESTAMP", "IGNORE_DOMAIN_IDS", "STATS_AUTO_RECALC"],
    &[
        "MINUTE_MICROSECOND",
        "NO_WRITE_TO_BINLOG",
        "SECOND_MICROSECOND",
        "STATS_SAMPLE_PAGES",
    ],
    &["SQL_CALC_FOUND_ROWS"],
    &[],
    &[],
    &["MASTER_DEMOTE_TO_SLAVE"],
    &[],
    &["MASTER_DEMOTE_TO_REPLICA"],
    &[],
    &[],
    &[],
    &[],
    &["MASTER_SSL_VERIFY_SERVER_CERT"],
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_searchable() {
        for (length, words) in BY_LENGTH.iter().enumerate() {
            assert!(words.is_sorted());
            for word in *words {
                assert_eq!(word.len(), length);
                assert!(is_reserved(word.to_lowercase().as_bytes()));
            }
        }
        assert!(!is_reserved(b"id") && !is_reserved(b"") && !is_reserved(&[b'a'; 100]));
    }
}
