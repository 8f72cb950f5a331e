//! `crashfs MOUNTPOINT`: an in-memory file system that can lose power, for tests that crash a whole machine.
//!
//! It mounts, prints `mounted`, then reads commands from standard input and answers each with one line:
//!
//! ```text
//! crash SEED       lose power: SEED decides which unsynced changes are kept, dropped, torn or reordered (kill processes first)
//! fail-sync N      after N more syncs of files, one fails with EIO (0: the next one)
//! slow-sync MS     from now on, a sync is answered after this many milliseconds (0: at once)
//! capacity BYTES   writes that would need more total space get ENOSPC
//! used             total bytes of all files
//! syncs            number of file syncs since the start
//! mark TEXT        record TEXT after all operations so far
//! ```
//! At the end of input it unmounts and exits; its contents are lost.
//!
//! With `--record FILE` every operation is recorded. `crashfs --replay FILE` also reads commands, but mounts nothing:
//!
//! ```text
//! letters               one letter for each operation (see record.rs)
//! marks                 NUMBER=TEXT of every mark, separated by tabs
//! crash N SEED DIR      write to DIR what remains if the power fails after N operations; N must not decrease
//! ```

use std::io::{BufRead, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use fuser::{Config, MountOption};

mod disk;
mod filesystem;
mod record;

use disk::{Disk, ROOT};
use filesystem::CrashFs;
use record::{Operation, Recorder, Recording};

fn execute_command(disk: &Mutex<Disk>, line: &str) -> String {
    let mut disk = disk.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(text) = line.strip_prefix("mark ") {
        disk.mark(text);
        return "ok".to_owned();
    }
    let mut words = line.split_whitespace();
    let (command, number) = (words.next().unwrap_or(""), words.next().map(str::parse::<u64>));
    match (command, number) {
        ("crash", Some(Ok(seed))) => disk.crash(seed),
        ("fail-sync", Some(Ok(syncs))) => disk.syncs_until_failure = Some(syncs),
        ("slow-sync", Some(Ok(milliseconds))) => disk.sync_delay = Duration::from_millis(milliseconds),
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

/// Answers questions about a recording, and exports the disks that power failures would have left.
fn replay(recording: &Recording) -> std::io::Result<()> {
    let (mut disk, mut done) = (Disk::default(), 0);
    let mut output = std::io::stdout();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split_whitespace().collect();
        let answer = match words.as_slice() {
            ["letters"] => (0..recording.len()).map(|n| recording.get(n).letter()).collect(),
            ["marks"] => {
                let mark = |n| match recording.get(n) {
                    Operation::Mark(text) => Some(format!("{n}={}", String::from_utf8_lossy(text))),
                    _ => None,
                };
                let marks: Vec<String> = (0..recording.len()).filter_map(mark).collect();
                marks.join("\t")
            }
            ["crash", number, seed, directory] => match (number.parse::<usize>(), seed.parse()) {
                (Ok(number), Ok(seed)) if (done..=recording.len()).contains(&number) => {
                    while done < number {
                        disk.replay(&recording.get(done))
                            .map_err(std::io::Error::from_raw_os_error)?;
                        done += 1;
                    }
                    let mut left = disk.copy();
                    left.crash(seed);
                    left.export(ROOT, Path::new(directory))?;
                    "ok".to_owned()
                }
                _ => format!("cannot be done: {line}"),
            },
            _ => format!("unknown command: {line}"),
        };
        writeln!(output, "{answer}")?;
        output.flush()?;
    }
    Ok(())
}

fn main() -> std::io::Result<()> {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let mut disk = Disk::default();
    let mount_point = match arguments.as_slice() {
        [flag, file] if flag == "--replay" => return replay(&Recording::open(Path::new(file))?),
        [mount_point] => mount_point,
        [mount_point, flag, file] if flag == "--record" => {
            disk.recorder = Some(Recorder::create(Path::new(file))?);
            mount_point
        }
        _ => {
            eprintln!("usage: crashfs MOUNTPOINT [--record FILE] | crashfs --replay FILE");
            std::process::exit(2);
        }
    };
    let disk = Arc::new(Mutex::new(disk));
    let mut config = Config::default();
    config.mount_options = vec![MountOption::FSName("crashfs".to_owned())];
    let session = fuser::spawn_mount(CrashFs(disk.clone()), mount_point, &config)?;
    let mut output = std::io::stdout();
    writeln!(output, "mounted")?;
    output.flush()?;
    for line in std::io::stdin().lock().lines() {
        writeln!(output, "{}", execute_command(&disk, &line?))?;
        output.flush()?;
    }
    drop(session);
    let recorder = disk
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .recorder
        .take();
    recorder.map_or(Ok(()), Recorder::finish)
}
