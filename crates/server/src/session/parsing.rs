//! Parsing of a client's text.

use super::services::on_text;
use super::state::SessionState;
use crate::accounts::authentication::stored_hash;
use crate::accounts::password_hasher::hasher_for;
use paceline_expression::session::MemoryCharge;
use paceline_syntax::{
    Error, ParseOptions, ParsedStatement, Result, Statement, TextOrigin, mask_secrets, mentions_secret,
};
use paceline_types::error_code::{ER_PARSE_ERROR, ER_WARN_DEPRECATED_SYNTAX};
use std::borrow::Cow;

/// A parsed statement with its memory account.
pub struct ClientStatement {
    /// The statement.
    pub parsed: ParsedStatement,
    /// Memory of its syntax tree, if it is large.
    pub memory: MemoryCharge,
}

/// Size in bytes below which a tree is not counted: a session has only one at a time.
const LARGE_TREE_BYTES: usize = 256 << 10;

/// Length of a text whose parsing takes as long as the hash of a password, in bytes.
const PASSWORD_TEXT_BYTES: usize = 16 << 10;

impl SessionState {
    /// Parses the first statement of a client's text.
    ///
    /// # Errors
    /// The errors of [`paceline_syntax::parse_first`].
    pub(super) fn parse(&self, text: &[u8]) -> Result<ClientStatement> {
        let options = ParseOptions {
            sql_mode: self.context.settings.sql_mode,
            memory: Some(self.context.memory.clone()),
            ..ParseOptions::default()
        };
        let parsed = on_text(text.len(), || paceline_syntax::parse_first(text, &options))?;
        if parsed.features.are_used() {
            self.shared.counters.add_features(&parsed.features);
        }
        let mut memory = MemoryCharge::new(&self.context.memory);
        if parsed.memory_bytes >= LARGE_TREE_BYTES {
            memory.grow(parsed.memory_bytes)?;
        }
        Ok(ClientStatement { parsed, memory })
    }

    /// Adds the warnings about a statement's syntax.
    pub(super) fn warn_of_syntax(&mut self, parsed: &ParsedStatement) {
        for _ in 0..parsed.late_intos {
            let message = ER_WARN_DEPRECATED_SYNTAX.message(&[
                &"<select expression> INTO <destination>;",
                &"'SELECT <select list> INTO <destination> FROM...'",
            ]);
            self.context.diagnostics.warn(ER_WARN_DEPRECATED_SYNTAX, message);
        }
    }

    /// Returns the statement's text as logs and the process list have it: with hashes instead of passwords.
    pub(super) fn shown_text<'a>(&self, parsed: &ParsedStatement, text: &'a [u8]) -> Cow<'a, [u8]> {
        if matches!(
            parsed.statement,
            Statement::Prepare { .. } | Statement::ExecuteImmediate { .. }
        ) {
            // The statement in the string is parsed later.
            let sql_mode = self.context.settings.sql_mode;
            return match parsed.text_to_show(text, stored_hash) {
                Cow::Borrowed(shown) => mask_secrets(shown, sql_mode, TextOrigin::Parsed, usize::MAX),
                Cow::Owned(shown) => {
                    Cow::Owned(mask_secrets(&shown, sql_mode, TextOrigin::Parsed, usize::MAX).into_owned())
                }
            };
        }
        match parsed.clear_passwords.len() {
            0 => parsed.text_to_show(text, stored_hash),
            passwords => {
                let hash = hasher_for(&self.services.account());
                // The hashes of many passwords take as long as the parsing of a long text.
                on_text(passwords * PASSWORD_TEXT_BYTES, || {
                    parsed.text_to_show(text, hash)
                })
            }
        }
    }

    /// Returns a text that the parser has refused as logs and the process list have it.
    pub(super) fn shown_refused<'a>(&self, text: &'a [u8]) -> Cow<'a, [u8]> {
        let sql_mode = self.context.settings.sql_mode;
        on_text(text.len(), || {
            mask_secrets(text, sql_mode, TextOrigin::Refused, usize::MAX)
        })
    }

    /// Returns a text that is not parsed yet as logs and the process list have it.
    pub(super) fn shown_before_parsing<'a>(&self, text: &'a [u8]) -> Cow<'a, [u8]> {
        if !mentions_secret(text) {
            return Cow::Borrowed(text);
        }
        match self.parse(text) {
            Ok(statement) if statement.parsed.next.is_none() => self.shown_text(&statement.parsed, text),
            _ => self.shown_refused(text),
        }
    }
}

/// Returns error 1064 near a text.
pub fn syntax_error_near(text: &str) -> Error {
    let near: String = text.chars().take(80).collect();
    Error::with_message(
        ER_PARSE_ERROR,
        format!(
            "You have an error in your SQL syntax; check the manual that corresponds to your MariaDB server version for the right \
             syntax to use near '{near}' at line 1"
        ),
    )
}
