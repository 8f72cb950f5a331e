//! Where event groups begin and end.

use crate::error::Result;
use crate::event::{EventType, GtidEvent, GtidFlags, QueryEvent, RawEvent};

/// Follows a stream of events and tells which of them make a group.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Grouping {
    /// Between groups.
    #[default]
    Outside,
    /// In a group that Xid, XA_prepare, or a Query that says COMMIT or ROLLBACK ends.
    Transaction,
    /// In a group of one statement, before it.
    Standalone,
}

/// What an event is to its group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EventRole {
    /// It is in none.
    Control,
    /// It is the Gtid event.
    Begins,
    /// It is one of the others.
    Inside,
    /// It is the last one.
    Ends,
}

impl Grouping {
    /// Takes the next event.
    ///
    /// # Errors
    /// [`crate::Error::Malformed`] for a Gtid event in the middle of a group, or an event of no group where none is open.
    pub fn observe(&mut self, event: &RawEvent<'_>) -> Result<EventRole> {
        let event_type = event.event_type();
        let malformed = |problem| crate::Error::Malformed {
            event: event_type.name(),
            problem,
        };
        if event_type == EventType::GTID {
            if *self != Self::Outside {
                return Err(malformed("the transaction before it has no end"));
            }
            let gtid = GtidEvent::decode(event.body(), event.header().server_id)?;
            *self = match gtid.flags.contains(GtidFlags::STANDALONE) {
                true => Self::Standalone,
                false => Self::Transaction,
            };
            return Ok(EventRole::Begins);
        }
        match self {
            Self::Outside if event_type.is_control() || event_type == EventType::INCIDENT => {
                Ok(EventRole::Control)
            }
            Self::Outside => Err(malformed("it belongs to no transaction")),
            Self::Transaction | Self::Standalone if ends_file(event_type) => {
                Err(malformed("the transaction before it has no end"))
            }
            Self::Transaction => {
                let ends = match event_type {
                    EventType::XID | EventType::XA_PREPARE => true,
                    EventType::QUERY | EventType::QUERY_COMPRESSED => {
                        QueryEvent::decode(event_type, event.body())?.ends_group()
                    }
                    _ => false,
                };
                Ok(self.end_if(ends))
            }
            // What a statement reads stands before it; of LOAD DATA that is a file.
            Self::Standalone => {
                let context = matches!(
                    event_type,
                    EventType::INTVAR
                        | EventType::RAND
                        | EventType::USER_VAR
                        | EventType::BEGIN_LOAD_QUERY
                        | EventType::APPEND_BLOCK
                );
                Ok(self.end_if(!context))
            }
        }
    }

    fn end_if(&mut self, ends: bool) -> EventRole {
        if ends {
            *self = Self::Outside;
            EventRole::Ends
        } else {
            EventRole::Inside
        }
    }
}

/// Whether no event group reaches beyond such an event.
fn ends_file(event_type: EventType) -> bool {
    matches!(
        event_type,
        EventType::FORMAT_DESCRIPTION | EventType::ROTATE | EventType::STOP | EventType::GTID_LIST
    )
}
