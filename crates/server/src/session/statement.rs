//! Execution of one text of a client: parse, begin, execute, end.

use super::Session;
use super::assigned_variables;
use super::execution::{Execution, QueryOrigin};
use super::parsing::syntax_error_near;
use super::protocol::{More, RowFormat};
use super::services::on_text;
use super::state::SessionState;
use super::statements;
use crate::registry::now_micros;
use crate::slow_statements::{SlowStatementEntry, kept_plan, kept_text};
use crate::statement_digests::CountedText;
use crate::statement_kind::StatementKind;
use crate::statement_logs::SlowStatement;
use crate::statement_sums::EndedStatement;
use crate::user_statistics::SessionStatistics;
use crate::variables::Variable;
use paceline_expression::session::{KeepDiagnostics, SqlMode, StatementCounts};
use paceline_syntax::digest::{DigestMode, digest, digest_text};
use paceline_syntax::{Error, Result, Show, Statement, has_mask};
use paceline_types::ErrorCode;
use paceline_types::error_code::*;
use paceline_wire::WireResult;
use std::time::{Duration, Instant};

impl Session {
    /// Executes COM_QUERY: one statement, or several if the client has enabled this. The text is UTF-8.
    ///
    /// # Errors
    /// Protocol errors. The error of a statement is sent to the client and ends the execution of the text.
    pub(super) async fn query(&mut self, mut text: Vec<u8>) -> WireResult<()> {
        // As in MariaDB, the terminator of the last statement is not a part of it: errors do not show it.
        let is_part = |byte: &u8| *byte != b';' && !byte.is_ascii_whitespace();
        let length = text.iter().rposition(is_part).map_or(0, |last| last + 1);
        text.truncate(length);
        let mut offset = 0;
        loop {
            let parsed = self.state.parse(&text[offset..]);
            // This text contains no passwords in clear.
            let (statement_text, next) = match &parsed {
                Ok(parsed) => {
                    let parsed = &parsed.parsed;
                    (self.state.shown_text(parsed, &text[offset..]), parsed.next)
                }
                Err(_) => (self.state.shown_refused(&text[offset..]), None),
            };
            let statement_text = &*statement_text;
            self.begin_command("Query", statement_text);
            let more = if next.is_some() { More::Yes } else { More::No };
            let understood = match &parsed {
                Err(error) => Err(error.clone()),
                Ok(parsed) if parsed.parsed.parameters > 0 => Err(syntax_error_near("?")),
                Ok(_) if next.is_some() && !self.multi_statements => Err(syntax_error_near(
                    &String::from_utf8_lossy(&text[offset + next.unwrap_or(0)..]),
                )),
                Ok(parsed) => Ok(parsed),
            };
            let statement = understood.as_ref().ok();
            self.state
                .begin_statement(statement.map(|parsed| &parsed.parsed.statement));
            if let Some(parsed) = statement {
                self.state.warn_of_syntax(&parsed.parsed);
            }
            let done = match understood {
                Err(error) => Err(error),
                Ok(parsed) => {
                    let execution = Execution {
                        text: statement_text,
                        parameters: &[],
                        using: &[],
                        format: RowFormat::Text,
                        more,
                        asked_by: QueryOrigin::Client,
                    };
                    self.run_statement(&parsed.parsed.statement, execution).await
                }
            };
            on_text(statement_text.len(), || drop(parsed));
            let done = self.end_statement(statement_text, None, done);
            match (done, next) {
                (Ok(()), Some(next)) => offset += next,
                _ => return Ok(()),
            }
            if self.connection.writer.pending() > super::protocol::FLUSH_AT {
                self.connection.flush().await?;
            }
        }
    }

