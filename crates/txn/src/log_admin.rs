//! Maintenance of the log: rotation, purging, RESET MASTER, checkpoints, and positions in the forms that
//! clients know.

use crate::commit::core::{Core, unix_seconds};
use crate::commit::log_stage::LogStage;
use crate::error::{Error, Result};
use crate::log_lease::LogLease;
use crate::manager::TransactionManager;
use paceline_binlog::log::{LogFile, PurgeOutcome, PurgeTarget};
use paceline_binlog::{EpochHistory, GtidState, PositionChange};
use paceline_types::{DomainId, Gtid, LogPosition};
use std::sync::atomic::Ordering;
use std::time::SystemTime;

impl Core {
    /// Flushes the engines and records in the log how far recovery would have to go back. Returns that
    /// position.
    pub(crate) fn checkpoint(&self) -> Result<LogPosition> {
        let needed = self.storage.flush()?;
        assert!(
            needed <= self.positions.durable(),
            "an engine holds what the log could lose"
        );
        if let Some(written) = self.write_checkpoint_event(needed)? {
            self.publish_up_to(written);
        }
        self.counters.checkpoints.fetch_add(1, Ordering::Relaxed);
        Ok(needed)
    }

    /// Writes a checkpoint event. Returns the end of the log after it, or `None` if none was written.
    fn write_checkpoint_event(&self, needed: LogPosition) -> Result<Option<LogPosition>> {
        let _stage = self.log_stage.lock();
        if let Some(error) = self.poisoned() {
            return Err(error);
        }
        // After a RESET MASTER in between, the log begins after the flushed position.
        let begin = self.log.files().first().map_or(0, |file| file.ordinal);
        if needed.ordinal() < begin {
            return Ok(None);
        }
        match self.log.write_checkpoint(needed, unix_seconds()) {
            Ok(()) => {}
            Err(error @ paceline_binlog::Error::NoSpace { .. }) => return Err(error.into()),
            Err(error) => return Err(self.fatal(&format!("cannot write the binary log: {error}"))),
        }
        let written = self.log.written();
        if self.log.durable() >= written {
            self.reach_in_stage(written, PositionChange::None);
        } else {
            self.reach_unsynced_in_stage(written);
        }
        Ok(Some(written))
    }

    /// Returns what needs a file of the log, if anything does.
    fn holder_of_file(&self, file: &LogFile, recovery: LogPosition) -> Option<String> {
        if file.ordinal >= recovery.ordinal() {
            return Some("crash recovery".into());
        }
        self.leases.holder_of(file.ordinal)
    }

    pub(crate) fn purge_expired(&self) {
        let Some(after) = self.config().binlog_expire_after else {
            return;
        };
        let purged = self
            .storage
            .durable_position()
            .map_err(Error::from)
            .and_then(|recovery| {
                let guard = |file: &LogFile| self.holder_of_file(file, recovery);
                Ok(self.log.expire(SystemTime::now(), after.as_secs(), &guard)?)
            });
        match purged {
            Ok(outcome) if !outcome.removed.is_empty() => {
                tracing::info!("{} expired binary logs were purged", outcome.removed.len());
            }
            Ok(_) => {}
            Err(error) => tracing::warn!("expired binary logs could not be purged: {error}"),
        }
    }
}

/// Report of `FLUSH BINARY LOGS DELETE_DOMAIN_ID` about its domains.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DomainDeletion {
    /// Domains that the state does not contain.
    pub unknown: Vec<DomainId>,
    /// Contradictions between the state and that at the head of the oldest file, in MariaDB's words.
    pub doubts: Vec<String>,
}

/// Returns a message if the state lacks a GTID that precedes the oldest file.
fn contradiction(before: Gtid, state: &GtidState) -> Option<String> {
    let Gtid {
        domain_id,
        server_id,
        sequence,
    } = before;
    match state.last_of(domain_id, server_id) {
        None => Some(format!(
            "missing gtids from the '{domain_id}-{server_id}' domain-server pair which is referred to in the gtid list describing \
             an earlier state. Ignore if the domain ('{domain_id}') was already explicitly deleted"
        )),
        Some(now) if now.sequence < sequence => Some(format!(
            "having a gtid '{now}' which is less than the '{before}' of the gtid list describing an earlier state. The state may \
             have been affected by manually injecting a lower sequence number gtid or via replication"
        )),
        Some(_) => None,
    }
}

