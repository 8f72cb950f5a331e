//! Prepared statements: the answer to `COM_STMT_PREPARE`, and the parameters of `COM_STMT_EXECUTE`.
//!
//! ```text
//!   execute: statement (4) cursor type (1) iterations (4)
//!            then, if there are parameters: NULL bitmap ((n+7)/8), types follow (1), [type, flags] × n, values
//! ```
//!
//! The types are sent with the first execution and may be omitted later. Values are in the encoding of the binary
//! protocol, which this crate does not decode.

use crate::bytes::Cursor;
use crate::error::WireResult;
use crate::framing::PacketWriter;

/// Cursor types of `COM_STMT_EXECUTE`.
pub mod cursor_type {
    /// No cursor: the rows are sent at once.
    pub const NONE: u8 = 0;
    /// The rows are fetched with `COM_STMT_FETCH`.
    pub const READ_ONLY: u8 = 1;
}

/// Type of a parameter, as the client has sent it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParameterType {
    /// Type code, one of [`field_type`](crate::column::field_type).
    pub field_type: u8,
    /// Whether an integer is unsigned.
    pub unsigned: bool,
}

/// The parameters of one execution.
#[derive(Debug, Clone, Copy)]
pub struct Parameters<'a> {
    null_bitmap: &'a [u8],
    /// Values of the parameters that are neither NULL nor sent as long data, one after another.
    pub values: &'a [u8],
}

impl<'a> Parameters<'a> {
    /// Decodes the parameters of a statement with `count` parameters. `types` are those of the previous execution;
    /// new types in the payload replace them.
    ///
    /// # Errors
    /// [`Malformed`](crate::WireError::Malformed) if a part is missing, also if no types have ever been sent.
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

    /// Returns the NULL bitmap, in which bit n belongs to parameter n.
    pub fn null_bitmap(&self) -> &'a [u8] {
        self.null_bitmap
    }

    /// Returns whether parameter `index` is NULL.
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

/// The first packet of the answer to `COM_STMT_PREPARE`, as a client has received it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PrepareReply {
    /// Id of the statement.
    pub statement: u32,
    /// Number of columns of the result set; 0 if there is none.
    pub columns: u16,
    /// Number of parameters.
    pub parameters: u16,
}

impl PrepareReply {
    /// Decodes the packet.
    pub fn decode(payload: &[u8]) -> WireResult<PrepareReply> {
        let mut cursor = Cursor::new(payload, "prepare response");
        cursor.u8()?;
        Ok(PrepareReply {
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
    fn types_of_the_first_execution_apply_to_later_ones() {
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
