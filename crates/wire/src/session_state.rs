//! Session tracking: the changes of the session's state in the OK packets for clients with `CLIENT_SESSION_TRACK`.
//!
//! Each entry is a type and a length-encoded string whose content depends on the type. Format: MariaDB knowledge base,
//! "OK_Packet".

use crate::bytes::{Cursor, put_lenenc_bytes};
use crate::error::WireResult;

/// A change of a session's state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StateChange {
    /// New value of a system variable in `session_track_system_variables`.
    SystemVariable {
        /// Name of the variable.
        name: String,
        /// The value as text.
        value: String,
    },
    /// New default database.
    Schema(String),
    /// Some part of the session's state has changed (`session_track_state_change`).
    State,
    /// The statement that starts a transaction with the same characteristics
    /// (`session_track_transaction_info=CHARACTERISTICS`).
    TransactionCharacteristics(String),
    /// State of the transaction, in eight characters (`session_track_transaction_info`).
    TransactionState(String),
    /// An unknown type.
    Other(u8),
}

impl StateChange {
    /// Appends the entry.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut data = vec![];
        let kind = match self {
            StateChange::SystemVariable { name, value } => {
                put_lenenc_bytes(&mut data, name.as_bytes());
                put_lenenc_bytes(&mut data, value.as_bytes());
                0
            }
            StateChange::Schema(name) => {
                put_lenenc_bytes(&mut data, name.as_bytes());
                1
            }
            StateChange::State => {
                // As in MariaDB; MySQL writes the length of this text, too.
                data.push(b'1');
                2
            }
            StateChange::TransactionCharacteristics(text) => {
                put_lenenc_bytes(&mut data, text.as_bytes());
                4
            }
            StateChange::TransactionState(text) => {
                put_lenenc_bytes(&mut data, text.as_bytes());
                5
            }
            StateChange::Other(kind) => *kind,
        };
        out.push(kind);
        put_lenenc_bytes(out, &data);
    }

    /// Decodes all entries.
    pub fn decode_all(data: &[u8]) -> WireResult<Vec<StateChange>> {
        let mut cursor = Cursor::new(data, "session state");
        let mut changes = vec![];
        while !cursor.is_empty() {
            let kind = cursor.u8()?;
            let mut entry = Cursor::new(cursor.lenenc_bytes()?, "session state");
            if kind == 0 {
                // An entry may contain several pairs.
                while !entry.is_empty() {
                    let name = entry.lenenc_text()?;
                    changes.push(StateChange::SystemVariable {
                        name,
                        value: entry.lenenc_text()?,
                    });
                }
                continue;
            }
            changes.push(match kind {
                1 => StateChange::Schema(entry.lenenc_text()?),
                2 => StateChange::State,
                4 => StateChange::TransactionCharacteristics(entry.lenenc_text()?),
                5 => StateChange::TransactionState(entry.lenenc_text()?),
                other => StateChange::Other(other),
            });
        }
        Ok(changes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_round_trip() {
        let changes = vec![
            StateChange::SystemVariable {
                name: "last_gtid".into(),
                value: "0-1-100".into(),
            },
            StateChange::Schema("sbtest".into()),
            StateChange::State,
            StateChange::TransactionState("T_______".into()),
        ];
        let mut out = vec![];
        for change in &changes {
            change.encode(&mut out);
        }
        assert_eq!(StateChange::decode_all(&out).unwrap(), changes);
    }
}
