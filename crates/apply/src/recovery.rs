//! Recovery at start: applies the log after the engine's position.
//!
//! The engine holds exactly the groups up to its position (`crates/storage/src/rocksdb_engine/`). So each group finds
//! the tables and the catalog as they were when it was first applied. Afterwards the transaction manager continues at
//! the end of the log.
//!
//! MEMORY tables are empty after a restart. Their row events are skipped here. Before the first session starts, the
//! server logs a TRUNCATE for every MEMORY table.
//!
//! Builds: if this server built something for a DDL statement after the engine's position, the finished build is stored
//! under the statement's id, and is activated when the statement is applied. Builds that remain at the end are either
//! in no log or already in the tables: they are deleted.
//!
//! A large transaction is in memory neither as events nor as rows. Both are kept in files, and its rows reach the
//! tables as they do at a commit.

use std::sync::Arc;
use std::time::{Duration, Instant};

use paceline_binlog::Log;
use paceline_binlog::group::LARGE_GROUP_BYTES;
use paceline_storage::{Storage, ValueVersion, WriteSet};
use paceline_types::LogPosition;

use crate::batch::{Batcher, with_writer};
use crate::definitions::Definitions;
use crate::error::{Error, Result};
use crate::group::{CurrentRows, GroupApplier, GroupContents, MemoryTables};

/// Interval between progress messages of a long recovery.
const REPORT_EVERY: Duration = Duration::from_secs(5);

/// Result of a recovery.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RecoveryReport {
    /// Position of the tables before recovery.
    pub from: LogPosition,
    /// Position of the tables after recovery: the end of the log.
    pub to: LogPosition,
    /// Number of event groups applied.
    pub groups: u64,
    /// Number of rows that they changed.
    pub rows: u64,
    /// Number of DDL statements among them.
    pub ddl_statements: u64,
    /// Number of finished builds deleted because no transaction in the log names them.
    pub builds_abandoned: usize,
    /// Time that recovery took.
    pub duration: Duration,
}

/// Applies the log from the engine's position to its end. `log` must be recovered, and nothing may be written to it
/// meanwhile.
///
/// # Errors
/// Fails if the log or the tables cannot be read or written, or do not fit each other. What was applied until then
/// remains; the next start continues from there.
pub fn recover<D: Definitions>(
    log: &Log,
    storage: &Arc<Storage>,
    definitions: &mut D,
) -> Result<RecoveryReport> {
    let started = Instant::now();
    let (from, to) = (storage.position(), log.written());
    if from > to {
        return Err(Error::LogTooShort {
            tables: from,
            log: to,
        });
    }
    let mut report = RecoveryReport {
        from,
        to,
        groups: 0,
        rows: 0,
        ddl_statements: 0,
        builds_abandoned: 0,
        duration: Duration::ZERO,
    };
    if from < to {
        tracing::info!("applying the log from {from} to {to}");
        with_writer(storage, |batcher| {
            replay(log, storage, definitions, batcher, &mut report)
        })?;
    }
    for build in storage.builds()? {
        tracing::info!(
            "deleting build {build}: it is in no transaction of the log, or in the tables already"
        );
        storage.abandon(build)?;
        report.builds_abandoned += 1;
    }
    report.duration = started.elapsed();
    tracing::info!(
        "replayed {} rows of {} transactions in {:.2} s",
        report.rows,
        report.groups,
        report.duration.as_secs_f64()
    );
    Ok(report)
}

fn replay<D: Definitions>(
    log: &Log,
    storage: &Arc<Storage>,
    definitions: &mut D,
    batcher: &mut Batcher<'_>,
    report: &mut RecoveryReport,
) -> Result<()> {
    let mut reader = log.reader(report.from, report.to)?;
    let mut applier = GroupApplier::new(MemoryTables::Skip);
    let mut reported = Instant::now();
    while let Some(group) = reader.next_group()? {
        let mut writes = WriteSet::new();
        if group.bytes().len() as u64 > LARGE_GROUP_BYTES {
            match storage.spill_file() {
                Ok(file) => writes.spill_to(file, ValueVersion::Known(group.end())),
                Err(error) => tracing::warn!("the rows of a large transaction are in memory: {error}"),
            }
        }
        report.groups += 1;
        match applier.rows(&group, reader.format(), definitions, batcher, &mut writes)? {
            GroupContents::Rows(rows) => {
                report.rows += rows;
                batcher.add(writes, group.end())?;
            }
            GroupContents::Ddl => {
                report.ddl_statements += 1;
                batcher.flushed()?;
                applier.ddl(&group, reader.format(), |ddl| {
                    let effect = definitions.replay_ddl(ddl, storage)?;
                    let writes = Arc::new(effect.writes.assign_version(ddl.version));
                    storage.activate(&effect.builds, &[writes], ddl.version)?;
                    (effect.publish)(ddl.version)
                })?;
            }
        }
        if report.groups.is_multiple_of(1024) && reported.elapsed() >= REPORT_EVERY {
            reported = Instant::now();
            tracing::info!(
                "applied the log up to {}: {} transactions",
                group.end(),
                report.groups
            );
        }
    }
    Ok(())
}
