//! The log stage: places a group, writes it with one write, releases its locks, syncs it once.
//!
//! One leader at a time is in this stage, under the mutex of [`LogStage`]; rotation and checkpoint events take
//! the same mutex. The order of the steps is the protocol; see the crate's README.

use super::acknowledge::WrittenTransactions;
use super::core::{Core, unix_seconds};
use super::{CommitPlace, CommitRequest, Completion, PlacedTransaction};
use crate::config::{GtidStrictMode, LockRelease, SyncBinlog};
use crate::error::{Error, Result};
use crate::options::{GtidChoice, Replication, SequenceSource};
use crate::positions::Durability;
use crate::sync_point::CommitStep;
use paceline_binlog::event::EventFlags;
use paceline_binlog::group::GroupSize;
use paceline_binlog::{
    CommitGroup, GtidPosition, GtidState, LOCAL_DOMAIN, PositionChange, RecordScope, ReplicaRecord,
};
use paceline_types::{DomainId, Gtid, LogIndex, LogPosition, SequenceNumber, ServerId};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// State that only the leader may touch.
pub(crate) struct LogStage {
    /// GTIDs of everything that is placed.
    state: GtidState,
    /// Sequence numbers that `gtid_slave_pos` was set to in each domain. Transactions written here get higher
    /// ones, though the log has no transaction with that number.
    floors: BTreeMap<DomainId, SequenceNumber>,
    /// Reused from group to group.
    pub(super) group: CommitGroup,
    /// Whether transactions of clients and appliers are refused ([`crate::TransactionManager::stop_writing`]).
    pub(super) writing: Writing,
    /// Last number of a transaction that is not replicated. These are part of no state, so they restart with
    /// the server.
    local_sequence: u64,
}

/// Whether transactions may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writing {
    Allowed,
    Stopped,
}

impl LogStage {
    /// Creates the stage for a log with that state, on a server with that `gtid_slave_pos`.
    pub(crate) fn new(state: GtidState, replicated: &GtidPosition) -> Self {
        let mut stage = LogStage {
            state,
            floors: BTreeMap::new(),
            group: CommitGroup::new(),
            writing: Writing::Allowed,
            local_sequence: 0,
        };
        replicated.iter().for_each(|gtid| stage.number_after(gtid));
        stage
    }

    /// Replaces all GTIDs by those of `state` (RESET MASTER).
    pub(crate) fn reset(&mut self, state: GtidState) {
        self.state = state;
        self.floors.clear();
    }

    /// Makes the numbers of transactions written here higher than this GTID's, as MariaDB does. Otherwise this
    /// server's transactions would look older than its initial state, and replicas that have that state as well
    /// would skip them.
    pub(crate) fn number_after(&mut self, gtid: Gtid) {
        let floor = self.floors.entry(gtid.domain_id).or_insert(gtid.sequence);
        *floor = gtid.sequence.max(*floor);
    }

    /// Returns the next GTID of a server in a domain.
    fn next_gtid(&self, domain_id: DomainId, server_id: ServerId) -> Result<Gtid> {
        let floor = self.floors.get(&domain_id);
        let sequence = match (self.state.next_sequence(domain_id), floor) {
            (Some(next), Some(floor)) if next <= *floor => floor.0.checked_add(1).map(SequenceNumber),
            (next, _) => next,
        };
        let sequence = sequence.ok_or(Error::SequenceExhausted(domain_id))?;
        Ok(Gtid::new(domain_id, server_id, sequence))
    }

    /// Takes the next GTID of a server in a domain, for a group whose log position is certain.
    pub(super) fn take_next_gtid(&mut self, domain_id: DomainId, server_id: ServerId) -> Result<Gtid> {
        let gtid = self.next_gtid(domain_id, server_id)?;
        self.state.update(gtid);
        Ok(gtid)
    }

