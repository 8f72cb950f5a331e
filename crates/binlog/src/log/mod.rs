//! The log: a directory of binlog files, their index, and all operations on them.
//!
//! ```text
//!  bin.index          ./bin.000007, ./bin.000008            decides which files belong to the log
//!  bin.000007         closed: ends with its last event      bin.000007.idx  its GTID index, derived
//!  bin.000008         active: in use, ends with synced zeros
//!  bin.000009         prepared: zeros only, in no index yet
//! ```
//!
//! # Where
//!
//! - `handle.rs`: [`Log`] and its shared state. `extent.rs`: its written and its durable end. `config.rs`: settings.
//! - `files/`: what a file of the log looks like, how one is read to its end, the active file, the lists of files.
//! - `opening/`: what [`Log::open`] finds, decides and repairs.
//! - `appending/`: commit groups, rotation, transactions with a file of their own.
//! - `reading/`: readers, and where a GTID is.
//! - `removal/`: purging, `RESET MASTER`.
//! - `offline/`: logs and log files that no server has open.
//!
//! # What the log says about durability
//!
//! A commit group is one write and (with `sync_binlog=1`) one sync before the next write. So at most one write is
//! unsynced at a time, and **every write in the log proves that everything before it was durable**. To make this
//! exact, the commit id of a group is the position where its write starts ([`crate::event::CommitId`]); the write of
//! a group without a commit id starts at its own Gtid event. With `sync_binlog=0` writes prove nothing. Instead,
//! records ([`crate::event::IgnorableEvent::Durable`]) before later writes state what was durable by then.
//!
//! # Opening after a crash
//!
//! Only the last file in the index can be torn. It is read from its head. At the first bytes that are not a valid
//! event:
//!
//! - If only zeros follow, this is the end. An incomplete event group is cut off.
//! - If valid events follow, either the write was torn (the disk kept a later part of it and lost an earlier one), or
//!   the log was damaged later. For each valid event after the bad place, the start of its write is determined. If
//!   that start is *after* the bad place, the bad place had been durable: an acknowledged transaction is lost, and
//!   the server must not continue as if nothing had happened. The result is [`crate::Error::Gap`].
//! - Otherwise the tail is cut there. Nothing in it was acknowledged.
//!
//! A log that ends before the engines' position is refused with [`crate::Error::EndLost`]. Nothing on the disk is
//! changed before all of this is decided. Then the last write, which may have been unsynced, is written again and
//! synced (after a failed sync, the page cache may show data that is not on the disk), the file is cut and closed,
//! and a new one is begun.
//!
//! # The order of steps
//!
//! Each step ends with a sync (of the file, or of the directory for names) before the next begins. The text in
//! parentheses says what a crash at that point leaves.
//!
//! *Rotation*: new file with head and prepared space → (a file that is not in the index: removed at opening) → Rotate
//! event in the old file → (the same) → index → (the old file is still in use and has zeros after its end: finished
//! at opening) → old file cut, its in-use flag cleared.
//!
//! *Large transaction*, whose file is already complete and synced ([`LargeGroup`]): head and Gtid event into the
//! space at the file's start → (still under a name of its own: removed at opening) → renamed to the next file's name
//! → (in no index, and the file before it is still in use: the commit was not reported, removed at opening) →
//! Rotate event in the old file → (the same) → index: the transaction is committed → old file cut, its in-use flag
//! cleared.
//!
//! *Purging*: index → (files with numbers below the index's first: removed at opening) → files removed.
//!
//! *`RESET MASTER`*: new file under the name `bin.reset` → (removed at opening) → index that names only this file →
//! (opening continues from here) → old files removed → renamed to `bin.000001` → (the index names a file that exists
//! only under its new name: opening writes the index) → index. The ordinal in the file's head continues that of the
//! old log, so positions keep growing.
//!
//! *Rewinding* a log that is not open ([`ClosedLog`]): `bin.rewind` with the new end → (opening continues from here)
//! → index that ends there → file cut → later files removed → a new file, above all names and ordinals that were in
//! use → `bin.rewind` removed.
//!
//! # Concurrency
//!
//! [`Log`] is a handle that can be cloned. Only one leader at a time may write. `sync`, readers, purging, preparation
//! and all queries may run concurrently with it. Locks are taken in this order: writer, index, prepared file, files,
//! active file, extent.

mod appending;
mod config;
mod extent;
mod files;
mod handle;
mod offline;
mod opening;
mod reading;
mod removal;

pub use crate::disk::{BLOCK_LENGTH, Disk, DiskFile, RealDisk};
pub use crate::group::LargeGroup;
pub use appending::large_commit::LargeCommitSlot;
pub use config::{LogConfig, OpenRequest, SyncMode};
pub use extent::LogEnd;
pub use files::entry::{LogFile, PurgeBlock, PurgeOutcome, PurgeTarget};
pub use files::grouping::{EventRole, Grouping};
pub use files::gtid_index::GtidIndex;
pub use handle::{Log, Preparation};
pub use offline::detached_file::{DetachedFile, FileEnd, GroupLocation, GroupLocations};
pub use offline::directory::log_file_names;
pub use offline::read_only_log::ReadOnlyLog;
pub use offline::rewind::{ClosedLog, MissingTransactions};
pub use opening::recovery::{CutTail, Recovery, Shutdown};
pub use reading::locate::ServeStart;
pub use reading::reader::{LogReader, LoggedEvent};
