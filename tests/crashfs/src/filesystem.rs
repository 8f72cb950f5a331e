//! Exposes the disk model as a FUSE file system. The kernel caches nothing (direct I/O, lifetimes of zero), so the next
//! process sees exactly what a crash of the model leaves.

use std::ffi::OsStr;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fuser::{
    BsdFileFlags, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo,
    KernelConfig, LockOwner, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData, ReplyDirectory,
    ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs, ReplyWrite, Request, TimeOrNow, WriteFlags,
};

use crate::disk::{Disk, Inode, Node, Result};

const LIFETIME: Duration = Duration::ZERO;
const BLOCK_BYTES: u64 = 4096;

/// File system on a [`Disk`] that it shares with the control channel.
pub struct CrashFs(pub Arc<Mutex<Disk>>);

fn errno(number: i32) -> Errno {
    Errno::from_i32(number)
}

impl CrashFs {
    fn disk(&self) -> MutexGuard<'_, Disk> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Syncs an inode. On a slow disk the answer comes later, and nothing else waits for it.
    fn sync(&self, inode: INodeNo, reply: ReplyEmpty) {
        let mut disk = self.disk();
        let (result, delay) = (disk.sync(inode.0), disk.sync_delay);
        drop(disk);
        if delay.is_zero() {
            return empty(result, reply);
        }
        std::thread::spawn(move || {
            std::thread::sleep(delay);
            empty(result, reply);
        });
    }
}

fn attributes(disk: &Disk, inode: Inode) -> Result<FileAttr> {
    let (kind, size, perm) = match disk.node(inode)? {
        Node::File(file) => (FileType::RegularFile, file.bytes.len() as u64, 0o640),
        Node::Directory(_) => (FileType::Directory, 0, 0o750),
    };
    let time: SystemTime = UNIX_EPOCH;
    Ok(FileAttr {
        ino: INodeNo(inode),
        size,
        blocks: size.div_ceil(512),
        atime: time,
        mtime: time,
        ctime: time,
        crtime: time,
        kind,
        perm,
        nlink: 1,
        uid: 0,
        gid: 0,
        rdev: 0,
        blksize: BLOCK_BYTES as u32,
        flags: 0,
    })
}

/// Replies with the attributes of an inode, or with the error.
fn entry(disk: &Disk, found: Result<Inode>, reply: ReplyEntry) {
    match found.and_then(|inode| attributes(disk, inode)) {
        Ok(attr) => reply.entry(&LIFETIME, &attr, Generation(0)),
        Err(number) => reply.error(errno(number)),
    }
}

fn empty(result: Result<()>, reply: ReplyEmpty) {
    match result {
        Ok(()) => reply.ok(),
        Err(number) => reply.error(errno(number)),
    }
}

impl Filesystem for CrashFs {
    fn init(&mut self, _request: &Request, config: &mut KernelConfig) -> io::Result<()> {
        let _ = config.set_max_write(1 << 20);
        Ok(())
    }

    fn lookup(&self, _request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let disk = self.disk();
        entry(&disk, disk.lookup(parent.0, name), reply);
    }

    fn getattr(&self, _request: &Request, inode: INodeNo, _handle: Option<FileHandle>, reply: ReplyAttr) {
        match attributes(&self.disk(), inode.0) {
            Ok(attr) => reply.attr(&LIFETIME, &attr),
            Err(number) => reply.error(errno(number)),
        }
    }

    fn setattr(
        &self,
        _request: &Request,
        inode: INodeNo,
        _mode: Option<u32>,
        _uid: Option<u32>,
        _gid: Option<u32>,
        size: Option<u64>,
        _atime: Option<TimeOrNow>,
        _mtime: Option<TimeOrNow>,
        _ctime: Option<SystemTime>,
        _handle: Option<FileHandle>,
        _crtime: Option<SystemTime>,
        _chgtime: Option<SystemTime>,
        _bkuptime: Option<SystemTime>,
        _flags: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let mut disk = self.disk();
        let resized = size.map_or(Ok(()), |length| disk.resize(inode.0, length));
        match resized.and_then(|()| attributes(&disk, inode.0)) {
            Ok(attr) => reply.attr(&LIFETIME, &attr),
            Err(number) => reply.error(errno(number)),
        }
    }

    fn mkdir(
        &self,
        _request: &Request,
        parent: INodeNo,
        name: &OsStr,
        _mode: u32,
        _umask: u32,
        reply: ReplyEntry,
    ) {
        let mut disk = self.disk();
        let made = disk.create_directory(parent.0, name);
        entry(&disk, made, reply);
    }

    fn unlink(&self, _request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        empty(self.disk().remove(parent.0, name), reply);
    }

