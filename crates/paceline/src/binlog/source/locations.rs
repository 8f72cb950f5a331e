//! Locations of log files: local files as a server writes them, an archive's directory (with compressed files, or stubs
//! of files in object storage), or the object storage that an archive copies to.
//!
//! ```text
//!   binlog.000007                    a file, even if only binlog.000007.zst or .stub exists
//!   /var/lib/paceline-archive        a directory: all files of its log
//!   s3://bucket/db1                  an archive's object storage: all files in it
//!   s3://bucket/db1/archive.000007   one of these files
//! ```
//! Outside this module a log file has one path, whatever its form.

use super::input::Input;
use crate::binlog::error::{Error, Result};
use paceline_archive::disk::names::without_form;
use paceline_archive::stored_files::{StoredFiles, names_in, open_local};
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// The locations of log files.
#[derive(Clone, Debug, Default)]
pub struct FileLocations {
    /// Contains the files of which an archive's directory has only stubs.
    storage: Option<StoredFiles>,
    /// Object storage named as a location of files.
    stored: Vec<StoredFiles>,
}

fn wrong(place: &Path, error: impl std::fmt::Display) -> Error {
    Error::Place {
        place: place.to_owned(),
        problem: error.to_string(),
    }
}

impl FileLocations {
    /// Reads files that a directory has as stubs from `place`.
    ///
    /// # Errors
    /// Fails if the place cannot be listed.
    pub fn with_storage(place: Option<&str>) -> Result<Self> {
        let storage =
            place.map(|place| StoredFiles::open(place).map_err(|error| wrong(place.as_ref(), error)));
        Ok(FileLocations {
            storage: storage.transpose()?,
            stored: Vec::new(),
        })
    }

    /// Expands the given paths to files: a directory or an object storage becomes its files. Each file gets one name,
    /// whatever its form.
    ///
    /// # Errors
    /// Fails if a place cannot be listed.
    pub fn expand(&mut self, named: &[PathBuf]) -> Result<Vec<PathBuf>> {
        let mut files: Vec<PathBuf> = Vec::new();
        for (number, path) in named.iter().enumerate() {
            let below = |names: &[String]| names.iter().map(|name| path.join(name)).collect::<Vec<_>>();
            let found = match path.to_str().filter(|text| text.contains("://")) {
                Some(url) => match parent_and_name(url) {
                    Some((parent, name)) => {
                        self.look_at(parent)?;
                        vec![Path::new(parent).join(without_form(name))]
                    }
                    None => match self.look_at(url.trim_end_matches('/'))?.names() {
                        [] => return Err(wrong(path, "there are no binary log files")),
                        names => below(names),
                    },
                },
                None if path.is_dir() => below(&names_in(path).map_err(|error| wrong(path, error))?),
                None => vec![plain(path)],
            };
            for file in found {
                // While an archive compresses a file, a shell pattern matches it in two forms. A file that is named
                // twice is read twice.
                let named_again = number > 0 && named[number - 1] == *path;
                if files.last() != Some(&file) || named_again {
                    files.push(file);
                }
            }
        }
        Ok(files)
    }

    fn look_at(&mut self, place: &str) -> Result<&StoredFiles> {
        let at = match self.stored.iter().position(|stored| stored.place() == place) {
            Some(at) => at,
            None => {
                let stored = StoredFiles::open(place).map_err(|error| wrong(place.as_ref(), error))?;
                self.stored.push(stored);
                self.stored.len() - 1
            }
        };
        Ok(&self.stored[at])
    }

    /// Opens a file. `-` is standard input.
    ///
    /// # Errors
    /// Fails if the file does not exist or is damaged.
    pub fn open(&self, path: &Path) -> io::Result<Input> {
        if path.as_os_str() == "-" {
            return Input::of_file(File::open("/dev/stdin")?);
        }
        for stored in &self.stored {
            if path.parent() == Some(Path::new(stored.place()))
                && let Some(name) = path.file_name().and_then(|name| name.to_str())
            {
                return Ok(Input::of_archive(stored.file(name)?));
            }
        }
        match File::open(path) {
            Ok(file) => Input::of_file(file),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                Ok(Input::of_archive(open_local(path, self.storage.as_ref())?))
            }
            Err(error) => Err(error),
        }
    }
}

/// Returns a file's path without the suffix of its form.
fn plain(path: &Path) -> PathBuf {
    match path.file_name().and_then(|name| name.to_str()) {
        Some(name) => path.with_file_name(without_form(name)),
        None => path.to_owned(),
    }
}

/// Splits the URL of a log file into its place and its name; `None` if it is not a log file.
fn parent_and_name(url: &str) -> Option<(&str, &str)> {
    let (parent, name) = url.rsplit_once('/')?;
    let (_, digits) = without_form(name).rsplit_once('.')?;
    let is_number = digits.len() >= 6 && digits.bytes().all(|digit| digit.is_ascii_digit());
    is_number.then_some((parent, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_url_of_a_log_file_is_split_into_place_and_name() {
        assert_eq!(
            parent_and_name("s3://b/p/archive.000007.zst"),
            Some(("s3://b/p", "archive.000007.zst"))
        );
        assert_eq!(parent_and_name("s3://b/db.5"), None);
        assert_eq!(parent_and_name("s3://b/p"), None);
    }

    #[test]
    fn a_file_in_two_forms_is_read_once() {
        let named = ["a.000001.zst", "a.000002", "a.000002.zst", "-"].map(PathBuf::from);
        let files = FileLocations::default().expand(&named).unwrap();
        assert_eq!(files, ["a.000001", "a.000002", "-"].map(PathBuf::from));
        let twice = ["a.000001", "a.000001"].map(PathBuf::from);
        assert_eq!(FileLocations::default().expand(&twice).unwrap(), twice);
    }
}
