//! The audit log: connections, statements and tables, as one JSON object per line.
//!
//! ```text
//!   login, end of the connection ─▶ CONNECT, FAILED_CONNECT, DISCONNECT ──────────┐
//!   end of a statement ─▶ its tables ─▶ READ, WRITE, CREATE, ALTER, DROP, RENAME ─┼─▶ filter ─▶ AuditFile
//!     or of an event   └▶ QUERY ──────────────────────────────────────────────────┘
//!   SET GLOBAL server_audit_… ─▶ AUDIT ──────────────────────────────────────────────────────▶
//! ```
//!
//! The variables have the names and meanings of MariaDB's plugin `server_audit`; the format is our own, because that of
//! the plugin cannot be split safely. Events are written when they have happened, in the session that caused them, with
//! one system call each: an event is in the file before its client gets the reply. Nothing is synced.
//!
//! An event that cannot be written, for example because the disk is full, is counted and lost; no statement fails or
//! waits because of it. The next event is tried again.
//!
//! Off, the log costs a load of [`AuditLog::events`] at the end of a statement.
//!
//! Rejected: a thread with a queue. It would have to lose events or block when the queue is full, and a crash of the
//! process would lose those in the queue, which are the ones that matter.

mod event;
mod file;
mod statement_class;

pub use event::{AuditedSession, AuditedTable, ConnectionEvent, TableOperation};

use crate::variables::{Globals, Variable};
use event::Entry;
use file::{AuditFile, Rotation};
use paceline_expression::session::SqlMode;
use paceline_syntax::{TextOrigin, mask_secrets};
use parking_lot::Mutex;
use statement_class::StatementClasses;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Maximum number of tables that are noted for a statement.
pub const TABLES_MAX: usize = 1000;

/// Bits of `server_audit_events`.
const CONNECT: u64 = 1 << 0;
const QUERY: u64 = 1 << 1;
const TABLE: u64 = 1 << 2;
const QUERY_DDL: u64 = 1 << 3;
const QUERY_DML: u64 = 1 << 4;
const QUERY_DML_NO_SELECT: u64 = 1 << 5;
const QUERY_DCL: u64 = 1 << 6;
const OF_STATEMENTS: u64 = QUERY | QUERY_DDL | QUERY_DML | QUERY_DML_NO_SELECT | QUERY_DCL;

/// Returns whether a variable configures the log.
pub fn is_audit_variable(variable: Variable) -> bool {
    variable.definition().name.starts_with("server_audit_")
}

/// The audit log of the server.
#[derive(Debug, Default)]
pub struct AuditLog {
    /// Events that are logged; 0 if the log is off.
    events: AtomicU64,
    writer: Mutex<Writer>,
    failures: AtomicU64,
    has_failed: AtomicBool,
}

#[derive(Debug, Default)]
struct Writer {
    file: Option<AuditFile>,
    included: Vec<String>,
    excluded: Vec<String>,
    text_max: usize,
}

impl AuditLog {
    /// Opens, rotates or closes the file according to the variables.
    ///
    /// # Errors
    /// If the file cannot be opened; then the log stays as it was.
    pub fn configure(&self, globals: &Globals) -> io::Result<()> {
        let mut writer = self.writer.lock();
        let number = |variable| globals.number(variable);
        let names = |variable| -> Vec<String> {
            let list = globals.get(variable);
            let names = list.as_str().split(',').map(str::trim);
            names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
        };
        let is_on = globals.is_on(Variable::ServerAuditLogging);
        if is_on {
            let directory = globals.get(Variable::Datadir);
            let path =
                Path::new(directory.as_str()).join(globals.get(Variable::ServerAuditFilePath).as_str());
            let rotation = Rotation {
                bytes: number(Variable::ServerAuditFileRotateSize),
                files: number(Variable::ServerAuditFileRotations),
            };
            match &mut writer.file {
                Some(file) if file.path() == path => file.set_rotation(rotation),
                // The only step that can fail, so it is the first.
                _ => writer.file = Some(AuditFile::open(&path, rotation)?),
            }
        } else {
            writer.file = None;
        }
        writer.included = names(Variable::ServerAuditInclUsers);
        writer.excluded = names(Variable::ServerAuditExclUsers);
        writer.text_max = usize::try_from(number(Variable::ServerAuditQueryLogLimit)).unwrap_or(usize::MAX);
        let events = match number(Variable::ServerAuditEvents) {
            _ if !is_on => 0,
            0 => CONNECT | QUERY | TABLE,
            events => events,
        };
        self.events.store(events, Ordering::Relaxed);
        Ok(())
    }

