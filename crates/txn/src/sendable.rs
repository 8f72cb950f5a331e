//! The position up to which replicas may be sent the log, and the waits for more of it.
//!
//! The sendable part is durable, and the acknowledger has been notified of it: a replica's acknowledgement
//! cannot arrive before the wait for it has begun. Moving the position costs one atomic operation while nothing
//! waits. The leader wakes a few waiters itself. It leaves many of them to a task, because it still holds the
//! log stage.

use paceline_types::LogPosition;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Waker};
use tokio::runtime::Handle;

/// Most waiters that are woken in place.
const WOKEN_IN_PLACE_MAX: usize = 4;

#[derive(Default)]
struct Waiting {
    wakers: HashMap<u64, Waker>,
    next: u64,
}

/// Position up to which a log may be sent, with its waiters. A log that does not belong to a transaction
/// manager has one of its own.
pub struct SendLimit {
    position: AtomicU64,
    /// Length of `waiting`, readable without its lock.
    count: AtomicUsize,
    waiting: Mutex<Waiting>,
    runtime: OnceLock<Handle>,
}

impl std::fmt::Debug for SendLimit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("SendLimit").field(&self.position()).finish()
    }
}

impl SendLimit {
    /// Starts with everything before `start` sendable.
    pub fn new(start: LogPosition) -> Self {
        SendLimit {
            position: AtomicU64::new(start.as_u64()),
            count: AtomicUsize::new(0),
            waiting: Mutex::default(),
            runtime: OnceLock::new(),
        }
    }

    /// Returns the position up to which the log may be sent.
    pub fn position(&self) -> LogPosition {
        LogPosition::from_u64(self.position.load(Ordering::SeqCst))
    }

    /// Raises the position to `to`; a lower one has no effect.
    pub fn advance(&self, to: LogPosition) {
        // The waiter does these two steps in the opposite order: either it sees the position, or we see the
        // waiter.
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

    /// Waits until the log may be sent beyond `position`.
    pub fn past(self: &Arc<Self>, position: LogPosition) -> SendLimitWait {
        SendLimitWait {
            sendable: self.clone(),
            position,
            registered: None,
        }
    }

    fn register(&self, id: &mut Option<u64>, waker: &Waker) {
        if let Ok(runtime) = Handle::try_current() {
            // The first runtime stays.
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

/// Completes when the log may be sent beyond a position.
#[must_use = "a wait does nothing unless it is awaited"]
pub struct SendLimitWait {
    sendable: Arc<SendLimit>,
    position: LogPosition,
    registered: Option<u64>,
}

impl Future for SendLimitWait {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        let sendable = &this.sendable;
        if sendable.position() > this.position {
            return Poll::Ready(());
        }
        sendable.register(&mut this.registered, context.waker());
        if sendable.position() > this.position {
            return Poll::Ready(());
        }
        Poll::Pending
    }
}

impl Drop for SendLimitWait {
    fn drop(&mut self) {
        if let Some(id) = self.registered {
            self.sendable.leave(id);
        }
    }
}
