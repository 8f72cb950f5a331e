//! A lane: the thread of a domain. It plans the domain's transactions, dispatches rounds, and executes statements.

use super::load_files::LoadFiles;
use super::options::{KeptPosition, ParallelMode};
use super::pipeline::{DrainResult, Pipeline, SmallRound};
use super::plan::{Conflicts, Fit, TableLocks, TableMaps};
use super::progress::PushNumber;
use super::queue::{Item, LaneQueue, Next, Pass, Work};
use super::round::{PlannedTransaction, Round, RoundBuilder};
use super::shared::Shared;
use super::statement_errors::{Retries, change_rows, execute_as_primary, is_transient};
use super::statements::{LoadedFile, ReplicatedStatement, StatementContext, StatementRunner};
use super::worker::{Pool, Worker};
use crate::obstacle::{Activity, ObservedLane, SMALL_ROUND_MAX};
use crate::received::{ReceivedGroup, SourcePosition};
use crate::skip_counter::SkippedEvents;
use paceline_apply::is_create_table;
use paceline_apply::replicated::{
    EventOutcome, Failure, GroupKind, MappedTables, ReplicatedRows, RowApplier, RowMapping, group_kind,
};
use paceline_binlog::event::{AlterPhase, CommitId, Event, EventType, GtidFlags};
use paceline_binlog::{GtidPosition, PositionChange, ReplicaRecord};
use paceline_txn::SequenceSource;
use paceline_types::Gtid;
use paceline_types::error_code::{ER_GTID_STRICT_OUT_OF_ORDER, ER_SLAVE_INCIDENT};
use std::collections::VecDeque;
use std::iter::once;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

/// Maximum number of transactions that one worker prepares at a time.
const CHUNK_MAX: usize = 32;

/// Number of retries of a transaction of statements after a lock wait timeout or a deadlock (MariaDB's default of
/// `slave_transaction_retries`).
const RETRIES_MAX: u32 = 10;

/// A move of the position without a transaction.
struct PositionMove {
    number: PushNumber,
    pass: Pass,
    /// A transaction of another domain that is later in the primary's log has been applied before this position is
    /// logged.
    is_overtaken: bool,
}

/// The lane must end. The reason has been raised, or it was told to.
struct LaneEnd;

/// State of a lane; see the module comment.
pub(super) struct Lane {
    shared: Arc<Shared>,
    pool: Arc<Pool>,
    queue: Arc<LaneQueue>,
    pipeline: Arc<Pipeline>,
    maps: TableMaps,
    conflicts: Conflicts,
    round: RoundBuilder,
    /// Items taken from the queue and not planned yet.
    items: VecDeque<Item>,
    /// Moves of the position without a transaction. Only the last one of each domain counts.
    passed: Vec<PositionMove>,
    /// Worker for rounds that are too small for another thread.
    worker: Worker,
    runner: Option<Box<dyn StatementRunner>>,
    rows: RowApplier,
}

impl Lane {
    pub(super) fn new(shared: Arc<Shared>, pool: Arc<Pool>, queue: Arc<LaneQueue>) -> Self {
        let parts = &shared.parts;
        let pipeline = Pipeline::new(shared.clone(), queue.clone());
        Lane {
            maps: TableMaps::new(parts.catalog.load()),
            conflicts: Conflicts::default(),
            round: RoundBuilder::new(parts.manager.applier_session(shared.interrupt.clone())),
            items: VecDeque::new(),
            passed: Vec::new(),
            worker: Worker::new(parts, &shared.interrupt),
            runner: None,
            rows: RowApplier::new(
                &parts.options.rows.get(),
                parts.index_statistics.clone(),
                parts.statement_counts.clone(),
            ),
            pipeline,
            queue,
            pool,
            shared,
        }
    }

    /// Returns it for observers.
    pub(super) fn observed(&self) -> Weak<dyn ObservedLane> {
        let pipeline: Arc<dyn ObservedLane> = self.pipeline.clone();
        Arc::downgrade(&pipeline)
    }