    /// Takes the GTID for a transaction whose log position is certain.
    pub(super) fn take_gtid(&mut self, request: &CommitRequest, strict: GtidStrictMode) -> Result<Gtid> {
        if request.replication == Replication::LocalOnly {
            self.local_sequence += 1;
            return Ok(Gtid::new(
                LOCAL_DOMAIN,
                request.gtid.server_id(),
                SequenceNumber(self.local_sequence),
            ));
        }
        let next = |domain_id, server_id| self.next_gtid(domain_id, server_id);
        let gtid = match &request.gtid {
            &GtidChoice::Next { domain_id, server_id } => next(domain_id, server_id)?,
            GtidChoice::ReplicatedFrom(given, mark) if mark.numbers == SequenceSource::Local => {
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

/// Returns the record that is logged before a replicated transaction: where it ends in its primary's log.
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

/// Group that is written (and, unless `sync_binlog=0`, durable).
pub(crate) struct WrittenGroup {
    pub(crate) transactions: Vec<PlacedTransaction>,
    /// End of the group. A rotation after it is a group without transactions.
    pub(crate) end: LogPosition,
    /// Moves in `gtid_slave_pos` beyond those of its transactions.
    pub(crate) moves: PositionChange,
    pub(crate) durable_at: Instant,
}

impl Core {
    /// Takes a group through the log stage, into the publish queue. Requests that fail are answered.
    pub(crate) fn log_group(&self, mut requests: Vec<CommitRequest>) {
        if requests.first().is_some_and(|first| first.events.is_large()) {
            assert!(requests.len() == 1, "a large transaction is a group by itself");
            return requests.drain(..).for_each(|request| self.log_large(request));
        }
        let mut stage = self.log_stage.lock();
        // Read inside the stage: the log and this group must agree on whether it is synced.
        let config = self.config();
        if let Some(error) = self.poisoned() {
            requests
                .into_iter()
                .for_each(|request| request.fail(error.clone()));
            return;
        }
        if stage.writing == Writing::Stopped {
            return requests
                .into_iter()
                .for_each(|request| request.refuse(Error::WritingStopped));
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
            Err(error) => {
                return self.fail_written(transactions, &format!("cannot write the binary log: {error}"));
            }
        };
        assert_eq!(written, stage.group.end(), "the group ends where it was placed");
        self.positions.advance_written(written);
        self.sync_points.reach(CommitStep::Written);
        self.overlay
            .insert(transactions.iter().map(|transaction| &transaction.writes));
        self.sync_points.reach(CommitStep::InOverlay);
        // Only now: the next holder of such a lock finds the row in the overlay (invariant 6).
        let small = |transaction: &PlacedTransaction| transaction.completion == Completion::Inline;
        if config.lock_release == LockRelease::Early {
            for transaction in transactions.iter_mut().filter(|one| small(one)) {
                transaction.attachments.locks.release();
            }
        }
        self.sync_points.reach(CommitStep::LocksReleased);
        for transaction in transactions.iter().filter(|one| small(one)) {
            transaction.receiver.report_placed();
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
                    return self.fail_written(transactions, &error);
                }
                self.sync_points.reach(CommitStep::Durable);
                self.acknowledge_durable_in_stage(WrittenTransactions::of(&transactions));
            }
            SyncBinlog::Background => {
                match self.acknowledger.waits_for_sync() {
                    true => self.unreported.add(WrittenTransactions::of(&transactions)),
                    false => self.positions.advance_acknowledged(written, Durability::Deferred),
                }
                self.background.wake_if_idle();
            }
        }
        self.publisher.push(WrittenGroup {
            transactions,
            end: written,
            moves: PositionChange::None,
            durable_at: Instant::now(),
        });
        stage.group.free_written();
        self.rotate_if_due(&mut stage);
    }

    /// Continues in a new file after a group, if this one is long enough, and has room prepared.
    pub(super) fn rotate_if_due(&self, stage: &mut LogStage) {
        if self.log.rotation_due()
            && let Err(error) = self.rotate_in_stage(stage)
        {
            // A full disk, or no file number left: the log continues in the old file. Fatal errors are already
            // handled.
            tracing::warn!("the binary log was not rotated: {error}");
        }
        if self.log.wants_preparation() {
            self.background.wake_for_preparation();
        }
    }

    /// Reserves room for the group. While there is none, the largest transaction is refused: the others may
    /// fit.
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

    /// Assigns GTIDs and log positions. Afterwards `stage.group` is the group to be written.
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
                receiver,
                attachments,
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
            let completion = Completion::of(&writes);
            transactions.push(PlacedTransaction {
                committed: CommitPlace {
                    gtid: (replication != Replication::LocalOnly).then_some(gtid),
                    version: placed.end,
                },
                is_replicated: choice.is_replicated(),
                writes,
                built,
                receiver,
                attachments,
                completion,
            });
        }
        self.buffers.give_back(used);
        transactions
    }

