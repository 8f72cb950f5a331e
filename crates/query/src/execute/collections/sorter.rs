//! Sorter of rows by keys: in memory, with a limit only the first N, and in temporary files beyond a memory limit.
//!
//! ```text
//!   push ─▶ memory ──full──▶ sorted run in a temporary file ─┐
//!             └──────────────── sort ────────────────────────┴─ merge ─▶ rows in order
//! ```
//!
//! Rows are sorted by the bytes of their keys. Rows with equal keys stay in the order of arrival.
//!
//! The session's memory is shared with other collections. If it is used up, the sort continues in files earlier.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::ControlFlow;
use std::time::Instant;

use paceline_expression::session::StatementCounts;
use paceline_types::Value;
use paceline_types::error_code::ER_OUT_OF_SORTMEMORY;

use super::memory::{Reservation, SORT_MEMORY_MAX, row_bytes};
use super::row_codec::RowCodec;
use crate::error::{Error, Result};

/// A row with its key, ordered by key, then by arrival.
#[derive(Debug, PartialEq)]
struct Entry {
    key: Box<[u8]>,
    number: u64,
    row: Vec<Value>,
}

impl Eq for Entry {}

impl Entry {
    fn memory_bytes(&self) -> usize {
        self.key.len() + row_bytes(&self.row) + size_of::<Entry>()
    }
}

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

/// Origin of the rows that are sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SortedRows {
    /// The first table was read by an index that narrows the search.
    OfRange,
    /// It was not.
    OfScan,
    /// They are a temporary result. As in MariaDB only their places are sorted.
    Temporary,
}

/// Consumer of rows with their keys, in order, until it breaks.
pub(crate) type RowVisitor<'v> = &'v mut dyn FnMut(&[u8], Vec<Value>) -> Result<ControlFlow<()>>;

/// Collects rows and returns them in order.
#[derive(Debug)]
pub(crate) struct Sorter {
    /// Only this number of rows is wanted.
    first: Option<usize>,
    /// With `first`: the best rows so far, the worst of them on top.
    heap: BinaryHeap<Entry>,
    entries: Vec<Entry>,
    memory: Reservation,
    pushed: u64,
    memory_max: usize,
    codec: RowCodec,
    runs: Vec<File>,
    /// Number of temporary files that were written.
    files: u64,
    /// Start of the collection, if it is measured.
    started: Option<Instant>,
}

/// Maximum N for which keeping only the first N is worthwhile.
const HEAP_ROWS_MAX: usize = 100_000;

/// Minimum size of a run in bytes. If less memory is available, the sort fails.
pub(crate) const RUN_BYTES_MIN: usize = 1 << 20;

/// Maximum number of runs before they are merged. Each run is an open file with its own buffer.
const RUNS_MAX: usize = 128;

impl Sorter {
    /// Creates a sorter of all rows, or of the first `first` rows.
    pub fn new(first: Option<u64>, memory: Reservation) -> Self {
        Self::with_memory(first, memory, SORT_MEMORY_MAX)
    }

    fn with_memory(first: Option<u64>, memory: Reservation, memory_max: usize) -> Self {
        let first = first
            .and_then(|first| usize::try_from(first).ok())
            .filter(|first| *first <= HEAP_ROWS_MAX);
        let started = memory.measure().map(|measure| {
            measure.add_sorts(|sorts| {
                sorts.loops += 1;
                sorts.limit = first.map(|first| first as u64);
            });
            Instant::now()
        });
        Sorter {
            first,
            heap: BinaryHeap::new(),
            entries: Vec::new(),
            memory,
            pushed: 0,
            memory_max,
            codec: RowCodec::default(),
            runs: Vec::new(),
            files: 0,
            started,
        }
    }

    /// Returns whether a row with this key would be discarded immediately.
    pub fn rejects(&self, key: &[u8]) -> bool {
        match self.first {
            Some(0) => true,
            Some(first) => {
                self.heap.len() >= first && self.heap.peek().is_some_and(|worst| *worst.key <= *key)
            }
            None => false,
        }
    }

    /// Adds a row, and a copy of its key.
    ///
    /// # Errors
    /// 1038 if the temporary file cannot be written; 1290 or 1041 if there is not even memory for one run.
    pub fn push(&mut self, key: &[u8], row: Vec<Value>) -> Result<()> {
        if self.rejects(key) {
            return Ok(());
        }
        let entry = Entry {
            key: key.into(),
            number: self.pushed,
            row,
        };
        self.pushed += 1;
        let bytes = entry.memory_bytes();
        if let Err(refused) = self.memory.take(bytes) {
            if self.memory.bytes() < RUN_BYTES_MIN {
                return Err(refused);
            }
            self.first = None;
            self.entries
                .append(&mut std::mem::take(&mut self.heap).into_vec());
            self.spill()?;
            self.memory.take(bytes)?;
        }
        if let Some(first) = self.first {
            self.heap.push(entry);
            if self.heap.len() > first
                && let Some(worst) = self.heap.pop()
            {
                self.memory.give_back(worst.memory_bytes());
            }
            return Ok(());
        }
        self.entries.push(entry);
        if self.memory.bytes() > self.memory_max {
            self.spill()?;
        }
        Ok(())
    }

