//! Directories that a power failure does not take away.

use std::fs::{self, File};
use std::io;
use std::path::Path;

/// Makes a directory and those above it that are missing, and syncs the names into the directories that hold them: syncing what is
/// *in* a new directory says nothing about its own name.
///
/// # Errors
/// If one of them cannot be made or synced.
pub fn create_directory(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    create_directory(parent)?;
    match fs::create_dir(path) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => {}
        Err(error) => return Err(error),
    }
    File::open(parent)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn makes_what_is_missing() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a/b/c");
        create_directory(&path).unwrap();
        create_directory(&path).unwrap();
        assert!(path.is_dir());
        fs::write(directory.path().join("file"), "").unwrap();
        assert!(create_directory(&directory.path().join("file/below")).is_err());
    }
}
