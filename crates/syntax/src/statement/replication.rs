//! Statements of replication: `CHANGE MASTER` and others, `BINLOG`.

/// Source of a BINLOG statement's events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BinlogEvents {
    /// Base64 in the statement's text.
    Text(String),
    /// Two user variables whose contents are joined, because the events are too long for one packet.
    Variables([String; 2]),
}

/// `CHANGE MASTER`, `START SLAVE`, `STOP SLAVE`.
#[derive(Debug, Clone, PartialEq)]
pub enum ReplicationStatement {
    /// `CHANGE MASTER [name] TO …`: names in capitals, values as written.
    ChangeMaster {
        connection: Option<String>,
        settings: Vec<(String, ReplicationValue)>,
    },
    /// `START SLAVE [name] [threads] [UNTIL …]`.
    Start {
        /// Name of the connection; with `ALL SLAVES`, `all` is set instead.
        connection: Option<String>,
        /// `ALL SLAVES`.
        all: bool,
        /// `IO_THREAD`, `SQL_THREAD`; both if none is named.
        threads: ReplicationThreads,
        /// `UNTIL …`: names in capitals.
        until: Vec<(String, ReplicationValue)>,
    },
    /// `STOP SLAVE [name] [threads]`.
    Stop {
        connection: Option<String>,
        /// `ALL SLAVES`.
        all: bool,
        threads: ReplicationThreads,
    },
}

/// A value of `CHANGE MASTER` or `UNTIL`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplicationValue {
    /// A string.
    Text(String),
    /// A number, as written.
    Number(String),
    /// A bare word: `slave_pos`, `current_pos`, `no`, `AUTO`.
    Word(String),
    /// A list of numbers: `IGNORE_SERVER_IDS`, `DO_DOMAIN_IDS`.
    Numbers(Vec<u64>),
}

/// Threads of a replica that a statement concerns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplicationThreads {
    /// Both.
    Both,
    /// `IO_THREAD`.
    Io,
    /// `SQL_THREAD`.
    Sql,
}
