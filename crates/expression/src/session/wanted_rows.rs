//! Which rows of a table that the server makes up are wanted: so that it makes no others.
//!
//! It may be too many, as the conditions are checked on each row, and is never too few.

use paceline_types::Collation;

/// What a query asks of the rows of a table that the server makes up.
#[derive(Debug, Clone, Default)]
pub struct WantedRows {
    tests: Vec<(String, NameTest)>,
    columns: Option<Vec<String>>,
}

/// What a name in a column must be.
#[derive(Debug, Clone)]
pub enum NameTest {
    /// One of these.
    OneOf {
        /// The names.
        names: Vec<String>,
        /// How they compare.
        collation: Collation,
    },
    /// Like a pattern.
    Like {
        /// The pattern.
        pattern: String,
        /// Its escape character.
        escape: char,
        /// How characters compare.
        collation: Collation,
    },
}

impl WantedRows {
    /// All rows, and all columns of them.
    pub fn all() -> Self {
        WantedRows::default()
    }

    /// Only rows whose column of that name passes.
    pub fn with_test(mut self, column: &str, test: NameTest) -> Self {
        self.tests.push((column.to_owned(), test));
        self
    }

    /// Only these columns are read.
    pub fn with_columns(mut self, columns: Vec<String>) -> Self {
        self.columns = Some(columns);
        self
    }

    /// Whether a row with that name in one of these columns may be wanted.
    pub fn admits(&self, columns: &[&str], name: &str) -> bool {
        self.tests
            .iter()
            .filter(|(column, _)| columns.iter().any(|named| named.eq_ignore_ascii_case(column)))
            .all(|(_, test)| test.passes(name))
    }

    /// Whether one of these columns is read.
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
