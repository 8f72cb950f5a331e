//! The clock of running calls: a thread that advances the engine's epoch while there are any.

use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use wasmtime::Engine;

/// Time between two looks at a running call.
pub const TICK: Duration = Duration::from_millis(10);

#[derive(Default)]
struct State {
    running: AtomicUsize,
    is_resting: Mutex<bool>,
    woken: Condvar,
}

/// Counts running calls. Its thread rests while there are none, and ends with it.
pub(crate) struct Ticker(Arc<State>);

/// A running call.
pub(crate) struct RunningCall<'t>(&'t State);

impl Ticker {
    /// Starts the thread.
    pub(crate) fn start(engine: Engine) -> std::io::Result<Ticker> {
        let state = Arc::new(State::default());
        let weak = Arc::downgrade(&state);
        let thread = std::thread::Builder::new().name("wasm-clock".to_owned());
        thread.spawn(move || {
            while let Some(state) = weak.upgrade() {
                state.rest();
                drop(state);
                // The tick is a time, and nothing else.
                std::thread::sleep(TICK);
                engine.increment_epoch();
            }
        })?;
        Ok(Ticker(state))
    }

    /// Counts a call until the returned value is dropped.
    pub(crate) fn begin(&self) -> RunningCall<'_> {
        if self.0.running.fetch_add(1, Ordering::AcqRel) == 0 {
            let mut is_resting = self.0.is_resting.lock();
            if std::mem::take(&mut *is_resting) {
                self.0.woken.notify_one();
            }
        }
        RunningCall(&self.0)
    }
}

impl State {
    /// Waits until a call runs, at most for a second: then the owner may be gone.
    fn rest(&self) {
        let mut is_resting = self.is_resting.lock();
        if self.running.load(Ordering::Acquire) == 0 {
            *is_resting = true;
            self.woken.wait_for(&mut is_resting, Duration::from_secs(1));
            *is_resting = false;
        }
    }
}

impl Drop for RunningCall<'_> {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::AcqRel);
    }
}
