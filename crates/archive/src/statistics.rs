//! Every statistic of an archive, declared once: name in SHOW STATUS, name in Prometheus, kind, help.

use crate::archive::Archive;
use crate::clock::unix_seconds;
use crate::follow::Follower;
use crate::follow::status::{FollowState, FollowStatus};
use paceline_http_endpoint::{Exposition, SampleKind};
use std::sync::atomic::{AtomicU64, Ordering};

/// A statistic with its value.
pub struct Statistic {
    /// Name in SHOW STATUS.
    pub name: &'static str,
    /// Name in Prometheus.
    sample: &'static str,
    help: &'static str,
    /// Its value now.
    pub value: Value,
}

/// Value of a statistic.
pub enum Value {
    /// It only increases, until the archive ends.
    Counter(u64),
    /// It goes up and down.
    Gauge(u64),
    /// ON or OFF; 1 or 0 in Prometheus.
    Switch(bool),
    /// A text, which Prometheus does not get.
    Text(String),
    /// The text of a problem, empty without one; 1 or 0 in Prometheus.
    Problem(String),
}

/// Returns the statistics, by name.
pub fn statistics(archive: &Archive) -> Vec<Statistic> {
    statistics_with(archive, &statuses(archive))
}

/// Returns the states of all connections to primaries, in the order of the followers.
fn statuses(archive: &Archive) -> Vec<FollowStatus> {
    archive.followers.iter().map(|one| one.status()).collect()
}

fn statistics_with(archive: &Archive, followers: &[FollowStatus]) -> Vec<Statistic> {
    let mut list = Vec::new();
    let mut put = |name, sample, help, value| {
        list.push(Statistic {
            name,
            sample,
            help,
            value,
        });
    };
    let sum = |of: fn(&FollowStatus) -> u64| followers.iter().map(of).sum::<u64>();
    let log = &archive.context.log;
    let files = log.files();
    let connected = followers
        .iter()
        .filter(|status| status.state == FollowState::Connected);
    put(
        "Paceline_archive_files",
        "paceline_archive_files",
        "Log files.",
        Value::Gauge(files.len() as u64),
    );
    put(
        "Paceline_archive_file_bytes",
        "paceline_archive_file_bytes",
        "Bytes of the log before compression.",
        Value::Gauge(files.iter().map(|file| file.length).sum()),
    );
    put(
        "Paceline_archive_oldest",
        "",
        "",
        Value::Text(log.oldest_state().position().to_string()),
    );
    put(
        "Paceline_archive_position",
        "",
        "",
        Value::Text(archive.context.position().to_string()),
    );
    put(
        "Paceline_archive_primaries",
        "paceline_archive_primaries",
        "Primaries that are followed.",
        Value::Gauge(followers.len() as u64),
    );
    put(
        "Paceline_archive_primaries_connected",
        "paceline_archive_primaries_connected",
        "Primaries to which there is a connection.",
        Value::Gauge(connected.count() as u64),
    );
    put(
        "Paceline_archive_received_bytes",
        "paceline_archive_received_bytes_total",
        "Bytes of events received from primaries.",
        Value::Counter(sum(|status| status.bytes)),
    );
    put(
        "Paceline_archive_received_transactions",
        "paceline_archive_received_transactions_total",
        "Transactions received from primaries.",
        Value::Counter(sum(|status| status.groups)),
    );
    put(
        "Paceline_archive_waiting_transactions",
        "paceline_archive_waiting_transactions",
        "Transactions that are received and not durable.",
        Value::Gauge(sum(|status| status.waiting)),
    );
    put(
        "Rpl_semi_sync_slave_send_ack",
        "paceline_archive_acknowledgements_total",
        "Acknowledgements sent to primaries.",
        Value::Counter(sum(|status| status.acknowledgements)),
    );
    put(
        "Rpl_semi_sync_slave_status",
        "paceline_archive_semi_sync",
        "Whether a primary may wait for acknowledgements.",
        Value::Switch(followers.iter().any(|status| status.semi_sync)),
    );
    put(
        "Slave_connections",
        "paceline_archive_connects_total",
        "Connections made to primaries.",
        Value::Counter(sum(|status| status.connects)),
    );
    put(
        "Threads_connected",
        "paceline_archive_clients",
        "Sessions of replicas and operators.",
        Value::Gauge(archive.sessions.count() as u64),
    );
    put(
        "Uptime",
        "paceline_archive_uptime_seconds",
        "Time since the start of the archive.",
        Value::Gauge(archive.started.elapsed().as_secs()),
    );
    if let Some(writer) = &*archive.context.writer.lock() {
        let counters = writer.counters();
        let count = |counter: &AtomicU64| Value::Counter(counter.load(Ordering::Relaxed));
        put(
            "Paceline_archive_disk_full",
            "paceline_archive_disk_full",
            "Whether nothing is acknowledged because the disk is full.",
            Value::Switch(counters.is_full.load(Ordering::Relaxed)),
        );
        put(
            "Paceline_archive_duplicates",
            "paceline_archive_duplicates_total",
            "Transactions that were dropped because the log had them.",
            count(&counters.duplicates),
        );
        put(
            "Paceline_archive_syncs",
            "paceline_archive_syncs_total",
            "Syncs of the log.",
            count(&counters.syncs),
        );
        put(
            "Paceline_archive_written_bytes",
            "paceline_archive_written_bytes_total",
            "Bytes of transactions written to the log.",
            count(&counters.bytes),
        );
        put(
            "Paceline_archive_written_transactions",
            "paceline_archive_written_transactions_total",
            "Transactions written to the log.",
            count(&counters.groups),
        );
    }
    if let Some(retention) = &archive.retention {
        let kept = retention.status();
        put(
            "Paceline_archive_compressed_files",
            "paceline_archive_compressed_files",
            "Compressed files.",
            Value::Gauge(kept.compressed),
        );
        put(
            "Paceline_archive_keeper_error",
            "paceline_archive_keeper_failed",
            "Whether closed files could not be compressed, copied or removed.",
            Value::Problem(kept.error),
        );
        put(
            "Paceline_archive_local_bytes",
            "paceline_archive_local_bytes",
            "Bytes of the files on this disk.",
            Value::Gauge(kept.local_bytes),
        );
        put(
            "Paceline_archive_remote_files",
            "paceline_archive_remote_files",
            "Files that are only in object storage.",
            Value::Gauge(kept.remote),
        );
        put(
            "Paceline_archive_uploaded_files",
            "paceline_archive_uploaded_files",
            "Files in object storage.",
            Value::Gauge(kept.uploaded),
        );
    }
    list.sort_by_key(|statistic| statistic.name);
    list
}

