//! A log file: opened and closed by variables, appended to by sessions.

use paceline_types::TimeZone;
use parking_lot::Mutex;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// One of the two log files.
#[derive(Debug, Default)]
pub struct LogFile {
    is_open: AtomicBool,
    file: Mutex<Option<OpenLog>>,
}

#[derive(Debug)]
struct OpenLog {
    file: File,
    path: PathBuf,
    /// Second of the last entry.
    last_second: i64,
    /// Current database of the last entry.
    last_database: String,
}

/// Differences between an entry and the previous one.
#[derive(Debug)]
pub struct EntryHead {
    /// Local time, if its second is another one.
    pub time: Option<String>,
    /// Whether the current database is another one.
    pub has_other_database: bool,
}

impl LogFile {
    /// Returns whether entries are written.
    pub fn is_open(&self) -> bool {
        self.is_open.load(Ordering::Relaxed)
    }

    /// Opens the file if it is `wanted` and not open yet, else closes it. A file that is opened gets the line `head`.
    ///
    /// # Errors
    /// If it cannot be opened or written. Then it stays as it was.
    pub fn open_if(&self, wanted: bool, path: &Path, head: &str) -> io::Result<()> {
        let mut slot = self.file.lock();
        if !wanted {
            *slot = None;
            self.is_open.store(false, Ordering::Relaxed);
            return Ok(());
        }
        if slot.as_ref().is_some_and(|open| open.path == path) {
            return Ok(());
        }
        let mut options = OpenOptions::new();
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o660);
        let mut file = options.create(true).append(true).open(path)?;
        file.write_all(head.as_bytes())?;
        *slot = Some(OpenLog {
            file,
            path: path.to_owned(),
            last_second: 0,
            last_database: String::new(),
        });
        self.is_open.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Closes the file.
    pub fn close(&self) {
        *self.file.lock() = None;
        self.is_open.store(false, Ordering::Relaxed);
    }

    /// Appends the entry that `fill` builds. `micros` is its time since 1970.
    pub fn write(&self, micros: i64, database: Option<&str>, fill: impl FnOnce(&EntryHead, &mut Vec<u8>)) {
        let mut slot = self.file.lock();
        let Some(open) = &mut *slot else { return };
        let second = micros.div_euclid(1_000_000);
        let head = EntryHead {
            time: (second != open.last_second).then(|| shown_time(second)),
            has_other_database: database.is_some_and(|database| database != open.last_database),
        };
        open.last_second = second;
        if let Some(database) = database.filter(|_| head.has_other_database) {
            database.clone_into(&mut open.last_database);
        }
        let mut entry = Vec::with_capacity(512);
        fill(&head, &mut entry);
        if let Err(error) = open.file.write_all(&entry) {
            tracing::error!("{} is not written any more: {error}", open.path.display());
            *slot = None;
            self.is_open.store(false, Ordering::Relaxed);
        }
    }
}

/// Returns a time as MariaDB's logs have it, in the system's time zone.
fn shown_time(second: i64) -> String {
    let local = TimeZone::system().to_local(second);
    let date = local.date;
    format!(
        "{:02}{:02}{:02} {:2}:{:02}:{:02}",
        date.year % 100,
        date.month,
        date.day,
        local.hour,
        local.minute,
        local.second
    )
}