    /// Begins a new file, and renames the others.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn rotate(&self) -> io::Result<()> {
        self.writer.lock().file.as_mut().map_or(Ok(()), AuditFile::rotate)
    }

    /// Returns whether anything is logged.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.events.load(Ordering::Relaxed) != 0
    }

    /// Returns the number of events that could not be written.
    pub fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    /// Logs an event of a connection. `error` is 0 if there was none.
    pub fn connection(&self, session: AuditedSession<'_>, event: ConnectionEvent, error: u16) {
        if !self.has(CONNECT) {
            return;
        }
        let mut writer = self.writer.lock();
        if writer.concerns(session.user) {
            self.write(&mut writer, &[Entry::connection(session, event, error)]);
        }
    }

    /// Logs a statement that has ended, and the tables that it used. `error` is 0 if there was none.
    pub fn statement(
        &self,
        session: AuditedSession<'_>,
        text: &[u8],
        sql_mode: SqlMode,
        tables: &[AuditedTable],
        error: u16,
    ) {
        let tables_to_log = match self.has(TABLE) {
            true => tables,
            false => &[],
        };
        let is_text_logged =
            self.has(OF_STATEMENTS) && (self.has(QUERY) || self.wants(StatementClasses::of(text)));
        if tables_to_log.is_empty() && !is_text_logged {
            return;
        }
        let mut writer = self.writer.lock();
        if !writer.concerns(session.user) {
            return;
        }
        let mut entries: Vec<Entry> = (tables_to_log.iter())
            .map(|table| Entry::table(session, table))
            .collect();
        if is_text_logged {
            let text = mask_secrets(text, sql_mode, TextOrigin::Parsed, writer.text_max);
            let text = &text[..text.len().min(writer.text_max)];
            entries.push(Entry::statement(session, text, tables, error));
        }
        self.write(&mut writer, &entries);
    }

    /// Logs that a variable of the log is about to be set, whatever the filters: nobody switches the log off unseen.
    pub fn setting(&self, session: AuditedSession<'_>, variable: &str, value: &str) {
        if self.is_on() {
            let text = format!("SET GLOBAL {variable}='{value}'");
            self.write(&mut self.writer.lock(), &[Entry::setting(session, &text)]);
        }
    }

    fn has(&self, events: u64) -> bool {
        self.events.load(Ordering::Relaxed) & events != 0
    }

    fn wants(&self, classes: StatementClasses) -> bool {
        classes.is_definition && self.has(QUERY_DDL)
            || classes.is_manipulation && self.has(QUERY_DML)
            || classes.is_manipulation && !classes.is_select && self.has(QUERY_DML_NO_SELECT)
            || classes.is_control && self.has(QUERY_DCL)
    }

    /// Writes entries that have passed the filters.
    fn write(&self, writer: &mut Writer, entries: &[Entry]) {
        let Some(file) = &mut writer.file else { return };
        let mut lines = Vec::with_capacity(256 * entries.len());
        for entry in entries {
            entry.append(&mut lines);
        }
        match file.append(&lines) {
            Ok(()) => self.has_failed.store(false, Ordering::Relaxed),
            Err(error) => {
                self.failures.fetch_add(entries.len() as u64, Ordering::Relaxed);
                if !self.has_failed.swap(true, Ordering::Relaxed) {
                    tracing::error!(
                        "audit log: events are lost, {} cannot be written: {error}",
                        file.path().display()
                    );
                }
            }
        }
    }
}

impl Writer {
    /// Returns whether the events of a user are logged. The list of included users wins.
    fn concerns(&self, user: &str) -> bool {
        let has = |names: &[String]| names.iter().any(|name| name == user);
        match self.included.is_empty() {
            true => !has(&self.excluded),
            false => has(&self.included),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn included_users_win_over_excluded_ones() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let mut writer = Writer {
            excluded: names(&["monitor"]),
            ..Writer::default()
        };
        assert!(writer.concerns("root") && !writer.concerns("monitor"));
        writer.included = names(&["monitor"]);
        assert!(!writer.concerns("root") && writer.concerns("monitor"));
    }

    #[test]
    fn a_class_of_statements_can_be_chosen() {
        let log = AuditLog::default();
        log.events
            .store(QUERY_DML_NO_SELECT | QUERY_DCL, Ordering::Relaxed);
        let wanted = |text: &str| log.wants(StatementClasses::of(text.as_bytes()));
        assert!(wanted("insert into t values (1)") && wanted("GRANT select ON *.* TO a"));
        assert!(!wanted("select 1") && !wanted("create table t (a int)"));
    }
}
