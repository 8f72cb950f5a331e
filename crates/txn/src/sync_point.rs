//! Named steps at which a test can stop a thread, to force an interleaving.
//!
//! `points.reach(CommitStep::Written)` costs nothing outside tests: the registry is a zero-sized type
//! and the call is empty unless this crate is compiled for its own tests (`cfg(test)`) or with the feature
//! `sync-points`. No other crate enables that feature by default and it affects no dependency, so nothing below
//! this crate is rebuilt for it.

/// Steps of a commit, in order. Crash tests stop, copy the disk or fail at each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CommitStep {
    /// In the queue; not placed yet.
    Queued,
    /// The group is placed; nothing is written.
    Placed,
    /// Written, not synced. The rows are not in the overlay.
    Written,
    /// The rows are in the overlay; locks are not released yet.
    InOverlay,
    /// Locks are released; nothing is synced.
    LocksReleased,
    /// Synced.
    Durable,
    /// In the engines; the shared snapshot is still the previous one.
    Applied,
    /// The shared snapshot is the new one; no session has been notified.
    Published,
    /// All sessions of the group have been notified.
    SessionsNotified,
}

impl CommitStep {
    /// All steps in order.
    pub const ALL: [CommitStep; 9] = [
        CommitStep::Queued,
        CommitStep::Placed,
        CommitStep::Written,
        CommitStep::InOverlay,
        CommitStep::LocksReleased,
        CommitStep::Durable,
        CommitStep::Applied,
        CommitStep::Published,
        CommitStep::SessionsNotified,
    ];
}

#[cfg(any(test, feature = "sync-points"))]
mod enabled {
    use super::CommitStep;
    use parking_lot::Mutex;
    use std::sync::Arc;

    type Hook = Arc<dyn Fn(CommitStep) + Send + Sync>;

    /// Hook that tests attach to the steps.
    #[derive(Default)]
    pub struct SyncPoints {
        hook: Mutex<Option<Hook>>,
    }

    impl SyncPoints {
        pub(crate) fn new() -> Self {
            Self::default()
        }

        /// Calls `hook` at every step from now on, in the thread that takes the step.
        pub fn set(&self, hook: impl Fn(CommitStep) + Send + Sync + 'static) {
            *self.hook.lock() = Some(Arc::new(hook));
        }

        /// Removes the hook.
        pub fn clear(&self) {
            *self.hook.lock() = None;
        }

        pub(crate) fn reach(&self, step: CommitStep) {
            let hook = self.hook.lock().clone();
            if let Some(hook) = hook {
                hook(step);
            }
        }
    }
}

#[cfg(not(any(test, feature = "sync-points")))]
mod disabled {
    use super::CommitStep;

    /// Registry without a hook.
    #[derive(Default)]
    pub struct SyncPoints;

    impl SyncPoints {
        pub(crate) fn new() -> Self {
            SyncPoints
        }

        #[inline(always)]
        pub(crate) fn reach(&self, _step: CommitStep) {}
    }
}

#[cfg(not(any(test, feature = "sync-points")))]
pub use disabled::SyncPoints;
#[cfg(any(test, feature = "sync-points"))]
pub use enabled::SyncPoints;
