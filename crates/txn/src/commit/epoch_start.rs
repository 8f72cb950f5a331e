//! What a cluster needs of the commit pipeline: the start of an epoch, the end of writing, and where the log is durable.
//!
//! A member that promises a later epoch must not add to its log what an older primary or its own clients wrote. It stops
//! writing first: from then on the log stage refuses every group. What is written already stays in the pipeline,
//! unpublished until the acknowledger decides.

use super::acknowledge::WrittenTransactions;
use super::core::{Core, unix_seconds};
use super::log_stage::{Writing, WrittenGroup};
use super::ticket::Ticket;
use super::{
    CommitAttachments, CommitPlace, Completion, PlacedTransaction, ResultReceiver, RetainedMetadataLocks,
};
use crate::error::Result;
use crate::interrupt::Interrupt;
use crate::lock::HeldLocks;
use crate::manager::TransactionManager;
use paceline_binlog::group::{GroupOptions, GroupSize};
use paceline_binlog::log::LogEnd;
use paceline_binlog::{CommitGroup, EpochMark, EventGroupBuffer, PositionChange};
use paceline_storage::WriteSet;
use paceline_types::{DomainId, Gtid, ServerId};
use std::time::Instant;

impl TransactionManager {
    /// Logs the start of an epoch and makes it durable. Clients need not be allowed to write, and writing may be stopped.
    /// The start is published when it is acknowledged, which this does not wait for. Transactions that are in the
    /// commit queue follow it. Returns its GTID.
    ///
    /// # Errors
    /// [`crate::Error::LogFull`], [`crate::Error::SequenceExhausted`]: nothing has changed. Others are fatal.
    pub fn write_epoch_start(
        &self,
        mark: EpochMark,
        domain_id: DomainId,
        server_id: ServerId,
    ) -> Result<Gtid> {
        let core = self.core();
        let session = self.session(Interrupt::new());
        let attachments =
            CommitAttachments::new(&session, HeldLocks::default(), RetainedMetadataLocks::default());
        let gtid = core.log_epoch_start(mark, (domain_id, server_id), attachments)?;
        core.publish();
        Ok(gtid)
    }

    /// Returns the durable end of the log, with its index and the epochs before it. A cluster acknowledges no more.
    pub fn durable_tail(&self) -> LogEnd {
        self.core().log.durable_end()
    }

    /// Stops writing: when this returns, everything written is durable, and no transaction of a client or an applier
    /// is written before [`TransactionManager::resume_writing`]. They get [`crate::Error::WritingStopped`]. Returns the
    /// durable end of the log.
    ///
    /// # Errors
    /// Every error is fatal.
    pub fn stop_writing(&self) -> Result<LogEnd> {
        let core = self.core();
        {
            let mut stage = core.log_stage.lock();
            if let Some(error) = core.poisoned() {
                return Err(error);
            }
            stage.writing = Writing::Stopped;
            if let Err(reason) = core.sync_log() {
                return Err(core.fatal(&reason));
            }
            core.acknowledge_durable_in_stage(WrittenTransactions::default());
        }
        core.publish();
        Ok(core.log.durable_end())
    }

    /// Allows writing again after [`TransactionManager::stop_writing`]: this member follows a primary, or is one.
    pub fn resume_writing(&self) {
        self.core().log_stage.lock().writing = Writing::Allowed;
    }

    /// Gives up what is not acknowledged, because the server stops: its sessions get [`crate::Error::Undecided`], and
    /// from now on nothing is published and nothing is written. The transactions stay in the log and are in no table.
    /// Returns their number.
    ///
    /// # Errors
    /// Every error is fatal.
    pub fn give_up_unacknowledged(&self) -> Result<usize> {
        self.stop_writing()?;
        Ok(self.core().end_publishing())
    }
}

impl Core {
    /// Takes the start of an epoch through the log stage, into the publish queue.
    fn log_epoch_start(
        &self,
        mark: EpochMark,
        (domain_id, server_id): (DomainId, ServerId),
        attachments: Box<CommitAttachments>,
    ) -> Result<Gtid> {
        let mut stage = self.log_stage.lock();
        if let Some(error) = self.poisoned() {
            return Err(error);
        }
        let mut events = EventGroupBuffer::new(GroupOptions::new(server_id));
        events.start_epoch(unix_seconds(), mark);
        let start = match self
            .log
            .reserve(events.len() + CommitGroup::GTID_EVENT_LENGTH_MAX)
        {
            Ok(start) => start,
            Err(error @ paceline_binlog::Error::NoSpace { .. }) => return Err(error.into()),
            Err(error) => {
                return Err(self.fatal(&format!("cannot prepare room in the binary log: {error}")));
            }
        };
        let gtid = stage.take_next_gtid(domain_id, server_id)?;
        stage.group.begin(start, GroupSize::Single);
        let placed = stage.group.add(&mut events, gtid);
        if let Err(error) = self.log.append(&stage.group) {
            return Err(self.fatal(&format!("cannot write the binary log: {error}")));
        }
        self.positions.advance_written(placed.end);
        if let Err(reason) = self.sync_log() {
            return Err(self.fatal(&reason));
        }
        let writes = WriteSet::new().complete().placed_at(placed.end);
        let transactions = vec![PlacedTransaction {
            committed: CommitPlace {
                gtid: Some(gtid),
                version: placed.end,
            },
            is_replicated: false,
            writes,
            built: None,
            // Nobody waits.
            receiver: ResultReceiver::Session(Ticket::new()),
            attachments,
            completion: Completion::Inline,
        }];
        self.acknowledge_durable_in_stage(WrittenTransactions::of(&transactions));
        self.publisher.push(WrittenGroup {
            transactions,
            end: placed.end,
            moves: PositionChange::None,
            durable_at: Instant::now(),
        });
        self.rotate_if_due(&mut stage);
        Ok(gtid)
    }
}