/// Returns the statistics in Prometheus' text format.
pub fn exposition(archive: &Archive) -> String {
    let mut exposition = Exposition::default();
    let followers = statuses(archive);
    for statistic in statistics_with(archive, &followers) {
        let (kind, number) = match statistic.value {
            Value::Counter(number) => (SampleKind::Counter, number),
            Value::Gauge(number) => (SampleKind::Gauge, number),
            Value::Switch(is_on) => (SampleKind::Gauge, u64::from(is_on)),
            Value::Problem(text) => (SampleKind::Gauge, u64::from(!text.is_empty())),
            Value::Text(_) => continue,
        };
        exposition.add(statistic.sample, kind, statistic.help, &[], number);
    }
    let version = crate::archive::version();
    let help = "Version of the archive.";
    let labels = [("version", version.as_str())];
    exposition.add(
        "paceline_archive_version_info",
        SampleKind::Gauge,
        help,
        &labels,
        1,
    );
    for (follower, status) in archive.followers.iter().zip(&followers) {
        add_primary(follower, status, &mut exposition);
    }
    exposition.add_process();
    exposition.text()
}

/// Adds the values of one primary.
fn add_primary(follower: &Follower, status: &FollowStatus, exposition: &mut Exposition) {
    let address = status
        .address
        .as_ref()
        .unwrap_or(&follower.candidates().0[0])
        .to_string();
    let labels = [
        ("connection_name", follower.name()),
        ("primary", address.as_str()),
    ];
    let mut add = |name: &str, help: &str, value: u64| {
        exposition.add(name, SampleKind::Gauge, help, &labels, value);
    };
    add(
        "paceline_archive_primary_connected",
        "Whether there is a connection to this primary.",
        u64::from(status.state == FollowState::Connected),
    );
    add(
        "paceline_archive_primary_error_number",
        "Number of the last error of this connection; 0 after a success.",
        u64::from(status.error_number),
    );
    add(
        "paceline_archive_primary_waiting_transactions",
        "Transactions of this primary that are received and not durable.",
        status.waiting,
    );
    if let Some(seconds) = status.seconds_behind(unix_seconds()) {
        add(
            "paceline_archive_primary_seconds_behind",
            "Age of the newest transaction that is received and not durable; 0 without one.",
            seconds,
        );
    }
}
