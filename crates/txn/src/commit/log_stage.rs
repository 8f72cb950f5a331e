//! The log stage: gives a group its places, writes it with one write, releases its locks, syncs it once.
//!
//! One leader at a time is in here, under the mutex of [`LogStage`]; rotation and checkpoint events take the same mutex.
//! The order of steps is the protocol; see the README.

use super::acknowledge::MadeDurable;
use super::{CommitRequest, Committed, Ending, PlacedTransaction};
use crate::config::{GtidStrictMode, LockRelease, SyncBinlog};
use crate::error::{Error, Result};
use crate::manager::{Core, unix_seconds};
use crate::positions::Durability;
use crate::sync_point::CommitStep;
use crate::transaction::{GtidChoice, Numbers, Replication};
use paceline_binlog::event::EventFlags;
use paceline_binlog::group::GroupSize;
use paceline_binlog::{BinlogState, CommitGroup, GtidMove, LOCAL_DOMAIN, RecordScope, ReplicaRecord};
use paceline_types::{DomainId, Gtid, LogPosition, SequenceNumber};
use std::sync::atomic::Ordering;
use std::time::Instant;

/// What only the leader may touch.
pub(crate) struct LogStage {
    /// The GTIDs of everything that has a place.
    state: BinlogState,
    /// Reused from group to group.
    group: CommitGroup,
    /// Numbers of transactions that are not replicated. They are in no state, so they start anew with the server.
    local_sequence: u64,
}

impl LogStage {
    pub(crate) fn new(state: BinlogState) -> Self {
        LogStage {
            state,
            group: CommitGroup::new(),
            local_sequence: 0,
        }
    }

    /// Forgets all GTIDs (RESET MASTER).
    pub(crate) fn reset(&mut self, state: BinlogState) {
        self.state = state;
    }

    /// Takes the GTID for a transaction whose place is certain.
    pub(super) fn take_gtid(&mut self, request: &CommitRequest, strict: GtidStrictMode) -> Result<Gtid> {
        if request.replication == Replication::LocalOnly {
            self.local_sequence += 1;
            return Ok(Gtid::new(
                LOCAL_DOMAIN,
                request.gtid.server_id(),
                SequenceNumber(self.local_sequence),
            ));
        }
        let next = |domain_id, server_id| {
            let sequence = self.state.next_sequence(domain_id);
            let sequence = sequence.ok_or(Error::SequenceExhausted(domain_id))?;
            Ok::<_, Error>(Gtid::new(domain_id, server_id, sequence))
        };
        let gtid = match &request.gtid {
            &GtidChoice::Next { domain_id, server_id } => next(domain_id, server_id)?,
            GtidChoice::ReplicatedFrom(given, mark) if mark.numbers == Numbers::Ours => {
                next(given.domain_id, given.server_id)?
            }
            &GtidChoice::Given(given)
            | &GtidChoice::Replicated(given)
            | &GtidChoice::ReplicatedFrom(given, _) => {
                match self.state.last(given.domain_id).filter(|_| {
                    self.state
                        .highest_sequence(given.domain_id)
                        .is_some_and(|highest| highest >= given.sequence)
                }) {
                    Some(existing) if strict == GtidStrictMode::On => {
                        return Err(Error::OutOfOrder { given, existing });
                    }
                    Some(existing) => tracing::warn!(
                        "GTID {given} goes back behind {existing}: two servers write one domain"
                    ),
                    None => {}
                }
                given
            }
        };
        self.state.update(gtid);
        Ok(gtid)
    }
}

/// What is logged in front of a replicated transaction: where it ends in its primary's log.
pub(super) fn source_record(choice: &GtidChoice) -> Option<ReplicaRecord> {
    match choice {
        GtidChoice::ReplicatedFrom(_, mark) => {
            let (connection, position) = (mark.connection.clone(), mark.position.clone());
            let mut record =
                ReplicaRecord::of_source(RecordScope::WithNextGroup, connection.clone(), Some(position));
            record
                .executed
                .extend(mark.executed.clone().map(|executed| (connection, executed)));
            Some(record)
        }
        _ => None,
    }
}

/// A group that is written (and, unless `sync_binlog=0`, durable).
pub(crate) struct WrittenGroup {
    pub(crate) transactions: Vec<PlacedTransaction>,
    /// Where it ends. A rotation behind it is a group without transactions.
    pub(crate) end: LogPosition,
    /// What it moves in `gtid_slave_pos` beside its transactions.
    pub(crate) moves: GtidMove,
    pub(crate) durable_at: Instant,
}

