//! Reasons for which a replica is not or no longer served, and the messages for it.
//!
//! For every error that makes a retry useless MariaDB sends 1236, whatever the cause, with a text that names it. If a
//! file was open at the time, the text ends with positions in it. A replica shows both in `Last_IO_Errno` and
//! `Last_IO_Error`.

use paceline_binlog::GtidState;
use paceline_program_version as program_version;
use paceline_types::Gtid;
use paceline_types::error_code::{
    ER_MASTER_FATAL_ERROR_READING_BINLOG, ER_SLAVE_SAME_ID, ER_UNKNOWN_ERROR, ErrorCode,
};
use std::fmt;

/// Reason for which a replica is not served.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// A session variable is not a valid GTID position.
    MalformedRequest(&'static str),
    /// The file does not exist.
    NoSuchFile,
    /// The offset is not in the file.
    ImpossiblePosition {
        /// The requested file.
        file: String,
        /// The requested offset.
        offset: u64,
    },
    /// 1945: the position is not in the log.
    NotInLog(Gtid),
    /// 1955: the position is not in the log, which has later transactions.
    Diverged(Gtid),
    /// 1951: the position is in a hole of the log.
    Hole(Gtid),
    /// The log files that the replica needs have been purged.
    Purged,
    /// The replica does not support checksums.
    ChecksumsUnknown,
    /// The log could not be read.
    Unreadable {
        /// Description of the problem.
        problem: &'static str,
        /// Positions where it occurred.
        places: Places,
    },
    /// Another replica with the same server id has connected.
    SameServerId(Places),
    /// A member of a cluster that reads only older versions of the log's format.
    LogFormat {
        /// Newest version that it reads; 0: it did not say.
        reads: u32,
    },
    /// Another error without a position in the log.
    Other(String),
}

/// End of the message of 1236: where reading began, and how far it came.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Places {
    /// File and offset that the replica requested.
    pub first: (String, u64),
    /// File, offset of the last event read, and offset where reading stopped.
    pub last: (String, u64, u64),
}

impl fmt::Display for Places {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, first_offset) = &self.first;
        let (last, event, byte) = &self.last;
        write!(
            f,
            "; the first event '{first}' at {first_offset}, the last event read from '{last}' at {event}, the last byte read from \
             '{last}' at {byte}."
        )
    }
}

impl Refusal {
    /// Returns the reason why a position is not in the log.
    pub(super) fn not_in_log(state: &GtidState, gtid: Gtid) -> Refusal {
        match state.last(gtid.domain_id) {
            Some(last) if last.sequence >= gtid.sequence => Refusal::Diverged(gtid),
            _ => Refusal::NotInLog(gtid),
        }
    }

    /// Returns MariaDB's error number.
    pub fn code(&self) -> ErrorCode {
        match self {
            Refusal::MalformedRequest(_) => ER_UNKNOWN_ERROR,
            Refusal::SameServerId(_) => ER_SLAVE_SAME_ID,
            _ => ER_MASTER_FATAL_ERROR_READING_BINLOG,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::MalformedRequest(what) => {
                write!(f, "Out of memory or malformed slave request when obtaining {what}")
            }
            Refusal::NoSuchFile => f.write_str("Could not find first log file name in binary log index file"),
            Refusal::ImpossiblePosition { file, offset } => {
                let places = Places {
                    first: (file.clone(), *offset),
                    last: (file.clone(), 4, 4),
                };
                write!(
                    f,
                    "Client requested master to start replication from impossible position{places}"
                )
            }
            Refusal::NotInLog(gtid) => write!(
                f,
                "Error: connecting slave requested to start from GTID {gtid}, which is not in the master's binlog"
            ),
            Refusal::Diverged(gtid) => write!(
                f,
                "Error: connecting slave requested to start from GTID {gtid}, which is not in the master's binlog. Since the \
                 master's binlog contains GTIDs with higher sequence numbers, it probably means that the slave has diverged due to \
                 executing extra erroneous transactions"
            ),
            Refusal::Hole(gtid) => write!(
                f,
                "The binlog on the master is missing the GTID {gtid} requested by the slave (even though both a prior and a \
                 subsequent sequence number does exist), and GTID strict mode is enabled"
            ),
            Refusal::Purged => f.write_str(
                "Could not find GTID state requested by slave in any binlog files. Probably the slave state is too old and \
                 required binlog files have been purged.",
            ),
            Refusal::ChecksumsUnknown => f.write_str(
                "Slave can not handle replication events with the checksum that master is configured to log",
            ),
            Refusal::Unreadable { problem, places } => write!(f, "{problem}{places}"),
            Refusal::SameServerId(places) => write!(
                f,
                "A slave with the same server_uuid/server_id as this slave has connected to the master{places}"
            ),
            Refusal::LogFormat { reads } => write!(
                f,
                "the log has format {}, and the member reads up to format {reads}: upgrade the member first",
                program_version::present().log_format
            ),
            Refusal::Other(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for Refusal {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_equal_those_of_mariadb() {
        let gtid = "0-1-7".parse().unwrap();
        assert_eq!(
            Refusal::NotInLog(gtid).to_string(),
            "Error: connecting slave requested to start from GTID 0-1-7, which is not in the master's binlog"
        );
        let refused = Refusal::ImpossiblePosition {
            file: "bin.000001".into(),
            offset: 99_999,
        };
        assert_eq!(
            refused.to_string(),
            "Client requested master to start replication from impossible position; the first event 'bin.000001' at 99999, the \
             last event read from 'bin.000001' at 4, the last byte read from 'bin.000001' at 4."
        );
        assert_eq!(refused.code().number(), 1236);
    }
}
