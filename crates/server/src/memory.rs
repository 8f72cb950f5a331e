//! How much memory there is.

use std::fs;

/// Where nobody says.
const BYTES_ASSUMED: u64 = 4 << 30;

/// How much this process may have, in bytes: the machine's memory, or that of its control group.
pub fn machine_bytes() -> u64 {
    let machine = fs::read_to_string("/proc/meminfo").ok();
    let groups = ["memory.max", "memory/memory.limit_in_bytes"]
        .map(|file| fs::read_to_string(format!("/sys/fs/cgroup/{file}")).ok());
    let groups = groups
        .iter()
        .flatten()
        .filter_map(|text| text.trim().parse().ok());
    machine
        .as_deref()
        .and_then(total)
        .into_iter()
        .chain(groups)
        .min()
        .unwrap_or(BYTES_ASSUMED)
}

/// What /proc/meminfo says, in bytes.
fn total(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_some() {
        assert_eq!(
            total("MemTotal:       24683648 kB\nMemFree: 1 kB\n"),
            Some(24_683_648 << 10)
        );
        assert_eq!(total("MemFree: 1 kB"), None);
        assert!(machine_bytes() > 64 << 20);
    }
}
