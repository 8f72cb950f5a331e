//! EVENTS; `mysql.event`.
//!
//! Times of a schedule are shown in the time zone of the event, others in that of the session.

use std::sync::Arc;

use paceline_catalog::ddl::shown_interval;
use paceline_catalog::{EventDefinition, EventTimes};
use paceline_expression::session::WantedRows;
use paceline_types::temporal::TimeZone;
use paceline_types::{Timestamp, Value};

use super::database::CATALOG;
use super::session_time;
use super::sources::Sources;
use crate::cells::{Row, text, text_or_null};

fn events_seen(sources: &dyn Sources, wanted: &WantedRows) -> Vec<Arc<EventDefinition>> {
    let mut seen = Vec::new();
    for database in sources.catalog().databases() {
        let name = database.name();
        if wanted.admits(&["EVENT_SCHEMA", "db"], name) && sources.may_see_events(name) {
            let named = database.events();
            let named = named.filter(|event| wanted.admits(&["EVENT_NAME", "name"], &event.name));
            seen.extend(named.cloned());
        }
    }
    seen
}

/// A schedule in columns, in a time zone.
struct Schedule {
    /// `ONE TIME` or `RECURRING`.
    kind: &'static str,
    execute_at: Value,
    interval: Option<(u64, String)>,
    starts: Value,
    ends: Value,
}

fn schedule(event: &EventDefinition, zone: &TimeZone) -> Schedule {
    let local = |seconds: i64| Value::DateTime(zone.to_local(seconds));
    match &event.schedule {
        EventTimes::At(at) => Schedule {
            kind: "ONE TIME",
            execute_at: local(*at),
            interval: None,
            starts: Value::Null,
            ends: Value::Null,
        },
        EventTimes::Every {
            value,
            unit,
            starts,
            ends,
        } => Schedule {
            kind: "RECURRING",
            execute_at: Value::Null,
            interval: Some((*value, unit.clone())),
            starts: local(*starts),
            ends: ends.map_or(Value::Null, local),
        },
    }
}

fn definer((user, host): &(String, String)) -> Value {
    text(format!("{user}@{host}"))
}

pub(super) fn events(sources: &dyn Sources, wanted: &WantedRows) -> Vec<Row> {
    let seen = events_seen(sources, wanted).into_iter();
    seen.map(|event| {
        let schedule = schedule(&event, &event.zone());
        let last = sources.last_executed(&event);
        vec![
            text(CATALOG),
            text(&*event.database),
            text(&*event.name),
            definer(&event.definer),
            text(&*event.time_zone),
            text("SQL"),
            text(&*event.body),
            text(schedule.kind),
            schedule.execute_at,
            text_or_null(
                schedule
                    .interval
                    .as_ref()
                    .map(|(value, unit)| shown_interval(*value, unit)),
            ),
            text_or_null(schedule.interval.map(|(_, unit)| unit)),
            text(event.environment.sql_mode().to_string()),
            schedule.starts,
            schedule.ends,
            text(event.status.name()),
            text(event.completion.name()),
            session_time::of_seconds(sources, event.created_seconds),
            session_time::of_seconds(sources, event.modified_seconds),
            last.map_or(Value::Null, |last| Value::DateTime(event.zone().to_local(last))),
            text(&*event.comment),
            Value::Int(event.originator.into()),
            text(&*event.environment.character_set_client),
            text(&*event.environment.collation_connection),
            text(&*event.environment.collation_database),
        ]
    })
    .collect()
}

/// Returns the rows of `mysql.event`, whose times are of UTC.
pub(crate) fn event(sources: &dyn Sources, wanted: &WantedRows) -> Vec<Row> {
    let timestamp =
        |seconds: i64| Value::Timestamp(Timestamp::new(u32::try_from(seconds).unwrap_or(0), 0, 0));
    let blob = |value: &str| Value::Bytes(value.as_bytes().to_vec());
    let seen = events_seen(sources, wanted).into_iter();
    seen.map(|event| {
        let schedule = schedule(&event, &TimeZone::UTC);
        let last = sources.last_executed(&event);
        vec![
            text(&*event.database),
            text(&*event.name),
            blob(&event.body),
            definer(&event.definer),
            schedule.execute_at,
            schedule
                .interval
                .as_ref()
                .map_or(Value::Null, |(value, _)| Value::UInt(*value)),
            text_or_null(schedule.interval.map(|(_, unit)| unit)),
            timestamp(event.created_seconds),
            timestamp(event.modified_seconds),
            last.map_or(Value::Null, |last| Value::DateTime(TimeZone::UTC.to_local(last))),
            schedule.starts,
            schedule.ends,
            text(event.status.name()),
            text(match event.completion {
                paceline_syntax::EventCompletion::Drop => "DROP",
                paceline_syntax::EventCompletion::Preserve => "PRESERVE",
            }),
            text(event.environment.sql_mode().to_string()),
            text(&*event.comment),
            Value::UInt(event.originator.into()),
            text(&*event.time_zone),
            text(&*event.environment.character_set_client),
            text(&*event.environment.collation_connection),
            text(&*event.environment.collation_database),
            blob(&event.body),
        ]
    })
    .collect()
}