    /// Applies transactions until it is told to end or an error ends it.
    pub(super) fn run(mut self) {
        let shared = self.shared.clone();
        shared.note_thread();
        let ended = catch_unwind(AssertUnwindSafe(|| {
            while let Ok(()) = self.step() {}
            // Wait for the rounds that were handed over: the applier ends after whole transactions.
            let _ = self.pipeline.drain();
        }));
        if ended.is_err() {
            let failure = Failure::fatal("the applier has panicked; the error log has the reason");
            shared.raise(failure, None, None);
        }
    }

    fn step(&mut self) -> Result<(), LaneEnd> {
        if self.pipeline.has_failed() {
            self.recover()?;
        }
        if self.shared.is_stopping() {
            return Err(LaneEnd);
        }
        let Some(item) = self.items.pop_front() else {
            return self.fetch();
        };
        match item.work {
            Work::Pass(pass) => {
                self.passed.push(PositionMove {
                    number: item.number,
                    pass,
                    is_overtaken: false,
                });
                Ok(())
            }
            Work::Apply(received) => self.plan(item.number, received),
        }
    }

    /// Fetches more items. Planned transactions are dispatched without waiting for them.
    fn fetch(&mut self) -> Result<(), LaneEnd> {
        match self.queue.take() {
            Next::Items(items) => {
                self.shared.unqueued(items.iter().map(|item| item.bytes).sum());
                self.items = items;
            }
            Next::Closed => return Err(LaneEnd),
            Next::Empty if !self.passed.is_empty() => self.move_position()?,
            Next::Empty if !self.round.is_empty() => {
                self.pipeline.note_small_round(SmallRound::No);
                self.dispatch();
            }
            Next::Empty => self.queue.wait(),
        }
        Ok(())
    }

    fn raise(&self, failure: Failure, gtid: Gtid, end: Option<SourcePosition>) -> LaneEnd {
        self.shared.raise(failure, Some(gtid), end);
        LaneEnd
    }

    /// Plans a transaction.
    fn plan(&mut self, number: PushNumber, received: ReceivedGroup) -> Result<(), LaneEnd> {
        // No later transaction can record that MySQL transactions were skipped.
        if self.passed.iter().any(|passed| passed.pass.executed.is_some()) {
            self.move_position()?;
        }
        let gtid = received.group.gtid();
        let end = received.source_end.clone();
        match group_kind(&received.group, &received.format) {
            Err(failure) => self.stop_after(failure, gtid, end),
            Ok(GroupKind::Statements) => self.statements(number, received),
            // The start of an epoch does not wait until what precedes it is published: that may wait for the
            // acknowledgement of the start.
            Ok(GroupKind::Rows | GroupKind::EpochStart) => self.plan_rows(number, received),
        }
    }

    /// Handles an invalid transaction: commits everything before it, then ends the applier.
    fn stop_after(&mut self, failure: Failure, gtid: Gtid, end: SourcePosition) -> Result<(), LaneEnd> {
        self.settle()?;
        Err(self.raise(failure, gtid, Some(end)))
    }