    /// Syncs the log once. If it fails, returns the text of the error, which the caller must treat as fatal.
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

    /// Reports to the acknowledger that everything written is durable, and allows it to be sent.
    pub(crate) fn acknowledge_durable_in_stage(&self, written: WrittenTransactions) {
        // Nothing is written meanwhile, and records of the log itself have no index.
        self.acknowledge_durable((self.positions.durable(), self.log.durable_index()), written);
    }

    fn acknowledge_durable(&self, durable: (LogPosition, LogIndex), written: WrittenTransactions) {
        let answer = self.unreported.report(&*self.acknowledger, durable, written);
        if let Some(acknowledged) = answer {
            self.positions
                .advance_acknowledged(acknowledged, Durability::Required);
        }
        self.sendable.advance(durable.0);
    }

    /// Syncs the log outside the log stage (`sync_binlog=0`), and allows the durable part to be sent. If the
    /// acknowledger waits for that, the publisher's thread publishes what it acknowledges: an engine that is about to
    /// flush may have called this.
    pub(crate) fn sync_in_background(&self) -> std::result::Result<(), String> {
        self.sync_log()?;
        if self.config().sync_binlog == SyncBinlog::Background {
            self.report_synced();
        }
        Ok(())
    }

    /// Reports what was synced outside the log stage.
    fn report_synced(&self) {
        if !self.acknowledger.waits_for_sync() {
            return self.sendable.advance(self.positions.durable());
        }
        let durable = self.log.durable_with_index();
        // A leader has written more, which it has not counted yet. The next sync reports it.
        if durable.0 <= self.positions.written() {
            self.positions.advance_durable(durable.0);
            self.acknowledge_durable(durable, WrittenTransactions::default());
            self.background.call_publisher();
        }
    }

    /// Ends transactions that are written but will never be acknowledged, and stops the server.
    pub(super) fn fail_written(&self, transactions: Vec<PlacedTransaction>, message: &str) {
        let error = self.fatal(message);
        for transaction in transactions {
            transaction.report(Err(error.clone()));
        }
    }

    /// Continues in a new file. Its start is published in order, like a group without transactions.
    pub(crate) fn rotate_in_stage(&self, stage: &mut LogStage) -> Result<LogPosition> {
        self.rotate_without_in_stage(stage, &[])
    }

    /// Continues in a new file as [`Self::rotate_in_stage`] does, without these domains.
    pub(crate) fn rotate_without_in_stage(
        &self,
        stage: &mut LogStage,
        domains: &[DomainId],
    ) -> Result<LogPosition> {
        match self.log.rotate_deleting_domains(domains, unix_seconds()) {
            Ok(position) => {
                for domain_id in domains {
                    stage.state.remove_domain(*domain_id);
                }
                self.reach_in_stage(position, PositionChange::None);
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

    /// Records that the log has grown by something other than a transaction, which is synced later
    /// (`sync_binlog=0`).
    pub(crate) fn reach_unsynced_in_stage(&self, position: LogPosition) {
        self.positions.advance_written(position);
        if !self.acknowledger.waits_for_sync() {
            self.positions
                .advance_acknowledged(position, Durability::Deferred);
        }
        self.publisher.push(WrittenGroup {
            transactions: Vec::new(),
            end: position,
            moves: PositionChange::None,
            durable_at: Instant::now(),
        });
        self.background.wake_if_idle();
    }

    /// Records that the log has grown, durably, by something other than a transaction.
    pub(crate) fn reach_in_stage(&self, position: LogPosition, moves: PositionChange) {
        self.positions.advance_written(position);
        self.positions.advance_durable(position);
        self.acknowledge_durable_in_stage(WrittenTransactions::default());
        self.publisher.push(WrittenGroup {
            transactions: Vec::new(),
            end: position,
            moves,
            durable_at: Instant::now(),
        });
    }
}
