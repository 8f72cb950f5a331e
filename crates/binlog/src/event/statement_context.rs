//! Input of a statement that is not in its text: the Intvar, RAND and User var events before its Query event.

use super::EventType;
use super::body::EventBody;
use crate::codec::{Cursor, PutExt};
use crate::error::Result;

/// Value that an Intvar event sets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IntvarKind {
    /// LAST_INSERT_ID_EVENT: the result of LAST_INSERT_ID().
    LastInsertId,
    /// INSERT_ID_EVENT: the next AUTO_INCREMENT value.
    InsertId,
}

/// Intvar: `kind (1) | value (8)`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IntvarEvent {
    /// The value that is set.
    pub kind: IntvarKind,
    /// The value.
    pub value: u64,
}

impl IntvarEvent {
    /// Decodes the body.
    ///
    /// # Errors
    /// [`crate::Error::Malformed`].
    pub fn decode(body: &[u8]) -> Result<Self> {
        let mut cursor = Cursor::new("Intvar", body);
        let kind = match cursor.u8()? {
            1 => IntvarKind::LastInsertId,
            2 => IntvarKind::InsertId,
            _ => return Err(cursor.malformed("its kind is not known")),
        };
        Ok(Self {
            kind,
            value: cursor.u64()?,
        })
    }
}

impl EventBody for IntvarEvent {
    fn event_type(&self) -> EventType {
        EventType::INTVAR
    }

    fn encode_body(&self, out: &mut Vec<u8>) {
        out.put_u8(match self.kind {
            IntvarKind::LastInsertId => 1,
            IntvarKind::InsertId => 2,
        });
        out.put_u64(self.value);
    }
}

/// RAND: `seed 1 (8) | seed 2 (8)`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RandEvent {
    /// The first seed.
    pub seed1: u64,
    /// The second seed.
    pub seed2: u64,
}

impl RandEvent {
    /// Decodes the body.
    ///
    /// # Errors
    /// [`crate::Error::Malformed`].
    pub fn decode(body: &[u8]) -> Result<Self> {
        let mut cursor = Cursor::new("RAND", body);
        Ok(Self {
            seed1: cursor.u64()?,
            seed2: cursor.u64()?,
        })
    }
}

impl EventBody for RandEvent {
    fn event_type(&self) -> EventType {
        EventType::RAND
    }

    fn encode_body(&self, out: &mut Vec<u8>) {
        out.put_u64(self.seed1);
        out.put_u64(self.seed2);
    }
}

/// The value of a user variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UserVarValue<'a> {
    /// MariaDB's `Item_result`: 0 string, 1 real, 2 int, 4 decimal.
    pub value_type: u8,
    /// Id of the collation.
    pub collation: u32,
    /// The value, encoded by its type: text; a double or an integer of 8 bytes; precision, scale and packed decimal.
    pub bytes: &'a [u8],
    /// Flags after the value (1 = unsigned). Very old primaries do not write them.
    pub flags: Option<u8>,
}

/// User var: `name length (4) | name | NULL (1) | type (1) | collation (4) | length (4) | value | flags (1)`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UserVarEvent<'a> {
    /// Name of the variable, without `@`.
    pub name: &'a [u8],
    /// Value of the variable; `None` for NULL.
    pub value: Option<UserVarValue<'a>>,
}

impl<'a> UserVarEvent<'a> {
    /// Decodes the body.
    ///
    /// # Errors
    /// [`crate::Error::Malformed`].
    pub fn decode(body: &'a [u8]) -> Result<Self> {
        let mut cursor = Cursor::new("User var", body);
        let length = cursor.u32()? as usize;
        let name = cursor.bytes(length)?;
        if cursor.u8()? != 0 {
            return Ok(Self { name, value: None });
        }
        let value_type = cursor.u8()?;
        let collation = cursor.u32()?;
        let length = cursor.u32()? as usize;
        let bytes = cursor.bytes(length)?;
        let flags = if cursor.is_empty() {
            None
        } else {
            Some(cursor.u8()?)
        };
        Ok(Self {
            name,
            value: Some(UserVarValue {
                value_type,
                collation,
                bytes,
                flags,
            }),
        })
    }
}

impl EventBody for UserVarEvent<'_> {
    fn event_type(&self) -> EventType {
        EventType::USER_VAR
    }

    fn encode_body(&self, out: &mut Vec<u8>) {
        out.put_u32(self.name.len() as u32);
        out.extend_from_slice(self.name);
        match &self.value {
            None => out.put_u8(1),
            Some(value) => {
                out.put_u8(0);
                out.put_u8(value.value_type);
                out.put_u32(value.collation);
                out.put_u32(value.bytes.len() as u32);
                out.extend_from_slice(value.bytes);
                if let Some(flags) = value.flags {
                    out.put_u8(flags);
                }
            }
        }
    }
}
