//! `--raw`: copies a server's log byte for byte into files with the same names.

use super::error::{Error, Result};
use super::server::raw_file;
use super::source::{EventSource, RemoteLog};
use paceline_binlog::event::{EventFlags, EventType, MAGIC};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// When written bytes are passed to the operating system.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flush {
    /// After each event, because the file is followed.
    EachEvent,
    /// When the buffer is full, and at the end of a file.
    AtEnd,
}

/// Writes everything that the server sends. `prefix` is prepended to each file name.
///
/// # Errors
/// Errors of reading; [`Error::Io`] for a file that cannot be written.
pub fn copy(log: &mut RemoteLog, prefix: Option<&Path>, flush: Flush) -> Result<()> {
    let mut open: Option<(PathBuf, BufWriter<File>)> = None;
    while let Some(event) = log.next_event()? {
        let header = event.header();
        let (event_type, is_artificial) = (
            header.event_type,
            header.timestamp == 0 || header.flags.contains(EventFlags::ARTIFICIAL),
        );
        if event_type == EventType::ROTATE && is_artificial {
            continue;
        }
        let bytes = event.raw.bytes().to_vec();
        if event_type == EventType::FORMAT_DESCRIPTION {
            finish(open.take())?;
            let name = log.name().to_string_lossy().into_owned();
            let path = raw_file(prefix, &name)
                .ok_or_else(|| log.damage("its name, as sent by the server, is not a valid file name"))?;
            let io = |source| Error::Io {
                path: path.clone(),
                source,
            };
            let mut file = BufWriter::with_capacity(1 << 20, File::create(&path).map_err(io)?);
            file.write_all(&MAGIC).map_err(io)?;
            open = Some((path, file));
        }
        let Some((path, file)) = &mut open else { continue };
        let written = file.write_all(&bytes).and_then(|()| match flush {
            Flush::EachEvent => file.flush(),
            Flush::AtEnd => Ok(()),
        });
        written.map_err(|source| Error::Io {
            path: path.clone(),
            source,
        })?;
    }
    finish(open)
}

fn finish(open: Option<(PathBuf, BufWriter<File>)>) -> Result<()> {
    match open {
        Some((path, mut file)) => file.flush().map_err(|source| Error::Io { path, source }),
        None => Ok(()),
    }
}
