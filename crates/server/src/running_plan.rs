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
//! that it has. That costs a lock that nobody else wants. A point read has no plan worth to see: it publishes nothing.
//! Measurements belong to the thread that executes the statement, and are not synchronized. So it answers itself, at
//! its next check for KILL. A statement that is not measured never looks whether somebody asks.
//!
//! The plan is described under the lock. Its session waits for that when the statement ends, so its own session always
//! drops the last reference.
//!
//! # Alternatives
//! MariaDB lets the session answer in both cases (an asynchronous procedure call). A session that waits for a lock
//! would have to be woken and to know, deep within the lock manager, what it executes.

use paceline_expression::session::PlanRequest;
use paceline_query::plan::Plan;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Maximum number of requests without an answer.
const REQUESTS_MAX: usize = 16;

/// Plan of a session's running statement.
#[derive(Default)]
pub struct RunningPlan {
    plan: Mutex<Option<Arc<Plan>>>,
    /// Whether there are requests. It is a hint: the requests themselves are under the lock.
    is_asked: AtomicBool,
    requests: Mutex<VecDeque<PlanRequest>>,
}

impl RunningPlan {
    /// Calls `describe` with the plan of the running statement. Returns `None` if there is none.
    pub fn describe<T>(&self, describe: impl FnOnce(&Plan) -> T) -> Option<T> {
        self.plan.lock().as_deref().map(describe)
    }

    /// Asks the session for the measurements of its statement. Of too many requests the oldest is dropped.
    pub fn ask(&self, request: PlanRequest) {
        let mut requests = self.requests.lock();
        if requests.len() >= REQUESTS_MAX {
            requests.pop_front();
        }
        requests.push_back(request);
        self.is_asked.store(true, Ordering::Release);
    }

    /// Returns the request of another session. Called by the session itself.
    pub fn take_request(&self) -> Option<PlanRequest> {
        if !self.is_asked.load(Ordering::Relaxed) {
            return None;
        }
        let mut requests = self.requests.lock();
        let request = requests.pop_front();
        self.is_asked.store(!requests.is_empty(), Ordering::Relaxed);
        request
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
    pub fn publish(self, running: &Arc<RunningPlan>) -> Option<PublishedPlan> {
        let PlanToRun::Shared(plan) = self else {
            return None;
        };
        let before = running.plan.lock().replace(plan.clone());
        Some(PublishedPlan {
            running: running.clone(),
            before,
        })
    }
}

/// A plan that other sessions can see. When it is dropped, they see the plan of the statement around it again.
pub struct PublishedPlan {
    running: Arc<RunningPlan>,
    before: Option<Arc<Plan>>,
}

impl Drop for PublishedPlan {
    fn drop(&mut self) {
        let running = &self.running;
        let plan = std::mem::replace(&mut *running.plan.lock(), self.before.take());
        // Sessions that asked learn that the statement has ended.
        while let Some(request) = running.take_request() {
            drop(request);
        }
        drop(plan);
    }
}
