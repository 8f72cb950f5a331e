//! Sessions, in the form of threads, accounts, users and hosts.

use crate::cells::{Row, text, text_or_null};
use crate::information_schema::{Process, Sources};
use paceline_types::Value;
use std::collections::BTreeMap;

/// Returns the rows of `threads`: a session is a task, which has no thread of the system of its own.
pub(super) fn threads(sources: &dyn Sources) -> Vec<Row> {
    let row = |process: Process| {
        vec![
            Value::UInt(process.id),
            text("thread/sql/one_connection"),
            text("FOREGROUND"),
            Value::UInt(process.id),
            text(process.user.clone()),
            text(process.host_name()),
            text_or_null(process.database),
            text(process.command),
            Value::Int(i64::try_from(process.time_ms / 1000).unwrap_or(i64::MAX)),
            text_or_null(process.state),
            text_or_null(process.info),
            Value::Null,
            Value::Null,
            text("YES"),
            text("YES"),
            text(match process.host.contains(':') {
                true => "TCP/IP",
                false => "Socket",
            }),
            Value::Null,
        ]
    };
    sources.processes().into_iter().map(row).collect()
}

/// Returns a row for each name with the number of its sessions. Sessions that have ended are not kept.
fn counted<const N: usize>(sources: &dyn Sources, names: impl Fn(&Process) -> [String; N]) -> Vec<Row> {
    let mut counts: BTreeMap<[String; N], i64> = BTreeMap::new();
    for process in sources.processes() {
        *counts.entry(names(&process)).or_default() += 1;
    }
    let row = |(names, count): ([String; N], i64)| {
        let mut row: Row = names.into_iter().map(text).collect();
        row.extend([Value::Int(count), Value::Int(count)]);
        row
    };
    counts.into_iter().map(row).collect()
}

pub(super) fn accounts(sources: &dyn Sources) -> Vec<Row> {
    counted(sources, |process| [process.user.clone(), process.host_name()])
}

pub(super) fn users(sources: &dyn Sources) -> Vec<Row> {
    counted(sources, |process| [process.user.clone()])
}

pub(super) fn hosts(sources: &dyn Sources) -> Vec<Row> {
    counted(sources, |process| [process.host_name()])
}