    fn plan_rows(&mut self, number: PushNumber, received: ReceivedGroup) -> Result<(), LaneEnd> {
        let gtid = received.group.gtid();
        let bytes = received.group.bytes().len();
        let commit_id = match self.shared.parts.options.mode {
            ParallelMode::Conservative => self.end_of_commit_group(&received),
            ParallelMode::Optimistic | ParallelMode::None => None,
        };
        let tables = match self.map_tables(&received) {
            Ok(tables) => tables,
            Err(_) => {
                // Perhaps something before it was the cause, such as a lock held by the round itself.
                self.settle()?;
                match self.map_tables(&received) {
                    Ok(tables) => tables,
                    Err(failure) => return Err(self.raise(failure, gtid, Some(received.source_end))),
                }
            }
        };
        if fire_triggers(&tables) {
            return self.statements(number, received);
        }
        let rows = ReplicatedRows {
            group: &received.group,
            format: &received.format,
            tables: &tables,
        };
        if let Err(failure) = self.conflicts.take(&rows) {
            let end = received.source_end.clone();
            return self.stop_after(failure, gtid, end);
        }
        let after = match self.conflicts.fit(&self.round, self.pipeline.placed()) {
            Fit::Joins(after) => after,
            Fit::Conflicts => {
                // Plan it again in the next round, with that round's metadata locks.
                self.end_round(SmallRound::Conflict);
                self.items.push_front(Item {
                    number,
                    work: Work::Apply(received),
                    bytes: 0,
                });
                return Ok(());
            }
        };
        let after = match self.shared.parts.options.mode {
            // Transactions of one commit group wait for the previous group, whatever their keys.
            ParallelMode::Conservative => self.pipeline.last_dispatched(),
            ParallelMode::Optimistic | ParallelMode::None => after,
        };
        self.conflicts.join(&mut self.round);
        self.round.commit_id = commit_id;
        // Earlier positions need no transaction of their own.
        self.forget_passed(gtid);
        let planned = PlannedTransaction {
            number,
            received,
            tables,
            after,
        };
        self.round.add(planned, bytes);
        if self.round.is_full() {
            self.pipeline.note_small_round(SmallRound::No);
            self.dispatch();
        }
        Ok(())
    }

    /// Dispatches the round, to which the next transaction cannot be added.
    fn end_round(&mut self, reason: SmallRound) {
        let is_small = self.round.planned.len() <= SMALL_ROUND_MAX;
        self.pipeline.note_small_round(match is_small {
            true => reason,
            false => SmallRound::No,
        });
        self.dispatch();
    }

    /// Dispatches the round if the transaction is of another commit group of the primary, in conservative mode.
    fn end_of_commit_group(&mut self, received: &ReceivedGroup) -> Option<CommitId> {
        let commit_id = received.group.gtid_event().ok().and_then(|event| event.commit_id);
        if !self.round.is_empty() && (commit_id.is_none() || commit_id != self.round.commit_id) {
            self.end_round(SmallRound::CommitGroup);
        }
        commit_id
    }

    fn map_tables(&mut self, received: &ReceivedGroup) -> Result<MappedTables, Failure> {
        let mut locks = TableLocks::of_round(&mut self.round)?;
        let events = received.group.events();
        self.maps
            .of(events, &received.format, &mut locks, &self.shared.parts)
    }

    /// Removes positions that this later transaction makes superfluous: those of its domain and, for other domains, the
    /// position in the primary's log.
    fn forget_passed(&mut self, gtid: Gtid) {
        let superfluous = self
            .passed
            .extract_if(.., |passed| passed.pass.gtid.domain_id == gtid.domain_id);
        self.shared.done(superfluous.map(|passed| passed.number));
        self.passed
            .iter_mut()
            .for_each(|passed| passed.is_overtaken = true);
    }

    /// Logs position moves that no transaction makes superfluous: the last one of each domain.
    fn move_position(&mut self) -> Result<(), LaneEnd> {
        self.settle()?;
        let passed = std::mem::take(&mut self.passed);
        let Some(last) = passed.last() else {
            return Ok(());
        };
        let mut position = GtidPosition::new();
        let told = passed
            .iter()
            .filter(|passed| passed.pass.numbers == SequenceSource::Primary);
        for passed in told {
            position.set(passed.pass.gtid);
        }
        let parts = &self.shared.parts;
        let mut record = ReplicaRecord::of_gtids(PositionChange::To(position.iter().collect()));
        if parts.options.position == KeptPosition::FileAndGtid && !last.is_overtaken {
            record
                .sources
                .push((parts.connection.clone(), Some(last.pass.end.clone())));
        }
        for passed in &passed {
            let executed = passed.pass.executed.clone();
            record
                .executed
                .extend(executed.map(|executed| (parts.connection.clone(), executed)));
        }
        if let Err(error) = parts.manager.move_replica_position(&record) {
            self.shared.raise(of_commit(&error), Some(last.pass.gtid), None);
            return Err(LaneEnd);
        }
        let numbers = passed.into_iter().map(|passed| {
            // Before it is done: the receiver then goes on and looks at the counter.
            passed.pass.skipped.into_iter().for_each(SkippedEvents::subtract);
            passed.number
        });
        self.shared.done(numbers);
        Ok(())
    }

