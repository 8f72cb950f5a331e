//! Replication: `CHANGE MASTER` and its like, `BINLOG`.

/// Where a BINLOG statement's events are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BinlogEvents {
    /// In its text, as Base64.
    Text(String),
    /// In two user variables, one behind the other, since they are too long for one packet.
    Variables([String; 2]),
}

/// `CHANGE MASTER` and its like.
#[derive(Debug, Clone, PartialEq)]
pub enum ReplicationStatement {
    /// `CHANGE MASTER [name] TO …`: names in capitals, values as written.
    ChangeMaster {
        /// The connection's name.
        connection: Option<String>,
        /// The settings.
        settings: Vec<(String, ReplicationValue)>,
    },
    /// `START SLAVE [name] [threads] [UNTIL …]`.
    Start {
        /// The connection's name; `ALL SLAVES` has `all`.
        connection: Option<String>,
        /// `ALL SLAVES`.
        all: bool,
        /// `IO_THREAD`, `SQL_THREAD`; both when none is named.
        threads: ReplicationThreads,
        /// `UNTIL …`: names in capitals.
        until: Vec<(String, ReplicationValue)>,
    },
    /// `STOP SLAVE [name] [threads]`.
    Stop {
        /// The connection's name.
        connection: Option<String>,
        /// `ALL SLAVES`.
        all: bool,
        /// Which threads.
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

/// Which threads of a replica.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplicationThreads {
    /// Both.
    Both,
    /// `IO_THREAD`.
    Io,
    /// `SQL_THREAD`.
    Sql,
}
