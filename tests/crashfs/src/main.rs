//! `crashfs MOUNTPOINT`: a file system in memory that can lose power, for tests that crash a whole machine.
//!
//! It mounts, prints `mounted`, and then reads commands from standard input, answering each with one line:
//!
//! ```text
//! crash SEED       lose power: what was not synced is kept, dropped, torn or reordered by SEED (kill the processes first)
//! fail-sync N      the Nth sync of a file from now fails with EIO (0: the next one)
//! capacity BYTES   writes that would take more get ENOSPC
//! used             how many bytes files hold together
//! syncs            how many syncs of files there were
//! ```
//! At the end of input it unmounts and ends; what it held is gone.

use std::io::{BufRead, Write};
use std::sync::{Arc, Mutex, PoisonError};

use fuser::{Config, MountOption};

mod disk;
mod filesystem;

use disk::Disk;
use filesystem::CrashFs;

fn obey(disk: &Mutex<Disk>, line: &str) -> String {
    let mut disk = disk.lock().unwrap_or_else(PoisonError::into_inner);
    let mut words = line.split_whitespace();
    let (command, number) = (words.next().unwrap_or(""), words.next().map(str::parse::<u64>));
    match (command, number) {
        ("crash", Some(Ok(seed))) => disk.crash(seed),
        ("fail-sync", Some(Ok(syncs))) => disk.syncs_until_failure = Some(syncs),
        ("capacity", Some(Ok(bytes))) => {
            disk.collect();
            disk.capacity = bytes;
        }
        ("syncs", None) => return disk.syncs.to_string(),
        ("used", None) => {
            disk.collect();
            return disk.used().to_string();
        }
        _ => return format!("unknown command: {line}"),
    }
    "ok".to_owned()
}

fn main() -> std::io::Result<()> {
    let Some(mount_point) = std::env::args_os().nth(1) else {
        eprintln!("usage: crashfs MOUNTPOINT");
        std::process::exit(2);
    };
    let disk = Arc::new(Mutex::new(Disk::default()));
    let mut config = Config::default();
    config.mount_options = vec![MountOption::FSName("crashfs".to_owned())];
    let session = fuser::spawn_mount(CrashFs(disk.clone()), &mount_point, &config)?;
    let mut output = std::io::stdout();
    writeln!(output, "mounted")?;
    output.flush()?;
    for line in std::io::stdin().lock().lines() {
        writeln!(output, "{}", obey(&disk, &line?))?;
        output.flush()?;
    }
    drop(session);
    Ok(())
}
