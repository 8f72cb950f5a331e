//! Resources that this process uses, by the system's account.

use std::fs;

/// Resources in use.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ProcessUsage {
    /// Processor time of all threads, in seconds.
    pub(crate) cpu_seconds: f64,
    /// Resident memory in bytes.
    pub(crate) resident_bytes: u64,
    /// Address space in bytes.
    pub(crate) virtual_bytes: u64,
    /// Number of open file descriptors.
    pub(crate) open_files: u64,
    /// Number of threads.
    pub(crate) threads: u64,
}

/// Returns the resources in use now; 0 for those that the system does not report.
pub(crate) fn read() -> ProcessUsage {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let open_files = fs::read_dir("/proc/self/fd").map_or(0, |files| files.count() as u64);
    ProcessUsage {
        open_files,
        ..parse(&stat)
    }
}

/// Parses /proc/self/stat. The second field is the name of the program in parentheses, and may contain anything.
fn parse(stat: &str) -> ProcessUsage {
    let rest = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    // Fields count from 1, and the first of these is number 3.
    let field = |number: usize| -> u64 {
        let text = fields.get(number - 3);
        text.and_then(|text| text.parse().ok()).unwrap_or(0)
    };
    let ticks_per_second = rustix::param::clock_ticks_per_second().max(1);
    ProcessUsage {
        cpu_seconds: (field(14) + field(15)) as f64 / ticks_per_second as f64,
        resident_bytes: field(24) * rustix::param::page_size() as u64,
        virtual_bytes: field(23),
        open_files: 0,
        threads: field(20),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_process_uses_resources() {
        let usage = read();
        assert!(usage.resident_bytes > 100 << 10 && usage.virtual_bytes >= usage.resident_bytes);
        assert!(usage.open_files > 0 && usage.threads > 0);
    }

    #[test]
    fn a_name_with_spaces_and_parentheses_is_skipped() {
        let mut fields = vec!["S"; 1];
        fields.extend(["0"; 40]);
        fields[17] = "7";
        let stat = format!("1 (a) b) {}", fields.join(" "));
        assert_eq!(parse(&stat).threads, 7);
    }
}
