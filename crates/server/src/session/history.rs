//! Ended statements for `events_statements_history`.

use super::services::on_text;
use super::state::SessionState;
use super::statements::count_command;
use crate::statement_digests::{DigestStatement, DigestWork};
use crate::statement_history::StatementEvent;
use crate::status::{Counters, SESSION_COUNTERS};
use crate::variables::Variable;
use paceline_expression::session::StatementCounts;
use paceline_syntax::digest::digest_text;
use paceline_syntax::{ParseOptions, Result, parse_first};
use std::time::Duration;

/// Returns the kind of a statement as in `statement/sql/select`: the name of the counter that it advances.
pub(super) fn event_name(text: &[u8], options: &ParseOptions) -> String {
    let Ok(parsed) = parse_first(text, options) else {
        return "statement/sql/error".to_owned();
    };
    let counters = Counters::default();
    count_command(&parsed.statement, &counters);
    let names = SESSION_COUNTERS
        .iter()
        .filter_map(|row| Some((row.statistic.name.strip_prefix("Com_")?, row)));
    let mut counted = names.filter(|(_, row)| (row.read)(&counters) > 0);
    let name = counted.next().map_or("others", |(name, _)| name);
    format!("statement/sql/{name}")
}

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
        let text_max = self
            .server
            .globals
            .number(Variable::PerformanceSchemaMaxSqlTextLength);
        let kept = &text[..text.len().min(usize::try_from(text_max).unwrap_or(usize::MAX))];
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
            text: String::from_utf8_lossy(kept).into_owned(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_the_names_of_their_counters() {
        let name = |text: &str| event_name(text.as_bytes(), &ParseOptions::default());
        assert_eq!(name("select 1"), "statement/sql/select");
        assert_eq!(name("set @a = 1"), "statement/sql/set_option");
        assert_eq!(name("insert into t select 1"), "statement/sql/insert_select");
        assert_eq!(name("nonsense"), "statement/sql/error");
    }
}
