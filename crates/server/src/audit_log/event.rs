//! Entries of the audit log.

use crate::registry::now_micros;
use paceline_types::TimeZone;
use std::sync::Arc;

/// Session that caused an event.
#[derive(Debug, Clone, Copy)]
pub struct AuditedSession<'a> {
    /// Id of the connection.
    pub connection_id: u64,
    /// Name of the user that logged in.
    pub user: &'a str,
    /// The client's host.
    pub host: &'a str,
    /// The current database.
    pub database: &'a str,
}

/// Event of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionEvent {
    /// The client has logged in.
    Connect,
    /// The login was refused.
    FailedConnect,
    /// The connection has ended.
    Disconnect,
}

/// Use of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableOperation {
    /// Rows are read.
    Read,
    /// Rows are changed.
    Write,
    /// The table is created.
    Create,
    /// Its definition is changed.
    Alter,
    /// It is dropped.
    Drop,
    /// It gets another name.
    Rename,
}

impl TableOperation {
    const fn name(self) -> &'static str {
        match self {
            TableOperation::Read => "READ",
            TableOperation::Write => "WRITE",
            TableOperation::Create => "CREATE",
            TableOperation::Alter => "ALTER",
            TableOperation::Drop => "DROP",
            TableOperation::Rename => "RENAME",
        }
    }
}

/// Table that a statement has used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditedTable {
    /// Its use.
    pub operation: TableOperation,
    /// Database of the table.
    pub database: Arc<str>,
    /// Name of the table.
    pub name: Arc<str>,
}

/// A line of the log, complete except for its time.
#[derive(Debug)]
pub struct Entry(String);

impl Entry {
    /// Creates the entry of a connection's event.
    pub fn connection(session: AuditedSession<'_>, event: ConnectionEvent, error: u16) -> Self {
        let name = match event {
            ConnectionEvent::Connect => "CONNECT",
            ConnectionEvent::FailedConnect => "FAILED_CONNECT",
            ConnectionEvent::Disconnect => "DISCONNECT",
        };
        let mut entry = Entry::of(session, name);
        entry.number("error", error);
        entry
    }

    /// Creates the entry of a table.
    pub fn table(session: AuditedSession<'_>, table: &AuditedTable) -> Self {
        let mut entry = Entry::of(session, table.operation.name());
        entry.tables(std::slice::from_ref(table));
        entry
    }

    /// Creates the entry of a statement.
    pub fn statement(session: AuditedSession<'_>, text: &[u8], tables: &[AuditedTable], error: u16) -> Self {
        let mut entry = Entry::of(session, "QUERY");
        entry.tables(tables);
        entry.text("statement", &String::from_utf8_lossy(text));
        entry.number("error", error);
        entry
    }

    /// Creates the entry of an assignment to a variable of the log.
    pub fn setting(session: AuditedSession<'_>, text: &str) -> Self {
        let mut entry = Entry::of(session, "AUDIT");
        entry.text("statement", text);
        entry
    }

    fn of(session: AuditedSession<'_>, event: &str) -> Self {
        let mut entry = Entry(String::with_capacity(256));
        entry.text("event", event);
        entry.number("connection", session.connection_id);
        entry.text("user", session.user);
        entry.text("host", session.host);
        entry.text("database", session.database);
        entry
    }

    fn key(&mut self, key: &str) {
        self.0.push_str(",\"");
        self.0.push_str(key);
        self.0.push_str("\":");
    }

    fn number(&mut self, key: &str, number: impl Into<u64>) {
        self.key(key);
        self.0.push_str(&number.into().to_string());
    }

    fn text(&mut self, key: &str, text: &str) {
        self.key(key);
        self.0.push_str(&quoted(text));
    }

    fn tables(&mut self, tables: &[AuditedTable]) {
        let mut names: Vec<String> = Vec::with_capacity(tables.len());
        for table in tables {
            let name = quoted(&format!("{}.{}", table.database, table.name));
            // One that is read and written is noted twice, in succession.
            if names.last() != Some(&name) {
                names.push(name);
            }
        }
        self.key("tables");
        self.0.push('[');
        self.0.push_str(&names.join(","));
        self.0.push(']');
    }

    /// Appends the line, with the current time.
    pub fn append(&self, out: &mut Vec<u8>) {
        let line = format!("{{\"time\":\"{}\"{}}}\n", shown_time(now_micros()), self.0);
        out.extend_from_slice(line.as_bytes());
    }
}

/// Returns a JSON string.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Returns a time in UTC (RFC 3339).
fn shown_time(micros: i64) -> String {
    let time = TimeZone::UTC.to_local(micros.div_euclid(1_000_000));
    let date = time.date;
    format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z",
        date.year,
        date.month,
        date.day,
        time.hour,
        time.minute,
        time.second,
        micros.rem_euclid(1_000_000)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_one_line_of_json() {
        let session = AuditedSession {
            connection_id: 7,
            user: "o'\"neil",
            host: "localhost",
            database: "shop",
        };
        let table = AuditedTable {
            operation: TableOperation::Write,
            database: "shop".into(),
            name: "t\n".into(),
        };
        let mut out = vec![];
        Entry::statement(session, b"update `t\n` set a = '\xff'", &[table], 1062).append(&mut out);
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text.matches('\n').count(), 1);
        let parsed: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(parsed["user"], "o'\"neil");
        assert_eq!(parsed["tables"][0], "shop.t\n");
        assert_eq!(parsed["error"], 1062);
        assert_eq!(parsed["statement"], "update `t\n` set a = '\u{fffd}'");
    }

    #[test]
    fn times_are_in_utc() {
        assert_eq!(shown_time(1_795_695_223_000_042), "2026-11-26T12:13:43.000042Z");
    }
}
