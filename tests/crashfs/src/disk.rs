//! A disk that models what a power failure may lose. The file system is built on it.
//!
//! Every inode holds its *current* state and the operations since its last sync, each with the data needed to undo it.
//! A sync discards these operations. A crash undoes them all, newest first, which restores the durable state. Then it
//! repeats some of them, chosen by a seed:
//!
//! ```text
//! file       durable bytes ── write, write, truncate ──▶ current bytes
//!                     crash: none | all | a prefix | each kept, dropped or torn by sectors of 512 bytes
//! directory  durable names ── add, remove, rename ─────▶ current names
//!                     crash: none | all | a prefix | any subset
//! ```
//! Syncing a file does not make its name durable: for that its directory must be synced (POSIX promises no more).
//! Writing a sector is atomic; nothing larger is.

use std::collections::{BTreeMap, HashMap};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;

use crate::record::{Operation, Recorder};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

/// Bytes that a disk writes atomically.
const SECTOR_BYTES: usize = 512;

/// Bytes that are checked for zeros at a time.
const EXPORT_BLOCK_BYTES: usize = 64 << 10;

/// Inode number; the root directory is 1.
pub type Inode = u64;

/// The root directory.
pub const ROOT: Inode = 1;

/// Result of an operation. The error is one of `libc`'s error numbers.
pub type Result<T> = std::result::Result<T, i32>;

/// A file or a directory.
#[derive(Clone, Debug)]
pub enum Node {
    /// Bytes, and the changes since the last sync.
    File(FileState),
    /// Names, and the changes since the last sync.
    Directory(DirectoryState),
}

/// State of a file.
#[derive(Clone, Debug, Default)]
pub struct FileState {
    /// Current bytes.
    pub bytes: Vec<u8>,
    pending: Vec<FileChange>,
}

/// A change of a file since the last sync, with the data needed to undo it.
#[derive(Clone, Debug)]
struct FileChange {
    offset: usize,
    /// Bytes that were there before, as far as the file extended.
    before: Vec<u8>,
    length_before: usize,
    kind: FileChangeKind,
}

#[derive(Clone, Debug)]
enum FileChangeKind {
    Write(Vec<u8>),
    /// The new length is `offset`.
    Resize,
}

impl FileState {
    fn write(&mut self, offset: usize, data: &[u8]) {
        let length_before = self.bytes.len();
        let end = offset + data.len();
        let before = self.bytes[offset.min(length_before)..end.min(length_before)].to_vec();
        self.pending.push(FileChange {
            offset,
            before,
            length_before,
            kind: FileChangeKind::Write(data.to_vec()),
        });
        self.put(offset, data);
    }

    fn put(&mut self, offset: usize, data: &[u8]) {
        let end = offset + data.len();
        if self.bytes.len() < end {
            self.bytes.resize(end, 0);
        }
        self.bytes[offset..end].copy_from_slice(data);
    }

    fn resize(&mut self, length: usize) {
        let length_before = self.bytes.len();
        let before = self.bytes[length.min(length_before)..].to_vec();
        self.pending.push(FileChange {
            offset: length,
            before,
            length_before,
            kind: FileChangeKind::Resize,
        });
        self.bytes.resize(length, 0);
    }

    fn crash(&mut self, random: &mut StdRng) {
        let pending = std::mem::take(&mut self.pending);
        for change in pending.iter().rev() {
            let start = change.offset.min(change.length_before);
            self.bytes.resize(change.length_before, 0);
            self.bytes[start..start + change.before.len()].copy_from_slice(&change.before);
        }
        let survivors = Survivors::choose(random, pending.len());
        for (number, change) in pending.iter().enumerate() {
            if !survivors.keep(random, number) {
                continue;
            }
            match &change.kind {
                FileChangeKind::Resize => self.bytes.resize(change.offset, 0),
                FileChangeKind::Write(data) if survivors.may_tear() && random.random_bool(0.5) => {
                    self.tear(change.offset, data, random);
                }
                FileChangeKind::Write(data) => self.put(change.offset, data),
            }
        }
    }

