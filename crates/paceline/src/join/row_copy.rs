//! Copies rows: several ranges at a time, each with a session on the primary and a session on the target.
//!
//! ```text
//!   primary ── result set ──▶ read: lines ──▶ [batch] ──▶ load: LOAD DATA, one transaction each ──▶ tables
//! ```
//! One batch is loaded while the next one is read. A table is one range, or several if it is large: ranges of its
//! primary key ([`super::table_ranges`]). All sessions see the same state, so any of them may read any range.

use super::error::{Error, REDEFINED_UNSEEN, Result, read_error_text};
use super::progress::Progress;
use super::row::append_line;
use super::schema::{Table, Transfer};
use super::table_ranges::{TableRange, TableState, split};
use super::target::Session;
use crate::connection::{Connection, quoted, quoted_identifier};
use paceline_wire::client::Client;
use parking_lot::Mutex;
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// Bytes of text in one transaction; more if a single row is longer.
const BATCH: usize = 4 << 20;
/// Rows in one transaction. Each row takes a lock for each unique key and has an entry in the write set.
const BATCH_ROWS: u64 = 10_000;
/// Bytes sent to the target at a time.
const CHUNK_BYTES: usize = 256 << 10;

/// Rows that one transaction loads.
struct Batch {
    lines: Vec<u8>,
    rows: u64,
}

/// Totals of a copy.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CopyTotals {
    pub rows: u64,
    pub tables: usize,
}

/// Copies tables.
pub struct Copier {
    /// Sorted by size, the largest last.
    ranges: Mutex<Vec<TableRange>>,
    count: usize,
    progress: Arc<Progress>,
}

impl Copier {
    /// Creates a copier for these tables, and uses the sessions to find out how to split them.
    pub async fn new(
        tables: Vec<Table>,
        sources: &mut [Connection],
        progress: Arc<Progress>,
    ) -> Result<Copier> {
        let count = tables.len();
        let sessions = sources.len();
        let mut ranges = vec![];
        for table in tables {
            ranges.extend(split(table, sources, sessions).await?);
        }
        ranges.sort_by_key(TableRange::bytes);
        Ok(Copier {
            count,
            ranges: Mutex::new(ranges),
            progress,
        })
    }

    /// Copies all tables, with all sessions in parallel. Stops at the first error.
    pub async fn run(self, sources: Vec<Connection>, targets: Vec<Session>) -> Result<CopyTotals> {
        let copier = Arc::new(self);
        let mut workers = JoinSet::new();
        for (mut source, mut target) in sources.into_iter().zip(targets) {
            let copier = copier.clone();
            workers.spawn(async move {
                let mut rows = 0;
                loop {
                    let Some(range) = copier.ranges.lock().pop() else {
                        return Ok::<_, Error>(rows);
                    };
                    rows += copier.copy_range(&mut source, &mut target, &range).await?;
                    if range.done() == TableState::Complete {
                        copier.progress.table_done();
                    }
                }
            });
        }
        let mut copied = CopyTotals {
            rows: 0,
            tables: copier.count,
        };
        while let Some(done) = workers.join_next().await {
            copied.rows += done.map_err(|error| Error::Target(error.to_string()))??;
        }
        Ok(copied)
    }

    async fn copy_range(
        &self,
        source: &mut Connection,
        target: &mut Session,
        range: &TableRange,
    ) -> Result<u64> {
        let (sender, receiver) = mpsc::channel(1);
        let read = self.read(source, range, sender);
        let load = self.load(&mut target.0, &range.table, receiver);
        // If both fail, the loader's error is the cause: the reader only notices that nothing accepts its rows.
        match tokio::join!(read, load) {
            (_, Err(error)) | (Err(error), _) => Err(error),
            (Ok(()), Ok(rows)) => Ok(rows),
        }
    }

    async fn read(
        &self,
        source: &mut Connection,
        range: &TableRange,
        batches: mpsc::Sender<Batch>,
    ) -> Result<()> {
        let table = &*range.table;
        let failed = |error: paceline_wire::WireError| Error::Table {
            table: shown(table),
            problem: read_error_text(&error),
        };
        let mut rows = source.client.stream(&select(range)).await.map_err(failed)?;
        let columns = rows.columns().len();
        let empty = || Batch {
            lines: Vec::with_capacity(CHUNK_BYTES),
            rows: 0,
        };
        let mut batch = empty();
        while let Some(payload) = rows.next().await.map_err(failed)? {
            append_line(payload, columns, &mut batch.lines).map_err(failed)?;
            batch.rows += 1;
            if batch.lines.len() >= BATCH || batch.rows >= BATCH_ROWS {
                let full = std::mem::replace(&mut batch, empty());
                if batches.send(full).await.is_err() {
                    return Err(failed(paceline_wire::WireError::Closed));
                }
            }
        }
        check_definition(source, table).await?;
        if batch.rows > 0 && batches.send(batch).await.is_err() {
            return Err(failed(paceline_wire::WireError::Closed));
        }
        Ok(())
    }

