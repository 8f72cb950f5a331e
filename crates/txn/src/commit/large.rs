//! Large transactions: committed by a rename and an ingestion, so that others wait only milliseconds, however
//! large they are.
//!
//! ```text
//!  session, while it runs   events ──▶ a file with room at its head
//!           at COMMIT       events sealed: synced, with room behind      rows ──▶ table files, carrying a mark in place of the version
//!  log stage, alone         GTID and head into the room ▸ file becomes the log's next: written, durable ▸ overlay (the set as one)
//!  publish stage            table files ingested with the position ▸ snapshot ▸ overlay forgets
//!  a thread of its own      row locks released ▸ placed ▸ reported             (millions of locks take a second)
//! ```
//!
//! This differs from the order of all others (README of the crate) as follows: the group has one transaction,
//! it is durable when it is written, and its row locks are kept until it is published, because releasing them
//! would delay the next group. The next holder of such a lock finds the row in the published snapshot.
//!
//! A crash before the log's index names the file leaves nothing of the transaction. After a later crash,
//! recovery replays it from the log and does not need the table files.

use super::acknowledge::WrittenTransactions;
use super::core::{Core, unix_seconds};
use super::log_stage::{Writing, WrittenGroup, source_record};
use super::marks::OpenMark;
use super::{CommitPlace, CommitRequest, CommitRows, Completion, Outcome, PlacedTransaction};
use crate::error::{Error, Result};
use crate::options::Replication;
use crate::sync_point::CommitStep;
use paceline_binlog::event::EventFlags;
use paceline_binlog::{EventGroupBuffer, PositionChange};
use paceline_storage::{MarkedWriteSet, RowFiles, WriteSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Divisor of `binlog_large_commit_threshold`: from that size on, rows go into table files; smaller ones are
/// applied like those of any other transaction.
const BUILT_ROWS_PART: u64 = 4;

/// Rows that are already in table files.
pub(crate) struct BuiltRows {
    pub(crate) set: MarkedWriteSet,
    pub(crate) files: RowFiles,
}

impl Core {
    /// Brings a complete transaction, whose events are in a file, into the form in which it is committed. Runs
    /// in its session's thread, for as long as the disk takes.
    pub(crate) fn seal_large(&self, events: &mut EventGroupBuffer, writes: WriteSet) -> Result<CommitRows> {
        crate::lock::owner::blocking(|| {
            events.seal()?;
            let is_large_enough =
                writes.memory_bytes() as u64 >= self.config().large_transaction_bytes / BUILT_ROWS_PART;
            let mark = match writes.version_mark() {
                Some(mark) => Some(mark),
                None if is_large_enough && writes.deleted_ranges().is_empty() => {
                    self.next_mark().map(|open| open.mark())
                }
                None => None,
            };
            let Some(mark) = mark else {
                return Ok(CommitRows::InMemory(writes.complete()));
            };
            let set = writes.assign_mark(mark)?;
            let files = self.storage.build_rows(&set)?;
            Ok(CommitRows::Built(Box::new(BuiltRows { set, files })))
        })
    }

    /// Takes a mark for a large transaction's rows; `None` if the log's current file has used up its marks.
    pub(crate) fn next_mark(&self) -> Option<OpenMark> {
        self.marks.take(self.log.written().ordinal())
    }

    /// Takes a large transaction through the log stage, into the publish queue.
    pub(crate) fn log_large(&self, request: CommitRequest) {
        let mut stage = self.log_stage.lock();
        let config = self.config();
        if let Some(error) = self.poisoned() {
            return request.fail(error);
        }
        if request.is_of_failed_stream() {
            return request.fail(Error::Aborted);
        }
        if stage.writing == Writing::Stopped {
            return request.refuse(Error::WritingStopped);
        }
        let start = self.positions.written();
        let place =
            self.log
                .reserve_large_commit(&request.events, source_record(&request.gtid), unix_seconds());
        let place = match place {
            Ok(place) => place,
            Err(
                error @ (paceline_binlog::Error::NoSpace { .. }
                | paceline_binlog::Error::NumbersExhausted
                | paceline_binlog::Error::HeadOutgrown),
            ) => return request.refuse(error.into()),
            Err(error) => {
                let error = self.fatal(&format!("cannot rotate the binary log: {error}"));
                return request.fail(error);
            }
        };
        let gtid = match stage.take_gtid(&request, config.gtid_strict_mode) {
            Ok(gtid) => gtid,
            Err(error) => {
                drop(place);
                return request.refuse(error);
            }
        };
        self.sync_points.reach(CommitStep::Placed);
        let CommitRequest {
            mut events,
            rows,
            replication,
            receiver,
            attachments,
            gtid: choice,
        } = request;
        if choice.is_replicated() {
            events.set_gtid_event_flags(EventFlags::REPLICATED);
        }
        let placed = place.commit(&mut events, gtid);
        let version = match &placed {
            Ok(placed) => placed.end,
            // The log may or may not contain it: the next start finds out.
            Err(_) => start,
        };
        let (writes, built) = rows.place(version);
        let transaction = PlacedTransaction {
            committed: CommitPlace {
                gtid: (replication != Replication::LocalOnly).then_some(gtid),
                version,
            },
            is_replicated: choice.is_replicated(),
            writes,
            built,
            receiver,
            attachments,
            completion: Completion::OwnThread,
        };
        if let Err(error) = placed {
            return self.fail_written(
                vec![transaction],
                &format!("cannot write the binary log: {error}"),
            );
        }
        assert!(
            version > start,
            "a large transaction is placed after everything that is written"
        );
        self.positions.advance_written(version);
        self.sync_points.reach(CommitStep::Written);
        self.overlay.insert([&transaction.writes]);
        self.sync_points.reach(CommitStep::InOverlay);
        self.counters.commits.fetch_add(1, Ordering::Relaxed);
        self.counters.group_commits.fetch_add(1, Ordering::Relaxed);
        self.counters.group_size.add(1);
        self.counters
            .log_bytes
            .fetch_add(version.offset(), Ordering::Relaxed);
        self.positions.advance_durable(version);
        self.sync_points.reach(CommitStep::Durable);
        let transactions = vec![transaction];
        self.acknowledge_durable_in_stage(WrittenTransactions::of(&transactions));
        self.publisher.push(WrittenGroup {
            transactions,
            end: version,
            moves: PositionChange::None,
            durable_at: Instant::now(),
        });
        self.rotate_if_due(&mut stage);
    }
}

impl PlacedTransaction {
    /// Releases the locks, frees the memory and notifies the session, in a separate thread: other transactions
    /// are published meanwhile.
    pub(super) fn report_in_thread(self, result: Result<CommitPlace>) {
        let cell = Arc::new(parking_lot::Mutex::new(Some((self, result))));
        let end = {
            let cell = cell.clone();
            move || {
                let taken = cell.lock().take();
                if let Some((transaction, result)) = taken {
                    transaction.end(result);
                }
            }
        };
        let thread = std::thread::Builder::new().name("large-commit".into());
        if let Err(error) = thread.spawn(end) {
            tracing::warn!("a large transaction ends in the publisher's thread: {error}");
            let taken = cell.lock().take();
            if let Some((transaction, result)) = taken {
                transaction.end(result);
            }
        }
    }

    fn end(self, result: Result<CommitPlace>) {
        let PlacedTransaction {
            receiver,
            mut attachments,
            writes,
            built,
            ..
        } = self;
        attachments.locks.release();
        receiver.report_placed();
        drop((writes, built));
        receiver.deliver(Outcome {
            result,
            _attachments: Some(attachments),
        });
    }
}
