//! File of the audit log, which is rotated by its size.

use std::ffi::OsString;
use std::fs::{File, OpenOptions, rename};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// When a file is rotated, and how many are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rotation {
    /// `server_audit_file_rotate_size`.
    pub bytes: u64,
    /// `server_audit_file_rotations`: number of files beside the current one. 0 means that it is never rotated.
    pub files: u64,
}

/// An open file.
#[derive(Debug)]
pub struct AuditFile {
    file: File,
    path: PathBuf,
    rotation: Rotation,
    bytes: u64,
    /// Whether the last line is incomplete, because its write failed.
    is_torn: bool,
    /// Whether the last rotation failed, which is reported once.
    has_failed_to_rotate: bool,
}

impl AuditFile {
    /// Opens a file, or creates it. Only the server's user can read it.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn open(path: &Path, rotation: Rotation) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.create(true).append(true).open(path)?;
        let bytes = file.metadata()?.len();
        Ok(AuditFile {
            file,
            path: path.to_owned(),
            rotation,
            bytes,
            is_torn: false,
            has_failed_to_rotate: false,
        })
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Changes when it is rotated.
    pub fn set_rotation(&mut self, rotation: Rotation) {
        self.rotation = rotation;
    }

    /// Appends lines; rotates before if the file has reached its size. If it cannot be rotated, it grows, and rotation
    /// is tried again with the next lines.
    ///
    /// # Errors
    /// Errors of the file system. Part of the lines may have been written; the next line begins anew.
    pub fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        if self.bytes >= self.rotation.bytes {
            self.rotate_or_grow();
        }
        if self.is_torn {
            self.file.write_all(b"\n")?;
            self.bytes += 1;
            self.is_torn = false;
        }
        let mut rest = lines;
        while !rest.is_empty() {
            let written = match self.file.write(rest) {
                Ok(0) => Err(ErrorKind::WriteZero.into()),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                result => result,
            };
            let written = written.inspect_err(|_| self.is_torn = rest.len() < lines.len())?;
            self.bytes += written as u64;
            rest = &rest[written..];
        }
        Ok(())
    }

    fn rotate_or_grow(&mut self) {
        let Err(error) = self.rotate() else { return };
        if !std::mem::replace(&mut self.has_failed_to_rotate, true) {
            tracing::error!(
                "audit log: {} cannot be rotated and grows: {error}",
                self.path.display()
            );
        }
    }

    /// Renames `FILE` to `FILE.1`, `FILE.1` to `FILE.2` and so on, and begins a new file.
    ///
    /// # Errors
    /// Errors of the file system; then lines are appended to the current file as before.
    pub fn rotate(&mut self) -> io::Result<()> {
        if self.rotation.files == 0 {
            return Ok(());
        }
        // The file was renamed or removed, or an earlier rotation could not open a new one.
        if !self.path.exists() {
            *self = AuditFile::open(&self.path, self.rotation)?;
            return Ok(());
        }
        // Only files that exist are renamed, so a large number of rotations costs nothing.
        let existing = (1..self.rotation.files).take_while(|number| self.numbered(*number).exists());
        for number in existing.collect::<Vec<_>>().into_iter().rev() {
            rename(self.numbered(number), self.numbered(number + 1))?;
        }
        rename(&self.path, self.numbered(1))?;
        *self = AuditFile::open(&self.path, self.rotation)?;
        Ok(())
    }

    fn numbered(&self, number: u64) -> PathBuf {
        let mut name = OsString::from(&self.path);
        name.push(format!(".{number}"));
        PathBuf::from(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::read_to_string;

    #[test]
    fn a_full_file_is_rotated() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("audit.log");
        let rotation = Rotation { bytes: 2, files: 2 };
        let mut file = AuditFile::open(&path, rotation).unwrap();
        for line in ["a\n", "b\n", "c\n", "d\n"] {
            file.append(line.as_bytes()).unwrap();
        }
        assert_eq!(read_to_string(&path).unwrap(), "d\n");
        assert_eq!(
            read_to_string(directory.path().join("audit.log.1")).unwrap(),
            "c\n"
        );
        assert_eq!(
            read_to_string(directory.path().join("audit.log.2")).unwrap(),
            "b\n"
        );
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 3);
        file.set_rotation(Rotation { bytes: 2, files: 0 });
        file.append(b"e\n").unwrap();
        assert_eq!(read_to_string(&path).unwrap(), "d\ne\n");
    }

    #[test]
    fn a_file_that_cannot_be_rotated_grows() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("audit.log");
        let obstacle = directory.path().join("audit.log.1");
        std::fs::create_dir(&obstacle).unwrap();
        let mut file = AuditFile::open(&path, Rotation { bytes: 2, files: 1 }).unwrap();
        for line in ["a\n", "b\n", "c\n"] {
            file.append(line.as_bytes()).unwrap();
        }
        assert!(file.rotate().is_err());
        assert_eq!(read_to_string(&path).unwrap(), "a\nb\nc\n");
        std::fs::remove_dir(&obstacle).unwrap();
        file.append(b"d\n").unwrap();
        assert_eq!(read_to_string(&obstacle).unwrap(), "a\nb\nc\n");
        assert_eq!(read_to_string(&path).unwrap(), "d\n");
        assert!(!file.has_failed_to_rotate);
    }

    #[test]
    fn a_file_that_was_removed_is_created_again() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("audit.log");
        let mut file = AuditFile::open(&path, Rotation { bytes: 2, files: 1 }).unwrap();
        file.append(b"a\n").unwrap();
        std::fs::remove_file(&path).unwrap();
        file.append(b"b\n").unwrap();
        assert_eq!(read_to_string(&path).unwrap(), "b\n");
        assert!(!directory.path().join("audit.log.1").exists());
    }
}
