//! Rewinding: cutting a log that no server has open back to what another server has of it.
//!
//! A primary that dies may have made transactions durable that no other server has received. Its replicas continue
//! without them, and when the old primary returns, these transactions conflict with what was written in the meantime.
//! If its tables do not hold them (a transaction reaches the tables only after it is acknowledged, and most of the
//! recent changes are only in memory), cutting the log before the first such transaction turns the server into one
//! that only lags.
//!
//! ```text
//!   bin.rewind     ./bin.000007 48211 9 12       the last file and its new end; the highest number and ordinal that were in use
//! ```
//! *Steps*, each durable before the next: this file, which is the decision → index that ends with the last file →
//! last file cut, its in-use flag cleared → later files removed. Until the decision is written nothing has changed.
//! From then on, [`crate::log::Log::open`] completes the decision before it does anything else, and removes it after it
//! has begun a new file. That file gets a number and an ordinal above all that were in use, so no name and no
//! position is used twice. It contains no connections to primaries: those defined before the cut may have been
//! removed after it.

use crate::error::{Error, Result};
use crate::gtid::{GtidState, LOCAL_DOMAIN};
use crate::log::appending::active_file::finish_file;
use crate::log::config::{LogConfig, OpenRequest};
use crate::log::disk::{Disk, read_fully};
use crate::log::files::entry::{FileEntry, file_number};
use crate::log::files::index_file::IndexFile;
use crate::log::offline::detached_file::{DetachedFile, GroupLocation};
use crate::log::opening::inventory::Inventory;
use paceline_types::LogPosition;
use std::io::{ErrorKind, IoSlice};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Maximum length of a decision, in bytes: a file name and three numbers.
const DECISION_LENGTH_MAX: usize = 1024;

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

/// Highest number and ordinal in use when a log was cut back. New files get higher ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(in crate::log) struct HighestUsed {
    pub number: u32,
    pub ordinal: u32,
}

/// The decision to cut a log back to a position.
#[derive(Clone, PartialEq, Eq, Debug)]
struct RewindRecord {
    last: String,
    end: u64,
    used: HighestUsed,
}

impl RewindRecord {
    fn encode(&self) -> String {
        let HighestUsed { number, ordinal } = self.used;
        format!("./{} {} {number} {ordinal}\n", self.last, self.end)
    }

    fn decode(text: &str) -> Option<Self> {
        let mut words = text.strip_prefix("./")?.strip_suffix('\n')?.split(' ');
        let decision = RewindRecord {
            last: words.next()?.to_owned(),
            end: words.next()?.parse().ok()?,
            used: HighestUsed {
                number: words.next()?.parse().ok()?,
                ordinal: words.next()?.parse().ok()?,
            },
        };
        words.next().is_none().then_some(decision)
    }
}

/// The file with the decision, and its execution.
#[derive(Debug)]
pub(in crate::log) struct RewindFile {
    disk: Arc<dyn Disk>,
    directory: PathBuf,
    base_name: String,
}

impl RewindFile {
    pub fn of(disk: &Arc<dyn Disk>, config: &LogConfig) -> Self {
        RewindFile {
            disk: Arc::clone(disk),
            directory: config.directory.clone(),
            base_name: config.base_name.clone(),
        }
    }

    fn number(&self, name: &str) -> Option<u32> {
        file_number(&self.base_name, name)
    }

    fn path(&self, suffix: &str) -> PathBuf {
        self.directory.join(format!("{}.{suffix}", self.base_name))
    }

    fn decision_path(&self) -> PathBuf {
        self.path("rewind")
    }

    fn next_decision_path(&self) -> PathBuf {
        self.path("rewind_next")
    }

    fn write(&self, decision: &RewindRecord) -> Result<()> {
        let path = self.next_decision_path();
        self.remove(&path)?;
        let file = self.disk.create(&path).map_err(io_error("create", &path))?;
        file.write_at(&[IoSlice::new(decision.encode().as_bytes())], 0)
            .and_then(|()| file.sync())
            .map_err(io_error("write", &path))?;
        self.disk
            .rename(&path, &self.decision_path())
            .and_then(|()| self.disk.sync_directory(&self.directory))
            .map_err(io_error("rename", &path))
    }

