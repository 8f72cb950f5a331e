//! CREATE EVENT, ALTER EVENT, DROP EVENT.

use super::super::parser::Parser;
use super::create::CreateOptions;
use super::scope::{ProgramKind, ProgramScope};
use crate::error::{Error, Result};
use crate::statement::definition::DdlStatement;
use crate::statement::*;
use paceline_types::error_code::ER_EVENT_RECURSION_FORBIDDEN;

impl Parser<'_> {
    /// Parses CREATE EVENT after EVENT, which begins at `first`.
    pub(super) fn create_event(&mut self, options: CreateOptions, first: usize) -> Result<Statement> {
        let if_not_exists = self.if_not_exists(options.or_replace)?;
        let name = self.program_name()?;
        self.expect_words(&["ON", "SCHEDULE"])?;
        let schedule = self.event_schedule()?;
        let completion = self.event_completion()?;
        let status = self.event_status()?;
        let comment = self.event_comment()?;
        let Some(body) = self.event_body()? else {
            return Err(self.error());
        };
        Ok(Statement::Ddl(DdlStatement::CreateEvent(Box::new(Event {
            or_replace: options.or_replace,
            if_not_exists,
            definer: options.definer,
            name,
            schedule,
            completion,
            status,
            comment,
            body,
            text: self.text_since(first),
        }))))
    }

    /// Parses ALTER EVENT after EVENT.
    pub(in crate::grammar) fn alter_event(&mut self, definer: Option<AccountName>) -> Result<Statement> {
        let name = self.program_name()?;
        let schedule = match self.accept_words(&["ON", "SCHEDULE"]) {
            true => Some(self.event_schedule()?),
            false => None,
        };
        let completion = self.event_completion()?;
        let new_name = match self.accept_word("RENAME") {
            true => {
                self.expect_word("TO")?;
                Some(self.program_name()?)
            }
            false => None,
        };
        let event = AlterEvent {
            definer,
            name,
            schedule,
            completion,
            new_name,
            status: self.event_status()?,
            comment: self.event_comment()?,
            body: self.event_body()?,
        };
        let is_nothing = event.schedule.is_none()
            && event.completion.is_none()
            && event.new_name.is_none()
            && event.status.is_none()
            && event.comment.is_none()
            && event.body.is_none();
        match is_nothing {
            true => Err(self.error()),
            false => Ok(Statement::Ddl(DdlStatement::AlterEvent(Box::new(event)))),
        }
    }

    fn event_schedule(&mut self) -> Result<EventSchedule> {
        if self.accept_word("AT") {
            return Ok(EventSchedule::At(self.expr()?));
        }
        self.expect_word("EVERY")?;
        let value = self.expr()?;
        let unit = self.interval_unit()?;
        let starts = match self.accept_word("STARTS") {
            true => Some(self.expr()?),
            false => None,
        };
        let ends = match self.accept_word("ENDS") {
            true => Some(self.expr()?),
            false => None,
        };
        Ok(EventSchedule::Every {
            value,
            unit,
            starts,
            ends,
        })
    }

    fn event_completion(&mut self) -> Result<Option<EventCompletion>> {
        if !self.accept_words(&["ON", "COMPLETION"]) {
            return Ok(None);
        }
        let is_dropped = self.accept_word("NOT");
        self.expect_word("PRESERVE")?;
        Ok(Some(match is_dropped {
            true => EventCompletion::Drop,
            false => EventCompletion::Preserve,
        }))
    }

    fn event_status(&mut self) -> Result<Option<EventStatus>> {
        Ok(match self.accept_any_word(&["ENABLE", "DISABLE"]) {
            Some("ENABLE") => Some(EventStatus::Enabled),
            Some(_) if self.accept_word("ON") => {
                if self.accept_any_word(&["SLAVE", "REPLICA"]).is_none() {
                    return Err(self.error());
                }
                Some(EventStatus::ReplicaSideDisabled)
            }
            Some(_) => Some(EventStatus::Disabled),
            None => None,
        })
    }

    fn event_comment(&mut self) -> Result<Option<String>> {
        match self.accept_word("COMMENT") {
            true => self.text().map(Some),
            false => Ok(None),
        }
    }

    /// Parses `DO statement`.
    ///
    /// # Errors
    /// 1576 within another program.
    fn event_body(&mut self) -> Result<Option<EventBody>> {
        if !self.accept_word("DO") {
            return Ok(None);
        }
        if self.program.is_some() {
            return Err(Error::new(ER_EVENT_RECURSION_FORBIDDEN, &[]));
        }
        let start = self.position();
        let scope = ProgramScope::new(ProgramKind::Procedure);
        let program = self.program(scope, Self::program_statement)?;
        Ok(Some(EventBody {
            program,
            text: self.text_since(start),
        }))
    }
}
