//! Plan of a session's running statement, for other sessions: SHOW EXPLAIN, EXPLAIN FOR CONNECTION, SHOW ANALYZE.
//!
//! ```text
//!   session that runs a statement          session that asks
//!   publish ──▶ plan ◀──────────────────── describe: reads the plan, whatever its session does or waits for
//!   tick    ──▶ take_request ◀──────────── ask: of a measured statement (ANALYZE)
//!      └─ answer: rows with measurements ─▶ waits
//! ```
//!
//! A plan does not change while it is executed, so another thread can describe it. The session publishes the [`Arc`]
//! that it has. That costs a lock that nobody else wants; a point read has no plan worth to see, and publishes nothing.
//! Measurements belong to the thread that executes the statement, and are not synchronized. So it answers itself, at its
//! next check for KILL; a statement that is not measured never looks whether somebody asks.
//!
//! The plan is described under the lock. Its session waits for that when the statement ends, so the last reference is
//! always dropped by its own session, on a stack that has held the tree before.
//!
//! # Alternatives
//! MariaDB lets the session answer in both cases (an asynchronous procedure call). A session that waits for a lock would
//! have to be woken and to know, deep within the lock manager, what it executes.

use crate::registry::SessionHandle;
use paceline_expression::session::PlanRequest;
use paceline_query::plan::Plan;
use parking_lot::Mutex;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Plan of a session's running statement.
#[derive(Default)]
pub struct RunningPlan {
    plan: Mutex<Option<Arc<Plan>>>,
    /// Whether there is a request. It is a hint: the request itself is under the lock.
    is_asked: AtomicBool,
    request: Mutex<Option<PlanRequest>>,
}

impl RunningPlan {
    /// Calls `describe` with the plan of the running statement. Returns `None` if there is none.
    pub fn describe<T>(&self, describe: impl FnOnce(&Plan) -> T) -> Option<T> {
        self.plan.lock().as_deref().map(describe)
    }

    /// Asks the session for the measurements of its statement. An earlier request that has no answer yet is dropped.
    pub fn ask(&self, request: PlanRequest) {
        *self.request.lock() = Some(request);
        self.is_asked.store(true, Ordering::Release);
    }

    /// Returns the request of another session. Called by the session itself.
    pub fn take_request(&self) -> Option<PlanRequest> {
        if !self.is_asked.load(Ordering::Relaxed) {
            return None;
        }
        self.is_asked.store(false, Ordering::Relaxed);
        self.request.lock().take()
    }
}

/// A plan that is about to be executed.
#[derive(Clone, Copy)]
pub enum PlanToRun<'p> {
    /// Other sessions can see it.
    Shared(&'p Arc<Plan>),
    /// A point read, or a statement of the server itself.
    Private(&'p Plan),
}

impl<'p> From<&'p Arc<Plan>> for PlanToRun<'p> {
    fn from(plan: &'p Arc<Plan>) -> Self {
        match plan.is_point_read() {
            true => PlanToRun::Private(plan),
            false => PlanToRun::Shared(plan),
        }
    }
}

impl Deref for PlanToRun<'_> {
    type Target = Plan;

    fn deref(&self) -> &Plan {
        match self {
            PlanToRun::Shared(plan) => plan,
            PlanToRun::Private(plan) => plan,
        }
    }
}

impl PlanToRun<'_> {
    /// Shows the plan to other sessions until the returned value is dropped.
    pub fn publish(self, session: &Arc<SessionHandle>) -> Option<PublishedPlan> {
        let PlanToRun::Shared(plan) = self else {
            return None;
        };
        let before = session.running_plan.plan.lock().replace(plan.clone());
        Some(PublishedPlan {
            session: session.clone(),
            before,
        })
    }
}

/// A plan that other sessions can see. When it is dropped, they see the plan of the statement around it again.
pub struct PublishedPlan {
    session: Arc<SessionHandle>,
    before: Option<Arc<Plan>>,
}

impl Drop for PublishedPlan {
    fn drop(&mut self) {
        let running = &self.session.running_plan;
        let plan = std::mem::replace(&mut *running.plan.lock(), self.before.take());
        // A session that asked learns that the statement has ended.
        if running.is_asked.load(Ordering::Acquire) {
            drop(running.take_request());
        }
        drop(plan);
    }
}
