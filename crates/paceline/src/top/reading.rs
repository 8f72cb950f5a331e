//! Readings of a server.

use crate::connection::{Cause, ServerError};
use paceline_types::error_code::{
    ER_ACCESS_DENIED_ERROR, ER_BAD_DB_ERROR, ER_BAD_FIELD_ERROR, ER_COLUMNACCESS_DENIED_ERROR,
    ER_DBACCESS_DENIED_ERROR, ER_NO_SUCH_TABLE, ER_SPECIFIC_ACCESS_DENIED_ERROR, ER_TABLEACCESS_DENIED_ERROR,
    ER_UNKNOWN_TABLE, ErrorCode,
};
use std::collections::HashMap;
use std::time::Instant;

/// Maximum number of rows of a part. The reader asks for one more, to know whether there are more.
pub const ROWS_MAX: usize = 2000;

/// Part of a reading: the answer to one query.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Part {
    Sessions,
    Statements,
    Transactions,
    LockWaits,
    Locks,
    MetadataLocks,
    /// Values that are histograms or texts in `information_schema.PACELINE_METRICS`.
    Metrics,
    /// Connections to primaries.
    Primaries,
}

impl Part {
    /// Returns the name of the source on this server.
    pub fn source(self, identity: &Identity) -> &'static str {
        match self {
            Part::Sessions => "information_schema.PROCESSLIST",
            Part::Statements if identity.is_paceline() => "information_schema.PACELINE_STATEMENTS",
            Part::Statements => "performance_schema.events_statements_summary_by_digest",
            Part::Transactions => "information_schema.INNODB_TRX",
            Part::LockWaits => "information_schema.INNODB_LOCK_WAITS",
            Part::Locks => "information_schema.INNODB_LOCKS",
            Part::MetadataLocks => "performance_schema.metadata_locks",
            Part::Metrics => "information_schema.PACELINE_METRICS",
            Part::Primaries => "SHOW ALL SLAVES STATUS",
        }
    }
}

/// A row: values by the column's name in lower case. NULL is the empty text.
#[derive(Clone, Default, Debug)]
pub struct Row(HashMap<String, String>);

impl Row {
    pub fn new(values: HashMap<String, String>) -> Self {
        let lower = |(name, value): (String, String)| (name.to_ascii_lowercase(), value);
        Row(values.into_iter().map(lower).collect())
    }

    pub fn text(&self, column: &str) -> &str {
        self.0.get(column).map_or("", String::as_str)
    }

    /// Returns a value as a number; `None` for a text, NULL or a missing column.
    pub fn number(&self, column: &str) -> Option<f64> {
        self.text(column).parse().ok()
    }

    pub fn id(&self, column: &str) -> Option<u64> {
        self.text(column).parse().ok()
    }
}

/// Rows of a part, at most [`ROWS_MAX`].
#[derive(Clone, Debug)]
pub struct Rows {
    rows: Vec<Row>,
    has_more: bool,
}

impl From<Vec<Row>> for Rows {
    /// Takes an answer, and leaves out what is too much.
    fn from(mut rows: Vec<Row>) -> Self {
        let has_more = rows.len() > ROWS_MAX;
        rows.truncate(ROWS_MAX);
        Rows { rows, has_more }
    }
}

/// Reason for the absence of a part.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Problem {
    /// The server has no such table.
    Missing,
    /// The account lacks a privilege. The server's text names it.
    Denied(String),
    /// Another error of the server.
    Refused(String),
}

/// Errors for tables, columns and databases that do not exist.
const MISSING: [ErrorCode; 4] = [
    ER_BAD_DB_ERROR,
    ER_BAD_FIELD_ERROR,
    ER_UNKNOWN_TABLE,
    ER_NO_SUCH_TABLE,
];
/// Errors for missing privileges.
const DENIED: [ErrorCode; 5] = [
    ER_DBACCESS_DENIED_ERROR,
    ER_ACCESS_DENIED_ERROR,
    ER_TABLEACCESS_DENIED_ERROR,
    ER_COLUMNACCESS_DENIED_ERROR,
    ER_SPECIFIC_ACCESS_DENIED_ERROR,
];