    /// Writes a random subset of the sectors of `data`.
    fn tear(&mut self, offset: usize, data: &[u8], random: &mut StdRng) {
        let mut start = 0;
        while start < data.len() {
            let end = ((offset + start) / SECTOR_BYTES + 1) * SECTOR_BYTES - offset;
            let end = end.min(data.len());
            if random.random_bool(0.5) {
                self.put(offset + start, &data[start..end]);
            }
            start = end;
        }
    }
}

/// State of a directory.
#[derive(Clone, Debug, Default)]
pub struct DirectoryState {
    /// Current names.
    pub names: BTreeMap<OsString, Inode>,
    durable: BTreeMap<OsString, Inode>,
    pending: Vec<NameChange>,
}

/// A change that becomes durable as a whole: a name removed, a name added, or both.
#[derive(Clone, Debug)]
struct NameChange {
    remove: Option<OsString>,
    add: Option<(OsString, Inode)>,
}

impl DirectoryState {
    fn change(&mut self, change: NameChange) {
        Self::apply(&mut self.names, &change);
        self.pending.push(change);
    }

    fn apply(names: &mut BTreeMap<OsString, Inode>, change: &NameChange) {
        if let Some(name) = &change.remove {
            names.remove(name);
        }
        if let Some((name, inode)) = &change.add {
            names.insert(name.clone(), *inode);
        }
    }

    fn sync(&mut self) {
        self.durable.clone_from(&self.names);
        self.pending.clear();
    }

    fn crash(&mut self, random: &mut StdRng) {
        let pending = std::mem::take(&mut self.pending);
        let survivors = Survivors::choose(random, pending.len());
        for (number, change) in pending.iter().enumerate() {
            if survivors.keep(random, number) {
                Self::apply(&mut self.durable, change);
            }
        }
        self.names.clone_from(&self.durable);
    }
}

/// Selection of the operations since the last sync that survive a crash.
enum Survivors {
    None,
    All,
    Prefix(usize),
    /// Each one independently: the disk had reordered them.
    Any,
}

impl Survivors {
    fn choose(random: &mut StdRng, operations: usize) -> Self {
        match random.random_range(0..4) {
            0 => Self::None,
            1 => Self::All,
            2 => Self::Prefix(random.random_range(0..=operations)),
            _ => Self::Any,
        }
    }

    fn keep(&self, random: &mut StdRng, number: usize) -> bool {
        match self {
            Self::None => false,
            Self::All => true,
            Self::Prefix(length) => number < *length,
            Self::Any => random.random_bool(0.5),
        }
    }

    fn may_tear(&self) -> bool {
        matches!(self, Self::Any | Self::Prefix(_))
    }
}

/// All inodes, the capacity, and the injected faults.
pub struct Disk {
    nodes: HashMap<Inode, Node>,
    next: Inode,
    /// Maximum total bytes of all files; a write beyond it fails with ENOSPC.
    pub capacity: u64,
    used: u64,
    /// Number of successful file syncs before one fails with EIO; `None`: no sync fails.
    pub syncs_until_failure: Option<u64>,
    /// Number of file syncs since the start.
    pub syncs: u64,
    /// Time after which a sync is answered.
    pub sync_delay: Duration,
    /// Records all operations if present.
    pub recorder: Option<Recorder>,
}

impl Default for Disk {
    fn default() -> Self {
        let nodes = HashMap::from([(ROOT, Node::Directory(DirectoryState::default()))]);
        Self {
            nodes,
            next: ROOT + 1,
            capacity: u64::MAX,
            used: 0,
            syncs_until_failure: None,
            syncs: 0,
            sync_delay: Duration::ZERO,
            recorder: None,
        }
    }
}

impl Disk {
    /// Returns a copy without faults and recorder, on which a crash can be tried.
    pub fn copy(&self) -> Self {
        Self {
            nodes: self.nodes.clone(),
            next: self.next,
            used: self.used,
            ..Self::default()
        }
    }

    fn record(&mut self, operation: Operation<'_>) {
        if let Some(recorder) = &mut self.recorder {
            recorder.write(&operation);
        }
    }

    /// Records a mark from the control channel among the operations.
    pub fn mark(&mut self, text: &str) {
        self.record(Operation::Mark(text.as_bytes()));
    }

