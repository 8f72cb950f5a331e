//! Statistics of statements by their digest, which `performance_schema` shows.
//!
//! ```text
//!   session ends a statement ─▶ its own map ─┬─▶ (session ends, or the map is full) ─▶ totals
//!                                            └─▶ a reader adds up the totals and all maps
//! ```
//!
//! Each session counts in a map of its own, so the end of a statement writes to no memory that another session writes
//! to: it takes a lock that nobody else wants, finds the digest and adds some numbers. The text of a digest is made
//! when the first session sees it, and shared by all; a session asks for it once for each digest.
//!
//! A digest and the current database are a key of 64 bits; two statements with equal keys would share a row, which one
//! in 10^12 servers with as many digests as allowed sees.
//!
//! Limits: `performance_schema_digests_size` digests ([`DIGESTS`] without a choice); the others share a row without a
//! text (`Performance_schema_digest_lost`). [`OWN_MAX`] digests in a session's map, some 36 KiB.
//!
//! The histogram of durations by class of statements (`Paceline_statement_usec`) is added up from the digests when
//! somebody asks for it.
//!
//! Rejected: one map for all with atomic counters. Sessions that run the same statement, which is what busy servers do,
//! would pass its cache lines around: 5 counters cost more than the statement's own bookkeeping. A thread that collects
//! records from queues: it loses some or blocks when it is late.

use crate::statement_sums::{EndedStatement, StatementSums};
use md5::{Digest, Md5};
use paceline_txn::HistogramSnapshot;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

/// Number of digests if `performance_schema_digests_size` is -1.
const DIGESTS: usize = 5000;

/// Maximum number of digests in a session's map.
const OWN_MAX: usize = 64;

/// Number of buckets of a histogram: bucket `n` has durations from 2^(n-1) to 2^n - 1 µs, bucket 0 those under 1 µs.
const BUCKETS: usize = 36;

/// Digest of a statement and of the database that was current.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DigestKey(u64);

/// Key of the row that has all digests beyond the limit.
const LOST: DigestKey = DigestKey(0);

impl DigestKey {
    /// Returns the key of a statement.
    #[inline]
    pub fn new(statement: u64, database: Option<&str>) -> DigestKey {
        let database = database.map_or(0, |name| digest_of_name(name.as_bytes()));
        DigestKey((statement ^ database).max(1))
    }
}

/// Hashes the name of a database (FNV-1a).
fn digest_of_name(name: &[u8]) -> u64 {
    name.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Hasher of keys, which are hashes already.
#[derive(Default)]
pub struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("keys are numbers");
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }
}

type DigestMap<V> = HashMap<DigestKey, V, BuildHasherDefault<KeyHasher>>;

/// Class of statements, for the histogram of durations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatementClass {
    /// SELECT, VALUES and WITH.
    Select,
    /// INSERT and REPLACE.
    Insert,
    /// UPDATE.
    Update,
    /// DELETE.
    Delete,
    /// All others, and the digests beyond the limit.
    Other,
}

impl StatementClass {
    const ALL: [StatementClass; 5] = [
        StatementClass::Select,
        StatementClass::Insert,
        StatementClass::Update,
        StatementClass::Delete,
        StatementClass::Other,
    ];

    /// Returns the class of a digest's text by its first word.
    fn of(text: &str) -> StatementClass {
        let text = text.trim_start_matches(['(', ' ']);
        match text.split(' ').next().unwrap_or_default() {
            "SELECT" | "WITH" | "VALUES" => StatementClass::Select,
            "INSERT" | "REPLACE" => StatementClass::Insert,
            "UPDATE" => StatementClass::Update,
            "DELETE" => StatementClass::Delete,
            _ => StatementClass::Other,
        }
    }

    /// Returns the name for users.
    pub fn name(self) -> &'static str {
        match self {
            StatementClass::Select => "select",
            StatementClass::Insert => "insert",
            StatementClass::Update => "update",
            StatementClass::Delete => "delete",
            StatementClass::Other => "other",
        }
    }
}

