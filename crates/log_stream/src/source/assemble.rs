//! Assembly of a primary's packets to event groups.
//!
//! Each packet contains one event. The assembler verifies it, converts it to the form in which groups are kept (with a
//! CRC-32, whatever the source uses), and adds it to its group (in a file, if the group is large). Events of the log
//! itself only move the position. If a source has no GTIDs, the assembler creates the heads of its groups:
//!
//! ```text
//!   MariaDB      Gtid | … | Xid                        unchanged
//!   MySQL        Gtid or Anonymous_gtid | BEGIN | … | Xid     ─▶  Gtid (ours) | … | Xid      see `mysql`
//!   older        BEGIN | … | Xid,  or a statement alone ─▶  Gtid (ours) | …
//! ```

use super::SourceKind;
use super::error::{SourceError, corrupt};
use super::mysql::Translator;
use paceline_binlog::event::{
    CHECKSUM_LENGTH, ChecksumAlgorithm, Event, EventFlags, EventHeader, EventStamp, EventType,
    FormatDescription, GtidEvent, GtidFlags, HEADER_LENGTH, QueryEvent, RawEvent, encode_event,
};
use paceline_binlog::log::{EventRole, Grouping};
use paceline_binlog::mysql::{MySqlGtid, MySqlGtidSet};
use paceline_binlog::{EventGroup, SourcePosition};
use paceline_txn::SequenceSource;
use paceline_types::error_code::{
    ER_NETWORK_READ_EVENT_CHECKSUM_FAILURE, ER_SLAVE_FATAL_ERROR, ER_SLAVE_INCIDENT,
};
use paceline_types::{DomainId, Gtid, LogPosition, SequenceNumber, ServerId};
use std::path::Path;
use std::sync::Arc;

/// Result of one packet.
pub enum AssemblyResult {
    /// Nothing is complete.
    Nothing,
    /// A whole event group.
    Group(AssembledGroup),
    /// The stream is at the assembler's position, with no open group.
    Place,
    /// A heartbeat, with the primary's position.
    Heartbeat,
    /// The position of START SLAVE UNTIL is reached.
    UntilReached,
    /// These GTIDs have been skipped and are not sent.
    Passed(Vec<Gtid>),
    /// The set of all transactions before this position in a log of MySQL.
    Executed(MySqlGtidSet),
    /// The primary restarted and began a new file here.
    Restarted,
}

/// A whole group.
pub struct AssembledGroup {
    /// The group.
    pub group: EventGroup,
    /// The Format_description for decoding its events.
    pub format: Arc<FormatDescription>,
    /// Start in the primary's log.
    pub start: SourcePosition,
    /// End in the primary's log.
    pub end: SourcePosition,
    /// Time when the primary executed it, in seconds since 1970 by the primary's clock.
    pub timestamp: u32,
    /// Its GTID on a MySQL primary, if it has one.
    pub mysql_gtid: Option<MySqlGtid>,
    /// Source of the sequence number in its head.
    pub numbers: SequenceSource,
}

/// GTIDs for a source without them: consecutive numbers of one domain. They identify the transactions until these are
/// committed; a commit assigns the number that is next at that time.
#[derive(Clone, Copy, Debug)]
pub struct GtidSupply {
    /// Domain of the GTIDs.
    pub domain_id: DomainId,
    /// Last number in use.
    pub last: SequenceNumber,
}

/// Assembles groups. One for each connection to a primary, from its first event on.
pub struct Assembler {
    kind: SourceKind,
    checksum: ChecksumAlgorithm,
    format: Option<Arc<FormatDescription>>,
    place: SourcePosition,
    grouping: Grouping,
    open: Option<Open>,
    /// Head of a MySQL transaction that has arrived. The next event determines the kind of the group.
    pending: Option<MySqlGroupHead>,
    /// Last GTID assigned to a transaction of a source without GTIDs.
    pub supply: GtidSupply,
    scratch: Vec<u8>,
    /// Directory for large groups, and the size in bytes from which they go there.
    spill: Option<(Arc<Path>, u64)>,
    /// Translator for a MySQL primary.
    translator: Option<Translator>,
}

