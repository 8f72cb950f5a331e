//! Builds of a table's data, or of new indexes, aside.
//!
//! ```text
//!   rows of the old table in a snapshot ─▶ converted, checked ─▶ entries of each new index ─▶ sorted files ─▶ synced
//! ```
//!
//! The statement holds the table's metadata lock exclusively, so the snapshot is complete. Nothing is visible
//! before the statement is in the log. Tables in memory and temporary tables have no files: their
//! rows go into the statement's write set. A row keeps its version, so a transaction that has seen it before
//! the build can change it afterwards.

mod description;
mod numbers;
mod rows;
mod sink;
mod taken_keys;

use std::fmt::Write as _;

use paceline_storage::{BuildId, IndexId, Storage, StorageSnapshot, TableSchema, WriteSet};
use paceline_types::error_code::*;
use paceline_types::{SqlMode, TimeZone, ValueRef};

pub use self::description::{
    BuildKind, BuildSummary, ColumnSource, Misfits, TableBuild, TestedKey, TestedRows,
};

use self::rows::Rows;
pub(super) use self::rows::VARYING_DEFAULT;
use self::sink::Sink;
use self::taken_keys::TakenKeys;
use crate::error::{Error, Result};
use crate::table::schema_of;
use crate::{TableEngine, duplicate_entry};
use paceline_expression::session::{SessionContext, StatementProgress};

/// Rows between two reports for the process list.
const ROWS_BETWEEN_REPORTS: u64 = 16 * 1024;

impl TableBuild {
    /// Runs the build. Rows in memory and of temporary tables go to `writes`.
    ///
    /// # Errors
    /// 1062 for values that are not unique; 1264, 1265, 1366 … for values that the new columns cannot hold
    /// (in strict mode); 4025; 1317 if the statement is killed; those of the engine. Unfinished files are
    /// deleted.
    pub fn run(
        &self,
        id: BuildId,
        snapshot: &StorageSnapshot,
        storage: &Storage,
        session: &mut SessionContext,
        writes: &mut WriteSet,
    ) -> Result<BuildSummary> {
        let sql_mode = session.settings.sql_mode;
        if self.misfits == Misfits::Adjusted {
            let strict = SqlMode::STRICT_TRANS_TABLES.with(SqlMode::STRICT_ALL_TABLES);
            session.settings.sql_mode = sql_mode.without(strict);
        }
        let built = self.build_rows(id, snapshot, storage, session, writes);
        session.settings.sql_mode = sql_mode;
        built
    }

    fn build_rows(
        &self,
        id: BuildId,
        snapshot: &StorageSnapshot,
        storage: &Storage,
        session: &mut SessionContext,
        writes: &mut WriteSet,
    ) -> Result<BuildSummary> {
        let schema = schema_of(&self.target)?;
        let in_memory = self.target.engine != TableEngine::InnoDb || self.target.temporary;
        let mut rows = Rows::new(self, snapshot, session)?;
        let copied = self.is_copied();
        let (mut count, mut duplicates) = (0, 0);
        let mut taken = (self.misfits == Misfits::Adjusted).then(|| TakenKeys::new(session));
        let mut build = None;
        let mut sink: Option<Sink> = None;
        while let Some(row) = rows.next(session)? {
            count += 1;
            if count % 1024 == 0 {
                session.services.functions.check_interrupt(session)?;
            }
            if count % ROWS_BETWEEN_REPORTS == 1 {
                self.report(1, rows.part_read(storage), session);
            }
            if let Some(taken) = &mut taken
                && !taken.take(&schema, &row)?
            {
                duplicates += 1;
                continue;
            }
            let sink = match &mut sink {
                Some(sink) => sink,
                None => {
                    // An empty table needs no build.
                    let files = if in_memory {
                        None
                    } else {
                        Some(storage.begin_build(id)?)
                    };
                    let made = Sink::new(self, &schema, files.as_ref());
                    build = files;
                    sink.insert(made)
                }
            };
            if let Err(error) = sink.row(&schema, &row, writes) {
                return Err(self.explain(error, &schema, snapshot, session));
            }
        }
        if sink.is_some() {
            self.report(2, 0.0, session);
        }
        if let Some(sink) = sink
            && let Err(error) = sink.finish()
        {
            return Err(self.explain(error, &schema, snapshot, session));
        }
        let build = build.map(|build| build.finish()).transpose()?;
        Ok(BuildSummary {
            build,
            rows: count,
            duplicates,
            copied,
        })
    }

    /// Tells the process list how far the build is. The stages are MariaDB's: rows are read, files are written.
    fn report(&self, stage: u8, part: f64, session: &SessionContext) {
        let state = match (stage, &self.kind) {
            (1, BuildKind::Rebuild(_)) => "copy to tmp table",
            (1, BuildKind::Indexes(_)) => "altering table",
            _ => "Enabling keys",
        };
        session.services.functions.note_progress(&StatementProgress {
            state,
            stage,
            stages: 2,
            part,
        });
    }

    /// Completes the error of a duplicate key: the files know only its bytes.
    fn explain(
        &self,
        error: paceline_storage::Error,
        schema: &TableSchema,
        snapshot: &StorageSnapshot,
        session: &mut SessionContext,
    ) -> Error {
        let paceline_storage::Error::DuplicateKey { key } = &error else {
            return error.into();
        };
        let Some(index) = schema
            .indexes()
            .iter()
            .position(|index| IndexId::of_key(key) == Some(index.id))
        else {
            return error.into();
        };
        let mut find = || -> Result<Option<String>> {
            let mut rows = Rows::new(self, snapshot, session)?;
            let mut candidate = Vec::new();
            while let Some(row) = rows.next(session)? {
                candidate.clear();
                if schema.append_unique_key(index, &row.image, &mut candidate)? && candidate == *key {
                    return Ok(Some(self.entry_text(index, schema, &row.image)?));
                }
            }
            Ok(None)
        };
        let entry = find().ok().flatten().unwrap_or_default();
        let code = match index == 0 && self.is_copied() && self.is_counting(index) {
            true => ER_DUP_ENTRY_AUTOINCREMENT_CASE,
            false => ER_DUP_ENTRY_WITH_KEY_NAME,
        };
        Error::new(code, &[&entry, &self.target.indexes[index].name]).with_code(ER_DUP_ENTRY)
    }

    /// Returns whether an index begins with the AUTO_INCREMENT column.
    fn is_counting(&self, index: usize) -> bool {
        self.target.columns[self.target.indexes[index].parts[0].column].auto_increment
    }

    /// Returns the values of an index's columns as error 1062 shows them.
    fn entry_text(&self, index: usize, schema: &TableSchema, image: &[u8]) -> Result<String> {
        let image = schema.image(image);
        let mut failed = None;
        let entry = duplicate_entry(&self.target, index, &TimeZone::UTC, |column| {
            image.column(column).unwrap_or_else(|error| {
                failed = Some(error);
                ValueRef::Null
            })
        });
        match failed {
            Some(error) => Err(error.into()),
            None => Ok(entry),
        }
    }
}

/// Returns `Records: 3  Duplicates: 0  Warnings: 0`.
pub fn alter_info(rows: u64, duplicates: u64, warnings: u64) -> String {
    let mut out = String::new();
    let _ = write!(
        out,
        "Records: {rows}  Duplicates: {duplicates}  Warnings: {warnings}"
    );
    out
}
