//! Fence between the writing roles of a host.
//!
//! A role is carried out by a task in steps: connect, resume, write the start. The next role, and a freeze, must know
//! that no step of an earlier one follows or is under way. Ending a task by its handle does not tell that: it runs on
//! to its next wait, and what it has handed to a blocking thread runs on altogether. So each step holds the fence and
//! begins only while its role is the present one, and the end of a role waits for the step under way.

use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::{Mutex, MutexGuard};

/// Number of a role of one host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RoleNumber(u64);

/// A step that is under way.
pub type Step<'a> = MutexGuard<'a, ()>;

/// Fence; see the module comment.
#[derive(Debug, Default)]
pub struct RoleFence {
    present: AtomicU64,
    step: Mutex<()>,
}

impl RoleFence {
    /// Begins a role. No step of the one before begins any more.
    pub fn begin(&self) -> RoleNumber {
        RoleNumber(self.present.fetch_add(1, Ordering::SeqCst) + 1)
    }

    /// Ends the present role, and waits for the step that is under way.
    pub async fn end(&self) {
        self.begin();
        drop(self.step.lock().await);
    }

    /// Returns the present role.
    pub fn present(&self) -> RoleNumber {
        RoleNumber(self.present.load(Ordering::SeqCst))
    }

    /// Begins a step, when the one before has ended; `None` if the role is not the present one any more.
    pub async fn step(&self, role: RoleNumber) -> Option<Step<'_>> {
        let step = self.step.lock().await;
        (self.present() == role).then_some(step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::task::{Context, Waker};

    #[tokio::test]
    async fn no_step_of_an_ended_role_begins() {
        let fence = RoleFence::default();
        let first = fence.begin();
        drop(fence.step(first).await.unwrap());
        let second = fence.begin();
        assert!(fence.step(first).await.is_none());
        drop(fence.step(second).await.unwrap());
        fence.end().await;
        assert!(fence.step(second).await.is_none());
    }

    #[tokio::test]
    async fn the_end_of_a_role_waits_for_its_step() {
        let fence = RoleFence::default();
        let role = fence.begin();
        let step = fence.step(role).await.unwrap();
        let mut ending = pin!(fence.end());
        let mut context = Context::from_waker(Waker::noop());
        assert!(ending.as_mut().poll(&mut context).is_pending());
        drop(step);
        assert!(ending.as_mut().poll(&mut context).is_ready());
    }
}
