//! Transactions: snapshots, locks, the pending overlay, and the commit pipeline, which makes a group of
//! transactions durable with one write and one sync, and visible in log order.
//!
//! ```text
//!   Session ── begin ──▶ Transaction ── commit ──▶ queue ─▶ log stage ─▶ publish stage ─▶ everyone
//!                │  ▲                                          │              │
//!          locks ▼  │ newest rows                              ▼              ▼
//!         LockManager  pending overlay ◀── placed rows ────────┘   engines, shared snapshot
//! ```
//!
//! - [`TransactionManager`] is what a server opens. Its sessions use [`Session`] and [`Transaction`].
//! - [`mod@transaction`]: isolation, reads, writes, savepoints.
//! - `lock/`: row, range and metadata locks, deadlocks. It has a README.
//! - `commit/`: the pipeline. The protocol as a whole is described in `crates/txn/README.md`.
//! - [`Positions`]: published ≤ acknowledged ≤ durable ≤ written.
//!
//! This crate knows neither SQL nor sockets. A wait in synchronous code blocks its thread, under
//! `tokio::task::block_in_place` where there is a runtime; only the wait for a commit is a future. A runtime
//! for sessions needs more `max_blocking_threads` than it has sessions: each lock wait occupies one.
#![forbid(unsafe_code)]

mod backup;
mod buffer_pool;
mod cluster;
mod commit;
mod config;
mod ddl;
mod error;
mod event_cache;
mod interrupt;
mod interrupt_reason;
mod lock;
mod log_admin;
mod log_lease;
mod manager;
mod options;
mod overlay;
mod positions;
mod replica;
mod sendable;
mod session;
mod status;
mod sync_point;
pub mod transaction;

#[cfg(test)]
mod testing;

pub use backup::BackupSource;
pub use commit::OnPublish;
pub use commit::acknowledge::{Acknowledger, DurableExtent, ImmediateAcknowledger};
pub use commit::batch::{BatchObserver, CommitStream};
pub use commit::core::{FatalHook, ManagerParts};
pub use commit::published_position::{PositionWaitOutcome, ReplicationWait};
pub use config::{
    Config, GtidStrictMode, LeaderMode, LockRelease, PublishThread, ROW_LOCK_BYTES, SyncBinlog,
};
pub use ddl::DdlCommit;
pub use error::{Error, Result, RollbackScope};
pub use event_cache::{RowChange, StatementText};
pub use interrupt::{AwaitedLock, Interrupt};
pub use interrupt_reason::InterruptReason;
pub use lock::{
    Deadlock, DeadlockHook, DeadlockMember, LockMode, LockOutcome, LockWait, MetadataGuard, MetadataKind,
    MetadataLock, MetadataMode, MetadataObject, RowLock, RowLockWait,
};
pub use log_admin::DomainDeletion;
pub use log_lease::{LeaseRegistry, LogLease};
pub use manager::TransactionManager;
pub use options::{
    GtidChoice, Lifetime, Replication, SequenceSource, SnapshotIsolation, SourceMark, TransactionOptions,
};
pub use paceline_types::{AccessMode, IsolationLevel};
pub use positions::Positions;
pub use sendable::{SendLimit, SendLimitWait};
pub use session::{GlobalReadLock, Session, TransactionProgress};
pub use status::{HISTOGRAM_BUCKETS, HistogramSnapshot, Status};
pub use sync_point::{CommitStep, SyncPoints};
pub use transaction::{
    CommitFuture, CommitOutcome, LockMark, NestedMark, PublicationWait, RowMark, RowValue, Scan, ScanEntry,
    TemporaryMark, Transaction, WriteMark,
};