struct Open {
    group: EventGroup,
    start: SourcePosition,
    timestamp: u32,
    mysql_gtid: Option<MySqlGtid>,
    numbers: SequenceSource,
}

/// Head of a MySQL transaction.
struct MySqlGroupHead {
    stamp: EventStamp,
    /// `None` for an anonymous transaction.
    gtid: Option<MySqlGtid>,
}

/// Flags FLAG_UNTIL_REACHED and FLAG_IGN_GTIDS of a Gtid_list event.
const LIST_UNTIL_REACHED: u8 = 1;
const LIST_PASSED: u8 = 2;

/// Error for a file that ends within a group.
const NO_END_IN_FILE: &str = "the log goes on in another file within a transaction";

impl Assembler {
    /// Creates an assembler. `checksum` applies until a Format_description announces the algorithm.
    pub fn new(
        kind: SourceKind,
        checksum: ChecksumAlgorithm,
        place: SourcePosition,
        supply: GtidSupply,
    ) -> Self {
        Assembler {
            kind,
            checksum,
            format: None,
            place,
            grouping: Grouping::default(),
            open: None,
            pending: None,
            supply,
            scratch: Vec::new(),
            spill: None,
            translator: (kind == SourceKind::MySql).then(Translator::default),
        }
    }

    /// Keeps groups of at least `from_bytes` bytes in files of this directory instead of in memory.
    pub fn spill_in(&mut self, directory: &Path, from_bytes: u64) {
        self.spill = Some((directory.into(), from_bytes));
    }

    /// Returns the number of bytes of the open group that are in memory.
    pub fn memory_bytes(&self) -> usize {
        self.open.as_ref().map_or(0, |open| open.group.memory_bytes())
    }

    fn begin_group(&self, event: &RawEvent<'_>) -> Result<EventGroup, SourceError> {
        let mut group = EventGroup::begin(LogPosition::ZERO, event).map_err(corrupt)?;
        if let Some((directory, from_bytes)) = &self.spill {
            group.spill_in(directory.clone(), *from_bytes);
        }
        Ok(group)
    }

    /// Returns the end of the last event in the primary's log.
    pub fn place(&self) -> &SourcePosition {
        &self.place
    }

    /// Returns whether a group is open.
    pub fn is_inside_group(&self) -> bool {
        self.open.is_some() || self.pending.is_some()
    }

    /// Moves the position past the next event and ignores its content.
    ///
    /// # Errors
    /// The errors of [`Assembler::take`].
    pub fn pass_over(&mut self, bytes: &[u8]) -> Result<(), SourceError> {
        let header = EventHeader::decode(bytes).ok_or_else(|| corrupt("it is shorter than a header"))?;
        match header.event_type {
            EventType::FORMAT_DESCRIPTION | EventType::ROTATE | EventType::HEARTBEAT => {
                self.take(bytes).map(drop)
            }
            _ => {
                self.advance(&header, bytes.len());
                Ok(())
            }
        }
    }

    /// Processes the next event.
    pub fn take(&mut self, bytes: &[u8]) -> Result<AssemblyResult, SourceError> {
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        let done = self.take_with(bytes, &mut scratch);
        self.scratch = scratch;
        done
    }