/// Text and database of a digest.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct DigestStatement {
    /// Database that was current.
    pub database: Option<String>,
    /// The statement without its literals; `None` for the row of all digests beyond the limit.
    pub text: Option<String>,
}

impl DigestStatement {
    /// Returns the class of the statement.
    fn class(&self) -> StatementClass {
        self.text
            .as_deref()
            .map_or(StatementClass::Other, StatementClass::of)
    }

    /// Returns the digest as users see it: MD5 of its text, in hexadecimal digits.
    pub fn name(&self) -> Option<String> {
        let hash = Md5::digest(self.text.as_deref()?.as_bytes());
        Some(hash.iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

/// Text of a statement that ends.
#[derive(Clone, Copy)]
pub struct CountedText<'a> {
    /// Its digest.
    pub digest: u64,
    /// Makes the text of the digest, which is only needed the first time.
    pub make_text: &'a dyn Fn() -> String,
    /// Database that is current.
    pub database: Option<&'a str>,
}

/// Statistics of a digest.
#[derive(Debug, Clone)]
pub struct DigestStatistics {
    /// Sums over the executions.
    pub sums: StatementSums,
    /// Start of the first execution in microseconds since 1970.
    pub first_seen: i64,
    /// Start of the last execution in microseconds since 1970.
    pub last_seen: i64,
    /// Histogram of the durations.
    buckets: [u32; BUCKETS],
}

impl Default for DigestStatistics {
    fn default() -> Self {
        DigestStatistics {
            sums: StatementSums::default(),
            first_seen: i64::MAX,
            last_seen: 0,
            buckets: [0; BUCKETS],
        }
    }
}

impl DigestStatistics {
    #[inline]
    fn add(&mut self, ended: &EndedStatement<'_>) {
        self.sums.add(ended);
        self.first_seen = self.first_seen.min(ended.start_micros);
        self.last_seen = self.last_seen.max(ended.start_micros);
        // Dividing by 1024 instead of 1000 moves a bound by 2.4 %, which a histogram of powers of two does not show.
        let bucket = (u64::BITS - (ended.nanos >> 10).leading_zeros()) as usize;
        let bucket = &mut self.buckets[bucket.min(BUCKETS - 1)];
        *bucket = bucket.saturating_add(1);
    }

    fn merge(&mut self, other: &DigestStatistics) {
        self.sums.merge(&other.sums);
        self.first_seen = self.first_seen.min(other.first_seen);
        self.last_seen = self.last_seen.max(other.last_seen);
        for (own, other) in self.buckets.iter_mut().zip(&other.buckets) {
            *own = own.saturating_add(*other);
        }
    }

    /// Adds the durations to those of a class. The buckets are 2.4 % wider than the histogram's.
    fn add_durations(&self, values: &mut HistogramSnapshot) {
        for (own, sum) in self.buckets.iter().zip(&mut values.buckets) {
            *sum += u64::from(*own);
        }
        values.sum += self.sums.nanos / 1000;
        values.max = values.max.max(self.sums.nanos_max / 1000);
    }

    /// Returns a duration in nanoseconds that `percent` of the executions do not exceed: the upper end of their bucket.
    pub fn percentile(&self, percent: u64) -> u64 {
        let count: u64 = self.buckets.iter().map(|count| u64::from(*count)).sum();
        let wanted = (count * percent).div_ceil(100);
        let mut seen = 0;
        for (bucket, count) in self.buckets.iter().enumerate() {
            seen += u64::from(*count);
            if seen >= wanted && seen > 0 {
                return (1_u64 << (bucket + 10)).min(self.sums.nanos_max);
            }
        }
        0
    }
}

/// A digest with its statistics.
#[derive(Debug, Clone)]
pub struct DigestSummary {
    /// Text and database.
    pub statement: Arc<DigestStatement>,
    /// Statistics.
    pub statistics: DigestStatistics,
}

/// Statistics of a session.
#[derive(Debug, Default)]
pub struct SessionDigests(Mutex<DigestMap<DigestSummary>>);

/// Statistics of the sessions that have ended, and the texts of all digests.
#[derive(Debug)]
pub struct StatementDigests {
    /// Maximum number of digests; 0 if nothing is counted.
    max: usize,
    totals: Mutex<DigestMap<DigestSummary>>,
}

impl StatementDigests {
    /// Creates empty statistics of at most so many digests; a negative number chooses the default.
    pub fn new(max: i64) -> StatementDigests {
        StatementDigests {
            max: usize::try_from(max).unwrap_or(DIGESTS),
            totals: Mutex::default(),
        }
    }

    /// Returns whether statements are counted.
    pub fn is_enabled(&self) -> bool {
        self.max > 0
    }

    /// Returns `Performance_schema_digest_lost`: executions of digests beyond the limit.
    pub fn lost<'a>(&self, sessions: impl Iterator<Item = &'a SessionDigests>) -> u64 {
        let Some(ended) = self
            .totals
            .lock()
            .get(&LOST)
            .map(|lost| lost.statistics.sums.count)
        else {
            return 0;
        };
        let of_session = |session: &SessionDigests| -> u64 {
            let map = session.0.lock();
            let lost = map.values().filter(|summary| summary.statement.text.is_none());
            lost.map(|summary| summary.statistics.sums.count).sum()
        };
        ended + sessions.map(of_session).sum::<u64>()
    }

    /// Counts a statement of a session.
    #[inline]
    pub fn count(&self, own: &SessionDigests, statement: CountedText<'_>, ended: &EndedStatement<'_>) {
        let key = DigestKey::new(statement.digest, statement.database);
        if let Some(summary) = own.0.lock().get_mut(&key) {
            return summary.statistics.add(ended);
        }
        self.count_first(own, key, statement, ended);
    }

    /// Counts a statement whose digest the session has not seen.
    #[cold]
    fn count_first(
        &self,
        own: &SessionDigests,
        key: DigestKey,
        counted: CountedText<'_>,
        ended: &EndedStatement<'_>,
    ) {
        let statement = self.statement(key, counted);
        let mut own = own.0.lock();
        if own.len() >= OWN_MAX {
            self.add_to_totals(&mut own);
        }
        let summary = own.entry(key).or_insert_with(|| DigestSummary {
            statement,
            statistics: DigestStatistics::default(),
        });
        summary.statistics.add(ended);
    }

    /// Returns the text of a digest; one without a text if there are too many digests. The text is made while nothing
    /// is locked: two sessions may make the same one.
    fn statement(&self, key: DigestKey, counted: CountedText<'_>) -> Arc<DigestStatement> {
        let is_full = {
            let totals = self.totals.lock();
            if let Some(known) = totals.get(&key) {
                return known.statement.clone();
            }
            totals.len() >= self.max
        };
        let text = (!is_full).then(|| (counted.make_text)());
        let mut totals = self.totals.lock();
        // Other sessions may have made the last ones meanwhile.
        let has_room = totals.len() < self.max || totals.contains_key(&key);
        let (key, statement) = match text.filter(|_| has_room) {
            None => (LOST, DigestStatement::default()),
            text => (
                key,
                DigestStatement {
                    database: counted.database.map(str::to_owned),
                    text,
                },
            ),
        };
        let summary = totals.entry(key).or_insert_with(|| DigestSummary {
            statement: Arc::new(statement),
            statistics: DigestStatistics::default(),
        });
        summary.statement.clone()
    }

    /// Moves a session's statistics to the totals.
    fn add_to_totals(&self, own: &mut DigestMap<DigestSummary>) {
        let mut totals = self.totals.lock();
        // The map's memory goes too.
        for (key, summary) in std::mem::take(own) {
            merge(&mut totals, key, &summary);
        }
    }

    /// Keeps the statistics of a session that ends.
    pub fn end(&self, own: &SessionDigests) {
        self.add_to_totals(&mut own.0.lock());
    }

    /// Returns all digests with executions.
    pub fn summaries<'a>(&self, sessions: impl Iterator<Item = &'a SessionDigests>) -> Vec<DigestSummary> {
        let mut all = self.totals.lock().clone();
        for session in sessions {
            for (key, summary) in session.0.lock().iter() {
                merge(&mut all, *key, summary);
            }
        }
        let mut all: Vec<_> = all.into_values().collect();
        all.retain(|summary| summary.statistics.sums.count > 0);
        all.sort_by(|one, other| {
            let order = |summary: &DigestSummary| summary.statistics.first_seen;
            order(one).cmp(&order(other))
        });
        all
    }

