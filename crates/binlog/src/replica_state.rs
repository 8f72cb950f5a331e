//! What a replica's log says of its primaries: how far it has replicated them.
//!
//! There is no table and no file for it. It is the sum of what stands in the log itself:
//!
//! ```text
//!   head of each file      Ignorable: ReplicaRecord, everything as it was when the file began
//!   Gtid event             flag EventFlags::REPLICATED: this transaction came from a primary; the position moves to its GTID
//!   Ignorable              ReplicaRecord: the position moves without a transaction (a filter, SET gtid_slave_pos), at once; or a place
//!                          in a primary's log, which holds together with the event group behind it
//! ```
//! The same records hold what `CHANGE MASTER` has said, so that a connection and its place are never at odds.
//!
//! So start-up reads the one file that it reads anyway, and what a crash takes with a transaction it takes of the position too.
//! Other readers step over the records ([`crate::event::IgnorableEvent`]) and ignore the flag.

use crate::codec::{Cursor, PutExt};
use crate::error::Result;
use crate::gtid::GtidPosition;
use paceline_types::{DomainId, Gtid, SequenceNumber, ServerId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A place in a primary's log, by that primary's file names.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SourcePosition {
    /// `Master_Log_File`.
    pub file: Arc<str>,
    /// Bytes from the file's start.
    pub offset: u64,
}

/// How far a replica has come: derived from its log.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ReplicaState {
    /// `gtid_slave_pos`: the last replicated GTID of each domain.
    pub position: GtidPosition,
    /// Where each connection stands in its primary's log, as far as it was recorded: connections that use GTIDs need none.
    pub sources: BTreeMap<Arc<str>, SourcePosition>,
    /// What `CHANGE MASTER` has said of each connection, opaque to this crate.
    pub definitions: BTreeMap<Arc<str>, Arc<[u8]>>,
    /// Whose history this is.
    pub history: History,
}

/// Whose history a log tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum History {
    /// This server's: it may add to it by itself.
    #[default]
    Own,
    /// Another server's, of which this is a restored copy: what it adds by itself must not stand in the way of following that one. A
    /// connection to a primary ends it.
    Copied,
}

impl ReplicaState {
    /// Nothing was ever replicated.
    pub fn is_empty(&self) -> bool {
        *self == ReplicaState::default()
    }

    /// Takes a record over.
    pub fn apply(&mut self, record: &ReplicaRecord) {
        record.gtids.apply(&mut self.position);
        for (connection, source) in &record.sources {
            match source {
                Some(source) => self.sources.insert(connection.clone(), source.clone()),
                None => self.sources.remove(connection),
            };
        }
        for (connection, definition) in &record.definitions {
            match definition {
                Some(definition) => {
                    self.history = History::Own;
                    self.definitions.insert(connection.clone(), definition.clone())
                }
                None => self.definitions.remove(connection),
            };
        }
        if record.history == History::Copied {
            self.history = History::Copied;
        }
    }

    /// All of it as one record: what a file begins with.
    pub fn to_record(&self) -> ReplicaRecord {
        ReplicaRecord {
            scope: RecordScope::Alone,
            gtids: GtidMove::Replace(self.position.clone()),
            sources: self
                .sources
                .iter()
                .map(|(connection, source)| (connection.clone(), Some(source.clone())))
                .collect(),
            definitions: self
                .definitions
                .iter()
                .map(|(connection, definition)| (connection.clone(), Some(definition.clone())))
                .collect(),
            history: self.history,
        }
    }
}

/// The last byte of a record of [`History::Copied`].
const HISTORY_COPIED: u8 = 1;

/// When a record holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RecordScope {
    /// From its own place in the log on.
    Alone,
    /// With the event group behind it; not at all if that one is lost.
    WithNextGroup,
}

/// A connection's name and what is said of it from now on; `None` forgets it.
pub type Change<T> = (Arc<str>, Option<T>);

/// How a record moves `gtid_slave_pos`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum GtidMove {
    /// It does not.
    None,
    /// To these GTIDs, each in its domain.
    To(Vec<Gtid>),
    /// All of it: domains that are not named are forgotten.
    Replace(GtidPosition),
}

impl GtidMove {
    /// Moves a position.
    pub fn apply(&self, position: &mut GtidPosition) {
        match self {
            GtidMove::None => {}
            GtidMove::To(gtids) => gtids.iter().for_each(|gtid| {
                position.set(*gtid);
            }),
            GtidMove::Replace(all) => position.clone_from(all),
        }
    }
}

