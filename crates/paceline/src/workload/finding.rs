//! Findings of a load's check.

use super::error::Result;
use super::session::Session;

/// Result of checking one rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// The rule.
    pub rule: String,
    expected: String,
    found: String,
}

impl Finding {
    /// Returns the result of a rule that holds if both texts are equal.
    pub fn new(rule: impl Into<String>, expected: impl ToString, found: impl ToString) -> Self {
        Finding {
            rule: rule.into(),
            expected: expected.to_string(),
            found: found.to_string(),
        }
    }

    /// Returns the result of a rule that holds if a query counts no violations.
    pub async fn violations(session: &mut Session, rule: &str, query: &str) -> Result<Self> {
        Ok(Finding::new(rule, 0, session.value(query).await?))
    }

    pub fn is_right(&self) -> bool {
        self.expected == self.found
    }

    /// Returns the difference; empty if there is none.
    pub fn problem(&self) -> String {
        match self.is_right() {
            true => String::new(),
            false => format!("expected {}, found {}", self.expected, self.found),
        }
    }
}