    async fn load(
        &self,
        target: &mut Client,
        table: &Table,
        mut batches: mpsc::Receiver<Batch>,
    ) -> Result<u64> {
        let statement = load_data(table);
        let mut total = 0;
        while let Some(batch) = batches.recv().await {
            let failed = |problem: String| Error::Table {
                table: shown(table),
                problem,
            };
            let loading = async {
                let mut upload = target.upload(&statement).await?;
                for chunk in batch.lines.chunks(CHUNK_BYTES) {
                    upload.send(chunk).await?;
                }
                upload.finish().await
            };
            let loaded = loading.await.map_err(|error| failed(error.to_string()))?;
            if loaded.warnings > 0 || loaded.affected_rows != batch.rows {
                let warnings = target.rows("SHOW WARNINGS LIMIT 3").await;
                let texts: Vec<String> = warnings
                    .map_err(|error| failed(error.to_string()))?
                    .into_iter()
                    .map(|row| row.into_iter().flatten().collect::<Vec<_>>().join(" "))
                    .collect();
                return Err(failed(format!(
                    "only {} of {} rows were copied exactly: {}",
                    loaded.affected_rows,
                    batch.rows,
                    texts.join("; ")
                )));
            }
            total += batch.rows;
            self.progress.add(batch.rows, batch.lines.len() as u64);
        }
        Ok(total)
    }
}

/// Fails if the table just read is not the one in the schema. After a RENAME, or an ALTER that does not move rows, the
/// primary does not refuse the read. From the read on, the session's transaction prevents other sessions from
/// redefining the table.
async fn check_definition(source: &mut Connection, table: &Table) -> Result<()> {
    if table.defined.is_none() {
        return Ok(());
    }
    let question = format!(
        "SELECT UNIX_TIMESTAMP(create_time) FROM information_schema.tables WHERE table_schema = {} AND table_name = {}",
        quoted(&table.database),
        quoted(&table.name)
    );
    let defined = source.row(&question).await?;
    match defined.first().and_then(|defined| defined.parse().ok()) == table.defined {
        true => Ok(()),
        false => Err(Error::Table {
            table: shown(table),
            problem: REDEFINED_UNSEEN.into(),
        }),
    }
}

fn shown(table: &Table) -> String {
    format!("{}.{}", table.database, table.name)
}

fn select(range: &TableRange) -> String {
    let table = &*range.table;
    let columns: Vec<String> = table
        .columns
        .iter()
        .map(|column| match column.transfer {
            Transfer::Text => quoted_identifier(&column.name),
            Transfer::Double => format!("{}+0e0", quoted_identifier(&column.name)),
            Transfer::Number => format!("{}+0", quoted_identifier(&column.name)),
        })
        .collect();
    format!(
        "SELECT {} FROM {}.{}{}",
        columns.join(", "),
        quoted_identifier(&table.database),
        quoted_identifier(&table.name),
        range.condition()
    )
}

fn load_data(table: &Table) -> String {
    let mut targets = vec![];
    let mut assignments = vec![];
    for (number, column) in table.columns.iter().enumerate() {
        let name = quoted_identifier(&column.name);
        match column.transfer {
            Transfer::Text | Transfer::Double => targets.push(name),
            Transfer::Number => {
                targets.push(format!("@field{number}"));
                assignments.push(format!("{name} = CAST(@field{number} AS UNSIGNED)"));
            }
        }
    }
    let set = match assignments.is_empty() {
        true => String::new(),
        false => format!(" SET {}", assignments.join(", ")),
    };
    format!(
        "LOAD DATA LOCAL INFILE 'rows' INTO TABLE {}.{} CHARACTER SET utf8mb4 FIELDS TERMINATED BY '\\t' ESCAPED BY '\\\\' LINES \
         TERMINATED BY '\\n' ({}){set}",
        quoted_identifier(&table.database_here),
        quoted_identifier(&table.name),
        targets.join(", ")
    )
}
