//! Store of rows that are returned in the order of their arrival: in memory up to a limit, then in a temporary file.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};

use paceline_types::Value;
use paceline_types::error_code::ER_ERROR_ON_WRITE;

use super::memory::row_bytes;
use super::row_codec::RowCodec;
use crate::error::{Error, Result};

/// Maximum memory of the rows of one store in bytes. Further rows are written to a file.
const STORED_ROWS_MEMORY_MAX: usize = 256 << 10;

/// Collector of rows; [`RowStore::finish`] returns them.
#[derive(Debug, Default)]
pub struct RowStore {
    memory: VecDeque<Vec<Value>>,
    bytes: usize,
    codec: RowCodec,
    file: Option<BufWriter<File>>,
    encoded: Vec<u8>,
    rows: u64,
}

/// Rows of a [`RowStore`], oldest first.
#[derive(Debug)]
pub struct StoredRows {
    memory: VecDeque<Vec<Value>>,
    memory_bytes: usize,
    codec: RowCodec,
    file: Option<BufReader<File>>,
    left: u64,
}

impl RowStore {
    /// Adds a row.
    ///
    /// # Errors
    /// 1026 if the temporary file cannot be written.
    pub fn push(&mut self, row: &[Value]) -> Result<()> {
        self.rows += 1;
        self.bytes += row_bytes(row);
        if self.bytes <= STORED_ROWS_MEMORY_MAX {
            self.memory.push_back(row.to_vec());
            return Ok(());
        }
        self.spill(row).map_err(|error| of_file(&error))
    }

    fn spill(&mut self, row: &[Value]) -> std::io::Result<()> {
        self.encoded.clear();
        self.codec.encode(row, &mut self.encoded);
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(BufWriter::new(tempfile::tempfile()?)),
        };
        file.write_all(&(self.encoded.len() as u64).to_le_bytes())?;
        file.write_all(&self.encoded)
    }

    /// Ends the collection.
    ///
    /// # Errors
    /// 1026 if the temporary file cannot be written.
    pub fn finish(self) -> Result<StoredRows> {
        let rewound = self.file.map(|file| {
            let mut file = file.into_inner().map_err(|error| error.into_error())?;
            file.seek(SeekFrom::Start(0))?;
            Ok(BufReader::new(file))
        });
        Ok(StoredRows {
            memory: self.memory,
            memory_bytes: self.bytes.min(STORED_ROWS_MEMORY_MAX),
            codec: self.codec,
            file: rewound
                .transpose()
                .map_err(|error: std::io::Error| of_file(&error))?,
            left: self.rows,
        })
    }
}

impl StoredRows {
    /// Returns the maximum memory of the rows in bytes.
    pub fn memory_bytes(&self) -> usize {
        self.memory_bytes
    }

    /// Returns the number of remaining rows.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// Returns the next row.
    ///
    /// # Errors
    /// 1026 if the temporary file cannot be read.
    pub fn next_row(&mut self) -> Result<Option<Vec<Value>>> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        match (self.memory.pop_front(), &mut self.file) {
            (Some(row), _) => Ok(Some(row)),
            (None, Some(file)) => read(file, &self.codec).map(Some).map_err(|error| of_file(&error)),
            (None, None) => Ok(None),
        }
    }
}

fn read(file: &mut BufReader<File>, codec: &RowCodec) -> std::io::Result<Vec<Value>> {
    let mut length = [0; 8];
    file.read_exact(&mut length)?;
    let mut bytes = vec![0; u64::from_le_bytes(length) as usize];
    file.read_exact(&mut bytes)?;
    codec
        .decode(&bytes)
        .ok_or_else(|| std::io::Error::other("a temporary file is damaged"))
}

fn of_file(error: &std::io::Error) -> Error {
    Error::new(
        ER_ERROR_ON_WRITE,
        &[&"(temporary)", &error.raw_os_error().unwrap_or_default()],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_returned_in_order() {
        for rows in [0, 1, 100, 20_000] {
            let mut store = RowStore::default();
            for number in 0..rows {
                store
                    .push(&[
                        Value::Int(number),
                        Value::Text(format!("row {number}")),
                        Value::Null,
                    ])
                    .unwrap();
            }
            assert!(store.memory.len() < 10_000);
            let mut stored = store.finish().unwrap();
            for number in 0..rows {
                assert_eq!(stored.left(), (rows - number) as u64);
                let row = stored.next_row().unwrap().unwrap();
                assert_eq!(
                    row[..2],
                    [Value::Int(number), Value::Text(format!("row {number}"))]
                );
            }
            assert_eq!((stored.next_row().unwrap(), stored.left()), (None, 0));
        }
    }

    #[test]
    fn a_long_row_is_written_to_the_file() {
        let mut store = RowStore::default();
        let long = "x".repeat(STORED_ROWS_MEMORY_MAX);
        store.push(&[Value::Text(long.clone())]).unwrap();
        store.push(&[Value::Int(1)]).unwrap();
        assert!(store.memory.is_empty());
        let mut stored = store.finish().unwrap();
        assert_eq!(stored.next_row().unwrap(), Some(vec![Value::Text(long)]));
        assert_eq!(stored.next_row().unwrap(), Some(vec![Value::Int(1)]));
    }
}
