//! Replacement of events for replicas that do not know them: older MariaDB and MySQL servers.
//!
//! Such a replica computes its position from the lengths of the events that it receives, so nothing may be omitted: an
//! unknown event is replaced by one of the same length that has no effect, as in MariaDB's
//! `Query_log_event::dummy_event` and `begin_event`.

use super::artificial_event::mend_checksum;
use paceline_binlog::event::{CHECKSUM_LENGTH, EventFlags, EventType, FLAGS_OFFSET, HEADER_LENGTH};

/// Offset of the type in an event header.
const TYPE_OFFSET: usize = 4;
/// Length of the fixed part of a Query event.
const QUERY_HEADER_LENGTH: usize = 13;
/// Length of the shortest Query event: no database, one character.
const QUERY_LENGTH_MIN: usize = HEADER_LENGTH + QUERY_HEADER_LENGTH + 1 + 1;
/// Length of the shortest User_var event: a name of one character, NULL.
const USER_VAR_LENGTH_MIN: usize = HEADER_LENGTH + 4 + 1 + 1;
/// Code of the status variable for the time zone. An empty one fills the additional space of a longer Gtid event.
const Q_TIME_ZONE: u8 = 5;

/// Replaces an event by one of the same length that has no effect. Returns false if the event is too short for any
/// replacement.
#[must_use]
pub(super) fn make_dummy(event: &mut [u8]) -> bool {
    let length = event.len() - CHECKSUM_LENGTH;
    if length < USER_VAR_LENGTH_MIN {
        return false;
    }
    let old_type = event[TYPE_OFFSET];
    set_flags(event);
    let body = &mut event[HEADER_LENGTH..length];
    if length < QUERY_LENGTH_MIN {
        let name_length = length - (USER_VAR_LENGTH_MIN - 1);
        body[..4].copy_from_slice(&(name_length as u32).to_le_bytes());
        body[4..4 + name_length].copy_from_slice(&b"!dummyvar"[..name_length]);
        body[4 + name_length] = 1;
        event[TYPE_OFFSET] = EventType::USER_VAR.0;
    } else {
        let comment = format!("# Dummy event replacing event type {old_type} that slave cannot handle.");
        body[..QUERY_HEADER_LENGTH + 1].fill(0);
        let text = &mut body[QUERY_HEADER_LENGTH + 1..];
        let copied = text.len().min(comment.len());
        text[..copied].copy_from_slice(&comment.as_bytes()[..copied]);
        text[copied..].fill(b' ');
        event[TYPE_OFFSET] = EventType::QUERY.0;
    }
    mend_checksum(event);
    true
}

/// Replaces a Gtid event by a BEGIN of the same length, which was in this place before there were GTIDs. Returns false
/// if the length is not that of a Gtid event.
#[must_use]
pub(super) fn make_begin(event: &mut [u8]) -> bool {
    const BEGIN: &[u8; 5] = b"BEGIN";
    let length = event.len() - CHECKSUM_LENGTH;
    let shortest = HEADER_LENGTH + QUERY_HEADER_LENGTH + 1 + BEGIN.len();
    let surplus = match length.checked_sub(shortest) {
        Some(surplus @ (0 | 2)) => surplus,
        _ => return false,
    };
    set_flags(event);
    let body = &mut event[HEADER_LENGTH..length];
    body.fill(0);
    if surplus > 0 {
        // One status variable, a time zone without a name: code and length.
        body[QUERY_HEADER_LENGTH - 2..QUERY_HEADER_LENGTH].copy_from_slice(&(surplus as u16).to_le_bytes());
        body[QUERY_HEADER_LENGTH] = Q_TIME_ZONE;
        body[QUERY_HEADER_LENGTH + 1] = 0;
    }
    let at = body.len() - BEGIN.len();
    body[at..].copy_from_slice(BEGIN);
    event[TYPE_OFFSET] = EventType::QUERY.0;
    mend_checksum(event);
    true
}

/// Sets the flags: no USE before it, no temporary tables.
fn set_flags(event: &mut [u8]) {
    let flags = EventFlags(u16::from_le_bytes([event[FLAGS_OFFSET], event[FLAGS_OFFSET + 1]]));
    let flags = flags
        .without(EventFlags::THREAD_SPECIFIC)
        .with(EventFlags::SUPPRESS_USE);
    event[FLAGS_OFFSET..FLAGS_OFFSET + 2].copy_from_slice(&flags.0.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use paceline_binlog::event::*;
    use paceline_types::ServerId;

    fn encoded(body: &dyn EventBody) -> Vec<u8> {
        let mut bytes = Vec::new();
        let stamp = EventStamp {
            timestamp: 9,
            server_id: ServerId(3),
            flags: EventFlags::NONE,
        };
        encode_event(&mut bytes, &stamp, 500, body);
        bytes
    }

    #[test]
    fn dummies_have_the_same_length_and_end_position() {
        let format = FormatDescription::new("10.11.19-MariaDB", 0);
        for body in [
            &XidEvent { xid: 1 } as &dyn EventBody,
            &GtidListEvent::default(),
            &AnnotateRowsEvent {
                sql: b"insert into t values (1), (2), (3), (4), (5), (6), (7), (8), (9), (10), (11), (12), (13), (14)",
            },
        ] {
            let before = encoded(body);
            let mut after = before.clone();
            assert!(make_dummy(&mut after));
            assert_eq!(after.len(), before.len());
            let event = RawEvent::new(&after, ChecksumAlgorithm::Crc32).unwrap();
            assert_eq!(
                event.header().end_position,
                RawEvent::new(&before, ChecksumAlgorithm::Crc32)
                    .unwrap()
                    .header()
                    .end_position
            );
            match event.decode(&format).unwrap() {
                Event::Query(query) => assert!(query.sql.starts_with(b"# Dumm")),
                Event::UserVar(variable) => assert!(b"!dummyvar".starts_with(variable.name)),
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn gtid_events_become_begin() {
        let format = FormatDescription::new("10.11.19-MariaDB", 0);
        let gtid = "0-3-7".parse().unwrap();
        for commit_id in [None, Some(CommitId(5))] {
            let body = GtidEvent {
                commit_id,
                ..GtidEvent::new(gtid, GtidFlags::TRANSACTIONAL)
            };
            let before = encoded(&body);
            let mut after = before.clone();
            assert!(make_begin(&mut after));
            assert_eq!(after.len(), before.len());
            let event = RawEvent::new(&after, ChecksumAlgorithm::Crc32).unwrap();
            let Event::Query(query) = event.decode(&format).unwrap() else {
                panic!()
            };
            assert_eq!(
                (&*query.sql, query.database),
                (b"BEGIN".as_slice(), b"".as_slice())
            );
        }
    }
}
