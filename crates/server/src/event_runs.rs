//! Runs of the events since the server's start, and the scheduler as the list of processes shows it.

use paceline_catalog::{Catalog, EventDefinition};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::{Arc, Weak};

/// Database, and name in lower case.
pub type EventName = (String, String);

/// State of one event, as the scheduler knows it.
#[derive(Debug, Clone, Default)]
struct Progress {
    /// Definition that ran last.
    event: Weak<EventDefinition>,
    /// Start of the last run in seconds since 1970.
    last_executed: Option<i64>,
    is_running: bool,
}

/// Runs of the events so far.
#[derive(Debug, Default)]
pub struct EventRuns {
    events: Mutex<HashMap<EventName, Progress>>,
    /// The scheduler while it is switched on.
    scheduler: Mutex<Option<SchedulerProcess>>,
}

/// The scheduler in the list of processes. It has no session: KILL does not find it.
#[derive(Debug, Clone, Copy)]
pub struct SchedulerProcess {
    /// Id among those of connections.
    pub id: u64,
    /// Time at which it was switched on, in microseconds since 1970.
    pub since_micros: i64,
}

/// Returns the name of an event.
pub fn name_of(event: &EventDefinition) -> EventName {
    (event.database.clone(), event.name.to_lowercase())
}

impl Progress {
    /// Returns whether it is the progress of this event. One that was created anew under the name of a dropped event
    /// has not run yet, also if both are from the same second.
    fn is_of(&self, event: &EventDefinition) -> bool {
        let is_new = event.created_seconds == event.modified_seconds;
        !is_new || std::ptr::eq(self.event.as_ptr(), event)
    }
}

impl EventRuns {
    /// Returns the scheduler's process, created when it is first seen switched on.
    pub fn scheduler(&self, create: impl FnOnce() -> SchedulerProcess) -> SchedulerProcess {
        *self.scheduler.lock().get_or_insert_with(create)
    }

    /// Records that the scheduler is switched off.
    pub fn end_scheduler(&self) {
        *self.scheduler.lock() = None;
    }

    /// Returns the start of an event's last run in seconds since 1970.
    pub fn last_executed(&self, event: &EventDefinition) -> Option<i64> {
        let events = self.events.lock();
        let known = events.get(&name_of(event)).filter(|known| known.is_of(event));
        known.and_then(|known| known.last_executed)
    }

    /// Records the start of a run. Returns false if the event is running, or a dropped one of its name.
    pub fn begin(&self, event: &Arc<EventDefinition>, now: i64) -> bool {
        let mut events = self.events.lock();
        let known = events.entry(name_of(event)).or_default();
        if known.is_running {
            return false;
        }
        known.event = Arc::downgrade(event);
        known.last_executed = Some(now);
        known.is_running = true;
        true
    }

    /// Records the end of a run.
    pub fn end(&self, event: &EventDefinition) {
        if let Some(known) = self.events.lock().get_mut(&name_of(event)) {
            known.is_running = false;
        }
    }

    /// Forgets events that do not exist.
    pub fn retain(&self, catalog: &Catalog) {
        let exists = |(database, name): &EventName| catalog.event(database, name).is_some();
        self.events
            .lock()
            .retain(|name, known| known.is_running || exists(name));
    }
}
