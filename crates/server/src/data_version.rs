//! The version of a data directory: which Paceline wrote it, and in which format.
//!
//! ```text
//!   DATADIR/paceline.version
//!     format=1                 number of the format of all files together; a change that an older server cannot read raises it
//!     written_by=0.2.0         newest version that has been started on the directory
//! ```
//!
//! | the directory was written by | the server |
//! |---|---|
//! | no server yet | writes the file |
//! | an older version, whose format it reads | replaces the file: the directory is upgraded in place |
//! | an older version, whose format it does not read | refuses, and names the way by dump or replication |
//! | a newer version | refuses: nothing is ever downgraded. A newer patch of the same minor version is accepted |
//! | a version before 0.2.0, without the file | takes the format as 0 and replaces the file |
//!
//! The file is replaced **before** anything else is written. In the other order a crash could leave files of the new
//! format under the old number, and an old server would be let in. The price: a new version that fails to start has
//! raised the number already. A backup has its own format number; a restored directory gets this file at its first
//! start.

use crate::data_directory::DirectoryAge;
use paceline_program_version as program_version;
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::Path;

/// Name of the file.
const FILE: &str = "paceline.version";
/// Name of the file while it is being written.
const NEW_FILE: &str = "paceline.version.new";

/// Format that this version writes.
const FORMAT: u32 = 1;
/// Oldest format that this version reads.
const OLDEST_FORMAT: u32 = 0;
/// Format of directories without the file.
const FORMAT_WITHOUT_FILE: u32 = 0;

/// Contents of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct DataVersion {
    format: u32,
    written_by: Version,
}

/// Version of the program: major, minor, patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Version {
    major: u32,
    minor: u32,
    patch: u32,
}

impl Version {
    /// Returns whether a directory of this version must not be opened by `server`.
    fn is_too_new_for(self, server: Version) -> bool {
        (self.major, self.minor) > (server.major, server.minor)
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

impl std::str::FromStr for Version {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let mut numbers = text.split('.').map(str::parse);
        let mut next = || numbers.next().and_then(Result::ok).ok_or(());
        let version = Version {
            major: next()?,
            minor: next()?,
            patch: next()?,
        };
        numbers.next().map_or(Ok(version), |_| Err(()))
    }
}

impl DataVersion {
    /// Returns what this server writes.
    fn ours() -> Result<Self, String> {
        let version = program_version::number().parse();
        Ok(DataVersion {
            format: FORMAT,
            written_by: version.map_err(|()| "this server's own version is malformed".to_owned())?,
        })
    }

    fn text(&self) -> String {
        format!("format={}\nwritten_by={}\n", self.format, self.written_by)
    }

    /// Parses the file. Unknown lines are those of a newer format, and are skipped.
    fn parse(text: &str) -> Option<Self> {
        let value = |name: &str| {
            let lines = text.lines();
            lines
                .filter_map(|line| line.split_once('='))
                .find(|(key, _)| *key == name)
                .map(|(_, value)| value)
        };
        Some(DataVersion {
            format: value("format")?.parse().ok()?,
            written_by: value("written_by")?.parse().ok()?,
        })
    }
}

/// Checks that this server may open a locked data directory. Nothing is written: [`claim`] follows before the first
/// change.
///
/// # Errors
/// A message: the directory was written by a version that cannot be read, or the file cannot be read.
pub fn check(directory: &Path, age: DirectoryAge) -> Result<(), String> {
    readable(directory, age).map(drop)
}

/// Checks that this server may open a locked data directory, and records its own version there.
///
/// # Errors
/// Those of [`check`], and a message if the file cannot be written.
pub fn claim(directory: &Path, age: DirectoryAge) -> Result<(), String> {
    let found = readable(directory, age)?;
    let ours = DataVersion::ours()?;
    let is_newer_patch = |found: &DataVersion| found.written_by > ours.written_by;
    if found
        .as_ref()
        .is_some_and(|found| found == &ours || is_newer_patch(found))
    {
        return Ok(());
    }
    write(directory, &ours)
        .map_err(|error| format!("cannot write {}: {error}", directory.join(FILE).display()))?;
    if age == DirectoryAge::Begun {
        let before = match &found {
            Some(found) => format!("Paceline {} (format {})", found.written_by, found.format),
            None => "a version before 0.2.0".to_owned(),
        };
        tracing::info!(
            "the data directory {} was written by {before} and now belongs to {} (format {FORMAT}); older versions can no longer open it",
            directory.display(),
            ours.written_by
        );
    }
    Ok(())
}

/// Returns the version of a directory that this server may open; `None` if the directory has no file.
fn readable(directory: &Path, age: DirectoryAge) -> Result<Option<DataVersion>, String> {
    let version = DataVersion::ours()?.written_by;
    let shown = directory.display();
    let path = directory.join(FILE);
    let found = match fs::read_to_string(&path) {
        Ok(text) => Some(DataVersion::parse(&text).ok_or_else(|| {
            format!(
                "{} is damaged: it must have the lines format=N and written_by=X.Y.Z",
                path.display()
            )
        })?),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(format!("cannot read {}: {error}", path.display())),
    };
    if let Some(found) = &found
        && (found.format > FORMAT || found.written_by.is_too_new_for(version))
    {
        return Err(format!(
            "the data directory {shown} was written by Paceline {} (format {}), which is newer than this server, {version} (format {FORMAT}). \
             A data directory cannot be downgraded: start the newer version, or move the data with mariadb-dump or replication",
            found.written_by, found.format
        ));
    }
    let format = found.as_ref().map_or(FORMAT_WITHOUT_FILE, |found| found.format);
    #[allow(clippy::absurd_extreme_comparisons)] // The oldest format may be above 0 one day.
    if age == DirectoryAge::Begun && format < OLDEST_FORMAT {
        return Err(format!(
            "the data directory {shown} has format {format}, which is too old for this server, {version} (it reads formats from {OLDEST_FORMAT}). \
             Start the version that wrote it, and move the data with mariadb-dump or replication"
        ));
    }
    Ok(found)
}

/// Replaces the file durably.
fn write(directory: &Path, version: &DataVersion) -> std::io::Result<()> {
    let new = directory.join(NEW_FILE);
    let mut file = File::create(&new)?;
    file.write_all(version.text().as_bytes())?;
    file.sync_all()?;
    fs::rename(&new, directory.join(FILE))?;
    File::open(directory)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim_with(content: Option<&str>, age: DirectoryAge) -> (Result<(), String>, Option<String>) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(FILE);
        if let Some(content) = content {
            fs::write(&path, content).unwrap();
        }
        let outcome = claim(directory.path(), age);
        (outcome, fs::read_to_string(&path).ok())
    }

