//! The commit pipeline's interface for a cluster: the start of an epoch, the end of writing, and where the log is
//! durable.
//!
//! A member that promises a later epoch must not add to its log what an older primary or its own clients wrote. It
//! stops writing first: from then on the log stage refuses every group. What is written already stays in the pipeline,
//! unpublished until the acknowledger decides.

use crate::commit::acknowledge::WrittenTransactions;
use crate::commit::log_stage::Writing;
use crate::commit::{CommitAttachments, RetainedMetadataLocks};
use crate::error::Result;
use crate::interrupt::Interrupt;
use crate::lock::HeldLocks;
use crate::manager::TransactionManager;
use paceline_binlog::EpochMark;
use paceline_binlog::log::LogEnd;
use paceline_types::{DomainId, Gtid, ServerId};

impl TransactionManager {
    /// Logs the start of an epoch and makes it durable. Clients need not be allowed to write, and writing may be
    /// stopped. The start is published when it is acknowledged, which this does not wait for. Transactions that are in
    /// the commit queue follow it. Returns its GTID.
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

    /// Returns whether the acknowledger may hold transactions back for as long as it likes. Then an applier that is
    /// stopped does not wait until what it has written is published.
    pub fn may_hold_back(&self) -> bool {
        self.core().acknowledger.waits_for_sync()
    }

    /// Stops writing: when this returns, everything written is durable, and no transaction of a client or an applier
    /// is written before [`TransactionManager::resume_writing`]. They get [`crate::Error::WritingStopped`]. Returns
    /// the durable end of the log.
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
            stage.set_writing(Writing::Stopped);
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
        let mut stage = self.core().log_stage.lock();
        stage.set_writing(Writing::Allowed);
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
