//! Background threads of the transaction manager.
//!
//! | thread | task |
//! |---|---|
//! | `log` | leads commit groups (modes `thread` and `adaptive`) |
//! | `publisher` | publishes a group while the log thread writes the next (`PublishThread::Publisher`) |
//! | `log-keeper` | prepares blocks ahead of the log, syncs it under `sync_binlog=0`, purges expired files |
//! | `checkpoint` | flushes the engines and records it in the log; lets them release memory and space |
//!
//! No commit waits for the last two.

use super::core::{Core, FatalOnPanic};
use crate::config::SyncBinlog;
use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Interval between two searches for expired files.
const EXPIRY_INTERVAL: Duration = Duration::from_secs(60);
const MAINTENANCE_INTERVAL: Duration = Duration::from_secs(1);

/// Longest time that new log waits for a checkpoint when it amounts to at least an eighth of
/// `checkpoint_log_bytes`.
const CHECKPOINT_INTERVAL: Duration = Duration::from_secs(10);

/// Wake-up signal of a thread.
#[derive(Default)]
struct WakeSignal {
    raised: Mutex<bool>,
    changed: Condvar,
}

impl WakeSignal {
    fn raise(&self) {
        let mut raised = self.raised.lock();
        if !*raised {
            *raised = true;
            self.changed.notify_one();
        }
    }

    /// Waits until the signal is raised, or until `time` has passed.
    fn wait(&self, time: Option<Duration>) {
        let mut raised = self.raised.lock();
        if !*raised {
            match time {
                Some(time) => {
                    self.changed.wait_for(&mut raised, time);
                }
                None => self.changed.wait(&mut raised),
            }
        }
        *raised = false;
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    New,
    Running,
    Stopped,
}

struct State {
    phase: Phase,
    threads: Vec<JoinHandle<()>>,
}

/// The threads and their signals.
pub(crate) struct Background {
    publisher: Arc<WakeSignal>,
    keeper: Arc<WakeSignal>,
    checkpoint: Arc<WakeSignal>,
    /// Set while the log keeper has found nothing unsynced and is about to sleep for a long time.
    keeper_sleeps: AtomicBool,
    state: Mutex<State>,
}

impl Default for Background {
    fn default() -> Self {
        Background {
            publisher: Arc::default(),
            keeper: Arc::default(),
            checkpoint: Arc::default(),
            keeper_sleeps: AtomicBool::new(false),
            state: Mutex::new(State {
                phase: Phase::New,
                threads: Vec::new(),
            }),
        }
    }
}

impl Background {
    /// Wakes the publisher thread, which publishes while the caller continues.
    pub(crate) fn call_publisher(&self) {
        self.publisher.raise();
    }

    pub(crate) fn wake_for_preparation(&self) {
        self.keeper.raise();
    }

    pub(crate) fn wake_for_expiry(&self) {
        self.keeper.raise();
    }

    /// Ends the keeper's long sleep, if it is in one: the log has grown and is to be synced in the background.
    pub(crate) fn wake_if_idle(&self) {
        if self.keeper_sleeps.load(Ordering::SeqCst) {
            self.keeper.raise();
        }
    }

    pub(crate) fn wake_for_settings(&self) {
        self.keeper.raise();
    }

    fn is_running(&self) -> bool {
        self.state.lock().phase != Phase::Stopped
    }

    pub(crate) fn start(&self, core: &Arc<Core>) {
        let mut state = self.state.lock();
        assert!(state.phase == Phase::New, "the threads are started once");
        state.phase = Phase::Running;
        let mut spawn = |name: &str, work: Box<dyn FnOnce(Arc<Core>) + Send>| {
            let core = core.clone();
            let thread = std::thread::Builder::new().name(name.to_owned()).spawn(move || {
                let _fatal = FatalOnPanic::new(&core);
                work(core.clone());
            });
            state.threads.push(thread.expect("a thread can be started"));
        };
        spawn("log", Box::new(|core| core.run_log_thread()));
        let signal = self.publisher.clone();
        spawn(
            "publisher",
            Box::new(move |core| {
                while core.background.is_running() {
                    signal.wait(None);
                    core.publish();
                }
            }),
        );
        let signal = self.keeper.clone();
        spawn("log-keeper", Box::new(move |core| keep_log(&core, &signal)));
        let signal = self.checkpoint.clone();
        spawn("checkpoint", Box::new(move |core| keep_engines(&core, &signal)));
    }

