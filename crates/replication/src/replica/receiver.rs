//! A connection's receiver (`Slave_IO`): from a primary's stream to the applier's queue.
//!
//! ```text
//!            ┌──────────── back-off ◀── lost ────────────┐
//!            ▼                                            │
//!   connect ─▶ introduce ─▶ wait for an applier ─▶ dump ─▶ stream ──▶ assemble ▸ filter ▸ delay ▸ push
//!                              ▲                            │
//!                              └──── the applier is gone ◀──┘
//! ```
//!
//! There is no relay log: what is received goes to the applier at once, whose queue is bounded, so that a replica which cannot keep up
//! slows the stream down and not its memory. What is received and not committed is received again.
//!
//! **From where.** A new applier starts where the log says that we are ([`ReceiverParts::position`]). While the same applier lives, a new
//! connection goes on behind what it was given last: that may not be committed yet.
//!
//! **Passed over.** What a filter, another server id or the skip counter takes out moves the position only. Such moves are kept back
//! while others follow, for [`PASSED_FOR`] at most: each costs a write to the log.

use super::apply::Applier;
use super::assemble::{Assembled, AssembledGroup, Assembler, GtidSupply};
use super::connection::{ConnectionShared, Until};
use super::definition::{Definition, UseGtid};
use super::duplicates::Claim;
use super::error::{CR_SERVER_LOST, SourceError};
use super::group_filter::{Filtered, filter_group};
use super::options::{MarkedForSkip, ReplicaOptions};
use super::received::{Received, ReceivedGroup, SourcePosition};
use super::source::{SentEvent, Source, SourceKind, StartAt};
use super::status::{Delayed, ReceiverState};
use paceline_binlog::event::EventFlags;
use paceline_binlog::group::LARGE_GROUP_BYTES;
use paceline_binlog::mysql::{MySqlGtid, MySqlGtidSet};
use paceline_binlog::{ExecutedMove, GtidMove, GtidPosition, LOCAL_DOMAIN, RecordScope, ReplicaRecord};
use paceline_types::error_code::{ER_SLAVE_CORRUPT_EVENT, ER_SLAVE_FATAL_ERROR};
use paceline_types::{Gtid, SequenceNumber};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::sync::watch;

/// How long a move of the position may be kept back while others follow.
const PASSED_FOR: Duration = Duration::from_secs(1);

/// The first pause before connecting again; it doubles up to `MASTER_CONNECT_RETRY`.
const FIRST_PAUSE: Duration = Duration::from_millis(250);

/// How many events are taken in a row before looking around.
const BATCH_EVENTS_MAX: usize = 256;

/// How often a connection that waits for another one's transactions looks whether that one is still there.
const OTHER_CONNECTION_LOOK: Duration = Duration::from_millis(50);

/// How often a waiting connection shows its primary that it lives.
const PING_EVERY: Duration = Duration::from_secs(15);

/// Why a session with the primary ended.
enum End {
    /// STOP SLAVE.
    Stopped,
    /// The applier has ended, or another one was started: from the beginning, at once.
    ApplierGone,
    /// START SLAVE UNTIL is reached.
    UntilReached,
    Failed(SourceError),
}

impl From<SourceError> for End {
    fn from(error: SourceError) -> Self {
        End::Failed(error)
    }
}

/// What the applier was given: where a new connection goes on while that applier lives.
struct Progress {
    applier: Arc<Applier>,
    gtids: GtidPosition,
    place: Option<SourcePosition>,
    supply: SequenceNumber,
    /// Of a primary that is MySQL, where it is known what there was before.
    executed: Option<MySqlGtidSet>,
    /// What has come to that set and goes with the next transaction.
    executed_since: Option<ExecutedMove>,
}

/// See the module's head.
pub(super) struct Receiver {
    pub shared: Arc<ConnectionShared>,
    pub definition: Arc<Definition>,
    pub until: Option<Until>,
    pub stop: watch::Receiver<bool>,
    pub appliers: watch::Receiver<Option<Arc<Applier>>>,
}

