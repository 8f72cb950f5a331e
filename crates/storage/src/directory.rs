//! Directories that survive a power failure, and that other users cannot enter.

use std::fs::{self, DirBuilder, File, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;

/// Creates a directory, for its owner only, and its missing parents, and syncs each name into the directory
/// that contains it: syncing the contents of a new directory does not cover its own name.
///
/// # Errors
/// If one of them cannot be created or synced.
pub fn create_directory(path: &Path) -> io::Result<()> {
    create(path, OWNER_ONLY)
}

/// Permissions of a directory that only its owner can enter.
const OWNER_ONLY: u32 = 0o700;
/// All permissions of users other than owner and group.
const OTHERS: u32 = 0o007;
/// Permissions of a new parent directory, before the umask.
const ABOVE: u32 = 0o777;

fn create(path: &Path, mode: u32) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    create(parent, ABOVE)?;
    match DirBuilder::new().mode(mode).create(path) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => {}
        Err(error) => return Err(error),
    }
    File::open(parent)?.sync_all()
}

/// Removes the permissions of other users on a directory. Returns its previous permissions if they had any.
///
/// # Errors
/// If they cannot be read or changed: not every file system has permissions.
pub fn restrict_directory(path: &Path) -> io::Result<Option<u32>> {
    let mode = path.metadata()?.permissions().mode() & 0o7777;
    if mode & OTHERS == 0 {
        return Ok(None);
    }
    fs::set_permissions(path, Permissions::from_mode(mode & !OTHERS))?;
    Ok(Some(mode))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn creates_missing_directories_for_their_owner_only() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a/b/c");
        create_directory(&path).unwrap();
        create_directory(&path).unwrap();
        assert!(path.is_dir());
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
        assert_eq!(restrict_directory(&path).unwrap(), None);
        fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        assert_eq!(restrict_directory(&path).unwrap(), Some(0o755));
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o750);
        fs::write(directory.path().join("file"), "").unwrap();
        assert!(create_directory(&directory.path().join("file/below")).is_err());
    }
}
