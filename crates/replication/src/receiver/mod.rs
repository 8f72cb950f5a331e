//! A connection's receiver (`Slave_IO`): reads a primary's stream into the applier's queue.
//!
//! ```text
//!            ┌──────────── back-off ◀── lost ────────────┐
//!            ▼                                            │
//!   connect ─▶ introduce ─▶ wait for an applier ─▶ dump ─▶ stream ──▶ assemble ▸ filter ▸ delay ▸ push
//!                              ▲                            │
//!                              └──── the applier is gone ◀──┘
//! ```
//! While the applier is stopped, the log of a MariaDB primary is read and discarded ([`ahead`]).
//!
//! There is no relay log: received transactions go to the applier's bounded queue at once. If a replica cannot keep up,
//! the stream is slowed down and memory does not grow. Transactions that were received and not committed are received
//! again.
//!
//! **Start.** A new applier starts at the position in this server's log ([`Receiver::progress_of`]). While the same
//! applier lives, a new connection continues after the last transaction that it was given, which may not be committed
//! yet. A new receiver does not know what its predecessor passed to an existing applier: it waits until all of that is
//! in the log.
//!
//! **Skipped transactions.** A transaction excluded by a filter, a server id or the skip counter only moves the
//! position. Such moves are held back for at most [`PASSED_FOR`](state::PASSED_FOR) while others follow, because each
//! costs a write to the log.

mod ahead;
mod choice;
mod hand_over;
mod state;
mod stream;

use super::apply::Applier;
use super::received::SourcePosition;
use super::status::ReceiverState;
use super::until::Until;
use choice::is_at_or_after;
use state::{End, Progress, log_move};

pub(super) use state::Receiver;

use paceline_binlog::mysql::MySqlGtidSet;
use paceline_binlog::{ExecutedSetChange, GtidPosition, PositionChange, ReplicaRecord};
use paceline_log_stream::source::definition::UseGtid;
use paceline_log_stream::source::error::SourceError;
use paceline_log_stream::source::options::ReplicaOptions;
use paceline_log_stream::source::{Source, SourceKind, StartAt};
use paceline_types::error_code::ER_SLAVE_FATAL_ERROR;
use paceline_types::{Gtid, SequenceNumber};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use stream::Stream;

/// First pause before reconnecting. It doubles up to `MASTER_CONNECT_RETRY`.
const FIRST_PAUSE: Duration = Duration::from_millis(250);

/// Interval of the pings that a waiting connection sends to its primary.
const PING_EVERY: Duration = Duration::from_secs(15);

impl Receiver {
    /// Runs until STOP SLAVE, a fatal error, or the end of START SLAVE UNTIL.
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
                End::ApplierGone => self.give_back_domains(progress.take()),
                End::UntilReached => {
                    tracing::info!(
                        "connection '{}': the receiver stops because it reached its UNTIL position",
                        shared.name
                    );
                    break;
                }
                End::Failed(error @ SourceError::Fatal { .. }) => {
                    let (SourceError::Fatal { message, .. } | SourceError::Lost { message, .. }) = &error;
                    match self.definition.reader {
                        None => {
                            tracing::error!("connection '{}': the receiver stops: {message}", shared.name)
                        }
                        // The member connects again, and reports the reason once.
                        Some(_) => tracing::debug!("connection '{}': {message}", shared.name),
                    }
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
        self.give_back_domains(progress);
        self.shared.status.update(|status| {
            status.state = ReceiverState::Stopped;
            status.doing = "";
            status.delayed = None;
        });
    }

    /// Releases the connection's domains for `gtid_ignore_duplicates`, when the applier has finished everything it was
    /// given.
    fn give_back_domains(&self, progress: Option<Progress>) {
        let (owners, name) = (&self.shared.owners, &self.shared.name);
        match progress {
            Some(Progress { applier, .. }) => owners.release(name, Box::new(move || applier.is_settled())),
            None => owners.release(name, Box::new(|| true)),
        }
    }