impl Receiver {
    /// Runs until STOP SLAVE, an error that somebody has to mend, or the end of START SLAVE UNTIL.
    pub async fn run(mut self) {
        let mut progress: Option<Progress> = None;
        let mut attempts = 0u64;
        let mut pause = FIRST_PAUSE;
        loop {
            let shared = self.shared.clone();
            let connects = shared.status.get().connects;
            let mut stop = self.stop.clone();
            let end = tokio::select! {
                _ = stop.wait_for(|stop| *stop) => End::Stopped,
                end = self.session(&mut progress) => end,
            };
            if shared.status.get().connects != connects {
                attempts = 0;
                pause = FIRST_PAUSE;
            }
            match end {
                End::Stopped => break,
                End::ApplierGone => {
                    progress = None;
                    shared.owners.release(&shared.name);
                }
                End::UntilReached => {
                    tracing::info!(
                        "connection '{}': the receiver stops because it reached its UNTIL position",
                        shared.name
                    );
                    break;
                }
                End::Failed(error @ SourceError::Fatal { .. }) => {
                    let (SourceError::Fatal { message, .. } | SourceError::Lost { message, .. }) = &error;
                    tracing::error!("connection '{}': the receiver stops: {message}", shared.name);
                    shared.status.set_error(&error);
                    break;
                }
                End::Failed(error) => {
                    let (SourceError::Fatal { message, .. } | SourceError::Lost { message, .. }) = &error;
                    tracing::warn!("connection '{}': {message}", shared.name);
                    shared.status.set_error(&error);
                    attempts += 1;
                    if attempts > shared.environment.options(&shared.name).retry_count {
                        tracing::error!("connection '{}': no more attempts to connect", shared.name);
                        break;
                    }
                    shared.status.set_doing(
                        ReceiverState::Connecting,
                        "Waiting to reconnect after a failed master event read",
                    );
                    let longest =
                        Duration::from_secs(u64::from(self.definition.connect_retry_seconds.max(1)));
                    tokio::select! {
                        _ = self.stop.wait_for(|stop| *stop) => break,
                        () = tokio::time::sleep(pause.min(longest)) => {}
                    }
                    pause = (pause * 2).min(longest);
                }
            }
        }
        self.shared.owners.release(&self.shared.name);
        self.shared.status.update(|status| {
            status.state = ReceiverState::Stopped;
            status.doing = "";
            status.delayed = None;
        });
    }

    /// One connection to the primary, from the greeting to its end.
    async fn session(&mut self, progress: &mut Option<Progress>) -> End {
        match self.try_session(progress).await {
            Ok(never) => match never {},
            Err(end) => end,
        }
    }

    async fn try_session(&mut self, progress: &mut Option<Progress>) -> Result<Never, End> {
        let shared = self.shared.clone();
        let options = shared.environment.options(&shared.name);
        shared
            .status
            .set_doing(ReceiverState::Connecting, "Connecting to master");
        let mut source = Source::connect(&self.definition, &options).await?;
        shared.status.update(|status| {
            status.state = ReceiverState::Connected;
            status.doing = "Checking master version";
            status.semi_sync = false;
            status.master_server_id = source.server_id.0;
            status.clock_difference_seconds = source.clock_difference_seconds;
            status.connects += 1;
        });
        shared.status.clear_error();
        let applier = self.wait_for_applier(&mut source).await?;
        let is_same = |progress: &Progress| Arc::ptr_eq(&progress.applier, &applier);
        if !progress.as_ref().is_some_and(is_same) {
            *progress = Some(self.progress_of(applier));
        }
        let progress = progress.as_mut().expect("it was just set");
        let start = self.start_at(&source, progress)?;
        let until = self.until.as_ref().and_then(Until::gtids);
        let learned = source.set_start(&start, until, &options).await?;
        if let (Some(learned), None) = (learned, &progress.place) {
            self.learn(&learned)?;
        }
        source.start_dump(&start, &options).await?;
        shared.status.update(|status| status.semi_sync = source.semi_sync);
        shared
            .status
            .set_doing(ReceiverState::Connected, "Waiting for master to send event");
        Stream {
            receiver: self,
            options,
            by_place: matches!(start, StartAt::Place(_)),
            progress,
            passed: BTreeMap::new(),
            passed_since: None,
            awaited: VecDeque::new(),
            received_bytes: 0,
            received_groups: 0,
            starved: Duration::ZERO,
            blocked: Duration::ZERO,
        }
        .run(source, start)
        .await
    }

