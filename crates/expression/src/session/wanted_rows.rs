//! The rows of a virtual table that a query needs, so that the server computes no others.
//!
//! The set may be too large, because conditions are checked again on each row, but never too small.

use paceline_types::Collation;

/// The rows and columns of a virtual table that a query needs.
#[derive(Debug, Clone, Default)]
pub struct WantedRows {
    tests: Vec<(String, NameTest)>,
    columns: Option<Vec<String>>,
}

/// Test of a name in a column.
#[derive(Debug, Clone)]
pub enum NameTest {
    /// Equality with one of several names.
    OneOf {
        /// Names, of which one must be equal.
        names: Vec<String>,
        /// Collation of the comparison.
        collation: Collation,
    },
    /// Match with a LIKE pattern.
    Like {
        /// LIKE pattern.
        pattern: String,
        /// Escape character of the pattern.
        escape: char,
        /// Collation of the comparison.
        collation: Collation,
    },
}

impl WantedRows {
    /// Returns all rows with all columns.
    pub fn all() -> Self {
        WantedRows::default()
    }

    /// Restricts the rows to those whose column of this name passes the test.
    pub fn with_test(mut self, column: &str, test: NameTest) -> Self {
        self.tests.push((column.to_owned(), test));
        self
    }

    /// Restricts the columns to these.
    pub fn with_columns(mut self, columns: Vec<String>) -> Self {
        self.columns = Some(columns);
        self
    }

    /// Returns whether a row with this name in one of these columns can be needed.
    pub fn admits(&self, columns: &[&str], name: &str) -> bool {
        self.tests
            .iter()
            .filter(|(column, _)| columns.iter().any(|named| named.eq_ignore_ascii_case(column)))
            .all(|(_, test)| test.passes(name))
    }

    /// Returns whether one of these columns is read.
    pub fn reads(&self, columns: &[&str]) -> bool {
        let is_read = |read: &String| columns.iter().any(|column| column.eq_ignore_ascii_case(read));
        self.columns.as_ref().is_none_or(|read| read.iter().any(is_read))
    }
}

impl NameTest {
    fn passes(&self, name: &str) -> bool {
        match self {
            NameTest::OneOf { names, collation } => names.iter().any(|wanted| collation.equals(wanted, name)),
            NameTest::Like {
                pattern,
                escape,
                collation,
            } => collation.like(name, pattern, Some(*escape)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_tested_by_their_columns() {
        let wanted = WantedRows::all()
            .with_test(
                "TABLE_SCHEMA",
                NameTest::OneOf {
                    names: vec!["a".into(), "B".into()],
                    collation: Collation::Utf8mb3GeneralCi,
                },
            )
            .with_test(
                "TABLE_NAME",
                NameTest::Like {
                    pattern: "t\\_%".into(),
                    escape: '\\',
                    collation: Collation::Utf8mb4Bin,
                },
            )
            .with_columns(vec!["TABLE_NAME".into()]);
        assert!(wanted.admits(&["TABLE_SCHEMA"], "b") && !wanted.admits(&["table_schema", "other"], "c"));
        assert!(wanted.admits(&["TABLE_NAME"], "t_1") && !wanted.admits(&["TABLE_NAME"], "T_1"));
        assert!(
            wanted.admits(&["CONSTRAINT_SCHEMA"], "c"),
            "nothing is asked of it"
        );
        assert!(wanted.reads(&["TABLE_ROWS", "table_name"]) && !wanted.reads(&["TABLE_ROWS"]));
        assert!(WantedRows::all().reads(&["TABLE_ROWS"]) && WantedRows::all().admits(&["TABLE_NAME"], "x"));
    }
}
