//! The file with the decision to cut a log back, and its execution.
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

use crate::disk::{Disk, read_fully};
use crate::error::{Error, Result};
use crate::log::config::LogConfig;
use crate::log::files::active_file::finish_file;
use crate::log::files::entry::file_number;
use crate::log::files::index_file::IndexFile;
use std::io::{ErrorKind, IoSlice};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Maximum length of a decision, in bytes: a file name and three numbers.
const DECISION_LENGTH_MAX: usize = 1024;

/// Highest number and ordinal in use when a log was cut back. New files get higher ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(in crate::log) struct HighestUsed {
    pub number: u32,
    pub ordinal: u32,
}

/// The decision to cut a log back to a position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::log) struct RewindRecord {
    /// Name of the last file.
    pub last: String,
    /// Offset at which it is cut.
    pub end: u64,
    pub used: HighestUsed,
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

    pub fn number(&self, name: &str) -> Option<u32> {
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

    pub fn write(&self, decision: &RewindRecord) -> Result<()> {
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
        self.remove_files_after(&decision.last)?;
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
    fn remove_files_after(&self, last: &str) -> Result<()> {
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
