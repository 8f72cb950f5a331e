//! A disk in memory that fails as real disks do, controlled by a seed, for tests of everything that uses the log.
//!
//! It distinguishes the page cache from the disk, and the names that a directory shows from those that are durable.
//! When the power fails (at a chosen operation, or now), [`SimulatedDisk::after_power_failure`] returns a state in
//! which the disk may be found afterwards: of everything that was not synced, each sector of 512 bytes and each
//! change of a name is present or not, independently. A failed fsync drops what it should have written, and the page
//! cache continues to show it, as on Linux.
//!
//! It is a crate of its own, and only a dev-dependency of others: so no server contains it, and no feature of
//! `binlog` changes what a server is built from. `binlog` uses it in its integration tests. Its unit tests cannot,
//! as they are another build of the crate, with other types.
#![forbid(unsafe_code)]

use paceline_binlog::log::{Disk, DiskFile};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, ErrorKind, IoSlice};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

const SECTOR_LENGTH: usize = 512;

/// A disk in memory. All clones are the same disk.
#[derive(Clone, Default)]
pub struct SimulatedDisk {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// Files by number, as inodes are.
    files: BTreeMap<u64, Content>,
    names: BTreeMap<PathBuf, u64>,
    durable_names: BTreeMap<PathBuf, u64>,
    /// Changes of names since the directory was synced.
    name_changes: Vec<NameChange>,
    next_file: u64,
    /// Number of modifying operations begun so far.
    operations: u64,
    syncs: u64,
    power_fails_at: Option<u64>,
    sync_fails_at: Option<u64>,
    is_down: bool,
    capacity: Option<u64>,
}

#[derive(Clone, Default)]
struct Content {
    /// Content that processes read: the page cache.
    cached: Vec<u8>,
    /// Content on the disk.
    durable: Vec<u8>,
    /// Changes that are in the cache and not yet on the disk.
    pending: Vec<UnsyncedOperation>,
    /// Time of the last change, counted in operations.
    modified: u64,
}

#[derive(Clone)]
enum UnsyncedOperation {
    Write { offset: u64, bytes: Vec<u8> },
    Length(u64),
}

#[derive(Clone)]
enum NameChange {
    Create(PathBuf, u64),
    Remove(PathBuf),
    Rename(PathBuf, PathBuf, u64),
}

impl SimulatedDisk {
    /// Creates an empty disk without limits.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the number of modifying operations begun so far.
    pub fn operations(&self) -> u64 {
        self.state.lock().operations
    }

    /// Makes the power fail in the middle of that operation (counted from 1): it and all later ones return an error.
    pub fn fail_power_at(&self, operation: u64) {
        self.state.lock().power_fails_at = Some(operation);
    }

    /// Makes a future sync of a file's content fail; 1 is the next one.
    pub fn fail_sync(&self, number: u64) {
        let mut state = self.state.lock();
        state.sync_fails_at = Some(state.syncs + number);
    }

    /// Sets the disk's capacity in bytes; `None` for no limit.
    pub fn set_capacity(&self, bytes: Option<u64>) {
        self.state.lock().capacity = bytes;
    }

    /// Returns the number of bytes in use.
    pub fn used(&self) -> u64 {
        self.state.lock().used()
    }

    /// Returns the disk as it may be found after the power has failed, now or at the operation set by
    /// [`Self::fail_power_at`].
    pub fn after_power_failure(&self, seed: u64) -> SimulatedDisk {
        let mut random = Random(seed);
        let state = self.state.lock();
        let mut files = BTreeMap::new();
        for (number, content) in &state.files {
            let mut durable = content.durable.clone();
            // Some files lose all unsynced changes, some lose none, some are torn.
            let kept_percent = [0, 50, 90, 100][random.below(4) as usize];
            for pending in &content.pending {
                match pending {
                    UnsyncedOperation::Length(length) if random.below(100) < kept_percent => {
                        durable.resize(*length as usize, 0);
                    }
                    UnsyncedOperation::Length(_) => {}
                    UnsyncedOperation::Write { offset, bytes } => {
                        let mut at = 0;
                        while at < bytes.len() {
                            let start = *offset as usize + at;
                            let sector_end = (start / SECTOR_LENGTH + 1) * SECTOR_LENGTH;
                            let end = (at + sector_end - start).min(bytes.len());
                            if random.below(100) < kept_percent {
                                write_into(&mut durable, start as u64, &bytes[at..end]);
                            }
                            at = end;
                        }
                    }
                }
            }
            let modified = content.modified;
            files.insert(
                *number,
                Content {
                    cached: durable.clone(),
                    durable,
                    pending: Vec::new(),
                    modified,
                },
            );
        }
        let mut names = state.durable_names.clone();
        for change in &state.name_changes {
            if random.below(2) == 0 {
                change.apply(&mut names);
            }
        }
        let next_file = state.next_file;
        let state = State {
            files,
            durable_names: names.clone(),
            names,
            next_file,
            ..State::default()
        };
        SimulatedDisk {
            state: Arc::new(Mutex::new(state)),
        }
    }

