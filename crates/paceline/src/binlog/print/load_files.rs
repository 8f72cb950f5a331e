//! LOAD DATA in a statement-based log: writes its file to a directory, and prints the statement with LOCAL and the new
//! file name.
//!
//! As with `mariadb-binlog`, the client that executes the output reads the files, so they remain when this program
//! ends. Their names are `SQL_LOAD_MB-ID-N`, where ID is the file's id in the log and N makes the name unique. Existing
//! files are not overwritten. If the part that is read does not contain the beginning of a file (because
//! `--start-position` is after it), the file's blocks and its statement are skipped with a warning.

use super::super::error::{Error, Result};
use super::super::script::DELIMITER;
use super::super::source::LoggedEvent;
use super::Printer;
use paceline_binlog::event::{BlockKind, ExecuteLoadQueryEvent, FileBlockEvent, LoadDuplicates};
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Permissions of the files, as in MariaDB: the user and the group may read them.
const FILE_MODE: u32 = 0o640;

/// Files of statements that have not been printed yet.
#[derive(Debug)]
pub(super) struct LoadFiles {
    directory: PathBuf,
    paths: HashMap<u32, PathBuf>,
}

impl LoadFiles {
    /// Uses this directory, or the directory for temporary files.
    pub(super) fn new(directory: Option<&Path>) -> Self {
        LoadFiles {
            directory: directory.map_or_else(std::env::temp_dir, Path::to_owned),
            paths: HashMap::new(),
        }
    }

    fn write(&mut self, block: &FileBlockEvent<'_>) -> Result<()> {
        let of_file = |path: &Path| {
            let path = path.to_owned();
            move |source| Error::LoadFile { path, source }
        };
        let mut file = match (block.kind, self.paths.get(&block.file_id)) {
            (BlockKind::First, _) => {
                let (path, file) = self.create(block.file_id)?;
                self.paths.insert(block.file_id, path);
                file
            }
            (BlockKind::Next, Some(path)) => {
                let opened = OpenOptions::new().append(true).open(path);
                opened.map_err(of_file(path))?
            }
            (BlockKind::Next, None) => {
                eprintln!(
                    "WARNING: Ignoring Append_block as there is no Create_file event for file_id: {}",
                    block.file_id
                );
                return Ok(());
            }
        };
        file.write_all(block.bytes)
            .map_err(of_file(&self.paths[&block.file_id]))
    }

    fn create(&self, file_id: u32) -> Result<(PathBuf, File)> {
        let mut number = 0_u32;
        loop {
            let path = self.directory.join(format!("SQL_LOAD_MB-{file_id:x}-{number:x}"));
            let created = OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(FILE_MODE)
                .open(&path);
            match created {
                Ok(file) => return Ok((path, file)),
                Err(error) if error.kind() == ErrorKind::AlreadyExists && number < u32::MAX => number += 1,
                Err(source) => return Err(Error::LoadFile { path, source }),
            }
        }
    }
}

impl Printer<'_> {
    pub(super) fn print_block(&mut self, event: &LoggedEvent<'_>, block: &FileBlockEvent<'_>) -> Result<()> {
        let text = format!(
            "\n#{}: file_id: {}  block_len: {}\n",
            event.header().event_type.name(),
            block.file_id,
            block.bytes.len()
        );
        self.print_header(event, &text);
        self.load_files.write(block)
    }

    pub(super) fn print_load(&mut self, event: &LoggedEvent<'_>, load: &ExecuteLoadQueryEvent<'_>) {
        let path = self.load_files.paths.remove(&load.file_id);
        if self.skips_database(load.query.database) {
            return;
        }
        self.print_rewritten_use(event, &load.query);
        let Some(path) = path else {
            eprintln!(
                "WARNING: Ignoring Execute_load_query since there is no Begin_load_query event for file_id: {}",
                load.file_id
            );
            return;
        };
        self.print_query_head(event, &load.query);
        let mut infile = b" LOCAL INFILE '".to_vec();
        append_escaped(path.as_os_str().as_bytes(), &mut infile);
        infile.push(b'\'');
        // With LOCAL, duplicates are ignored by default.
        let duplicates = match load.duplicates {
            LoadDuplicates::Replace => LoadDuplicates::Replace,
            LoadDuplicates::Error | LoadDuplicates::Ignore => LoadDuplicates::Error,
        };
        self.head.extend_from_slice(&load.text_with(&infile, duplicates));
        let _ = writeln!(self.head, "\n{DELIMITER}");
        if !self.style.short {
            let _ = writeln!(self.head, "# file_id: {} ", load.file_id);
        }
    }
}

/// Appends a name escaped for use in quotes.
fn append_escaped(name: &[u8], out: &mut Vec<u8>) {
    for byte in name {
        match byte {
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            8 => out.extend_from_slice(b"\\b"),
            b'\\' | b'\'' => out.extend_from_slice(&[b'\\', *byte]),
            _ => out.push(*byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn existing_files_are_not_overwritten() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("SQL_LOAD_MB-a-0"), "somebody's").unwrap();
        let mut files = LoadFiles::new(Some(directory.path()));
        let block = |kind, file_id, bytes| FileBlockEvent { kind, file_id, bytes };
        for block in [
            block(BlockKind::First, 10, &b"one "[..]),
            block(BlockKind::First, 11, b""),
            block(BlockKind::Next, 10, b"two"),
            block(BlockKind::Next, 12, b"nothing"),
        ] {
            files.write(&block).unwrap();
        }
        let read = |name: &str| std::fs::read_to_string(directory.path().join(name)).unwrap();
        assert_eq!(files.paths.len(), 2);
        assert_eq!(read("SQL_LOAD_MB-a-0"), "somebody's");
        assert_eq!(read("SQL_LOAD_MB-a-1"), "one two");
        assert_eq!(read("SQL_LOAD_MB-b-0"), "");
        let nowhere = LoadFiles::new(Some(&directory.path().join("nowhere")));
        assert!(matches!(nowhere.create(1), Err(Error::LoadFile { .. })));
    }

    #[test]
    fn special_characters_in_file_names_are_escaped() {
        let mut quoted = Vec::new();
        append_escaped(b"/it's \\ a\ttab\n", &mut quoted);
        assert_eq!(quoted, br"/it\'s \\ a\ttab\n");
    }
}
