//! Names of a log's files in a directory or in object storage.

use crate::error::{Error, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Suffix of compressed files.
pub const COMPRESSED: &str = ".zst";
/// Suffix of stubs.
pub const STUB: &str = ".stub";
/// Suffix of files that are being written.
pub const UNFINISHED: &str = ".tmp";

/// Minimum number of digits in a file name.
const DIGITS_MIN: usize = 6;

/// Base name of Aria's log files, which MariaDB has in its data directory.
const ARIA_LOG: &str = "aria_log";

/// Appends a suffix to a path.
pub fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// The files of one log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LogNames {
    /// Base name: `archive` for `archive.000001`.
    pub base_name: String,
    /// Names without the suffix of their form, oldest first.
    pub names: Vec<String>,
}

impl LogNames {
    /// Finds the log files in `names`, in any form. `place` is for messages.
    ///
    /// # Errors
    /// [`Error::Option`] if there are none, or those of several logs.
    pub fn among(names: impl Iterator<Item = String>, place: &str) -> Result<Self> {
        let mut logs: BTreeMap<String, BTreeSet<(u64, String)>> = BTreeMap::new();
        for name in names {
            let plain = without_form(&name);
            let Some((base, digits)) = plain.rsplit_once('.') else {
                continue;
            };
            if base != ARIA_LOG
                && digits.len() >= DIGITS_MIN
                && digits.bytes().all(|digit| digit.is_ascii_digit())
                && let Ok(number) = digits.parse()
            {
                let log = logs.entry(base.to_owned()).or_default();
                log.insert((number, plain.to_owned()));
            }
        }
        let mut logs = logs.into_iter();
        match (logs.next(), logs.next()) {
            (Some((base_name, files)), None) => Ok(LogNames {
                base_name,
                names: files.into_iter().map(|(_, name)| name).collect(),
            }),
            (None, _) => Err(Error::Option(format!("there are no binary log files in {place}"))),
            (Some((one, _)), Some((other, _))) => Err(Error::Option(format!(
                "there are files of several logs in {place}, '{one}' and '{other}' among them: name one with --log-bin"
            ))),
        }
    }

    /// Finds the log files in a directory. If the log has an index, only files named there count: a server also
    /// prepares the next file in the directory.
    ///
    /// # Errors
    /// Those of [`Self::among`]; fails if the directory cannot be read.
    pub fn in_directory(directory: &Path) -> Result<Self> {
        let shown = directory.display().to_string();
        let listed = fs::read_dir(directory).map_err(Error::system(format!("list {shown}")))?;
        let names = listed
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok());
        let mut found = Self::among(names, &shown)?;
        let index = directory.join(format!("{}.index", found.base_name));
        if let Ok(index) = fs::read_to_string(index) {
            let named: BTreeSet<&str> = index
                .lines()
                .map(|line| line.rsplit('/').next().unwrap_or(line).trim())
                .collect();
            found.names.retain(|name| named.contains(name.as_str()));
        }
        Ok(found)
    }
}

/// Returns a file name without the suffix of its form.
pub fn without_form(name: &str) -> &str {
    name.strip_suffix(COMPRESSED)
        .or_else(|| name.strip_suffix(STUB))
        .unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_one_log_are_found_in_any_form_and_sorted_by_number() {
        let among = |names: &[&str]| LogNames::among(names.iter().map(|name| (*name).to_owned()), "there");
        let found = among(&[
            "a.index",
            "a.000010",
            "a.000002.zst",
            "a.000001.stub",
            "a.000002.idx",
            "a.000002",
            "a.1000000",
            "b.12",
            "aria_log.00000001",
        ]);
        let found = found.unwrap();
        assert_eq!(found.base_name, "a");
        assert_eq!(found.names, ["a.000001", "a.000002", "a.000010", "a.1000000"]);
        assert!(among(&["x"]).is_err());
        assert!(among(&["a.000001", "b.000001"]).is_err());
    }

    #[test]
    fn only_files_named_in_the_index_count() {
        let directory = tempfile::tempdir().unwrap();
        for name in ["a.000001.zst", "a.000002", "a.000003"] {
            fs::write(directory.path().join(name), "").unwrap();
        }
        let names = || LogNames::in_directory(directory.path()).unwrap().names;
        assert_eq!(names().len(), 3);
        fs::write(
            directory.path().join("a.index"),
            "./a.000001\n/elsewhere/a.000002\n",
        )
        .unwrap();
        assert_eq!(names(), ["a.000001", "a.000002"]);
    }
}
