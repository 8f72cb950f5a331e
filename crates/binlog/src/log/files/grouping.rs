//! The boundaries of event groups.

use crate::error::Result;
use crate::event::{EventType, GtidEvent, GtidFlags, QueryEvent, RawEvent};

/// State of a stream of events with respect to event groups.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Grouping {
    /// Between groups.
    #[default]
    Outside,
    /// In a group that ends with Xid, XA_prepare, or a Query event with COMMIT or ROLLBACK.
    Transaction,
    /// In a group of one statement, before that statement.
    Standalone,
}

/// Role of an event in its group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EventRole {
    /// In no group.
    Control,
    /// The Gtid event, which begins a group.
    Begins,
    /// Neither the first nor the last event of a group.
    Inside,
    /// The last event of a group.
    Ends,
}

impl Grouping {
    /// Takes the next event and returns its role.
    ///
    /// # Errors
    /// [`crate::Error::Malformed`] for an event that needs a group when none is open, and for a Gtid event or an
    /// event of the file itself in the middle of a group.
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
            // The context of a statement precedes it; for LOAD DATA this includes the file.
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

/// Returns whether an event group can never contain an event of this type.
fn ends_file(event_type: EventType) -> bool {
    matches!(
        event_type,
        EventType::FORMAT_DESCRIPTION | EventType::ROTATE | EventType::STOP | EventType::GTID_LIST
    )
}
