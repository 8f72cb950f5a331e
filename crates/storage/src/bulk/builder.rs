//! Turns entries into sorted, synced table files, with an external merge sort for unsorted input.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::PathBuf;
use std::sync::Arc;

use rocksdb::SstFileWriter;

use super::Shared;
use crate::error::{Error, Result};
use crate::rocksdb_engine::table_file_options;

/// Size at which a table file is closed, in bytes.
const FILE_BYTES: u64 = 64 << 20;
/// Memory of an unsorted builder, in bytes, before it writes a sorted run.
const RUN_BYTES: usize = 64 << 20;

/// Order of a builder's input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InputOrder {
    /// Keys are ascending: written in the order of arrival.
    Sorted,
    /// Keys are in any order: sorted in memory, beyond 64 MiB through files.
    Unsorted,
}

/// Writes the entries of one index, or of several in key order.
pub struct IndexBuilder {
    shared: Arc<Shared>,
    input: Input,
    output: Output,
}

enum Input {
    Sorted,
    Unsorted(Sorter),
}

impl IndexBuilder {
    pub(super) fn new(shared: Arc<Shared>, order: InputOrder) -> Self {
        let input = match order {
            InputOrder::Sorted => Input::Sorted,
            InputOrder::Unsorted => Input::Unsorted(Sorter::default()),
        };
        IndexBuilder {
            output: Output::new(Arc::clone(&shared)),
            shared,
            input,
        }
    }

    /// Adds an entry. `value` is as the engine stores it, preceded by its version.
    ///
    /// # Errors
    /// [`Error::DuplicateKey`] if the key was added before; for unsorted input possibly only by
    /// [`finish`](Self::finish). If the disk is full.
    pub fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        match &mut self.input {
            Input::Sorted => self.output.put(key, value),
            Input::Unsorted(sorter) => {
                sorter.put(key, value);
                if sorter.bytes() >= RUN_BYTES {
                    sorter.spill(&self.shared)?;
                }
                Ok(())
            }
        }
    }

    /// Writes and syncs the rest.
    ///
    /// # Errors
    /// Those of [`put`](Self::put).
    pub fn finish(mut self) -> Result<()> {
        if let Input::Unsorted(sorter) = &mut self.input {
            sorter.merge_into(&mut self.output)?;
        }
        self.output.finish().map(drop)
    }
}

/// Writes sorted entries into files of a limited size. RocksDB syncs each file when it is finished. The files
/// are deleted if this is dropped unfinished.
pub(super) struct Output {
    shared: Arc<Shared>,
    writer: Option<SstFileWriter<'static>>,
    /// All files so far; empty when the builder is finished.
    files: Vec<PathBuf>,
    last_key: Vec<u8>,
    entries: u64,
}

impl Output {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Output {
            shared,
            writer: None,
            files: Vec::new(),
            last_key: Vec::new(),
            entries: 0,
        }
    }

    pub(super) fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.writer_for(key)?.put(key, value)?;
        self.written(key);
        Ok(())
    }

    /// Deletes a key that may exist in an older file.
    pub(super) fn delete(&mut self, key: &[u8]) -> Result<()> {
        self.writer_for(key)?.delete(key)?;
        self.written(key);
        Ok(())
    }

    fn writer_for(&mut self, key: &[u8]) -> Result<&mut SstFileWriter<'static>> {
        if self.entries > 0 && self.last_key.as_slice() >= key {
            assert!(self.last_key == key, "sorted input of a bulk build is not sorted");
            return Err(Error::DuplicateKey { key: key.to_vec() });
        }
        if self
            .writer
            .as_ref()
            .is_some_and(|writer| self.entries.is_multiple_of(256) && writer.file_size() >= FILE_BYTES)
        {
            self.close()?;
        }
        match &mut self.writer {
            Some(writer) => Ok(writer),
            none => {
                let writer = SstFileWriter::create(table_file_options());
                let path = self.shared.new_file("sst");
                writer.open(&path)?;
                self.files.push(path);
                Ok(none.insert(writer))
            }
        }
    }

    fn written(&mut self, key: &[u8]) {
        self.last_key.clear();
        self.last_key.extend_from_slice(key);
        self.entries += 1;
    }

    /// Writes and syncs the rest. Returns the files in key order; they belong to the caller.
    pub(super) fn finish(mut self) -> Result<Vec<PathBuf>> {
        self.close()?;
        Ok(std::mem::take(&mut self.files))
    }

    fn close(&mut self) -> Result<()> {
        if let Some(mut writer) = self.writer.take() {
            writer.finish()?;
        }
        Ok(())
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        self.writer = None;
        for file in &self.files {
            // Files that remain because the disk fails are deleted with the whole build.
            let _ = fs::remove_file(file);
        }
    }
}

