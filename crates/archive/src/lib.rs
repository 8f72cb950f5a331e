//! The archive: a server without tables that stores the log of one or several primaries and serves it to replicas.
//!
//! ```text
//!                 ┌ acknowledgement (semi-sync) ◀────────────┐
//!                 ▼                                          │ durable
//!   primary ──▶ Follower: Source ▸ Assembler ──groups──▶ Writer ──▶ Log ──▶ Primary (stream a replica) ──▶ replicas
//!   primary ──▶ Follower                                            │
//! ```
//!
//! # What is stored
//!
//! Whole event groups, **byte for byte**: the primary's GTID with its flags and commit id, annotations, table maps,
//! rows, statements with their context, compressed events unchanged. Two fields of each event are the archive's own,
//! because they depend on its position in the log: the end position in the header, and the checksum. The primaries'
//! file names and offsets are *not* stored: they are lost with the primary anyway, and a replica that uses GTIDs does
//! not need them. So the archive's log continues through any change of primary, and holds the domains of several
//! primaries side by side.
//!
//! The log is the same [`Log`](paceline_binlog::Log) that a server writes, with the same recovery: a torn tail is cut,
//! a gap is refused. Its mode is [`Deferred`](paceline_binlog::log::SyncMode::Deferred), although every write is synced
//! before anything is acknowledged or sent. In this mode recovery uses records that the log adds before each write, and
//! does not look at commit ids, which here belong to other servers.
//!
//! # Where it continues
//!
//! There is no state besides the log. The log's contents *are* the archive's position: after a crash or a change of
//! primary it requests the transactions after the last GTID of each domain. An incomplete group is never written, so
//! nothing has to be undone. A transaction that arrives twice (two connections carry the same domain) is recognized by
//! its GTID and dropped. Sequence numbers that are out of order are stored as the primary logged them, with a warning:
//! an archive does not judge.
//!
//! A new archive's log begins where the logs of its primaries begin ([`log_start`]).
//!
//! # Orderings that must hold
//!
//! | First | Then | Otherwise |
//! |---|---|---|
//! | a group is durable here | it is acknowledged to the primary | a commit is reported that is safe in one place only |
//! | a group is durable here | it is sent to a replica | the replica has a transaction that a crash of the archive loses |
//! | everything received before is written | a new connection requests what follows | transactions are received twice |
//! | a closed file, or the state before it, has a GTID | it is copied to the storage | a later file has the name of an existing object |
//!
//! # The parts
//!
//! - [`options`]: the options. [`context`]: the log, and the archive's identity towards its primaries. [`archive`]: the
//!   whole archive. [`startup`]: start and stop.
//! - [`writer`]: writes event groups to the log. [`follow`]: connections to primaries. [`log_start`]: beginning of a
//!   new archive's log.
//! - [`retention`]: compresses closed files, copies them to object storage, removes them. [`disk`]: makes them readable
//!   for the log in every form.
//! - [`stored_files`]: reads an archive's files from outside the archive.
//! - [`serve`]: clients and replicas: login, and the few statements that they use.
//! - [`member`]: a member of a cluster that has only its log; [`acknowledged`]: how far the cluster has acknowledged
//!   it. [`member_run`]: such a member from an opened log to its end. [`hold`]: a server's log before its tables are
//!   opened. [`log_holder`]: an archive that is a member.
//! - `statistics`: each value once, for SHOW STATUS and for `http`, the address for Prometheus and probes.
#![forbid(unsafe_code)]

pub mod acknowledged;
pub mod archive;
mod clients;
mod clock;
pub mod closed_files;
pub mod context;
pub mod disk;
pub mod error;
pub mod follow;
pub mod hold;
mod http;
mod index_from_storage;
pub mod log_holder;
pub mod log_start;
pub mod member;
pub mod member_run;
pub mod options;
pub mod retention;
pub mod serve;
pub mod startup;
mod statistics;
pub mod stored_files;
#[cfg(test)]
mod test_support;
pub mod writer;

pub use error::{Error, Result};
pub use options::ArchiveOptions;