    /// Stays connected until there is an applier to give things to.
    async fn wait_for_applier(&mut self, source: &mut Source) -> Result<Arc<Applier>, End> {
        loop {
            // One that an error has ended is there until the next one is started.
            if let Some(applier) = &*self.appliers.borrow_and_update()
                && applier.status().error.is_none()
            {
                return Ok(applier.clone());
            }
            self.shared.status.set_doing(
                ReceiverState::Connected,
                "Waiting for the slave SQL thread to be started",
            );
            tokio::select! {
                changed = self.appliers.changed() => if changed.is_err() {
                    return Err(End::Stopped);
                },
                () = tokio::time::sleep(PING_EVERY) => source.ping().await?,
            }
        }
    }

    fn progress_of(&self, applier: Arc<Applier>) -> Progress {
        let transactions = self.shared.environment.transactions();
        let options = self.shared.environment.options(&self.shared.name);
        Progress {
            applier,
            gtids: match self.definition.use_gtid {
                UseGtid::CurrentPos => transactions.current_position(options.server_id),
                UseGtid::SlavePos | UseGtid::No => transactions.replicated_position(),
            },
            place: None,
            executed: transactions.executed_mysql_gtids(&self.shared.name),
            executed_since: None,
            supply: transactions
                .gtid_state()
                .highest_sequence(options.domain_id)
                .unwrap_or(SequenceNumber(0)),
        }
    }

    fn start_at(&self, source: &Source, progress: &mut Progress) -> Result<StartAt, SourceError> {
        if self.definition.use_gtid != UseGtid::No {
            match source.kind {
                SourceKind::MariaDb => return Ok(StartAt::Gtids(progress.gtids.clone())),
                SourceKind::MySql => {
                    let executed = match &progress.executed {
                        Some(executed) => executed.clone(),
                        None => self.begin_with_gtids()?,
                    };
                    progress.executed = Some(executed.clone());
                    return Ok(StartAt::MySqlGtids(executed));
                }
                SourceKind::Other => {}
            }
            return Err(SourceError::fatal_with(
                ER_SLAVE_FATAL_ERROR,
                &"The primary has no GTIDs of MariaDB's kind: CHANGE MASTER TO … MASTER_USE_GTID=no, with MASTER_LOG_FILE and \
                  MASTER_LOG_POS",
            ));
        }
        let transactions = self.shared.environment.transactions();
        let place = progress
            .place
            .clone()
            .or_else(|| transactions.source_position(&self.shared.name))
            .unwrap_or_else(|| SourcePosition {
                file: "".into(),
                offset: 4,
            });
        Ok(StartAt::Place(place))
    }

    /// A first start with MySQL's GTIDs: whoever has nothing of its gets everything.
    fn begin_with_gtids(&self) -> Result<MySqlGtidSet, SourceError> {
        let shared = &self.shared;
        if shared
            .environment
            .transactions()
            .source_position(&shared.name)
            .is_some()
        {
            return Err(SourceError::fatal_with(
                ER_SLAVE_FATAL_ERROR,
                &"It is not known which of MySQL's GTIDs are here: CHANGE MASTER TO … MASTER_GTID_POS='uuid:1-5', or go on by file and \
                  position until the log goes on in another file",
            ));
        }
        let none = MySqlGtidSet::new();
        let mut record = ReplicaRecord::of_gtids(GtidMove::None);
        record
            .executed
            .push((shared.name.clone(), ExecutedMove::Replace(none.clone())));
        log_move(shared, &record)?;
        Ok(none)
    }