    /// Writes the rows in memory to a file, and releases the memory.
    ///
    /// # Errors
    /// 1038 if the file cannot be written.
    pub fn spill(&mut self) -> Result<()> {
        let started = self.started.map(|_| Instant::now());
        let mut entries = std::mem::take(&mut self.entries);
        entries.sort_unstable();
        self.write_run(|write| entries.iter().try_for_each(write))
            .map_err(|error| sort_error(&error))?;
        drop(entries);
        self.memory.clear();
        if self.runs.len() >= RUNS_MAX {
            self.merge_runs().map_err(|error| sort_error(&error))?;
        }
        if let (Some(measure), Some(started)) = (self.memory.measure(), started) {
            measure.add_sorts(|sorts| {
                sorts.runs += 1;
                sorts.sort_time += started.elapsed();
            });
        }
        Ok(())
    }

    /// Writes a run of the entries that `give` passes on, in order.
    fn write_run(
        &mut self,
        give: impl FnOnce(&mut dyn FnMut(&Entry) -> std::io::Result<()>) -> std::io::Result<()>,
    ) -> std::io::Result<()> {
        let mut file = BufWriter::with_capacity(1 << 20, tempfile::tempfile()?);
        let mut bytes = Vec::new();
        let codec = &mut self.codec;
        give(&mut |entry| {
            bytes.clear();
            codec.encode(&entry.row, &mut bytes);
            file.write_all(&(entry.key.len() as u32).to_le_bytes())?;
            file.write_all(&(bytes.len() as u32).to_le_bytes())?;
            file.write_all(&entry.number.to_le_bytes())?;
            file.write_all(&entry.key)?;
            file.write_all(&bytes)
        })?;
        let mut file = file.into_inner().map_err(|error| error.into_error())?;
        file.seek(SeekFrom::Start(0))?;
        self.runs.push(file);
        self.files += 1;
        Ok(())
    }

    /// Merges all runs into one.
    fn merge_runs(&mut self) -> std::io::Result<()> {
        let runs = std::mem::take(&mut self.runs).into_iter().map(Run::of_file);
        // The codec contains the labels of ENUM and SET values: use the same one for reading and writing.
        let reader = self.codec.clone();
        let mut merge = Merge::new(runs.collect(), &reader)?;
        self.write_run(|write| {
            while let Some(entry) = merge.next(&reader)? {
                write(&entry)?;
            }
            Ok(())
        })
    }

    /// Returns the number of rows of the result.
    pub fn rows(&self) -> u64 {
        match self.first {
            Some(_) => self.heap.len() as u64,
            None => self.pushed,
        }
    }

    /// Counts the sort of all rows that were pushed, which were found as `rows` says.
    pub fn count(&self, rows: SortedRows, counts: &mut StatementCounts) {
        match rows {
            SortedRows::OfRange => counts.sort_range += 1,
            SortedRows::OfScan => counts.sort_scan += 1,
            SortedRows::Temporary => {
                counts.sort_scan += 1;
                counts.handler_read_rnd += self.rows();
                counts.rows_tmp_read += self.rows();
            }
        }
        counts.sort_rows += self.rows();
        counts.sort_priority_queue_sorts += u64::from(self.first.is_some());
        counts.sort_merge_passes += u64::from(!self.runs.is_empty());
        counts.created_tmp_files += self.files;
    }

    /// Passes the rows with their keys to `visit` in order, until it breaks.
    ///
    /// # Errors
    /// 1038 if the temporary file cannot be read; the errors of `visit`.
    pub fn finish_keyed(self, visit: RowVisitor<'_>) -> Result<()> {
        let Some(measure) = self.memory.measure().cloned() else {
            return self.pass(visit);
        };
        let mut taken = 0;
        let result = self.pass(&mut |key, row| {
            taken += 1;
            visit(key, row)
        });
        measure.add_sorts(|sorts| sorts.rows_taken += taken);
        result
    }