impl TransactionManager {
    /// `FLUSH BINARY LOGS`: continues in a new file and returns its start. That position is published, unless
    /// earlier transactions wait for replicas.
    ///
    /// # Errors
    /// [`Error::LogFull`]; [`Error::Log`] with 1098 if no file number is left. The log continues in the old
    /// file then.
    pub fn rotate(&self) -> Result<LogPosition> {
        let core = self.core();
        let position = {
            let mut stage = core.log_stage.lock();
            if let Some(error) = core.poisoned() {
                return Err(error);
            }
            core.rotate_in_stage(&mut stage)?
        };
        core.publish_up_to(position);
        Ok(position)
    }

    /// `FLUSH BINARY LOGS DELETE_DOMAIN_ID`: removes domains from the state, in a new file. Does nothing if
    /// none of them is known.
    ///
    /// # Errors
    /// [`Error::Log`] with 1076 if a file may still contain a transaction of one of them; [`Error::LogFull`].
    /// Nothing has changed then.
    pub fn delete_domains(&self, domains: &[DomainId]) -> Result<DomainDeletion> {
        let core = self.core();
        let mut deletion = DomainDeletion::default();
        let mut new_file = None;
        {
            let mut stage = core.log_stage.lock();
            if let Some(error) = core.poisoned() {
                return Err(error);
            }
            let state = core.log.state();
            for before in core.log.oldest_state().iter() {
                deletion.doubts.extend(contradiction(before, &state));
            }
            let (known, unknown): (Vec<DomainId>, Vec<DomainId>) = domains
                .iter()
                .copied()
                .partition(|domain_id| state.last(*domain_id).is_some());
            deletion.unknown = unknown;
            if !known.is_empty() {
                new_file = Some(core.rotate_without_in_stage(&mut stage, &known)?);
            }
        }
        if let Some(position) = new_file {
            core.publish_up_to(position);
        }
        Ok(deletion)
    }

    /// `PURGE BINARY LOGS`. Files that recovery, a connected reader or a lease needs stay, and the outcome says
    /// what needs them. A checkpoint is made first, so that recovery needs little.
    ///
    /// # Errors
    /// [`Error::Log`] with 1373 for a file that does not exist.
    pub fn purge(&self, target: &PurgeTarget) -> Result<PurgeOutcome> {
        let core = self.core();
        let recovery = core.checkpoint()?;
        Ok(core
            .log
            .purge(target, &|file| core.holder_of_file(file, recovery))?)
    }

    /// `RESET MASTER [TO number]`: empties the log; versions continue to grow. Everything in the old log is in
    /// the engines first.
    ///
    /// # Errors
    /// [`Error::LogInUse`] if a reader is connected, a backup runs or transactions wait for replicas;
    /// [`Error::LogFull`]; [`Error::Log`] with 1098 for a number that is too high.
    pub fn reset(&self, number: Option<u32>) -> Result<LogPosition> {
        let core = self.core();
        let position = {
            let mut stage = core.log_stage.lock();
            core.reset_in_stage(&mut stage, number, &GtidState::new())?
        };
        core.publish_up_to(position);
        Ok(position)
    }

    /// `SET GLOBAL gtid_binlog_state`: begins an empty log for a server whose history began elsewhere. Replicas
    /// that ask for older transactions get the error that they are purged. Returns `None` if the log contains
    /// transactions; nothing has changed then.
    ///
    /// # Errors
    /// As [`TransactionManager::reset`].
    pub fn begin_with_state(&self, state: &GtidState) -> Result<Option<LogPosition>> {
        let core = self.core();
        let position = {
            let mut stage = core.log_stage.lock();
            if !core.log.state().is_empty() {
                return Ok(None);
            }
            let position = core.reset_in_stage(&mut stage, None, state)?;
            // The tables move to the new position at once: a copy of them then finds its position in this log.
            core.storage.apply(&[], position)?;
            core.storage.flush()?;
            position
        };
        core.publish_up_to(position);
        Ok(Some(position))
    }

