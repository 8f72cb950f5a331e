//! Every statistic of the server, declared once with its kind, unit and help.
//!
//! ```text
//!   Counters (status.rs)  ─┐
//!   transactions, storage  ├─▶ Sample ─▶ the table's readers ─▶ SHOW STATUS, information_schema.GLOBAL_STATUS
//!   replication, process  ─┘   (one       (table.rs)        ├▶ information_schema.PACELINE_METRICS
//!                               moment)                     └▶ /metrics (prometheus.rs)
//! ```
//!
//! A [`Sample`] holds the values at one moment; it is made for every request and costs some microseconds, most of them
//! for adding up the counters of all sessions. Nothing is collected when nobody asks, and no statement pays for a
//! reader. An entry of the table is a name, a kind, a unit, a help text, and a function that reads the sample; a
//! statistic without an entry cannot be shown anywhere, and all views show the same value under the same name.
//!
//! Names are those of MariaDB's status variables, or begin with `Paceline_`. MariaDB's names whose value this server
//! does not count stand in `constants.txt` with MariaDB's initial value: SHOW STATUS lists them because programs expect
//! to find them; the other views leave them out, because a constant zero on a graph is a lie.
//!
//! Rejected: a metrics crate with a global registry (`metrics`, `prometheus`). They count in shared atomics, which
//! every statement would write; and their registries know nothing of sessions, of which each has its own values here.

mod metric;
mod prometheus;
mod sample;
mod table;

pub use prometheus::exposition;
pub use sample::{Sample, SessionView};

use crate::statistic::{ShownStatistic, Statistic, Unit};
use crate::status::SESSION_COUNTERS;
use metric::Reader;
use paceline_txn::HistogramSnapshot;
use table::TABLE;

/// Status variables that MariaDB has and this server does not count, because it lacks the feature or because programs
/// do not read them: name and MariaDB's initial value.
static CONSTANTS: &str = include_str!("constants.txt");

/// Returns the declarations of all statistics: those of sessions, then those of the server.
#[cfg(test)]
fn all() -> impl Iterator<Item = &'static Statistic> {
    let of_sessions = SESSION_COUNTERS.iter().map(|counter| &counter.statistic);
    of_sessions.chain(TABLE.iter().map(|metric| &metric.statistic))
}

/// Returns the values of a sample by name, without the constants.
pub fn shown(sample: &Sample) -> Vec<ShownStatistic> {
    let mut list = Vec::new();
    let mut put = |statistic: Statistic, ending: &str, value: String| {
        let name = format!("{}{ending}", statistic.name);
        list.push(ShownStatistic {
            name,
            value,
            statistic,
        });
    };
    for counter in SESSION_COUNTERS {
        put(
            counter.statistic,
            "",
            number(counter.statistic.unit, (counter.read)(sample.counters())),
        );
    }
    for metric in TABLE {
        let unit = metric.statistic.unit;
        let mut put = |ending: &str, value: String| put(metric.statistic, ending, value);
        match metric.reader {
            Reader::Number(read) => put("", number(unit, read(sample))),
            Reader::Real(read) => put("", format!("{:.3}", read(sample))),
            Reader::Text(read) => put("", read(sample)),
            Reader::Histogram(read) => parts(read(sample), put),
            Reader::Classes(read) => {
                let mut together = HistogramSnapshot::default();
                for (_, values) in read(sample) {
                    together.add(&values);
                }
                parts(&together, put);
            }
            Reader::Connection(read) => {
                if let Some(connection) = sample.own_connection() {
                    put("", number(unit, read(connection)));
                }
            }
            Reader::ConnectionText(read) => {
                if let Some(connection) = sample.own_connection() {
                    put("", read(connection));
                }
            }
            Reader::ConnectionReason(read) => {
                if let Some(connection) = sample.own_connection() {
                    put("", read(connection).to_owned());
                }
            }
        }
    }
    list.sort_by_key(|shown| shown.name.to_ascii_lowercase());
    list
}

