//! Memory limits and usage of the process.

use std::fs;

/// Assumed memory in bytes if the system does not report it.
const BYTES_ASSUMED: u64 = 4 << 30;

/// Returns the memory available to this process in bytes: that of the machine, or of its control group.
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

/// Resident memory of the process, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Resident {
    /// Memory that belongs to no file: heap, stacks, data.
    pub anonymous: u64,
    /// Pages of mapped files, and memory that is shared between processes.
    pub mapped: u64,
}

/// Returns the resident memory of this process; zeros if the system does not report it.
pub fn resident() -> Resident {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let bytes = |name| kilobytes(&status, name).map_or(0, |kilobytes| kilobytes << 10);
    Resident {
        anonymous: bytes("RssAnon:"),
        mapped: bytes("RssFile:") + bytes("RssShmem:"),
    }
}

/// Parses the total memory in bytes from /proc/meminfo.
fn total(text: &str) -> Option<u64> {
    kilobytes(text, "MemTotal:").map(|kilobytes| kilobytes << 10)
}

fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_from_the_system() {
        assert_eq!(
            total("MemTotal:       24683648 kB\nMemFree: 1 kB\n"),
            Some(24_683_648 << 10)
        );
        assert_eq!(total("MemFree: 1 kB"), None);
        assert!(machine_bytes() > 64 << 20);
        assert!(resident().anonymous > 100 << 10 && resident().mapped > 100 << 10);
    }
}