    fn read(&self) -> Result<Option<RewindRecord>> {
        let path = self.decision_path();
        let file = match self.disk.open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(io_error("open", &path)(source)),
        };
        let mut content = [0; DECISION_LENGTH_MAX];
        let length = read_fully(&*file, &mut content, 0).map_err(io_error("read", &path))?;
        let decision = std::str::from_utf8(&content[..length])
            .ok()
            .and_then(RewindRecord::decode)
            .filter(|decision| self.number(&decision.last).is_some());
        decision.map(Some).ok_or_else(|| Error::DamagedIndex {
            file: path.display().to_string(),
            problem: "it does not say where the log is to be cut".into(),
        })
    }

    /// Completes a decided rewind and returns what was in use before. May be repeated until [`Self::forget`] is called.
    pub fn complete(&self) -> Result<Option<HighestUsed>> {
        self.remove(&self.next_decision_path())?;
        let Some(decision) = self.read()? else {
            return Ok(None);
        };
        let index = IndexFile::new(Arc::clone(&self.disk), &self.directory, &self.base_name);
        let listed = index.read()?.unwrap_or_default();
        let Some(last) = listed.iter().position(|name| *name == decision.last) else {
            return Err(index.damaged(format!(
                "the log is to be cut in '{}', which is not in it",
                decision.last
            )));
        };
        index.write(listed[..=last].iter().map(String::as_str))?;
        self.cut(&decision)?;
        self.remove_behind(&decision.last)?;
        Ok(Some(decision.used))
    }

    fn cut(&self, decision: &RewindRecord) -> Result<()> {
        let path = self.directory.join(&decision.last);
        let file = self.disk.open(&path).map_err(io_error("open", &path))?;
        finish_file(&*file, decision.end).map_err(io_error("cut", &path))?;
        // The GTID index describes the file before the cut.
        self.remove(&self.directory.join(format!("{}.idx", decision.last)))
    }

    /// Removes the files after the last one, including prepared ones, and their indexes.
    fn remove_behind(&self, last: &str) -> Result<()> {
        let number = |name: &str| self.number(name.strip_suffix(".idx").unwrap_or(name));
        let names = self.disk.list(&self.directory);
        for name in names.map_err(io_error("list", &self.directory))? {
            if number(&name).is_some_and(|number_of| Some(number_of) > number(last)) {
                self.remove(&self.directory.join(name))?;
            }
        }
        self.disk
            .sync_directory(&self.directory)
            .map_err(io_error("sync", &self.directory))
    }

    /// Removes the decision, after a new file has been begun above everything that was in use.
    pub fn forget(&self) -> Result<()> {
        self.remove(&self.decision_path())?;
        self.disk
            .sync_directory(&self.directory)
            .map_err(io_error("sync", &self.directory))
    }

    fn remove(&self, path: &Path) -> Result<()> {
        match self.disk.remove(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(io_error("remove", path)(error)),
            _ => Ok(()),
        }
    }
}

fn io_error(operation: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Error {
    move |source| match source.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Error::NoSpace { wanted: 4096 },
        _ => Error::Io {
            operation,
            path: path.to_owned(),
            source,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decision_survives_encoding_and_damaged_ones_are_refused() {
        let decision = RewindRecord {
            last: "bin.000007".into(),
            end: 48_211,
            used: HighestUsed {
                number: 9,
                ordinal: 12,
            },
        };
        let text = decision.encode();
        assert_eq!(text, "./bin.000007 48211 9 12\n");
        assert_eq!(RewindRecord::decode(&text), Some(decision));
        for wrong in [
            "",
            "./bin.000007 48211 9 12",
            "./bin.000007 48211 9\n",
            "./bin.000007 4x 9 12\n",
        ] {
            assert_eq!(RewindRecord::decode(wrong), None, "{wrong}");
        }
    }
}
