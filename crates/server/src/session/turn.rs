//! A statement's turn on a worker of the runtime.
//!
//! Sessions are tasks, and statements run in them from beginning to end: most take less than a change of threads does. One that computes for long would keep its
//! worker, and with it what waits in that worker's queue, other sessions and new connections; as many such statements as there are workers would stop the server. So a
//! statement that has run for a while gives its worker away: another thread goes on with the worker's other tasks, and this one with the statement alone.
//!
//! ```text
//!   0 ────── 5 ms ─────────── 50 ms ───────── 500 ms ─────── …      since its first look, which comes after some rows: a short statement never looks
//!            gives the worker away, and again, in case that the worker came back before another thread had it
//! ```

use parking_lot::Mutex;
use std::time::{Duration, Instant};
use tokio::runtime::{Handle, RuntimeFlavor};

/// What other tasks may have to wait for.
const TURN: Duration = Duration::from_millis(5);

/// By how much longer it is until the worker is given away once more.
const LONGER: u32 = 10;

/// How long another thread may take to begin.
const HANDOVER: Duration = Duration::from_millis(1);

/// When the running statement gives its worker away; nothing before its first look.
#[derive(Default)]
pub struct Turn(Mutex<Option<Running>>);

struct Running {
    since: Instant,
    ends_after: Duration,
}

impl Turn {
    /// A statement begins.
    pub fn begin(&self) {
        *self.0.lock() = None;
    }

    /// Called now and then while it runs.
    pub fn look(&self) {
        if self.is_over() && is_on_worker() {
            tokio::task::block_in_place(|| std::thread::sleep(HANDOVER));
        }
    }

    /// Whether other tasks have waited long enough; the next time it takes longer.
    fn is_over(&self) -> bool {
        let mut running = self.0.lock();
        let running = running.get_or_insert_with(|| Running {
            since: Instant::now(),
            ends_after: TURN,
        });
        let is_over = running.since.elapsed() >= running.ends_after;
        if is_over {
            running.ends_after *= LONGER;
        }
        is_over
    }
}

fn is_on_worker() -> bool {
    Handle::try_current().is_ok_and(|runtime| runtime.runtime_flavor() == RuntimeFlavor::MultiThread)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_ends_ever_later_and_begins_with_each_statement() {
        let turn = Turn::default();
        for _ in 0..2 {
            turn.begin();
            assert!(!turn.is_over());
            std::thread::sleep(TURN);
            assert!(turn.is_over());
            assert!(!turn.is_over());
            std::thread::sleep(TURN * LONGER);
            assert!(turn.is_over());
        }
        // Outside of a runtime nobody waits for a worker.
        turn.begin();
        turn.look();
        std::thread::sleep(TURN);
        turn.look();
    }
}
