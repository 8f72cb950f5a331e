//! Events of one connection, from the dump to its end: assembled, selected, passed on, acknowledged.

use super::choice::{Choice, claim, is_at_or_after};
use super::state::{BATCH_EVENTS_MAX, End, PASSED_FOR, Progress, Receiver};
use crate::group_filter::{FilterResult, filter_group};
use crate::received::{ReceivedGroup, ReceivedItem, SourcePosition};
use crate::skip_counter::SkippedEvents;
use crate::until::Until;
use paceline_binlog::group::LARGE_GROUP_BYTES;
use paceline_binlog::mysql::{MySqlGtid, MySqlGtidSet};
use paceline_binlog::{EventGroup, ExecutedSetChange, LOCAL_DOMAIN};
use paceline_log_stream::source::assemble::{AssembledGroup, Assembler, AssemblyResult, GtidSupply};
use paceline_log_stream::source::definition::UseGtid;
use paceline_log_stream::source::error::SourceError;
use paceline_log_stream::source::options::ReplicaOptions;
use paceline_log_stream::source::{SentEvent, Source, StartAt};
use paceline_txn::SequenceSource;
use paceline_types::Gtid;
use paceline_types::error_code::{ER_SLAVE_CORRUPT_EVENT, ER_SLAVE_FATAL_ERROR};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::time::Instant;

/// A transaction that only moves the position.
pub(super) struct PositionMove {
    pub(super) gtid: Gtid,
    pub(super) numbers: SequenceSource,
    /// End in the primary's log.
    pub(super) end: SourcePosition,
    /// Its events, if `sql_slave_skip_counter` is the reason.
    pub(super) skipped: Option<SkippedEvents>,
}

/// Processes the events of one connection.
pub(super) struct Stream<'a> {
    pub(super) receiver: &'a mut Receiver,
    pub(super) options: ReplicaOptions,
    /// The connection continues by its position in the primary's log, which is logged with each transaction.
    pub(super) by_place: bool,
    pub(super) progress: &'a mut Progress,
    /// For each domain the last skipped transaction that is not passed on yet, in the order of the primary's log.
    pub(super) passed: Vec<PositionMove>,
    pub(super) passed_since: Option<Instant>,
    /// Semi-sync: positions for which the primary expects an acknowledgement, and the number of items passed to the
    /// applier before them. All of these must be done, in every domain, because an acknowledgement covers everything
    /// before its position.
    awaited: VecDeque<(u64, SourcePosition)>,
    /// Counts since the last [`Stream::show`].
    received_bytes: u64,
    received_groups: u64,
    /// Time of the newest event of a transaction on the primary, in seconds since 1970; 0 before the first one.
    event_timestamp_seconds: u32,
}

impl<'a> Stream<'a> {
    pub(super) fn new(
        receiver: &'a mut Receiver,
        options: ReplicaOptions,
        start: &StartAt,
        progress: &'a mut Progress,
    ) -> Self {
        Stream {
            receiver,
            options,
            by_place: matches!(start, StartAt::Place(_)),
            progress,
            passed: Vec::new(),
            passed_since: None,
            awaited: VecDeque::new(),
            received_bytes: 0,
            received_groups: 0,
            event_timestamp_seconds: 0,
        }
    }

    pub(super) async fn run(mut self, source: Source, start: StartAt) -> Result<Infallible, End> {
        let end = self.receive(source, start).await;
        if matches!(end, Err(End::Failed(_))) {
            // Log the skipped transactions, so that they are not received again after the cause is repaired.
            let _ = self.hand_on_passed().await;
        }
        end
    }

    async fn receive(&mut self, mut source: Source, start: StartAt) -> Result<Infallible, End> {
        let place = match start {
            StartAt::Place(place) => place,
            StartAt::Gtids(_) | StartAt::MySqlGtids(_) => SourcePosition::default(),
        };
        let supply = GtidSupply {
            domain_id: self.options.domain_id,
            last: self.progress.supply,
        };
        let mut assembler = Assembler::new(source.kind, source.checksum, place, supply);
        assembler.spill_in(
            self.receiver.shared.environment.transactions().log().directory(),
            LARGE_GROUP_BYTES,
        );
        loop {
            // Events that have already arrived are processed without waiting and without other checks.
            for _ in 0..BATCH_EVENTS_MAX {
                let Some(event) = source.next_buffered()? else {
                    break;
                };
                self.take_event(&mut assembler, &event).await?;
            }
            self.show(&assembler);
            let passed_for = self
                .passed_since
                .map(|since| PASSED_FOR.saturating_sub(since.elapsed()));
            let applier = self.progress.applier.clone();
            let awaited = self.awaited.front().map(|(count, _)| *count);
            let event = tokio::select! {
                biased;
                () = async { match awaited {
                    Some(count) if applier.until_done(count).await.is_ok() => {}
                    _ => std::future::pending().await,
                } } => {
                    self.acknowledge(&mut source).await?;
                    continue;
                }
                event = source.next_event() => event?,
                _ = self.receiver.appliers.changed() => {
                    return Err(End::ApplierGone);
                }
                () = applier.failed() => return Err(End::ApplierGone),
                () = async { match passed_for {
                    Some(left) => tokio::time::sleep(left).await,
                    None => std::future::pending().await,
                } } => {
                    self.hand_on_passed().await?;
                    continue;
                }
            };
            self.take_event(&mut assembler, &event).await?;
        }
    }

