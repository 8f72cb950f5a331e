//! Event type codes.

use std::fmt;

/// The type code of an event. Codes that this server does not know are carried through.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct EventType(pub u8);

macro_rules! event_types {
    ($($(#[$doc:meta])* $constant:ident = $code:literal, $name:literal;)*) => {
        impl EventType {
            $($(#[$doc])* pub const $constant: EventType = EventType($code);)*

            /// The name that SHOW BINLOG EVENTS gives it.
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
    /// The log goes on in another file.
    ROTATE = 4, "Rotate";
    /// A value for AUTO_INCREMENT or LAST_INSERT_ID() in the following statement.
    INTVAR = 5, "Intvar";
    /// LOAD DATA's next block.
    APPEND_BLOCK = 9, "Append_block";
    /// LOAD DATA is given up.
    DELETE_FILE = 11, "Delete_file";
    /// The seeds for RAND() in the following statement.
    RAND = 13, "RAND";
    /// A user variable that the following statement reads.
    USER_VAR = 14, "User var";
    /// The first event of each file.
    FORMAT_DESCRIPTION = 15, "Format_desc";
    /// A transaction ends, committed.
    XID = 16, "Xid";
    /// LOAD DATA's first block.
    BEGIN_LOAD_QUERY = 17, "Begin_load_query";
    /// LOAD DATA is executed.
    EXECUTE_LOAD_QUERY = 18, "Execute_load_query";
    /// Which table the following rows events change, and its column types.
    TABLE_MAP = 19, "Table_map";
    /// Inserted rows.
    WRITE_ROWS_V1 = 23, "Write_rows_v1";
    /// Updated rows.
    UPDATE_ROWS_V1 = 24, "Update_rows_v1";
    /// Deleted rows.
    DELETE_ROWS_V1 = 25, "Delete_rows_v1";
    /// The primary knows that something is not in its log.
    INCIDENT = 26, "Incident";
    /// The primary lives; never in a file.
    HEARTBEAT = 27, "Heartbeat";
    /// What a reader that does not know it may step over.
    IGNORABLE = 28, "Ignorable";
    /// MySQL's annotation.
    ROWS_QUERY = 29, "MySQL Rows_query";
    /// Inserted rows, with extra data (MySQL).
    WRITE_ROWS = 30, "Write_rows";
    /// Updated rows, with extra data (MySQL).
    UPDATE_ROWS = 31, "Update_rows";
    /// Deleted rows, with extra data (MySQL).
    DELETE_ROWS = 32, "Delete_rows";
    /// A MySQL GTID.
    MYSQL_GTID = 33, "MySQL Gtid";
    /// MySQL, without GTIDs.
    MYSQL_ANONYMOUS_GTID = 34, "MySQL Anonymous_Gtid";
    /// MySQL's list of GTIDs at the head of a file.
    MYSQL_PREVIOUS_GTIDS = 35, "MySQL Previous_gtids";
    /// MySQL's group replication.
    MYSQL_TRANSACTION_CONTEXT = 36, "MySQL Transaction_context";
    /// MySQL's group replication.
    MYSQL_VIEW_CHANGE = 37, "MySQL View_change";
    /// A prepared XA transaction ends here.
    XA_PREPARE = 38, "XA_prepare";
    /// MySQL's partial JSON updates.
    MYSQL_PARTIAL_UPDATE_ROWS = 39, "MySQL Update_rows_partial";
    /// MySQL's compressed transaction.
    MYSQL_TRANSACTION_PAYLOAD = 40, "MySQL Transaction_payload";
    /// MySQL's heartbeat with a 64-bit position.
    MYSQL_HEARTBEAT_V2 = 41, "MySQL Heartbeat";
    /// A MySQL GTID that may have a tag.
    MYSQL_GTID_TAGGED = 42, "MySQL Gtid_tagged";
    /// The statement whose rows follow.
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
    /// Whether an event group may begin with it (a MariaDB GTID event).
    pub fn begins_group(self) -> bool {
        self == Self::GTID
    }

    /// Whether it is a rows event that a MariaDB server knows, in whatever version.
    pub fn is_rows(self) -> bool {
        matches!(self.0, 23..=25 | 30..=32 | 166..=171)
    }

    /// Whether it holds rows: one of those, or MySQL's updates of parts of JSON values.
    pub fn has_rows(self) -> bool {
        self.is_rows() || self == Self::MYSQL_PARTIAL_UPDATE_ROWS
    }

    /// Whether a replica is sent it. Not [`Self::IGNORABLE`]: `mariadb-binlog` passes over it, but a MariaDB replica that uses
    /// GTIDs takes it for the beginning of an event group without a GTID, and stops (1595; its
    /// `Log_event::is_group_event` knows no such type). Nor what only a file has.
    pub fn is_sent_to_replicas(self) -> bool {
        !matches!(self, Self::IGNORABLE | Self::START_ENCRYPTION)
    }

    /// Whether it belongs to the log itself and never to an event group.
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
