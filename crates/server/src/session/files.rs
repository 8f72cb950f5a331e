//! Files of this machine in statements: LOAD DATA INFILE, SELECT … INTO OUTFILE.
//!
//! Only accounts with FILE can use them. `secure_file_priv` restricts them to one directory. Without it, every file
//! that the server's user can read is accepted, and new files can be created wherever that user may create files. The
//! data directory is never accepted: its files contain all rows and accounts, and a new file could be mistaken for one
//! of the server's. Nor is `/proc`, which has the server's memory and environment.

use crate::variables::{Globals, Variable};
use paceline_syntax::{Error, Result};
use paceline_types::ErrorCode;
use paceline_types::error_code::ER_OPTION_PREVENTS_STATEMENT;
use std::io;
use std::path::{Path, PathBuf};

/// A failed file operation, with the number and text of MariaDB's system layer (`mysys/errors.c`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileProblem {
    /// A file could not be created.
    Create,
    /// A file could not be read.
    Read,
    /// A file could not be written.
    Write,
    /// A file could not be found.
    Stat,
    /// A file could not be opened.
    Open,
}

impl FileProblem {
    /// Returns the error for a file and the operating system's error.
    pub fn error(self, file: &Path, source: &io::Error) -> Error {
        let (number, words) = match self {
            FileProblem::Create => (1, "Can't create/write to file"),
            FileProblem::Read => (2, "Error reading file"),
            FileProblem::Write => (3, "Error writing file"),
            FileProblem::Stat => (13, "Can't get stat of"),
            FileProblem::Open => (29, "File"),
        };
        let behind = if self == FileProblem::Open {
            " not found"
        } else {
            ""
        };
        let reason = source.to_string();
        let reason = reason.split(" (os error").next().unwrap_or_default();
        let errno = source.raw_os_error().unwrap_or(0);
        Error::with_message(
            ErrorCode::from_number(number),
            format!(
                "{words} '{}'{behind} (Errcode: {errno} \"{reason}\")",
                file.display()
            ),
        )
    }
}

/// Returns the path of a file in a statement. A relative path is below the data directory; a name without a
/// directory is in the directory of a database.
///
/// # Errors
/// 1290 for a file outside of `secure_file_priv`, and for one in the data directory or in `/proc`.
pub fn named_file(name: &str, database: Option<&str>, globals: &Globals) -> Result<PathBuf> {
    let directory = PathBuf::from(globals.get(Variable::Datadir).as_str());
    let path = match name.contains('/') {
        true => directory.join(name),
        false => directory.join(database.unwrap_or_default()).join(name),
    };
    let allowed = globals.get(Variable::SecureFilePriv);
    let allowed = allowed.as_str();
    // MariaDB also rejects a path that does not exist by this check, even without a restriction.
    let allowed = Path::new(if allowed.is_empty() { "/" } else { allowed });
    // An administrator may have chosen a directory below the data directory for such files.
    let is_ours =
        is_below(&path, &directory) && (!is_below(allowed, &directory) || is_below(&directory, allowed));
    if is_below(&path, allowed) && !is_ours && !is_below(&path, Path::new("/proc")) {
        Ok(path)
    } else {
        Err(Error::new(ER_OPTION_PREVENTS_STATEMENT, &[&"--secure-file-priv"]))
    }
}

/// Returns whether a path, which need not exist, is in or below a directory after resolving links and `..`.
fn is_below(path: &Path, directory: &Path) -> bool {
    let Ok(directory) = directory.canonicalize() else {
        return false;
    };
    let real = path.canonicalize().or_else(|_| {
        let parent = path.parent().unwrap_or(Path::new("/"));
        parent.canonicalize()
    });
    real.is_ok_and(|real| real.starts_with(&directory))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_leaves_the_directory() {
        let directory = tempfile::tempdir().unwrap();
        let inner = directory.path().join("in");
        std::fs::create_dir(&inner).unwrap();
        std::os::unix::fs::symlink("/etc", inner.join("link")).unwrap();
        for (path, below) in [
            ("in/new", true),
            ("in/../in/new", true),
            ("in/../new", false),
            ("in/link/passwd", false),
            ("in/nowhere/new", false),
            ("/etc/passwd", false),
        ] {
            assert_eq!(is_below(&directory.path().join(path), &inner), below, "{path}");
        }
    }

    #[test]
    fn messages_are_those_of_mariadb() {
        let error = FileProblem::Stat.error(Path::new("/x/y"), &io::Error::from_raw_os_error(2));
        assert_eq!(error.code().number(), 13);
        assert_eq!(
            error.message(),
            "Can't get stat of '/x/y' (Errcode: 2 \"No such file or directory\")"
        );
    }
}
