//! The log files in the new data directory: completes, searches and cuts them.
//!
//! The files that a dead server has left are interpreted as at its next start: the index, if it was saved too, names
//! the files of the log, and after the last of these there may be a file that was only prepared. Each file must
//! continue where the previous one ends.

use super::point::{Point, Search, Target};
use crate::backup::error::{Error, Result};
use paceline_binlog::log::{DetachedFile, FileEnd};
use paceline_types::LogPosition;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Bytes compared or copied at a time.
const CHUNK_BYTES: usize = 1 << 20;

/// Log files, oldest first.
#[derive(Debug)]
pub struct LogFiles {
    directory: PathBuf,
    log_bin: String,
    files: Vec<DetachedFile>,
    /// End of the last file.
    end: LogPosition,
}

/// Returns the number in a file name if it is a file of this log.
fn number(log_bin: &str, name: &str) -> Option<u32> {
    let digits = name.strip_prefix(log_bin)?.strip_prefix('.')?;
    match digits.len() >= 6 && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        true => digits.parse().ok(),
        false => None,
    }
}

/// Returns the paths of the log's files in a directory, sorted by number.
fn list(directory: &Path, log_bin: &str) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).map_err(Error::file(directory))? {
        let path = entry.map_err(Error::file(directory))?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        if let Some(number) = name.and_then(|name| number(log_bin, &name)) {
            found.push((number, path));
        }
    }
    found.sort();
    Ok(found.into_iter().map(|(_, path)| path).collect())
}

/// Returns the names in the log's index, or `None` if the index does not exist.
fn listed(directory: &Path, log_bin: &str) -> Result<Option<BTreeSet<String>>> {
    let path = directory.join(format!("{log_bin}.index"));
    let index = match fs::read_to_string(&path) {
        Ok(index) => index,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::file(path)(error)),
    };
    let names = index.lines().filter_map(|line| line.rsplit('/').next());
    Ok(Some(names.map(str::to_owned).collect()))
}

impl LogFiles {
    /// Opens the copied files. `end` is the end of the last one.
    ///
    /// # Errors
    /// Fails if a file is damaged, or if the files do not follow each other.
    pub fn open(directory: &Path, log_bin: &str, end: LogPosition) -> Result<Self> {
        let files: Vec<DetachedFile> = list(directory, log_bin)?
            .iter()
            .map(|path| Ok(DetachedFile::open(path)?))
            .collect::<Result<_>>()?;
        let ordered = files.windows(2).all(|two| two[0].ordinal() < two[1].ordinal());
        if !ordered || files.last().is_none_or(|last| last.ordinal() != end.ordinal()) {
            return Err(Error::Target(
                "the binary log files of this backup do not follow each other".into(),
            ));
        }
        Ok(LogFiles {
            directory: directory.to_owned(),
            log_bin: log_bin.to_owned(),
            files,
            end,
        })
    }