    fn take_with(&mut self, bytes: &[u8], scratch: &mut Vec<u8>) -> Result<AssemblyResult, SourceError> {
        let header = EventHeader::decode(bytes).ok_or_else(|| corrupt("it is shorter than a header"))?;
        // A Format_description always has room for a checksum, and announces whether other events have one.
        let algorithm = match header.event_type {
            EventType::FORMAT_DESCRIPTION => {
                let at = bytes.len().checked_sub(CHECKSUM_LENGTH + 1);
                match at.and_then(|at| bytes.get(at)) {
                    Some(1) => ChecksumAlgorithm::Crc32,
                    _ => ChecksumAlgorithm::None,
                }
            }
            _ => self.checksum,
        };
        let event = match (algorithm, header.event_type) {
            (ChecksumAlgorithm::None, EventType::FORMAT_DESCRIPTION) => {
                let counted = bytes
                    .len()
                    .checked_sub(CHECKSUM_LENGTH)
                    .ok_or_else(|| corrupt("it is too short"))?;
                add_checksum(&bytes[..counted], scratch)?
            }
            (ChecksumAlgorithm::None, _) => add_checksum(bytes, scratch)?,
            (ChecksumAlgorithm::Crc32, _) => {
                RawEvent::new(bytes, ChecksumAlgorithm::Crc32).map_err(|error| {
                    tracing::warn!("an event from the primary is damaged: {error}");
                    let code = ER_NETWORK_READ_EVENT_CHECKSUM_FAILURE;
                    SourceError::lost(code.number(), code.message(&[]))
                })?
            }
        };
        match header.event_type {
            EventType::FORMAT_DESCRIPTION => {
                let mut format = FormatDescription::decode(event.body()).map_err(corrupt)?;
                self.checksum = format.checksum;
                format.checksum = ChecksumAlgorithm::Crc32;
                // A primary sends this only to a replica that has received nothing after it.
                let is_first_of_start = format.created != 0;
                if self.is_inside_group() {
                    match is_first_of_start {
                        true => self.forget_group(),
                        false => return Err(corrupt(NO_END_IN_FILE)),
                    }
                }
                self.format = Some(Arc::new(format));
                self.advance(&header, bytes.len());
                return Ok(match is_first_of_start {
                    true => AssemblyResult::Restarted,
                    false => AssemblyResult::Nothing,
                });
            }
            EventType::ROTATE => {
                let rotate = paceline_binlog::event::RotateEvent::decode(event.body()).map_err(corrupt)?;
                // An artificial one can follow the place where the primary crashed. The next Format_description shows
                // whether it did.
                if self.is_inside_group() && !header.flags.contains(EventFlags::ARTIFICIAL) {
                    return Err(corrupt(NO_END_IN_FILE));
                }
                self.place = SourcePosition {
                    file: String::from_utf8_lossy(rotate.file_name).into(),
                    offset: rotate.position,
                };
                return Ok(AssemblyResult::Place);
            }
            EventType::HEARTBEAT | EventType::MYSQL_HEARTBEAT_V2 => {
                if header.event_type == EventType::HEARTBEAT {
                    self.heartbeat(&header, event.body());
                }
                return Ok(AssemblyResult::Heartbeat);
            }
            _ => {}
        }
        self.advance(&header, bytes.len());
        // Not the end of the last event: a stream by GTID begins with the first requested transaction, wherever it is.
        let mut start = self.place.clone();
        if header.end_position != 0 {
            start.offset = start.offset.saturating_sub(bytes.len() as u64);
        }
        let Some(mut translator) = self.translator.take() else {
            return self.take_logged(&event, start);
        };
        // One event may be a whole transaction, but not more.
        let mut assembled = AssemblyResult::Nothing;
        let done = translator.translate(&event, &mut |event| {
            if !matches!(assembled, AssemblyResult::Nothing) {
                return Err(corrupt("a compressed transaction goes on behind its end"));
            }
            assembled = self.take_logged(event, start.clone())?;
            Ok(())
        });
        self.translator = Some(translator);
        done.map(|()| assembled)
    }

