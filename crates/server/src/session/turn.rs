//! A statement's turn on a worker of the runtime.
//!
//! Sessions are tasks, and statements run in them from beginning to end: most take less than a change of threads does. One that computes for long would keep its
//! worker, and with it what waits in that worker's queue, other sessions and new connections; as many such statements as there are workers would stop the server. So a
//! statement that has run for a while gives its worker away: another thread goes on with the worker's other tasks, and this one with the statement alone.
//!
//! ```text
//!   0 ────── 5 ms ─────────── 50 ms ───────── 500 ms ─────── …      since the statement's begin
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

/// When the running statement gives its worker away.
pub struct Turn(Mutex<State>);

struct State {
    began: Instant,
    ends_after: Duration,
}

impl Default for Turn {
    fn default() -> Self {
        Turn(Mutex::new(State {
            began: Instant::now(),
            ends_after: TURN,
        }))
    }
}

impl Turn {
    /// A statement begins.
    pub fn begin(&self) {
        *self.0.lock() = State {
            began: Instant::now(),
            ends_after: TURN,
        };
    }

    /// Called now and then while it runs.
    pub fn look(&self) {
        let mut state = self.0.lock();
        if state.began.elapsed() < state.ends_after {
            return;
        }
        state.ends_after *= LONGER;
        drop(state);
        let is_task =
            Handle::try_current().is_ok_and(|runtime| runtime.runtime_flavor() == RuntimeFlavor::MultiThread);
        if is_task {
            tokio::task::block_in_place(|| std::thread::sleep(HANDOVER));
        }
    }
}
