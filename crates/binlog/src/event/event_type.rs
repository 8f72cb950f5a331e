//! Event type codes.

use std::fmt;

/// Type code of an event. Unknown codes are passed through.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct EventType(pub u8);

macro_rules! event_types {
    ($($(#[$doc:meta])* $constant:ident = $code:literal, $name:literal;)*) => {
        impl EventType {
            $($(#[$doc])* pub const $constant: EventType = EventType($code);)*

            /// Returns the name that SHOW BINLOG EVENTS shows.
            pub fn name(self) -> &'static str {
                match self.0 {
                    $($code => $name,)*
                    _ => "Unknown",
                }
            }
        }
    };
}

// The names are those of MariaDB's Log_event::get_type_str().
event_types! {
    /// A statement, or BEGIN and COMMIT around non-transactional changes.
    QUERY = 2, "Query";
    /// The server was shut down.
    STOP = 3, "Stop";
    /// The log continues in another file.
    ROTATE = 4, "Rotate";
    /// A value for AUTO_INCREMENT or LAST_INSERT_ID() in the following statement.
    INTVAR = 5, "Intvar";
    /// The next block of a LOAD DATA file.
    APPEND_BLOCK = 9, "Append_block";
    /// A LOAD DATA file is discarded.
    DELETE_FILE = 11, "Delete_file";
    /// The seeds for RAND() in the following statement.
    RAND = 13, "RAND";
    /// A user variable that the following statement reads.
    USER_VAR = 14, "User var";
    /// The first event of each file.
    FORMAT_DESCRIPTION = 15, "Format_desc";
    /// A transaction is committed.
    XID = 16, "Xid";
    /// The first block of a LOAD DATA file.
    BEGIN_LOAD_QUERY = 17, "Begin_load_query";
    /// The LOAD DATA statement of a file.
    EXECUTE_LOAD_QUERY = 18, "Execute_load_query";
    /// The table that the following rows events change, and its column types.
    TABLE_MAP = 19, "Table_map";
    /// Inserted rows.
    WRITE_ROWS_V1 = 23, "Write_rows_v1";
    /// Updated rows.
    UPDATE_ROWS_V1 = 24, "Update_rows_v1";
    /// Deleted rows.
    DELETE_ROWS_V1 = 25, "Delete_rows_v1";
    /// The primary reports that changes are missing from its log.
    INCIDENT = 26, "Incident";
    /// The primary is alive. Never in a file.
    HEARTBEAT = 27, "Heartbeat";
    /// A reader that does not know the content may skip the event.
    IGNORABLE = 28, "Ignorable";
    /// The statement that the following rows come from (MySQL).
    ROWS_QUERY = 29, "MySQL Rows_query";
    /// Inserted rows, with extra data (MySQL).
    WRITE_ROWS = 30, "Write_rows";
    /// Updated rows, with extra data (MySQL).
    UPDATE_ROWS = 31, "Update_rows";
    /// Deleted rows, with extra data (MySQL).
    DELETE_ROWS = 32, "Delete_rows";
    /// A MySQL GTID.
    MYSQL_GTID = 33, "MySQL Gtid";
    /// A MySQL transaction without GTID.
    MYSQL_ANONYMOUS_GTID = 34, "MySQL Anonymous_Gtid";
    /// MySQL's list of GTIDs at the head of a file.
    MYSQL_PREVIOUS_GTIDS = 35, "MySQL Previous_gtids";
    /// MySQL's group replication.
    MYSQL_TRANSACTION_CONTEXT = 36, "MySQL Transaction_context";
    /// MySQL's group replication.
    MYSQL_VIEW_CHANGE = 37, "MySQL View_change";
    /// An XA transaction is prepared; the event group ends.
    XA_PREPARE = 38, "XA_prepare";
    /// MySQL's partial JSON updates.
    MYSQL_PARTIAL_UPDATE_ROWS = 39, "MySQL Update_rows_partial";
    /// MySQL's compressed transaction.
    MYSQL_TRANSACTION_PAYLOAD = 40, "MySQL Transaction_payload";
    /// MySQL's heartbeat with a 64-bit position.
    MYSQL_HEARTBEAT_V2 = 41, "MySQL Heartbeat";
    /// A MySQL GTID that may have a tag.
    MYSQL_GTID_TAGGED = 42, "MySQL Gtid_tagged";
    /// The statement that the following rows come from.
    ANNOTATE_ROWS = 160, "Annotate_rows";
    /// The first file that recovery needs.
    BINLOG_CHECKPOINT = 161, "Binlog_checkpoint";
    /// An event group begins.
    GTID = 162, "Gtid";
    /// The GTID state at the head of a file.
    GTID_LIST = 163, "Gtid_list";
    /// The rest of the file is encrypted.
    START_ENCRYPTION = 164, "Start_encryption";
    /// A compressed Query event.
    QUERY_COMPRESSED = 165, "Query_compressed";
    /// Compressed inserted rows.
    WRITE_ROWS_COMPRESSED_V1 = 166, "Write_rows_compressed_v1";
    /// Compressed updated rows.
    UPDATE_ROWS_COMPRESSED_V1 = 167, "Update_rows_compressed_v1";
    /// Compressed deleted rows.
    DELETE_ROWS_COMPRESSED_V1 = 168, "Delete_rows_compressed_v1";
    /// Compressed inserted rows, with extra data.
    WRITE_ROWS_COMPRESSED = 169, "Write_rows_compressed";
    /// Compressed updated rows, with extra data.
    UPDATE_ROWS_COMPRESSED = 170, "Update_rows_compressed";
    /// Compressed deleted rows, with extra data.
    DELETE_ROWS_COMPRESSED = 171, "Delete_rows_compressed";
}

impl EventType {
    /// Returns whether an event group may begin with this event, a MariaDB Gtid event.
    pub fn begins_group(self) -> bool {
        self == Self::GTID
    }

    /// Returns whether this is a rows event that a MariaDB server knows, of any version.
    pub fn is_rows(self) -> bool {
        matches!(self.0, 23..=25 | 30..=32 | 166..=171)
    }

    /// Returns whether the event contains rows: [`Self::is_rows`], or MySQL's update with partial JSON values.
    pub fn has_rows(self) -> bool {
        self.is_rows() || self == Self::MYSQL_PARTIAL_UPDATE_ROWS
    }

    /// Returns whether the event is sent to replicas. [`Self::IGNORABLE`] is not: `mariadb-binlog` skips it, but a
    /// MariaDB replica that uses GTIDs takes it for the beginning of an event group without GTID and stops (1595; its
    /// `Log_event::is_group_event` does not know the type). Events that only make sense in a file are not sent
    /// either.
    pub fn is_sent_to_replicas(self) -> bool {
        !matches!(self, Self::IGNORABLE | Self::START_ENCRYPTION)
    }

    /// Returns whether the event belongs to the log itself and never to an event group.
    pub fn is_control(self) -> bool {
        matches!(
            self,
            Self::FORMAT_DESCRIPTION
                | Self::ROTATE
                | Self::STOP
                | Self::GTID_LIST
                | Self::BINLOG_CHECKPOINT
                | Self::START_ENCRYPTION
                | Self::HEARTBEAT
                | Self::IGNORABLE
        )
    }
}

impl fmt::Display for EventType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Debug for EventType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", self.name(), self.0)
    }
}