    /// Processes an event that is in a file.
    fn take_logged(
        &mut self,
        event: &RawEvent<'_>,
        start: SourcePosition,
    ) -> Result<AssemblyResult, SourceError> {
        let header = *event.header();
        let event_type = header.event_type;
        let Some(format) = self.format.clone() else {
            return Err(corrupt("there was no Format_description before it"));
        };
        match event_type {
            EventType::GTID_LIST => {
                let list = paceline_binlog::event::GtidListEvent::decode(event.body()).map_err(corrupt)?;
                return Ok(match list.flags {
                    flags if flags & LIST_UNTIL_REACHED != 0 => AssemblyResult::UntilReached,
                    flags if flags & LIST_PASSED != 0 => AssemblyResult::Passed(list.gtids),
                    _ => AssemblyResult::Place,
                });
            }
            EventType::INCIDENT => {
                let Ok(Event::Incident(incident)) = event.decode(&format) else {
                    return Err(corrupt("an Incident event that cannot be read"));
                };
                let name = if incident.kind == 1 {
                    "LOST_EVENTS"
                } else {
                    "NOTHING"
                };
                let message = String::from_utf8_lossy(incident.message);
                return Err(SourceError::fatal(
                    ER_SLAVE_INCIDENT.number(),
                    ER_SLAVE_INCIDENT.message(&[&name, &message]),
                ));
            }
            EventType::START_ENCRYPTION => return Ok(AssemblyResult::Nothing),
            EventType::MYSQL_GTID | EventType::MYSQL_ANONYMOUS_GTID | EventType::MYSQL_GTID_TAGGED => {
                if self.is_inside_group() {
                    return Err(corrupt("the transaction before it has no end"));
                }
                let gtid = match event_type {
                    EventType::MYSQL_ANONYMOUS_GTID => None,
                    _ => Some(MySqlGtid::decode(event_type, event.body()).map_err(corrupt)?),
                };
                self.pending = Some(MySqlGroupHead {
                    stamp: stamp_of(&header),
                    gtid,
                });
                return Ok(AssemblyResult::Nothing);
            }
            EventType::MYSQL_PREVIOUS_GTIDS => {
                let gtids = MySqlGtidSet::decode(event.body()).map_err(corrupt)?;
                return Ok(AssemblyResult::Executed(gtids));
            }
            EventType::MYSQL_TRANSACTION_CONTEXT | EventType::MYSQL_VIEW_CHANGE => {
                return Ok(AssemblyResult::Nothing);
            }
            _ => {}
        }
        if event_type.is_control() && !self.is_inside_group() {
            return Ok(AssemblyResult::Place);
        }
        let open_start = match self.grouping {
            Grouping::Outside if event_type != EventType::GTID => {
                if self.kind == SourceKind::MariaDb {
                    return Err(corrupt(format!(
                        "{} belongs to no transaction",
                        event_type.name()
                    )));
                }
                self.give_gtid(event, start.clone())?;
                start
            }
            _ => start,
        };
        let role = self.grouping.observe(event).map_err(corrupt)?;
        match role {
            EventRole::Begins => {
                let group = self.begin_group(event)?;
                self.open = Some(Open {
                    group,
                    start: open_start,
                    timestamp: header.timestamp,
                    mysql_gtid: None,
                    numbers: SequenceSource::Primary,
                });
            }
            EventRole::Inside | EventRole::Ends => match &mut self.open {
                Some(open) => {
                    // Of the events that Paceline writes for itself only some are part of the transaction.
                    if event_type != EventType::IGNORABLE || event.is_part_of_group() {
                        open.group.push(event);
                        open.timestamp = header.timestamp;
                    }
                }
                None => return Err(corrupt("it belongs to no transaction")),
            },
            EventRole::Control => return Ok(AssemblyResult::Place),
        }
        if role != EventRole::Ends {
            return Ok(AssemblyResult::Nothing);
        }
        let Some(open) = self.open.take() else {
            return Ok(AssemblyResult::Nothing);
        };
        Ok(AssemblyResult::Group(AssembledGroup {
            group: open.group,
            format,
            start: open.start,
            end: self.place.clone(),
            timestamp: open.timestamp,
            mysql_gtid: open.mysql_gtid,
            numbers: open.numbers,
        }))
    }

