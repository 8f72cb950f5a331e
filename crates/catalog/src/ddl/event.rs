//! CREATE, ALTER and DROP of events.
//!
//! The expressions of a schedule are evaluated once, with the settings and the time of the statement, which the log
//! contains: a replay computes the same times.
//!
//! A statement of a primary makes an event that runs there only: its status becomes SLAVESIDE_DISABLED
//! ([`StatementOrigin`]), and its changes come as rows.

use paceline_types::error_code::*;
use paceline_types::temporal::{Interval, IntervalUnit, TimeZone};
use paceline_types::{DataType, Timestamp, Value};

use super::normal_form::{quote_identifier, quote_text, write_definer};
use super::plan::{LoggedStatement, Planner};
use super::routine::NAME_LENGTH_MAX;
use crate::error::{Error, Result};
use crate::event::{INTERVAL_MAX, event_unit, smallest_part};
use crate::{CatalogChange, EventDefinition, EventDescription, EventTimes, ProgramEnvironment};
use paceline_expression::session::{SessionContext, StatementOrigin};
use paceline_expression::{EmptyScope, EvalContext, EvalState, bind_expr};
use paceline_syntax::ast::Expr;
use paceline_syntax::{
    AlterEvent, Event, EventBody, EventCompletion, EventSchedule, EventStatus, TableName, VariableKind,
};
use std::sync::Arc;

/// Effect of an execution time that has already passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Past {
    /// The event is not changed: a note of CREATE, an error of ALTER.
    Refused,
    /// It is disabled, with a note.
    Disabled,
}

