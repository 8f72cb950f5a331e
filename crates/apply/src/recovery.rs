//! Start-up: the log behind the engine's position is applied again.
//!
//! The engine holds exactly the groups up to its position (`crates/storage/src/rocksdb_engine/`), so that each group meets the tables, and the
//! catalog, as it met them the first time. Afterwards the transaction manager goes on from the log's end.
//!
//! MEMORY tables are empty after a restart. Row events for them are passed over here; the server then logs a TRUNCATE for each
//! that is not known to be empty, before it lets anyone in.
//!
//! Builds: DDL whose group is behind the position finds what it built finished under its id, and activates it in its place. What is
//! left of builds at the end is in no log, or in the tables already: it is deleted.
//!
//! A large transaction is in memory neither as events nor as rows: both go through files, and the rows to the tables as at its commit.

use std::sync::Arc;
use std::time::{Duration, Instant};

use paceline_binlog::Log;
use paceline_binlog::group::LARGE_GROUP_BYTES;
use paceline_storage::{Storage, ValueVersion, WriteSet};
use paceline_types::LogPosition;

use crate::batch::{Batcher, with_writer};
use crate::definitions::Definitions;
use crate::error::{Error, Result};
use crate::group::{Applied, CurrentRows, GroupApplier, MemoryTables};

/// How often a long recovery says where it is.
const REPORT_EVERY: Duration = Duration::from_secs(5);

/// What recovery has done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RecoveryReport {
    /// Where the tables were.
    pub from: LogPosition,
    /// Where they are now: the end of the log.
    pub to: LogPosition,
    /// Event groups applied.
    pub groups: u64,
    /// Rows changed by them.
    pub rows: u64,
    /// DDL statements among them.
    pub ddl_statements: u64,
    /// Finished builds that were deleted because no transaction in the log names them.
    pub builds_abandoned: usize,
    /// How long it took.
    pub duration: Duration,
}

/// Applies the log from the engine's position to its end. `log` is recovered and nothing is written to it meanwhile.
///
/// # Errors
/// If the log or the tables cannot be read or written, or do not fit each other. What was applied until then stays; the next
/// start goes on.
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
            Applied::Rows(rows) => {
                report.rows += rows;
                batcher.add(writes, group.end())?;
            }
            Applied::Ddl => {
                report.ddl_statements += 1;
                batcher.settled()?;
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
