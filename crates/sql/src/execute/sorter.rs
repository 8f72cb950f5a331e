//! Sorting rows by keys: in memory, keeping only the first N where LIMIT says so, and in a temporary file past a limit.
//!
//! ```text
//!   push ─▶ memory ──full──▶ sorted run in a temporary file ─┐
//!             └──────────────── sort ────────────────────────┴─ merge ─▶ rows in order
//! ```
//!
//! The key's bytes decide; rows with equal keys come in the order in which they were pushed.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::ControlFlow;

use paceline_types::Value;
use paceline_types::error_code::ER_OUT_OF_SORTMEMORY;

use super::memory::{SORT_MEMORY_MAX, row_bytes};
use super::row_codec::RowCodec;
use crate::error::{Error, Result};

/// A row with its key. Ordered by key, then by arrival.
#[derive(Debug, PartialEq)]
struct Entry {
    key: Box<[u8]>,
    number: u64,
    row: Vec<Value>,
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (&self.key, self.number).cmp(&(&other.key, other.number))
    }
}

/// Takes rows with their keys, in order, until it breaks.
pub(crate) type VisitKeyed<'v> = &'v mut dyn FnMut(&[u8], Vec<Value>) -> Result<ControlFlow<()>>;

/// Collects rows and gives them back in order.
#[derive(Debug)]
pub(crate) struct Sorter {
    /// Only so many rows are wanted.
    first: Option<usize>,
    /// With `first`: the best so far, the worst of them on top.
    heap: BinaryHeap<Entry>,
    entries: Vec<Entry>,
    bytes: usize,
    pushed: u64,
    memory_max: usize,
    codec: RowCodec,
    runs: Vec<File>,
}

/// Keeping the first N pays only for an N that fits comfortably.
const HEAP_ROWS_MAX: usize = 100_000;

impl Sorter {
    /// A sorter of all rows, or of the first so many.
    pub fn new(first: Option<u64>) -> Self {
        Self::with_memory(first, SORT_MEMORY_MAX)
    }

    fn with_memory(first: Option<u64>, memory_max: usize) -> Self {
        let first = first
            .and_then(|first| usize::try_from(first).ok())
            .filter(|first| *first <= HEAP_ROWS_MAX);
        Sorter {
            first,
            heap: BinaryHeap::new(),
            entries: Vec::new(),
            bytes: 0,
            pushed: 0,
            memory_max,
            codec: RowCodec::default(),
            runs: Vec::new(),
        }
    }

    /// Whether a row with this key would be thrown away at once.
    pub fn rejects(&self, key: &[u8]) -> bool {
        match self.first {
            Some(0) => true,
            Some(first) => {
                self.heap.len() >= first && self.heap.peek().is_some_and(|worst| *worst.key <= *key)
            }
            None => false,
        }
    }

    /// Takes a row, and a copy of its key.
    ///
    /// # Errors
    /// 1038 when the temporary file cannot be written.
    pub fn push(&mut self, key: &[u8], row: Vec<Value>) -> Result<()> {
        let number = self.pushed;
        self.pushed += 1;
        if let Some(first) = self.first {
            if self.rejects(key) {
                return Ok(());
            }
            self.heap.push(Entry {
                key: key.into(),
                number,
                row,
            });
            if self.heap.len() > first {
                self.heap.pop();
            }
            return Ok(());
        }
        self.bytes += key.len() + row_bytes(&row) + size_of::<Entry>();
        self.entries.push(Entry {
            key: key.into(),
            number,
            row,
        });
        if self.bytes > self.memory_max {
            self.spill().map_err(|error| sort_error(&error))?;
        }
        Ok(())
    }

    fn spill(&mut self) -> std::io::Result<()> {
        let mut entries = std::mem::take(&mut self.entries);
        self.bytes = 0;
        entries.sort_unstable();
        let mut file = BufWriter::with_capacity(1 << 20, tempfile::tempfile()?);
        let mut bytes = Vec::new();
        for entry in &entries {
            bytes.clear();
            self.codec.encode(&entry.row, &mut bytes);
            file.write_all(&(entry.key.len() as u32).to_le_bytes())?;
            file.write_all(&(bytes.len() as u32).to_le_bytes())?;
            file.write_all(&entry.number.to_le_bytes())?;
            file.write_all(&entry.key)?;
            file.write_all(&bytes)?;
        }
        let mut file = file.into_inner().map_err(|error| error.into_error())?;
        file.seek(SeekFrom::Start(0))?;
        self.runs.push(file);
        Ok(())
    }

