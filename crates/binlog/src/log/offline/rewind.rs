//! Rewinding: cutting a log that no server has open back to what another server has of it.
//!
//! A primary that dies may have made transactions durable that no other server has received. Its replicas continue
//! without them, and when the old primary returns, these transactions conflict with what was written in the meantime.
//! If its tables do not hold them (a transaction reaches the tables only after it is acknowledged, and most of the
//! recent changes are only in memory), cutting the log before the first such transaction turns the server into one
//! that only lags.
//!
//! The decision is written first; `files/rewind_file.rs` has the steps.

use crate::disk::Disk;
use crate::error::{Error, Result};
use crate::gtid::{GtidState, LOCAL_DOMAIN};
use crate::log::config::{LogConfig, OpenRequest};
use crate::log::files::entry::FileEntry;
use crate::log::files::rewind_file::{HighestUsed, RewindFile, RewindRecord};
use crate::log::offline::detached_file::{DetachedFile, GroupLocation};
use crate::log::opening::inventory::Inventory;
use paceline_types::{LogIndex, LogPosition};
use std::sync::Arc;

/// A log that no server has open; the caller ensures this.
#[derive(Debug)]
pub struct ClosedLog {
    decisions: RewindFile,
    engine_position: LogPosition,
    /// The files, oldest first, each with the offset of its end.
    files: Vec<(DetachedFile, u64)>,
}

/// Transactions of a log that another server lacks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MissingTransactions {
    /// The missing transactions, in order.
    pub groups: Vec<GroupLocation>,
    /// Unreplicated transactions ([`LOCAL_DOMAIN`]) after the first missing one, in order: a cut there cuts them off
    /// as well.
    pub local: Vec<GroupLocation>,
    /// GTID state before the first missing transaction.
    pub before: GtidState,
    /// Whether files that were purged may have contained further missing transactions.
    pub more_were_purged: bool,
}

impl ClosedLog {
    /// Reads the log in a directory and decides, as [`crate::log::Log::open`] does, whether it can be trusted. Changes
    /// nothing, except that it completes a rewind that was decided before.
    ///
    /// # Errors
    /// As for [`crate::log::Log::open`]; [`Error::MissingFile`] if there is no log; [`Error::DamagedIndex`] in the
    /// middle of a `RESET MASTER`, which opening the log completes.
    pub fn open(disk: Arc<dyn Disk>, config: &LogConfig, request: &OpenRequest) -> Result<Self> {
        let decisions = RewindFile::of(&disk, config);
        decisions.complete()?;
        let inventory = Inventory::take(Arc::clone(&disk), config)?;
        if inventory.reset.is_some() {
            return Err(inventory
                .index
                .damaged("RESET MASTER has not ended: start the server once, which completes it"));
        }
        let found = inventory.read(request)?;
        if found.files.is_empty() {
            return Err(Error::MissingFile(format!("{}.index", config.base_name)));
        }
        let open = |entry: &FileEntry| {
            let file = DetachedFile::open_on(&*disk, &config.directory.join(&entry.name))?;
            Ok((file, entry.length))
        };
        Ok(ClosedLog {
            files: found.files.iter().map(open).collect::<Result<_>>()?,
            engine_position: request.engine_position,
            decisions,
        })
    }

    /// Returns the transactions that a server with this GTID state lacks. Reads the newest files, back to the first
    /// one before which that server lacks nothing.
    ///
    /// # Errors
    /// [`Error::Damaged`], [`Error::Io`].
    pub fn missing_from(&self, has: &GtidState) -> Result<MissingTransactions> {
        let mut newest_first = Vec::new();
        let mut local = Vec::new();
        let mut before = GtidState::new();
        let mut more_were_purged = true;
        for (file, end) in self.files.iter().rev() {
            let mut state = file.state_before().clone();
            let mut places = file.groups(*end)?;
            let mut here = Vec::new();
            while let Some(place) = places.next_group()? {
                if place.gtid.domain_id == LOCAL_DOMAIN {
                    local.push(place);
                } else if !has.contains(place.gtid) {
                    if here.is_empty() {
                        before = state.clone();
                    }
                    here.push(place);
                }
                state.update(place.gtid);
            }
            newest_first.push(here);
            if file.state_before().iter().all(|gtid| has.contains(gtid)) {
                more_were_purged = false;
                break;
            }
        }
        let groups: Vec<GroupLocation> = newest_first.into_iter().rev().flatten().collect();
        local.retain(|place| groups.first().is_some_and(|first| place.start > first.start));
        local.sort_by_key(|place| place.start);
        Ok(MissingTransactions {
            groups,
            local,
            before,
            more_were_purged,
        })
    }