    /// Runs one session with the primary, from the greeting to its end.
    async fn session(&mut self, progress: &mut Option<Progress>) -> End {
        match self.try_session(progress).await {
            Ok(never) => match never {},
            Err(end) => end,
        }
    }

    async fn try_session(&mut self, progress: &mut Option<Progress>) -> Result<Infallible, End> {
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
        if source.kind == SourceKind::MariaDb && self.has_no_applier() {
            return self.read_ahead(source, &options).await;
        }
        let known = progress.as_ref().map(|progress| progress.applier.clone());
        let applier = self.wait_for_applier(&mut source, known.as_ref()).await?;
        if !known.is_some_and(|known| Arc::ptr_eq(&known, &applier)) {
            *progress = Some(self.progress_of(applier));
        }
        let progress = progress.as_mut().expect("it was just set");
        let start = self.start_at(&source, progress)?;
        // START SLAVE SQL_THREAD UNTIL also applies to a running receiver.
        self.until = shared.until.lock().clone();
        if let Some(Until::Place(until)) = &self.until
            && is_at_or_after(&self.source_position(), until)
        {
            // It is already reached before anything is applied.
            shared.applier.end();
            return Err(End::ApplierGone);
        }
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
        Stream::new(self, options, &start, progress)
            .run(source, start)
            .await
    }

    /// Stays connected until there is an applier: either the one that already got items from this receiver, or one
    /// without unfinished work.
    async fn wait_for_applier(
        &mut self,
        source: &mut Source,
        known: Option<&Arc<Applier>>,
    ) -> Result<Arc<Applier>, End> {
        loop {
            // An applier that has ended with an error exists until the next one is started.
            let applier = self.appliers.borrow_and_update().clone();
            let applier = applier.filter(|applier| applier.status().error.is_none());
            if let Some(applier) = &applier
                && known.is_some_and(|known| Arc::ptr_eq(known, applier))
            {
                return Ok(applier.clone());
            }
            let doing = match &applier {
                Some(_) => "Waiting for the slave SQL thread to advance position",
                None => "Waiting for the slave SQL thread to be started",
            };
            self.shared.status.set_doing(ReceiverState::Connected, doing);
            let idle = async {
                match &applier {
                    Some(applier) if applier.until_idle().await.is_ok() => applier.clone(),
                    _ => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                applier = idle => return Ok(applier),
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
            gtids: self.own_position(&options),
            place: None,
            executed: transactions.executed_mysql_gtids(&self.shared.name),
            executed_since: None,
            supply: transactions
                .gtid_state()
                .highest_sequence(options.domain_id)
                .unwrap_or(SequenceNumber(0)),
        }
    }

    /// Returns this server's GTID position from the log.
    fn own_position(&self, options: &ReplicaOptions) -> GtidPosition {
        let transactions = self.shared.environment.transactions();
        if self.definition.reader.is_some() {
            return transactions.log().state().position();
        }
        match self.definition.use_gtid {
            UseGtid::CurrentPos => transactions.current_position(options.server_id),
            UseGtid::SlavePos | UseGtid::No => transactions.replicated_position(),
        }
    }

    /// Returns this server's source position from the log.
    fn source_position(&self) -> SourcePosition {
        let transactions = self.shared.environment.transactions();
        transactions
            .source_position(&self.shared.name)
            .unwrap_or_else(|| SourcePosition {
                file: "".into(),
                offset: 4,
            })
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
        let place = progress.place.clone().unwrap_or_else(|| self.source_position());
        Ok(StartAt::Place(place))
    }

    /// Returns the set for a first start with MySQL's GTIDs: a replica without any of them receives everything.
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
        let mut record = ReplicaRecord::of_gtids(PositionChange::None);
        record
            .executed
            .push((shared.name.clone(), ExecutedSetChange::Replace(none.clone())));
        log_move(shared, &record)?;
        Ok(none)
    }

    /// Records the GTIDs that the primary reports for a start by file and position.
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
        let record = ReplicaRecord::of_gtids(PositionChange::To(news));
        log_move(&self.shared, &record)
    }
}
