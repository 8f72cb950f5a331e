//! Up to where replicas may be sent the log, and who waits for more of it.
//!
//! What is sendable is durable, and the acknowledger has been told of it: a replica's acknowledgement cannot arrive before the wait
//! for it has begun. Moving it costs one atomic operation while nobody waits. Few waiters are woken by the leader itself; many of
//! them by a task, because the leader still holds the log stage.

use paceline_types::LogPosition;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Waker};
use tokio::runtime::Handle;

/// How many waiters are woken in place.
const WOKEN_IN_PLACE_MAX: usize = 4;

#[derive(Default)]
struct Waiting {
    wakers: HashMap<u64, Waker>,
    next: u64,
}

/// Up to where a log may be sent, shared by who moves it and who waits. A log that is not a transaction manager's has one of its own.
pub struct Sendable {
    position: AtomicU64,
    /// The length of `waiting`, to be read without its lock.
    count: AtomicUsize,
    waiting: Mutex<Waiting>,
    runtime: OnceLock<Handle>,
}

impl std::fmt::Debug for Sendable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Sendable").field(&self.position()).finish()
    }
}

impl Sendable {
    /// Everything before `start` may be sent.
    pub fn new(start: LogPosition) -> Self {
        Sendable {
            position: AtomicU64::new(start.as_u64()),
            count: AtomicUsize::new(0),
            waiting: Mutex::default(),
            runtime: OnceLock::new(),
        }
    }

    /// Up to where the log may be sent.
    pub fn position(&self) -> LogPosition {
        LogPosition::from_u64(self.position.load(Ordering::SeqCst))
    }

    /// The log may be sent up to there. Never goes back.
    pub fn advance(&self, to: LogPosition) {
        // In this order, and the waiter in the other one: either it sees the position, or we see it.
        self.position.fetch_max(to.as_u64(), Ordering::SeqCst);
        if self.count.load(Ordering::SeqCst) > 0 {
            self.wake();
        }
    }

    #[cold]
    fn wake(&self) {
        let wakers = {
            let mut waiting = self.waiting.lock();
            self.count.store(0, Ordering::SeqCst);
            std::mem::take(&mut waiting.wakers)
        };
        match self.runtime.get() {
            Some(runtime) if wakers.len() > WOKEN_IN_PLACE_MAX => {
                runtime.spawn(async move { wakers.into_values().for_each(Waker::wake) });
            }
            _ => wakers.into_values().for_each(Waker::wake),
        }
    }

    /// Waits until the log may be sent further than `position`.
    pub fn past(self: &Arc<Self>, position: LogPosition) -> SendablePast {
        SendablePast {
            sendable: self.clone(),
            position,
            enlisted: None,
        }
    }

    fn enlist(&self, id: &mut Option<u64>, waker: &Waker) {
        if let Ok(runtime) = Handle::try_current() {
            // The first one stays.
            let _ = self.runtime.set(runtime);
        }
        let mut waiting = self.waiting.lock();
        let id = *id.get_or_insert_with(|| {
            waiting.next += 1;
            waiting.next
        });
        waiting.wakers.insert(id, waker.clone());
        self.count.store(waiting.wakers.len(), Ordering::SeqCst);
    }

    fn leave(&self, id: u64) {
        let mut waiting = self.waiting.lock();
        if waiting.wakers.remove(&id).is_some() {
            self.count.store(waiting.wakers.len(), Ordering::SeqCst);
        }
    }
}

/// Ready when the log may be sent further than a position.
#[must_use = "a wait does nothing unless it is awaited"]
pub struct SendablePast {
    sendable: Arc<Sendable>,
    position: LogPosition,
    enlisted: Option<u64>,
}

impl Future for SendablePast {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        let sendable = &this.sendable;
        if sendable.position() > this.position {
            return Poll::Ready(());
        }
        sendable.enlist(&mut this.enlisted, context.waker());
        if sendable.position() > this.position {
            return Poll::Ready(());
        }
        Poll::Pending
    }
}

impl Drop for SendablePast {
    fn drop(&mut self) {
        if let Some(id) = self.enlisted {
            self.sendable.leave(id);
        }
    }
}