    /// Notes that the rows are sorted. `started`: when the last step of sorting began.
    #[cold]
    fn note_sorted(&self, started: Instant) {
        let (Some(measure), Some(collected)) = (self.memory.measure(), self.started) else {
            return;
        };
        measure.add_sorts(|sorts| {
            sorts.heaps += u64::from(self.first.is_some());
            sorts.rows += match self.first {
                Some(_) => self.entries.len() as u64,
                None => self.pushed,
            };
            sorts.sort_time += started.elapsed();
            sorts.time += collected.elapsed();
        });
    }

    fn pass(mut self, visit: RowVisitor<'_>) -> Result<()> {
        let started = self.started.map(|_| Instant::now());
        if self.first.is_some() {
            self.entries = std::mem::take(&mut self.heap).into_vec();
        }
        self.entries.sort_unstable();
        if let Some(started) = started {
            self.note_sorted(started);
        }
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
            .map(Run::of_file)
            .collect();
        runs.push(Run::Memory(memory.into_iter()));
        let mut merge = Merge::new(runs, &self.codec).map_err(|error| sort_error(&error))?;
        while let Some(entry) = merge.next(&self.codec).map_err(|error| sort_error(&error))? {
            if visit(&entry.key, entry.row)?.is_break() {
                break;
            }
        }
        Ok(())
    }
}

/// Merge of sorted runs.
struct Merge {
    runs: Vec<Run>,
    /// Next entry of each run that is not exhausted, with the index of the run.
    heads: BinaryHeap<Reverse<(Entry, usize)>>,
}

impl Merge {
    fn new(mut runs: Vec<Run>, codec: &RowCodec) -> std::io::Result<Self> {
        let mut heads = BinaryHeap::with_capacity(runs.len());
        for (number, run) in runs.iter_mut().enumerate() {
            if let Some(entry) = run.next(codec)? {
                heads.push(Reverse((entry, number)));
            }
        }
        Ok(Merge { runs, heads })
    }

    fn next(&mut self, codec: &RowCodec) -> std::io::Result<Option<Entry>> {
        let Some(Reverse((entry, number))) = self.heads.pop() else {
            return Ok(None);
        };
        if let Some(next) = self.runs[number].next(codec)? {
            self.heads.push(Reverse((next, number)));
        }
        Ok(Some(entry))
    }
}

enum Run {
    File(BufReader<File>),
    Memory(std::vec::IntoIter<Entry>),
}

impl Run {
    fn of_file(file: File) -> Self {
        Run::File(BufReader::with_capacity(256 << 10, file))
    }

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
    use super::super::memory::Budget;
    use super::*;
    use paceline_expression::session::SessionMemory;

    fn unlimited() -> Reservation {
        Budget::new(&SessionMemory::unlimited()).part()
    }

    fn sorted(mut sorter: Sorter, numbers: impl IntoIterator<Item = i64>) -> Vec<i64> {
        for number in numbers {
            sorter
                .push(&(number as u64).to_be_bytes(), vec![Value::Int(number)])
                .unwrap();
        }
        let mut result = Vec::new();
        sorter
            .finish_keyed(&mut |_, row| {
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
        // With few runs, and with more than the maximum.
        for memory_max in [50_000, 2_000] {
            let sorter = Sorter::with_memory(None, unlimited(), memory_max);
            assert_eq!(sorted(sorter, numbers.clone()), expected);
        }
    }

    #[test]
    fn a_sort_goes_on_in_files_where_the_session_may_have_no_more() {
        let account = SessionMemory::unlimited();
        account.set_limit(3 << 20);
        for first in [None, Some(90_000)] {
            let numbers = (0..100_000i64).map(|number| number * 7_919 % 100_003);
            let budget = Budget::new(&account);
            let sorter = Sorter::new(first, budget.part());
            let mut expected: Vec<i64> = numbers.clone().collect();
            expected.sort_unstable();
            // More rows than the first N may be returned. The caller stops after N.
            let rows = sorted(sorter, numbers);
            let wanted = first.map_or(rows.len(), |first| first as usize);
            assert_eq!(rows[..wanted], expected[..wanted]);
            drop(budget);
            assert_eq!(account.used(), 0);
        }
        account.set_limit(100_000);
        let mut sorter = Sorter::new(None, Budget::new(&account).part());
        let refused = (0..10_000).find_map(|number| sorter.push(b"key", vec![Value::Int(number)]).err());
        assert_eq!(refused.unwrap().code().number(), 1290);
    }

    #[test]
    fn only_the_first_are_kept() {
        let sorter = Sorter::new(Some(3), unlimited());
        assert_eq!(sorted(sorter, [5, 1, 4, 2, 3]), [1, 2, 3]);
        assert_eq!(sorted(Sorter::new(Some(0), unlimited()), [5, 1]), [0i64; 0]);
    }
}
