//! Runs of the events since the server's start.

use paceline_catalog::{Catalog, EventDefinition};
use parking_lot::Mutex;
use std::collections::HashMap;

/// Database, and name in lower case.
pub type EventName = (String, String);

/// What the scheduler knows of one event.
#[derive(Debug, Clone, Default)]
struct Progress {
    /// Start of the last run in seconds since 1970.
    last_executed: Option<i64>,
    is_running: bool,
}

/// Runs of the events so far.
#[derive(Debug, Default)]
pub struct EventRuns {
    events: Mutex<HashMap<EventName, Progress>>,
}

/// Returns the name of an event.
pub fn name_of(event: &EventDefinition) -> EventName {
    (event.database.clone(), event.name.to_lowercase())
}

impl EventRuns {
    /// Returns the start of an event's last run in seconds since 1970.
    pub fn last_executed(&self, event: &EventDefinition) -> Option<i64> {
        let events = self.events.lock();
        events.get(&name_of(event)).and_then(|known| known.last_executed)
    }

    /// Records the start of a run. Returns false if the event is running.
    pub fn begin(&self, event: &EventDefinition, now: i64) -> bool {
        let mut events = self.events.lock();
        let known = events.entry(name_of(event)).or_default();
        if known.is_running {
            return false;
        }
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