impl Core {
    /// Takes a group through the log stage, into the publish queue. Requests that fail are told.
    pub(crate) fn log_group(&self, mut requests: Vec<CommitRequest>) {
        if requests.first().is_some_and(|first| first.events.is_large()) {
            assert!(requests.len() == 1, "a large transaction is a group by itself");
            return requests.drain(..).for_each(|request| self.log_large(request));
        }
        let mut stage = self.log_stage.lock();
        // As it is in here: the log and this group must agree on whether it is synced.
        let config = self.config();
        if let Some(error) = self.poisoned() {
            requests
                .into_iter()
                .for_each(|request| request.fail(error.clone()));
            return;
        }
        let requests = CommitRequest::without_failed(requests);
        let Some((start, requests)) = self.reserve(requests) else {
            return;
        };
        let mut transactions = self.place(&mut stage, start, requests, config.gtid_strict_mode);
        if transactions.is_empty() {
            return;
        }
        self.sync_points.reach(CommitStep::Placed);
        let written = match self.log.append(&stage.group) {
            Ok(end) => end,
            Err(error) => return self.lose(transactions, &format!("cannot write the binary log: {error}")),
        };
        assert_eq!(written, stage.group.end(), "the group ends where it was placed");
        self.positions.advance_written(written);
        self.sync_points.reach(CommitStep::Written);
        self.overlay
            .insert(transactions.iter().map(|transaction| &transaction.writes));
        self.sync_points.reach(CommitStep::InOverlay);
        // Only now: who gets such a lock finds the row in the overlay (invariant 6).
        let small = |transaction: &PlacedTransaction| transaction.ending == Ending::AtOnce;
        if config.lock_release == LockRelease::Early {
            for transaction in transactions.iter_mut().filter(|one| small(one)) {
                transaction.escort.locks.release();
            }
        }
        self.sync_points.reach(CommitStep::LocksReleased);
        for transaction in transactions.iter().filter(|one| small(one)) {
            transaction.reply.placed();
        }
        self.counters
            .commits
            .fetch_add(transactions.len() as u64, Ordering::Relaxed);
        self.counters.group_commits.fetch_add(1, Ordering::Relaxed);
        self.counters.group_size.add(transactions.len() as u64);
        self.counters
            .log_bytes
            .fetch_add(written.offset() - stage.group.start().offset(), Ordering::Relaxed);
        match config.sync_binlog {
            SyncBinlog::EveryGroup => {
                if let Err(error) = self.sync_log() {
                    return self.lose(transactions, &error);
                }
                self.sync_points.reach(CommitStep::Durable);
                let replicated = || {
                    let all = transactions.iter().map(|transaction| transaction.committed);
                    all.filter(|committed| committed.gtid.is_some())
                };
                self.acknowledge_durable(MadeDurable {
                    durable: self.positions.durable(),
                    replicated: replicated().next_back().map(|last| last.version),
                    transactions: replicated().count() as u64,
                });
            }
            SyncBinlog::Background => {
                self.positions.advance_acknowledged(written, Durability::Deferred);
                self.background.wake_if_idle();
            }
        }
        self.publisher.push(WrittenGroup {
            transactions,
            end: written,
            moves: GtidMove::None,
            durable_at: Instant::now(),
        });
        self.rotate_if_due(&mut stage);
    }

    /// After a group: goes on in a new file if this one is long enough, and has room prepared.
    pub(super) fn rotate_if_due(&self, stage: &mut LogStage) {
        if self.log.rotation_due()
            && let Err(error) = self.rotate_in_stage(stage)
        {
            // A full disk, or no number left: the log goes on in the old file. What is fatal has been dealt with.
            tracing::warn!("the binary log was not rotated: {error}");
        }
        if self.log.wants_preparation() {
            self.background.wake_for_preparation();
        }
    }

    /// Finds room for the group. While there is none, the largest transaction is turned away: the others may fit.
    fn reserve(&self, mut requests: Vec<CommitRequest>) -> Option<(LogPosition, Vec<CommitRequest>)> {
        let need = |request: &CommitRequest| {
            let source = source_record(&request.gtid)
                .map_or(0, |record| record.length_max() + CommitGroup::RECORD_OVERHEAD);
            request.events.len() + CommitGroup::GTID_EVENT_LENGTH_MAX + source
        };
        loop {
            if requests.is_empty() {
                return None;
            }
            match self.log.reserve(requests.iter().map(need).sum()) {
                Ok(start) => return Some((start, requests)),
                Err(error @ paceline_binlog::Error::NoSpace { .. }) => {
                    let largest = (0..requests.len())
                        .max_by_key(|at| need(&requests[*at]))
                        .expect("not empty");
                    CommitRequest::refuse_at(&mut requests, largest, error.into());
                }
                Err(error) => {
                    let error = self.fatal(&format!("cannot prepare room in the binary log: {error}"));
                    requests
                        .into_iter()
                        .for_each(|request| request.fail(error.clone()));
                    return None;
                }
            }
        }
    }

