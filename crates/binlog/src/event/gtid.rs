//! Gtid: the beginning of an event group.
//!
//! ```text
//! sequence (8) | domain (4) | flags (1)
//! | commit id (8)                      if FL_GROUP_COMMIT_ID
//! | format (4), lengths (1, 1), data   if FL_PREPARED_XA or FL_COMPLETED_XA
//! | extra flags (1) | the fields that they announce
//! | zeros up to 19 bytes
//! ```
//! This is MariaDB's `Gtid_log_event`. The server id of the GTID is in the event's header.

use super::EventType;
use super::body::EventBody;
use crate::codec::{Cursor, PutExt};
use crate::error::Result;
use paceline_types::{DomainId, Gtid, LogPosition, SequenceNumber, ServerId};

/// Minimum length of a Gtid event's body, in bytes.
pub const GTID_BODY_LENGTH_MIN: usize = 19;

/// The flags of a Gtid event.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct GtidFlags(pub u8);

impl GtidFlags {
    /// No flags.
    pub const NONE: Self = Self(0);
    /// FL_STANDALONE: the group consists of one statement and has no COMMIT or Xid event at its end.
    pub const STANDALONE: Self = Self(1);
    /// FL_GROUP_COMMIT_ID: a commit id follows.
    pub const GROUP_COMMIT_ID: Self = Self(2);
    /// FL_TRANSACTIONAL: only transactional tables are changed.
    pub const TRANSACTIONAL: Self = Self(4);
    /// FL_ALLOW_PARALLEL: `skip_parallel_replication` was off.
    pub const ALLOW_PARALLEL: Self = Self(8);
    /// FL_WAITED: the transaction waited for a row lock of another transaction.
    pub const WAITED: Self = Self(16);
    /// FL_DDL: the group is a DDL statement.
    pub const DDL: Self = Self(32);
    /// FL_PREPARED_XA: the group ends with XA PREPARE.
    pub const PREPARED_XA: Self = Self(64);
    /// FL_COMPLETED_XA: the group commits or rolls back a prepared XA transaction.
    pub const COMPLETED_XA: Self = Self(128);

    /// Returns whether all of these flags are set.
    pub fn contains(self, flags: GtidFlags) -> bool {
        self.0 & flags.0 == flags.0
    }

    /// Returns the union of both sets.
    pub const fn with(self, flags: GtidFlags) -> GtidFlags {
        GtidFlags(self.0 | flags.0)
    }

    /// Returns this set without the given flags.
    pub const fn without(self, flags: GtidFlags) -> GtidFlags {
        GtidFlags(self.0 & !flags.0)
    }
}

/// Id that the transactions of one commit group share. MariaDB requires only that it differs between groups. Paceline
/// uses the position where the group starts, which proves to recovery that everything before it was durable when the
/// group was written (see [`crate::log`]).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CommitId(pub u64);

impl CommitId {
    /// Returns the id of the group whose first event starts at `start`.
    pub fn of_group_at(start: LogPosition) -> Self {
        Self(start.as_u64())
    }

    /// Returns where the group starts. Meaningful only if this server wrote it.
    pub fn start(self) -> LogPosition {
        LogPosition::from_u64(self.0)
    }
}

/// Name of an XA transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct XaName<'a> {
    /// The format id.
    pub format_id: u32,
    /// The global part.
    pub global_id: &'a [u8],
    /// The branch qualifier.
    pub branch_qualifier: &'a [u8],
}

/// Phase of an ALTER TABLE that its primary logs in two phases (`binlog_alter_two_phase`). Each phase is an event group
/// that contains the statement's text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AlterPhase {
    /// The ALTER has begun: nothing is changed yet.
    Start,
    /// The ALTER succeeded: its effect has this place in the log.
    Commit,
    /// The ALTER failed: nothing was changed.
    Rollback,
}

/// The beginning of an event group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GtidEvent<'a> {
    /// GTID of the transaction.
    pub gtid: Gtid,
    /// Flags of the group. When encoded, FL_GROUP_COMMIT_ID follows from `commit_id`.
    pub flags: GtidFlags,
    /// Id of the commit group, if that has more than one transaction.
    pub commit_id: Option<CommitId>,
    /// Name of the XA transaction that the group prepares or completes.
    pub xa: Option<XaName<'a>>,
    /// The extra flags and the fields that they announce, not decoded (MariaDB's FL_EXTRA_…: several engines, the two
    /// phases of an ALTER TABLE). Empty if there are none.
    pub extra: &'a [u8],
}

impl<'a> GtidEvent<'a> {
    /// Creates a Gtid event that shares no commit group with others.
    pub fn new(gtid: Gtid, flags: GtidFlags) -> Self {
        Self {
            gtid,
            flags,
            commit_id: None,
            xa: None,
            extra: &[],
        }
    }

    /// Decodes the body. The server id is that of the header.
    ///
    /// # Errors
    /// [`crate::Error::Malformed`].
    pub fn decode(body: &'a [u8], server_id: ServerId) -> Result<Self> {
        let mut cursor = Cursor::new("Gtid", body);
        if cursor.remaining() < GTID_BODY_LENGTH_MIN {
            return Err(cursor.malformed("it is too short"));
        }
        let sequence = SequenceNumber(cursor.u64()?);
        let domain_id = DomainId(cursor.u32()?);
        let flags = GtidFlags(cursor.u8()?);
        let commit_id = if flags.contains(GtidFlags::GROUP_COMMIT_ID) {
            Some(CommitId(cursor.u64()?))
        } else {
            None
        };
        let xa = if flags.0 & (GtidFlags::PREPARED_XA.0 | GtidFlags::COMPLETED_XA.0) != 0 {
            let format_id = cursor.u32()?;
            let global_length = usize::from(cursor.u8()?);
            let branch_length = usize::from(cursor.u8()?);
            Some(XaName {
                format_id,
                global_id: cursor.bytes(global_length)?,
                branch_qualifier: cursor.bytes(branch_length)?,
            })
        } else {
            None
        };
        let extra = without_padding(cursor.rest());
        Ok(Self {
            gtid: Gtid {
                domain_id,
                server_id,
                sequence,
            },
            flags,
            commit_id,
            xa,
            extra,
        })
    }