    /// Returns the first transaction after an index; `None` if the log ends there. Transactions for this server only
    /// ([`LOCAL_DOMAIN`]) that precede it belong to the part before. Reads one file.
    ///
    /// # Errors
    /// [`Error::UnknownIndex`] if no transaction ends at the index, or it is not in the existing files;
    /// [`Error::Damaged`], [`Error::Io`].
    pub fn first_after(&self, index: LogIndex) -> Result<Option<GroupLocation>> {
        let unknown = |problem: String| Error::UnknownIndex { index, problem };
        let begins_before = |(file, _): &&(DetachedFile, u64)| file.state_before().log_index() <= index;
        let Some((file, end)) = self.files.iter().rev().find(begins_before) else {
            let oldest = self
                .files
                .first()
                .map(|(file, _)| file.state_before().log_index());
            let oldest = oldest.unwrap_or_default();
            return Err(unknown(format!("its oldest file begins at index {oldest}")));
        };
        let mut state = file.state_before().clone();
        let mut groups = file.groups(*end)?;
        while let Some(place) = groups.next_group()? {
            let before = state.log_index();
            if before == index && place.gtid.domain_id != LOCAL_DOMAIN {
                return Ok(Some(place));
            }
            state.update(place.gtid);
            if before < index && state.log_index() > index {
                return Err(unknown(format!(
                    "transaction {} goes from {before} to {}",
                    place.gtid,
                    state.log_index()
                )));
            }
        }
        // A file that follows would begin here.
        match state.log_index() {
            end if end == index => Ok(None),
            end => Err(unknown(format!("it ends at index {end}"))),
        }
    }

    /// Cuts off every transaction after an index, as [`ClosedLog::rewind`] does. Returns the first of them, or `None`
    /// if the log ends at the index and nothing has changed.
    ///
    /// # Errors
    /// Those of [`ClosedLog::first_after`] and [`ClosedLog::rewind`].
    pub fn cut_after(self, index: LogIndex) -> Result<Option<GroupLocation>> {
        let first = self.first_after(index)?;
        if let Some(first) = &first {
            self.rewind(first)?;
        }
        Ok(first)
    }

    fn file_at(&self, position: LogPosition) -> Result<&DetachedFile> {
        let mut files = self.files.iter().map(|(file, _)| file);
        let file = files.find(|file| file.ordinal() == position.ordinal());
        file.ok_or(Error::UnknownPosition(position))
    }

    /// Returns the files that a rewind to the start of `place` cuts or removes, oldest first. The first one is cut.
    pub fn files_from(&self, place: &GroupLocation) -> impl Iterator<Item = &DetachedFile> {
        let ordinal = place.start.ordinal();
        let files = self.files.iter().map(|(file, _)| file);
        files.filter(move |file| file.ordinal() >= ordinal)
    }

    /// Cuts the log before a transaction. The cut is complete and durable when it returns.
    ///
    /// # Errors
    /// [`Error::EndLost`] if the tables hold the transaction: nothing has changed. [`Error::UnknownPosition`];
    /// [`Error::NoSpace`], [`Error::Io`]: if the decision was written, the next opening completes it.
    pub fn rewind(self, to: &GroupLocation) -> Result<()> {
        let file = self.file_at(to.start)?;
        if self.engine_position > to.start {
            return Err(Error::EndLost {
                file: file.name().to_owned(),
                end: to.start.offset(),
                needed: self.engine_position,
            });
        }
        let last = self.files.last().map(|(last, _)| last).unwrap_or(file);
        let decision = RewindRecord {
            last: file.name().to_owned(),
            end: to.start.offset(),
            used: HighestUsed {
                number: self.decisions.number(last.name()).unwrap_or(0),
                ordinal: last.ordinal(),
            },
        };
        self.decisions.write(&decision)?;
        self.decisions.complete().map(drop)
    }
}