/// Returns names and values of SHOW STATUS, by name.
pub fn status_variables(sample: &Sample) -> Vec<(String, String)> {
    let mut list: Vec<_> = shown(sample)
        .into_iter()
        .map(|shown| (shown.name, shown.value))
        .collect();
    list.extend(CONSTANTS.lines().map(|line| {
        let (name, value) = line.split_once(' ').unwrap_or((line, ""));
        (name.to_owned(), value.to_owned())
    }));
    list.sort_by_key(|(name, _)| name.to_ascii_lowercase());
    list
}

/// Returns a number as text, a switch as ON or OFF.
fn number(unit: Unit, value: u64) -> String {
    match (unit, value) {
        (Unit::Switch, 0) => "OFF".to_owned(),
        (Unit::Switch, _) => "ON".to_owned(),
        (Unit::FractionalSeconds, _) => format!("{}.{:06}", value / 1_000_000, value % 1_000_000),
        _ => value.to_string(),
    }
}

/// Returns count, average, maximum, and upper bounds of the 50th, 95th and 99th percentile of a histogram.
fn parts(values: &HistogramSnapshot, mut put: impl FnMut(&str, String)) {
    put("_count", values.count().to_string());
    put("_max", values.max.to_string());
    put("_mean", values.mean().to_string());
    for (ending, percent) in [("_p50", 50), ("_p95", 95), ("_p99", 99)] {
        put(ending, values.percentile(percent).to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::metric::Metric;
    use super::*;
    use crate::statistic::Kind;
    use std::collections::HashSet;

    #[test]
    fn no_name_is_declared_twice_and_each_has_a_help() {
        let mut seen = HashSet::new();
        for statistic in all() {
            assert!(
                seen.insert(statistic.name.to_ascii_lowercase()),
                "{}",
                statistic.name
            );
            assert!(statistic.help.ends_with('.'), "{}", statistic.name);
        }
        for line in CONSTANTS.lines() {
            let name = line.split(' ').next().unwrap_or_default();
            assert!(seen.insert(name.to_ascii_lowercase()), "{line}");
        }
    }

    #[test]
    fn kinds_are_those_of_the_readers() {
        for Metric { statistic, reader } in TABLE {
            let is_text = matches!(
                reader,
                Reader::Text(_) | Reader::ConnectionText(_) | Reader::ConnectionReason(_)
            );
            assert_eq!(statistic.kind == Kind::Text, is_text, "{}", statistic.name);
            let is_histogram = matches!(reader, Reader::Histogram(_) | Reader::Classes(_));
            assert_eq!(
                statistic.kind == Kind::Histogram,
                is_histogram,
                "{}",
                statistic.name
            );
        }
    }

    #[test]
    fn names_are_mariadbs_or_begin_with_paceline() {
        for statistic in all() {
            let is_own = statistic.name.starts_with("Paceline_");
            let names_us = statistic.name.to_ascii_lowercase().contains("paceline");
            assert!(is_own || !names_us, "{}", statistic.name);
        }
    }

    /// Set `UPDATE_DOCUMENTS=1` to write the table.
    #[test]
    fn the_document_lists_all_statistics() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/monitoring.md");
        let document = std::fs::read_to_string(path).unwrap();
        let head = "| name | kind | unit | meaning |\n|---|---|---|---|\n";
        let (before, table) = document.split_once(head).unwrap();
        let mut rows: Vec<_> = all()
            .filter(|statistic| !statistic.name.starts_with("Com_"))
            .map(|statistic| {
                let (name, kind, unit) = (statistic.name, statistic.kind.name(), statistic.unit.name());
                format!("| `{name}` | {kind} | {unit} | {} |\n", statistic.help)
            })
            .collect();
        rows.push("| `Com_…` | counter | count | Statements or commands of one kind. |\n".to_owned());
        rows.sort_by_key(|row| row.to_ascii_lowercase());
        let expected = rows.concat();
        if std::env::var_os("UPDATE_DOCUMENTS").is_some() {
            std::fs::write(path, format!("{before}{head}{expected}")).unwrap();
            return;
        }
        assert_eq!(table, expected);
    }
}