    /// Gives the rows in order until `visit` has enough.
    ///
    /// # Errors
    /// 1038 when the temporary file cannot be read; what `visit` meets.
    pub fn finish(self, visit: &mut dyn FnMut(Vec<Value>) -> Result<ControlFlow<()>>) -> Result<()> {
        self.finish_keyed(&mut |_, row| visit(row))
    }

    /// As [`Sorter::finish`], each row with its key.
    ///
    /// # Errors
    /// 1038 when the temporary file cannot be read; what `visit` meets.
    pub fn finish_keyed(mut self, visit: VisitKeyed<'_>) -> Result<()> {
        if self.first.is_some() {
            self.entries = std::mem::take(&mut self.heap).into_vec();
        }
        self.entries.sort_unstable();
        let memory = std::mem::take(&mut self.entries);
        if self.runs.is_empty() {
            for entry in memory {
                if visit(&entry.key, entry.row)?.is_break() {
                    break;
                }
            }
            return Ok(());
        }
        let mut runs: Vec<Run> = std::mem::take(&mut self.runs)
            .into_iter()
            .map(|file| Run::File(BufReader::with_capacity(256 << 10, file)))
            .collect();
        runs.push(Run::Memory(memory.into_iter()));
        let mut heads = BinaryHeap::with_capacity(runs.len());
        for (number, run) in runs.iter_mut().enumerate() {
            if let Some(entry) = run.next(&self.codec).map_err(|error| sort_error(&error))? {
                heads.push(Reverse((entry, number)));
            }
        }
        while let Some(Reverse((entry, number))) = heads.pop() {
            if visit(&entry.key, entry.row)?.is_break() {
                break;
            }
            if let Some(next) = runs[number]
                .next(&self.codec)
                .map_err(|error| sort_error(&error))?
            {
                heads.push(Reverse((next, number)));
            }
        }
        Ok(())
    }
}

enum Run {
    File(BufReader<File>),
    Memory(std::vec::IntoIter<Entry>),
}

impl Run {
    fn next(&mut self, codec: &RowCodec) -> std::io::Result<Option<Entry>> {
        let file = match self {
            Run::Memory(entries) => return Ok(entries.next()),
            Run::File(file) => file,
        };
        let mut head = [0; 16];
        match file.read_exact(&mut head[..1]) {
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(None),
            result => result?,
        }
        file.read_exact(&mut head[1..])?;
        let length =
            |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]) as usize;
        let number = u64::from_le_bytes(head[8..].try_into().expect("eight bytes"));
        let mut key = vec![0; length(0)].into_boxed_slice();
        file.read_exact(&mut key)?;
        let mut bytes = vec![0; length(4)];
        file.read_exact(&mut bytes)?;
        let row = codec
            .decode(&bytes)
            .ok_or_else(|| std::io::Error::other("a temporary file is damaged"))?;
        Ok(Some(Entry { key, number, row }))
    }
}

fn sort_error(error: &std::io::Error) -> Error {
    Error::with_message(
        ER_OUT_OF_SORTMEMORY,
        format!("Out of sort memory: the temporary file failed: {error}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(mut sorter: Sorter, numbers: impl IntoIterator<Item = i64>) -> Vec<i64> {
        for number in numbers {
            sorter
                .push(&(number as u64).to_be_bytes(), vec![Value::Int(number)])
                .unwrap();
        }
        let mut result = Vec::new();
        sorter
            .finish(&mut |row| {
                match row[..] {
                    [Value::Int(number)] => result.push(number),
                    _ => panic!("another row came back"),
                }
                Ok(ControlFlow::Continue(()))
            })
            .unwrap();
        result
    }

    #[test]
    fn runs_on_disk_are_merged() {
        let numbers = (0..10_000i64).map(|number| number * 7_919 % 10_007);
        let mut expected: Vec<i64> = numbers.clone().collect();
        expected.sort_unstable();
        assert_eq!(sorted(Sorter::with_memory(None, 50_000), numbers), expected);
    }

    #[test]
    fn only_the_first_are_kept() {
        let sorter = Sorter::new(Some(3));
        assert_eq!(sorted(sorter, [5, 1, 4, 2, 3]), [1, 2, 3]);
        assert_eq!(sorted(Sorter::new(Some(0)), [5, 1]), [0i64; 0]);
    }
}
