//! Latest statements of each session and of the server: `events_statements_current`, `…_history`, `…_history_long`.
//!
//! Off until somebody asks for them, as in MariaDB: by an option `performance_schema_consumer_…` or by `UPDATE
//! performance_schema.setup_consumers`. Then the end of a statement takes the lock of its session's queue, and for the
//! long history one lock that all sessions share; texts are copied. While it is
//! off, the end of a statement reads one shared flag that nobody writes.
//!
//! Limits: `performance_schema_events_statements_history_size` statements of a session (10 without a choice), and
//! `…_history_long_size` of the server (1,000); `performance_schema_max_sql_text_length` bytes of a text. The
//! statements of a session that has ended are in the long history only.

use crate::statement_kind::StatementKind;
use crate::statement_sums::StatementWork;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// Number of statements if the variable is -1: of a session, and of the server.
const OWN: usize = 10;
const LONG: usize = 1000;
/// Length of a text in bytes.
const TEXT: usize = 1024;

/// Consumer of events: a switch that decides whether they are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consumer {
    /// The running or last statement of each session.
    StatementsCurrent,
    /// The latest statements of each session.
    StatementsHistory,
    /// The latest statements of the server.
    StatementsHistoryLong,
    /// Everything.
    GlobalInstrumentation,
    /// Events of sessions.
    ThreadInstrumentation,
    /// Statistics by digest.
    StatementsDigest,
}

impl Consumer {
    const ALL: [Consumer; 6] = [
        Consumer::StatementsCurrent,
        Consumer::StatementsHistory,
        Consumer::StatementsHistoryLong,
        Consumer::GlobalInstrumentation,
        Consumer::ThreadInstrumentation,
        Consumer::StatementsDigest,
    ];

    /// Returns the consumer of this name; `None` also for those of events that do not exist here.
    pub fn of_name(name: &str) -> Option<Consumer> {
        Consumer::ALL.into_iter().find(|consumer| consumer.name() == name)
    }

    fn name(self) -> &'static str {
        match self {
            Consumer::StatementsCurrent => "events_statements_current",
            Consumer::StatementsHistory => "events_statements_history",
            Consumer::StatementsHistoryLong => "events_statements_history_long",
            Consumer::GlobalInstrumentation => "global_instrumentation",
            Consumer::ThreadInstrumentation => "thread_instrumentation",
            Consumer::StatementsDigest => "statements_digest",
        }
    }

    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// MariaDB's consumers. Those of events that do not exist here are always off.
pub const CONSUMERS: [&str; 15] = [
    "events_stages_current",
    "events_stages_history",
    "events_stages_history_long",
    "events_statements_current",
    "events_statements_history",
    "events_statements_history_long",
    "events_transactions_current",
    "events_transactions_history",
    "events_transactions_history_long",
    "events_waits_current",
    "events_waits_history",
    "events_waits_history_long",
    "global_instrumentation",
    "thread_instrumentation",
    "statements_digest",
];

/// Switches of the consumers.
#[derive(Debug)]
pub struct Consumers(AtomicU8);

impl Default for Consumers {
    /// MariaDB's defaults: statistics by digest, no history.
    fn default() -> Self {
        Consumers::new([
            Consumer::GlobalInstrumentation,
            Consumer::ThreadInstrumentation,
            Consumer::StatementsDigest,
        ])
    }
}

impl Consumers {
    /// Creates switches of which these are on.
    fn new(on: impl IntoIterator<Item = Consumer>) -> Consumers {
        let bits = on.into_iter().fold(0, |bits, consumer| bits | consumer.bit());
        Consumers(AtomicU8::new(bits))
    }

    /// Returns whether a consumer is switched on.
    pub fn is_enabled(&self, consumer: Consumer) -> bool {
        self.0.load(Ordering::Relaxed) & consumer.bit() != 0
    }

    /// Switches a consumer on or off.
    pub fn set(&self, consumer: Consumer, is_on: bool) {
        match is_on {
            true => self.0.fetch_or(consumer.bit(), Ordering::Relaxed),
            false => self.0.fetch_and(!consumer.bit(), Ordering::Relaxed),
        };
    }

    /// Returns whether statements are counted by digest.
    #[inline]
    pub fn count_digests(&self) -> bool {
        const NEEDED: u8 = Consumer::GlobalInstrumentation.bit() | Consumer::StatementsDigest.bit();
        self.0.load(Ordering::Relaxed) & NEEDED == NEEDED
    }

    /// Returns whether statements are counted by kind.
    #[inline]
    pub fn count_events(&self) -> bool {
        const NEEDED: u8 = Consumer::GlobalInstrumentation.bit() | Consumer::ThreadInstrumentation.bit();
        self.0.load(Ordering::Relaxed) & NEEDED == NEEDED
    }

    /// Returns whether any history of statements is kept.
    #[inline]
    pub fn keep_statements(&self) -> bool {
        const NEEDED: u8 = Consumer::GlobalInstrumentation.bit() | Consumer::ThreadInstrumentation.bit();
        const ANY: u8 = Consumer::StatementsCurrent.bit()
            | Consumer::StatementsHistory.bit()
            | Consumer::StatementsHistoryLong.bit();
        let bits = self.0.load(Ordering::Relaxed);
        bits & NEEDED == NEEDED && bits & ANY != 0
    }
}