    /// A start by file and position: the primary has said which GTIDs stand before it.
    fn learn(&self, learned: &GtidPosition) -> Result<(), SourceError> {
        let transactions = self.shared.environment.transactions();
        let known = transactions.replicated_position();
        let news: Vec<Gtid> = learned
            .iter()
            .filter(|gtid| !known.reaches(gtid.domain_id, gtid.sequence))
            .collect();
        if news.is_empty() {
            return Ok(());
        }
        let record = ReplicaRecord::of_gtids(GtidMove::To(news));
        log_move(&self.shared, &record)
    }
}

/// A move of the position that the log must take before anything else is done.
fn log_move(shared: &ConnectionShared, record: &ReplicaRecord) -> Result<(), SourceError> {
    let transactions = shared.environment.transactions();
    tokio::task::block_in_place(|| transactions.move_replica_position(record))
        .map_err(|error| SourceError::fatal(ER_SLAVE_FATAL_ERROR.number(), error.to_string()))
}

/// What there is no value of.
enum Never {}

/// Whether a transaction is for us.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Yes,
    No,
    /// `sql_slave_skip_counter`.
    Skipped,
}

/// The events of one connection.
struct Stream<'a> {
    receiver: &'a mut Receiver,
    options: ReplicaOptions,
    /// It goes on by its place in the primary's log, which is logged with each transaction.
    by_place: bool,
    progress: &'a mut Progress,
    /// The last transaction of each domain that was passed over and is not yet handed on.
    passed: BTreeMap<u32, (Gtid, SourcePosition)>,
    passed_since: Option<Instant>,
    /// Semi-sync: transactions whose primary waits, and where they end there.
    awaited: VecDeque<(Gtid, SourcePosition)>,
    /// Counted since the last [`Stream::show`].
    received_bytes: u64,
    received_groups: u64,
    starved: Duration,
    blocked: Duration,
}

