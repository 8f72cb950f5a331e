//! The disk as the log sees it: one file under one name, in any form.

use super::framed::{FramedFile, LocalFrames};
use super::names::{COMPRESSED, STUB, UNFINISHED, with_suffix, without_form};
use super::read_only_file::ReadOnlyFile;
use super::remote::{Fetcher, RemoteFrames};
use paceline_binlog::log::{Disk, DiskFile, RealDisk};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

/// Form of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileForm {
    /// As the log has written it.
    Plain,
    /// Compressed.
    Compressed,
    /// A stub: the file is in object storage.
    Stub,
}

/// A disk on which files may have any form.
#[derive(Clone, Debug, Default)]
pub struct ArchiveDisk {
    fetcher: Option<Fetcher>,
}

impl ArchiveDisk {
    /// `fetcher` reads from object storage; without it, stubs cannot be opened.
    pub fn new(fetcher: Option<Fetcher>) -> Self {
        ArchiveDisk { fetcher }
    }

    /// Returns the form of a file and its length in bytes in that form; `None` if the file does not exist.
    ///
    /// # Errors
    /// Fails if the directory cannot be read.
    pub fn form(&self, path: &Path) -> io::Result<Option<(FileForm, u64)>> {
        for (form, path) in forms(path) {
            match fs::metadata(path) {
                Ok(found) => return Ok(Some((form, found.len()))),
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// Opens a file for reading only.
    ///
    /// # Errors
    /// Fails if the file does not exist or is damaged.
    pub fn open_to_read(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        self.open_as(path, |path| {
            let file = File::open(path)?;
            Ok(Arc::new(ReadOnlyFile(file)) as Arc<dyn DiskFile>)
        })
    }

    fn open_as(
        &self,
        path: &Path,
        open_plain: impl Fn(&Path) -> io::Result<Arc<dyn DiskFile>>,
    ) -> io::Result<Arc<dyn DiskFile>> {
        // The file may change its form meanwhile: the next form exists before the previous one is removed.
        for (form, path) in forms(path) {
            let opened = match form {
                FileForm::Plain => open_plain(&path),
                FileForm::Compressed => LocalFrames::open(&path).map(|(frames, table)| {
                    Arc::new(ReadOnlyFile(FramedFile::new(frames, table))) as Arc<dyn DiskFile>
                }),
                FileForm::Stub => {
                    let name = path.file_stem().unwrap_or_default().to_string_lossy();
                    self.open_stub(&path, format!("{name}{COMPRESSED}"))
                }
            };
            match opened {
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                opened => return opened,
            }
        }
        Err(io::Error::new(ErrorKind::NotFound, "no such file"))
    }

    fn open_stub(&self, path: &Path, object: String) -> io::Result<Arc<dyn DiskFile>> {
        if !path.try_exists()? {
            return Err(ErrorKind::NotFound.into());
        }
        let Some(fetcher) = &self.fetcher else {
            return Err(io::Error::new(
                ErrorKind::Unsupported,
                format!(
                    "'{}' is in object storage only, and that was not named (--to of the archive, --storage of the log tool)",
                    path.display()
                ),
            ));
        };
        let (frames, table) = RemoteFrames::open(path, object, fetcher.clone())?;
        Ok(Arc::new(ReadOnlyFile(FramedFile::new(frames, table))))
    }
}

/// Returns the paths of a file in its three forms, in the order of preference.
fn forms(path: &Path) -> [(FileForm, PathBuf); 3] {
    [
        (FileForm::Plain, path.to_owned()),
        (FileForm::Compressed, with_suffix(path, COMPRESSED)),
        (FileForm::Stub, with_suffix(path, STUB)),
    ]
}

impl Disk for ArchiveDisk {
    fn create(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        RealDisk.create(path)
    }

    fn open(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        self.open_as(path, |path| RealDisk.open(path))
    }

    fn modified(&self, path: &Path) -> io::Result<SystemTime> {
        for (_, path) in forms(path) {
            match fs::metadata(path) {
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                found => return found?.modified(),
            }
        }
        Err(ErrorKind::NotFound.into())
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<String>> {
        let names = RealDisk.list(directory)?.into_iter().filter_map(|name| {
            if name.ends_with(UNFINISHED) {
                return None;
            }
            Some(without_form(&name).to_owned())
        });
        let names: BTreeSet<String> = names.collect();
        Ok(names.into_iter().collect())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        RealDisk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut is_there = false;
        for (_, path) in forms(path) {
            match fs::remove_file(path) {
                Ok(()) => is_there = true,
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        match is_there {
            true => Ok(()),
            false => Err(ErrorKind::NotFound.into()),
        }
    }

    fn sync_directory(&self, directory: &Path) -> io::Result<()> {
        RealDisk.sync_directory(directory)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::seekable;
    use std::io::IoSlice;

    #[test]
    fn a_plain_and_a_compressed_file_look_the_same_to_the_log() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("archive.000001");
        let disk = ArchiveDisk::default();
        let content: Vec<u8> = (0..3_000_000u32)
            .flat_map(|number| (number / 7).to_le_bytes())
            .collect();
        let written = disk.create(&path).unwrap();
        written.write_at(&[IoSlice::new(&content)], 0).unwrap();
        let modified = disk.modified(&path).unwrap();
        assert_eq!(
            disk.form(&path).unwrap(),
            Some((FileForm::Plain, content.len() as u64))
        );
        seekable::compress(&path, &with_suffix(&path, COMPRESSED)).unwrap();
        fs::remove_file(&path).unwrap();
        let Some((FileForm::Compressed, bytes)) = disk.form(&path).unwrap() else {
            panic!("it is compressed");
        };
        assert!(bytes < content.len() as u64 / 2);
        assert_eq!(disk.modified(&path).unwrap(), modified);
        assert_eq!(disk.list(directory.path()).unwrap(), ["archive.000001"]);
        let file = disk.open(&path).unwrap();
        assert_eq!(file.length().unwrap(), content.len() as u64);
        for at in [0, 1, 65_535, 65_536, 1_114_111, 5_000_000, content.len() - 3] {
            let mut buffer = vec![0; 100_000];
            let read = file.read_at(&mut buffer, at as u64).unwrap();
            assert!(read > 0);
            assert_eq!(buffer[..read], content[at..at + read], "at {at}");
        }
        assert_eq!(file.read_at(&mut [0; 8], content.len() as u64).unwrap(), 0);
        assert!(file.write_at(&[IoSlice::new(b"x")], 0).is_err());
        disk.remove(&path).unwrap();
        assert_eq!(disk.form(&path).unwrap(), None);
        assert_eq!(disk.remove(&path).unwrap_err().kind(), ErrorKind::NotFound);
    }

    #[test]
    fn damaged_frames_are_detected_and_not_returned() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("archive.000001");
        fs::write(&path, vec![b'x'; 2_000_000]).unwrap();
        let compressed = with_suffix(&path, COMPRESSED);
        seekable::compress(&path, &compressed).unwrap();
        fs::remove_file(&path).unwrap();
        let whole = fs::read(&compressed).unwrap();
        let disk = ArchiveDisk::default();
        let read = |bytes: &[u8]| -> io::Result<Vec<u8>> {
            fs::write(&compressed, bytes)?;
            let file = disk.open(&path)?;
            let mut content = Vec::new();
            let mut buffer = vec![0; 1 << 20];
            while content.len() < 2_000_000 {
                match file.read_at(&mut buffer, content.len() as u64)? {
                    0 => break,
                    read => content.extend_from_slice(&buffer[..read]),
                }
            }
            Ok(content)
        };
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x20;
            match read(&damaged) {
                Err(_) => {}
                // Bytes that are never read (the size in a skippable frame's header) may have any value.
                Ok(content) => assert_eq!(content, vec![b'x'; 2_000_000], "byte {at}"),
            }
        }
        assert!(read(&whole[..whole.len() - 1]).is_err());
    }
}