    /// Flushes the engines and records it in the log. A restart replays from the returned position.
    ///
    /// # Errors
    /// If the engines cannot be flushed or the log cannot be written.
    pub fn checkpoint(&self) -> Result<LogPosition> {
        self.core().checkpoint()
    }

    /// Keeps the log from `position` on until the lease is dropped. `PURGE` reports `holder`.
    pub fn lease(&self, position: LogPosition, holder: impl Into<String>) -> LogLease {
        self.core().leases.take(position, holder.into())
    }

    /// Returns a position as clients know it: file name and offset (`binlog_snapshot_file`,
    /// `binlog_snapshot_position`).
    ///
    /// # Errors
    /// [`Error::Log`] if its file has been purged.
    pub fn coordinates(&self, position: LogPosition) -> Result<(String, u64)> {
        Ok(self.core().log.coordinates(position)?)
    }

    /// Returns the GTID state of everything placed in the log (`gtid_binlog_state`; its position is
    /// `gtid_binlog_pos`).
    pub fn gtid_state(&self) -> GtidState {
        self.core().log.state()
    }

    /// Returns whether the log has, or had, that transaction, which is assumed if it has one of the same server
    /// and domain with at least that number.
    pub fn has_logged(&self, gtid: Gtid) -> bool {
        self.core().log.has(gtid)
    }

    /// Returns the GTID state at a log position: the GTID position of a snapshot.
    ///
    /// # Errors
    /// [`Error::Log`] if the position has been purged.
    pub fn gtid_state_at(&self, position: LogPosition) -> Result<GtidState> {
        Ok(self.core().log.state_at(position)?)
    }
}

impl Core {
    /// Empties the log; the caller holds the log stage. See [`TransactionManager::reset`].
    fn reset_in_stage(
        &self,
        stage: &mut LogStage,
        number: Option<u32>,
        state: &GtidState,
    ) -> Result<LogPosition> {
        if let Some(error) = self.poisoned() {
            return Err(error);
        }
        if let Some(holder) = self.leases.holder_of(u32::MAX) {
            let file = self
                .log
                .files()
                .first()
                .map_or_else(String::new, |file| file.name.clone());
            return Err(Error::LogInUse {
                file,
                needed_by: holder,
            });
        }
        // No other thread writes while we hold the stage. Everything written becomes durable, then published,
        // then flushed.
        if let Err(reason) = self.sync_log() {
            return Err(self.fatal(&reason));
        }
        self.wait_until_published();
        if self.positions.published() < self.positions.written() {
            let file = self
                .log
                .files()
                .last()
                .map_or_else(String::new, |file| file.name.clone());
            return Err(Error::LogInUse {
                file,
                needed_by: "transactions that wait for replicas".into(),
            });
        }
        let flushed = self.storage.flush()?;
        assert!(
            flushed >= self.positions.published(),
            "everything in the log is in the tables"
        );
        let position = self
            .log
            .reset_to(number, state, &EpochHistory::default(), unix_seconds())?;
        let state = self.log.state();
        self.logged.advance(&[PositionChange::Replace(state.position())]);
        stage.reset(state);
        self.reach_in_stage(position, PositionChange::None);
        Ok(position)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::TestServer;

    #[test]
    fn a_checkpoint_from_before_a_reset_writes_no_event() {
        let server = TestServer::new();
        server.set("x", "1").unwrap();
        let core = server.manager.core();
        let flushed = core.storage.flush().unwrap();
        server.manager.reset(None).unwrap();
        core.write_checkpoint_event(flushed).unwrap();
        server.set("x", "2").unwrap();
        server.manager.checkpoint().unwrap();
        assert_eq!(server.get("x").as_deref(), Some("2"));
    }
}
