//! Prepared statements: the answer to `COM_STMT_PREPARE`, and the parameters of `COM_STMT_EXECUTE` and MariaDB's
//! `COM_STMT_BULK_EXECUTE`.
//!
//! ```text
//!   execute: statement (4) cursor type (1) iterations (4)
//!            then, if there are parameters: NULL bitmap ((n+7)/8), types follow (1), [type, flags] × n, values
//!   bulk:    statement (4) flags (2), if types follow: [type, flags] × n, then any number of sets:
//!            [indicator (1), if it is VALUE: the value] × n
//! ```
//!
//! The types are sent with the first execution and may be omitted later. Values are in the encoding of the binary
//! protocol, which this crate does not decode.

use crate::bytes::Cursor;
use crate::error::{WireError, WireResult};
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

/// Flags of `COM_STMT_BULK_EXECUTE`.
pub mod bulk_flag {
    /// The types of the parameters follow.
    pub const SEND_TYPES: u16 = 128;
}

/// Indicators of parameters in a bulk execution.
pub mod indicator {
    /// A value follows.
    pub const VALUE: u8 = 0;
    /// NULL.
    pub const NULL: u8 = 1;
    /// The column's default.
    pub const DEFAULT: u8 = 2;
    /// An UPDATE leaves the column as it is.
    pub const IGNORE: u8 = 3;
}

/// Sets of parameters of a `COM_STMT_BULK_EXECUTE`. One set is the current one, in the form of a `COM_STMT_EXECUTE`:
/// a NULL bitmap, and the values one after another.
#[derive(Debug)]
pub struct BulkParameters {
    payload: Vec<u8>,
    /// End of the current set in the payload.
    at: usize,
    types: Vec<ParameterType>,
    indicators: Vec<u8>,
    null_bitmap: Vec<u8>,
    values: Vec<u8>,
}

impl BulkParameters {
    /// Decodes the types of the parameters, if the payload begins with them, and the first set.
    ///
    /// # Errors
    /// [`Malformed`](crate::WireError::Malformed) if there are no types, no set, or anything that is missing.
    pub fn parse(
        payload: Vec<u8>,
        flags: u16,
        count: usize,
        types: &mut Vec<ParameterType>,
    ) -> WireResult<BulkParameters> {
        let mut cursor = Cursor::new(&payload, BULK);
        let mut at = 0;
        if flags & bulk_flag::SEND_TYPES != 0 {
            types.clear();
            for pair in cursor.take(count * 2)?.chunks_exact(2) {
                types.push(ParameterType {
                    field_type: pair[0],
                    unsigned: pair[1] & 0x80 != 0,
                });
            }
            at = count * 2;
        }
        if types.len() != count || count == 0 {
            return Err(cursor.malformed());
        }
        let mut all = BulkParameters {
            payload,
            at,
            types: types.clone(),
            indicators: vec![indicator::NULL; count],
            null_bitmap: vec![0; count.div_ceil(8)],
            values: Vec::new(),
        };
        match all.advance()? {
            true => Ok(all),
            false => Err(WireError::Malformed(BULK)),
        }
    }

    /// Decodes the next set. Returns false if there is none.
    ///
    /// # Errors
    /// [`Malformed`](crate::WireError::Malformed) if it is incomplete or has an unknown indicator.
    pub fn advance(&mut self) -> WireResult<bool> {
        let rest = &self.payload[self.at..];
        if rest.is_empty() {
            return Ok(false);
        }
        let mut cursor = Cursor::new(rest, BULK);
        self.values.clear();
        self.null_bitmap.fill(0);
        for (index, parameter) in self.types.iter().enumerate() {
            let given = cursor.u8()?;
            self.indicators[index] = given;
            match given {
                indicator::VALUE => self
                    .values
                    .extend_from_slice(take_value(&mut cursor, *parameter)?),
                indicator::NULL | indicator::DEFAULT | indicator::IGNORE => {
                    self.null_bitmap[index / 8] |= 1 << (index % 8);
                }
                _ => return Err(cursor.malformed()),
            }
        }
        self.at = self.payload.len() - cursor.rest().len();
        Ok(true)
    }

