//! How far a session's statement is, as the process list shows it.
//!
//! The session writes, readers of the process list read: plain stores, no lock. A statement that tells nothing costs
//! one store when it begins and one load when it ends. The rows that it has examined are published where it looks for a
//! KILL, so the number in the process list may be some thousand rows old.

use paceline_expression::session::StatementProgress;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Progress of the running statement.
#[derive(Debug, Default)]
pub struct SessionProgress {
    /// Rows that the session had examined when the statement began, and has examined until its last look for a KILL.
    examined_before: AtomicU64,
    examined: AtomicU64,
    /// Stage, number of stages and thousandths of a percent in one word, so that they belong together; 0 without any.
    stage: AtomicU64,
}

/// Columns of the process list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ShownProgress {
    /// `STAGE`, from 1; 0 without stages.
    pub stage: u8,
    /// `MAX_STAGE`.
    pub stages: u8,
    /// `PROGRESS` in thousandths of a percent of the stage.
    pub thousandths: u32,
    /// `EXAMINED_ROWS`.
    pub examined_rows: u64,
}

/// All of a stage, in thousandths of a percent.
const WHOLE: f64 = 100_000.0;

impl SessionProgress {
    /// Begins a statement of a session that has examined so many rows.
    #[inline]
    pub fn begin(&self, examined: u64) {
        self.examined_before.store(examined, Relaxed);
    }

    /// Publishes the number of rows that the session has examined.
    #[inline]
    pub fn examine(&self, examined: u64) {
        self.examined.store(examined, Relaxed);
    }

    /// Publishes how far the statement is.
    pub fn set(&self, progress: &StatementProgress) {
        let thousandths = (progress.part.clamp(0.0, 1.0) * WHOLE) as u64;
        let (stage, stages) = (u64::from(progress.stage), u64::from(progress.stages));
        self.stage
            .store(stage << 40 | stages << 32 | thousandths, Relaxed);
    }

    /// Ends the statement.
    #[inline]
    pub fn end(&self) {
        if self.stage.load(Relaxed) != 0 {
            self.stage.store(0, Relaxed);
        }
    }

    /// Returns what the process list shows of a session that executes a statement.
    pub fn shown(&self) -> ShownProgress {
        let stage = self.stage.load(Relaxed);
        let examined = self.examined.load(Relaxed);
        ShownProgress {
            stage: (stage >> 40) as u8,
            stages: (stage >> 32) as u8,
            thousandths: stage as u32,
            examined_rows: examined.saturating_sub(self.examined_before.load(Relaxed)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_that_of_the_running_statement() {
        let progress = SessionProgress::default();
        progress.begin(10);
        assert_eq!(progress.shown(), ShownProgress::default());
        progress.examine(1034);
        progress.set(&StatementProgress {
            state: "copy to tmp table",
            stage: 1,
            stages: 2,
            part: 0.25,
        });
        let shown = progress.shown();
        assert_eq!((shown.stage, shown.stages, shown.thousandths), (1, 2, 25_000));
        assert_eq!(shown.examined_rows, 1024);
        progress.end();
        progress.begin(1034);
        assert_eq!(progress.shown(), ShownProgress::default());
    }
}