    /// Returns the durations of all statements in microseconds, by class; nothing if nothing is counted. They are
    /// added up from the digests, so the end of a statement does not count them a second time.
    pub fn durations<'a>(
        &self,
        sessions: impl Iterator<Item = &'a SessionDigests>,
    ) -> Vec<(StatementClass, HistogramSnapshot)> {
        if !self.is_enabled() {
            return Vec::new();
        }
        let mut classes = StatementClass::ALL.map(|class| (class, HistogramSnapshot::default()));
        let mut add = |map: &DigestMap<DigestSummary>| {
            for summary in map.values() {
                let (_, values) = &mut classes[summary.statement.class() as usize];
                summary.statistics.add_durations(values);
            }
        };
        add(&self.totals.lock());
        for session in sessions {
            add(&session.0.lock());
        }
        classes.into()
    }

    /// Forgets everything (TRUNCATE).
    pub fn clear<'a>(&self, sessions: impl Iterator<Item = &'a SessionDigests>) {
        for session in sessions {
            session.0.lock().clear();
        }
        self.totals.lock().clear();
    }
}

/// Adds statistics to those of their digest. Digests without a text are one.
fn merge(map: &mut DigestMap<DigestSummary>, key: DigestKey, summary: &DigestSummary) {
    let key = if summary.statement.text.is_some() {
        key
    } else {
        LOST
    };
    match map.entry(key) {
        Entry::Occupied(mut known) => known.get_mut().statistics.merge(&summary.statistics),
        Entry::Vacant(place) => {
            place.insert(summary.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use paceline_expression::session::StatementCounts;
    use paceline_syntax::digest::{DigestMode, digest_text};
    use std::sync::LazyLock;

    #[test]
    fn durations_are_added_up_by_class() {
        let digests = StatementDigests::new(2);
        let own = SessionDigests::default();
        for (text, nanos) in [("select 1", 5000), ("(select 2)", 3_000_000), ("set @a = 1", 0)] {
            count(&digests, &own, text, None, nanos);
        }
        digests.end(&own);
        count(&digests, &own, "select 7", None, 5000);
        let durations = digests.durations([&own].into_iter());
        let (class, select) = &durations[0];
        assert_eq!(*class, StatementClass::Select);
        assert_eq!((select.count(), select.sum, select.max), (3, 3010, 3000));
        assert_eq!((select.buckets[3], select.buckets[12]), (2, 1));
        let (class, other) = &durations[4];
        assert_eq!((class.name(), other.count(), other.buckets[0]), ("other", 1, 1));
        assert!(StatementDigests::new(0).durations([&own].into_iter()).is_empty());
    }

    #[test]
    fn the_class_is_the_first_word() {
        for (text, class) in [
            ("WITH `a` AS ( SELECT ? ) SELECT", StatementClass::Select),
            ("( ( SELECT ? ) )", StatementClass::Select),
            ("REPLACE INTO `t` VALUES (...)", StatementClass::Insert),
            ("UPDATE `t` SET `a` = ?", StatementClass::Update),
            ("DELETE FROM `t`", StatementClass::Delete),
            ("COMMIT", StatementClass::Other),
            ("", StatementClass::Other),
        ] {
            assert_eq!(StatementClass::of(text), class, "{text}");
        }
    }

    static SCAN: LazyLock<StatementCounts> = LazyLock::new(|| StatementCounts {
        select_scan: 1,
        no_index_used: 2,
        ..StatementCounts::default()
    });

    fn ended(nanos: u64) -> EndedStatement<'static> {
        EndedStatement {
            nanos,
            has_failed: nanos == 7,
            warnings: 1,
            rows_affected: 2,
            rows_sent: 3,
            rows_examined: 0,
            counts: &SCAN,
            start_micros: nanos as i64,
        }
    }

    fn count(
        digests: &StatementDigests,
        own: &SessionDigests,
        text: &str,
        database: Option<&str>,
        nanos: u64,
    ) {
        let (text, mode) = (text.as_bytes(), DigestMode::default());
        let statement = CountedText {
            digest: paceline_syntax::digest::digest(text, mode),
            make_text: &|| digest_text(text, mode),
            database,
        };
        digests.count(own, statement, &ended(nanos));
    }

    fn shown(
        digests: &StatementDigests,
        sessions: &[&SessionDigests],
    ) -> Vec<(Option<String>, Option<String>, u64)> {
        let all = digests.summaries(sessions.iter().copied());
        all.iter()
            .map(|summary| {
                let DigestStatement { database, text } = &*summary.statement;
                (database.clone(), text.clone(), summary.statistics.sums.count)
            })
            .collect()
    }

    #[test]
    fn sessions_add_up_and_those_that_ended_stay() {
        let digests = StatementDigests::new(-1);
        let (one, other) = (SessionDigests::default(), SessionDigests::default());
        count(&digests, &one, "select 1", None, 5);
        count(&digests, &other, "SELECT 2", None, 7);
        count(&digests, &other, "select 2", Some("d"), 9);
        let expected = [
            (None, Some("SELECT ? ".to_owned()), 2),
            (Some("d".to_owned()), Some("SELECT ? ".to_owned()), 1),
        ];
        assert_eq!(shown(&digests, &[&one, &other]), expected);
        digests.end(&one);
        assert_eq!(shown(&digests, &[&other]), expected);
        assert_eq!(shown(&digests, &[&one, &other]), expected);
        let first = &digests.summaries([&other].into_iter())[0].statistics;
        let sums = &first.sums;
        assert_eq!((sums.nanos, sums.nanos_min, sums.nanos_max), (12, 5, 7));
        assert_eq!((sums.errors, sums.warnings), (1, 2));
        assert_eq!((sums.work.select_scan, sums.work.no_index_used), (2, 2));
        assert_eq!((sums.rows_affected, sums.rows_sent), (4, 6));
        assert_eq!((first.first_seen, first.last_seen), (5, 7));
        digests.clear([&other].into_iter());
        assert!(shown(&digests, &[&one, &other]).is_empty());
        count(&digests, &other, "select 3", None, 1);
        assert_eq!(shown(&digests, &[&other]).len(), 1);
    }

    #[test]
    fn digests_beyond_the_limit_share_a_row() {
        let digests = StatementDigests::new(3);
        let own = SessionDigests::default();
        for number in 0..10 {
            count(&digests, &own, &format!("select a{number}"), None, number + 1);
        }
        assert_eq!(digests.lost([&own].into_iter()), 7);
        count(&digests, &own, "select a9", None, 11);
        assert_eq!(digests.lost([&own].into_iter()), 8);
        digests.end(&own);
        assert_eq!(digests.lost([&own].into_iter()), 8);
        let all = shown(&digests, &[&own]);
        assert_eq!(all.len(), 4);
        assert_eq!(all[3], (None, None, 8));
    }

    #[test]
    fn a_session_keeps_a_limited_number() {
        let digests = StatementDigests::new(-1);
        let own = SessionDigests::default();
        for number in 0..OWN_MAX + 10 {
            count(&digests, &own, &format!("select a{number}"), None, 1);
        }
        assert_eq!(own.0.lock().len(), 10);
        assert_eq!(shown(&digests, &[&own]).len(), OWN_MAX + 10);
    }

    #[test]
    fn percentiles_are_upper_bounds() {
        let mut statistics = DigestStatistics::default();
        for _ in 0..99 {
            statistics.add(&ended(10_000));
        }
        statistics.add(&ended(1_000_000));
        let median = statistics.percentile(50);
        assert!((10_000..=20_480).contains(&median), "{median}");
        assert_eq!(statistics.percentile(100), 1_000_000);
        assert_eq!(DigestStatistics::default().percentile(99), 0);
    }
}