/// A statement that has ended.
#[derive(Debug, Clone, Default)]
pub struct StatementEvent {
    /// Id of the connection.
    pub session: u64,
    /// Number of the statement in its session, from 1.
    pub number: u64,
    /// Its kind.
    pub kind: StatementKind,
    /// Whether it has not ended.
    pub is_running: bool,
    /// Start in microseconds since 1970.
    pub start_micros: i64,
    /// Duration in nanoseconds.
    pub nanos: u64,
    /// The text, without secrets, up to the maximum length.
    pub text: String,
    /// Digest, and the statement without its literals; absent for a text that was not understood.
    pub digest: Option<(String, String)>,
    /// Database that is current.
    pub database: Option<String>,
    /// Number of the error, 0 without one.
    pub code: u16,
    /// SQLSTATE of the error.
    pub sqlstate: Option<String>,
    /// Text of the error.
    pub message: Option<String>,
    /// Number of warnings.
    pub warnings: u64,
    /// Number of changed rows.
    pub rows_affected: u64,
    /// Number of rows sent.
    pub rows_sent: u64,
    /// Number of rows fetched from tables.
    pub rows_examined: u64,
    /// Temporary tables, kinds of joins, sorts.
    pub work: StatementWork,
}

/// Statements of a session.
#[derive(Debug, Default)]
pub struct SessionHistory(Mutex<OwnStatements>);

#[derive(Debug, Default)]
struct OwnStatements {
    /// Number of the last statement.
    number: u64,
    latest: VecDeque<Arc<StatementEvent>>,
}

impl SessionHistory {
    /// Returns the statements that are kept, the oldest first.
    pub fn statements(&self) -> Vec<Arc<StatementEvent>> {
        self.0.lock().latest.iter().cloned().collect()
    }

    /// Returns the last statement that is kept, and the number of the next one.
    pub fn last(&self) -> (Option<Arc<StatementEvent>>, u64) {
        let own = self.0.lock();
        (own.latest.back().cloned(), own.number + 1)
    }

    /// Forgets all statements.
    pub fn clear(&self) {
        self.0.lock().latest.clear();
    }
}

/// Latest statements of the server, and the limits.
#[derive(Debug)]
pub struct StatementHistory {
    /// Switches of the consumers.
    pub consumers: Consumers,
    own_max: usize,
    long_max: usize,
    text_max: usize,
    long: Mutex<VecDeque<Arc<StatementEvent>>>,
}

impl StatementHistory {
    /// Creates an empty history with limits for a session, for the server and for a text; negative numbers choose the
    /// defaults.
    pub fn new(consumers: Consumers, own_max: i64, long_max: i64, text_max: i64) -> StatementHistory {
        StatementHistory {
            consumers,
            own_max: usize::try_from(own_max).unwrap_or(OWN),
            long_max: usize::try_from(long_max).unwrap_or(LONG),
            text_max: usize::try_from(text_max).unwrap_or(TEXT),
            long: Mutex::default(),
        }
    }

    /// Returns the part of a statement's text that is kept.
    pub fn kept_text(&self, text: &[u8]) -> String {
        String::from_utf8_lossy(&text[..text.len().min(self.text_max)]).into_owned()
    }

    /// Keeps a statement that has ended.
    pub fn keep(&self, own: &SessionHistory, event: StatementEvent) {
        let mut kept = own.0.lock();
        kept.number += 1;
        let event = Arc::new(StatementEvent {
            number: kept.number,
            ..event
        });
        // The last one is `events_statements_current`.
        let most = match self.consumers.is_enabled(Consumer::StatementsHistory) {
            true => self.own_max.max(1),
            false => 1,
        };
        push_within(&mut kept.latest, event.clone(), most);
        drop(kept);
        if self.consumers.is_enabled(Consumer::StatementsHistoryLong) {
            push_within(&mut self.long.lock(), event, self.long_max);
        }
    }

    /// Returns the statements of the long history, the oldest first.
    pub fn long(&self) -> Vec<Arc<StatementEvent>> {
        self.long.lock().iter().cloned().collect()
    }

    /// Forgets the long history.
    pub fn clear_long(&self) {
        self.long.lock().clear();
    }
}

fn push_within(events: &mut VecDeque<Arc<StatementEvent>>, event: Arc<StatementEvent>, most: usize) {
    while events.len() >= most.max(1) {
        events.pop_front();
    }
    if most > 0 {
        events.push_back(event);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(events: &[Arc<StatementEvent>]) -> Vec<u64> {
        events.iter().map(|event| event.number).collect()
    }

    #[test]
    fn the_latest_statements_are_kept() {
        let consumers = Consumers::new([Consumer::StatementsHistory, Consumer::StatementsHistoryLong]);
        let history = StatementHistory::new(consumers, 2, 3, 4);
        let (one, two) = (SessionHistory::default(), SessionHistory::default());
        for _ in 0..3 {
            history.keep(&one, StatementEvent::default());
        }
        history.keep(&two, StatementEvent::default());
        assert_eq!(numbers(&one.statements()), [2, 3]);
        assert_eq!(numbers(&history.long()), [2, 3, 1]);
        history.consumers.set(Consumer::StatementsHistory, false);
        history.keep(&one, StatementEvent::default());
        assert_eq!(numbers(&one.statements()), [4]);
    }

    #[test]
    fn nothing_is_kept_while_all_is_off() {
        let consumers = Consumers::new([Consumer::GlobalInstrumentation, Consumer::ThreadInstrumentation]);
        assert!(!consumers.keep_statements());
        consumers.set(Consumer::StatementsCurrent, true);
        assert!(consumers.keep_statements());
        consumers.set(Consumer::GlobalInstrumentation, false);
        assert!(!consumers.keep_statements());
    }
}