    /// Appends what the server's own files in another directory have beyond the end. They must start with the same
    /// contents.
    ///
    /// # Errors
    /// [`Error::Target`] if they belong to another log, end too early, or lack a part; fails if they are damaged.
    pub fn append_from(&mut self, further: &Path) -> Result<()> {
        let other = |problem: &str| Error::Target(format!("{}: {problem}", further.display()));
        let Some(last) = self.files.last() else {
            return Ok(());
        };
        let own = last.path().to_owned();
        let Some(name) = own.file_name() else {
            return Ok(());
        };
        let same = further.join(name);
        if !same.is_file() {
            return Err(other(&format!(
                "'{}', in which the log continues, does not exist",
                name.to_string_lossy()
            )));
        }
        let reached = append_tail(&same, &own, self.end.offset())?;
        if reached == TailComparison::Differs {
            return Err(other(&format!(
                "'{}' is not the file that was backed up: it is from another server or another time",
                name.to_string_lossy()
            )));
        }
        let listed = listed(further, &self.log_bin)?;
        let following = list(further, &self.log_bin)?;
        let following: Vec<PathBuf> = following
            .into_iter()
            .skip_while(|path| *path != same)
            .skip(1)
            .collect();
        let own_number = number(&self.log_bin, &name.to_string_lossy());
        for name in listed.iter().flatten() {
            if number(&self.log_bin, name) > own_number && !further.join(name).is_file() {
                return Err(other(&format!("'{name}' is in the index, but does not exist")));
            }
        }
        let mut before = self.reopen_last(&own)?;
        for (at, path) in following.iter().enumerate() {
            let Some(name) = path.file_name() else { continue };
            let is_listed = listed
                .as_ref()
                .map(|listed| listed.contains(&*name.to_string_lossy()));
            let target = self.directory.join(name);
            // `fs::copy` would also copy the permissions.
            File::open(path)
                .and_then(|mut from| std::io::copy(&mut from, &mut File::create(&target)?))
                .map_err(Error::file(path))?;
            let file = match DetachedFile::open(&target) {
                Err(paceline_binlog::Error::Damaged { .. })
                    if at + 1 == following.len() && is_preallocated_only(path, is_listed, &before)? =>
                {
                    fs::remove_file(&target).map_err(Error::file(&target))?;
                    break;
                }
                file => file?,
            };
            file.check_follows(&before)
                .and_then(|()| match is_listed {
                    // A crash during the commit of a large transaction may have left the file in this state.
                    Some(false) => Ok(()),
                    Some(true) | None => file.check_rotated(&before),
                })
                .map_err(|error| other(&error.to_string()))?;
            self.files.push(file);
            // The file before was closed when this one was started, and this one when the next one was.
            before = self.reopen_last(&target)?;
        }
        Ok(())
    }

    /// Reopens the last file after it has grown, finds the end of its last complete group, and cuts what a crash has
    /// left after it.
    fn reopen_last(&mut self, path: &Path) -> Result<FileEnd> {
        let file = DetachedFile::open(path)?;
        let end = file.end()?;
        self.end = end.position;
        file.cut(self.end.offset())?;
        if let Some(last) = self.files.last_mut() {
            *last = file;
        }
        Ok(end)
    }

    /// Returns the end of a file.
    fn end_of(&self, at: usize) -> Result<u64> {
        match at + 1 == self.files.len() {
            true => Ok(self.end.offset()),
            false => {
                let path = self.files[at].path();
                Ok(fs::metadata(path).map_err(Error::file(path))?.len())
            }
        }
    }

    /// Finds the point in time, and checks every event before it.
    ///
    /// # Errors
    /// [`Error::Target`] if the point does not exist; [`Error::Log`] for a damaged file.
    pub fn find(&self, target: Target, tables: LogPosition) -> Result<Point> {
        let (before, begun) = match self.files.first() {
            Some(first) => (first.state_before().clone(), first.begun()?),
            None => Default::default(),
        };
        let mut search = Search::new(target, tables, before, begun);
        for (at, file) in self.files.iter().enumerate() {
            let mut groups = file.groups(self.end_of(at)?)?;
            while let Some(group) = groups.next_group()? {
                search.pass(&group)?;
                if search.is_over() {
                    return search.finish(self.end);
                }
            }
        }
        search.finish(self.end)
    }

    /// Cuts the log at a position, closes its files, and writes the index.
    ///
    /// # Errors
    /// [`Error::Log`], [`Error::File`].
    pub fn cut(self, cut: LogPosition) -> Result<()> {
        let mut index = String::new();
        for (at, file) in self.files.iter().enumerate() {
            if file.ordinal() > cut.ordinal() {
                fs::remove_file(file.path()).map_err(Error::file(file.path()))?;
                continue;
            }
            let end = match file.ordinal() == cut.ordinal() {
                true => cut.offset(),
                false => self.end_of(at)?,
            };
            file.cut(end)?;
            if let Some(name) = file.path().file_name() {
                index.push_str(&format!("./{}\n", name.to_string_lossy()));
            }
        }
        let path = self.directory.join(format!("{}.index", self.log_bin));
        File::create(&path)
            .and_then(|mut file| {
                file.write_all(index.as_bytes())?;
                file.sync_all()
            })
            .map_err(Error::file(&path))
    }
}