#[derive(Clone, Copy)]
struct Entry {
    start: usize,
    key: u32,
    value: u32,
}

/// Entries in memory, and the sorted runs that did not fit there.
#[derive(Default)]
struct Sorter {
    arena: Vec<u8>,
    entries: Vec<Entry>,
    runs: Vec<PathBuf>,
}

impl Sorter {
    fn bytes(&self) -> usize {
        self.arena.len() + self.entries.len() * size_of::<Entry>()
    }

    fn put(&mut self, key: &[u8], value: &[u8]) {
        let entry = Entry {
            start: self.arena.len(),
            key: key.len() as u32,
            value: value.len() as u32,
        };
        self.arena.extend_from_slice(key);
        self.arena.extend_from_slice(value);
        self.entries.push(entry);
    }

    fn key(&self, entry: &Entry) -> &[u8] {
        &self.arena[entry.start..][..entry.key as usize]
    }

    fn value(&self, entry: &Entry) -> &[u8] {
        &self.arena[entry.start + entry.key as usize..][..entry.value as usize]
    }

    fn sort(&mut self) {
        let arena = &self.arena;
        self.entries
            .sort_unstable_by_key(|entry| &arena[entry.start..][..entry.key as usize]);
    }

    fn spill(&mut self, shared: &Shared) -> Result<()> {
        self.sort();
        let path = shared.new_file("run");
        let write = || -> io::Result<()> {
            let mut file = BufWriter::with_capacity(1 << 20, File::create(&path)?);
            for entry in &self.entries {
                file.write_all(&entry.key.to_le_bytes())?;
                file.write_all(&entry.value.to_le_bytes())?;
                file.write_all(self.key(entry))?;
                file.write_all(self.value(entry))?;
            }
            file.flush()
        };
        write().map_err(Error::file(&path))?;
        self.runs.push(path);
        self.arena.clear();
        self.entries.clear();
        Ok(())
    }

    fn merge_into(&mut self, output: &mut Output) -> Result<()> {
        self.sort();
        if self.runs.is_empty() {
            return self
                .entries
                .iter()
                .try_for_each(|entry| output.put(self.key(entry), self.value(entry)));
        }
        let mut runs = Vec::new();
        for path in &self.runs {
            let file = File::open(path).map_err(Error::file(path))?;
            runs.push(Run {
                file: BufReader::with_capacity(1 << 20, file),
                path,
            });
        }
        // The smallest key of each run; the entries in memory are the last run.
        let mut heads = BinaryHeap::new();
        for (number, run) in runs.iter_mut().enumerate() {
            heads.extend(run.next()?.map(|(key, value)| Reverse((key, number, value))));
        }
        let mut in_memory = self.entries.iter();
        let memory = runs.len();
        let mut next_in_memory = || {
            in_memory
                .next()
                .map(|entry| (self.key(entry).to_vec(), self.value(entry).to_vec()))
        };
        heads.extend(next_in_memory().map(|(key, value)| Reverse((key, memory, value))));
        while let Some(Reverse((key, number, value))) = heads.pop() {
            output.put(&key, &value)?;
            let next = if number == memory {
                next_in_memory()
            } else {
                runs[number].next()?
            };
            heads.extend(next.map(|(key, value)| Reverse((key, number, value))));
        }
        Ok(())
    }
}

impl Drop for Sorter {
    fn drop(&mut self) {
        for run in &self.runs {
            let _ = fs::remove_file(run);
        }
    }
}

struct Run<'a> {
    file: BufReader<File>,
    path: &'a PathBuf,
}

impl Run<'_> {
    fn next(&mut self) -> Result<Option<(Vec<u8>, Vec<u8>)>> {
        let mut read = || -> io::Result<Option<(Vec<u8>, Vec<u8>)>> {
            let mut lengths = [0; 8];
            match self.file.read_exact(&mut lengths) {
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
                read => read?,
            }
            let length = |at: usize| {
                let bytes = lengths[at..at + 4].try_into().expect("four bytes");
                u32::from_le_bytes(bytes) as usize
            };
            let (mut key, mut value) = (vec![0; length(0)], vec![0; length(4)]);
            self.file.read_exact(&mut key)?;
            self.file.read_exact(&mut value)?;
            Ok(Some((key, value)))
        };
        read().map_err(Error::file(self.path))
    }
}
