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
use paceline_http_endpoint::{Exposition, SampleKind};
use paceline_replication::connection::ConnectionStatus;
use paceline_replication::status::ReceiverState;
use std::time::{SystemTime, UNIX_EPOCH};

/// Families whose members are one metric with a label: beginning of the members' names, name of the family, its label,
/// kind and help.
const FAMILIES: [(&str, &str, &str, SampleKind, &str); 5] = [
    (
        "com_",
        "mysql_global_status_commands_total",
        "command",
        SampleKind::Counter,
        "Executed statements and commands of each kind.",
    ),
    (
        "connection_errors_",
        "mysql_global_status_connection_errors_total",
        "error",
        SampleKind::Counter,
        "Connections that failed, by the cause.",
    ),
    (
        "handler_",
        "mysql_global_status_handlers_total",
        "handler",
        SampleKind::Counter,
        "Operations on rows of each kind.",
    ),
    (
        "innodb_buffer_pool_pages_",
        "mysql_global_status_buffer_pool_pages",
        "state",
        SampleKind::Gauge,
        "Pages of 16 KiB of the block cache, by their state.",
    ),
    (
        "performance_schema_",
        "mysql_global_status_performance_schema_lost_total",
        "instrumentation",
        SampleKind::Counter,
        "Events that were not counted because of a limit, by their kind.",
    ),
];

/// Pages that mysqld_exporter shows under a name of their own, or not at all because they are a sum of others.
const DIRTY_PAGES: &str = "innodb_buffer_pool_pages_dirty";
const DIRTY_PAGES_NAME: &str = "mysql_global_status_buffer_pool_dirty_pages";
const TOTAL_PAGES: &str = "innodb_buffer_pool_pages_total";

/// Returns the statistics of a server in Prometheus' text format.
pub fn exposition(sample: &Sample) -> String {
    let mut exposition = Exposition::default();
    exposition.add("mysql_up", SampleKind::Gauge, "Whether the server is up.", &[], 1);
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
    exposition.add_process();
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
    exposition.add("mysql_version_info", SampleKind::Gauge, help, &labels, 1);
}

/// Returns the kind of samples. Texts are shown as labels of a gauge.
fn sample_kind(kind: Kind) -> SampleKind {
    match kind {
        Kind::Counter => SampleKind::Counter,
        Kind::Histogram => SampleKind::Histogram,
        Kind::Gauge | Kind::Text => SampleKind::Gauge,
    }
}

/// Adds a statistic of the table. Texts are no numbers and left out.
fn add_metric(metric: &Metric, sample: &Sample, exposition: &mut Exposition) {
    let Metric { statistic, reader } = metric;
    match reader {
        Reader::Number(read) => add_number(statistic, read(sample), exposition),
        Reader::Real(read) => {
            let name = sample_name(statistic);
            exposition.add(
                &name,
                sample_kind(statistic.kind),
                statistic.help,
                &[],
                read(sample),
            );
        }
        Reader::Histogram(read) => {
            let (name, scale) = base_unit(statistic);
            let values = read(sample);
            exposition.add_histogram(&name, statistic.help, &[], (&values.buckets, values.sum), scale);
        }
        Reader::Classes(read) => {
            let (name, scale) = base_unit(statistic);
            for (class, values) in read(sample) {
                let labels = [("class", class)];
                let values = (&values.buckets[..], values.sum);
                exposition.add_histogram(&name, statistic.help, &labels, values, scale);
            }
        }
        Reader::Connection(read) => {
            let name = sample_name(statistic);
            for status in &sample.connections {
                let labels = [("connection_name", &*status.name)];
                exposition.add(
                    &name,
                    sample_kind(statistic.kind),
                    statistic.help,
                    &labels,
                    read(status),
                );
            }
        }
        Reader::ConnectionReason(read) => {
            for status in &sample.connections {
                let labels = [("connection_name", &*status.name), ("reason", read(status))];
                exposition.add(
                    &sample_name(statistic),
                    SampleKind::Gauge,
                    statistic.help,
                    &labels,
                    1,
                );
            }
        }
        Reader::Text(_) | Reader::ConnectionText(_) => {}
    }
}

fn add_number(statistic: &Statistic, value: u64, exposition: &mut Exposition) {
    let Statistic { help, .. } = *statistic;
    let kind = sample_kind(statistic.kind);
    let lower = statistic.name.to_ascii_lowercase();
    if lower == TOTAL_PAGES {
        return;
    }
    if statistic.unit == Unit::FractionalSeconds {
        let seconds = value as f64 / 1e6;
        return exposition.add(&sample_name(statistic), kind, help, &[], seconds);
    }
    if statistic.unit == Unit::Microseconds && lower.ends_with("_usec") {
        // A gauge: the name of a counter would end with `_total`.
        let (name, scale) = base_unit(statistic);
        return exposition.add(&name, kind, help, &[], value as f64 * scale);
    }
    if lower == DIRTY_PAGES {
        return exposition.add(DIRTY_PAGES_NAME, kind, help, &[], value);
    }
    let member = |family: &(&str, &'static str, &'static str, SampleKind, &'static str)| {
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
        exposition.add(&name, SampleKind::Gauge, &help, &labels, value);
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
            exposition.add(&name, SampleKind::Gauge, &help, &[], shown);
        }
    }
}

/// Adds what the memory of the process is used for.
fn add_memory(exposition: &mut Exposition, sample: &Sample) {
    for part in memory_usage(&sample.server) {
        let labels = [("purpose", part.purpose.name())];
        let help = "Memory of the process by purpose; their sum is process_resident_memory_bytes.";
        exposition.add(
            "paceline_memory_bytes",
            SampleKind::Gauge,
            help,
            &labels,
            part.bytes,
        );
        if let Some(limit) = part.limit {
            let help = "Limit of the memory for a purpose.";
            exposition.add(
                "paceline_memory_purpose_limit_bytes",
                SampleKind::Gauge,
                help,
                &labels,
                limit,
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
