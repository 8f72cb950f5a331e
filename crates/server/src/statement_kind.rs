//! Kind of a statement or command, under MariaDB's name for such events: `statement/sql/select`.
//!
//! ```text
//!   0 … ERRORS …         kinds without a counter: an error of syntax, an execution by the binary protocol, …
//!   SPECIAL.len() …      statement/sql/…: the kinds that `Com_…` counts, in the order of [`SESSION_COUNTERS`]
//! ```
//! So the kind is found together with its counter and is a number, which a session can publish with one store.
//!
//! As in MariaDB an execution by the binary protocol is `statement/com/Execute`, whatever it executes, and that of a
//! statement within EXPLAIN, ANALYZE and SET STATEMENT has the kind of that statement.

use crate::command_counter::counter_of_client;
use crate::status::{Counters, SESSION_COUNTERS};
use paceline_syntax::Statement;
use paceline_wire::command::Command;
use std::sync::atomic::{AtomicU16, Ordering};

/// Kind of a statement or command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct StatementKind(u16);

/// Names of the kinds without a counter.
const SPECIAL: [&str; 24] = [
    "statement/sql/error",
    "statement/sql/others",
    "statement/scheduler/event",
    "statement/com/Execute",
    "statement/com/Bulk_execute",
    "statement/com/Quit",
    "statement/com/Init DB",
    "statement/com/Field List",
    "statement/com/Refresh",
    "statement/com/Shutdown",
    "statement/com/Statistics",
    "statement/com/Kill",
    "statement/com/Debug",
    "statement/com/Ping",
    "statement/com/Change user",
    "statement/com/Binlog Dump",
    "statement/com/Register Slave",
    "statement/com/Prepare",
    "statement/com/Long Data",
    "statement/com/Close stmt",
    "statement/com/Reset stmt",
    "statement/com/Set option",
    "statement/com/Fetch",
    "statement/com/Reset connection",
];

/// Counters that are not of a kind of statements, but of some that have another one as well.
const NO_KINDS: [&str; 10] = [
    "admin_commands",
    "create_temporary_table",
    "drop_temporary_table",
    "stmt_close",
    "stmt_execute",
    "stmt_fetch",
    "stmt_prepare",
    "stmt_reprepare",
    "stmt_reset",
    "stmt_send_long_data",
];

impl Default for StatementKind {
    fn default() -> Self {
        StatementKind::ERROR
    }
}

impl StatementKind {
    /// A text that was not understood.
    pub const ERROR: StatementKind = StatementKind(0);
    /// A statement that MariaDB does not have.
    const OTHERS: StatementKind = StatementKind(1);
    /// A run of an event.
    pub const EVENT: StatementKind = StatementKind(2);
    /// COM_STMT_EXECUTE.
    pub const EXECUTE: StatementKind = StatementKind(3);
    /// COM_STMT_BULK_EXECUTE.
    pub const BULK_EXECUTE: StatementKind = StatementKind(4);

    /// Returns the kind of a client's statement; `None` is a text that was not understood. Any session's counters are
    /// good enough: they are not changed.
    #[inline]
    pub fn of(statement: Option<&Statement>, counters: &Counters) -> StatementKind {
        let Some(statement) = statement else {
            return StatementKind::ERROR;
        };
        match counter_of_client(statement, counters) {
            None => StatementKind::OTHERS,
            Some(counter) => StatementKind(
                (SPECIAL.len() + counters.position(counter))
                    .try_into()
                    .unwrap_or(0),
            ),
        }
    }

    /// Returns the kind of a command that is not a statement; `None` for those that execute one, or are unknown.
    pub fn of_command(command: &Command<'_>) -> Option<StatementKind> {
        let name = match command {
            Command::Query(_)
            | Command::StatementExecute { .. }
            | Command::StatementBulkExecute { .. }
            | Command::ProcessInfo
            | Command::Unknown(_) => return None,
            Command::Quit => "Quit",
            Command::InitDb(_) => "Init DB",
            Command::FieldList { .. } => "Field List",
            Command::Refresh(_) => "Refresh",
            Command::Shutdown => "Shutdown",
            Command::Statistics => "Statistics",
            Command::ProcessKill(_) => "Kill",
            Command::Debug => "Debug",
            Command::Ping => "Ping",
            Command::ChangeUser(_) => "Change user",
            Command::BinlogDump(_) => "Binlog Dump",
            Command::RegisterReplica(_) => "Register Slave",
            Command::StatementPrepare(_) => "Prepare",
            Command::StatementSendLongData { .. } => "Long Data",
            Command::StatementClose(_) => "Close stmt",
            Command::StatementReset(_) => "Reset stmt",
            Command::SetOption(_) => "Set option",
            Command::StatementFetch { .. } => "Fetch",
            Command::ResetConnection => "Reset connection",
        };
        let is_it = |special: &&str| special.strip_prefix("statement/com/") == Some(name);
        let position = SPECIAL.iter().position(is_it)?;
        Some(StatementKind(position.try_into().ok()?))
    }

