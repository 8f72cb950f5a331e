//! Removing files from the beginning of the log.

use crate::error::{Error, Result};
use crate::log::files::entry::{LogFile, PurgeBlock, PurgeOutcome, PurgeTarget};
use crate::log::handle::{Inner, Log};
use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

impl Log {
    /// Removes files from the beginning of the log. Keeps the active file, every file that recovery needs, and every
    /// file for which `guard` returns what needs it; also all files after one that is kept.
    ///
    /// # Errors
    /// [`Error::UnknownFile`] (1373) for a target that does not exist.
    pub fn purge(
        &self,
        target: &PurgeTarget,
        guard: &dyn Fn(&LogFile) -> Option<String>,
    ) -> Result<PurgeOutcome> {
        let inner = &self.inner;
        inner.check_poison()?;
        let index = inner.index.lock();
        let files = self.files();
        let wanted = match target {
            PurgeTarget::File(name) => {
                let name = name.rsplit('/').next().unwrap_or(name);
                let found = files.iter().position(|file| file.name == name);
                found.ok_or_else(|| Error::UnknownFile(name.to_owned()))?
            }
            PurgeTarget::Before(time) => {
                let closed = &files[..files.len().saturating_sub(1)];
                closed
                    .iter()
                    .position(|file| file.modified >= *time)
                    .unwrap_or(closed.len())
            }
        };
        let mut outcome = PurgeOutcome::default();
        for file in &files[..wanted] {
            if let Some(needed_by) = inner.needed_by(file, &files).or_else(|| guard(file)) {
                outcome.blocked = Some(PurgeBlock {
                    file: file.name.clone(),
                    needed_by,
                });
                break;
            }
            outcome.removed.push(file.clone());
        }
        if outcome.removed.is_empty() {
            return Ok(outcome);
        }
        index.write(
            files[outcome.removed.len()..]
                .iter()
                .map(|file| file.name.as_str()),
        )?;
        inner.files.write().drain(..outcome.removed.len());
        drop(index);
        for file in &outcome.removed {
            inner.remove_purged(&file.name);
        }
        Ok(outcome)
    }

    /// Implements `binlog_expire_logs_seconds`: removes files that were closed more than `seconds` before `now`. 0
    /// removes none.
    ///
    /// # Errors
    /// As for [`Self::purge`].
    pub fn expire(
        &self,
        now: SystemTime,
        seconds: u64,
        guard: &dyn Fn(&LogFile) -> Option<String>,
    ) -> Result<PurgeOutcome> {
        match now.checked_sub(Duration::from_secs(seconds)) {
            Some(time) if seconds > 0 => self.purge(&PurgeTarget::Before(time), guard),
            _ => Ok(PurgeOutcome::default()),
        }
    }
}

impl Inner {
    /// Returns why the log itself needs a file, or `None`.
    fn needed_by(&self, file: &LogFile, files: &[LogFile]) -> Option<String> {
        if files.last().is_some_and(|active| active.ordinal == file.ordinal) {
            return Some("it is the active file".to_owned());
        }
        let checkpoint = self.checkpoint.load(Ordering::Acquire);
        (u64::from(file.ordinal) >= checkpoint).then(|| "crash recovery".to_owned())
    }

    /// Removes a file that is no longer in the index. If that fails, the next opening removes it.
    fn remove_purged(self: &Arc<Self>, name: &str) {
        for path in [self.path(name), self.index_path(name)] {
            match self.disk.remove(&path) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    tracing::warn!("cannot remove '{}', which is purged: {error}", path.display());
                }
                _ => {}
            }
        }
    }
}
