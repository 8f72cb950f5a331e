//! The summary above every view.

use super::super::harmless::harmless;
use super::super::number;
use super::super::reading::Reading;
use super::commits::group_size;
use std::time::Duration;

/// Returns the lines that describe the server as a whole. Their texts are harmless.
pub fn summary(address: &str, reading: &Reading, before: &Reading) -> [String; 2] {
    let identity = &reading.identity;
    let uptime = Duration::from_secs(reading.value("Uptime").unwrap_or_default() as u64);
    let role = match identity.is_read_only {
        true => "read only",
        false => "writable",
    };
    let server = format!(
        "{}  {}  {}  server {}  {role}  up {}",
        harmless(address),
        harmless(&identity.host),
        harmless(&identity.version),
        harmless(&identity.server_id),
        number::duration(uptime)
    );
    let rate = |name: &str| reading.rate(before, name).map_or("-".to_owned(), number::count);
    let value = |name: &str| reading.value(name).map_or("-".to_owned(), number::count);
    let bytes = |name: &str| {
        let rate = reading.rate(before, name);
        rate.map_or("-".to_owned(), |rate| format!("{}/s", number::bytes(rate)))
    };
    let memory = reading.value("Memory_used").map_or("-".to_owned(), number::bytes);
    let group = group_size(reading, before).map_or("-".to_owned(), number::count);
    let load = format!(
        "sessions {} ({} running)  statements/s {}  commits/s {} (group {group})  in {}  out {}  memory {memory}",
        value("Threads_connected"),
        value("Threads_running"),
        rate("Questions"),
        rate("Binlog_commits"),
        bytes("Bytes_received"),
        bytes("Bytes_sent"),
    );
    [server, load]
}
