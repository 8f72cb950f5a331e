//! How far a replica has replicated its primaries, as recorded in its own log.
//!
//! No table and no file holds this state. It is the sum of these parts of the log:
//!
//! ```text
//!   head of each file      Ignorable: ReplicaRecord with the whole state at the time the file was begun
//!   Gtid event             flag EventFlags::REPLICATED: this transaction came from a primary; the position moves to its GTID
//!   Ignorable              ReplicaRecord: the position moves without a transaction (a filter, SET gtid_slave_pos), at once; or a
//!                          position in a primary's log, which takes effect together with the event group that follows
//! ```
//! The same records hold the connection definitions of `CHANGE MASTER`, so a connection and its position never
//! disagree. Backups copy the records with the log, and every account that may read the log can read them: they hold
//! no secret in clear text (`paceline_replication` seals passwords under a key that is not in the log).
//!
//! So start-up needs only the one file that it reads anyway, and a crash that loses a transaction loses the change of
//! position with it. Other readers skip the records ([`crate::event::IgnorableEvent`]) and ignore the flag.

use crate::codec::{Cursor, PutExt};
use crate::error::Result;
use crate::gtid::GtidPosition;
use crate::mysql::MySqlGtidSet;
use paceline_types::{DomainId, Gtid, SequenceNumber, ServerId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Position in a primary's log, in terms of that primary's file names.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SourcePosition {
    /// File name, as in `Master_Log_File`.
    pub file: Arc<str>,
    /// Bytes from the file's start.
    pub offset: u64,
}

/// How far a replica has replicated its primaries. Derived from its log.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ReplicaState {
    /// `gtid_slave_pos`: the last replicated GTID of each domain.
    pub position: GtidPosition,
    /// Position of each connection in its primary's log, if it was recorded. Connections that use GTIDs have none.
    pub sources: BTreeMap<Arc<str>, SourcePosition>,
    /// MySQL's GTIDs that each connection has replicated, if known. Connections to MariaDB have none.
    pub executed: BTreeMap<Arc<str>, MySqlGtidSet>,
    /// The settings of `CHANGE MASTER` for each connection, opaque to this crate.
    pub definitions: BTreeMap<Arc<str>, Arc<[u8]>>,
    /// The server whose history the log contains.
    pub log_origin: LogOrigin,
}

/// Server whose history a log contains.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LogOrigin {
    /// This server's own: it may add transactions by itself.
    #[default]
    Local,
    /// Another server's: this log is a restored copy of it. Transactions that this server adds by itself must not
    /// prevent it from following that server. Defining a connection to a primary ends this state.
    Restored,
}

impl ReplicaState {
    /// Returns whether nothing was ever replicated and no connection is defined.
    pub fn is_empty(&self) -> bool {
        *self == ReplicaState::default()
    }

    /// Forgets all connections, as `RESET SLAVE ALL` for each of them. The replicated position stays.
    pub fn forget_connections(&mut self) {
        self.sources.clear();
        self.executed.clear();
        self.definitions.clear();
    }

    /// Applies a record.
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
                ExecutedSetChange::Add(gtids) => self
                    .executed
                    .entry(connection.clone())
                    .or_default()
                    .add_all(gtids),
                ExecutedSetChange::Forget => {
                    self.executed.remove(connection);
                }
                ExecutedSetChange::Replace(gtids) => {
                    self.executed.insert(connection.clone(), gtids.clone());
                }
            }
        }
        for (connection, definition) in &record.definitions {
            match definition {
                Some(definition) => {
                    self.log_origin = LogOrigin::Local;
                    self.definitions.insert(connection.clone(), definition.clone())
                }
                None => self.definitions.remove(connection),
            };
        }
        if record.log_origin == LogOrigin::Restored {
            self.log_origin = LogOrigin::Restored;
        }
    }

    /// Returns the whole state as one record, for the head of a file.
    pub fn to_record(&self) -> ReplicaRecord {
        ReplicaRecord {
            scope: RecordScope::Alone,
            gtids: PositionChange::Replace(self.position.clone()),
            sources: self
                .sources
                .iter()
                .map(|(connection, source)| (connection.clone(), Some(source.clone())))
                .collect(),
            executed: self
                .executed
                .iter()
                .map(|(connection, gtids)| (connection.clone(), ExecutedSetChange::Replace(gtids.clone())))
                .collect(),
            definitions: self
                .definitions
                .iter()
                .map(|(connection, definition)| (connection.clone(), Some(definition.clone())))
                .collect(),
            log_origin: self.log_origin,
        }
    }
}

/// Number of the record's part for [`LogOrigin::Restored`].
const HISTORY_COPIED: u8 = 1;
/// Number of the record's part with changes of sets of MySQL's GTIDs.
const EXECUTED: u8 = 2;

/// When a record takes effect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RecordScope {
    /// At its own position in the log.
    Alone,
    /// Together with the event group that follows it; not at all if that group is lost.
    WithNextGroup,
}