impl Planner<'_> {
    pub(super) fn create_event(&mut self, event: &Event) -> Result<()> {
        let (database, name) = self.qualified(&event.name)?;
        let collation = self.database(&database)?.definition().collation;
        check_name(&name)?;
        self.check_event_types(&event.body)?;
        let definer = self.definer(event.definer.as_ref())?;
        let schedule = self.times(&event.schedule)?;
        let completion = event.completion.unwrap_or_default();
        let mut status = event.status.unwrap_or_default();
        match self.past(&schedule, completion, status) {
            Some(Past::Refused) => {
                let message = ER_EVENT_CANNOT_CREATE_IN_THE_PAST.message(&[]);
                self.session
                    .diagnostics
                    .note(ER_EVENT_CANNOT_CREATE_IN_THE_PAST, message);
                self.plan.logged = LoggedStatement::Nothing;
                return Ok(());
            }
            Some(Past::Disabled) => status = self.disabled_in_the_past(),
            None => {}
        }
        let mut logged = "CREATE ".to_owned();
        if event.or_replace {
            logged.push_str("OR REPLACE ");
        }
        write_definer(&definer, &mut logged);
        logged.push(' ');
        logged.push_str(&event.text);
        self.plan.logged = LoggedStatement::Rewritten(logged);
        if let Some(known) = self.catalog.event(&database, &name).cloned() {
            if !event.or_replace {
                let error = Error::new(ER_EVENT_ALREADY_EXISTS, &[&name]);
                return self.note_or_fail(event.if_not_exists.into(), error);
            }
            self.forget_event(&known)?;
        }
        let (status, originator) = self.status_here(status);
        let now = self.session.statement.start_seconds();
        let description = EventDescription {
            environment: ProgramEnvironment::of(self.session, collation.name()),
            schedule,
            completion,
            status,
            comment: event.comment.clone().unwrap_or_default(),
            body: event.body.text.clone(),
            definer,
            time_zone: self.session.settings.time_zone.name().to_owned(),
            originator,
            created_seconds: now,
            modified_seconds: now,
            database,
            name,
        };
        self.change(CatalogChange::PutEvent(Box::new(description)))
    }

    pub(super) fn alter_event(&mut self, event: &AlterEvent) -> Result<()> {
        let (database, name) = self.qualified(&event.name)?;
        self.database(&database)?;
        let new_name = match &event.new_name {
            Some(new_name) => {
                let (new_database, new_name) = self.qualified(new_name)?;
                self.database(&new_database)?;
                check_name(&new_name)?;
                if (&*new_database, new_name.to_lowercase()) == (&*database, name.to_lowercase()) {
                    return Err(Error::new(ER_EVENT_SAME_NAME, &[]));
                }
                Some((new_database, new_name))
            }
            None => None,
        };
        let Some(known) = self.catalog.event(&database, &name).cloned() else {
            return Err(Error::new(ER_EVENT_DOES_NOT_EXIST, &[&name]));
        };
        let mut description = known.description().clone();
        if let Some(body) = &event.body {
            self.check_event_types(body)?;
            let collation = self.database(&database)?.definition().collation;
            description.body.clone_from(&body.text);
            description.environment = ProgramEnvironment::of(self.session, collation.name());
        }
        let completion = event.completion.unwrap_or(description.completion);
        let mut status = event.status.unwrap_or(description.status);
        if let Some(schedule) = &event.schedule {
            let schedule = self.times(schedule)?;
            match self.past(&schedule, completion, status) {
                Some(Past::Refused) => return Err(Error::new(ER_EVENT_CANNOT_ALTER_IN_THE_PAST, &[])),
                Some(Past::Disabled) => status = self.disabled_in_the_past(),
                None => {}
            }
            description.schedule = schedule;
            self.session
                .settings
                .time_zone
                .name()
                .clone_into(&mut description.time_zone);
        }
        if let Some((new_database, new_name)) = new_name {
            if self.catalog.event(&new_database, &new_name).is_some() {
                return Err(Error::new(ER_EVENT_ALREADY_EXISTS, &[&new_name]));
            }
            (description.database, description.name) = (new_database, new_name);
            self.forget_event(&known)?;
        }
        if let Some(comment) = &event.comment {
            description.comment.clone_from(comment);
        }
        description.completion = completion;
        // The account that alters an event becomes its definer.
        description.definer = self.definer(event.definer.as_ref())?;
        (description.status, description.originator) = self.status_here(status);
        description.modified_seconds = self.session.statement.start_seconds();
        self.change(CatalogChange::PutEvent(Box::new(description)))
    }

    pub(super) fn drop_event(&mut self, if_exists: bool, name: &TableName) -> Result<()> {
        let (database, name) = self.qualified(name)?;
        match self.catalog.event(&database, &name).cloned() {
            Some(known) => self.forget_event(&known),
            None => self.note_or_fail(
                if_exists.into(),
                match if_exists {
                    true => Error::new(ER_SP_DOES_NOT_EXIST, &[&"Event", &name]),
                    false => Error::new(ER_EVENT_DOES_NOT_EXIST, &[&name]),
                },
            ),
        }
    }

    fn forget_event(&mut self, event: &EventDefinition) -> Result<()> {
        self.change(CatalogChange::DropEvent {
            database: event.database.clone(),
            name: event.name.clone(),
        })
    }

    /// Drops the events of a database that is dropped.
    pub(super) fn drop_events(&mut self, database: &str) -> Result<()> {
        let known = self.catalog.database(database).cloned();
        let events: Vec<Arc<EventDefinition>> = known
            .iter()
            .flat_map(|database| database.events())
            .cloned()
            .collect();
        events.iter().try_for_each(|event| self.forget_event(event))
    }

    /// Checks the declared types of a body's variables.
    fn check_event_types(&mut self, body: &EventBody) -> Result<()> {
        let collation = self.session.settings.collation_database;
        for variable in &body.program.variables {
            if let VariableKind::Typed(spec) = &variable.kind {
                crate::column_type::resolve_type(&variable.name, spec, collation, self.session)?;
            }
        }
        Ok(())
    }

    /// Returns the status that an event gets on this server, and the number of the server that it comes from.
    fn status_here(&self, status: EventStatus) -> (EventStatus, u32) {
        match self.session.statement.origin {
            StatementOrigin::Here(server) => (status, server.0),
            StatementOrigin::Primary(server) => (EventStatus::ReplicaSideDisabled, server.0),
        }
    }

    /// Returns what happens to an event that has no run left.
    fn past(&self, schedule: &EventTimes, completion: EventCompletion, status: EventStatus) -> Option<Past> {
        let last = match schedule {
            EventTimes::At(time) => Some(*time),
            EventTimes::Every { ends, .. } => *ends,
        };
        let is_past = last.is_some_and(|last| last < self.session.statement.start_seconds());
        match completion {
            _ if !is_past => None,
            EventCompletion::Drop => Some(Past::Refused),
            EventCompletion::Preserve => (status == EventStatus::Enabled).then_some(Past::Disabled),
        }
    }

    fn disabled_in_the_past(&mut self) -> EventStatus {
        let message = ER_EVENT_EXEC_TIME_IN_THE_PAST.message(&[]);
        self.session
            .diagnostics
            .note(ER_EVENT_EXEC_TIME_IN_THE_PAST, message);
        EventStatus::Disabled
    }

    /// Evaluates a schedule.
    ///
    /// # Errors
    /// 1525 for a value that is no time, 1542 for an interval that is not positive or too large, 1543 for an end before
    /// the start, 1235 for microseconds.
    fn times(&mut self, schedule: &EventSchedule) -> Result<EventTimes> {
        match schedule {
            EventSchedule::At(time) => Ok(EventTimes::At(self.time("AT", time)?)),
            EventSchedule::Every {
                value,
                unit,
                starts,
                ends,
            } => {
                let Some(known) = event_unit(unit.name()) else {
                    return Err(Error::unsupported("MICROSECOND"));
                };
                let value = self.interval(value, known)?;
                let starts = match starts {
                    Some(starts) => self.time("STARTS", starts)?,
                    None => self.session.statement.start_seconds(),
                };
                let ends = match ends {
                    Some(ends) => {
                        let wrong = || Error::new(ER_EVENT_ENDS_BEFORE_STARTS, &[]);
                        let ends = self.time("ENDS", ends).map_err(|_| wrong())?;
                        if starts >= ends {
                            return Err(wrong());
                        }
                        Some(ends)
                    }
                    None => None,
                };
                Ok(EventTimes::Every {
                    value,
                    unit: unit.name().to_owned(),
                    starts,
                    ends,
                })
            }
        }
    }

    fn interval(&mut self, expr: &Expr, unit: IntervalUnit) -> Result<u64> {
        let value = evaluate(expr, self.session)?;
        let text = match &value {
            Value::Null => return Err(wrong_value("INTERVAL", &value, self.session)),
            value => shown(value, self.session),
        };
        let interval = Interval::parse(&text, unit);
        let (months, micros) = smallest_part(unit);
        let number = match months {
            0 => interval.micros / micros,
            months => i128::from(interval.months / months),
        };
        u64::try_from(number)
            .ok()
            .filter(|number| (1..=INTERVAL_MAX).contains(number))
            .ok_or_else(|| Error::new(ER_EVENT_INTERVAL_NOT_POSITIVE_OR_TOO_BIG, &[]))
    }

    /// Evaluates a time, in seconds since 1970.
    fn time(&mut self, clause: &str, expr: &Expr) -> Result<i64> {
        let value = evaluate(expr, self.session)?;
        let context = paceline_types::convert::ConvertContext {
            date_modes: Default::default(),
            time_zone: &self.session.settings.time_zone,
            now: super::default_value::local_time(self.session),
        };
        let converted =
            paceline_types::convert::assign(value.clone(), &DataType::DateTime { decimals: 0 }, &context);
        let seconds = match (&converted.value, &converted.problem) {
            (Value::DateTime(time), None) => self.session.settings.time_zone.to_utc(*time),
            _ => None,
        };
        seconds
            .filter(|seconds| (1..=i64::from(Timestamp::SECONDS_MAX)).contains(seconds))
            .ok_or_else(|| wrong_value(clause, &value, self.session))
    }
}