    /// Processes one event.
    async fn take_event(&mut self, assembler: &mut Assembler, event: &SentEvent<'_>) -> Result<(), End> {
        self.received_bytes += event.bytes.len() as u64;
        let assembled = assembler.take(event.bytes)?;
        if assembler.is_inside_group() || matches!(assembled, AssemblyResult::Group(_)) {
            self.note_timestamp(event.bytes);
        }
        match assembled {
            AssemblyResult::Nothing => {}
            AssemblyResult::Group(group) => {
                self.progress.supply = assembler.supply.last;
                self.take_group(group).await?;
            }
            AssemblyResult::Heartbeat => {
                self.receiver
                    .shared
                    .status
                    .update(|status| status.heartbeats += 1);
                self.reach(assembler.place()).await?;
            }
            AssemblyResult::Place => {
                if !assembler.is_inside_group() {
                    self.reach(assembler.place()).await?;
                }
            }
            AssemblyResult::Passed(gtids) => {
                for gtid in gtids {
                    self.pass(gtid, SequenceSource::Primary, assembler.place().clone(), None);
                }
            }
            AssemblyResult::Executed(gtids) => {
                // In the middle of a file the set before is unknown. At the start of the next file it is known.
                if self.progress.executed.is_none() {
                    self.begin_with(gtids).await?;
                }
            }
            AssemblyResult::Restarted => self.push(ReceivedItem::PrimaryRestarted).await?,
            AssemblyResult::UntilReached => {
                self.show(assembler);
                return Err(self.end_at_until(End::UntilReached).await);
            }
        }
        if event.wants_acknowledgement {
            // Skipped transactions are acknowledged when their position is logged.
            self.hand_on_passed().await?;
            let count = self.progress.applier.pushed_count();
            self.awaited.push_back((count, assembler.place().clone()));
        }
        Ok(())
    }

    /// Notes the time of an event of a transaction. It is the first field of its header; some events have none.
    fn note_timestamp(&mut self, event: &[u8]) {
        if let Some(timestamp) = event.first_chunk()
            && *timestamp != [0; 4]
        {
            self.event_timestamp_seconds = u32::from_le_bytes(*timestamp);
        }
    }

    /// Updates the status.
    fn show(&mut self, assembler: &Assembler) {
        let gtids = &self.progress.gtids;
        let (bytes, groups) = (
            std::mem::take(&mut self.received_bytes),
            std::mem::take(&mut self.received_groups),
        );
        self.receiver.shared.status.update(|status| {
            status.received_bytes += bytes;
            status.received_groups += groups;
            status.event_timestamp_seconds = self.event_timestamp_seconds;
            status.is_inside_group = assembler.is_inside_group();
            status.read.clone_from(assembler.place());
            if status.gtid_position != *gtids {
                status.gtid_position.clone_from(gtids);
            }
            if status.executed != self.progress.executed {
                status.executed.clone_from(&self.progress.executed);
            }
        });
    }

    /// Acknowledges what is durable here: everything up to the last position without unfinished items before it.
    async fn acknowledge(&mut self, source: &mut Source) -> Result<(), End> {
        let done = self.progress.applier.done_count();
        let mut end = None;
        while self.awaited.front().is_some_and(|(count, _)| *count <= done) {
            end = self.awaited.pop_front().map(|(_, end)| end);
        }
        let Some(end) = end else { return Ok(()) };
        let transactions = self.receiver.shared.environment.transactions();
        // With sync_binlog=0 a published transaction may not be durable yet.
        let positions = transactions.positions();
        if positions.durable < positions.published {
            tokio::task::block_in_place(|| transactions.log().sync())
                .map_err(|error| SourceError::fatal(ER_SLAVE_FATAL_ERROR.number(), error.to_string()))?;
        }
        source.acknowledge(&end).await?;
        self.receiver
            .shared
            .status
            .update(|status| status.acknowledgements += 1);
        Ok(())
    }

