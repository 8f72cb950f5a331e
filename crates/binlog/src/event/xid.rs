//! The events that end an event group: Xid (a transaction is committed) and XA_prepare.

use super::EventType;
use super::body::EventBody;
use super::gtid::XaName;
use crate::codec::{Cursor, PutExt};
use crate::error::Result;

/// Xid: the transaction is committed. `xid (8)`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct XidEvent {
    /// The engine's number for the transaction; without meaning for readers.
    pub xid: u64,
}

impl XidEvent {
    /// Decodes the body.
    ///
    /// # Errors
    /// [`crate::Error::Malformed`].
    pub fn decode(body: &[u8]) -> Result<Self> {
        Ok(Self {
            xid: Cursor::new("Xid", body).u64()?,
        })
    }
}

impl EventBody for XidEvent {
    fn event_type(&self) -> EventType {
        EventType::XID
    }

    fn encode_body(&self, out: &mut Vec<u8>) {
        out.put_u64(self.xid);
    }
}

/// XA_prepare: the group ends with XA PREPARE or with a one-phase commit.
/// `one phase (1) | format id (4) | length of global id (4) | length of branch qualifier (4) | both`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct XaPrepareEvent<'a> {
    /// 1 for XA COMMIT … ONE PHASE.
    pub one_phase: u8,
    /// Name of the transaction.
    pub xa: XaName<'a>,
}

impl<'a> XaPrepareEvent<'a> {
    /// Decodes the body.
    ///
    /// # Errors
    /// [`crate::Error::Malformed`].
    pub fn decode(body: &'a [u8]) -> Result<Self> {
        let mut cursor = Cursor::new("XA_prepare", body);
        let one_phase = cursor.u8()?;
        let format_id = cursor.u32()?;
        let (global_length, branch_length) = (cursor.u32()? as usize, cursor.u32()? as usize);
        if global_length > 64 || branch_length > 64 {
            return Err(cursor.malformed("a part of its name is longer than 64 bytes"));
        }
        let global_id = cursor.bytes(global_length)?;
        let branch_qualifier = cursor.bytes(branch_length)?;
        Ok(Self {
            one_phase,
            xa: XaName {
                format_id,
                global_id,
                branch_qualifier,
            },
        })
    }
}

impl EventBody for XaPrepareEvent<'_> {
    fn event_type(&self) -> EventType {
        EventType::XA_PREPARE
    }

    fn encode_body(&self, out: &mut Vec<u8>) {
        out.put_u8(self.one_phase);
        out.put_u32(self.xa.format_id);
        out.put_u32(self.xa.global_id.len() as u32);
        out.put_u32(self.xa.branch_qualifier.len() as u32);
        out.extend_from_slice(self.xa.global_id);
        out.extend_from_slice(self.xa.branch_qualifier);
    }
}