fn check_name(name: &str) -> Result<()> {
    if name.is_empty() || name.ends_with(' ') {
        return Err(Error::new(ER_SP_WRONG_NAME, &[&name]));
    }
    if name.chars().count() > NAME_LENGTH_MAX {
        return Err(Error::new(ER_TOO_LONG_IDENT, &[&name]));
    }
    Ok(())
}

fn wrong_value(clause: &str, value: &Value, session: &SessionContext) -> Error {
    let text = match value {
        Value::Null => "NULL".to_owned(),
        value => shown(value, session),
    };
    Error::new(ER_WRONG_VALUE, &[&clause, &text])
}

fn shown(value: &Value, session: &SessionContext) -> String {
    paceline_types::text::to_string(&value.as_ref(), &session.settings.time_zone)
}

fn evaluate(expr: &Expr, session: &mut SessionContext) -> Result<Value> {
    let mut scope = EmptyScope::with_parameters(session, &[]);
    let bound = bind_expr(expr, &mut scope)?;
    let mut state = EvalState::new();
    let value = bound.eval_unrounded(&[], &mut EvalContext::new(session, &mut state))?;
    Ok(value.into_owned())
}

/// Returns the value of an interval as `information_schema` shows it: a number, or a text such as `'1:30'`.
pub fn shown_interval(value: u64, unit: &str) -> String {
    match unit {
        "QUARTER" => (value / 3).to_string(),
        "WEEK" => (value / 7).to_string(),
        "YEAR_MONTH" => format!("'{}-{}'", value / 12, value % 12),
        "DAY_HOUR" => format!("'{} {}'", value / 24, value % 24),
        "HOUR_MINUTE" | "MINUTE_SECOND" => format!("'{}:{}'", value / 60, value % 60),
        "DAY_MINUTE" => format!("'{} {}:{}'", value / 1440, value / 60 % 24, value % 60),
        "HOUR_SECOND" => format!("'{}:{}:{}'", value / 3600, value / 60 % 60, value % 60),
        "DAY_SECOND" => format!(
            "'{} {}:{}:{}'",
            value / 86_400,
            value / 3600 % 24,
            value / 60 % 60,
            value % 60
        ),
        _ => value.to_string(),
    }
}

