//! Named places where a test can stop a thread, to write an interleaving down.
//!
//! `sync_point!(points, CommitStep::Written)` costs nothing outside tests: the registry is a zero-sized type and the call is
//! empty unless this crate is compiled for its own tests (`cfg(test)`) or with the feature `sync-points`, which is in no other
//! crate's default and touches no dependency, so nothing below is rebuilt for it.

/// The steps of a commit, in order. A crash test stops, copies the disk or fails at each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CommitStep {
    /// In the queue; no place yet.
    Queued,
    /// The group has its places; nothing is written.
    Placed,
    /// Written, not synced. The rows are not in the overlay.
    Written,
    /// In the overlay; locks not yet released.
    InOverlay,
    /// Locks are released, nothing is synced.
    LocksReleased,
    /// Synced.
    Durable,
    /// In the engines; the shared snapshot is still the old one.
    Applied,
    /// The shared snapshot is the new one; nobody has been told.
    Published,
    /// All of the group have been told.
    Told,
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
        CommitStep::Told,
    ];
}

#[cfg(any(test, feature = "sync-points"))]
mod enabled {
    use super::CommitStep;
    use parking_lot::Mutex;
    use std::sync::Arc;

    type Hook = Arc<dyn Fn(CommitStep) + Send + Sync>;

    /// What happens at the steps.
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

        /// Stops calling it.
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

    /// Nothing happens at the steps.
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
