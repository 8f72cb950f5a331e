//! The machine that the figures belong to, and what its threads do.

use std::fs;
use std::io;
use std::path::Path;
use std::thread;
use std::time::Duration;

/// Describes the machine: processor, kernel, compiler, and how busy it is.
pub fn description() -> String {
    let mut lines = vec![
        ("processor", processor()),
        ("frequency", frequency()),
        ("processors", processors().to_string()),
        ("kernel", kernel()),
        ("C library", c_library()),
        ("compiler", env!("LAB_RUSTC").to_owned()),
        ("load", load()),
    ];
    lines.retain(|(_, value)| !value.is_empty());
    let mut text = String::new();
    for (name, value) in lines {
        text.push_str(&format!("{name:<12}{value}\n"));
    }
    text
}

/// Returns the number of processors that this process may use.
pub fn processors() -> usize {
    thread::available_parallelism().map_or(1, |count| count.get())
}

/// Returns type and device of the file system that a directory is on.
///
/// # Errors
/// Those of reading /proc, and if the directory does not exist.
pub fn file_system(directory: &Path) -> io::Result<String> {
    let directory = directory
        .canonicalize()
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", directory.display())))?;
    let mounts = fs::read_to_string("/proc/self/mounts")?;
    Ok(file_system_of(&directory, &mounts).unwrap_or_else(|| "an unknown file system".to_owned()))
}

/// Finds the file system in the kernel's list, in which a later mount hides an earlier one.
fn file_system_of(directory: &Path, mounts: &str) -> Option<String> {
    let mounts = mounts.lines().filter_map(|line| {
        let mut fields = line.split(' ');
        let (device, place, name) = (fields.next()?, fields.next()?, fields.next()?);
        let is_above = directory.starts_with(place);
        is_above.then(|| (place.len(), format!("{name} of {device}")))
    });
    mounts.max_by_key(|(length, _)| *length).map(|(_, name)| name)
}

fn processor() -> String {
    // ARM's kernels name no model.
    processor_field("model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned())
}

/// Returns a field of the first processor in /proc/cpuinfo.
fn processor_field(name: &str) -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let lines = text.lines().filter_map(|line| line.split_once(':'));
    let mut fields = lines.filter(|(field, _)| field.trim() == name);
    fields.next().map(|(_, value)| value.trim().to_owned())
}

/// Returns the highest frequency, or that of the moment, or nothing if the kernel knows none.
fn frequency() -> String {
    let highest = fs::read_to_string("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq").ok();
    let highest = highest.and_then(|text| text.trim().parse::<f64>().ok());
    match highest {
        Some(kilohertz) => format!("at most {:.0} MHz", kilohertz / 1000.0),
        None => processor_field("cpu MHz").map_or(String::new(), |megahertz| format!("{megahertz} MHz now")),
    }
}

fn kernel() -> String {
    let name = rustix::system::uname();
    let part = |text: &std::ffi::CStr| text.to_string_lossy().into_owned();
    format!(
        "{} {} {}",
        part(name.sysname()),
        part(name.release()),
        part(name.machine())
    )
}

/// Returns name and version of the C library, which brings the pthread mutex.
fn c_library() -> String {
    let Ok(output) = std::process::Command::new("getconf")
        .arg("GNU_LIBC_VERSION")
        .output()
    else {
        return String::new();
    };
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn load() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let minute = text.split(' ').next().unwrap_or_default();
    match minute.is_empty() {
        true => String::new(),
        false => {
            format!("{minute} runnable threads on average of the last minute, before the first experiment")
        }
    }
}

/// Waits until every thread of this process except the calling one sleeps.
///
/// # Errors
/// Those of reading /proc.
pub fn await_sleeping_threads() -> io::Result<()> {
    while awake_threads()? > 1 {
        thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

/// Returns the number of threads of this process that do not sleep; the calling one is one of them.
fn awake_threads() -> io::Result<usize> {
    let mut awake = 0;
    for task in fs::read_dir("/proc/self/task")? {
        // A thread that has ended has no file.
        let Ok(stat) = fs::read_to_string(task?.path().join("stat")) else {
            continue;
        };
        // The name before the state may contain anything, parentheses too.
        let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
        awake += usize::from(state != Some('S'));
    }
    Ok(awake)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_description_names_kernel_and_compiler() {
        let text = description();
        assert!(text.contains("kernel      Linux"), "{text}");
        assert!(text.contains("compiler    rustc"), "{text}");
    }

    #[test]
    fn the_file_system_is_that_of_the_nearest_mount() {
        let mounts = "/dev/a / ext4 rw\nshm /data tmpfs rw\n/dev/b /data xfs rw\n/dev/c /dat nfs rw\n";
        let name = |directory| file_system_of(Path::new(directory), mounts).unwrap();
        assert_eq!(name("/data/x"), "xfs of /dev/b");
        assert_eq!(name("/database"), "ext4 of /dev/a");
    }

    #[test]
    fn the_calling_thread_is_awake() {
        assert!(awake_threads().unwrap() >= 1);
    }
}