/// A move of a replica's position that no transaction carries.
///
/// ```text
/// scope (1) | move (1) | count (2), GTIDs: domain (4), server (4), sequence (8)
/// | count (2), connections: name length (1), name, file length (1), file, offset (8); offset 0 forgets the connection's place
/// | count (2), connections: name length (1), name, definition length (4), definition; length 0 forgets the connection
/// | 1 if it begins a copied history; else nothing
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReplicaRecord {
    /// When it holds.
    pub scope: RecordScope,
    /// What becomes of `gtid_slave_pos`.
    pub gtids: GtidMove,
    /// Connections and their places; `None` forgets one.
    pub sources: Vec<Change<SourcePosition>>,
    /// Connections and what `CHANGE MASTER` has said of them; `None` forgets one.
    pub definitions: Vec<Change<Arc<[u8]>>>,
    /// [`History::Copied`] if it is a copied one from here on; [`History::Own`] says nothing.
    pub history: History,
}

impl ReplicaRecord {
    /// `gtid_slave_pos` moves to these GTIDs.
    pub fn of_gtids(gtids: GtidMove) -> Self {
        Self {
            scope: RecordScope::Alone,
            gtids,
            sources: Vec::new(),
            definitions: Vec::new(),
            history: History::Own,
        }
    }

    /// A connection's place moves.
    pub fn of_source(scope: RecordScope, connection: Arc<str>, source: Option<SourcePosition>) -> Self {
        Self {
            scope,
            gtids: GtidMove::None,
            sources: vec![(connection, source)],
            definitions: Vec::new(),
            history: History::Own,
        }
    }

    /// The most bytes that [`Self::encode`] gives, in bytes.
    pub fn length_max(&self) -> u64 {
        let gtids = match &self.gtids {
            GtidMove::None => 0,
            GtidMove::To(gtids) => gtids.len(),
            GtidMove::Replace(position) => position.len(),
        };
        let sources: usize = self
            .sources
            .iter()
            .map(|(connection, source)| {
                10 + connection.len() + source.as_ref().map_or(0, |source| source.file.len())
            })
            .sum();
        let definitions: usize = self
            .definitions
            .iter()
            .map(|(connection, definition)| 5 + connection.len() + definition.as_ref().map_or(0, |d| d.len()))
            .sum();
        (9 + gtids * 16 + sources + definitions) as u64
    }

    /// The record's bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.length_max() as usize);
        out.put_u8(match self.scope {
            RecordScope::Alone => 0,
            RecordScope::WithNextGroup => 1,
        });
        match &self.gtids {
            GtidMove::None => put_gtids(&mut out, 0, [].into_iter()),
            GtidMove::To(gtids) => put_gtids(&mut out, 1, gtids.iter().copied()),
            GtidMove::Replace(position) => put_gtids(&mut out, 2, position.iter()),
        }
        out.put_u16(self.sources.len().min(usize::from(u16::MAX)) as u16);
        for (connection, source) in self.sources.iter().take(usize::from(u16::MAX)) {
            out.put_short_bytes(connection.as_bytes());
            let file = source.as_ref().map_or("", |source| &source.file);
            out.put_short_bytes(file.as_bytes());
            out.put_u64(source.as_ref().map_or(0, |source| source.offset));
        }
        out.put_u16(self.definitions.len().min(usize::from(u16::MAX)) as u16);
        for (connection, definition) in self.definitions.iter().take(usize::from(u16::MAX)) {
            out.put_short_bytes(connection.as_bytes());
            let definition = definition.as_deref().unwrap_or_default();
            out.put_u32(u32::try_from(definition.len()).expect("a connection's definition is short"));
            out.extend_from_slice(definition);
        }
        if self.history == History::Copied {
            out.put_u8(HISTORY_COPIED);
        }
        out
    }

    /// Reads a record.
    ///
    /// # Errors
    /// [`crate::Error::Malformed`].
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        let mut cursor = Cursor::new("Ignorable", bytes);
        let scope = match cursor.u8()? {
            0 => RecordScope::Alone,
            1 => RecordScope::WithNextGroup,
            _ => return Err(cursor.malformed("its scope is not known")),
        };
        let kind = cursor.u8()?;
        let gtids: Vec<Gtid> = (0..cursor.u16()?)
            .map(|_| {
                let (domain_id, server_id) = (DomainId(cursor.u32()?), ServerId(cursor.u32()?));
                Ok(Gtid::new(domain_id, server_id, SequenceNumber(cursor.u64()?)))
            })
            .collect::<Result<_>>()?;
        let gtids = match kind {
            0 => GtidMove::None,
            1 => GtidMove::To(gtids),
            2 => GtidMove::Replace(gtids.into_iter().collect()),
            _ => return Err(cursor.malformed("its move is not known")),
        };
        let sources = (0..cursor.u16()?)
            .map(|_| {
                let connection = text(&mut cursor)?;
                let file = text(&mut cursor)?;
                let offset = cursor.u64()?;
                Ok((
                    connection,
                    (offset > 0).then_some(SourcePosition { file, offset }),
                ))
            })
            .collect::<Result<_>>()?;
        let definitions = (0..cursor.u16()?)
            .map(|_| {
                let connection = text(&mut cursor)?;
                let length = cursor.u32()? as usize;
                let definition = cursor.bytes(length)?;
                Ok((connection, (length > 0).then(|| definition.into())))
            })
            .collect::<Result<_>>()?;
        let history = match cursor.rest() {
            [] => History::Own,
            [HISTORY_COPIED, ..] => History::Copied,
            _ => return Err(cursor.malformed("its history is not known")),
        };
        Ok(Self {
            scope,
            gtids,
            sources,
            definitions,
            history,
        })
    }
}