/// Returns the statement of SHOW CREATE EVENT.
pub fn show_create_event(event: &EventDefinition) -> String {
    let zone = event.zone();
    let mut text = "CREATE ".to_owned();
    write_definer(&event.definer, &mut text);
    text.push_str(" EVENT ");
    quote_identifier(&event.name, &mut text);
    text.push_str(" ON SCHEDULE ");
    match &event.schedule {
        EventTimes::At(time) => {
            text.push_str("AT ");
            write_time(*time, &zone, &mut text);
        }
        EventTimes::Every {
            value,
            unit,
            starts,
            ends,
        } => {
            text.push_str("EVERY ");
            text.push_str(&shown_interval(*value, unit));
            text.push(' ');
            text.push_str(unit);
            text.push_str(" STARTS ");
            write_time(*starts, &zone, &mut text);
            if let Some(ends) = ends {
                text.push_str(" ENDS ");
                write_time(*ends, &zone, &mut text);
            }
        }
    }
    text.push_str(" ON COMPLETION ");
    text.push_str(event.completion.name());
    text.push(' ');
    text.push_str(event.status.clause());
    if !event.comment.is_empty() {
        text.push_str(" COMMENT ");
        quote_text(&event.comment, &mut text);
    }
    text.push_str(" DO ");
    text.push_str(&event.body);
    text
}

fn write_time(seconds: i64, zone: &TimeZone, text: &mut String) {
    quote_text(&zone.to_local(seconds).to_string(), text);
}