    /// Returns the disk as another process finds it after this one has died: nothing is lost. No faults are pending
    /// on it.
    pub fn after_process_death(&self) -> SimulatedDisk {
        let state = self.state.lock();
        let state = State {
            files: state.files.clone(),
            names: state.names.clone(),
            durable_names: state.durable_names.clone(),
            name_changes: state.name_changes.clone(),
            next_file: state.next_file,
            ..State::default()
        };
        SimulatedDisk {
            state: Arc::new(Mutex::new(state)),
        }
    }

    /// Returns a file's content as a process reads it.
    pub fn content(&self, path: &Path) -> Option<Vec<u8>> {
        let state = self.state.lock();
        let number = state.names.get(path)?;
        Some(state.files.get(number)?.cached.clone())
    }

    /// Changes a file's content, on the disk and for readers, as bit rot does.
    pub fn damage(&self, path: &Path, damage: impl FnOnce(&mut Vec<u8>)) {
        let mut state = self.state.lock();
        let number = state.names.get(path).copied();
        if let Some(content) = number.and_then(|number| state.files.get_mut(&number)) {
            damage(&mut content.cached);
            content.durable = content.cached.clone();
            content.pending.clear();
        }
    }
}

impl State {
    /// Counts a modifying operation. Returns whether the power fails in it.
    fn operate(&mut self) -> io::Result<Power> {
        if self.is_down {
            return Err(power_failed());
        }
        self.operations += 1;
        if self.power_fails_at == Some(self.operations) {
            self.is_down = true;
            return Ok(Power::Fails);
        }
        Ok(Power::Stays)
    }

    fn used(&self) -> u64 {
        self.names
            .values()
            .filter_map(|number| self.files.get(number))
            .map(|file| file.cached.len() as u64)
            .sum()
    }

    fn has_room(&self, more: u64) -> io::Result<()> {
        match self.capacity {
            Some(capacity) if self.used() + more > capacity => Err(ErrorKind::StorageFull.into()),
            _ => Ok(()),
        }
    }

    fn change_name(&mut self, change: NameChange) -> io::Result<()> {
        let power = self.operate()?;
        change.apply(&mut self.names);
        self.name_changes.push(change);
        power.result()
    }
}

/// Whether the power fails during an operation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Power {
    Stays,
    Fails,
}

impl Power {
    fn result(self) -> io::Result<()> {
        match self {
            Power::Stays => Ok(()),
            Power::Fails => Err(power_failed()),
        }
    }
}

fn power_failed() -> io::Error {
    io::Error::other("the power has failed")
}

impl NameChange {
    fn apply(&self, names: &mut BTreeMap<PathBuf, u64>) {
        match self {
            NameChange::Create(path, file) => {
                names.insert(path.clone(), *file);
            }
            NameChange::Remove(path) => {
                names.remove(path);
            }
            NameChange::Rename(from, to, file) => {
                names.remove(from);
                names.insert(to.clone(), *file);
            }
        }
    }
}

fn write_into(content: &mut Vec<u8>, offset: u64, bytes: &[u8]) {
    let (start, end) = (offset as usize, offset as usize + bytes.len());
    if content.len() < end {
        content.resize(end, 0);
    }
    content[start..end].copy_from_slice(bytes);
}

impl Disk for SimulatedDisk {
    fn create(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        let mut state = self.state.lock();
        if state.names.contains_key(path) {
            return Err(ErrorKind::AlreadyExists.into());
        }
        state.next_file += 1;
        let number = state.next_file;
        state.files.insert(number, Content::default());
        state.change_name(NameChange::Create(path.to_owned(), number))?;
        Ok(Arc::new(SimulatedFile {
            state: Arc::clone(&self.state),
            number,
        }))
    }

    fn open(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        let state = self.state.lock();
        let number = *state.names.get(path).ok_or(ErrorKind::NotFound)?;
        Ok(Arc::new(SimulatedFile {
            state: Arc::clone(&self.state),
            number,
        }))
    }