    /// Repeats a recorded operation.
    pub fn replay(&mut self, operation: &Operation<'_>) -> Result<()> {
        match *operation {
            Operation::CreateFile { parent, name } => self.create_file(parent, name).map(drop),
            Operation::CreateDirectory { parent, name } => self.create_directory(parent, name).map(drop),
            Operation::Link { inode, parent, name } => self.link(inode, parent, name),
            Operation::Remove { parent, name } => self.remove(parent, name),
            Operation::Rename {
                parent,
                name,
                to,
                to_name,
            } => self.rename(parent, name, to, to_name),
            Operation::Write { inode, offset, data } => self.write(inode, offset, data),
            Operation::Resize { inode, length } => self.resize(inode, length),
            Operation::Sync { inode } => self.sync(inode),
            Operation::Crash { seed } => {
                self.crash(seed);
                Ok(())
            }
            Operation::Mark(_) => Ok(()),
        }
    }

    /// Returns the node of an inode; ENOENT if it does not exist.
    pub fn node(&self, inode: Inode) -> Result<&Node> {
        self.nodes.get(&inode).ok_or(libc::ENOENT)
    }

    /// Returns a directory; ENOTDIR for a file.
    pub fn directory(&self, inode: Inode) -> Result<&DirectoryState> {
        match self.node(inode)? {
            Node::Directory(directory) => Ok(directory),
            Node::File(_) => Err(libc::ENOTDIR),
        }
    }

    fn directory_mut(&mut self, inode: Inode) -> Result<&mut DirectoryState> {
        match self.nodes.get_mut(&inode).ok_or(libc::ENOENT)? {
            Node::Directory(directory) => Ok(directory),
            Node::File(_) => Err(libc::ENOTDIR),
        }
    }

    fn file_mut(&mut self, inode: Inode) -> Result<&mut FileState> {
        match self.nodes.get_mut(&inode).ok_or(libc::ENOENT)? {
            Node::File(file) => Ok(file),
            Node::Directory(_) => Err(libc::EISDIR),
        }
    }

    /// Returns the inode with a name in a directory.
    pub fn lookup(&self, parent: Inode, name: &OsStr) -> Result<Inode> {
        self.directory(parent)?
            .names
            .get(name)
            .copied()
            .ok_or(libc::ENOENT)
    }

    fn create(&mut self, parent: Inode, name: &OsStr, node: Node) -> Result<Inode> {
        if self.directory(parent)?.names.contains_key(name) {
            return Err(libc::EEXIST);
        }
        let inode = self.next;
        self.next += 1;
        self.nodes.insert(inode, node);
        self.directory_mut(parent)?.change(NameChange {
            remove: None,
            add: Some((name.to_owned(), inode)),
        });
        Ok(inode)
    }

    /// Creates an empty file.
    pub fn create_file(&mut self, parent: Inode, name: &OsStr) -> Result<Inode> {
        let inode = self.create(parent, name, Node::File(FileState::default()))?;
        self.record(Operation::CreateFile { parent, name });
        Ok(inode)
    }

    /// Creates an empty directory.
    pub fn create_directory(&mut self, parent: Inode, name: &OsStr) -> Result<Inode> {
        let inode = self.create(parent, name, Node::Directory(DirectoryState::default()))?;
        self.record(Operation::CreateDirectory { parent, name });
        Ok(inode)
    }

    /// Adds another name for a file.
    pub fn link(&mut self, inode: Inode, parent: Inode, name: &OsStr) -> Result<()> {
        if self.directory(parent)?.names.contains_key(name) {
            return Err(libc::EEXIST);
        }
        self.directory_mut(parent)?.change(NameChange {
            remove: None,
            add: Some((name.to_owned(), inode)),
        });
        self.record(Operation::Link { inode, parent, name });
        Ok(())
    }

    /// Removes a name. The inode remains until no crash can restore the name.
    pub fn remove(&mut self, parent: Inode, name: &OsStr) -> Result<()> {
        let inode = self.lookup(parent, name)?;
        if matches!(self.node(inode)?, Node::Directory(directory) if !directory.names.is_empty()) {
            return Err(libc::ENOTEMPTY);
        }
        self.directory_mut(parent)?.change(NameChange {
            remove: Some(name.to_owned()),
            add: None,
        });
        self.record(Operation::Remove { parent, name });
        Ok(())
    }