    async fn take_group(&mut self, received: AssembledGroup) -> Result<(), End> {
        let gtid = received.group.gtid();
        if let Some(Until::Place(until)) = &self.receiver.until
            && is_at_or_after(&received.start, until)
        {
            return Err(self.end_at_until(End::ApplierGone).await);
        }
        self.received_groups += 1;
        if gtid.domain_id == LOCAL_DOMAIN {
            let message =
                format!("transaction {gtid}: domain {LOCAL_DOMAIN} is for what is not replicated here");
            return Err(SourceError::fatal_with(ER_SLAVE_FATAL_ERROR, &message).into());
        }
        let choice = Choice {
            definition: &self.receiver.definition,
            options: &self.options,
            transactions: self.receiver.shared.environment.transactions(),
        };
        let is_wanted = choice.wants(&received);
        // As in MariaDB, a start by file and position asserts what is missing here, and a local number shows nothing
        // about duplicates.
        let detects_duplicates =
            self.receiver.definition.use_gtid != UseGtid::No && received.numbers == SequenceSource::Primary;
        if let Some(gtid) = &received.mysql_gtid {
            self.note_executed(gtid);
        }
        if !is_wanted {
            self.note_gtid(gtid);
            self.pass(gtid, received.numbers, received.end, None);
            return Ok(());
        }
        if self.options.gtid_ignore_duplicates && detects_duplicates {
            let Receiver { shared, appliers, .. } = &mut *self.receiver;
            if !claim(shared, appliers, gtid).await? {
                self.note_gtid(gtid);
                return self.reach(&received.end).await;
            }
        }
        let filtered =
            filter_group(&received.group, &received.format, &self.options.filters).map_err(|error| {
                SourceError::fatal(
                    ER_SLAVE_CORRUPT_EVENT.number(),
                    format!("{}: {error}", ER_SLAVE_CORRUPT_EVENT.message(&[])),
                )
            })?;
        let part = match filtered {
            FilterResult::Nothing => {
                self.note_gtid(gtid);
                self.pass(gtid, received.numbers, received.end, None);
                return Ok(());
            }
            FilterResult::Whole => None,
            FilterResult::Part(part) => Some(part),
        };
        // Filtered transactions are not counted: the counter is meant for the transaction that cannot be applied.
        if let Some(skipped) = self.skip(&received.group) {
            self.note_gtid(gtid);
            self.pass(gtid, received.numbers, received.end, Some(skipped));
            // The administrator has requested the skip: it stays effective, even if the next transaction fails.
            self.hand_on_passed().await?;
            return self.wait_applied().await;
        }
        let group = part.unwrap_or(received.group);
        self.delay(received.timestamp).await?;
        // Skipped transactions of this domain precede it and need no separate position move.
        self.passed
            .retain(|passed| passed.gtid.domain_id != gtid.domain_id);
        if self.passed.is_empty() {
            self.passed_since = None;
        } else if self.by_place {
            self.hand_on_passed().await?;
        }
        let executed = self.progress.executed_since.take();
        self.push(ReceivedItem::Group(ReceivedGroup {
            group,
            format: received.format,
            source_end: received.end.clone(),
            received_at: Instant::now(),
            executed,
            numbers: received.numbers,
        }))
        .await?;
        self.note_gtid(gtid);
        self.progress.place = Some(received.end);
        Ok(())
    }

    /// Returns the events of a transaction that `sql_slave_skip_counter` skips.
    fn skip(&self, group: &EventGroup) -> Option<SkippedEvents> {
        let counter = &self.receiver.shared.skip_counter;
        let skipped = counter.skip(group.event_count() as u64)?;
        tracing::info!(
            "transaction {} is passed over: sql_slave_skip_counter",
            group.gtid()
        );
        Some(skipped)
    }

    /// Adds a MySQL transaction to the set of those that are present.
    fn note_executed(&mut self, gtid: &MySqlGtid) {
        let Some(executed) = &mut self.progress.executed else {
            return;
        };
        executed.add(gtid);
        let mut added = MySqlGtidSet::new();
        added.add(gtid);
        let added = ExecutedSetChange::Add(added);
        self.progress.executed_since = Some(match self.progress.executed_since.take() {
            Some(before) => before.then(added),
            None => added,
        });
    }

    pub(super) fn note_gtid(&mut self, gtid: Gtid) {
        self.progress.gtids.set(gtid);
    }
}