    fn modified(&self, path: &Path) -> io::Result<SystemTime> {
        let state = self.state.lock();
        let number = state.names.get(path).ok_or(ErrorKind::NotFound)?;
        let modified = state.files.get(number).map_or(0, |file| file.modified);
        Ok(SystemTime::UNIX_EPOCH + Duration::from_secs(modified))
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<String>> {
        let state = self.state.lock();
        let names = state.names.keys().filter(|path| path.parent() == Some(directory));
        Ok(names
            .filter_map(|path| path.file_name()?.to_str().map(str::to_owned))
            .collect())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.state.lock();
        let number = *state.names.get(from).ok_or(ErrorKind::NotFound)?;
        state.change_name(NameChange::Rename(from.to_owned(), to.to_owned(), number))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state.lock();
        if !state.names.contains_key(path) {
            return Err(ErrorKind::NotFound.into());
        }
        state.change_name(NameChange::Remove(path.to_owned()))
    }

    fn sync_directory(&self, _directory: &Path) -> io::Result<()> {
        let mut state = self.state.lock();
        state.operate()?.result()?;
        state.durable_names = state.names.clone();
        state.name_changes.clear();
        Ok(())
    }
}

impl fmt::Debug for SimulatedDisk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state.lock();
        f.debug_struct("SimulatedDisk")
            .field("operations", &state.operations)
            .field("names", &state.names)
            .finish()
    }
}

struct SimulatedFile {
    state: Arc<Mutex<State>>,
    number: u64,
}

impl SimulatedFile {
    /// Changes the content if there is space for its growth.
    fn change(&self, grows_to: u64, change: impl FnOnce(&mut Content)) -> io::Result<()> {
        let mut state = self.state.lock();
        let length = state.files[&self.number].cached.len() as u64;
        state.has_room(grows_to.saturating_sub(length))?;
        let power = state.operate()?;
        let modified = state.operations;
        if let Some(content) = state.files.get_mut(&self.number) {
            change(content);
            content.modified = modified;
        }
        power.result()
    }
}

impl DiskFile for SimulatedFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let state = self.state.lock();
        if state.is_down {
            return Err(power_failed());
        }
        let content = &state.files[&self.number].cached;
        let rest = content.get(offset as usize..).unwrap_or(&[]);
        let length = rest.len().min(buffer.len());
        buffer[..length].copy_from_slice(&rest[..length]);
        Ok(length)
    }

    fn write_at(&self, pieces: &[IoSlice<'_>], offset: u64) -> io::Result<()> {
        let bytes: Vec<u8> = pieces.iter().flat_map(|piece| piece.iter().copied()).collect();
        self.change(offset + bytes.len() as u64, |content| {
            write_into(&mut content.cached, offset, &bytes);
            content.pending.push(UnsyncedOperation::Write { offset, bytes });
        })
    }

    fn extend_with_zeros(&self, offset: u64, length: u64) -> io::Result<()> {
        let zeros = vec![0; length as usize];
        self.change(offset + length, |content| {
            write_into(&mut content.cached, offset, &zeros);
            content.pending.push(UnsyncedOperation::Write {
                offset,
                bytes: zeros.clone(),
            });
        })?;
        let mut state = self.state.lock();
        if let Some(content) = state.files.get_mut(&self.number) {
            content.pending.pop();
            write_into(&mut content.durable, offset, &zeros);
        }
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        let mut state = self.state.lock();
        state.operate()?.result()?;
        state.syncs += 1;
        let fails = state.sync_fails_at == Some(state.syncs);
        if let Some(content) = state.files.get_mut(&self.number) {
            let pending = std::mem::take(&mut content.pending);
            if fails {
                return Err(io::Error::other("the disk has failed"));
            }
            for pending in pending {
                match pending {
                    UnsyncedOperation::Write { offset, bytes } => {
                        write_into(&mut content.durable, offset, &bytes)
                    }
                    UnsyncedOperation::Length(length) => content.durable.resize(length as usize, 0),
                }
            }
        }
        Ok(())
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        self.change(length, |content| {
            content.cached.resize(length as usize, 0);
            content.pending.push(UnsyncedOperation::Length(length));
        })
    }

    fn length(&self) -> io::Result<u64> {
        Ok(self.state.lock().files[&self.number].cached.len() as u64)
    }
}

impl fmt::Debug for SimulatedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SimulatedFile({})", self.number)
    }
}

/// Random numbers from a seed (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % limit
    }
}
