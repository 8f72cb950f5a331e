//! The event scheduler: runs the events of the catalog at their times.
//!
//! ```text
//!   catalog ──changed?──▶ next run of each event ──due──▶ a task: session of the definer ─▶ body ─▶ errors to the log
//! ```
//! One task, for the life of the server. It wakes at the next second in which an event is due, at least once a second,
//! and does nothing while `event_scheduler` is not ON.
//!
//! *What runs.* Events with the status ENABLED. An event that a primary has defined has the status SLAVESIDE_DISABLED
//! ([`paceline_catalog::ddl`]), and its changes come as rows. A backup of the primary contains its events as ENABLED:
//! as long as this server has a connection to a primary, events of other servers do not run, whatever their status.
//!
//! *In a cluster* an event is ENABLED on all members and runs on the one that is the primary. A server that becomes the
//! primary begins with the second after that one, so a run that the old primary has begun is not repeated; one that is
//! due during the change may be lost. One-time events that were missed run at once.
//!
//! *Order.* An event that has no run left is dropped or disabled by a statement that is logged, before its last run: a
//! crash between the two may lose the run, and never repeats it. Of one event there is at most one run at a time; a run
//! that is due meanwhile is omitted. Only the last one waits: of a one-time event whose name a dropped event had, which
//! is still running.
//!
//! *Memory.* When an event ran last is known only until the server stops. A recurring event that was due while the
//! server was down does not make up for it; a one-time event does.
//!
//! *In the list of processes* it is a daemon of the user `event_scheduler` ([`process`]).
//!
//! Rejected: waking by a message from each definition of an event. The catalog is compared once a second anyway, and
//! one comparison of two pointers costs nothing.

use crate::cluster::GateState;
use crate::event_runs::{EventName, name_of};
use crate::event_scheduler_process::process;
use crate::registry::now_micros;
use crate::server::Server;
use crate::session::event::{run_event, run_for_scheduler};
use crate::variables::Variable;
use paceline_catalog::ddl::{quote_identifier, write_definer};
use paceline_catalog::{Catalog, EventDefinition, EventTimes};
use paceline_syntax::{EventCompletion, EventStatus};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// An event with its next run.
struct Scheduled {
    event: Arc<EventDefinition>,
    /// Time of the next run in seconds since 1970; `None` if there is none.
    next: Option<i64>,
}

/// Starts the scheduler.
pub fn start(server: &Arc<Server>) {
    let server = server.clone();
    tokio::spawn(async move {
        let mut schedule = Schedule::default();
        loop {
            schedule.look(&server, now_micros() / 1_000_000);
            let to_next_second = 1_000_000 - now_micros().rem_euclid(1_000_000);
            let wait = Duration::from_micros(to_next_second as u64);
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = server.shutdown_requested() => return,
            }
        }
    });
}

/// The scheduler's state.
#[derive(Default)]
struct Schedule {
    catalog: Option<Arc<Catalog>>,
    events: Vec<Scheduled>,
    /// Time of the last look, in seconds since 1970, also of one that found the scheduler switched off.
    looked: Option<i64>,
}

impl Schedule {
    /// Starts what is due.
    fn look(&mut self, server: &Arc<Server>, now: i64) {
        if process(server).is_none() || !accepts_runs(server) {
            // An event that is defined from now on may be due as soon as the scheduler is switched on.
            *self = Schedule {
                looked: Some(now),
                ..Schedule::default()
            };
            return;
        }
        let catalog = server.catalog.load();
        let is_known = self
            .catalog
            .as_ref()
            .is_some_and(|known| Arc::ptr_eq(known, &catalog));
        if !is_known {
            self.read(server, &catalog, now);
            self.catalog = Some(catalog);
        }
        self.looked = Some(now);
        for scheduled in &mut self.events {
            match scheduled.next {
                Some(next) if next > now => {}
                None => {}
                Some(_) if !may_run(&scheduled.event, server) => {
                    if let EventTimes::Every { .. } = scheduled.event.schedule {
                        scheduled.next = scheduled.event.schedule.next(now + 1, &scheduled.event.zone());
                    }
                }
                Some(_) => {
                    let zone = scheduled.event.zone();
                    let next = scheduled.event.schedule.next(now + 1, &zone);
                    if server.event_runs.begin(&scheduled.event, now) {
                        scheduled.next = next;
                        tokio::spawn(run(server.clone(), scheduled.event.clone(), next.is_none()));
                    } else if next.is_some() {
                        scheduled.next = next;
                    }
                }
            }
        }
    }

