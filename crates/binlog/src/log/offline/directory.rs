//! The files of a log in a directory that no server has open: left by a server, or copied from one.

use crate::disk::Disk;
use crate::error::{Error, Result};
use crate::log::files::entry::{file_name, file_number};
use crate::log::files::event_stream::EventStream;
use crate::log::files::index_file::IndexFile;
use std::path::Path;
use std::sync::Arc;

/// Returns the names of the log's files in a directory, oldest first, each with its number.
///
/// A server prepares its next file ahead of need. So a last file that contains only zeros and is in no index is not a
/// file of the log. All other files count, even if the index does not name them: the index may be older than the
/// files that were copied to it, and a file that is silently ignored would be lost.
///
/// # Errors
/// [`Error::Io`]; [`Error::DamagedIndex`], because only the index can tell whether a last file of zeros is damaged.
pub fn log_file_names(disk: &Arc<dyn Disk>, directory: &Path, base_name: &str) -> Result<Vec<(u32, String)>> {
    let listed = disk.list(directory).map_err(|source| Error::Io {
        operation: "list",
        path: directory.to_owned(),
        source,
    })?;
    let mut numbers: Vec<u32> = listed
        .iter()
        .filter_map(|name| file_number(base_name, name))
        .collect();
    numbers.sort_unstable();
    let mut names: Vec<(u32, String)> = numbers
        .into_iter()
        .map(|number| (number, file_name(base_name, number)))
        .collect();
    if let Some((_, last)) = names.last()
        && holds_zeros_only(&**disk, directory, last)?
    {
        let named = IndexFile::new(Arc::clone(disk), directory, base_name).read()?;
        if !named.is_some_and(|named| named.contains(last)) {
            tracing::warn!("'{last}' holds nothing and is in no index: room that was prepared for later");
            names.pop();
        }
    }
    Ok(names)
}

fn holds_zeros_only(disk: &dyn Disk, directory: &Path, name: &str) -> Result<bool> {
    let path = directory.join(name);
    let opened = disk.open(&path).and_then(|file| Ok((file.length()?, file)));
    let (length, file) = opened.map_err(|source| Error::Io {
        operation: "open",
        path,
        source,
    })?;
    let mut stream = EventStream::new(file, name.to_owned(), 0, length);
    Ok(stream.first_nonzero(0)?.is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::RealDisk;
    use std::fs;

    #[test]
    fn a_prepared_file_is_not_a_file_of_the_log() {
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str, content: &[u8]| fs::write(directory.path().join(name), content).unwrap();
        let names = || -> Result<Vec<String>> {
            let disk: Arc<dyn Disk> = Arc::new(RealDisk);
            let found = log_file_names(&disk, directory.path(), "bin")?;
            Ok(found.into_iter().map(|(_, name)| name).collect())
        };
        assert!(names().unwrap().is_empty());
        write("bin.000009", b"log");
        write("bin.000010", b"log");
        write("bin.000010.idx", b"");
        write("other.000011", b"log");
        assert_eq!(names().unwrap(), ["bin.000009", "bin.000010"]);
        // Without an index.
        for zeros in [0, 1, 1 << 20] {
            write("bin.000011", &vec![0; zeros]);
            assert_eq!(names().unwrap(), ["bin.000009", "bin.000010"], "{zeros}");
        }
        // With an index that does not name it, and with one that does: then the file is damaged, and must not be
        // skipped.
        write("bin.index", b"./bin.000009\n./bin.000010\n");
        assert_eq!(names().unwrap(), ["bin.000009", "bin.000010"]);
        write("bin.index", b"./bin.000009\n./bin.000010\n/log/bin.000011\n");
        assert_eq!(names().unwrap(), ["bin.000009", "bin.000010", "bin.000011"]);
        write("bin.index", b"./bin.000009");
        assert!(matches!(names(), Err(Error::DamagedIndex { .. })));
        // A file with content counts even if the index is older; so does a file of zeros before it.
        write("bin.index", b"./bin.000009\n");
        write("bin.000011", b"\0\0\0\0log");
        assert_eq!(names().unwrap(), ["bin.000009", "bin.000010", "bin.000011"]);
        write("bin.000010", &[0; 100]);
        assert_eq!(names().unwrap(), ["bin.000009", "bin.000010", "bin.000011"]);
    }
}