    /// Stops all threads. Returns false if they are not running.
    pub(crate) fn stop(&self, core: &Core) -> bool {
        let threads = {
            let mut state = self.state.lock();
            if state.phase != Phase::Running {
                return false;
            }
            state.phase = Phase::Stopped;
            std::mem::take(&mut state.threads)
        };
        core.queue.close();
        for signal in [&self.publisher, &self.keeper, &self.checkpoint] {
            signal.raise();
        }
        for thread in threads {
            if thread.thread().id() != std::thread::current().id() {
                // A panic has been reported as fatal by the thread itself.
                let _ = thread.join();
            }
        }
        true
    }
}

fn keep_log(core: &Arc<Core>, signal: &WakeSignal) {
    let mut last_expiry: Option<Instant> = None;
    let mut last_sync = Instant::now();
    while core.background.is_running() {
        let config = core.config();
        // Set before the check: a writer that writes after the check sees the flag, and raises it.
        core.background.keeper_sleeps.store(true, Ordering::SeqCst);
        let is_unsynced = core.positions.durable() < core.positions.written();
        if is_unsynced {
            core.background.keeper_sleeps.store(false, Ordering::SeqCst);
        }
        let wait = match config.sync_binlog {
            SyncBinlog::Background if is_unsynced => config.sync_interval.saturating_sub(last_sync.elapsed()),
            _ => EXPIRY_INTERVAL,
        };
        if !wait.is_zero() {
            signal.wait(Some(wait));
        }
        core.background.keeper_sleeps.store(false, Ordering::SeqCst);
        if core.poisoned().is_some() {
            return;
        }
        if core.log.wants_preparation()
            && let Err(error) = core.log.prepare_ahead()
        {
            match error {
                paceline_binlog::Error::NoSpace { .. } => tracing::warn!("{error}"),
                error => drop(core.fatal(&format!("cannot prepare the binary log: {error}"))),
            }
        }
        if config.sync_binlog == SyncBinlog::Background && last_sync.elapsed() >= config.sync_interval {
            last_sync = Instant::now();
            if core.positions.durable() < core.positions.written()
                && let Err(reason) = core.sync_in_background()
            {
                core.fatal(&reason);
            }
        }
        if last_expiry.is_none_or(|last| last.elapsed() >= EXPIRY_INTERVAL) {
            last_expiry = Some(Instant::now());
            core.purge_expired();
        }
    }
}

fn keep_engines(core: &Arc<Core>, signal: &WakeSignal) {
    let mut last = core.positions.published();
    let mut last_time = Instant::now();
    while core.background.is_running() {
        signal.wait(Some(MAINTENANCE_INTERVAL));
        if core.poisoned().is_some() || !core.background.is_running() {
            return;
        }
        if let Err(error) = core.storage.maintain() {
            tracing::warn!("the tables could not be tidied up: {error}");
        }
        let published = core.positions.published();
        let grown = match published.ordinal() == last.ordinal() {
            true => published.offset().saturating_sub(last.offset()),
            // In a new file: the old one can be purged after a checkpoint.
            false => u64::MAX,
        };
        let limit = core.config().checkpoint_log_bytes;
        if grown >= limit || (grown >= limit / 8 && last_time.elapsed() >= CHECKPOINT_INTERVAL) {
            last_time = Instant::now();
            match core.checkpoint() {
                Ok(_) => last = published,
                Err(error) => tracing::warn!("no checkpoint was made: {error}"),
            }
        }
    }
}