    /// Drops the open group: the primary crashed while writing it and has restarted, so it rolled the transaction back.
    fn forget_group(&mut self) {
        let gtid = self.open.as_ref().map(|open| open.group.gtid().to_string());
        tracing::warn!(
            "transaction {} has no end: the primary died while it wrote it to its log, and has rolled it back",
            gtid.unwrap_or_default()
        );
        self.open = None;
        self.pending = None;
        self.grouping = Grouping::default();
    }

    /// Begins a group for which the source has no GTID. `first` is its first event.
    fn give_gtid(&mut self, first: &RawEvent<'_>, start: SourcePosition) -> Result<(), SourceError> {
        let MySqlGroupHead {
            stamp,
            gtid: mysql_gtid,
        } = self.pending.take().unwrap_or_else(|| MySqlGroupHead {
            stamp: stamp_of(first.header()),
            gtid: None,
        });
        let is_transaction = match first.event_type() {
            EventType::QUERY | EventType::QUERY_COMPRESSED => {
                let query = QueryEvent::decode(first.event_type(), first.body()).map_err(corrupt)?;
                let sql = query.sql.trim_ascii();
                sql.eq_ignore_ascii_case(b"BEGIN") || sql.to_ascii_uppercase().starts_with(b"XA START")
            }
            EventType::TABLE_MAP | EventType::ANNOTATE_ROWS | EventType::ROWS_QUERY => true,
            _ => false,
        };
        let Some(next) = self.supply.last.0.checked_add(1) else {
            let domain_id = self.supply.domain_id;
            return Err(SourceError::fatal_with(
                ER_SLAVE_FATAL_ERROR,
                &format!("all sequence numbers of domain {domain_id} are used up"),
            ));
        };
        self.supply.last = SequenceNumber(next);
        let gtid = Gtid::new(self.supply.domain_id, stamp.server_id, self.supply.last);
        let flags = match is_transaction {
            true => GtidFlags::TRANSACTIONAL.with(GtidFlags::ALLOW_PARALLEL),
            false => GtidFlags::STANDALONE.with(GtidFlags::DDL),
        };
        let mut bytes = Vec::with_capacity(64);
        encode_event(&mut bytes, &stamp, 0, &GtidEvent::new(gtid, flags));
        let event = RawEvent::new(&bytes, ChecksumAlgorithm::Crc32).map_err(corrupt)?;
        self.grouping.observe(&event).map_err(corrupt)?;
        self.open = Some(Open {
            group: self.begin_group(&event)?,
            start,
            timestamp: stamp.timestamp,
            mysql_gtid,
            numbers: SequenceSource::Local,
        });
        Ok(())
    }

    /// Moves the position to an event's end. Artificial events have no position, except a list of the GTIDs before one.
    /// The header's field has 32 bits.
    fn advance(&mut self, header: &EventHeader, length: usize) {
        let is_made_up =
            header.flags.contains(EventFlags::ARTIFICIAL) && header.event_type != EventType::GTID_LIST;
        if header.end_position == 0 || is_made_up {
            return;
        }
        let high = self.place.offset & !u64::from(u32::MAX);
        let mut end = high | u64::from(header.end_position);
        // The position comes from the primary and may be any number.
        if end.saturating_add(1 << 31) < self.place.offset.saturating_add(length as u64) {
            end = end.saturating_add(1 << 32);
        }
        self.place.offset = end;
    }

    fn heartbeat(&mut self, header: &EventHeader, body: &[u8]) {
        let file = String::from_utf8_lossy(body);
        if header.end_position > 0 && !self.is_inside_group() && *file == *self.place.file {
            self.place.offset = self.place.offset.max(u64::from(header.end_position));
        }
    }
}

fn stamp_of(header: &EventHeader) -> EventStamp {
    EventStamp {
        timestamp: header.timestamp,
        server_id: ServerId(header.server_id.0),
        flags: EventFlags::NONE,
    }
}

