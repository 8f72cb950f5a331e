//! Gtid_list: the GTID state in the head of a file, which is the last GTID of each domain and server in all files
//! before.
//!
//! ```text
//! count (28 bits) and flags (4 bits) | domain (4), server (4), sequence (8) each
//! ```
//! This is MariaDB's `Gtid_list_log_event`. The GTID that was written last in a domain is the last one of that domain.

use super::EventType;
use super::body::EventBody;
use crate::codec::{Cursor, PutExt};
use crate::error::Result;
use crate::gtid::GtidState;
use paceline_types::{DomainId, Gtid, SequenceNumber, ServerId};

const COUNT_BITS: u32 = 28;

/// A list of GTIDs with flags.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct GtidListEvent {
    /// The GTIDs, by domain.
    pub gtids: Vec<Gtid>,
    /// FLAG_UNTIL_REACHED (1) and FLAG_IGN_GTIDS (2), which a sender sets in lists that are in no file; 4 bits.
    pub flags: u8,
}

impl GtidListEvent {
    /// Returns the list for the head of a file that follows everything in `state`.
    pub fn of_state(state: &GtidState) -> Self {
        Self {
            gtids: state.iter().collect(),
            flags: 0,
        }
    }

    /// Returns the GTID state that the list describes.
    pub fn state(&self) -> GtidState {
        self.gtids.iter().copied().collect()
    }

    /// Decodes the body.
    ///
    /// # Errors
    /// [`crate::Error::Malformed`].
    pub fn decode(body: &[u8]) -> Result<Self> {
        let mut cursor = Cursor::new("Gtid_list", body);
        let first = cursor.u32()?;
        let count = (first & ((1 << COUNT_BITS) - 1)) as usize;
        if cursor.remaining() < count * 16 {
            return Err(cursor.malformed("it is shorter than its count says"));
        }
        let mut gtids = Vec::with_capacity(count);
        for _ in 0..count {
            let (domain_id, server_id) = (DomainId(cursor.u32()?), ServerId(cursor.u32()?));
            gtids.push(Gtid {
                domain_id,
                server_id,
                sequence: SequenceNumber(cursor.u64()?),
            });
        }
        Ok(Self {
            gtids,
            flags: (first >> COUNT_BITS) as u8,
        })
    }
}

impl EventBody for GtidListEvent {
    fn event_type(&self) -> EventType {
        EventType::GTID_LIST
    }

    fn encode_body(&self, out: &mut Vec<u8>) {
        let count = u32::try_from(self.gtids.len()).expect("a GTID state is far smaller than 2^28");
        out.put_u32(count | u32::from(self.flags) << COUNT_BITS);
        for gtid in &self.gtids {
            out.put_u32(gtid.domain_id.0);
            out.put_u32(gtid.server_id.0);
            out.put_u64(gtid.sequence.0);
        }
        // MariaDB pads an empty list, because its readers once took an event without a body for a truncated one.
        if self.gtids.is_empty() {
            out.extend_from_slice(&[0; 2]);
        }
    }
}
