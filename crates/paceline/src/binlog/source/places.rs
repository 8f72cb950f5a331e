//! Where files of a log are: on this disk as a server writes them, in an archive's directory (compressed, or as stubs of what is in object storage),
//! or in the object storage that an archive copies to.
//!
//! ```text
//!   binlog.000007                    a file; also where only binlog.000007.zst or .stub is there
//!   /var/lib/paceline-archive        a directory: all files of its log
//!   s3://bucket/db1                  an archive's object storage: all files there
//!   s3://bucket/db1/archive.000007   one of them
//! ```
//! Outside of this file a file of a log is one path, whatever form it has.

use super::input::Input;
use crate::binlog::error::{Error, Result};
use paceline_archive::disk::names::without_form;
use paceline_archive::stored::{StoredFiles, names_in, open_local};
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// See the module's head.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// What has the files of which an archive's directory has only stubs.
    storage: Option<StoredFiles>,
    /// Object storage that was named as the place of files.
    stored: Vec<StoredFiles>,
}

fn wrong(place: &Path, error: impl std::fmt::Display) -> Error {
    Error::Place {
        place: place.to_owned(),
        problem: error.to_string(),
    }
}

impl Places {
    /// Reads what a directory has as stubs from that place.
    ///
    /// # Errors
    /// If it cannot be looked at.
    pub fn with_storage(place: Option<&str>) -> Result<Self> {
        let storage =
            place.map(|place| StoredFiles::open(place).map_err(|error| wrong(place.as_ref(), error)));
        Ok(Places {
            storage: storage.transpose()?,
            stored: Vec::new(),
        })
    }

    /// The files that are meant: a directory and object storage become the files there, and each file has one name, whatever form it has.
    ///
    /// # Errors
    /// If a place cannot be looked at.
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
                // A pattern finds a file in two forms while an archive compresses it. One that is named twice is read twice.
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
    /// If it is not there, or damaged.
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

/// A file's path without what tells its form.
fn plain(path: &Path) -> PathBuf {
    match path.file_name().and_then(|name| name.to_str()) {
        Some(name) => path.with_file_name(without_form(name)),
        None => path.to_owned(),
    }
}

/// A URL of one file of a log: where that is, and its name.
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
    fn urls_of_files() {
        assert_eq!(
            parent_and_name("s3://b/p/archive.000007.zst"),
            Some(("s3://b/p", "archive.000007.zst"))
        );
        assert_eq!(parent_and_name("s3://b/db.5"), None);
        assert_eq!(parent_and_name("s3://b/p"), None);
    }

    #[test]
    fn a_file_in_two_forms_is_one() {
        let named = ["a.000001.zst", "a.000002", "a.000002.zst", "-"].map(PathBuf::from);
        let files = Places::default().expand(&named).unwrap();
        assert_eq!(files, ["a.000001", "a.000002", "-"].map(PathBuf::from));
        let twice = ["a.000001", "a.000001"].map(PathBuf::from);
        assert_eq!(Places::default().expand(&twice).unwrap(), twice);
    }
}
