//! `--stat`: number of changes of each table, and the load over time.

use super::column::MappedTable;
use super::rows_text::count_rows;
use super::source::LoggedEvent;
use paceline_binlog::event::{CommitId, Event, RowsKind, TableId};
use paceline_types::{TimeZone, ValueRef, text};
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

/// Maximum number of intervals.
const INTERVALS_MAX: usize = 60;

#[derive(Clone, Copy, Default, Debug)]
struct TableChanges {
    inserted: u64,
    updated: u64,
    deleted: u64,
    bytes: u64,
}

/// Events in an interval.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
struct Interval {
    transactions: u64,
    /// Number of commit groups. A transaction without a commit id counts as a group.
    groups: u64,
    bytes: u64,
}

/// The load over time in intervals of equal length. The length is doubled when there are too many of them.
#[derive(Debug)]
struct Timeline {
    seconds: u32,
    intervals: BTreeMap<u32, Interval>,
}

impl Timeline {
    fn at(&mut self, timestamp: u32) -> &mut Interval {
        self.intervals
            .entry(timestamp / self.seconds * self.seconds)
            .or_default();
        while self.intervals.len() > INTERVALS_MAX {
            self.seconds = self.seconds.saturating_mul(2);
            for (start, interval) in std::mem::take(&mut self.intervals) {
                let joined = self
                    .intervals
                    .entry(start / self.seconds * self.seconds)
                    .or_default();
                joined.transactions += interval.transactions;
                joined.groups += interval.groups;
                joined.bytes += interval.bytes;
            }
        }
        self.intervals
            .entry(timestamp / self.seconds * self.seconds)
            .or_default()
    }
}

/// Sums over events.
#[derive(Debug)]
pub struct Statistics {
    tables: HashMap<TableId, MappedTable>,
    changes: BTreeMap<(Vec<u8>, Vec<u8>), TableChanges>,
    timeline: Timeline,
    last_group: Option<CommitId>,
    statements: u64,
    bytes: u64,
}

impl Default for Statistics {
    fn default() -> Self {
        Statistics {
            tables: HashMap::new(),
            changes: BTreeMap::new(),
            timeline: Timeline {
                seconds: 1,
                intervals: BTreeMap::new(),
            },
            last_group: None,
            statements: 0,
            bytes: 0,
        }
    }
}

impl Statistics {
    /// Counts an event.
    pub fn add(&mut self, event: &LoggedEvent<'_>) -> paceline_binlog::Result<()> {
        let header = event.header();
        let bytes = u64::from(header.length);
        self.bytes += bytes;
        match event.decode_rows()? {
            Event::Gtid(gtid) => {
                let same_group = gtid.commit_id.is_some() && gtid.commit_id == self.last_group;
                self.last_group = gtid.commit_id;
                let interval = self.timeline.at(header.timestamp);
                interval.transactions += 1;
                interval.groups += u64::from(!same_group);
            }
            Event::TableMap(map) => {
                if let Some(table) = MappedTable::of(&map) {
                    self.tables.insert(map.table_id, table);
                }
            }
            Event::Query(query) if !query.ends_group() => self.statements += 1,
            Event::ExecuteLoadQuery(_) => self.statements += 1,
            Event::Rows(rows) => {
                if let Some(table) = self.tables.get(&rows.table_id) {
                    let count = count_rows(table, &rows).unwrap_or(0);
                    let name = (table.database.clone(), table.table.clone());
                    let changes = self.changes.entry(name).or_default();
                    changes.bytes += bytes;
                    match rows.kind {
                        RowsKind::Write => changes.inserted += count,
                        RowsKind::Update => changes.updated += count,
                        RowsKind::Delete => changes.deleted += count,
                    }
                }
            }
            _ => {}
        }
        if !header.event_type.is_control() {
            self.timeline.at(header.timestamp).bytes += bytes;
        }
        Ok(())
    }

    /// Writes the statistics, the table with the most bytes first.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let sum = |part: fn(&Interval) -> u64| self.timeline.intervals.values().map(part).sum::<u64>();
        let (transactions, groups) = (
            sum(|interval| interval.transactions),
            sum(|interval| interval.groups),
        );
        writeln!(
            out,
            "{transactions} transactions in {groups} commit groups, {} statements, {} bytes\n",
            self.statements, self.bytes
        )?;
        writeln!(
            out,
            "{:>12} {:>12} {:>12} {:>14}  table",
            "inserted", "updated", "deleted", "bytes"
        )?;
        let mut changes: Vec<_> = self.changes.iter().collect();
        changes.sort_by_key(|(_, changes)| std::cmp::Reverse(changes.bytes));
        for ((database, table), changes) in changes {
            writeln!(
                out,
                "{:>12} {:>12} {:>12} {:>14}  {}.{}",
                changes.inserted,
                changes.updated,
                changes.deleted,
                changes.bytes,
                String::from_utf8_lossy(database),
                String::from_utf8_lossy(table)
            )?;
        }
        writeln!(
            out,
            "\n{:<19} {:>12} {:>12} {:>12} {:>14}  (each {} s, UTC)",
            "from", "transactions", "groups", "group size", "bytes", self.timeline.seconds
        )?;
        for (start, interval) in &self.timeline.intervals {
            let from = ValueRef::DateTime(TimeZone::UTC.to_local(i64::from(*start)));
            writeln!(
                out,
                "{:<19} {:>12} {:>12} {:>12.1} {:>14}",
                text::to_string(&from, &TimeZone::UTC),
                interval.transactions,
                interval.groups,
                interval.transactions as f64 / interval.groups.max(1) as f64,
                interval.bytes
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_joined_without_losing_transactions() {
        let mut timeline = Timeline {
            seconds: 1,
            intervals: BTreeMap::new(),
        };
        for second in 0..1000 {
            timeline.at(second).transactions += 1;
        }
        assert!(timeline.intervals.len() <= INTERVALS_MAX);
        assert_eq!(timeline.seconds, 32);
        let all: u64 = timeline
            .intervals
            .values()
            .map(|interval| interval.transactions)
            .sum();
        assert_eq!(all, 1000);
        assert_eq!(timeline.intervals[&0].transactions, 32);
    }
}
