//! The data directory: ownership, exclusive use by one server, and permissions.
//!
//! Its files contain all rows and password hashes. The directory is accessible to its owner (0700), its files to owner
//! and group (0660), as in MariaDB.

use crate::accounts::InitialAccounts;
use std::fs::{self, File, TryLockError};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Maximum time that a start waits until the previous server releases the data directory: the kernel takes a while to
/// free the memory of a killed server. MariaDB waits too.
pub const LOCK_PATIENCE: Duration = Duration::from_secs(10);

/// Interval of the attempts to lock.
const LOCK_RETRY: Duration = Duration::from_millis(50);

/// Locked while a server is running on the directory; contains its process id.
const LOCK_FILE: &str = "paceline.lock";
/// File that exists in the data directory of a MariaDB or MySQL server.
const OF_MARIADB: &str = "ibdata1";
/// Directory of the tables.
const TABLES: &str = "tables";
/// Exists if the directory was created with `--initialize-insecure`.
const INSECURE_FILE: &str = "paceline.insecure";
/// Entries that a new server accepts in its directory: those of a file system or an administrator, and the remains of a
/// failed start.
const BEFORE_THE_FIRST_START: [&str; 8] = [
    "lost+found",
    LOCK_FILE,
    INSECURE_FILE,
    "paceline.key",
    "paceline.pid",
    "paceline.sock",
    "paceline.version",
    "paceline.version.new",
];

/// Whether a server has already been started in the directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DirectoryAge {
    /// It contains nothing of a server.
    New,
    /// It contains a log or tables.
    Begun,
}

/// A data directory locked by this process.
#[derive(Debug)]
pub struct DataDirectory {
    path: PathBuf,
    lock: File,
}

impl DataDirectory {
    /// Creates the directory if it does not exist, removes other users' access, and locks it. A server that was just
    /// killed may still be exiting: waits up to `patience` for its lock.
    ///
    /// # Errors
    /// A message: the process that has locked it, or why it cannot be locked.
    pub fn lock(path: &Path, patience: Duration) -> Result<DataDirectory, String> {
        let shown = path.display();
        paceline_storage::create_directory(path)
            .map_err(|error| format!("cannot make the data directory {shown}: {error}"))?;
        close_to_others(path);
        let file = path.join(LOCK_FILE);
        let mut lock = File::options()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(&file)
            .map_err(|error| format!("cannot open {}: {error}", file.display()))?;
        let deadline = Instant::now() + patience;
        let mut locked = lock.try_lock();
        if matches!(locked, Err(TryLockError::WouldBlock)) && !patience.is_zero() {
            tracing::info!("the data directory {shown} is in use; waiting for its server to end");
        }
        while matches!(locked, Err(TryLockError::WouldBlock)) && Instant::now() < deadline {
            std::thread::sleep(LOCK_RETRY);
            locked = lock.try_lock();
        }
        match locked {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let holder = fs::read_to_string(&file).unwrap_or_default();
                return Err(format!(
                    "the data directory {shown} is in use by another server (process {})",
                    holder.trim()
                ));
            }
            Err(TryLockError::Error(error)) => {
                return Err(format!("cannot lock {}: {error}", file.display()));
            }
        }
        let _ = lock.set_len(0);
        let _ = writeln!(lock, "{}", std::process::id());
        let path = path.canonicalize().map_err(|error| format!("{shown}: {error}"))?;
        Ok(DataDirectory { path, lock })
    }

    /// Returns the accounts before the first statement about them: those in `asked` if the directory is new; later the
    /// same ones again.
    ///
    /// # Errors
    /// A message if the choice cannot be stored.
    pub fn initial_accounts(
        &self,
        asked: InitialAccounts,
        age: DirectoryAge,
    ) -> Result<InitialAccounts, String> {
        let file = self.path.join(INSECURE_FILE);
        let kept = |done: std::io::Result<()>| done.map_err(|error| format!("{}: {error}", file.display()));
        match (age, asked) {
            (DirectoryAge::New, InitialAccounts::WithoutPassword) => {
                kept(File::create(&file).and_then(|_| File::open(&self.path)?.sync_all()))?;
                Ok(InitialAccounts::WithoutPassword)
            }
            (DirectoryAge::New, asked) => {
                if file.exists() {
                    kept(fs::remove_file(&file))?;
                }
                Ok(asked)
            }
            (DirectoryAge::Begun, _) if file.exists() => Ok(InitialAccounts::WithoutPassword),
            (DirectoryAge::Begun, InitialAccounts::WithoutPassword) => {
                tracing::warn!(
                    "--initialize-insecure has no effect: {} was begun without it",
                    self.path.display()
                );
                Ok(InitialAccounts::by_socket())
            }
            (DirectoryAge::Begun, asked) => Ok(asked),
        }
    }

    /// Returns the path with links resolved.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for DataDirectory {
    /// Unlocks the directory at once. A child of fork has the file open as well, and would keep the lock with it.
    fn drop(&mut self) {
        let _ = self.lock.unlock();
    }
}

