//! Time slices of statements on a worker of the runtime.
//!
//! Sessions are tasks, and a statement runs in its task from beginning to end, because most statements take less time
//! than a thread switch. A statement with a long computation would keep its worker, and block the tasks in that
//! worker's queue: other sessions and new connections. As many such statements as there are workers would block the
//! whole server. A statement that has run for a while therefore hands over its worker: another thread continues with
//! the worker's other tasks, and this thread continues with the statement alone. A long text is parsed and planned in
//! this way from the start.
//!
//! ```text
//!   0 ────── 5 ms ─────────── 50 ms ───────── 500 ms ─────── …      since its first check, which follows some rows; a short statement never checks
//!            gives the worker away, and again, in case that the worker returned before another thread took it
//! ```

use parking_lot::Mutex;
use std::time::{Duration, Instant};
use tokio::runtime::{Handle, RuntimeFlavor};

/// Maximum time for which other tasks wait.
const FIRST_SLICE: Duration = Duration::from_millis(5);

/// Factor by which the time until the next handover grows.
const LONGER: u32 = 10;

/// Time that another thread may need to start.
const HANDOVER: Duration = Duration::from_millis(1);

/// Number of bytes from which parsing and planning a text takes some milliseconds.
const LONG_TEXT_BYTES: usize = 16 << 10;

/// Runs `work`, whose time depends on the length of a statement's text. For a long text it hands over the worker first.
pub fn on_text<T>(text_bytes: usize, work: impl FnOnce() -> T) -> T {
    match text_bytes >= LONG_TEXT_BYTES && is_on_worker() {
        true => tokio::task::block_in_place(work),
        false => work(),
    }
}

/// Runs `work`, which may block for any time, apart from the worker. While the worker is away already, this costs
/// nothing.
pub fn apart<T>(work: impl FnOnce() -> T) -> T {
    match is_on_worker() {
        true => tokio::task::block_in_place(work),
        false => work(),
    }
}

/// Time slice of the running statement; `None` before its first check.
#[derive(Default)]
pub struct TimeSlice(Mutex<Option<SliceState>>);

struct SliceState {
    since: Instant,
    ends_after: Duration,
}

impl TimeSlice {
    /// Resets the slice at the start of a statement.
    pub fn begin(&self) {
        *self.0.lock() = None;
    }

    /// Hands over the worker if the slice is over. Called from time to time while the statement runs.
    pub fn look(&self) {
        if self.is_over() && is_on_worker() {
            tokio::task::block_in_place(|| std::thread::sleep(HANDOVER));
        }
    }

    /// Returns whether the slice is over. The next slice is longer.
    fn is_over(&self) -> bool {
        let mut state = self.0.lock();
        let state = state.get_or_insert_with(|| SliceState {
            since: Instant::now(),
            ends_after: FIRST_SLICE,
        });
        let is_over = state.since.elapsed() >= state.ends_after;
        if is_over {
            state.ends_after *= LONGER;
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

    fn pass(time: Duration) {
        // The tests are about the passing of time.
        std::thread::sleep(time);
    }

    #[test]
    fn slices_grow_and_restart_with_each_statement() {
        let slice = TimeSlice::default();
        for _ in 0..2 {
            slice.begin();
            assert!(!slice.is_over());
            pass(FIRST_SLICE);
            assert!(slice.is_over());
            assert!(!slice.is_over());
            pass(FIRST_SLICE * LONGER);
            assert!(slice.is_over());
        }
        // Outside of a runtime there are no workers.
        slice.begin();
        slice.look();
        pass(FIRST_SLICE);
        slice.look();
    }
}
