//! Reasons why a session must stop.

use std::fmt;

/// Reason why a session must stop. A higher reason overrides a lower one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum InterruptReason {
    /// `max_statement_time` has passed: 1969. Never raised; [`crate::Interrupt::set_deadline`] causes it.
    StatementTimeout = 0,
    /// `KILL QUERY`: the statement ends with 1317.
    Query = 1,
    /// `KILL`: the connection is closed; the statement ends with 1927.
    Connection = 2,
    /// The server stops: 1053.
    Shutdown = 3,
}

impl fmt::Display for InterruptReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            InterruptReason::StatementTimeout => "its time is over",
            InterruptReason::Query => "KILL QUERY",
            InterruptReason::Connection => "KILL",
            InterruptReason::Shutdown => "the server stops",
        })
    }
}
