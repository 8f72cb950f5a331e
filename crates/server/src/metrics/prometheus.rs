//! The statistics in Prometheus' text format (version 0.0.4).
//!
//! MariaDB's status variables have the names that `mysqld_exporter` gives them, so that dashboards and alert rules made
//! for it work without it: `mysql_global_status_…`, with the families `commands_total`, `handlers_total` and others
//! that it forms from parts of names; numbers and switches of `SHOW VARIABLES` are `mysql_global_variables_…`, and the
//! connections to primaries `mysql_slave_status_…`. Values under these names have MariaDB's units. Our own are
//! `paceline_…`, in the base units that Prometheus wants: seconds and bytes.
//!
//! Sources: <https://prometheus.io/docs/instrumenting/exposition_formats/>, and `collector/global_status.go`,
//! `global_variables.go` and `slave_status.go` of mysqld_exporter.

use super::metric::{Metric, Reader};
use super::sample::Sample;
use super::table::TABLE as METRICS;
use crate::memory_control::memory_usage;
use crate::statistic::{Kind, Statistic, Unit};
use crate::status::SESSION_COUNTERS;
use crate::variables::{Kind as VariableKind, TABLE, Variable};
use paceline_replication::connection::ConnectionStatus;
use paceline_replication::status::ReceiverState;
use paceline_txn::HistogramSnapshot;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::{SystemTime, UNIX_EPOCH};

/// Media type of the format.
pub const MEDIA_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Families whose members are one metric with a label: beginning of the members' names, name of the family, its label,
/// kind and help.
const FAMILIES: [(&str, &str, &str, Kind, &str); 5] = [
    (
        "com_",
        "mysql_global_status_commands_total",
        "command",
        Kind::Counter,
        "Executed statements and commands of each kind.",
    ),
    (
        "connection_errors_",
        "mysql_global_status_connection_errors_total",
        "error",
        Kind::Counter,
        "Connections that failed, by the cause.",
    ),
    (
        "handler_",
        "mysql_global_status_handlers_total",
        "handler",
        Kind::Counter,
        "Operations on rows of each kind.",
    ),
    (
        "innodb_buffer_pool_pages_",
        "mysql_global_status_buffer_pool_pages",
        "state",
        Kind::Gauge,
        "Pages of 16 KiB of the block cache, by their state.",
    ),
    (
        "performance_schema_",
        "mysql_global_status_performance_schema_lost_total",
        "instrumentation",
        Kind::Counter,
        "Events that were not counted because of a limit, by their kind.",
    ),
];

/// Pages that mysqld_exporter shows under a name of their own, or not at all because they are a sum of others.
const DIRTY_PAGES: &str = "innodb_buffer_pool_pages_dirty";
const DIRTY_PAGES_NAME: &str = "mysql_global_status_buffer_pool_dirty_pages";
const TOTAL_PAGES: &str = "innodb_buffer_pool_pages_total";

/// Samples of one name.
struct Family {
    kind: Kind,
    help: String,
    lines: String,
}

/// Text of an exposition while it is built. Samples of a family must stand together, whatever order they come in.
#[derive(Default)]
struct Exposition {
    families: BTreeMap<String, Family>,
}

/// Labels of a sample: names and values.
type Labels<'a> = &'a [(&'a str, &'a str)];

impl Exposition {
    fn family(&mut self, name: &str, kind: Kind, help: &str) -> &mut String {
        let family = self.families.entry(name.to_owned()).or_insert_with(|| Family {
            kind,
            help: help.to_owned(),
            lines: String::new(),
        });
        &mut family.lines
    }

    fn add(&mut self, name: &str, kind: Kind, help: &str, labels: Labels<'_>, value: impl std::fmt::Display) {
        let lines = self.family(name, kind, help);
        line(lines, name, labels, value);
    }

    fn add_histogram(&mut self, name: &str, help: &str, values: &HistogramSnapshot, scale: f64) {
        let lines = self.family(name, Kind::Histogram, help);
        let mut sum = 0;
        let last = values.buckets.iter().rposition(|count| *count > 0).unwrap_or(0);
        for (bucket, count) in values.buckets.iter().enumerate().take(last + 1) {
            sum += count;
            let bound = ((1_u64 << bucket) - 1) as f64 * scale;
            let bound = bound.to_string();
            line(lines, &format!("{name}_bucket"), &[("le", &bound)], sum);
        }
        line(lines, &format!("{name}_bucket"), &[("le", "+Inf")], sum);
        line(lines, &format!("{name}_sum"), &[], values.sum as f64 * scale);
        line(lines, &format!("{name}_count"), &[], sum);
    }

    fn text(self) -> String {
        let mut text = String::new();
        for (name, family) in self.families {
            let kind = match family.kind {
                Kind::Text => Kind::Gauge.name(),
                kind => kind.name(),
            };
            let _ = writeln!(text, "# HELP {name} {}", family.help.replace('\\', "\\\\"));
            let _ = writeln!(text, "# TYPE {name} {kind}");
            text.push_str(&family.lines);
        }
        text
    }
}