    /// Dispatches the round for preparation. After a failure it is kept, to be planned again.
    fn dispatch(&mut self) {
        if self.round.is_empty() {
            return;
        }
        let was_empty = self.pipeline.is_empty();
        let Some(number) = self.pipeline.dispatch() else {
            return;
        };
        let manager = &self.shared.parts.manager;
        let session = manager.applier_session(self.shared.interrupt.clone());
        let mut round = std::mem::replace(&mut self.round, RoundBuilder::new(session));
        self.conflicts.dispatched(&mut round, number);
        let workers = self.pool.lane_workers();
        let share = round.planned.len().div_ceil(workers.max(1)).min(CHUNK_MAX);
        let is_inline = workers == 0 || (was_empty && round.planned.len() <= 2);
        let chunks = Round::cut(round, number, self.pipeline.placed(), share);
        match is_inline {
            true => {
                for chunk in chunks {
                    self.worker.prepare(&self.pipeline, chunk);
                }
            }
            false => self.pool.add(&self.pipeline, chunks),
        }
    }

    /// Waits until everything planned is published, and releases the metadata locks.
    fn settle(&mut self) -> Result<(), LaneEnd> {
        // Later items wait until this is finished.
        let later = std::mem::take(&mut self.items);
        loop {
            self.dispatch();
            if self.pipeline.drain() == DrainResult::GivenUp {
                return Err(LaneEnd);
            }
            if self.pipeline.has_failed() {
                self.recover()?;
                self.rerun()?;
                continue;
            }
            if self.round.is_empty() {
                break;
            }
        }
        self.items = later;
        self.conflicts.forget();
        self.release_locks();
        Ok(())
    }

    fn release_locks(&mut self) {
        let manager = &self.shared.parts.manager;
        self.round = RoundBuilder::new(manager.applier_session(self.shared.interrupt.clone()));
    }

    /// Recovers from a failure in a round: waits until nothing is in progress, takes back the uncommitted transactions,
    /// and retries the first one alone.
    fn recover(&mut self) -> Result<(), LaneEnd> {
        if self.pipeline.drain() == DrainResult::GivenUp {
            return Err(LaneEnd);
        }
        let round = std::mem::take(&mut self.round.planned);
        self.release_locks();
        self.conflicts.forget();
        let mut again = match self.pipeline.recover() {
            Ok(again) => again,
            Err(error) => {
                self.shared.raise(of_commit(&error), None, None);
                return Err(LaneEnd);
            }
        };
        again.extend(round.into_iter().map(PlannedTransaction::into_item));
        again.append(&mut self.items);
        self.items = again;
        if self.shared.is_stopping() {
            return Err(LaneEnd);
        }
        let Some(item) = self.items.pop_front() else {
            return Ok(());
        };
        match item.work {
            Work::Apply(received) => {
                self.shared.retries.fetch_add(1, Ordering::Relaxed);
                self.alone(item.number, received)
            }
            Work::Pass(..) => {
                self.items.push_front(item);
                Ok(())
            }
        }
    }

    /// Applies the transactions that recovery took back, before any others.
    fn rerun(&mut self) -> Result<(), LaneEnd> {
        while let Some(item) = self.items.pop_front() {
            if let Work::Apply(received) = item.work {
                self.plan_rows(item.number, received)?;
            }
            if self.pipeline.has_failed() {
                self.recover()?;
            }
        }
        Ok(())
    }

