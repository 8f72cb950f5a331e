//! Replies of statements, before they are written.

use super::output::Output;
use paceline_wire::response::Status;
use paceline_wire::session_state::StateChange;

/// Reply of a statement that has succeeded.
#[derive(Debug)]
pub enum Reply {
    /// An OK packet.
    Ok {
        /// Number of changed rows.
        affected_rows: u64,
        /// First generated AUTO_INCREMENT value, or 0.
        last_insert_id: u64,
        /// Text such as `Records: 3  Duplicates: 0  Warnings: 0`, or empty.
        info: String,
    },
    /// A result set.
    Rows(Output),
    /// End of a result set whose rows were written while the statement ran.
    EndOfRows,
}

impl Reply {
    /// Returns a reply without any information.
    pub fn ok() -> Reply {
        Reply::affected(0)
    }

    /// Returns the reply of a statement that has changed this number of rows.
    pub fn affected(affected_rows: u64) -> Reply {
        Reply::Ok {
            affected_rows,
            last_insert_id: 0,
            info: String::new(),
        }
    }

    /// Returns an OK packet with a text.
    pub fn with_info(affected_rows: u64, info: impl Into<String>) -> Reply {
        Reply::Ok {
            affected_rows,
            last_insert_id: 0,
            info: info.into(),
        }
    }
}

/// Whether another result follows in the reply to the same command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum More {
    /// This is the last result.
    No,
    /// Another one follows.
    Yes,
    /// The statement is part of a program. Its rows are sent, but only the program sends an OK packet.
    InProgram,
    /// These are the values of OUT parameters; the OK packet of the CALL follows.
    AfterOutParameters,
}

impl More {
    /// Adds the flag `MORE_RESULTS`, if another result follows.
    pub fn mark(self, status: Status) -> Status {
        match self {
            More::No => status,
            More::Yes | More::InProgram => status.with(Status::MORE_RESULTS),
            More::AfterOutParameters => status.with(Status::MORE_RESULTS).with(Status::PS_OUT_PARAMS),
        }
    }
}

/// Encoded changes of the session's state, for the next OK packet: `session_track_…`.
#[derive(Debug, Default)]
pub struct StateChanges {
    encoded: Vec<u8>,
}

impl StateChanges {
    /// Adds a change.
    pub fn add(&mut self, change: &StateChange) {
        change.encode(&mut self.encoded);
    }

    /// Returns the encoded changes.
    pub fn encoded(&self) -> &[u8] {
        &self.encoded
    }

    /// Removes all changes: they were sent to the client, or it need not know them.
    pub fn clear(&mut self) {
        self.encoded.clear();
    }
}
