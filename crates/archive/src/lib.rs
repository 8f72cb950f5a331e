//! The archive: a server with no tables that keeps the log of one primary or several, and serves it on.
//!
//! ```text
//!                 ┌ acknowledgement (semi-sync) ◀────────────┐
//!                 ▼                                          │ durable
//!   primary ──▶ Follower: Source ▸ Assembler ──groups──▶ Writer ──▶ Log ──▶ Primary (stream a replica) ──▶ replicas
//!   primary ──▶ Follower                                            │
//! ```
//!
//! # What is kept
//!
//! Whole event groups, **byte for byte**: the primary's GTID with its flags and commit id, annotations, table maps, rows, statements with their
//! context, compressed events as they are. Two fields of each event are the archive's own, because they say where it stands: the end position
//! in its header, and with it the checksum. A primary's own file names and offsets are *not* kept: they end with that primary, and a replica that
//! has GTIDs does not need them. So the archive's log goes on through any change of primary, and holds several primaries' domains side by side.
//!
//! The log is the same [`Log`](paceline_binlog::Log) that a server writes, with the same recovery: a torn tail is cut, a gap is refused. Its mode is
//! [`Deferred`](paceline_binlog::log::SyncMode::Deferred), though every write is synced before anything is told of it: in that mode recovery
//! goes by records of its own in front of each write and does not look at commit ids, which here are other servers'.
//!
//! # Where it goes on
//!
//! There is no state beside the log. What it holds *is* its position: after a crash, or when the primary is another one, it asks for what
//! follows the last GTID of each domain. A group that is not complete is not written, so nothing has to be taken back. What arrives a second time
//! (two connections that bring the same domain) is found out by its GTID and left out. Numbers that are out of order are kept as the primary
//! logged them, with a warning: an archive does not judge.
//!
//! A new archive begins where its primaries' logs begin ([`begin`]).
//!
//! # Orderings that must hold
//!
//! | First | Then | Otherwise |
//! |---|---|---|
//! | a group is durable here | it is acknowledged to the primary | a commit is told that is safe in one place only |
//! | a group is durable here | it is sent to a replica | the replica has what a crash of the archive takes back |
//! | what was received before is written | a new connection asks for what follows | it is received twice |
//! | something is in closed files, or before them | they are copied to the storage | another file comes under an object's name |
//!
//! # The parts
//!
//! - [`options`]: what it is told. [`shared`]: its log, and as whom it follows. [`archive`]: all of it. [`startup`]: start and end.
//! - [`writer`]: from groups to the log. [`follow`]: connections to primaries. [`begin`]: where a new archive begins.
//! - [`keeper`]: closed files are compressed, copied to object storage, and go in time. [`disk`]: the log sees them all the same.
//! - [`stored`]: its files read from outside of it.
//! - [`serve`]: clients and replicas: login, the handful of statements that they ask.
#![forbid(unsafe_code)]

pub mod archive;
pub mod begin;
mod clock;
pub mod closed_files;
pub mod disk;
pub mod error;
pub mod follow;
pub mod keeper;
pub mod options;
mod refill;
pub mod serve;
pub mod shared;
pub mod startup;
pub mod stored;
pub mod writer;

pub use error::{Error, Result};
pub use options::ArchiveOptions;
