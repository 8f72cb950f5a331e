//! Passing items to the applier's queue: transactions, position moves, and the waits for them.

use super::state::{End, PASSED_FOR, log_move};
use super::stream::{PositionMove, Stream};
use crate::received::{ReceivedItem, SourcePosition};
use crate::skip_counter::SkippedEvents;
use crate::status::DelayedGroup;
use paceline_binlog::mysql::MySqlGtidSet;
use paceline_binlog::{ExecutedSetChange, PositionChange, ReplicaRecord};
use paceline_txn::SequenceSource;
use paceline_types::Gtid;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

impl Stream<'_> {
    /// Records a transaction that only moves the position.
    pub(super) fn pass(
        &mut self,
        gtid: Gtid,
        numbers: SequenceSource,
        end: SourcePosition,
        skipped: Option<SkippedEvents>,
    ) {
        self.receiver
            .shared
            .status
            .update(|status| status.passed_groups += 1);
        self.passed
            .retain(|passed| passed.gtid.domain_id != gtid.domain_id);
        self.passed.push(PositionMove {
            gtid,
            numbers,
            end,
            skipped,
        });
        self.passed_since.get_or_insert_with(Instant::now);
    }

    pub(super) async fn hand_on_passed(&mut self) -> Result<(), End> {
        self.passed_since = None;
        for PositionMove {
            gtid,
            numbers,
            end,
            skipped,
        } in std::mem::take(&mut self.passed)
        {
            let executed = self.progress.executed_since.take();
            self.push(ReceivedItem::Passed {
                gtid,
                source_end: end.clone(),
                executed,
                numbers,
                skipped,
            })
            .await?;
            self.progress.place = Some(end);
        }
        Ok(())
    }

    /// Records that nothing up to this position is left to be received.
    pub(super) async fn reach(&mut self, place: &SourcePosition) -> Result<(), End> {
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
        self.push(ReceivedItem::Position(place.clone())).await?;
        self.progress.place = Some(place.clone());
        Ok(())
    }

    pub(super) async fn push(&mut self, received: ReceivedItem) -> Result<(), End> {
        let applier = self.progress.applier.clone();
        tokio::select! {
            biased;
            pushed = applier.push(received) => pushed.map_err(|_| End::ApplierGone),
            _ = self.receiver.appliers.changed() => Err(End::ApplierGone),
        }
    }

    /// Waits for `MASTER_DELAY` until the transaction is old enough. The primary waits too: only this transaction is
    /// held.
    pub(super) async fn delay(&mut self, timestamp_seconds: u32) -> Result<(), End> {
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
            status.delayed = Some(DelayedGroup {
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

    /// Records that all these transactions are present, after everything before them has been applied.
    pub(super) async fn begin_with(&mut self, gtids: MySqlGtidSet) -> Result<(), End> {
        self.hand_on_passed().await?;
        self.wait_applied().await?;
        let shared = &self.receiver.shared;
        let mut record = ReplicaRecord::of_gtids(PositionChange::None);
        let executed = ExecutedSetChange::Replace(gtids.clone());
        record.executed.push((shared.name.clone(), executed));
        log_move(shared, &record)?;
        self.progress.executed = Some(gtids);
        Ok(())
    }

    /// Ends the session at START SLAVE UNTIL: everything up to it was passed to the applier, which stops when that is
    /// applied. Returns how the session ends: `then`, unless something else ends it before.
    ///
    /// As in MariaDB, a position only stops the applier; the receiver continues to read. GTIDs stop both: the primary
    /// sends nothing beyond them.
    pub(super) async fn end_at_until(&mut self, then: End) -> End {
        if let Err(end) = self.hand_on_passed().await {
            return end;
        }
        if let Err(end) = self.wait_applied().await {
            return end;
        }
        let shared = &self.receiver.shared;
        tokio::task::block_in_place(|| shared.record_place(&self.progress.applier.status()));
        shared.applier.end();
        then
    }

    /// Waits until everything that was passed on is applied.
    pub(super) async fn wait_applied(&self) -> Result<(), End> {
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
