//! Prepared statements: the answer to `COM_STMT_PREPARE`, and how `COM_STMT_EXECUTE` brings its parameters.
//!
//! ```text
//!   execute: statement (4) cursor type (1) iterations (4)
//!            then, if there are parameters: NULL bitmap ((n+7)/8), types follow (1), [type, flags] × n, values
//! ```
//!
//! The types are sent with the first execution and need not be sent again. Values are in the binary protocol's encoding; what they
//! mean is not this crate's affair.

use crate::bytes::Cursor;
use crate::error::WireResult;
use crate::framing::PacketWriter;

/// Flags of `COM_STMT_EXECUTE`.
pub mod cursor_type {
    /// No cursor: the rows are sent at once.
    pub const NONE: u8 = 0;
    /// Rows are fetched by `COM_STMT_FETCH`.
    pub const READ_ONLY: u8 = 1;
}

/// A parameter's type as the client sent it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParameterType {
    /// One of [`field_type`](crate::column::field_type).
    pub field_type: u8,
    /// Integers: they are unsigned.
    pub unsigned: bool,
}

/// The parameters of one execution.
#[derive(Debug, Clone, Copy)]
pub struct Parameters<'a> {
    null_bitmap: &'a [u8],
    /// The values of those that are neither NULL nor sent as long data, one after the other.
    pub values: &'a [u8],
}

impl<'a> Parameters<'a> {
    /// Takes the parameters of a statement with `count` of them apart. `types` are those of the last execution and are replaced if
    /// new ones came.
    ///
    /// # Errors
    /// [`Malformed`](crate::WireError::Malformed) if something is missing, also if no types were ever sent.
    pub fn parse(
        payload: &'a [u8],
        count: usize,
        types: &mut Vec<ParameterType>,
    ) -> WireResult<Parameters<'a>> {
        let mut cursor = Cursor::new(payload, "COM_STMT_EXECUTE");
        if count == 0 {
            return Ok(Parameters {
                null_bitmap: &[],
                values: &[],
            });
        }
        let null_bitmap = cursor.take(count.div_ceil(8))?;
        if cursor.u8()? != 0 {
            types.clear();
            for pair in cursor.take(count * 2)?.chunks_exact(2) {
                types.push(ParameterType {
                    field_type: pair[0],
                    unsigned: pair[1] & 0x80 != 0,
                });
            }
        }
        if types.len() != count {
            return Err(cursor.malformed());
        }
        Ok(Parameters {
            null_bitmap,
            values: cursor.remaining(),
        })
    }

    /// The NULL bitmap: bit n of it stands for parameter n.
    pub fn null_bitmap(&self) -> &'a [u8] {
        self.null_bitmap
    }

    /// True if parameter `index` is NULL.
    pub fn is_null(&self, index: usize) -> bool {
        self.null_bitmap[index / 8] & (1 << (index % 8)) != 0
    }
}

/// Writes the first packet of the answer to `COM_STMT_PREPARE`.
pub fn write_prepared(
    writer: &mut PacketWriter,
    statement: u32,
    columns: u16,
    parameters: u16,
    warnings: u16,
) {
    let out = writer.begin();
    out.push(0);
    out.extend_from_slice(&statement.to_le_bytes());
    out.extend_from_slice(&columns.to_le_bytes());
    out.extend_from_slice(&parameters.to_le_bytes());
    out.push(0);
    out.extend_from_slice(&warnings.to_le_bytes());
    writer.end();
}

/// That packet as a client reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PreparedReceived {
    /// The statement's id.
    pub statement: u32,
    /// Columns of its result set; 0 if it has none.
    pub columns: u16,
    /// Its parameters.
    pub parameters: u16,
}

impl PreparedReceived {
    /// Reads the packet.
    pub fn decode(payload: &[u8]) -> WireResult<PreparedReceived> {
        let mut cursor = Cursor::new(payload, "prepare response");
        cursor.u8()?;
        Ok(PreparedReceived {
            statement: cursor.u32()?,
            columns: cursor.u16()?,
            parameters: cursor.u16()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::column::field_type;

    #[test]
    fn types_are_remembered() {
        let mut types = vec![];
        let payload = [
            0b10,
            1,
            field_type::LONG,
            0x80,
            field_type::VAR_STRING,
            0,
            7,
            0,
            0,
            0,
        ];
        let parameters = Parameters::parse(&payload, 2, &mut types).unwrap();
        assert!(!parameters.is_null(0) && parameters.is_null(1));
        assert_eq!(parameters.values, [7, 0, 0, 0]);
        assert_eq!(
            types[0],
            ParameterType {
                field_type: field_type::LONG,
                unsigned: true
            }
        );
        let parameters = Parameters::parse(&[0b11, 0], 2, &mut types).unwrap();
        assert!(parameters.is_null(0) && parameters.values.is_empty());
        assert_eq!(types.len(), 2);
    }

    #[test]
    fn values_without_types_are_refused() {
        assert!(Parameters::parse(&[0, 0, 1], 1, &mut vec![]).is_err());
        assert!(Parameters::parse(&[], 1, &mut vec![]).is_err());
        assert!(Parameters::parse(&[0, 1, 3], 1, &mut vec![]).is_err());
    }
}
