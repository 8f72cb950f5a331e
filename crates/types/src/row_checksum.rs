//! The checksum of a row that `CHECKSUM TABLE` adds up, as MariaDB computes it for a table of InnoDB.
//!
//! ```text
//!   CRC-32 of:  NULL bits │ every column that is not NULL, as it lies in MariaDB's record
//!
//!   NULL bits: [1, unless the table has a column of variable length] a bit for each column that can be NULL, 1 for NULL;
//!              unused bits of the last byte are 1; no byte where there is no bit
//! ```
//!
//! A column lies in the record as in a row image ([`crate::row_image`]), except that lengths are left out, CHAR is filled up with spaces to the bytes
//! that its longest text could take, and BINARY with zero bytes. The checksum of a table is the sum of its rows', modulo 2³². The source is
//! `handler::calculate_checksum` of MariaDB, and what MariaDB 10.11 answers (`tests/sql`).

use crate::data_type::DataType;
use crate::error::Result;
use crate::row_image::RowImage;

/// How rows of one table are summed.
#[derive(Clone, Debug)]
pub struct RowChecksum {
    /// For each column that can be NULL its number.
    nullable: Vec<usize>,
    /// What each column is filled up with, and to how many bytes.
    padding: Vec<Option<(u8, usize)>>,
    /// Bits in front of the first column's.
    first_bit: usize,
}

impl RowChecksum {
    /// For a table with these columns: their types, and whether they can be NULL.
    pub fn new<'a>(columns: impl IntoIterator<Item = (&'a DataType, bool)>) -> Self {
        let mut checksum = RowChecksum {
            nullable: Vec::new(),
            padding: Vec::new(),
            first_bit: 1,
        };
        for (number, (data_type, is_nullable)) in columns.into_iter().enumerate() {
            if is_nullable {
                checksum.nullable.push(number);
            }
            checksum.padding.push(match data_type {
                DataType::Char { length, .. } => {
                    let bytes = data_type.charset().max_bytes_per_character() as usize;
                    Some((b' ', usize::from(*length) * bytes))
                }
                DataType::Binary { length } => Some((0, usize::from(*length))),
                _ => None,
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

    /// The checksum of a row.
    ///
    /// # Errors
    /// If the image is not one of this table.
    pub fn of(&self, image: &RowImage<'_>) -> Result<u32> {
        let mut crc = crc32fast::Hasher::new();
        crc.update(&self.null_bits(image));
        let mut columns = image.columns();
        for (number, padding) in self.padding.iter().enumerate() {
            debug_assert_eq!(columns.position(), number);
            let Some(packed) = columns.next_packed()? else {
                continue;
            };
            crc.update(packed);
            if let Some((byte, length)) = padding {
                const CHUNK: usize = 64;
                let mut missing = length.saturating_sub(packed.len());
                while missing > 0 {
                    let now = missing.min(CHUNK);
                    crc.update(&[*byte; CHUNK][..now]);
                    missing -= now;
                }
            }
        }
        Ok(crc.finalize())
    }

    fn null_bits(&self, image: &RowImage<'_>) -> Vec<u8> {
        let bits = self.first_bit + self.nullable.len();
        // Bits that mean nothing are set; those that do are cleared first.
        let mut bytes = vec![0xff; bits.div_ceil(8)];
        for (bit, column) in (self.first_bit..).zip(&self.nullable) {
            if !image.is_null(*column) {
                bytes[bit / 8] &= !(1 << (bit % 8));
            }
        }
        bytes
    }
}