    /// Renames, replacing an existing entry with the new name.
    pub fn rename(&mut self, parent: Inode, name: &OsStr, to: Inode, to_name: &OsStr) -> Result<()> {
        let inode = self.lookup(parent, name)?;
        let (remove, add) = (Some(name.to_owned()), Some((to_name.to_owned(), inode)));
        if parent == to {
            self.directory_mut(parent)?.change(NameChange { remove, add });
        } else {
            self.directory_mut(to)?.change(NameChange { remove: None, add });
            self.directory_mut(parent)?
                .change(NameChange { remove, add: None });
        }
        self.record(Operation::Rename {
            parent,
            name,
            to,
            to_name,
        });
        Ok(())
    }

    /// Writes to a file.
    pub fn write(&mut self, inode: Inode, offset: u64, data: &[u8]) -> Result<()> {
        let length = self.file_mut(inode)?.bytes.len() as u64;
        self.reserve(length, offset + data.len() as u64)?;
        self.file_mut(inode)?.write(offset as usize, data);
        self.record(Operation::Write { inode, offset, data });
        Ok(())
    }

    /// Extends a file with zeros or truncates it.
    pub fn resize(&mut self, inode: Inode, length: u64) -> Result<()> {
        let before = self.file_mut(inode)?.bytes.len() as u64;
        self.reserve(before, length)?;
        self.used = self.used.saturating_sub(before.saturating_sub(length));
        self.file_mut(inode)?.resize(length as usize);
        self.record(Operation::Resize { inode, length });
        Ok(())
    }

    fn reserve(&mut self, length: u64, wanted: u64) -> Result<()> {
        let more = wanted.saturating_sub(length);
        if self.used + more > self.capacity {
            return Err(libc::ENOSPC);
        }
        self.used += more;
        Ok(())
    }

    /// Makes the current state of a file or directory durable, or fails with EIO if a failure is due. After a failure
    /// the pending operations remain: the bytes may or may not be on the disk.
    pub fn sync(&mut self, inode: Inode) -> Result<()> {
        match self.nodes.get_mut(&inode).ok_or(libc::ENOENT)? {
            Node::Directory(directory) => directory.sync(),
            Node::File(file) => {
                self.syncs += 1;
                if let Some(left) = &mut self.syncs_until_failure {
                    if *left == 0 {
                        self.syncs_until_failure = None;
                        return Err(libc::EIO);
                    }
                    *left -= 1;
                }
                file.pending.clear();
            }
        }
        self.record(Operation::Sync { inode });
        Ok(())
    }

    /// Simulates a power failure: every file and directory returns to its durable state plus the operations that `seed`
    /// lets survive.
    pub fn crash(&mut self, seed: u64) {
        self.record(Operation::Crash { seed });
        let mut random = StdRng::seed_from_u64(seed);
        let mut inodes: Vec<Inode> = self.nodes.keys().copied().collect();
        inodes.sort_unstable();
        for inode in inodes {
            match self.nodes.get_mut(&inode) {
                Some(Node::File(file)) => file.crash(&mut random),
                Some(Node::Directory(directory)) => directory.crash(&mut random),
                None => {}
            }
        }
        self.collect();
    }

    /// Discards inodes that no name can reach, now or after a crash.
    pub fn collect(&mut self) {
        let mut reached = std::collections::HashSet::from([ROOT]);
        for node in self.nodes.values() {
            if let Node::Directory(directory) = node {
                reached.extend(directory.names.values().chain(directory.durable.values()));
                reached.extend(
                    directory
                        .pending
                        .iter()
                        .filter_map(|change| Some(change.add.as_ref()?.1)),
                );
            }
        }
        self.nodes.retain(|inode, _| reached.contains(inode));
        self.used = self
            .nodes
            .values()
            .map(|node| {
                if let Node::File(file) = node {
                    file.bytes.len() as u64
                } else {
                    0
                }
            })
            .sum();
    }