/// Removes other users' access. A failure only causes a warning, because a file system may have no permissions.
fn close_to_others(path: &Path) {
    let shown = path.display();
    match paceline_storage::restrict_directory(path) {
        Ok(None) => {}
        Ok(Some(mode)) => tracing::warn!(
            "the data directory {shown} had the permissions {mode:04o}: it is closed to other users now"
        ),
        Err(error) => tracing::warn!(
            "other users can enter the data directory {shown}, and that cannot be changed: {error}"
        ),
    }
}

/// Refuses to create a server in a directory that belongs to another program. The error is a message.
///
/// A mistyped path may lead to a MariaDB's data directory, to an archive's, or to `/etc`. The new files would look like
/// a part of the other program's data, and the server would be empty.
pub fn refuse_foreign_directory(directory: &Path, log_bin: &str) -> Result<DirectoryAge, String> {
    let index = format!("{log_bin}.index");
    if directory.join(TABLES).exists() || directory.join(&index).exists() {
        return Ok(DirectoryAge::Begun);
    }
    let shown = directory.display();
    if directory.join(OF_MARIADB).exists() {
        return Err(format!(
            "{shown} is the data directory of a MariaDB or MySQL server; a Paceline needs one of its own, which `paceline join` makes of a running \
             MariaDB"
        ));
    }
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(DirectoryAge::New),
        Err(error) => return Err(format!("cannot read {shown}: {error}")),
    };
    let mut names: Vec<String> = entries
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| !BEFORE_THE_FIRST_START.contains(&name.as_str()))
        .collect();
    names.sort();
    if let Some(other) = names.iter().find(|name| name.ends_with(".index")) {
        return Err(format!(
            "{shown} has a binary log ('{other}'), no tables, and no '{index}': it is an archive's, or a server's with another --log-bin; a new \
             server needs a directory of its own"
        ));
    }
    match names.first() {
        None => Ok(DirectoryAge::New),
        Some(first) => Err(format!(
            "{shown} is not empty ('{first}') and no data directory of Paceline; a new server needs a directory of its own"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_data_directory_is_locked_by_one_server() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("new/data");
        let first = DataDirectory::lock(&path, Duration::ZERO).unwrap();
        let refused = DataDirectory::lock(&path, Duration::ZERO).err().unwrap();
        assert!(refused.contains("is in use by another server"), "{refused}");
        assert!(refused.contains(&std::process::id().to_string()));
        let ends = std::thread::spawn(move || {
            // Most often the other lock waits by then.
            std::thread::sleep(Duration::from_millis(200));
            drop(first);
        });
        DataDirectory::lock(&path, Duration::from_secs(20)).unwrap();
        ends.join().unwrap();
    }

    #[test]
    fn other_users_have_no_access() {
        let directory = tempfile::tempdir().unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
        let new = directory.path().join("new");
        drop(DataDirectory::lock(&new, Duration::ZERO).unwrap());
        assert_eq!(mode(&new), 0o700);
        fs::set_permissions(&new, Permissions::from_mode(0o2755)).unwrap();
        drop(DataDirectory::lock(&new, Duration::ZERO).unwrap());
        assert_eq!(mode(&new), 0o2750);
    }

    #[test]
    fn the_initial_accounts_do_not_change() {
        let directory = tempfile::tempdir().unwrap();
        let (insecure, by_socket) = (InitialAccounts::WithoutPassword, InitialAccounts::by_socket());
        let locked = DataDirectory::lock(directory.path(), Duration::ZERO).unwrap();
        let chosen = |asked: &InitialAccounts, age| locked.initial_accounts(asked.clone(), age).unwrap();
        assert_eq!(chosen(&insecure, DirectoryAge::New), insecure);
        assert_eq!(chosen(&by_socket, DirectoryAge::Begun), insecure);
        // A failed first start has not decided anything.
        assert_eq!(chosen(&by_socket, DirectoryAge::New), by_socket);
        assert_eq!(chosen(&insecure, DirectoryAge::Begun), by_socket);
    }

    #[test]
    fn another_programs_directory_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        let refused = |file: &str| {
            fs::write(path.join(file), "").unwrap();
            let refused = refuse_foreign_directory(path, "binlog").unwrap_err();
            fs::remove_file(path.join(file)).unwrap();
            refused
        };
        refuse_foreign_directory(&path.join("not there"), "binlog").unwrap();
        fs::create_dir(path.join("lost+found")).unwrap();
        refuse_foreign_directory(path, "binlog").unwrap();
        assert!(refused("ibdata1").contains("of a MariaDB"));
        assert!(refused("passwd").contains("is not empty ('passwd')"));
        assert!(refused("archive.index").contains("('archive.index'), no tables"));
        // Its own directory: the log alone, then with tables.
        fs::write(path.join("archive.index"), "").unwrap();
        refuse_foreign_directory(path, "archive").unwrap();
        fs::create_dir(path.join("tables")).unwrap();
        refuse_foreign_directory(path, "binlog").unwrap();
    }
}