    /// Gives out GTIDs and places. `stage.group` is what is to be written then.
    fn place(
        &self,
        stage: &mut LogStage,
        start: LogPosition,
        requests: Vec<CommitRequest>,
        strict: GtidStrictMode,
    ) -> Vec<PlacedTransaction> {
        assert!(
            start >= self.positions.written(),
            "a group starts at {start}, behind what is written"
        );
        let mut accepted = Vec::with_capacity(requests.len());
        for request in requests {
            if request.is_of_failed_stream() {
                request.fail(Error::Aborted);
                continue;
            }
            match stage.take_gtid(&request, strict) {
                Ok(gtid) => accepted.push((request, gtid)),
                Err(error) => request.refuse(error),
            }
        }
        stage.group.begin(
            start,
            if accepted.len() > 1 {
                GroupSize::Several
            } else {
                GroupSize::Single
            },
        );
        let mut end = start;
        let mut transactions = Vec::with_capacity(accepted.len());
        let mut used = Vec::with_capacity(accepted.len());
        for (request, gtid) in accepted {
            let CommitRequest {
                mut events,
                rows,
                replication,
                reply,
                escort,
                gtid: choice,
            } = request;
            if let Some(record) = source_record(&choice) {
                let placed = stage
                    .group
                    .add_replica_record(events.timestamp(), gtid.server_id, record);
                end = placed.end;
            }
            if choice.is_replicated() {
                events.set_gtid_event_flags(EventFlags::REPLICATED);
            }
            let placed = stage.group.add(&mut events, gtid);
            assert_eq!(
                placed.start, end,
                "the transactions of a group follow each other without a gap"
            );
            assert!(placed.end > placed.start, "a transaction takes room in the log");
            end = placed.end;
            used.push(events);
            let (writes, built) = rows.place(placed.end);
            let ending = Ending::of(&writes);
            transactions.push(PlacedTransaction {
                committed: Committed {
                    gtid: (replication != Replication::LocalOnly).then_some(gtid),
                    version: placed.end,
                },
                is_replicated: choice.is_replicated(),
                writes,
                built,
                reply,
                escort,
                ending,
            });
        }
        self.buffers.give_back(used);
        transactions
    }

    /// One sync of the log; its failure is fatal, and has been dealt with when the error's text is returned.
    pub(crate) fn sync_log(&self) -> std::result::Result<(), String> {
        let start = Instant::now();
        match self.log.sync() {
            Ok(durable) => {
                self.counters.sync_time.record(start.elapsed());
                self.positions
                    .advance_durable(durable.min(self.positions.written()));
                Ok(())
            }
            Err(error) => Err(format!("cannot sync the binary log: {error}")),
        }
    }

    /// What is durable is acknowledged now or later, and may be sent.
    pub(super) fn acknowledge_durable(&self, made: MadeDurable) {
        let acknowledged = self.acknowledger.made_durable(made);
        self.positions
            .advance_acknowledged(acknowledged, Durability::Required);
        self.sendable.advance(made.durable);
    }

    /// A sync beside the log stage (`sync_binlog=0`): what is durable may be sent.
    pub(crate) fn sync_in_background(&self) -> std::result::Result<(), String> {
        self.sync_log()?;
        if self.config().sync_binlog == SyncBinlog::Background {
            self.sendable.advance(self.positions.durable());
        }
        Ok(())
    }

    /// What is written but will never be acknowledged: the server stops.
    pub(super) fn lose(&self, transactions: Vec<PlacedTransaction>, message: &str) {
        let error = self.fatal(message);
        for transaction in transactions {
            transaction.tell(Err(error.clone()));
        }
    }

    /// Goes on in a new file. The new place is published in order, like a group without transactions.
    pub(crate) fn rotate_in_stage(&self, stage: &mut LogStage) -> Result<LogPosition> {
        self.rotate_without_in_stage(stage, &[])
    }

    /// As [`Self::rotate_in_stage`], forgetting these domains.
    pub(crate) fn rotate_without_in_stage(
        &self,
        stage: &mut LogStage,
        domains: &[DomainId],
    ) -> Result<LogPosition> {
        match self.log.rotate_without(domains, unix_seconds()) {
            Ok(position) => {
                for domain_id in domains {
                    stage.state.remove_domain(*domain_id);
                }
                self.reach_in_stage(position, GtidMove::None);
                self.background.wake_for_expiry();
                Ok(position)
            }
            Err(
                error @ (paceline_binlog::Error::NoSpace { .. }
                | paceline_binlog::Error::NumbersExhausted
                | paceline_binlog::Error::DomainInUse(_)),
            ) => Err(error.into()),
            Err(error) => Err(self.fatal(&format!("cannot rotate the binary log: {error}"))),
        }
    }

    /// The log has grown by something that is no transaction and that is synced later (`sync_binlog=0`).
    pub(crate) fn reach_unsynced_in_stage(&self, position: LogPosition) {
        self.positions.advance_written(position);
        self.positions
            .advance_acknowledged(position, Durability::Deferred);
        self.publisher.push(WrittenGroup {
            transactions: Vec::new(),
            end: position,
            moves: GtidMove::None,
            durable_at: Instant::now(),
        });
        self.background.wake_if_idle();
    }

    /// The log has grown, durably, by something that is no transaction.
    pub(crate) fn reach_in_stage(&self, position: LogPosition, moves: GtidMove) {
        self.positions.advance_written(position);
        self.positions.advance_durable(position);
        self.acknowledge_durable(MadeDurable {
            durable: position,
            replicated: None,
            transactions: 0,
        });
        self.publisher.push(WrittenGroup {
            transactions: Vec::new(),
            end: position,
            moves,
            durable_at: Instant::now(),
        });
    }
}
