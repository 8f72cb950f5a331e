//! The log: a directory of binlog files, their index, and everything that is done with them.
//!
//! ```text
//!  bin.index          ./bin.000007, ./bin.000008            the truth about which files there are
//!  bin.000007         closed: ends with its last event      bin.000007.idx  its GTID index, derived
//!  bin.000008         active: in use, ends with synced zeros
//!  bin.000009         prepared: zeros only, in no index yet
//! ```
//!
//! # What is written when
//!
//! A commit group is one write, and (with `sync_binlog=1`) one sync before the next write. So at most one write is
//! unsynced at a time, and **every write that is in the log tells that everything before it was durable**. To make that
//! exact, the commit id of a group is the position where its write starts ([`crate::event::CommitId`]); a group without one
//! starts at its own Gtid event. With `sync_binlog=0` writes tell nothing; instead, records
//! ([`crate::event::IgnorableEvent::Durable`]) in front of later writes tell what was durable by then.
//!
//! # What opening finds after a crash
//!
//! Only the last file in the index can be torn; it is read from its head. At the first place that is no good event:
//!
//! - only zeros follow: the end. An event group that is not complete is cut off.
//! - good events follow: either the write was torn (the disk kept a later part of it and not an earlier one), or the log was
//!   damaged later. Each good event behind the place is asked when its write started: was that *behind* the bad place, the
//!   bad place had been durable, an acknowledged transaction is lost, and the server must not go on as if nothing was.
//!   [`crate::Error::Gap`].
//! - otherwise the tail is cut there. Nothing in it was acknowledged.
//!
//! A tail that ends before what the engines hold is an [`crate::Error::EndLost`]. Nothing on the disk is changed before all
//! this is decided. Then the last write, the one that may have been unsynced, is written again and synced (after a failed sync
//! the page cache may show what is not on the disk), the file is cut and closed, and a new one is begun.
//!
//! # The order of steps
//!
//! Each step ends with a sync (of the file, or of the directory for names) before the next begins; a crash between any two
//! leaves what the arrow says.
//!
//! *Rotation*: new file with head and prepared room → (a file that is not in the index: removed at opening) → Rotate event in
//! the old file → (the same) → index → (the old file is still in use and has zeros behind its end: it is finished at opening)
//! → old file cut, its flag cleared.
//!
//! *Large transaction*, whose file is complete and synced before ([`LargeGroup`]): head and Gtid event into the file's room → (still under a name
//! of its own: removed at opening) → renamed to the next file's name → (in no index, and the file before it is still in use: nobody was told of it,
//! removed at opening) → Rotate event in the old file → (the same) → index: it is committed → old file cut, its flag cleared.
//!
//! *Purging*: index → (files with numbers before the index's first: removed at opening) → files removed.
//!
//! *`RESET MASTER`*: new file under the name `bin.reset` → (removed at opening) → index that names it alone → (opening goes on
//! from here) → old files removed → renamed to `bin.000001` → (index names a file that is there under its new name: opening
//! writes the index) → index. The ordinal in the file's head goes on from the old log's, so positions keep growing.
//!
//! *Rewinding* a log that is not open ([`ClosedLog`]): `bin.rewind` says where → (opening goes on from here) → index that ends there → file cut →
//! files behind it removed → a new file, above all names and ordinals that were in use → `bin.rewind` removed.
//!
//! # Who may do what when
//!
//! [`Log`] is a handle to be cloned. Writing is for one leader at a time. `sync`, readers, purging, preparation and every
//! question may run beside it. Locks are taken in this order: writer, index, spare file, files, active file.

mod active;
mod config;
mod copied;
mod create;
mod directory;
mod disk;
mod files;
mod foreign;
mod grouping;
mod gtid_index;
mod handle;
mod head;
mod index_file;
mod large_group;
mod locate;
mod mend;
mod open;
mod place_large;
mod purge;
mod reader;
mod recovery;
mod reset;
mod rewind;
mod rotate;
mod simulated_disk;
mod stream;
mod survey;
mod tail;

pub use config::{LogConfig, OpenRequest, SyncMode};
pub use copied::{CopiedFile, FileEnd, GroupPlace, GroupPlaces};
pub use directory::log_file_names;
pub use disk::{BLOCK_LENGTH, Disk, DiskFile, RealDisk};
pub use files::{LogFile, PurgeBlock, PurgeOutcome, PurgeTarget};
pub use foreign::ForeignLog;
pub use grouping::{EventRole, Grouping};
pub use gtid_index::GtidIndex;
pub use handle::{Log, Preparation};
pub use large_group::LargeGroup;
pub use locate::StartPlace;
pub use place_large::LargePlace;
pub use reader::{LogReader, LoggedEvent};
pub use recovery::{Cut, Recovery, Shutdown};
pub use rewind::{ClosedLog, Lacking};
pub use simulated_disk::SimulatedDisk;
