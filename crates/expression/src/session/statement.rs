//! State that is constant while a statement runs, so that the statement has the same result when it is
//! replayed.

use paceline_types::error_code::ErrorCode;
use paceline_types::{ServerId, Value};
use std::time::{SystemTime, UNIX_EPOCH};

/// State of the running statement.
#[derive(Clone, Debug, Default)]
pub struct StatementContext {
    /// Start of the statement, in microseconds since 1970 (UTC), or the value of `SET TIMESTAMP`. `NOW()`
    /// reads this.
    pub start_micros: i64,
    /// Whether a database was dropped. Clients then ask for their current one.
    pub has_dropped_database: bool,
    /// Last argument of `LAST_INSERT_ID(expr)`, which the OK packet reports.
    pub explicit_last_insert_id: Option<u64>,
    /// `SET INSERT_ID`: the next value for an AUTO_INCREMENT column.
    pub insert_id: Option<u64>,
    /// Values that the statement has generated for AUTO_INCREMENT columns.
    pub generated_ids: GeneratedIds,
    /// Whether `NOW()`, `UUID()`, `RAND()` or the like was evaluated. A Query event then contains the values
    /// that they depend on.
    pub used_current_time: bool,
    /// Error of a replicated statement on its primary, where its changes to non-transactional tables were
    /// kept. If it fails here with this error, its changes are kept too.
    pub failed_on_primary: Option<ErrorCode>,
    /// Server on which the statement was first executed.
    pub origin: StatementOrigin,
    /// Its plan with the rows that were read, in the columns of ANALYZE; see
    /// [`Settings::shows_measured_plan_after`](super::Settings::shows_measured_plan_after).
    pub measured_plan: Option<Vec<Vec<Value>>>,
}

/// Values that a statement has generated for AUTO_INCREMENT columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GeneratedIds {
    /// First value, which `INSERT_ID` states in the log.
    pub first: Option<u64>,
    /// Whether a server that begins with the first value and counts on would generate others: another session took
    /// values in between.
    pub are_scattered: bool,
}

/// Server on which a statement was first executed. Only definitions of events depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatementOrigin {
    /// This server, with its number.
    Here(ServerId),
    /// A primary, with its number.
    Primary(ServerId),
}

impl Default for StatementOrigin {
    fn default() -> Self {
        StatementOrigin::Here(ServerId(0))
    }
}

impl StatementContext {
    /// Begins at the clock's time, or at `timestamp_override` (microseconds since 1970).
    pub fn begin(timestamp_override: Option<i64>) -> Self {
        StatementContext {
            start_micros: timestamp_override.unwrap_or_else(now_micros),
            ..Self::default()
        }
    }

    /// Returns the start in whole seconds, rounded down.
    pub fn start_seconds(&self) -> i64 {
        self.start_micros.div_euclid(1_000_000)
    }
}

/// Returns the clock's time in microseconds since 1970. Only `SYSDATE()`, `UUID()` and the start of a
/// statement read it.
pub(crate) fn now_micros() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_micros()).unwrap_or(i64::MAX)
}

/// MariaDB's generator of `RAND()` (`my_rnd`). Its state is two 30-bit numbers, which a Rand event of the log
/// can carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RandomGenerator {
    /// First half of the state.
    pub seed1: u64,
    /// Second half of the state.
    pub seed2: u64,
}

const MODULUS: u64 = 0x3FFF_FFFF;

impl RandomGenerator {
    /// Returns the generator for `SET rand_seed1 = …, rand_seed2 = …`.
    pub const fn new(seed1: u64, seed2: u64) -> Self {
        RandomGenerator {
            seed1: seed1 % MODULUS,
            seed2: seed2 % MODULUS,
        }
    }

    /// Returns a generator whose state is derived from any number.
    pub(crate) const fn from_seed(seed: u64) -> Self {
        Self::new(seed & 0xFFFF_FFFF, seed >> 32)
    }

    /// Returns the generator of `RAND(seed)`, whose state is derived from the argument as in MariaDB.
    pub(crate) const fn from_rand_argument(seed: u32) -> Self {
        let seed = seed as u64;
        Self::new(
            (seed.wrapping_mul(0x1_0001) + 55_555_555) & 0xFFFF_FFFF,
            seed.wrapping_mul(0x1000_0001) & 0xFFFF_FFFF,
        )
    }

    /// Returns the next number in 0 ≤ x < 1.
    pub(crate) fn next_f64(&mut self) -> f64 {
        self.seed1 = (self.seed1 * 3 + self.seed2) % MODULUS;
        self.seed2 = (self.seed1 + self.seed2 + 33) % MODULUS;
        self.seed1 as f64 / MODULUS as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rand_is_mariadbs() {
        let mut random = RandomGenerator::from_rand_argument(3);
        assert_eq!(random.next_f64(), 0.9057697559760601);
        assert_eq!(random.next_f64(), 0.37307905813034536);
    }
}