/// Adds a line with one value.
fn line(lines: &mut String, name: &str, labels: Labels<'_>, value: impl std::fmt::Display) {
    lines.push_str(name);
    for (number, (label, text)) in labels.iter().enumerate() {
        let text = text
            .replace('\\', "\\\\")
            .replace('"', "\\\"")
            .replace('\n', "\\n");
        let open = if number == 0 { '{' } else { ',' };
        let _ = write!(lines, "{open}{label}=\"{text}\"");
    }
    if !labels.is_empty() {
        lines.push('}');
    }
    let _ = writeln!(lines, " {value}");
}

/// Returns the statistics of a server in Prometheus' text format.
pub fn exposition(sample: &Sample) -> String {
    let mut exposition = Exposition::default();
    exposition.add("mysql_up", Kind::Gauge, "Whether the server is up.", &[], 1);
    versions(sample, &mut exposition);
    for counter in SESSION_COUNTERS {
        add_number(
            &counter.statistic,
            (counter.read)(&sample.totals),
            &mut exposition,
        );
    }
    for metric in METRICS {
        add_metric(metric, sample, &mut exposition);
    }
    for status in &sample.connections {
        add_connection(status, &mut exposition);
    }
    add_variables(sample, &mut exposition);
    add_process(&mut exposition);
    add_memory(&mut exposition, sample);
    exposition.text()
}

fn versions(sample: &Sample, exposition: &mut Exposition) {
    let text = |variable: Variable| sample.server.globals.get(variable).as_str().to_owned();
    let labels = [
        ("innodb_version", text(Variable::InnodbVersion)),
        ("version", text(Variable::Version)),
        ("version_comment", text(Variable::VersionComment)),
    ];
    let labels = labels.each_ref().map(|(name, value)| (*name, value.as_str()));
    let help = "Version of the server.";
    exposition.add("mysql_version_info", Kind::Gauge, help, &labels, 1);
}

/// Adds a statistic of the table. Texts are no numbers and left out.
fn add_metric(metric: &Metric, sample: &Sample, exposition: &mut Exposition) {
    let Metric { statistic, reader } = metric;
    match reader {
        Reader::Number(read) => add_number(statistic, read(sample), exposition),
        Reader::Real(read) => {
            let name = sample_name(statistic);
            exposition.add(&name, statistic.kind, statistic.help, &[], read(sample));
        }
        Reader::Histogram(read) => {
            let (name, scale) = base_unit(statistic);
            exposition.add_histogram(&name, statistic.help, read(sample), scale);
        }
        Reader::Connection(read) => {
            let name = sample_name(statistic);
            for status in &sample.connections {
                let labels = [("connection_name", &*status.name)];
                exposition.add(&name, statistic.kind, statistic.help, &labels, read(status));
            }
        }
        Reader::Text(_) | Reader::ConnectionText(_) => {}
    }
}

fn add_number(statistic: &Statistic, value: u64, exposition: &mut Exposition) {
    let Statistic { kind, help, .. } = *statistic;
    let lower = statistic.name.to_ascii_lowercase();
    if lower == TOTAL_PAGES {
        return;
    }
    if lower == DIRTY_PAGES {
        return exposition.add(DIRTY_PAGES_NAME, kind, help, &[], value);
    }
    let member = |family: &(&str, &'static str, &'static str, Kind, &'static str)| {
        let rest = lower.strip_prefix(family.0)?;
        Some((family.1, [(family.2, rest.to_owned())], family.3, family.4))
    };
    match FAMILIES.iter().find_map(member) {
        Some((name, [(label, rest)], kind, help)) => {
            exposition.add(name, kind, help, &[(label, &rest)], value)
        }
        None => exposition.add(&sample_name(statistic), kind, help, &[], value),
    }
}

/// Returns the name of a single value.
fn sample_name(statistic: &Statistic) -> String {
    let lower = statistic.name.to_ascii_lowercase();
    match lower.strip_prefix("paceline_") {
        None => format!("mysql_global_status_{lower}"),
        Some(_) if statistic.kind == Kind::Counter => format!("{lower}_total"),
        Some(_) => lower,
    }
}

/// Returns the name in the base unit, and the factor by which values are multiplied.
fn base_unit(statistic: &Statistic) -> (String, f64) {
    let lower = statistic.name.to_ascii_lowercase();
    match (statistic.unit, lower.strip_suffix("_usec")) {
        (Unit::Microseconds, Some(stem)) => (format!("{stem}_seconds"), 1e-6),
        _ => (lower, 1.0),
    }
}

