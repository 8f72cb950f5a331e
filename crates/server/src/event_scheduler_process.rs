//! The event scheduler in the list of processes: a daemon of the user `event_scheduler`, as long as it is switched on,
//! whether its task has noticed that yet or not.

use crate::event_runs::SchedulerProcess;
use crate::information_schema::Process;
use crate::registry::now_micros;
use crate::server::Server;
use crate::variables::Variable;
use paceline_syntax::EventStatus;
use std::sync::atomic::Ordering;

/// Returns the scheduler as a process, if it is switched on.
pub fn process(server: &Server) -> Option<Process> {
    if !is_on(server) {
        server.event_runs.end_scheduler();
        return None;
    }
    let now = now_micros();
    let shown = server.event_runs.scheduler(|| SchedulerProcess {
        id: server.counters.connections.fetch_add(1, Ordering::Relaxed) + 1,
        since_micros: now,
    });
    let catalog = server.catalog.load();
    let mut events = catalog.databases().flat_map(|database| database.events());
    let state = match events.any(|event| event.status == EventStatus::Enabled) {
        true => "Waiting for next activation",
        false => "Waiting on empty queue",
    };
    Some(Process {
        id: shown.id,
        user: "event_scheduler".to_owned(),
        host: "localhost".to_owned(),
        command: "Daemon".to_owned(),
        time_ms: u64::try_from((now - shown.since_micros) / 1000).unwrap_or(0),
        state: Some(state.to_owned()),
        ..Process::default()
    })
}

fn is_on(server: &Server) -> bool {
    let definition = Variable::EventScheduler.definition();
    let value = server.globals.get(Variable::EventScheduler);
    definition.show(&value).as_deref() == Some("ON")
}
