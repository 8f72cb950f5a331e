//! Ended statements for `events_statements_history`.

use super::services::on_text;
use super::state::SessionState;
use crate::command_counter::event_name;
use crate::statement_digests::{DigestStatement, DigestWork};
use crate::statement_history::StatementEvent;
use paceline_expression::session::StatementCounts;
use paceline_syntax::digest::digest_text;
use paceline_syntax::{ParseOptions, Result};
use std::time::Duration;

impl SessionState {
    /// Keeps a statement that has ended.
    #[cold]
    pub(super) fn keep_in_history(
        &self,
        text: &[u8],
        duration: Duration,
        counts: &StatementCounts,
        done: &Result<()>,
    ) {
        let options = ParseOptions {
            sql_mode: self.context.settings.sql_mode,
            memory: Some(self.context.memory.clone()),
            ..ParseOptions::default()
        };
        let (name, digest) = on_text(text.len(), || {
            let digest = digest_text(text, self.digest_mode());
            (event_name(text, &options), digest)
        });
        let digest = DigestStatement {
            database: None,
            text: Some(digest),
        };
        let mut work = DigestWork::default();
        work.add(counts);
        let error = done.as_ref().err();
        let event = StatementEvent {
            session: u64::from(self.shared.id),
            number: 0,
            name,
            is_running: false,
            start_micros: self.context.statement.start_micros,
            nanos: u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX),
            text: self.server.statement_history.kept_text(text),
            digest: digest.name().zip(digest.text),
            database: self.context.database.clone(),
            code: error.map_or(0, |error| error.code().number()),
            sqlstate: error.map(|error| error.sqlstate().to_owned()),
            message: error.map(|error| error.message().chars().take(128).collect()),
            warnings: u64::from(self.context.diagnostics.warning_count_u16()),
            rows_affected: u64::try_from(self.context.row_count).unwrap_or(0),
            rows_sent: self.rows_sent_by_statement(),
            rows_examined: self.rows_examined_by_statement(),
            work,
        };
        self.server.statement_history.keep(&self.shared.history, event);
    }
}