    fn rmdir(&self, _request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        empty(self.disk().remove(parent.0, name), reply);
    }

    fn rename(
        &self,
        _request: &Request,
        parent: INodeNo,
        name: &OsStr,
        to: INodeNo,
        to_name: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        if flags.is_empty() {
            empty(self.disk().rename(parent.0, name, to.0, to_name), reply);
        } else {
            reply.error(Errno::EINVAL);
        }
    }

    fn link(&self, _request: &Request, inode: INodeNo, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let mut disk = self.disk();
        let linked = disk.link(inode.0, parent.0, name).map(|()| inode.0);
        entry(&disk, linked, reply);
    }

    fn open(&self, _request: &Request, _inode: INodeNo, _flags: OpenFlags, reply: ReplyOpen) {
        reply.opened(FileHandle(0), FopenFlags::FOPEN_DIRECT_IO);
    }

    fn create(
        &self,
        _request: &Request,
        parent: INodeNo,
        name: &OsStr,
        _mode: u32,
        _umask: u32,
        _flags: i32,
        reply: ReplyCreate,
    ) {
        let mut disk = self.disk();
        match disk
            .create_file(parent.0, name)
            .and_then(|inode| attributes(&disk, inode))
        {
            Ok(attr) => reply.created(
                &LIFETIME,
                &attr,
                Generation(0),
                FileHandle(0),
                FopenFlags::FOPEN_DIRECT_IO,
            ),
            Err(number) => reply.error(errno(number)),
        }
    }

    fn read(
        &self,
        _request: &Request,
        inode: INodeNo,
        _handle: FileHandle,
        offset: u64,
        size: u32,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyData,
    ) {
        match self.disk().node(inode.0) {
            Ok(Node::File(file)) => {
                let start = (offset as usize).min(file.bytes.len());
                let end = (start + size as usize).min(file.bytes.len());
                reply.data(&file.bytes[start..end]);
            }
            Ok(Node::Directory(_)) => reply.error(Errno::EISDIR),
            Err(number) => reply.error(errno(number)),
        }
    }

    fn write(
        &self,
        _request: &Request,
        inode: INodeNo,
        _handle: FileHandle,
        offset: u64,
        data: &[u8],
        _write_flags: WriteFlags,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        match self.disk().write(inode.0, offset, data) {
            Ok(()) => reply.written(data.len() as u32),
            Err(number) => reply.error(errno(number)),
        }
    }

    fn flush(
        &self,
        _request: &Request,
        _inode: INodeNo,
        _handle: FileHandle,
        _lock_owner: LockOwner,
        reply: ReplyEmpty,
    ) {
        reply.ok();
    }

    fn fsync(
        &self,
        _request: &Request,
        inode: INodeNo,
        _handle: FileHandle,
        _datasync: bool,
        reply: ReplyEmpty,
    ) {
        self.sync(inode, reply);
    }

    fn fsyncdir(
        &self,
        _request: &Request,
        inode: INodeNo,
        _handle: FileHandle,
        _datasync: bool,
        reply: ReplyEmpty,
    ) {
        self.sync(inode, reply);
    }

    fn readdir(
        &self,
        _request: &Request,
        inode: INodeNo,
        _handle: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let disk = self.disk();
        let directory = match disk.directory(inode.0) {
            Ok(directory) => directory,
            Err(number) => return reply.error(errno(number)),
        };
        for (number, (name, child)) in directory.names.iter().enumerate().skip(offset as usize) {
            let kind = match disk.node(*child) {
                Ok(Node::Directory(_)) => FileType::Directory,
                _ => FileType::RegularFile,
            };
            if reply.add(INodeNo(*child), number as u64 + 1, kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn fallocate(
        &self,
        _request: &Request,
        inode: INodeNo,
        _handle: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        let mut disk = self.disk();
        let now = attributes(&disk, inode.0).map(|attr| attr.size);
        let keeps_size = mode & libc::FALLOC_FL_KEEP_SIZE != 0;
        let result = now.and_then(|size| match offset + length {
            end if !keeps_size && end > size => disk.resize(inode.0, end),
            _ => Ok(()),
        });
        empty(result, reply);
    }

    fn statfs(&self, _request: &Request, _inode: INodeNo, reply: ReplyStatfs) {
        let disk = self.disk();
        let blocks = disk.capacity.min(1 << 40) / BLOCK_BYTES;
        let free = disk.free().min(1 << 40) / BLOCK_BYTES;
        reply.statfs(
            blocks,
            free,
            free,
            0,
            0,
            BLOCK_BYTES as u32,
            255,
            BLOCK_BYTES as u32,
        );
    }
}