    /// Copies everything in a directory into a directory of the host, which is created.
    ///
    /// # Errors
    /// Errors of the host's file system.
    pub fn export(&self, from: Inode, to: &Path) -> io::Result<()> {
        std::fs::create_dir_all(to)?;
        let directory = self.directory(from).map_err(io::Error::from_raw_os_error)?;
        for (name, inode) in &directory.names {
            let target = to.join(name);
            match self.node(*inode).map_err(io::Error::from_raw_os_error)? {
                Node::Directory(_) => self.export(*inode, &target)?,
                Node::File(file) => {
                    let made = File::create(&target)?;
                    made.set_len(file.bytes.len() as u64)?;
                    // Blocks of zeros (preallocated space) become holes.
                    for (number, block) in file.bytes.chunks(EXPORT_BLOCK_BYTES).enumerate() {
                        if block.iter().any(|byte| *byte != 0) {
                            made.write_all_at(block, (number * EXPORT_BLOCK_BYTES) as u64)?;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns the total bytes of all files.
    pub fn used(&self) -> u64 {
        self.used
    }

    /// Returns the number of bytes that can still be written.
    pub fn free(&self) -> u64 {
        self.capacity.saturating_sub(self.used)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> &OsStr {
        OsStr::new(text)
    }

    fn bytes(disk: &Disk, inode: Inode) -> Vec<u8> {
        match disk.node(inode) {
            Ok(Node::File(file)) => file.bytes.clone(),
            other => panic!("no file: {other:?}"),
        }
    }

    #[test]
    fn synced_bytes_survive_a_crash_with_any_seed() {
        for seed in 0..200 {
            let mut disk = Disk::default();
            let file = disk.create_file(ROOT, name("a")).unwrap();
            disk.write(file, 0, b"durable").unwrap();
            disk.sync(file).unwrap();
            disk.sync(ROOT).unwrap();
            disk.write(file, 3, &[b'x'; 3000]).unwrap();
            disk.resize(file, 5).unwrap();
            disk.write(file, 5000, b"end").unwrap();
            disk.crash(seed);
            assert_eq!(disk.lookup(ROOT, name("a")), Ok(file));
            assert_eq!(&bytes(&disk, file)[..3], b"dur", "seed {seed}");
        }
    }

    #[test]
    fn unsynced_bytes_are_lost_kept_or_torn() {
        let mut seen = std::collections::BTreeSet::new();
        for seed in 0..400 {
            let mut disk = Disk::default();
            let file = disk.create_file(ROOT, name("a")).unwrap();
            disk.sync(ROOT).unwrap();
            disk.write(file, 0, &[b'x'; 1024]).unwrap();
            disk.crash(seed);
            let found = bytes(&disk, file);
            let sector = |at: usize| found.get(at).is_some_and(|byte| *byte == b'x');
            seen.insert((sector(0), sector(512)));
        }
        assert_eq!(seen.len(), 4, "none, both, either half: {seen:?}");
    }

    #[test]
    fn an_unsynced_name_may_vanish_and_a_rename_is_atomic() {
        let mut seen = std::collections::BTreeSet::new();
        for seed in 0..200 {
            let mut disk = Disk::default();
            let file = disk.create_file(ROOT, name("a")).unwrap();
            disk.sync(ROOT).unwrap();
            disk.rename(ROOT, name("a"), ROOT, name("b")).unwrap();
            disk.create_file(ROOT, name("c")).unwrap();
            disk.crash(seed);
            let (a, b) = (disk.lookup(ROOT, name("a")), disk.lookup(ROOT, name("b")));
            assert!(
                a == Ok(file) && b.is_err() || b == Ok(file) && a.is_err(),
                "seed {seed}: {a:?} {b:?}"
            );
            seen.insert((a.is_ok(), disk.lookup(ROOT, name("c")).is_ok()));
        }
        assert_eq!(seen.len(), 4);
    }

    #[test]
    fn a_full_disk_refuses_writes_and_one_sync_fails_when_asked() {
        let mut disk = Disk {
            capacity: 10,
            ..Disk::default()
        };
        let file = disk.create_file(ROOT, name("a")).unwrap();
        disk.write(file, 0, b"0123456789").unwrap();
        assert_eq!(disk.write(file, 10, b"x"), Err(libc::ENOSPC));
        disk.write(file, 0, b"abc").unwrap();
        disk.syncs_until_failure = Some(1);
        assert_eq!(disk.sync(file), Ok(()));
        assert_eq!(disk.sync(file), Err(libc::EIO));
        assert_eq!(disk.sync(file), Ok(()));
        disk.remove(ROOT, name("a")).unwrap();
        disk.sync(ROOT).unwrap();
        disk.collect();
        assert_eq!(disk.free(), 10);
    }
}