impl Problem {
    /// Returns the problem that an error means; the error itself if the connection is of no more use.
    pub fn of(error: ServerError) -> Result<Self, ServerError> {
        match error.cause {
            Cause::Server(_) if !error.is_lost() => Ok(match () {
                () if error.is(&MISSING) => Problem::Missing,
                () if error.is(&DENIED) => Problem::Denied(error.problem),
                () => Problem::Refused(error.problem),
            }),
            _ => Err(error),
        }
    }

    /// Returns the text for the user, with the part's source on this server.
    pub fn text(&self, part: Part, identity: &Identity) -> String {
        let source = part.source(identity);
        match self {
            Problem::Missing => format!("{source} does not exist on this server"),
            Problem::Denied(text) => format!("{source}: a privilege is missing: {text}"),
            Problem::Refused(text) => format!("{source}: {text}"),
        }
    }
}

/// The server, as it describes itself.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Identity {
    pub version: String,
    pub host: String,
    pub server_id: String,
    pub is_read_only: bool,
}

impl Identity {
    /// Returns whether the server is a Paceline, which has tables of its own.
    pub fn is_paceline(&self) -> bool {
        self.version.to_ascii_lowercase().contains("paceline")
    }
}

/// One of the reader's connections, in their order. Ids of sessions are valid only for the connection through which
/// they were read: the next one may reach a restarted server, which counts them from 1 again.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct ReaderConnection(u64);

impl ReaderConnection {
    pub fn next(self) -> Self {
        ReaderConnection(self.0 + 1)
    }
}

/// Answers of a server to all queries of a view, taken together.
#[derive(Clone, Debug)]
pub struct Reading {
    pub at: Instant,
    pub seen_by: ReaderConnection,
    pub identity: Identity,
    /// SHOW GLOBAL STATUS.
    pub status: Row,
    pub parts: HashMap<Part, Result<Rows, Problem>>,
}

impl Reading {
    /// Returns a part's rows; none if it was not read or is absent.
    pub fn rows(&self, part: Part) -> &[Row] {
        match self.parts.get(&part) {
            Some(Ok(found)) => &found.rows,
            Some(Err(_)) | None => &[],
        }
    }

    /// Returns whether a part was read.
    pub fn has(&self, part: Part) -> bool {
        matches!(self.parts.get(&part), Some(Ok(_)))
    }

    /// Returns whether the server has more rows of a part than were read.
    pub fn has_more(&self, part: Part) -> bool {
        matches!(self.parts.get(&part), Some(Ok(Rows { has_more: true, .. })))
    }

    /// Returns why a part is absent.
    pub fn problem(&self, part: Part) -> Option<&Problem> {
        self.parts.get(&part)?.as_ref().err()
    }

    /// Returns a value of SHOW GLOBAL STATUS.
    pub fn value(&self, name: &str) -> Option<f64> {
        self.status.number(&name.to_ascii_lowercase())
    }

    /// Returns by how much a counter of SHOW GLOBAL STATUS grew per second; `None` if the server lacks it or has
    /// restarted.
    pub fn rate(&self, before: &Reading, name: &str) -> Option<f64> {
        let grown = self.value(name)? - before.value(name)?;
        let seconds = self.seconds_since(before);
        (grown >= 0.0 && seconds > 0.0).then(|| grown / seconds)
    }

    pub fn seconds_since(&self, before: &Reading) -> f64 {
        self.at.saturating_duration_since(before.at).as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_that_of_the_server() {
        let server = |version: &str| Identity {
            version: version.to_owned(),
            ..Identity::default()
        };
        let paceline = server("10.11.19-MariaDB-paceline-0.2.0");
        let mariadb = server("10.11.19-MariaDB-log");
        for (part, of_paceline, of_mariadb) in [
            (
                Part::Sessions,
                "information_schema.PROCESSLIST",
                "information_schema.PROCESSLIST",
            ),
            (
                Part::Statements,
                "information_schema.PACELINE_STATEMENTS",
                "performance_schema.events_statements_summary_by_digest",
            ),
        ] {
            assert_eq!(part.source(&paceline), of_paceline);
            assert_eq!(part.source(&mariadb), of_mariadb);
        }
    }

    #[test]
    fn rows_beyond_the_limit_are_left_out() {
        for (count, has_more) in [(ROWS_MAX, false), (ROWS_MAX + 1, true)] {
            let found = Rows::from(vec![Row::default(); count]);
            assert_eq!((found.rows.len(), found.has_more), (ROWS_MAX, has_more));
        }
    }
}
