//! SQL text that the server writes itself: names and strings in quotes, and the query for all rows of a table.

/// Quotes a text as a string literal. Control characters are not escaped.
pub fn text_literal(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

/// Quotes an identifier with backticks.
pub fn identifier(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// Returns a query for all rows of a table or view.
pub fn select_all(database: &str, table: &str) -> String {
    format!("SELECT * FROM {}.{}", identifier(database), identifier(table))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_within_quotes_are_doubled() {
        assert_eq!(text_literal(r"it's \"), r"'it''s \\'");
        assert_eq!(select_all("d", "a`b"), "SELECT * FROM `d`.`a``b`");
    }
}