    /// Returns the phase of a two-phase ALTER TABLE; `None` for all other groups.
    pub fn alter_phase(&self) -> Option<AlterPhase> {
        let flags = self.extra.first().copied().unwrap_or(0);
        [
            (EXTRA_START_ALTER, AlterPhase::Start),
            (EXTRA_COMMIT_ALTER, AlterPhase::Commit),
            (EXTRA_ROLLBACK_ALTER, AlterPhase::Rollback),
        ]
        .into_iter()
        .find_map(|(flag, phase)| (flags & flag != 0).then_some(phase))
    }

    /// Returns whether the group ends with a COMMIT or Xid event.
    pub fn has_terminator(&self) -> bool {
        !self.flags.contains(GtidFlags::STANDALONE)
    }

    /// Returns the length of the encoded body, in bytes.
    pub fn body_length(&self) -> usize {
        let commit_id = if self.commit_id.is_some() { 8 } else { 0 };
        let xa = self
            .xa
            .map_or(0, |xa| 6 + xa.global_id.len() + xa.branch_qualifier.len());
        (13 + commit_id + xa + self.extra.len()).max(GTID_BODY_LENGTH_MIN)
    }
}

/// FL_EXTRA_MULTI_ENGINE_E1: a byte follows with the number of engines beyond the first.
const EXTRA_MULTI_ENGINE: u8 = 1;
/// FL_START_ALTER_E1: the first phase of an ALTER TABLE; nothing follows.
const EXTRA_START_ALTER: u8 = 2;
/// FL_COMMIT_ALTER_E1: the sequence number of the first phase follows.
const EXTRA_COMMIT_ALTER: u8 = 4;
/// FL_ROLLBACK_ALTER_E1: the sequence number of the first phase follows.
const EXTRA_ROLLBACK_ALTER: u8 = 8;
const EXTRA_END_ALTER: u8 = EXTRA_COMMIT_ALTER | EXTRA_ROLLBACK_ALTER;

/// Returns the extra flags and their fields, without the zeros that pad the body. Returns everything if there are
/// unknown flags.
fn without_padding(rest: &[u8]) -> &[u8] {
    let flags = rest.first().copied().unwrap_or(0);
    if flags & !(EXTRA_MULTI_ENGINE | EXTRA_START_ALTER | EXTRA_END_ALTER) != 0 {
        return rest;
    }
    let engines = usize::from(flags & EXTRA_MULTI_ENGINE != 0);
    let alter = if flags & EXTRA_END_ALTER != 0 { 8 } else { 0 };
    let length = if flags == 0 { 0 } else { 1 + engines + alter };
    match rest.split_at_checked(length) {
        Some((extra, padding)) if padding.iter().all(|byte| *byte == 0) => extra,
        _ => rest,
    }
}

impl EventBody for GtidEvent<'_> {
    fn event_type(&self) -> EventType {
        EventType::GTID
    }

    fn encode_body(&self, out: &mut Vec<u8>) {
        let start = out.len();
        let flags = match self.commit_id {
            Some(_) => self.flags.with(GtidFlags::GROUP_COMMIT_ID),
            None => self.flags.without(GtidFlags::GROUP_COMMIT_ID),
        };
        out.put_u64(self.gtid.sequence.0);
        out.put_u32(self.gtid.domain_id.0);
        out.put_u8(flags.0);
        if let Some(commit_id) = self.commit_id {
            out.put_u64(commit_id.0);
        }
        if let Some(xa) = &self.xa {
            out.put_u32(xa.format_id);
            out.put_u8(xa.global_id.len() as u8);
            out.put_u8(xa.branch_qualifier.len() as u8);
            out.extend_from_slice(xa.global_id);
            out.extend_from_slice(xa.branch_qualifier);
        }
        out.extend_from_slice(self.extra);
        if out.len() < start + GTID_BODY_LENGTH_MIN {
            out.resize(start + GTID_BODY_LENGTH_MIN, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_phases_of_an_alter_table_are_decoded() {
        let phase = |extra: &[u8]| {
            let gtid = Gtid::new(DomainId(0), ServerId(1), SequenceNumber(7));
            let event = GtidEvent {
                extra,
                ..GtidEvent::new(gtid, GtidFlags::STANDALONE.with(GtidFlags::DDL))
            };
            let mut body = Vec::new();
            event.encode_body(&mut body);
            let decoded = GtidEvent::decode(&body, ServerId(1)).unwrap();
            assert_eq!(decoded, event);
            decoded.alter_phase()
        };
        assert_eq!(phase(&[]), None);
        assert_eq!(phase(&[1, 1]), None);
        assert_eq!(phase(&[2]), Some(AlterPhase::Start));
        assert_eq!(phase(&[4, 6, 0, 0, 0, 0, 0, 0, 0]), Some(AlterPhase::Commit));
        assert_eq!(phase(&[8, 6, 0, 0, 0, 0, 0, 0, 0]), Some(AlterPhase::Rollback));
    }
}
