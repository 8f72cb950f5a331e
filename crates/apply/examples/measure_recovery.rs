//! Measures recovery: `cargo run --release -p paceline-apply --example measure_recovery [rows]`. The table is
//! sysbench's: an integer primary key, one secondary index, columns of 120 and 60 characters.

use std::sync::Arc;

use paceline_apply::{DdlEffect, Definitions, LoggedDdl, ReplayTable, recover};
use paceline_binlog::group::{GroupOptions, GroupSize, StatementOptions};
use paceline_binlog::log::{OpenRequest, RealDisk};
use paceline_binlog::{CommitGroup, EventGroupBuffer, Log, LogConfig};
use paceline_catalog::ddl::{DdlContext, plan_ddl};
use paceline_catalog::{Catalog, CatalogHandle, TableDefinition};
use paceline_expression::session::{Services, SessionContext};
use paceline_storage::{Storage, StorageConfig};
use paceline_syntax::{ParseOptions, Statement, parse_first};
use paceline_types::table_map_metadata::RowMetadata;
use paceline_types::{DomainId, Gtid, SequenceNumber, ServerId, Value, Version};

struct OneTable(Arc<TableDefinition>);

impl Definitions for OneTable {
    fn table(&self, _: &str, _: &str) -> Option<ReplayTable> {
        Some(ReplayTable {
            schema: Arc::clone(self.0.schema()),
            defined_at: Version::ZERO,
        })
    }

    fn replay_ddl(
        &mut self,
        _: &LoggedDdl<'_>,
        _: &Arc<Storage>,
    ) -> Result<DdlEffect, Box<dyn std::error::Error + Send + Sync>> {
        Err("no DDL here".into())
    }
}

fn table() -> Arc<TableDefinition> {
    let catalog = CatalogHandle::new(Catalog::new());
    for sql in [
        "CREATE DATABASE sbtest",
        "CREATE TABLE sbtest.sbtest1 (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, k INT NOT NULL DEFAULT 0,
         c CHAR(120) NOT NULL DEFAULT '', pad CHAR(60) NOT NULL DEFAULT '', KEY k_1 (k))",
    ] {
        let parsed = parse_first(sql.as_bytes(), &ParseOptions::default()).expect("parses");
        let Statement::Ddl(statement) = parsed.statement else {
            panic!("not DDL: {sql}")
        };
        let mut session = SessionContext::new(1, Services::default());
        let now = catalog.load();
        let context = DdlContext {
            catalog: &now,
            session: &mut session,
            first_id: now.next_id(),
            default_engine: paceline_catalog::TableEngine::InnoDb,
            select_columns: None,
            data: None,
            temporary: None,
        };
        let plan = plan_ddl(context, &statement).expect("can be planned");
        catalog
            .publish(&plan.changes, Version::from_u64(1))
            .expect("fits");
    }
    Arc::clone(catalog.load().table("sbtest", "sbtest1").expect("just made"))
}

fn image(table: &TableDefinition, id: u64, n: u64) -> Vec<u8> {
    let mut image = Vec::with_capacity(200);
    let digits = format!("{n:011}-").repeat(10);
    let values = [
        Value::Int(id as i64),
        Value::Int((id * 7 % 10_007) as i64),
        Value::Text(digits[..119].into()),
        Value::Text(digits[..59].into()),
    ];
    table
        .schema()
        .encode_row(&values, &mut image)
        .expect("fits its columns");
    image
}

/// Kind of transactions in the log.
enum Load {
    /// Each inserts this many rows.
    Insert(u64),
    /// Each updates the text of one row.
    UpdateOne,
}

fn write_log(log: &Log, table: &TableDefinition, rows: u64, load: &Load) {
    let logged = table.logged(RowMetadata::NoLog);
    let mut sequence = 0;
    let mut row = 0;
    while row < rows {
        let mut buffers = Vec::new();
        while row < rows && buffers.len() < 64 {
            let mut buffer = EventGroupBuffer::new(GroupOptions::new(ServerId(1)));
            let annotation = Some(&b"UPDATE sbtest1 SET c=? WHERE id=?"[..]);
            buffer.begin_statement(&StatementOptions {
                timestamp: 1,
                annotation,
                ..StatementOptions::default()
            });
            match load {
                Load::Insert(count) => {
                    for id in row..(row + count).min(rows) {
                        buffer.write_row(logged, &image(table, id, id));
                    }
                    row += count;
                }
                Load::UpdateOne => {
                    let id = row.wrapping_mul(0x9e37_79b9_7f4a_7c15) % rows;
                    buffer.update_row(logged, &image(table, id, id), &image(table, id, row));
                    row += 1;
                }
            }
            buffer.commit(1);
            buffers.push(buffer);
        }
        let length = buffers
            .iter()
            .map(|buffer| buffer.len() + CommitGroup::GTID_EVENT_LENGTH_MAX)
            .sum();
        let start = log.reserve(length).expect("room");
        let mut group = CommitGroup::new();
        group.begin(start, GroupSize::Several);
        for mut buffer in buffers {
            sequence += 1;
            group.add(
                &mut buffer,
                Gtid::new(DomainId(0), ServerId(1), SequenceNumber(sequence)),
            );
        }
        log.append(&group).expect("written");
        log.sync().expect("synced");
    }
}

/// Returns the CPU time of all threads of this process, flushes included, in steps of 10 ms.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("Linux");
    let fields: Vec<&str> = stat.rsplit(") ").next().expect("a name").split(' ').collect();
    let ticks = |field: usize| fields[field].parse::<f64>().expect("ticks");
    (ticks(11) + ticks(12)) / 100.0
}

fn main() {
    let rows: u64 = std::env::args()
        .nth(1)
        .map_or(1_000_000, |rows| rows.parse().expect("a number of rows"));
    let directory = tempfile::tempdir().expect("a directory");
    let table = table();
    for (name, load) in [
        ("inserts of 1,000 rows", Load::Insert(1000)),
        ("updates of 1 row by primary key", Load::UpdateOne),
    ] {
        let base = directory.path().join(name.replace(' ', "-"));
        std::fs::create_dir_all(base.join("log")).expect("a directory");
        let storage =
            Arc::new(Storage::open(&StorageConfig::new(base.join("tables"))).expect("the tables open"));
        let (log, _) = Log::open(
            Arc::new(RealDisk),
            LogConfig::new(base.join("log"), "bin", ServerId(1)),
            OpenRequest::new(1),
        )
        .expect("the log opens");
        write_log(&log, &table, rows, &load);
        let cpu = cpu_seconds();
        let report = recover(&log, &storage, &mut OneTable(Arc::clone(&table))).expect("recovers");
        assert_eq!(report.rows, rows);
        let rate = report.rows as f64 / report.duration.as_secs_f64();
        println!(
            "{name:<36} {:>9} rows in {:>6.2} s: {rate:>9.0} rows/s, {:.2} µs of CPU each",
            report.rows,
            report.duration.as_secs_f64(),
            (cpu_seconds() - cpu) * 1e6 / report.rows as f64
        );
    }
}