    /// Applies one transaction with no other in progress. If that fails, the applier ends.
    fn alone(&mut self, number: PushNumber, received: ReceivedGroup) -> Result<(), LaneEnd> {
        let gtid = received.group.gtid();
        let end = received.source_end.clone();
        let tables = match self.map_tables(&received) {
            Ok(tables) => tables,
            Err(failure) => return Err(self.raise(failure, gtid, Some(end))),
        };
        if fire_triggers(&tables) {
            return self.statements(number, received);
        }
        let planned = PlannedTransaction {
            number,
            received,
            tables,
            after: 0,
        };
        let manager = &self.shared.parts.manager;
        let session = manager.applier_session(self.shared.interrupt.clone());
        // Try it here first, to learn of its errors here.
        match self.worker.try_transaction(&planned, &session) {
            Ok(transaction) => drop(transaction),
            Err(failure) => return Err(self.raise(failure, gtid, Some(end))),
        }
        self.round.touches_everything = true;
        self.round.add(planned, 0);
        self.dispatch();
        Ok(())
    }

    /// Applies a transaction of statements, or of statements and rows.
    fn statements(&mut self, number: PushNumber, received: ReceivedGroup) -> Result<(), LaneEnd> {
        self.settle()?;
        let gtid = received.group.gtid();
        self.forget_passed(gtid);
        let mut runner = match self.runner.take() {
            Some(runner) => runner,
            None => {
                let interrupt = self.shared.interrupt.clone();
                self.shared.parts.statements.runner(interrupt)
            }
        };
        let mut tries = 0;
        loop {
            let retries = match tries == RETRIES_MAX {
                true => Retries::UsedUp,
                false => Retries::Left,
            };
            let result = self.run_statements(runner.as_mut(), &received, retries);
            self.pipeline.activity.set(Activity::Rows);
            let Err(failure) = result else {
                break;
            };
            runner.give_up();
            if !is_transient(failure.code) || retries == Retries::UsedUp || self.shared.is_stopping() {
                return Err(self.raise(failure, gtid, Some(received.source_end)));
            }
            tries += 1;
            self.shared.retries.fetch_add(1, Ordering::Relaxed);
        }
        self.runner = Some(runner);
        self.shared.done([number]);
        Ok(())
    }