    /// Computes the next run of each event that the scheduler does not know yet.
    fn read(&mut self, server: &Arc<Server>, catalog: &Catalog, now: i64) {
        let mut known: HashMap<EventName, Scheduled> = self
            .events
            .drain(..)
            .map(|scheduled| (name_of(&scheduled.event), scheduled))
            .collect();
        for event in catalog.databases().flat_map(|database| database.events()) {
            if event.status != EventStatus::Enabled {
                continue;
            }
            let same = known
                .remove(&name_of(event))
                .filter(|scheduled| Arc::ptr_eq(&scheduled.event, event));
            self.events.push(same.unwrap_or_else(|| {
                // An event that was defined after the last look has missed nothing.
                let first = match server.cluster {
                    Some(_) => now + 1,
                    None => now,
                };
                let from = self.looked.unwrap_or(first);
                Scheduled {
                    next: first_run(event, from, server.event_runs.last_executed(event)),
                    event: event.clone(),
                }
            }));
        }
        server.event_runs.retain(catalog);
    }
}

/// Returns the first run at or after `from` and after the last run. A one-time event that was missed is due at once,
/// and so is the end of an event that has no run left.
fn first_run(event: &EventDefinition, from: i64, last_executed: Option<i64>) -> Option<i64> {
    match &event.schedule {
        EventTimes::At(time) => last_executed.is_none_or(|last| last < *time).then_some(*time),
        times => {
            let from = last_executed.map_or(from, |last| from.max(last + 1));
            times.next(from, &event.zone()).or(Some(from))
        }
    }
}

/// Returns whether events can run on this server now: in a cluster only on the primary.
fn accepts_runs(server: &Server) -> bool {
    let cluster = server.cluster.as_ref();
    cluster.is_none_or(|cluster| cluster.gate.state() == GateState::Open)
}

/// Returns whether an enabled event runs on this server: see the module comment.
fn may_run(event: &EventDefinition, server: &Server) -> bool {
    let own = server.globals.number(Variable::ServerId);
    server.cluster.is_some() || u64::from(event.originator) == own || server.replicas().all().is_empty()
}

/// Runs an event once. If it is the last run, the event is dropped or disabled before.
async fn run(server: Arc<Server>, event: Arc<EventDefinition>, is_last: bool) {
    let (user, host) = &event.definer;
    let name = format!("[{user}@{host}][{}.{}]", event.database, event.name);
    let started = now_micros() / 1_000_000;
    let is_over = match &event.schedule {
        EventTimes::At(_) => false,
        EventTimes::Every { ends, .. } => ends.is_some_and(|ends| ends < started),
    };
    if is_last && let Err(failure) = run_for_scheduler(&server, &completion(&event)).await {
        tracing::error!("Event Scheduler: {name} is not completed and does not run: {failure}");
        server.event_runs.end(&event);
        return;
    }
    if !is_over && let Err(failure) = run_event(&server, &event).await {
        tracing::error!("Event Scheduler: {name} {failure}");
    }
    server.event_runs.end(&event);
}

/// Returns the statement that ends an event which has no run left.
fn completion(event: &EventDefinition) -> String {
    let mut name = String::new();
    quote_identifier(&event.database, &mut name);
    name.push('.');
    quote_identifier(&event.name, &mut name);
    match event.completion {
        EventCompletion::Drop => format!("DROP EVENT IF EXISTS {name}"),
        EventCompletion::Preserve => {
            let mut definer = String::new();
            write_definer(&event.definer, &mut definer);
            format!("ALTER {definer} EVENT {name} DISABLE")
        }
    }
}