/// Connection name and its new value; `None` removes the value.
pub type Change<T> = (Arc<str>, Option<T>);

/// Change of `gtid_slave_pos` by a record.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PositionChange {
    /// Leaves it unchanged.
    None,
    /// Sets these GTIDs, each in its domain.
    To(Vec<Gtid>),
    /// Replaces the whole position: domains that are not listed are forgotten.
    Replace(GtidPosition),
}

impl PositionChange {
    /// Applies the move to a position.
    pub fn apply(&self, position: &mut GtidPosition) {
        match self {
            PositionChange::None => {}
            PositionChange::To(gtids) => gtids.iter().for_each(|gtid| {
                position.set(*gtid);
            }),
            PositionChange::Replace(all) => position.clone_from(all),
        }
    }
}

/// Change of the set of MySQL's GTIDs that a connection has replicated.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ExecutedSetChange {
    /// Adds these GTIDs to the set.
    Add(MySqlGtidSet),
    /// Replaces the set.
    Replace(MySqlGtidSet),
    /// The set is no longer known.
    Forget,
}

impl ExecutedSetChange {
    /// Returns the one change that has the effect of this change followed by `next`.
    #[must_use]
    pub fn then(self, next: ExecutedSetChange) -> ExecutedSetChange {
        match (self, next) {
            (_, next @ (ExecutedSetChange::Replace(_) | ExecutedSetChange::Forget)) => next,
            (ExecutedSetChange::Forget, ExecutedSetChange::Add(_)) => ExecutedSetChange::Forget,
            (ExecutedSetChange::Add(mut gtids), ExecutedSetChange::Add(more)) => {
                gtids.add_all(&more);
                ExecutedSetChange::Add(gtids)
            }
            (ExecutedSetChange::Replace(mut gtids), ExecutedSetChange::Add(more)) => {
                gtids.add_all(&more);
                ExecutedSetChange::Replace(gtids)
            }
        }
    }
}

/// Change of a replica's state that is not made by a transaction.
///
/// ```text
/// scope (1) | move (1) | count (2), GTIDs: domain (4), server (4), sequence (8)
/// | count (2), connections: name length (1), name, file length (1), file, offset (8); offset 0 removes the connection's position
/// | count (2), connections: name length (1), name, definition length (4), definition; length 0 removes the connection
/// | optional parts, each after its number (1):
///     1  a copied history begins
///     2  count (2), connections: name length (1), name, add = 0, replace = 1 or forget = 2 (1), length (4), MySQL's GTIDs
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReplicaRecord {
    /// When the record takes effect.
    pub scope: RecordScope,
    /// Change of `gtid_slave_pos`.
    pub gtids: PositionChange,
    /// Connections and their positions; `None` removes a position.
    pub sources: Vec<Change<SourcePosition>>,
    /// Connections and the changes of their sets of MySQL's GTIDs.
    pub executed: Vec<(Arc<str>, ExecutedSetChange)>,
    /// Connections and what `CHANGE MASTER` has set for them; `None` removes a connection.
    pub definitions: Vec<Change<Arc<[u8]>>>,
    /// [`LogOrigin::Restored`] if the history is a copied one from here on; [`LogOrigin::Local`] changes nothing.
    pub log_origin: LogOrigin,
}

impl ReplicaRecord {
    /// Creates a record that changes `gtid_slave_pos` only.
    pub fn of_gtids(gtids: PositionChange) -> Self {
        Self {
            scope: RecordScope::Alone,
            gtids,
            sources: Vec::new(),
            executed: Vec::new(),
            definitions: Vec::new(),
            log_origin: LogOrigin::Local,
        }
    }

    /// Creates a record that changes one connection's position only.
    pub fn of_source(scope: RecordScope, connection: Arc<str>, source: Option<SourcePosition>) -> Self {
        Self {
            scope,
            gtids: PositionChange::None,
            sources: vec![(connection, source)],
            executed: Vec::new(),
            definitions: Vec::new(),
            log_origin: LogOrigin::Local,
        }
    }