    fn run_statements(
        &mut self,
        runner: &mut dyn StatementRunner,
        received: &ReceivedGroup,
        retries: Retries,
    ) -> Result<(), Failure> {
        let flags = received.group.gtid_event()?.flags;
        let mut context = StatementContext::new(&received.format, flags);
        let mut files = LoadFiles::default();
        let shared = self.shared.clone();
        let rows = shared.parts.options.rows.get();
        let skipped = &rows.skipped_errors;
        let counts = Arc::clone(&self.shared.parts.statement_counts);
        let head = received.group.events().next();
        runner.begin(
            self.worker.gtid_choice(received),
            Worker::replication(received),
            head.map_or(0, |event| event.header().timestamp),
        );
        if let Some(AlterPhase::Start | AlterPhase::Rollback) = received.group.gtid_event()?.alter_phase() {
            // Only its GTID is needed: the ALTER itself is executed at its commit.
            self.pipeline.activity.set(Activity::Commit);
            return runner.commit();
        }
        let work = match flags.contains(GtidFlags::DDL) {
            true => Activity::Definition,
            false => Activity::Statement,
        };
        self.pipeline.activity.set(work);
        let mut tables: Option<MappedTables> = None;
        let has_rows = received.group.events().any(|event| event.event_type().has_rows());
        let mut events = received.group.events().skip(1);
        while let Some(event) = events.next() {
            let header = *event.header();
            let at = |failure: Failure| Failure {
                end_log_pos: header.end_position,
                ..failure
            };
            match event.decode(&received.format)? {
                Event::Intvar(intvar) => context.intvars.push((intvar.kind, intvar.value)),
                Event::Rand(seeds) => context.rand = Some(seeds),
                Event::UserVar(variable) => context.user_variables.push(variable),
                Event::FileBlock(block) => files.take_block(&block).map_err(at)?,
                Event::DeleteFile(delete) => {
                    files.forget(delete.file_id);
                    context.clear();
                }
                Event::ExecuteLoadQuery(load) => {
                    let blocks = files.take(load.file_id).map_err(at)?;
                    let statement = ReplicatedStatement {
                        file: Some(LoadedFile {
                            event: &load,
                            blocks: &blocks,
                        }),
                        ..context.of(&load.query, &header)
                    };
                    let execute = || runner.statement(&statement);
                    execute_as_primary(&load.query, skipped, &counts, retries, execute).map_err(at)?;
                    context.clear();
                }
                Event::Query(query) => {
                    // The statement may release their locks or change them.
                    tables = None;
                    let sql = query.sql.trim_ascii();
                    if sql.eq_ignore_ascii_case(b"BEGIN") || sql.eq_ignore_ascii_case(b"COMMIT") {
                        continue;
                    }
                    if sql.eq_ignore_ascii_case(b"ROLLBACK") {
                        runner.rollback();
                        continue;
                    }
                    let statement = context.of(&query, &header);
                    let execute = || match has_rows && is_create_table(&query) {
                        true => runner.make_table(&statement),
                        false => runner.statement(&statement),
                    };
                    execute_as_primary(&query, skipped, &counts, retries, execute).map_err(at)?;
                    context.clear();
                }
                Event::TableMap(_)
                | Event::AnnotateRows(_)
                | Event::Rows(_)
                | Event::Unknown {
                    event_type: EventType::MYSQL_PARTIAL_UPDATE_ROWS,
                    ..
                } => {
                    // Rows between statements, in the session's transaction.
                    let tables = match &tables {
                        Some(tables) => tables,
                        None => {
                            self.rows.begin();
                            let transaction = runner.transaction()?;
                            let mut locked = Vec::new();
                            let mut locks = TableLocks::of_transaction(transaction, &mut locked)?;
                            // Tables of events after the next statement are mapped after it has run.
                            let ahead = once(event).chain(events.clone());
                            let rows = ahead.take_while(|event| !is_query(event.event_type()));
                            let format = &received.format;
                            tables.insert(self.maps.of(rows, format, &mut locks, &shared.parts)?)
                        }
                    };
                    let mapping = RowMapping {
                        format: &received.format,
                        tables,
                    };
                    match self.rows.event(&event, mapping, runner.transaction()?)? {
                        EventOutcome::Changed(_) => {}
                        EventOutcome::Firing(rows) => {
                            change_rows(skipped, &counts, retries, || runner.change_rows(&rows))?;
                        }
                    }
                }
                Event::Xid(_) | Event::Ignorable(_) => {}
                Event::XaPrepare(_) => {
                    return Err(Failure::fatal("XA PREPARE cannot be replicated"));
                }
                Event::Incident(incident) => {
                    let message = String::from_utf8_lossy(incident.message);
                    return Err(Failure::new(
                        ER_SLAVE_INCIDENT,
                        ER_SLAVE_INCIDENT.message(&[&"LOST_EVENTS", &message]),
                    ));
                }
                _ => return Err(at(cannot_replicate(header.event_type))),
            }
        }
        self.pipeline.activity.set(Activity::Commit);
        runner.commit()
    }
}

/// Returns whether a transaction has rows that fire triggers.
fn fire_triggers(tables: &MappedTables) -> bool {
    let mut mapped = tables.iter().filter_map(|(_, table)| table.as_ref());
    mapped.any(|table| table.fires_triggers())
}

fn is_query(event_type: EventType) -> bool {
    matches!(event_type, EventType::QUERY | EventType::QUERY_COMPRESSED)
}

/// Returns the failure for an event that cannot be replicated.
fn cannot_replicate(event_type: EventType) -> Failure {
    let name = event_type.name();
    Failure::fatal(format_args!("a {name} event cannot be replicated"))
}

/// Converts the error of the commit queue for a transaction.
fn of_commit(error: &paceline_txn::Error) -> Failure {
    match error {
        paceline_txn::Error::OutOfOrder { given, existing } => Failure::new(
            ER_GTID_STRICT_OUT_OF_ORDER,
            ER_GTID_STRICT_OUT_OF_ORDER.message(&[
                &given.domain_id,
                &given.server_id,
                &given.sequence,
                &existing.domain_id,
                &existing.server_id,
                &existing.sequence,
            ]),
        ),
        error => Failure::from(error.clone()),
    }
}
