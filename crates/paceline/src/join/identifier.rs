//! Identifiers in statements.

/// Returns an identifier in backticks.
pub fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}