/// Returns whether the last file, which has no complete header, never became part of the log. The header is synced
/// before anything names the file: first the Rotate event of the previous file, then the index.
fn is_preallocated_only(path: &Path, is_listed: Option<bool>, before: &FileEnd) -> Result<bool> {
    match is_listed {
        Some(is_listed) => Ok(!is_listed),
        None => Ok(!before.is_rotated() && is_zeros(path)?),
    }
}

fn is_zeros(path: &Path) -> Result<bool> {
    let mut file = File::open(path).map_err(Error::file(path))?;
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        match file.read(&mut chunk).map_err(Error::file(path))? {
            0 => return Ok(true),
            read if chunk[..read].iter().any(|byte| *byte != 0) => return Ok(false),
            _ => {}
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum TailComparison {
    /// The common part was equal.
    Yes,
    /// The common part differs.
    Differs,
}

/// Offsets of the flags in a file's first event. They change when the file is closed.
const IN_USE_FLAGS: std::ops::Range<u64> = 21..23;

/// Appends to `to` the bytes of `from` after the first `length`, if the first `length` bytes of both are equal.
/// `length` is the length of `to`.
fn append_tail(from: &Path, to: &Path, length: u64) -> Result<TailComparison> {
    let mut source = File::open(from).map_err(Error::file(from))?;
    let mut target = File::options()
        .read(true)
        .write(true)
        .open(to)
        .map_err(Error::file(to))?;
    if source.metadata().map_err(Error::file(from))?.len() < length {
        return Ok(TailComparison::Differs);
    }
    let (mut theirs, mut ours) = (vec![0; CHUNK_BYTES], vec![0; CHUNK_BYTES]);
    let mut at = 0;
    while at < length {
        let wanted = (length - at).min(CHUNK_BYTES as u64) as usize;
        source
            .read_exact(&mut theirs[..wanted])
            .map_err(Error::file(from))?;
        target.read_exact(&mut ours[..wanted]).map_err(Error::file(to))?;
        let differs = theirs[..wanted]
            .iter()
            .zip(&ours[..wanted])
            .zip(at..)
            .any(|((a, b), place)| a != b && !IN_USE_FLAGS.contains(&place));
        if differs {
            return Ok(TailComparison::Differs);
        }
        at += wanted as u64;
    }
    target.seek(SeekFrom::Start(length)).map_err(Error::file(to))?;
    std::io::copy(&mut source, &mut target).map_err(Error::file(from))?;
    target.sync_all().map_err(Error::file(to))?;
    Ok(TailComparison::Yes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tail_is_appended_only_if_the_common_part_is_equal() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        let whole: Vec<u8> = (0..100).collect();
        fs::write(path("whole"), &whole).unwrap();
        let mut part = whole[..60].to_vec();
        part[21] = 1;
        fs::write(path("part"), &part).unwrap();
        assert_eq!(
            append_tail(&path("whole"), &path("part"), 60).unwrap(),
            TailComparison::Yes
        );
        let grown = fs::read(path("part")).unwrap();
        assert_eq!((grown.len(), grown[21], grown[99]), (100, 1, 99));
        part[23] = 0;
        fs::write(path("part"), &part).unwrap();
        assert_eq!(
            append_tail(&path("whole"), &path("part"), 60).unwrap(),
            TailComparison::Differs
        );
        fs::write(path("short"), &whole[..59]).unwrap();
        assert_eq!(
            append_tail(&path("short"), &path("part"), 60).unwrap(),
            TailComparison::Differs
        );
    }

    #[test]
    fn file_names_of_the_log_contain_a_number_of_at_least_six_digits() {
        assert_eq!(number("binlog", "binlog.000007"), Some(7));
        assert_eq!(number("binlog", "binlog.1000007"), Some(1_000_007));
        for other in ["binlog.7", "binlog.index", "binlog.000007.idx", "other.000007"] {
            assert_eq!(number("binlog", other), None, "{other}");
        }
    }
}
