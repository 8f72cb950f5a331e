//! Keeps the removed part of the log as whole files, so that its transactions can still be found.

use super::error::{Error, Result};
use paceline_binlog::log::{ClosedLog, GroupLocation};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// Copies of the removed files.
#[derive(Debug)]
pub struct SavedTail {
    /// Oldest first: the file that is cut, then those that are removed.
    pub files: Vec<PathBuf>,
}

/// Copies the file that will be cut and links those that will be removed into a directory of their own. They are
/// durable when this returns.
///
/// # Errors
/// [`Error::SaveTail`].
pub fn save(log: &ClosedLog, first: &GroupLocation, datadir: &Path) -> Result<SavedTail> {
    let begun = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%SZ");
    let directory = datadir.join(format!("rewound-{begun}"));
    let sources: Vec<&Path> = log.files_from(first).map(|file| file.path()).collect();
    let kept = copy(&sources, &directory, datadir);
    let files = kept.map_err(|source| Error::SaveTail {
        path: directory,
        source,
    })?;
    Ok(SavedTail { files })
}

fn copy(sources: &[&Path], directory: &Path, datadir: &Path) -> io::Result<Vec<PathBuf>> {
    paceline_storage::create_directory(directory)?;
    let mut files = Vec::new();
    for (number, source) in sources.iter().enumerate() {
        let Some(name) = source.file_name() else { continue };
        let target = directory.join(name);
        if number == 0 || fs::hard_link(source, &target).is_err() {
            // `fs::copy` would also copy the permissions.
            io::copy(&mut File::open(source)?, &mut File::create(&target)?)?;
        }
        File::open(&target)?.sync_all()?;
        files.push(target);
    }
    File::open(directory)?.sync_all()?;
    File::open(datadir)?.sync_all()?;
    Ok(files)
}