    /// Ends a statement: sends its error, if any, completes its transaction, and counts it. Returns what the client is
    /// told. `text` is the statement as logs have it, and `digest` its digest if that is known.
    pub(super) fn end_statement(&mut self, text: &[u8], digest: Option<u64>, done: Result<()>) -> Result<()> {
        let told = done.map_err(|error| {
            // First, so that nobody waits for its locks during a wait for the quorum.
            self.state.abort_statement();
            let diagnostics = &mut self.state.context.diagnostics;
            self.state.services.error_of_new_reads(error, diagnostics)
        });
        let done = &told;
        if let Err(error) = done {
            if error.code() == ER_LOCK_WAIT_TIMEOUT
                && self.state.server.globals.is_on(Variable::InnodbRollbackOnTimeout)
            {
                self.state.undo_transaction();
            }
            if is_denial(error.code()) {
                self.state.shared.counters.access_denied_errors.add(1);
            }
            if error.code() == ER_STATEMENT_TIMEOUT {
                self.state.shared.counters.max_statement_time_exceeded.add(1);
            }
            self.replies().error(error);
        }
        self.state.shared.interrupt.clear_query();
        if std::mem::take(&mut self.state.has_run_programs) {
            assigned_variables::heed_programs(&mut self.state, &mut self.connection);
        }
        let duration = self.state.log_settings.started.elapsed();
        let counts = self.state.settle_counts();
        let ended = self.state.ended_statement(duration, &counts, done);
        self.state.shared.counters.query_time.add(ended.nanos / 1000);
        self.state.count_digest(text, digest, &ended, done);
        self.state
            .count_kind(self.state.shared.statement_kind.get(), &ended);
        if self.state.context.user_statistics {
            self.state.count_for_user(duration, &counts);
        }
        if self.state.server.statement_history.consumers.keep_statements() {
            self.state.keep_in_history(text, &ended, done);
        }
        if self.state.server.audit_log.is_on() {
            self.state.audit_statement(text, done);
        }
        let written = self.connection.bytes_written();
        let before = std::mem::replace(&mut self.state.log_settings.bytes_sent_before, written);
        if self.state.log_settings.is_slow(duration) {
            self.state
                .log_slow_statement(text, duration, &counts, written.saturating_sub(before), done);
        }
        told
    }

    /// Executes a statement of any kind and sends its reply.
    ///
    /// # Errors
    /// The error to send to the client.
    pub(super) async fn run_statement(
        &mut self,
        statement: &Statement,
        execution: Execution<'_>,
    ) -> Result<()> {
        self.state.check_restrictions(statement)?;
        statements::execute(statement, &mut self.state, &mut self.connection, execution).await
    }
}

/// Returns whether an error says that an account lacks a privilege.
fn is_denial(code: ErrorCode) -> bool {
    [
        ER_DBACCESS_DENIED_ERROR,
        ER_TABLEACCESS_DENIED_ERROR,
        ER_COLUMNACCESS_DENIED_ERROR,
        ER_SPECIFIC_ACCESS_DENIED_ERROR,
        ER_PROCACCESS_DENIED_ERROR,
    ]
    .contains(&code)
}

impl SessionState {
    /// Checks whether the session may execute a statement of its client now.
    ///
    /// # Errors
    /// 1820 if the password has expired; 1226 for too many statements in the hour.
    #[inline]
    pub(super) fn check_restrictions(&self, statement: &Statement) -> Result<()> {
        match &self.restrictions {
            None => Ok(()),
            Some(restrictions) => restrictions.check(statement),
        }
    }

    /// Returns whether the password has expired.
    pub(super) fn must_change_password(&self) -> bool {
        (self.restrictions.as_ref()).is_some_and(|restrictions| restrictions.must_change_password)
    }

    /// Ends the restriction to setting a password, if the account has a new one.
    pub(super) fn heed_new_password(&mut self) {
        if !self.must_change_password() {
            return;
        }
        let accounts = self.server.accounts.load();
        let current = &self.context.current_user;
        let lifetime = self.server.globals.number(Variable::DefaultPasswordLifetime);
        let now = self.context.statement.start_seconds();
        let has_expired = (accounts.get(&current.user, &current.host))
            .is_none_or(|account| account.password_age.has_expired(lifetime, now));
        if let Some(restrictions) = &mut self.restrictions {
            restrictions.must_change_password = has_expired;
        }
    }

    /// Begins a statement: sets its time, diagnostics and time limit.
    pub(super) fn begin_statement(&mut self, statement: Option<&Statement>) {
        let keep = match statement {
            Some(
                Statement::Show(
                    Show::Warnings(_) | Show::Errors(_) | Show::CountWarnings | Show::CountErrors,
                )
                | Statement::GetDiagnostics(_),
            ) => KeepDiagnostics::Yes,
            _ => KeepDiagnostics::No,
        };
        // A statement that switched the audit log off has left its tables.
        self.audited_tables.clear();
        let insert_id = self.context.statement.insert_id;
        self.context.begin_statement(keep);
        let kind = StatementKind::of(statement, &self.shared.counters);
        self.shared.statement_kind.set(kind);
        self.context.statement.insert_id = insert_id;
        let limit = self.context.settings.max_statement_time;
        self.services.set_deadline(limit);
        self.services.time_slice.begin();
        let rows_sent = self.shared.counters.rows_sent.get();
        self.log_settings.begin(rows_sent, self.context.rows_examined);
        self.context.user_statistics = self.server.user_statistics.is_on();
        if self.context.user_statistics {
            self.shared.commands_within.take();
            let counters = &self.shared.counters;
            let statistics = || Box::new(SessionStatistics::new(counters));
            self.user_statistics
                .get_or_insert_with(statistics)
                .begin(statement, self.log_settings.started);
        } else if self.user_statistics.is_some() {
            // Events while they are off do not count later.
            self.user_statistics = None;
        }
        self.shared.progress.begin(self.context.rows_examined);
    }