    /// Returns the types of the parameters.
    pub fn types(&self) -> &[ParameterType] {
        &self.types
    }

    /// Returns the [`indicator`] of each parameter of the current set.
    pub fn indicators(&self) -> &[u8] {
        &self.indicators
    }

    /// Returns the current set's NULL bitmap, which has a bit for each parameter without a value.
    pub fn null_bitmap(&self) -> &[u8] {
        &self.null_bitmap
    }

    /// Returns the values of the current set, one after another.
    pub fn values(&self) -> &[u8] {
        &self.values
    }
}

/// Name of the packet in errors.
const BULK: &str = "COM_STMT_BULK_EXECUTE";

/// Takes the encoding of a parameter's value.
fn take_value<'a>(cursor: &mut Cursor<'a>, parameter: ParameterType) -> WireResult<&'a [u8]> {
    use crate::column::field_type::*;
    let rest = cursor.rest();
    let mut inside = Cursor::new(rest, BULK);
    match parameter.field_type {
        NULL => {}
        TINY => drop(inside.take(1)?),
        SHORT | YEAR => drop(inside.take(2)?),
        LONG | INT24 | FLOAT => drop(inside.take(4)?),
        LONGLONG | DOUBLE => drop(inside.take(8)?),
        DATE | NEWDATE | TIME | TIME2 | DATETIME | DATETIME2 | TIMESTAMP | TIMESTAMP2 => {
            let length = inside.u8()?;
            inside.take(usize::from(length))?;
        }
        _ => drop(inside.lenenc_bytes()?),
    }
    let length = rest.len() - inside.rest().len();
    cursor.take(length)
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
    fn sets_of_parameters_are_taken_one_after_another() {
        let types = [field_type::VAR_STRING, 0, field_type::LONG, 0x80];
        let sets = [
            &[indicator::VALUE, 1, b'x', indicator::VALUE, 7, 0, 0, 0][..],
            &[indicator::DEFAULT, indicator::NULL],
            &[indicator::IGNORE, indicator::VALUE, 8, 0, 0, 0],
        ];
        let payload = [&types[..], &sets.concat()].concat();
        let mut known = vec![];
        let mut all = BulkParameters::parse(payload.clone(), bulk_flag::SEND_TYPES, 2, &mut known).unwrap();
        assert_eq!(
            (all.null_bitmap(), all.values()),
            (&[0][..], &[1, b'x', 7, 0, 0, 0][..])
        );
        assert!(all.advance().unwrap());
        assert_eq!((all.null_bitmap(), all.values()), (&[3][..], &[][..]));
        assert_eq!(all.indicators(), [indicator::DEFAULT, indicator::NULL]);
        assert!(all.advance().unwrap());
        assert_eq!((all.null_bitmap(), all.values()), (&[1][..], &[8, 0, 0, 0][..]));
        assert!(!all.advance().unwrap());
        // The types apply to later executions.
        assert!(BulkParameters::parse(sets.concat(), 0, 2, &mut known).is_ok());
        assert!(BulkParameters::parse(sets.concat(), 0, 2, &mut vec![]).is_err());
        // No set, a part of one, an unknown indicator.
        for malformed in [&[][..], &[indicator::NULL], &[9, indicator::NULL], &[0, 200, 1]] {
            assert!(BulkParameters::parse(malformed.to_vec(), 0, 2, &mut known).is_err());
        }
        for length in 0..payload.len() {
            if let Ok(mut all) =
                BulkParameters::parse(payload[..length].to_vec(), bulk_flag::SEND_TYPES, 2, &mut vec![])
            {
                while let Ok(true) = all.advance() {}
            }
        }
    }

    #[test]
    fn values_without_types_are_refused() {
        assert!(Parameters::parse(&[0, 0, 1], 1, &mut vec![]).is_err());
        assert!(Parameters::parse(&[], 1, &mut vec![]).is_err());
        assert!(Parameters::parse(&[0, 1, 3], 1, &mut vec![]).is_err());
    }
}