fn put_gtids(out: &mut Vec<u8>, kind: u8, gtids: impl ExactSizeIterator<Item = Gtid>) {
    out.put_u8(kind);
    out.put_u16(u16::try_from(gtids.len()).expect("a replica follows far fewer than 65,536 domains"));
    for gtid in gtids {
        out.put_u32(gtid.domain_id.0);
        out.put_u32(gtid.server_id.0);
        out.put_u64(gtid.sequence.0);
    }
}

fn text(cursor: &mut Cursor<'_>) -> Result<Arc<str>> {
    let bytes = cursor.short_bytes()?;
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.into()),
        Err(_) => Err(cursor.malformed("a name in it is not UTF-8")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_return() {
        let source = SourcePosition {
            file: "bin.000007".into(),
            offset: 4711,
        };
        let records = [
            ReplicaRecord::of_gtids(GtidMove::To(vec![
                "0-1-5".parse().unwrap(),
                "7-2-9".parse().unwrap(),
            ])),
            ReplicaRecord::of_gtids(GtidMove::Replace("1-2-3".parse().unwrap())),
            ReplicaRecord::of_source(RecordScope::WithNextGroup, "east".into(), Some(source.clone())),
            ReplicaRecord::of_source(RecordScope::Alone, "".into(), None),
            ReplicaRecord {
                definitions: vec![
                    ("east".into(), Some(b"{}".as_slice().into())),
                    ("west".into(), None),
                ],
                ..ReplicaRecord::of_gtids(GtidMove::None)
            },
        ];
        let mut state = ReplicaState::default();
        for record in &records {
            let bytes = record.encode();
            assert!(bytes.len() as u64 <= record.length_max());
            assert_eq!(&ReplicaRecord::decode(&bytes).unwrap(), record);
            for length in 0..bytes.len() {
                assert!(ReplicaRecord::decode(&bytes[..length]).is_err());
            }
            state.apply(record);
        }
        assert_eq!(state.position.to_string(), "1-2-3");
        assert_eq!(state.sources.get("east"), Some(&source));
        let mut again = ReplicaState::default();
        again.apply(&state.to_record());
        assert_eq!(again, state);
    }

    #[test]
    fn a_copied_history_lasts_until_there_is_a_primary() {
        let copied = ReplicaRecord {
            history: History::Copied,
            ..ReplicaRecord::of_gtids(GtidMove::Replace("0-1-5".parse().unwrap()))
        };
        assert_eq!(ReplicaRecord::decode(&copied.encode()).unwrap(), copied);
        let mut state = ReplicaState::default();
        state.apply(&copied);
        state.apply(&ReplicaRecord::of_gtids(GtidMove::None));
        let mut next_file = ReplicaState::default();
        next_file.apply(&state.to_record());
        assert_eq!(next_file.history, History::Copied);
        next_file.apply(&ReplicaRecord {
            definitions: vec![("".into(), Some(b"{}".as_slice().into()))],
            ..ReplicaRecord::of_gtids(GtidMove::None)
        });
        assert_eq!(next_file.history, History::Own);
    }
}
