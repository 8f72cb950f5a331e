//! The manager's own threads.
//!
//! | thread | does |
//! |---|---|
//! | `log` | leads commit groups (modes `thread` and `adaptive`) |
//! | `publisher` | publishes a group while the log thread writes the next (`PublishBy::Publisher`) |
//! | `log-keeper` | prepares blocks ahead of the log, syncs it under `sync_binlog=0`, purges expired files |
//! | `checkpoint` | flushes the engines and notes it in the log; lets them give back memory and space |
//!
//! None of them holds anything up: a commit waits for none of the last two.

use crate::config::SyncBinlog;
use crate::manager::Core;
use parking_lot::{Condvar, Mutex};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How often expired files are looked for, and engines asked to tidy up.
const EXPIRY_INTERVAL: Duration = Duration::from_secs(60);
const MAINTENANCE_INTERVAL: Duration = Duration::from_secs(1);

/// How long little that is new may wait for its checkpoint.
const CHECKPOINT_INTERVAL: Duration = Duration::from_secs(10);

/// A thread's door bell.
#[derive(Default)]
struct Bell {
    rung: Mutex<bool>,
    heard: Condvar,
}

impl Bell {
    fn ring(&self) {
        let mut rung = self.rung.lock();
        if !*rung {
            *rung = true;
            self.heard.notify_one();
        }
    }

    /// Waits until it is rung, or so long.
    fn wait(&self, time: Option<Duration>) {
        let mut rung = self.rung.lock();
        if !*rung {
            match time {
                Some(time) => {
                    self.heard.wait_for(&mut rung, time);
                }
                None => self.heard.wait(&mut rung),
            }
        }
        *rung = false;
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

/// The threads and their bells.
pub(crate) struct Background {
    publisher: Arc<Bell>,
    keeper: Arc<Bell>,
    checkpoint: Arc<Bell>,
    /// The log keeper has found nothing unsynced, and is about to sleep long.
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
    /// Publishes in its own thread while the caller goes on.
    pub(crate) fn call_publisher(&self) {
        self.publisher.ring();
    }

    pub(crate) fn wake_for_preparation(&self) {
        self.keeper.ring();
    }

    pub(crate) fn wake_for_expiry(&self) {
        self.keeper.ring();
    }

    /// There is something to sync in the background: ends the keeper's long sleep, if that is what it is in.
    pub(crate) fn wake_if_idle(&self) {
        if self.keeper_sleeps.load(Ordering::SeqCst) {
            self.keeper.ring();
        }
    }

    /// The settings have changed.
    pub(crate) fn wake_for_settings(&self) {
        self.keeper.ring();
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
                let guard = PanicIsFatal(Arc::downgrade(&core));
                work(core);
                std::mem::forget(guard);
            });
            state.threads.push(thread.expect("a thread can be started"));
        };
        spawn("log", Box::new(|core| core.run_log_thread()));
        let bell = self.publisher.clone();
        spawn(
            "publisher",
            Box::new(move |core| {
                while core.background.is_running() {
                    bell.wait(None);
                    core.publish();
                }
            }),
        );
        let bell = self.keeper.clone();
        spawn("log-keeper", Box::new(move |core| keep_log(&core, &bell)));
        let bell = self.checkpoint.clone();
        spawn("checkpoint", Box::new(move |core| keep_engines(&core, &bell)));
    }

    /// Ends all threads; false if they have been.
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
        for bell in [&self.publisher, &self.keeper, &self.checkpoint] {
            bell.ring();
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

/// A thread of the pipeline that panics leaves sessions waiting for ever: the server stops instead.
struct PanicIsFatal(Weak<Core>);

impl Drop for PanicIsFatal {
    fn drop(&mut self) {
        if std::thread::panicking()
            && let Some(core) = self.0.upgrade()
        {
            core.fatal("a thread of the commit pipeline has failed; see the message before");
        }
    }
}

fn keep_log(core: &Arc<Core>, bell: &Bell) {
    let mut last_expiry: Option<Instant> = None;
    let mut last_sync = Instant::now();
    while core.background.is_running() {
        let config = core.config();
        // Said before looking: who writes after the look hears it, and rings.
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
            bell.wait(Some(wait));
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

fn keep_engines(core: &Arc<Core>, bell: &Bell) {
    let mut last = core.positions.published();
    let mut last_time = Instant::now();
    while core.background.is_running() {
        bell.wait(Some(MAINTENANCE_INTERVAL));
        if core.poisoned().is_some() || !core.background.is_running() {
            return;
        }
        if let Err(error) = core.storage.maintain() {
            tracing::warn!("the tables could not be tidied up: {error}");
        }
        let published = core.positions.published();
        let grown = match published.ordinal() == last.ordinal() {
            true => published.offset().saturating_sub(last.offset()),
            // A new file: the old one can be purged then.
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
