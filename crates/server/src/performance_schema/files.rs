//! Files of the log: what was done with them and how long it took.
//!
//! Table files are missing: RocksDB reads and writes them, and says how much and how long only if it counts at each
//! read of a row, too, which costs more than the limit of these statistics. `Paceline_table_file_bytes` has their size.

use super::timed::timed;
use crate::cells::{Row, text};
use crate::information_schema::Sources;
use paceline_binlog::{FileClass, FileSums, OperationSums};
use paceline_types::Value;
use std::path::Path;

/// Returns the name of a class as an event: MariaDB's where it has such files.
pub(super) fn class_name(class: FileClass) -> &'static str {
    match class {
        FileClass::Log => "wait/io/file/sql/binlog",
        FileClass::Index => "wait/io/file/sql/binlog_index",
        FileClass::GtidIndex => "wait/io/file/paceline/gtid_index",
        FileClass::Other => "wait/io/file/paceline/log_other",
    }
}

/// Returns the path as MariaDB shows it: absolute.
fn shown_path(path: &Path) -> Value {
    let absolute = std::path::absolute(path);
    text(absolute.as_deref().unwrap_or(path).to_string_lossy())
}

/// Appends a number of operations, and the sum, minimum, average and maximum of their times.
fn append(row: &mut Row, sums: &OperationSums) {
    row.extend(timed(sums.count, sums.nanos, sums.nanos_min, sums.nanos_max));
}

fn append_all(row: &mut Row, sums: &FileSums) {
    let bytes = |sums: &OperationSums| Value::Int(i64::try_from(sums.bytes).unwrap_or(i64::MAX));
    append(row, &sums.all());
    append(row, &sums.reads);
    row.push(bytes(&sums.reads));
    append(row, &sums.writes);
    row.push(bytes(&sums.writes));
    append(row, &sums.others);
}

/// Returns the rows of `file_instances`.
pub(super) fn instances(sources: &dyn Sources) -> Vec<Row> {
    let files = sources.file_statistics().map(|statistics| statistics.files());
    let files = files.unwrap_or_default().into_iter();
    files
        .map(|file| {
            vec![
                shown_path(&file.path),
                text(class_name(file.class)),
                Value::UInt(file.open),
            ]
        })
        .collect()
}

/// Returns the rows of `file_summary_by_event_name`.
pub(super) fn by_class(sources: &dyn Sources) -> Vec<Row> {
    let classes = sources.file_statistics().map(|statistics| statistics.classes());
    let classes = classes.unwrap_or_default().into_iter();
    classes
        .map(|(class, sums)| {
            let mut row = vec![text(class_name(class))];
            append_all(&mut row, &sums);
            row
        })
        .collect()
}

/// Returns the rows of `file_summary_by_instance`.
pub(super) fn by_file(sources: &dyn Sources) -> Vec<Row> {
    let files = sources.file_statistics().map(|statistics| statistics.files());
    let files = files.unwrap_or_default().into_iter();
    files
        .map(|file| {
            let mut row = vec![
                shown_path(&file.path),
                text(class_name(file.class)),
                Value::UInt(file.number),
            ];
            append_all(&mut row, &file.sums);
            row
        })
        .collect()
}
