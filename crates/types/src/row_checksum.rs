//! Checksum of a row for `CHECKSUM TABLE`, as MariaDB computes it for an InnoDB table.
//!
//! ```text
//!   CRC-32 of:  NULL bits │ every column that is not NULL, as in MariaDB's record
//!
//!   NULL bits: [1, unless the table has a column of variable length] one bit for each nullable column, 1 for NULL;
//!              unused bits of the last byte are 1; no byte if there are no bits
//! ```
//!
//! In the record a column has the same bytes as in a row image ([`crate::row_image`]), with these differences: lengths
//! are omitted, CHAR is padded with spaces to the bytes of its longest possible text, BINARY is padded with zero bytes,
//! and UUID, INET6 and INET4 are as in a sort key. The checksum of a table is the sum over its rows, modulo 2³². The
//! sources are MariaDB's `handler::calculate_checksum` and the answers of MariaDB 10.11 (`tests/sql`).

use crate::data_type::DataType;
use crate::error::Result;
use crate::fixed_binary::FixedBinaryType;
use crate::row_image::RowImage;

/// Checksum algorithm for the rows of one table.
#[derive(Clone, Debug)]
pub struct RowChecksum {
    /// Indexes of the nullable columns.
    nullable: Vec<usize>,
    /// Form of each column in MariaDB's record.
    forms: Vec<RecordForm>,
    /// Number of bits before the first column's bit.
    first_bit: usize,
}

/// Form of a column in MariaDB's record.
#[derive(Clone, Copy, Debug)]
enum RecordForm {
    /// The bytes of the row image.
    AsPacked,
    /// The bytes of the row image, padded with a byte to this length.
    Padded { byte: u8, length: usize },
    /// The bytes of the sort key.
    SortKey(FixedBinaryType),
}

impl RowChecksum {
    /// Creates the algorithm for a table from its columns' types and nullability.
    pub fn new<'a>(columns: impl IntoIterator<Item = (&'a DataType, bool)>) -> Self {
        let mut checksum = RowChecksum {
            nullable: Vec::new(),
            forms: Vec::new(),
            first_bit: 1,
        };
        for (number, (data_type, is_nullable)) in columns.into_iter().enumerate() {
            if is_nullable {
                checksum.nullable.push(number);
            }
            checksum.forms.push(match data_type {
                DataType::Char { length, .. } => {
                    let bytes = data_type.charset().max_bytes_per_character() as usize;
                    RecordForm::Padded {
                        byte: b' ',
                        length: usize::from(*length) * bytes,
                    }
                }
                DataType::Binary { length } => RecordForm::Padded {
                    byte: 0,
                    length: usize::from(*length),
                },
                DataType::FixedBinary(t) => RecordForm::SortKey(*t),
                _ => RecordForm::AsPacked,
            });
            if matches!(
                data_type,
                DataType::VarChar { .. }
                    | DataType::VarBinary { .. }
                    | DataType::Text { .. }
                    | DataType::Blob { .. }
                    | DataType::Json
            ) {
                checksum.first_bit = 0;
            }
        }
        checksum
    }

    /// Returns the checksum of a row.
    ///
    /// # Errors
    /// If the image does not belong to this table.
    pub fn of(&self, image: &RowImage<'_>) -> Result<u32> {
        let mut crc = crc32fast::Hasher::new();
        crc.update(&self.null_bits(image));
        let mut columns = image.columns();
        for (number, form) in self.forms.iter().enumerate() {
            debug_assert_eq!(columns.position(), number);
            let Some(packed) = columns.next_packed()? else {
                continue;
            };
            match form {
                RecordForm::AsPacked => crc.update(packed),
                RecordForm::Padded { byte, length } => {
                    const CHUNK: usize = 64;
                    crc.update(packed);
                    let mut missing = length.saturating_sub(packed.len());
                    while missing > 0 {
                        let now = missing.min(CHUNK);
                        crc.update(&[*byte; CHUNK][..now]);
                        missing -= now;
                    }
                }
                RecordForm::SortKey(t) => {
                    let mut key = Vec::with_capacity(t.bytes());
                    t.padded(packed).append_sort_key(&mut key);
                    crc.update(&key);
                }
            }
        }
        Ok(crc.finalize())
    }

    fn null_bits(&self, image: &RowImage<'_>) -> Vec<u8> {
        let bits = self.first_bit + self.nullable.len();
        // Unused bits are set. Clear the used ones first.
        let mut bytes = vec![0xff; bits.div_ceil(8)];
        for (bit, column) in (self.first_bit..).zip(&self.nullable) {
            if !image.is_null(*column) {
                bytes[bit / 8] &= !(1 << (bit % 8));
            }
        }
        bytes
    }
}
