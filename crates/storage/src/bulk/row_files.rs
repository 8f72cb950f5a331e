//! The rows of a large transaction as table files, written before it is placed in the log.
//!
//! They carry the transaction's [mark](crate::VersionMark) instead of its version, so that nothing in them has
//! to change when the log position is known. [`Storage::apply_built`](crate::Storage::apply_built) ingests them
//! together with the new position, which takes milliseconds regardless of their size. A crash before that
//! leaves files that the next start deletes: the log is replayed.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::builder::Output;
use super::{Builds, Shared};
use crate::error::Result;
use crate::key::EngineKind;
use crate::write_set::{Change, Entries};

/// Synced table files of one transaction's rows, not visible to readers. Whatever remains of them is deleted on
/// drop.
#[derive(Debug)]
pub struct RowFiles {
    directory: PathBuf,
    files: Vec<PathBuf>,
}

impl Builds {
    /// Writes the entries for the engine on disk to table files.
    pub(crate) fn row_files(&self, entries: Entries<'_>) -> Result<RowFiles> {
        let directory = self.new_row_directory()?;
        let mut built = RowFiles {
            files: Vec::new(),
            directory,
        };
        let mut output = Output::new(Arc::new(Shared::new(built.directory.clone())));
        let on_disk = |(key, _): &(&[u8], Change<'_>)| EngineKind::of_key(key) == EngineKind::RocksDb;
        for (key, change) in entries.take_while(on_disk) {
            match change {
                Change::Put(value) => output.put(key, value)?,
                Change::Delete => output.delete(key)?,
            }
        }
        built.files = output.finish()?;
        Ok(built)
    }
}

impl RowFiles {
    /// Returns the files in key order.
    pub(crate) fn paths(&self) -> &[PathBuf] {
        &self.files
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }
}

impl Drop for RowFiles {
    fn drop(&mut self) {
        // Whatever cannot be deleted now is deleted at the next start.
        let _ = fs::remove_dir_all(&self.directory);
    }
}