    /// Returns the parts of the SQL mode that digests depend on.
    #[inline]
    pub(super) fn digest_mode(&self) -> DigestMode {
        let sql_mode = self.context.settings.sql_mode;
        DigestMode {
            ansi_quotes: sql_mode.contains(SqlMode::ANSI_QUOTES),
            no_backslash_escapes: sql_mode.contains(SqlMode::NO_BACKSLASH_ESCAPES),
        }
    }

    /// Returns the digest of a text that is executed later; 0 if statements are not counted.
    pub(super) fn digest_of(&self, text: &[u8]) -> u64 {
        match self.server.digests.is_enabled() {
            true => on_text(text.len(), || digest(text, self.digest_mode())),
            false => 0,
        }
    }

    /// Returns the end of a statement for the statistics.
    #[inline]
    fn ended_statement<'a>(
        &self,
        duration: Duration,
        counts: &'a StatementCounts,
        done: &Result<()>,
    ) -> EndedStatement<'a> {
        EndedStatement {
            nanos: u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX),
            has_failed: done.is_err(),
            // As in MariaDB, the conditions of a statement that fails are not its warnings.
            warnings: match done {
                Ok(()) => self.context.diagnostics.warning_count_u16(),
                Err(_) => 0,
            },
            rows_affected: u64::try_from(self.context.row_count).unwrap_or(0),
            rows_sent: self.rows_sent_by_statement(),
            rows_examined: self.rows_examined_by_statement(),
            counts,
            start_micros: self.context.statement.start_micros,
        }
    }

    /// Counts a statement or command by its kind.
    #[inline]
    pub(super) fn count_kind(&self, kind: StatementKind, ended: &EndedStatement<'_>) {
        if self.server.statement_events.is_enabled() && self.server.statement_history.consumers.count_events()
        {
            self.shared.events.count(kind, ended);
        }
    }

    /// Counts the run of an event, and its work.
    pub(super) fn count_event(&mut self, done: &Result<()>) {
        let counts = self.settle_counts();
        let duration = self.log_settings.started.elapsed();
        let ended = self.ended_statement(duration, &counts, done);
        self.count_kind(StatementKind::EVENT, &ended);
    }

    /// Counts a command that is not a statement.
    pub(super) fn count_other_command(&self, kind: StatementKind, started: Instant) {
        let ended = EndedStatement {
            nanos: u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX),
            has_failed: false,
            warnings: 0,
            rows_affected: 0,
            rows_sent: 0,
            rows_examined: 0,
            counts: &StatementCounts::default(),
            start_micros: 0,
        };
        self.count_kind(kind, &ended);
    }

    /// Counts a statement by its digest. A text that was not understood has none.
    #[inline]
    fn count_digest(&self, text: &[u8], known: Option<u64>, ended: &EndedStatement<'_>, done: &Result<()>) {
        let digests = &self.server.digests;
        let is_understood = |error: &Error| error.code() != ER_PARSE_ERROR;
        if !digests.is_enabled()
            || !self.server.statement_history.consumers.count_digests()
            || !done.as_ref().err().is_none_or(is_understood)
        {
            return;
        }
        let mode = self.digest_mode();
        let statement = CountedText {
            digest: known.unwrap_or_else(|| on_text(text.len(), || digest(text, mode))),
            make_text: &|| on_text(text.len(), || digest_text(text, mode)),
            database: self.context.database.as_deref(),
        };
        digests.count(&self.shared.digests, statement, ended);
    }

    /// Adds the work of the statement that ends to the session's counters, and returns it.
    pub(super) fn settle_counts(&mut self) -> StatementCounts {
        let counts = std::mem::take(&mut self.context.counts);
        self.shared.counters.add_work(&counts);
        counts
    }

    /// Adds a statement to the statistics of its user and client.
    #[cold]
    fn count_for_user(&mut self, duration: Duration, counts: &StatementCounts) {
        if let Some(own) = &mut self.user_statistics {
            let user = &self.context.user;
            let names = (user.user.as_str(), user.host.as_str());
            let statistics = &self.server.user_statistics;
            let started = self.log_settings.started;
            let times = (started, duration);
            let within = self.shared.commands_within.take();
            own.end(statistics, names, times, counts, &within, &self.shared.counters);
        }
    }

    /// Ends the statistics of the session's user and client: adds what came after the last statement.
    pub(super) fn leave_user_statistics(&mut self) {
        if let Some(mut own) = self.user_statistics.take()
            && self.server.user_statistics.is_on()
        {
            let user = &self.context.user;
            let names = (user.user.as_str(), user.host.as_str());
            own.leave(&self.server.user_statistics, names, &self.shared.counters);
        }
    }

    /// Returns the number of rows that the running statement has sent.
    pub(super) fn rows_sent_by_statement(&self) -> u64 {
        let sent = self.shared.counters.rows_sent.get();
        sent.saturating_sub(self.log_settings.rows_sent_before)
    }

    /// Returns the number of rows that the running statement has fetched from tables.
    pub(super) fn rows_examined_by_statement(&self) -> u64 {
        let examined = self.context.rows_examined;
        examined.saturating_sub(self.log_settings.rows_examined_before)
    }

    /// Counts a slow statement, and writes it to the slow query log.
    #[cold]
    fn log_slow_statement(
        &self,
        text: &[u8],
        duration: Duration,
        counts: &StatementCounts,
        bytes_sent: u64,
        done: &Result<()>,
    ) {
        let settings = &self.log_settings;
        let rows_examined = self.rows_examined_by_statement();
        if !settings.is_counted(rows_examined) {
            return;
        }
        self.shared.counters.slow_queries.add(1);
        self.keep_slow_statement(text, duration, done);
        let logs = &self.server.statement_logs;
        if !logs.has_slow()
            || !settings.logs_slow
            || !logs.chooses_slow(settings.rate_limit)
            || !settings.passes_filter(counts)
        {
            return;
        }
        let warnings = match self.context.diagnostics.raised() {
            // The message of a syntax error quotes the text.
            [condition, ..] if condition.code == ER_PARSE_ERROR && has_mask(text) => &[],
            warnings => warnings,
        };
        let server_id = self.server_id();
        logs.slow(
            server_id,
            &SlowStatement {
                account: &self.account_in_logs(),
                connection_id: u64::from(self.shared.id),
                database: self.context.database.as_deref().unwrap_or_default(),
                duration_micros: i64::try_from(duration.as_micros()).unwrap_or(i64::MAX),
                rows_sent: self.rows_sent_by_statement(),
                rows_examined,
                rows_affected: u64::try_from(self.context.row_count).unwrap_or(0),
                bytes_sent,
                start_micros: self.shared.activity().since_micros,
                counts,
                operations: settings.shown_operations(),
                plan: settings.shown_plan(),
                warnings: &warnings[..warnings.len().min(settings.shown_warnings())],
                text,
            },
        );
    }

    /// Keeps a slow statement for the page. A text that was not understood has no digest.
    fn keep_slow_statement(&self, text: &[u8], duration: Duration, done: &Result<()>) {
        let error = done.as_ref().err().map(Error::code);
        let kept = &self.server.slow_statements;
        if error == Some(ER_PARSE_ERROR) || !kept.admits(now_micros()) {
            return;
        }
        let digest = on_text(text.len(), || digest_text(text, self.digest_mode()));
        kept.add(SlowStatementEntry {
            start_micros: self.shared.activity().since_micros,
            duration_micros: u64::try_from(duration.as_micros()).unwrap_or(u64::MAX),
            database: self.context.database.as_deref().map(str::to_owned),
            text: kept_text(digest),
            rows_sent: self.rows_sent_by_statement(),
            rows_examined: self.rows_examined_by_statement(),
            rows_affected: u64::try_from(self.context.row_count).unwrap_or(0),
            error: error.map(|code| code.number()),
            plan: kept_plan(self.log_settings.kept_plan()),
        });
    }

    /// Returns the server's id.
    pub(super) fn server_id(&self) -> u32 {
        u32::try_from(self.server.globals.number(Variable::ServerId)).unwrap_or(0)
    }

    /// Returns the session's account as MariaDB's logs have it.
    pub(super) fn account_in_logs(&self) -> String {
        let user = &self.context.user;
        let (host, address) = match user.host.parse::<std::net::IpAddr>() {
            Ok(_) => ("", user.host.as_str()),
            Err(_) => (user.host.as_str(), ""),
        };
        format!(
            "{}[{}] @ {host} [{address}]",
            self.context.current_user.user, user.user
        )
    }
}