    fn ours() -> String {
        format!("format={FORMAT}\nwritten_by={}\n", env!("CARGO_PKG_VERSION"))
    }

    #[test]
    fn a_new_and_an_older_directory_get_this_servers_version() {
        for (content, age) in [
            (None, DirectoryAge::New),
            (None, DirectoryAge::Begun),
            (Some("format=0\nwritten_by=0.0.9\n"), DirectoryAge::Begun),
            (Some("written_by=0.0.9\nlater=x\nformat=1\n"), DirectoryAge::Begun),
        ] {
            assert_eq!(claim_with(content, age), (Ok(()), Some(ours())), "{content:?}");
        }
    }

    #[test]
    fn a_directory_of_a_newer_version_is_refused_and_unchanged() {
        for content in [
            "format=2\nwritten_by=0.1.0\n",
            "format=1\nwritten_by=9.0.0\n",
            "format=1\nwritten_by=0.99.0\n",
        ] {
            let (outcome, after) = claim_with(Some(content), DirectoryAge::Begun);
            let error = outcome.unwrap_err();
            assert!(error.contains("cannot be downgraded"), "{error}");
            assert_eq!(after.as_deref(), Some(content));
        }
    }

    #[test]
    fn a_check_writes_nothing() {
        let directory = tempfile::tempdir().unwrap();
        check(directory.path(), DirectoryAge::Begun).unwrap();
        assert!(!directory.path().join(FILE).exists());
        fs::write(directory.path().join(FILE), "format=1\nwritten_by=9.0.0\n").unwrap();
        let refused = check(directory.path(), DirectoryAge::Begun).unwrap_err();
        assert!(refused.contains("cannot be downgraded"), "{refused}");
    }

    #[test]
    fn a_newer_patch_of_the_same_version_is_accepted_and_stays_on_record() {
        let mut version: Version = env!("CARGO_PKG_VERSION").parse().unwrap();
        version.patch += 1;
        let content = format!("format={FORMAT}\nwritten_by={version}\n");
        let outcome = claim_with(Some(&content), DirectoryAge::Begun);
        assert_eq!(outcome, (Ok(()), Some(content.clone())));
    }

    #[test]
    fn a_damaged_file_is_refused() {
        for content in [
            "",
            "format=1\n",
            "format=x\nwritten_by=0.1.0\n",
            "format=1\nwritten_by=0.1\n",
            "format=1\nwritten_by=0.1.0.0\n",
        ] {
            let (outcome, after) = claim_with(Some(content), DirectoryAge::Begun);
            assert!(outcome.unwrap_err().contains("is damaged"), "{content:?}");
            assert_eq!(after.as_deref(), Some(content));
        }
    }
}
