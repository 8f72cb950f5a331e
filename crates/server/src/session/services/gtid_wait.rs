//! Waits for a GTID: `wait_for_gtid` before a snapshot, and `MASTER_GTID_WAIT()`.

use crate::errors::of_transaction;
use crate::registry::SessionHandle;
use paceline_binlog::GtidPosition;
use paceline_syntax::{Error, Result};
use paceline_txn::{PositionWaitOutcome, TransactionManager};
use paceline_types::error_code::*;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Position for which a session waits before its next snapshot, if any. Most sessions have none and detect this without
/// a lock.
#[derive(Debug, Default)]
pub struct AwaitedGtid {
    position: Mutex<Option<GtidPosition>>,
    is_set: AtomicBool,
}

impl AwaitedGtid {
    /// Returns the position.
    pub fn get(&self) -> Option<GtidPosition> {
        match self.is_set.load(Ordering::Relaxed) {
            true => self.position.lock().clone(),
            false => None,
        }
    }

    /// Sets or clears the position.
    pub fn set(&self, position: Option<GtidPosition>) {
        self.is_set.store(position.is_some(), Ordering::Relaxed);
        *self.position.lock() = position;
    }
}

/// Waits at most `timeout` until everything in a position is visible.
///
/// # Errors
/// 1205 after the timeout; the errors of KILL.
pub fn wait_until_logged(
    transactions: &TransactionManager,
    shared: &SessionHandle,
    wanted: &GtidPosition,
    timeout: Duration,
) -> Result<()> {
    let deadline = Instant::now().checked_add(timeout);
    shared.update(|activity| activity.state = "Waiting for wait_for_gtid");
    let waited = transactions.wait_logged(wanted, deadline, &shared.interrupt);
    shared.update(|activity| activity.state = "executing");
    match waited {
        Ok(PositionWaitOutcome::Reached) => Ok(()),
        Ok(PositionWaitOutcome::TimedOut) => Err(Error::new(ER_LOCK_WAIT_TIMEOUT, &[])),
        Err(error) => Err(of_transaction(&error)),
    }
}

/// Executes `MASTER_GTID_WAIT`. Returns 0 when everything in the position has been applied, or -1 after the timeout. A
/// timeout of `None` or below zero means no limit.
///
/// # Errors
/// 1941 for an invalid position; the errors of KILL.
pub fn wait_until_replicated(
    transactions: &TransactionManager,
    shared: &SessionHandle,
    position: &str,
    timeout_seconds: Option<f64>,
) -> Result<i64> {
    let wanted: GtidPosition = position
        .parse()
        .map_err(|_| Error::new(ER_INCORRECT_GTID_STATE, &[]))?;
    if wanted.is_empty() {
        return Ok(0);
    }
    let began = Instant::now();
    let deadline = match timeout_seconds {
        Some(seconds) if seconds >= 0.0 => {
            began.checked_add(Duration::from_secs_f64(seconds.min(365.0 * 86_400.0)))
        }
        _ => None,
    };
    let counters = &shared.counters;
    shared.update(|activity| activity.state = "Waiting in MASTER_GTID_WAIT()");
    let waited = transactions.wait_replicated(&wanted, deadline, &shared.interrupt);
    shared.update(|activity| activity.state = "executing");
    counters.master_gtid_wait_count.add(1);
    counters
        .master_gtid_wait_time
        .add(u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX));
    match waited {
        Ok(PositionWaitOutcome::Reached) => Ok(0),
        Ok(PositionWaitOutcome::TimedOut) => {
            counters.master_gtid_wait_timeouts.add(1);
            Ok(-1)
        }
        Err(error) => Err(of_transaction(&error)),
    }
}