/// Adds a checksum to an event that has none: groups are kept with checksums.
fn add_checksum<'a>(bytes: &[u8], out: &'a mut Vec<u8>) -> Result<RawEvent<'a>, SourceError> {
    const LENGTH_AT: usize = 9;
    if bytes.len() < HEADER_LENGTH {
        return Err(corrupt("it is shorter than a header"));
    }
    out.extend_from_slice(bytes);
    let length = u32::try_from(bytes.len() + CHECKSUM_LENGTH).map_err(corrupt)?;
    out[LENGTH_AT..LENGTH_AT + 4].copy_from_slice(&length.to_le_bytes());
    let checksum = paceline_binlog::checksum::crc32(out);
    out.extend_from_slice(&checksum.to_le_bytes());
    RawEvent::new(out, ChecksumAlgorithm::Crc32).map_err(corrupt)
}

#[cfg(test)]
mod tests {
    use super::*;
    use paceline_binlog::event::{
        EventBody, GtidListEvent, HeartbeatEvent, RotateEvent, StatusVar, XidEvent,
    };

    /// A primary that sends events in the form that they would have in its file.
    struct Primary {
        checksum: ChecksumAlgorithm,
        position: u64,
    }

    impl Primary {
        fn event(&mut self, body: &dyn EventBody, flags: EventFlags) -> Vec<u8> {
            let stamp = EventStamp {
                timestamp: 1_700_000_000,
                server_id: ServerId(7),
                flags,
            };
            let mut bytes = Vec::new();
            let start = match flags.contains(EventFlags::ARTIFICIAL) {
                true => 0,
                false => self.position,
            };
            encode_event(&mut bytes, &stamp, start, body);
            if body.event_type() != EventType::FORMAT_DESCRIPTION && self.checksum == ChecksumAlgorithm::None
            {
                bytes.truncate(bytes.len() - CHECKSUM_LENGTH);
                let length = (bytes.len() as u32).to_le_bytes();
                bytes[9..13].copy_from_slice(&length);
                let end = bytes.len() as u64 + self.position;
                bytes[13..17].copy_from_slice(&(if start == 0 { 0 } else { end as u32 }).to_le_bytes());
            }
            if start != 0 {
                self.position += bytes.len() as u64;
            }
            bytes
        }

        fn head(&mut self) -> Vec<Vec<u8>> {
            let mut format = FormatDescription::new("10.11.6-MariaDB-log", 0);
            format.checksum = self.checksum;
            let rotate = RotateEvent {
                position: 4,
                file_name: b"bin.000003",
            };
            let rotate = self.event(&rotate, EventFlags::ARTIFICIAL);
            vec![rotate, self.event(&format, EventFlags::NONE)]
        }
    }

    fn assembler(kind: SourceKind, checksum: ChecksumAlgorithm) -> Assembler {
        let supply = GtidSupply {
            domain_id: DomainId(5),
            last: SequenceNumber(41),
        };
        Assembler::new(kind, checksum, SourcePosition::default(), supply)
    }

