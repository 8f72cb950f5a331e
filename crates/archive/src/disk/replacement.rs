//! Puts a finished file in its place durably.

use paceline_binlog::log::{Disk, RealDisk};
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::time::SystemTime;

/// Moves a finished file to its place durably: sets its time, syncs it and renames it.
///
/// # Errors
/// Errors of the file system.
pub fn put_in_place(file: &File, from: &Path, to: &Path, modified: SystemTime) -> io::Result<()> {
    file.set_modified(modified)?;
    file.sync_all()?;
    fs::rename(from, to)?;
    sync_directory_of(to)
}

/// Syncs the directory that contains `path`.
///
/// # Errors
/// Errors of the file system.
pub fn sync_directory_of(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(directory) => RealDisk.sync_directory(directory),
        None => Ok(()),
    }
}
