//! Ended statements for `events_statements_history`.

use super::services::on_text;
use super::state::SessionState;
use crate::statement_digests::DigestStatement;
use crate::statement_history::StatementEvent;
use crate::statement_sums::{EndedStatement, StatementWork};
use paceline_syntax::Result;
use paceline_syntax::digest::digest_text;

impl SessionState {
    /// Keeps a statement that has ended.
    #[cold]
    pub(super) fn keep_in_history(&self, text: &[u8], ended: &EndedStatement<'_>, done: &Result<()>) {
        let digest = on_text(text.len(), || digest_text(text, self.digest_mode()));
        let digest = DigestStatement {
            database: None,
            text: Some(digest),
        };
        let mut work = StatementWork::default();
        work.add(ended.counts);
        let error = done.as_ref().err();
        let event = StatementEvent {
            session: u64::from(self.shared.id),
            number: 0,
            kind: self.shared.statement_kind.get(),
            is_running: false,
            start_micros: ended.start_micros,
            nanos: ended.nanos,
            text: self.server.statement_history.kept_text(text),
            digest: digest.name().zip(digest.text),
            database: self.context.database.clone(),
            code: error.map_or(0, |error| error.code().number()),
            sqlstate: error.map(|error| error.sqlstate().to_owned()),
            message: error.map(|error| error.message().chars().take(128).collect()),
            warnings: u64::from(ended.warnings),
            rows_affected: ended.rows_affected,
            rows_sent: ended.rows_sent,
            rows_examined: ended.rows_examined,
            work,
        };
        self.server.statement_history.keep(&self.shared.history, event);
    }
}