    fn gtid(text: &str) -> GtidEvent<'static> {
        GtidEvent::new(text.parse().unwrap(), GtidFlags::TRANSACTIONAL)
    }

    fn take(assembler: &mut Assembler, bytes: &[u8]) -> AssemblyResult {
        match assembler.take(bytes) {
            Ok(assembled) => assembled,
            Err(SourceError::Lost { message, .. } | SourceError::Fatal { message, .. }) => {
                panic!("{message}")
            }
        }
    }

    #[test]
    fn groups_of_mariadb_with_and_without_checksums() {
        for checksum in [ChecksumAlgorithm::Crc32, ChecksumAlgorithm::None] {
            let mut primary = Primary {
                checksum,
                position: 4,
            };
            let mut assembler = assembler(SourceKind::MariaDb, checksum);
            for event in primary.head() {
                take(&mut assembler, &event);
            }
            assert_eq!(&*assembler.place().file, "bin.000003");
            let list = GtidListEvent {
                gtids: vec![],
                flags: LIST_UNTIL_REACHED,
            };
            let begin = assembler.place().offset;
            let first = primary.event(&gtid("3-7-12"), EventFlags::NONE);
            assert!(matches!(take(&mut assembler, &first), AssemblyResult::Nothing));
            assert!(assembler.is_inside_group());
            let beat = HeartbeatEvent {
                file_name: b"bin.000003",
            };
            let beat = primary.event(&beat, EventFlags::ARTIFICIAL);
            assert!(matches!(take(&mut assembler, &beat), AssemblyResult::Heartbeat));
            let last = primary.event(&XidEvent { xid: 9 }, EventFlags::NONE);
            let AssemblyResult::Group(group) = take(&mut assembler, &last) else {
                panic!("the group is whole");
            };
            assert_eq!(group.group.gtid().to_string(), "3-7-12");
            assert_eq!(group.group.event_count(), 2);
            assert_eq!((group.start.offset, group.end.offset), (begin, primary.position));
            assert_eq!(group.group.events().count(), 2, "whole events with checksums");
            assert!(!assembler.is_inside_group());
            let until = primary.event(&list, EventFlags::ARTIFICIAL);
            assert!(matches!(
                take(&mut assembler, &until),
                AssemblyResult::UntilReached
            ));
        }
    }

    #[test]
    fn a_source_without_gtids_gets_them() {
        let mut primary = Primary {
            checksum: ChecksumAlgorithm::Crc32,
            position: 4,
        };
        let mut assembler = assembler(SourceKind::MySql, ChecksumAlgorithm::Crc32);
        for event in primary.head() {
            take(&mut assembler, &event);
        }
        let anonymous = Event::Unknown {
            event_type: EventType::MYSQL_ANONYMOUS_GTID,
            body: &[0; 42],
        };
        let begin = QueryEvent {
            status_vars: vec![StatusVar::SqlMode(0)],
            ..QueryEvent::new(b"d", b"BEGIN")
        };
        let ddl = QueryEvent::new(b"d", b"CREATE TABLE t (a INT)");
        let mut sent = |body: &dyn EventBody| {
            let bytes = primary.event(body, EventFlags::NONE);
            take(&mut assembler, &bytes)
        };
        assert!(matches!(sent(&anonymous), AssemblyResult::Nothing));
        assert!(matches!(sent(&begin), AssemblyResult::Nothing));
        let AssemblyResult::Group(transaction) = sent(&XidEvent { xid: 1 }) else {
            panic!("a transaction");
        };
        assert_eq!(transaction.group.gtid().to_string(), "5-7-42");
        assert!(transaction.group.gtid_event().unwrap().has_terminator());
        assert!(matches!(sent(&anonymous), AssemblyResult::Nothing));
        let AssemblyResult::Group(statement) = sent(&ddl) else {
            panic!("a statement");
        };
        assert_eq!(statement.group.gtid().to_string(), "5-7-43");
        assert!(!statement.group.gtid_event().unwrap().has_terminator());
        // Older servers send no head at all.
        let AssemblyResult::Group(statement) = sent(&ddl) else {
            panic!("a statement");
        };
        assert_eq!(statement.group.gtid().to_string(), "5-7-44");
    }

    #[test]
    fn a_transaction_interrupted_by_a_crash_of_the_primary_is_dropped() {
        let rotate = |file_name| RotateEvent {
            position: 4,
            file_name,
        };
        for kind in [SourceKind::MariaDb, SourceKind::Other] {
            let mut primary = Primary {
                checksum: ChecksumAlgorithm::Crc32,
                position: 4,
            };
            let mut assembler = assembler(kind, ChecksumAlgorithm::Crc32);
            for event in primary.head() {
                take(&mut assembler, &event);
            }
            let begin = match kind {
                SourceKind::MariaDb => primary.event(&gtid("3-7-12"), EventFlags::NONE),
                _ => primary.event(&QueryEvent::new(b"d", b"BEGIN"), EventFlags::NONE),
            };
            take(&mut assembler, &begin);
            assert!(assembler.is_inside_group());
            // The file ends here and another one begins. If the primary is alive, the end of the group is missing.
            let made_up = primary.event(&rotate(b"bin.000004"), EventFlags::ARTIFICIAL);
            assert!(matches!(take(&mut assembler, &made_up), AssemblyResult::Place));
            let alive = FormatDescription::new("10.11.6-MariaDB-log", 0);
            let alive = primary.event(&alive, EventFlags::NONE);
            assert!(matches!(assembler.take(&alive), Err(SourceError::Fatal { .. })));
            primary.position = 4;
            let started = FormatDescription::new("10.11.6-MariaDB-log", 1_700_000_000);
            let started = primary.event(&started, EventFlags::NONE);
            assert!(matches!(
                take(&mut assembler, &started),
                AssemblyResult::Restarted
            ));
            assert!(!assembler.is_inside_group());
            assert_eq!(&*assembler.place().file, "bin.000004");
            if kind == SourceKind::MariaDb {
                let again = primary.event(&gtid("3-7-12"), EventFlags::NONE);
                take(&mut assembler, &again);
                let last = primary.event(&XidEvent { xid: 9 }, EventFlags::NONE);
                let AssemblyResult::Group(group) = take(&mut assembler, &last) else {
                    panic!("the group is whole");
                };
                assert_eq!(group.group.event_count(), 2);
                let within = primary.event(&gtid("3-7-13"), EventFlags::NONE);
                take(&mut assembler, &within);
            } else {
                let within = primary.event(&QueryEvent::new(b"d", b"BEGIN"), EventFlags::NONE);
                take(&mut assembler, &within);
            }
            // A Rotate event in the file follows whole transactions.
            let written = primary.event(&rotate(b"bin.000005"), EventFlags::NONE);
            assert!(matches!(assembler.take(&written), Err(SourceError::Fatal { .. })));
        }
    }

    #[test]
    fn numbers_at_their_end() {
        let mut primary = Primary {
            checksum: ChecksumAlgorithm::Crc32,
            position: 4,
        };
        let mut assembler = assembler(SourceKind::Other, ChecksumAlgorithm::Crc32);
        for event in primary.head() {
            take(&mut assembler, &event);
        }
        let far = RotateEvent {
            position: u64::MAX,
            file_name: b"bin.000004",
        };
        let far = primary.event(&far, EventFlags::ARTIFICIAL);
        take(&mut assembler, &far);
        assembler.supply.last = SequenceNumber(u64::MAX);
        let ddl = primary.event(
            &QueryEvent::new(b"d", b"CREATE TABLE t (a INT)"),
            EventFlags::NONE,
        );
        let Err(SourceError::Fatal { message, .. }) = assembler.take(&ddl) else {
            panic!("no number follows the last one");
        };
        assert!(message.contains("domain 5 are used up"), "{message}");
    }

    #[test]
    fn damaged_events_are_requested_again() {
        let mut primary = Primary {
            checksum: ChecksumAlgorithm::Crc32,
            position: 4,
        };
        let mut assembler = assembler(SourceKind::MariaDb, ChecksumAlgorithm::Crc32);
        for event in primary.head() {
            take(&mut assembler, &event);
        }
        let mut event = primary.event(&gtid("0-1-1"), EventFlags::NONE);
        *event.last_mut().unwrap() ^= 1;
        assert!(matches!(
            assembler.take(&event),
            Err(SourceError::Lost { number: 1743, .. })
        ));
        // An event outside of a transaction, from a server whose events all are in transactions.
        let xid = primary.event(&XidEvent { xid: 1 }, EventFlags::NONE);
        assert!(matches!(assembler.take(&xid), Err(SourceError::Fatal { .. })));
    }
}