    /// Returns all kinds.
    pub fn all() -> impl Iterator<Item = StatementKind> {
        let is_kind = |number: &usize| match number.checked_sub(SPECIAL.len()) {
            None => true,
            Some(position) => counted_name(position).is_some_and(|name| !NO_KINDS.contains(&name)),
        };
        let numbers = (0..SPECIAL.len() + SESSION_COUNTERS.len()).filter(is_kind);
        numbers.filter_map(|number| Some(StatementKind(number.try_into().ok()?)))
    }

    /// Returns the name of the event.
    pub fn name(self) -> String {
        let number = usize::from(self.0);
        match number.checked_sub(SPECIAL.len()) {
            None => SPECIAL[number].to_owned(),
            Some(position) => format!("statement/sql/{}", counted_name(position).unwrap_or_default()),
        }
    }
}

/// Returns the part after `Com_` of a counter's name; `None` for other counters.
fn counted_name(position: usize) -> Option<&'static str> {
    SESSION_COUNTERS[position].statistic.name.strip_prefix("Com_")
}

/// Kind of a session's running statement, for other sessions.
#[derive(Debug, Default)]
pub struct RunningKind(AtomicU16);

impl RunningKind {
    /// Publishes the kind.
    #[inline]
    pub fn set(&self, kind: StatementKind) {
        self.0.store(kind.0, Ordering::Relaxed);
    }

    /// Returns the kind that was published last.
    #[inline]
    pub fn get(&self) -> StatementKind {
        StatementKind(self.0.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use paceline_syntax::{ParseOptions, parse_first};
    use std::collections::BTreeSet;

    #[test]
    fn kinds_have_the_names_of_their_counters() {
        let counters = Counters::default();
        let name = |text: &str| {
            let parsed = parse_first(text.as_bytes(), &ParseOptions::default()).ok();
            StatementKind::of(parsed.as_ref().map(|parsed| &parsed.statement), &counters).name()
        };
        assert_eq!(name("select 1"), "statement/sql/select");
        assert_eq!(name("set @a = 1"), "statement/sql/set_option");
        assert_eq!(name("insert into t select 1"), "statement/sql/insert_select");
        assert_eq!(name("call p()"), "statement/sql/call_procedure");
        assert_eq!(name("explain delete from t"), "statement/sql/delete");
        assert_eq!(
            name("create temporary table t (a int)"),
            "statement/sql/create_table"
        );
        assert_eq!(name("drop temporary table t"), "statement/sql/drop_table");
        assert_eq!(name("/* */"), "statement/sql/empty_query");
        assert_eq!(
            name("set statement max_statement_time = 1 for select 1"),
            "statement/sql/select"
        );
        assert_eq!(name("nonsense"), "statement/sql/error");
    }

    #[test]
    fn commands_have_kinds_of_their_own() {
        let name = |payload: &[u8]| {
            let kind = StatementKind::of_command(&Command::parse(payload).unwrap());
            kind.map(StatementKind::name)
        };
        assert_eq!(name(&[14]).as_deref(), Some("statement/com/Ping"));
        assert_eq!(name(&[2, b'd']).as_deref(), Some("statement/com/Init DB"));
        assert_eq!(name(&[3, b'x']), None);
        assert_eq!(StatementKind::EVENT.name(), "statement/scheduler/event");
        assert_eq!(StatementKind::EXECUTE.name(), "statement/com/Execute");
        assert_eq!(StatementKind::BULK_EXECUTE.name(), "statement/com/Bulk_execute");
        assert_eq!(StatementKind::OTHERS.name(), "statement/sql/others");
    }

    #[test]
    fn names_are_listed_once() {
        let names: Vec<_> = StatementKind::all().map(StatementKind::name).collect();
        let different: BTreeSet<_> = names.iter().collect();
        assert_eq!(names.len(), different.len());
        assert!(names.contains(&"statement/sql/show_status".to_owned()));
        assert!(!names.iter().any(|name| name.contains("stmt_")), "{names:?}");
    }
}
