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
use crate::mysql::MySqlGtidSet;
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
    /// Which of MySQL's GTIDs a connection has, as far as that is known: connections to MariaDB have none.
    pub executed: BTreeMap<Arc<str>, MySqlGtidSet>,
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

    /// Forgets all connections, as `RESET SLAVE ALL` of each does. Where the replica has come to stays.
    pub fn forget_connections(&mut self) {
        self.sources.clear();
        self.executed.clear();
        self.definitions.clear();
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
        for (connection, executed) in &record.executed {
            match executed {
                ExecutedMove::Add(gtids) => self
                    .executed
                    .entry(connection.clone())
                    .or_default()
                    .add_all(gtids),
                ExecutedMove::Forget => {
                    self.executed.remove(connection);
                }
                ExecutedMove::Replace(gtids) => {
                    self.executed.insert(connection.clone(), gtids.clone());
                }
            }
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
            executed: self
                .executed
                .iter()
                .map(|(connection, gtids)| (connection.clone(), ExecutedMove::Replace(gtids.clone())))
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

/// The part of a record of [`History::Copied`].
const HISTORY_COPIED: u8 = 1;
/// The part with what becomes of sets of MySQL's GTIDs.
const EXECUTED: u8 = 2;

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

/// What becomes of the set of MySQL's GTIDs that a connection has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ExecutedMove {
    /// These come to it.
    Add(MySqlGtidSet),
    /// It is this one.
    Replace(MySqlGtidSet),
    /// It is not known any more.
    Forget,
}

impl ExecutedMove {
    /// This one, and then another one.
    #[must_use]
    pub fn then(self, next: ExecutedMove) -> ExecutedMove {
        match (self, next) {
            (_, next @ (ExecutedMove::Replace(_) | ExecutedMove::Forget)) => next,
            (ExecutedMove::Forget, ExecutedMove::Add(_)) => ExecutedMove::Forget,
            (ExecutedMove::Add(mut gtids), ExecutedMove::Add(more)) => {
                gtids.add_all(&more);
                ExecutedMove::Add(gtids)
            }
            (ExecutedMove::Replace(mut gtids), ExecutedMove::Add(more)) => {
                gtids.add_all(&more);
                ExecutedMove::Replace(gtids)
            }
        }
    }
}

/// A move of a replica's position that no transaction carries.
///
/// ```text
/// scope (1) | move (1) | count (2), GTIDs: domain (4), server (4), sequence (8)
/// | count (2), connections: name length (1), name, file length (1), file, offset (8); offset 0 forgets the connection's place
/// | count (2), connections: name length (1), name, definition length (4), definition; length 0 forgets the connection
/// | parts, if there are any, each behind its number (1):
///     1  it begins a copied history
///     2  count (2), connections: name length (1), name, add, replace, forget = 0, 1, 2 (1), length (4), MySQL's GTIDs
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReplicaRecord {
    /// When it holds.
    pub scope: RecordScope,
    /// What becomes of `gtid_slave_pos`.
    pub gtids: GtidMove,
    /// Connections and their places; `None` forgets one.
    pub sources: Vec<Change<SourcePosition>>,
    /// Connections and what becomes of their sets of MySQL's GTIDs.
    pub executed: Vec<(Arc<str>, ExecutedMove)>,
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
            executed: Vec::new(),
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
            executed: Vec::new(),
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
        let executed: usize = self
            .executed
            .iter()
            .map(|(connection, executed)| {
                6 + connection.len()
                    + match executed {
                        ExecutedMove::Add(gtids) | ExecutedMove::Replace(gtids) => gtids.length(),
                        ExecutedMove::Forget => 0,
                    }
            })
            .sum();
        (12 + gtids * 16 + sources + definitions + executed) as u64
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
        if !self.executed.is_empty() {
            out.put_u8(EXECUTED);
            out.put_u16(self.executed.len().min(usize::from(u16::MAX)) as u16);
            for (connection, executed) in self.executed.iter().take(usize::from(u16::MAX)) {
                out.put_short_bytes(connection.as_bytes());
                let (kind, gtids) = match executed {
                    ExecutedMove::Add(gtids) => (0, gtids.encode()),
                    ExecutedMove::Replace(gtids) => (1, gtids.encode()),
                    ExecutedMove::Forget => (2, Vec::new()),
                };
                out.put_u8(kind);
                out.put_u32(u32::try_from(gtids.len()).expect("a set of GTIDs is short"));
                out.extend_from_slice(&gtids);
            }
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
        let (mut history, mut executed) = (History::Own, Vec::new());
        while !cursor.is_empty() {
            match cursor.u8()? {
                HISTORY_COPIED => history = History::Copied,
                EXECUTED => executed = read_executed(&mut cursor)?,
                _ => return Err(cursor.malformed("it has a part that is not known")),
            }
        }
        Ok(Self {
            scope,
            gtids,
            sources,
            executed,
            definitions,
            history,
        })
    }
}

fn read_executed(cursor: &mut Cursor<'_>) -> Result<Vec<(Arc<str>, ExecutedMove)>> {
    (0..cursor.u16()?)
        .map(|_| {
            let connection = text(cursor)?;
            let kind = cursor.u8()?;
            let length = cursor.u32()? as usize;
            let gtids = cursor.bytes(length)?;
            let executed = match kind {
                0 => ExecutedMove::Add(MySqlGtidSet::decode(gtids)?),
                1 => ExecutedMove::Replace(MySqlGtidSet::decode(gtids)?),
                2 => ExecutedMove::Forget,
                _ => return Err(cursor.malformed("its change of a set is not known")),
            };
            Ok((connection, executed))
        })
        .collect()
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

    const UUID: &str = "bfedd796-e63b-11f1-af6b-02fc00000001";

    fn executed(numbers: &str) -> MySqlGtidSet {
        format!("{UUID}:{numbers}").parse().unwrap()
    }

    #[test]
    fn moves_follow_each_other() {
        use ExecutedMove::{Add, Replace};
        assert_eq!(Add(executed("1")).then(Add(executed("2"))), Add(executed("1-2")));
        assert_eq!(
            Replace(executed("1")).then(Add(executed("2"))),
            Replace(executed("1-2"))
        );
        assert_eq!(
            Add(executed("1")).then(Replace(executed("2"))),
            Replace(executed("2"))
        );
    }

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
            ReplicaRecord {
                executed: vec![
                    ("east".into(), ExecutedMove::Replace(executed("1-3"))),
                    ("west".into(), ExecutedMove::Add(executed("7"))),
                ],
                ..ReplicaRecord::of_gtids(GtidMove::None)
            },
            ReplicaRecord {
                executed: vec![
                    ("east".into(), ExecutedMove::Add(executed("4-5"))),
                    ("west".into(), ExecutedMove::Forget),
                ],
                ..ReplicaRecord::of_gtids(GtidMove::None)
            },
        ];
        let mut state = ReplicaState::default();
        for record in &records {
            let bytes = record.encode();
            assert!(bytes.len() as u64 <= record.length_max());
            assert_eq!(&ReplicaRecord::decode(&bytes).unwrap(), record);
            // Without what was added to the format later it is a record as well.
            let without = ReplicaRecord {
                executed: Vec::new(),
                ..record.clone()
            };
            let shorter = without.encode().len();
            for length in (0..bytes.len()).filter(|length| *length != shorter) {
                assert!(ReplicaRecord::decode(&bytes[..length]).is_err());
            }
            state.apply(record);
        }
        assert_eq!(state.executed.len(), 1);
        assert_eq!(
            state.executed.get("east").map(ToString::to_string),
            Some(format!("{UUID}:1-5"))
        );
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