impl Stream<'_> {
    async fn run(mut self, source: Source, start: StartAt) -> Result<Never, End> {
        let end = self.receive(source, start).await;
        if matches!(end, Err(End::Failed(_))) {
            // What was passed over stays so: it is not received again when somebody has mended the cause.
            let _ = self.hand_on_passed().await;
        }
        end
    }

    async fn receive(&mut self, mut source: Source, start: StartAt) -> Result<Never, End> {
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
        let net_timeout = self.options.net_timeout;
        loop {
            // What has arrived already needs no waiting, and no looking around.
            for _ in 0..BATCH_EVENTS_MAX {
                let Some(event) = source.next_buffered()? else {
                    break;
                };
                self.take_event(&mut assembler, &event).await?;
            }
            self.show(&assembler);
            let patience = match self.passed_since {
                Some(since) => PASSED_FOR.saturating_sub(since.elapsed()).min(net_timeout),
                None => net_timeout,
            };
            let applier = self.progress.applier.clone();
            let waiting = Instant::now();
            let replicated = self.awaited.front().map(|(gtid, _)| {
                let transactions = self.receiver.shared.environment.transactions();
                transactions.replicated_up_to([*gtid].into_iter().collect())
            });
            let event = tokio::select! {
                biased;
                () = async { match replicated {
                    Some(replicated) => replicated.await,
                    None => std::future::pending().await,
                } } => {
                    self.acknowledge(&mut source).await?;
                    continue;
                }
                event = source.next_event() => event?,
                _ = self.receiver.appliers.changed() => {
                    return Err(End::ApplierGone);
                }
                () = applier.failed() => return Err(End::ApplierGone),
                () = tokio::time::sleep(patience) => {
                    if self.passed_since.is_some() {
                        self.hand_on_passed().await?;
                        continue;
                    }
                    return Err(SourceError::lost(
                        CR_SERVER_LOST,
                        "Lost connection to server during query (no event and no heartbeat within slave_net_timeout)",
                    ).into());
                }
            };
            self.starved += waiting.elapsed();
            self.take_event(&mut assembler, &event).await?;
        }
    }

    /// What one event leads to.
    async fn take_event(&mut self, assembler: &mut Assembler, event: &SentEvent<'_>) -> Result<(), End> {
        self.received_bytes += event.bytes.len() as u64;
        let assembled = assembler.take(event.bytes)?;
        match assembled {
            Assembled::Nothing => {}
            Assembled::Group(group) => {
                self.progress.supply = assembler.supply.last;
                let (gtid, end) = (group.group.gtid(), group.end.clone());
                self.take_group(group).await?;
                if event.wants_acknowledgement {
                    self.awaited.push_back((gtid, end));
                    // What is passed over is acknowledged when its position is logged.
                    self.hand_on_passed().await?;
                }
            }
            Assembled::Heartbeat => {
                self.receiver
                    .shared
                    .status
                    .update(|status| status.heartbeats += 1);
                self.reach(assembler.place()).await?;
            }
            Assembled::Place => {
                if !assembler.is_inside_group() {
                    self.reach(assembler.place()).await?;
                }
            }
            Assembled::Passed(gtids) => {
                for gtid in gtids {
                    self.pass(gtid, assembler.place().clone());
                }
            }
            Assembled::Executed(gtids) => {
                // In the middle of a file it is not known what there was before; at the beginning of the next one it is.
                if self.progress.executed.is_none() {
                    self.begin_with(gtids).await?;
                }
            }
            Assembled::UntilReached => {
                self.show(assembler);
                return Err(self.end_at_until().await);
            }
        }
        Ok(())
    }

    /// Shows how far it has come.
    fn show(&mut self, assembler: &Assembler) {
        let gtids = &self.progress.gtids;
        let (bytes, groups) = (
            std::mem::take(&mut self.received_bytes),
            std::mem::take(&mut self.received_groups),
        );
        let (starved, blocked) = (
            std::mem::take(&mut self.starved),
            std::mem::take(&mut self.blocked),
        );
        self.receiver.shared.status.update(|status| {
            status.received_bytes += bytes;
            status.received_groups += groups;
            status.starved += starved;
            status.blocked += blocked;
            status.read.clone_from(assembler.place());
            if status.gtid_position != *gtids {
                status.gtid_position.clone_from(gtids);
            }
            if status.executed != self.progress.executed {
                status.executed.clone_from(&self.progress.executed);
            }
        });
    }

    /// Tells the primary what is durable here: everything up to the last transaction that is replicated.
    async fn acknowledge(&mut self, source: &mut Source) -> Result<(), End> {
        let transactions = self.receiver.shared.environment.transactions();
        let reached = transactions.replicated_position();
        let mut end = None;
        while let Some((gtid, _)) = self.awaited.front() {
            if !reached.reaches(gtid.domain_id, gtid.sequence) {
                break;
            }
            end = self.awaited.pop_front().map(|(_, end)| end);
        }
        let Some(end) = end else { return Ok(()) };
        // With sync_binlog=0 what is published may not be durable yet.
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
            && is_at_or_behind(&received.start, until)
        {
            return Err(self.end_at_until().await);
        }
        self.received_groups += 1;
        let wanted = self.wants(&received);
        if let Some(gtid) = &received.mysql_gtid {
            self.note_executed(gtid);
        }
        if wanted != Wanted::Yes {
            self.note_gtid(gtid);
            self.pass(gtid, received.end);
            if wanted == Wanted::Skipped {
                // Somebody has asked for it: it stays so, also if what comes next fails.
                self.hand_on_passed().await?;
                self.wait_applied().await?;
            }
            return Ok(());
        }
        if self.options.gtid_ignore_duplicates && !self.claim(gtid).await? {
            self.note_gtid(gtid);
            return self.reach(&received.end).await;
        }
        let filtered =
            filter_group(&received.group, &received.format, &self.options.filters).map_err(|error| {
                SourceError::fatal(
                    ER_SLAVE_CORRUPT_EVENT.number(),
                    format!("{}: {error}", ER_SLAVE_CORRUPT_EVENT.message(&[])),
                )
            })?;
        let group = match filtered {
            Filtered::Whole => received.group,
            Filtered::Part(part) => part,
            Filtered::Nothing => {
                self.note_gtid(gtid);
                self.pass(gtid, received.end);
                return Ok(());
            }
        };
        self.delay(received.timestamp).await?;
        // What was passed over in this domain is before it, and moves with it.
        self.passed.remove(&gtid.domain_id.0);
        if self.passed.is_empty() {
            self.passed_since = None;
        } else if self.by_place {
            self.hand_on_passed().await?;
        }
        let executed = self.progress.executed_since.take();
        self.push(Received::Group(ReceivedGroup {
            group,
            format: received.format,
            source_end: received.end.clone(),
            received_at: Instant::now(),
            executed,
        }))
        .await?;
        self.note_gtid(gtid);
        self.progress.place = Some(received.end);
        Ok(())
    }

    /// `gtid_ignore_duplicates`: whether the transaction is ours to hand on. Waits while another connection brings its domain.
    async fn claim(&mut self, gtid: Gtid) -> Result<bool, End> {
        let shared = self.receiver.shared.clone();
        let transactions = shared.environment.transactions();
        loop {
            let other = match shared
                .owners
                .claim(&shared.name, gtid, &transactions.replicated_position())
            {
                Claim::Ours => return Ok(true),
                Claim::Duplicate => return Ok(false),
                Claim::WaitFor(other) => other,
            };
            tokio::select! {
                () = transactions.replicated_up_to([other].into_iter().collect()) => {}
                _ = self.receiver.appliers.changed() => return Err(End::ApplierGone),
                () = tokio::time::sleep(OTHER_CONNECTION_LOOK) => {}
            }
        }
    }

    /// All of these are here, when everything before them is applied.
    async fn begin_with(&mut self, gtids: MySqlGtidSet) -> Result<(), End> {
        self.hand_on_passed().await?;
        self.wait_applied().await?;
        let shared = &self.receiver.shared;
        let mut record = ReplicaRecord::of_gtids(GtidMove::None);
        let executed = ExecutedMove::Replace(gtids.clone());
        record.executed.push((shared.name.clone(), executed));
        log_move(shared, &record)?;
        self.progress.executed = Some(gtids);
        Ok(())
    }

    /// A transaction of MySQL comes to the set of those that are here.
    fn note_executed(&mut self, gtid: &MySqlGtid) {
        let Some(executed) = &mut self.progress.executed else {
            return;
        };
        executed.add(gtid);
        let mut added = MySqlGtidSet::new();
        added.add(gtid);
        let added = ExecutedMove::Add(added);
        self.progress.executed_since = Some(match self.progress.executed_since.take() {
            Some(before) => before.then(added),
            None => added,
        });
    }

    /// Whether a transaction is for us, as far as its GTID and its number in the skip counter tell.
    fn wants(&self, received: &AssembledGroup) -> Wanted {
        let gtid = received.group.gtid();
        let definition = &self.receiver.definition;
        if gtid.domain_id == LOCAL_DOMAIN || !definition.wants(gtid.domain_id.0, gtid.server_id.0) {
            return Wanted::No;
        }
        if gtid.server_id == self.options.server_id && !self.options.replicate_same_server_id {
            return Wanted::No;
        }
        let is_marked = || {
            let first = received.group.events().next();
            first.is_some_and(|event| event.header().flags.contains(EventFlags::SKIP_REPLICATION))
        };
        if self.options.marked_for_skip != MarkedForSkip::Replicate && is_marked() {
            return Wanted::No;
        }
        let events = received.group.event_count() as u64;
        let skip = &self.receiver.shared.skip_events;
        let left = skip.load(Ordering::Acquire);
        if left > 0 {
            skip.store(left.saturating_sub(events), Ordering::Release);
            tracing::info!("transaction {gtid} is passed over: sql_slave_skip_counter");
            return Wanted::Skipped;
        }
        Wanted::Yes
    }

    fn note_gtid(&mut self, gtid: Gtid) {
        self.progress.gtids.set(gtid);
    }

    /// A transaction moves the position and nothing else.
    fn pass(&mut self, gtid: Gtid, end: SourcePosition) {
        self.receiver
            .shared
            .status
            .update(|status| status.passed_groups += 1);
        self.passed.insert(gtid.domain_id.0, (gtid, end));
        self.passed_since.get_or_insert_with(Instant::now);
    }

    async fn hand_on_passed(&mut self) -> Result<(), End> {
        self.passed_since = None;
        for (gtid, end) in std::mem::take(&mut self.passed).into_values() {
            let executed = self.progress.executed_since.take();
            self.push(Received::Passed {
                gtid,
                source_end: end.clone(),
                executed,
            })
            .await?;
            self.progress.place = Some(end);
        }
        Ok(())
    }

    /// Nothing up to here is left to be received.
    async fn reach(&mut self, place: &SourcePosition) -> Result<(), End> {
        if !self.passed.is_empty() {
            if self
                .passed_since
                .is_some_and(|since| since.elapsed() >= PASSED_FOR)
            {
                self.hand_on_passed().await?;
            } else {
                return Ok(());
            }
        }
        self.push(Received::Position(place.clone())).await?;
        self.progress.place = Some(place.clone());
        Ok(())
    }

    async fn push(&mut self, received: Received) -> Result<(), End> {
        let began = Instant::now();
        let applier = self.progress.applier.clone();
        let pushed = tokio::select! {
            biased;
            pushed = applier.push(received) => pushed.map_err(|_| End::ApplierGone),
            _ = self.receiver.appliers.changed() => Err(End::ApplierGone),
        };
        self.blocked += began.elapsed();
        pushed
    }

    /// `MASTER_DELAY`: waits until the transaction is old enough. The primary waits with us: nothing is kept but this one.
    async fn delay(&mut self, timestamp_seconds: u32) -> Result<(), End> {
        let seconds = u64::from(self.receiver.definition.delay_seconds);
        if seconds == 0 {
            return Ok(());
        }
        let clock = self.receiver.shared.status.get().clock_difference_seconds;
        let executed_at_seconds = (i64::from(timestamp_seconds) - clock).clamp(0, i64::from(u32::MAX)) as u32;
        let until = u64::from(executed_at_seconds) + seconds;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let Some(left) = Duration::from_secs(until)
            .checked_sub(now)
            .filter(|left| !left.is_zero())
        else {
            return Ok(());
        };
        let status = &self.receiver.shared.status;
        status.update(|status| {
            status.delayed = Some(Delayed {
                until_seconds: until,
                executed_at_seconds,
            });
        });
        let applier = self.progress.applier.clone();
        let waited = tokio::select! {
            () = tokio::time::sleep(left) => Ok(()),
            () = applier.failed() => Err(End::ApplierGone),
            _ = self.receiver.appliers.changed() => Err(End::ApplierGone),
        };
        status.update(|status| status.delayed = None);
        waited
    }

    /// Everything up to START SLAVE UNTIL was given to the applier: when it is applied, both stop.
    async fn end_at_until(&mut self) -> End {
        if let Err(end) = self.hand_on_passed().await {
            return end;
        }
        if let Err(end) = self.wait_applied().await {
            return end;
        }
        self.receiver.shared.until_reached();
        End::UntilReached
    }

    /// Waits until everything that was handed on is applied.
    async fn wait_applied(&self) -> Result<(), End> {
        loop {
            let status = self.progress.applier.status();
            let is_stopped = self.receiver.appliers.has_changed().unwrap_or(true);
            if status.error.is_some() || is_stopped {
                return Err(End::ApplierGone);
            }
            if status.pending_transactions == 0 {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

/// Whether a place is at or behind another one: file names of one server grow with their numbers.
fn is_at_or_behind(place: &SourcePosition, until: &SourcePosition) -> bool {
    let number = |file: &str| {
        file.rsplit_once('.')
            .and_then(|(_, number)| number.parse::<u64>().ok())
            .unwrap_or(0)
    };
    (number(&place.file), place.offset) >= (number(&until.file), until.offset)
}

/// A place from which a connection shall go on: what `CHANGE MASTER … MASTER_LOG_FILE` logs.
pub(super) fn place_record(connection: &Arc<str>, place: Option<SourcePosition>) -> ReplicaRecord {
    ReplicaRecord::of_source(RecordScope::Alone, connection.clone(), place)
}