/// Adds columns of SHOW SLAVE STATUS.
fn add_connection(status: &ConnectionStatus, exposition: &mut Exposition) {
    let labels = [
        ("channel_name", ""),
        ("connection_name", &*status.name),
        ("master_host", status.definition.host.as_str()),
        ("master_uuid", ""),
    ];
    let mut add = |column: &str, value: u64| {
        let name = format!("mysql_slave_status_{column}");
        let help = format!("Column {column} of SHOW SLAVE STATUS.");
        exposition.add(&name, Kind::Gauge, &help, &labels, value);
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    if let Some(seconds) = status.seconds_behind(now.as_secs()) {
        add("seconds_behind_master", seconds);
    }
    add(
        "slave_io_running",
        u64::from(status.receiver.state == ReceiverState::Connected),
    );
    add("slave_sql_running", u64::from(status.applier_runs));
    add("read_master_log_pos", status.receiver.read.offset);
    add("relay_log_space", status.applier.queued_bytes);
    add("last_io_errno", u64::from(status.receiver.error.number));
    add("master_server_id", u64::from(status.receiver.master_server_id));
}

/// Adds the global variables that are numbers or switches, and have an effect.
fn add_variables(sample: &Sample, exposition: &mut Exposition) {
    for row in TABLE {
        let is_number = matches!(
            row.kind,
            VariableKind::Boolean
                | VariableKind::Integer { .. }
                | VariableKind::Unsigned { .. }
                | VariableKind::Double { .. }
        );
        if !is_number || row.scope == crate::variables::Scope::SessionOnly {
            continue;
        }
        let value = sample.server.globals.get(row.variable);
        let shown = match row.kind {
            VariableKind::Boolean => u64::from(sample.server.globals.is_on(row.variable)).to_string(),
            _ => row.show(&value).unwrap_or_default(),
        };
        if shown.parse::<f64>().is_ok() {
            let name = format!("mysql_global_variables_{}", row.name);
            let help = format!("System variable {}.", row.name);
            exposition.add(&name, Kind::Gauge, &help, &[], shown);
        }
    }
}

/// Adds what the memory of the process is used for.
fn add_memory(exposition: &mut Exposition, sample: &Sample) {
    for part in memory_usage(&sample.server) {
        let labels = [("purpose", part.purpose.name())];
        let help = "Memory of the process by purpose; their sum is process_resident_memory_bytes.";
        exposition.add("paceline_memory_bytes", Kind::Gauge, help, &labels, part.bytes);
        if let Some(limit) = part.limit {
            let help = "Limit of the memory for a purpose.";
            exposition.add(
                "paceline_memory_purpose_limit_bytes",
                Kind::Gauge,
                help,
                &labels,
                limit,
            );
        }
    }
}

/// Adds the process' own figures under their usual names.
fn add_process(exposition: &mut Exposition) {
    let usage = crate::process_usage::read();
    let mut add =
        |name: &str, kind: Kind, help: &str, value: f64| exposition.add(name, kind, help, &[], value);
    let (counter, gauge) = (Kind::Counter, Kind::Gauge);
    add(
        "process_cpu_seconds_total",
        counter,
        "Processor time of the process.",
        usage.cpu_seconds,
    );
    add(
        "process_resident_memory_bytes",
        gauge,
        "Memory of the process.",
        usage.resident_bytes as f64,
    );
    add(
        "process_virtual_memory_bytes",
        gauge,
        "Address space of the process.",
        usage.virtual_bytes as f64,
    );
    add(
        "process_open_fds",
        gauge,
        "Open file descriptors.",
        usage.open_files as f64,
    );
    add(
        "process_threads",
        gauge,
        "Threads of the process.",
        usage.threads as f64,
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_escaped_and_families_stand_together() {
        let mut exposition = Exposition::default();
        exposition.add("b", Kind::Gauge, "B.", &[("name", "a\"b\\c\nd")], 1);
        exposition.add("a", Kind::Counter, "A.", &[], 2);
        exposition.add("b", Kind::Gauge, "B.", &[], 3);
        assert_eq!(
            exposition.text(),
            "# HELP a A.\n# TYPE a counter\na 2\n# HELP b B.\n# TYPE b gauge\nb{name=\"a\\\"b\\\\c\\nd\"} 1\nb 3\n"
        );
    }

    #[test]
    fn buckets_are_cumulative_and_in_seconds() {
        let mut values = HistogramSnapshot {
            buckets: [0; paceline_txn::HISTOGRAM_BUCKETS],
            sum: 5,
            max: 3,
        };
        values.buckets[1] = 2;
        values.buckets[2] = 1;
        let mut exposition = Exposition::default();
        exposition.add_histogram("x_seconds", "X.", &values, 1e-6);
        let text = exposition.text();
        for expected in [
            "x_seconds_bucket{le=\"0\"} 0\n",
            "x_seconds_bucket{le=\"0.000001\"} 2\n",
            "x_seconds_bucket{le=\"+Inf\"} 3\n",
            "x_seconds_count 3\n",
        ] {
            assert!(text.contains(expected), "{expected}{text}");
        }
    }

    #[test]
    fn names_are_those_of_the_exporter() {
        let find = |wanted: &str| {
            let found = METRICS.iter().find(|metric| metric.statistic.name == wanted);
            found.unwrap().statistic
        };
        let name = |wanted: &str| sample_name(&find(wanted));
        assert_eq!(name("Threads_connected"), "mysql_global_status_threads_connected");
        assert_eq!(name("Paceline_checkpoints"), "paceline_checkpoints_total");
        assert_eq!(name("Paceline_open_transactions"), "paceline_open_transactions");
        assert_eq!(
            base_unit(&find("Paceline_commit_usec")),
            ("paceline_commit_seconds".to_owned(), 1e-6)
        );
    }
}
