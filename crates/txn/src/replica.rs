//! A replica's transactions: their submission, their progress (`gtid_slave_pos`), and the waits for it.
//!
//! The authoritative state is in the log ([`paceline_binlog::replica_state`]). Its published part, and in the same way
//! the GTID position of the whole log, is in `commit/published_position.rs`.

use crate::commit::Outcome;
use crate::commit::batch::{Batch, BatchObserver, CommitStream};
use crate::commit::core::{Core, unix_seconds};
use crate::commit::published_position::{PositionWaitOutcome, ReplicationWait};
use crate::error::{Error, Result};
use crate::interrupt::Interrupt;
use crate::lock::MetadataGuard;
use crate::manager::TransactionManager;
use crate::transaction::Transaction;
use paceline_binlog::mysql::MySqlGtidSet;
use paceline_binlog::{GtidPosition, PositionChange, ReplicaRecord, SourcePosition};
use paceline_types::{LogPosition, ServerId};
use std::sync::Arc;
use std::time::Instant;

impl Core {
    /// Logs a move. Returns its log position, at which it will be published.
    fn move_replica(&self, record: &ReplicaRecord) -> Result<LogPosition> {
        let mut stage = self.log_stage.lock();
        if let Some(error) = self.poisoned() {
            return Err(error);
        }
        match self.log.write_replica_record(record, unix_seconds()) {
            Ok(()) => {}
            Err(error @ paceline_binlog::Error::NoSpace { .. }) => return Err(error.into()),
            Err(error) => return Err(self.fatal(&format!("cannot write the binary log: {error}"))),
        }
        match &record.gtids {
            PositionChange::None => {}
            PositionChange::To(gtids) => gtids.iter().for_each(|gtid| stage.number_after(*gtid)),
            PositionChange::Replace(position) => position.iter().for_each(|gtid| stage.number_after(gtid)),
        }
        let position = self.log.written();
        self.reach_in_stage(position, record.gtids.clone());
        Ok(position)
    }
}

impl TransactionManager {
    /// Returns `gtid_slave_pos`: the last replicated GTID of each domain, as far as it is published.
    pub fn replicated_position(&self) -> GtidPosition {
        self.core().replica.get()
    }

    /// Returns `gtid_current_pos`: in each domain the last replicated GTID, or the last one written here if
    /// that is later.
    pub fn current_position(&self, server_id: ServerId) -> GtidPosition {
        let mut position = self.replicated_position();
        for own in self.gtid_state().position().iter() {
            if own.server_id == server_id {
                position.advance(own);
            }
        }
        position
    }

    /// Returns a connection's position in its primary's log, if it was recorded.
    pub fn source_position(&self, connection: &str) -> Option<SourcePosition> {
        self.core().log.replica_state().sources.get(connection).cloned()
    }

    /// Returns the MySQL GTIDs that a connection has executed; `None` if they are not known.
    pub fn executed_mysql_gtids(&self, connection: &str) -> Option<MySqlGtidSet> {
        self.core().log.replica_state().executed.get(connection).cloned()
    }

    /// Moves the replica's position without a transaction: after a filter has skipped one, for `SET GLOBAL
    /// gtid_slave_pos`, or to a new position in a primary's log. The move is durable when this returns, and
    /// published unless earlier transactions wait for replicas. Transactions that are already in the commit
    /// queue precede it.
    ///
    /// # Errors
    /// [`Error::LogFull`]; others are fatal.
    pub fn move_replica_position(&self, record: &ReplicaRecord) -> Result<()> {
        let core: &Arc<Core> = self.core();
        let position = core.move_replica(record)?;
        core.publish_up_to(position);
        Ok(())
    }

    /// Completes when everything in `wanted` is replicated and published.
    pub fn replicated_up_to(&self, wanted: GtidPosition) -> ReplicationWait {
        ReplicationWait::new(self.core().clone(), wanted)
    }

    /// `MASTER_GTID_WAIT`: waits in the calling thread until everything in `wanted` is replicated and
    /// published. Only sequence numbers within domains are compared. Without a deadline it waits forever.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if the session is killed or its statement times out.
    pub fn wait_replicated(
        &self,
        wanted: &GtidPosition,
        deadline: Option<Instant>,
        interrupt: &Interrupt,
    ) -> Result<PositionWaitOutcome> {
        let core = self.core();
        crate::lock::owner::blocking(|| core.replica.wait(wanted, deadline, interrupt))
    }

    /// `wait_for_gtid`: waits as [`TransactionManager::wait_replicated`] does, for everything in the log,
    /// wherever it was written.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if the session is killed or its statement times out.
    pub fn wait_logged(
        &self,
        wanted: &GtidPosition,
        deadline: Option<Instant>,
        interrupt: &Interrupt,
    ) -> Result<PositionWaitOutcome> {
        let core = self.core();
        crate::lock::owner::blocking(|| core.logged.wait(wanted, deadline, interrupt))
    }
}

impl TransactionManager {
    /// Commits transactions in this order, after everything submitted to the stream before. They are in the
    /// queue when this returns. A transaction that has changed nothing is logged too, under its GTID. `locks`
    /// are metadata locks for all of them together: on the tables, on [`crate::MetadataObject::Global`] and on
    /// [`crate::MetadataObject::Commit`]. They are kept until every transaction that they were passed with is
    /// published.
    ///
    /// The transactions must not conflict with each other, as none waits for another to be placed.
    pub fn commit_batch(
        &self,
        stream: &CommitStream,
        transactions: Vec<Box<Transaction>>,
        locks: Arc<Vec<MetadataGuard>>,
        observer: Arc<dyn BatchObserver>,
    ) {
        let core = self.core();
        if transactions.is_empty() {
            observer.placed();
            observer.ended(Ok(core.positions.published()));
            return;
        }
        let batch = Arc::new(Batch::new(stream, transactions.len(), observer));
        let mut requests = Vec::with_capacity(transactions.len());
        let mut failure = None;
        for mut transaction in transactions {
            let prepared = match &failure {
                None => transaction.batch_request(&batch, &locks),
                Some(_) => Err(Error::Aborted),
            };
            match prepared {
                Ok(request) => requests.push(request),
                Err(error) => {
                    drop(transaction);
                    failure.get_or_insert(error);
                }
            }
        }
        let refused = batch.unplaced() - requests.len();
        core.submit_all(requests);
        if let Some(error) = failure {
            // What was submitted before keeps its position; nothing may follow it.
            stream.fail();
            for _ in 0..refused {
                batch.report_placed();
                batch.deliver(Outcome {
                    result: Err(error.clone()),
                    _attachments: None,
                });
            }
        }
    }
}
