//! `memory_summary_…_by_event_name`: what memory is used for, and by whom.
//!
//! An event is a purpose of [`Purpose`](crate::memory::Purpose), for example `memory/paceline/block_cache`. Single
//! allocations are not counted, so the numbers of allocations are 0 and only the present bytes are shown: the lowest
//! and the highest since the start are not kept, and show the present ones.

use crate::cells::Row;
use crate::information_schema::{Process, Sources};
use crate::memory::Purpose;
use paceline_types::Value;
use std::collections::BTreeMap;

fn event(purpose: Purpose) -> Value {
    Value::Text(format!("memory/paceline/{}", purpose.name()))
}

fn row(owner: impl IntoIterator<Item = Value>, purpose: Purpose, bytes: u64) -> Row {
    let mut row: Row = owner.into_iter().collect();
    row.push(event(purpose));
    row.extend(std::iter::repeat_n(Value::UInt(0), 4));
    row.extend(std::iter::repeat_n(Value::Int(0), 3));
    let bytes = Value::Int(i64::try_from(bytes).unwrap_or(i64::MAX));
    row.extend(std::iter::repeat_n(bytes, 3));
    row
}

/// Returns the rows of `memory_summary_global_by_event_name`.
pub(super) fn global(sources: &dyn Sources) -> Vec<Row> {
    let parts = sources.memory_usage();
    parts
        .into_iter()
        .map(|part| row([], part.purpose, part.bytes))
        .collect()
}

/// Returns the rows of `memory_summary_by_thread_by_event_name`.
pub(super) fn by_thread(sources: &dyn Sources) -> Vec<Row> {
    let of = |process: Process| {
        let uses = process.memory.by_purpose().into_iter();
        uses.map(move |(purpose, bytes)| row([Value::UInt(process.id)], purpose, bytes))
    };
    sources.processes().into_iter().flat_map(of).collect()
}

/// Returns the rows of each name, with the memory of its sessions by purpose.
fn summed<const N: usize>(sources: &dyn Sources, names: impl Fn(&Process) -> [String; N]) -> Vec<Row> {
    let mut sums: BTreeMap<([String; N], Purpose), u64> = BTreeMap::new();
    for process in sources.processes() {
        for (purpose, bytes) in process.memory.by_purpose() {
            *sums.entry((names(&process), purpose)).or_default() += bytes;
        }
    }
    let of = |((names, purpose), bytes): (([String; N], Purpose), u64)| {
        row(names.map(Value::Text), purpose, bytes)
    };
    sums.into_iter().map(of).collect()
}

/// Returns the rows of `memory_summary_by_account_by_event_name`.
pub(super) fn by_account(sources: &dyn Sources) -> Vec<Row> {
    summed(sources, |process| [process.user.clone(), process.host_name()])
}

/// Returns the rows of `memory_summary_by_user_by_event_name`.
pub(super) fn by_user(sources: &dyn Sources) -> Vec<Row> {
    summed(sources, |process| [process.user.clone()])
}

/// Returns the rows of `memory_summary_by_host_by_event_name`.
pub(super) fn by_host(sources: &dyn Sources) -> Vec<Row> {
    summed(sources, |process| [process.host_name()])
}
