//! A statistic with the function that reads it from a sample.

use super::sample::Sample;
use crate::statistic::Statistic;
use paceline_replication::connection::ConnectionStatus;
use paceline_txn::HistogramSnapshot;

/// Function that reads a value from a sample.
#[derive(Clone, Copy)]
pub enum Reader {
    /// Number, or 1 and 0 for a switch.
    Number(fn(&Sample) -> u64),
    /// Number with decimals, in the format of SHOW STATUS.
    Real(fn(&Sample) -> f64),
    /// Text.
    Text(fn(&Sample) -> String),
    /// Histogram.
    Histogram(fn(&Sample) -> &HistogramSnapshot),
    /// Histogram for each class of statements, by the name of the class. SHOW STATUS shows all of them together.
    Classes(fn(&Sample) -> Vec<(&'static str, HistogramSnapshot)>),
    /// Number of a connection to a primary. SHOW STATUS shows that of the session's default connection, if it exists.
    Connection(fn(&ConnectionStatus) -> u64),
    /// Text of a connection to a primary.
    ConnectionText(fn(&ConnectionStatus) -> String),
    /// One of a few words for each connection: a text, and a label in `/metrics`.
    ConnectionReason(fn(&ConnectionStatus) -> &'static str),
}

/// A statistic of the server, with its reader.
#[derive(Clone, Copy)]
pub struct Metric {
    /// Its declaration.
    pub statistic: Statistic,
    /// Function that reads its value.
    pub reader: Reader,
}