    /// Returns an upper bound of the length of [`Self::encode`]'s result, in bytes.
    pub fn length_max(&self) -> u64 {
        let gtids = match &self.gtids {
            PositionChange::None => 0,
            PositionChange::To(gtids) => gtids.len(),
            PositionChange::Replace(position) => position.len(),
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
                        ExecutedSetChange::Add(gtids) | ExecutedSetChange::Replace(gtids) => gtids.length(),
                        ExecutedSetChange::Forget => 0,
                    }
            })
            .sum();
        (12 + gtids * 16 + sources + definitions + executed) as u64
    }

    /// Encodes the record, as the content of a [`crate::event::IgnorableEvent::Replica`].
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.length_max() as usize);
        out.put_u8(match self.scope {
            RecordScope::Alone => 0,
            RecordScope::WithNextGroup => 1,
        });
        match &self.gtids {
            PositionChange::None => put_gtids(&mut out, 0, [].into_iter()),
            PositionChange::To(gtids) => put_gtids(&mut out, 1, gtids.iter().copied()),
            PositionChange::Replace(position) => put_gtids(&mut out, 2, position.iter()),
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
        if self.log_origin == LogOrigin::Restored {
            out.put_u8(HISTORY_COPIED);
        }
        if !self.executed.is_empty() {
            out.put_u8(EXECUTED);
            out.put_u16(self.executed.len().min(usize::from(u16::MAX)) as u16);
            for (connection, executed) in self.executed.iter().take(usize::from(u16::MAX)) {
                out.put_short_bytes(connection.as_bytes());
                let (kind, gtids) = match executed {
                    ExecutedSetChange::Add(gtids) => (0, gtids.encode()),
                    ExecutedSetChange::Replace(gtids) => (1, gtids.encode()),
                    ExecutedSetChange::Forget => (2, Vec::new()),
                };
                out.put_u8(kind);
                out.put_u32(u32::try_from(gtids.len()).expect("a set of GTIDs is short"));
                out.extend_from_slice(&gtids);
            }
        }
        out
    }

    /// Decodes a record.
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
            0 => PositionChange::None,
            1 => PositionChange::To(gtids),
            2 => PositionChange::Replace(gtids.into_iter().collect()),
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
        let (mut log_origin, mut executed) = (LogOrigin::Local, Vec::new());
        while !cursor.is_empty() {
            match cursor.u8()? {
                HISTORY_COPIED => log_origin = LogOrigin::Restored,
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
            log_origin,
        })
    }
}

fn read_executed(cursor: &mut Cursor<'_>) -> Result<Vec<(Arc<str>, ExecutedSetChange)>> {
    (0..cursor.u16()?)
        .map(|_| {
            let connection = text(cursor)?;
            let kind = cursor.u8()?;
            let length = cursor.u32()? as usize;
            let gtids = cursor.bytes(length)?;
            let executed = match kind {
                0 => ExecutedSetChange::Add(MySqlGtidSet::decode(gtids)?),
                1 => ExecutedSetChange::Replace(MySqlGtidSet::decode(gtids)?),
                2 => ExecutedSetChange::Forget,
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
    fn two_moves_combine_into_one() {
        use ExecutedSetChange::{Add, Replace};
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
    fn records_survive_encoding_and_a_file_head_reproduces_the_state() {
        let source = SourcePosition {
            file: "bin.000007".into(),
            offset: 4711,
        };
        let records = [
            ReplicaRecord::of_gtids(PositionChange::To(vec![
                "0-1-5".parse().unwrap(),
                "7-2-9".parse().unwrap(),
            ])),
            ReplicaRecord::of_gtids(PositionChange::Replace("1-2-3".parse().unwrap())),
            ReplicaRecord::of_source(RecordScope::WithNextGroup, "east".into(), Some(source.clone())),
            ReplicaRecord::of_source(RecordScope::Alone, "".into(), None),
            ReplicaRecord {
                definitions: vec![
                    ("east".into(), Some(b"{}".as_slice().into())),
                    ("west".into(), None),
                ],
                ..ReplicaRecord::of_gtids(PositionChange::None)
            },
            ReplicaRecord {
                executed: vec![
                    ("east".into(), ExecutedSetChange::Replace(executed("1-3"))),
                    ("west".into(), ExecutedSetChange::Add(executed("7"))),
                ],
                ..ReplicaRecord::of_gtids(PositionChange::None)
            },
            ReplicaRecord {
                executed: vec![
                    ("east".into(), ExecutedSetChange::Add(executed("4-5"))),
                    ("west".into(), ExecutedSetChange::Forget),
                ],
                ..ReplicaRecord::of_gtids(PositionChange::None)
            },
        ];
        let mut state = ReplicaState::default();
        for record in &records {
            let bytes = record.encode();
            assert!(bytes.len() as u64 <= record.length_max());
            assert_eq!(&ReplicaRecord::decode(&bytes).unwrap(), record);
            // A record without the part that was added to the format later is valid, too.
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
    fn a_copied_history_lasts_until_a_primary_is_defined() {
        let copied = ReplicaRecord {
            log_origin: LogOrigin::Restored,
            ..ReplicaRecord::of_gtids(PositionChange::Replace("0-1-5".parse().unwrap()))
        };
        assert_eq!(ReplicaRecord::decode(&copied.encode()).unwrap(), copied);
        let mut state = ReplicaState::default();
        state.apply(&copied);
        state.apply(&ReplicaRecord::of_gtids(PositionChange::None));
        let mut next_file = ReplicaState::default();
        next_file.apply(&state.to_record());
        assert_eq!(next_file.log_origin, LogOrigin::Restored);
        next_file.apply(&ReplicaRecord {
            definitions: vec![("".into(), Some(b"{}".as_slice().into()))],
            ..ReplicaRecord::of_gtids(PositionChange::None)
        });
        assert_eq!(next_file.log_origin, LogOrigin::Local);
    }
}
