//! Power failures at every step in the life of a log, and at every step of the opening that follows. Everything
//! acknowledged must be found, and what is found must be a prefix of what was written.
#![allow(missing_docs)]

mod support;

use paceline_binlog::log::{LogConfig, PurgeTarget, SyncMode};
use paceline_binlog::{Log, Recovery, Result};
use paceline_simulated_disk::SimulatedDisk;
use paceline_types::{Gtid, LogPosition};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use support::*;

/// Guarantees that the log has given to its users.
#[derive(Debug, Default, Clone)]
struct Promises {
    /// All transactions that were appended since the last reset, in order.
    written: Vec<Gtid>,
    /// Number of these that were synced.
    durable: usize,
    /// `written` and `durable` before a reset that has not returned.
    before_reset: Option<(Vec<Gtid>, usize)>,
    /// Number of transactions at the beginning that may have been purged.
    purgeable: usize,
    /// Highest position that was seen: new positions must be above it.
    seen: LogPosition,
}

fn config_of(mode: SyncMode) -> LogConfig {
    LogConfig {
        prepare_step: 8192,
        file_size_max: 6000,
        sync_mode: mode,
        ..config(Path::new("/log"))
    }
}

fn open(disk: &SimulatedDisk, mode: SyncMode) -> Result<(Log, Recovery)> {
    open_on(Arc::new(disk.clone()), config_of(mode))
}

/// Runs a log through its life, up to the first error.
fn live(disk: &SimulatedDisk, mode: SyncMode, promises: &mut Promises) -> Result<()> {
    let (log, _) = open(disk, mode)?;
    let mut next = 1;
    let mut commit = |log: &Log, promises: &mut Promises, sizes: &[usize]| -> Result<()> {
        let transactions: Vec<(Gtid, usize)> = sizes
            .iter()
            .map(|rows| {
                next += 1;
                (gtid(next as u32 % 2, 1, next), *rows)
            })
            .collect();
        promises
            .written
            .extend(transactions.iter().map(|(gtid, _)| *gtid));
        append(log, &transactions)?;
        promises.seen = log.written();
        // With deferred syncs, several writes share a sync.
        if mode == SyncMode::EachGroup || next % 3 == 0 {
            log.sync()?;
            promises.durable = promises.written.len();
        }
        Ok(())
    };
    for round in 0..2 {
        commit(&log, promises, &[1])?;
        commit(&log, promises, &[1, 300, 2])?;
        commit(&log, promises, &[2])?;
        if round == 1 {
            log.prepare_ahead()?;
        }
        commit(&log, promises, &[1, 1])?;
        log.rotate(NOW)?;
        promises.durable = promises.written.len();
        commit(&log, promises, &[700])?;
        commit(&log, promises, &[5])?;
        log.prepare_ahead()?;
        log.rotate(NOW)?;
        promises.durable = promises.written.len();
        commit(&log, promises, &[1])?;
        let purged = log.files().len() - 2;
        log.sync()?;
        promises.durable = promises.written.len();
        log.write_checkpoint(log.written(), NOW)?;
        commit(&log, promises, &[1])?;
        promises.purgeable = promises.written.len() - 2;
        log.purge(&PurgeTarget::File(log.files()[purged].name.clone()), &|_| None)?;
        commit(&log, promises, &[3])?;
        if round == 0 {
            log.sync()?;
            promises.durable = promises.written.len();
            promises.before_reset = Some((std::mem::take(&mut promises.written), promises.durable));
            promises.durable = 0;
            log.reset(None, NOW)?;
            promises.before_reset = None;
            promises.purgeable = 0;
        }
    }
    log.sync()?;
    promises.durable = promises.written.len();
    log.close(NOW)
}

/// Checks a log that was opened after a crash.
fn check(disk: &SimulatedDisk, log: &Log, recovery: &Recovery, promises: &Promises, context: &str) {
    let found = all_gtids(log).unwrap_or_else(|error| panic!("{context}: {error}"));
    let holds = |written: &[Gtid], durable: usize, purgeable: usize| {
        // A suffix of a prefix.
        (0..=purgeable.min(written.len())).any(|purged| {
            let rest = &written[purged..];
            found.len() >= durable.saturating_sub(purged) && rest.starts_with(&found)
        })
    };
    let now = holds(&promises.written, promises.durable, promises.purgeable);
    let before = promises
        .before_reset
        .as_ref()
        .is_some_and(|(written, durable)| holds(written, *durable, promises.purgeable));
    assert!(now || before, "{context}: found {found:?} of {promises:?}");
    // The GTID state includes what was found and what was purged.
    for gtid in &found {
        assert!(
            recovery
                .state
                .last_of(gtid.domain_id, gtid.server_id)
                .is_some_and(|last| last.sequence >= gtid.sequence)
        );
    }
    assert!(
        log.written().ordinal() > promises.seen.ordinal(),
        "{context}: positions must grow"
    );
    // No unknown files remain.
    let listed: BTreeSet<String> = log.files().into_iter().map(|file| file.name).collect();
    let names = paceline_binlog::Disk::list(disk, Path::new("/log")).unwrap();
    for name in names {
        let of = name.strip_suffix(".idx").unwrap_or(&name);
        assert!(
            listed.contains(of) || name == "bin.index",
            "{context}: {name} is left behind"
        );
    }
    // All files but the active one end with an event and are marked as closed.
    let files = log.files();
    for file in &files[..files.len() - 1] {
        let content = disk.content(&Path::new("/log").join(&file.name)).unwrap();
        assert_eq!(content.len() as u64, file.length, "{context}: {}", file.name);
        assert_eq!(content[4 + 17], 0, "{context}: {} is in use", file.name);
    }
}

/// Opens the log after a crash, checks it, writes more, and opens it again.
fn survive(disk: &SimulatedDisk, mode: SyncMode, promises: &Promises, context: &str) {
    let (log, recovery) = open(disk, mode).unwrap_or_else(|error| panic!("{context}: {error}"));
    check(disk, &log, &recovery, promises, context);
    let before = all_gtids(&log).unwrap();
    commit(&log, &[(gtid(9, 1, 1), 1)]).unwrap();
    drop(log);
    // The power fails again: what was found must be durable.
    let disk = disk.after_power_failure(7);
    let (log, _) = open(&disk, mode).unwrap_or_else(|error| panic!("{context}, again: {error}"));
    assert_eq!(
        all_gtids(&log).unwrap(),
        [before, vec![gtid(9, 1, 1)]].concat(),
        "{context}"
    );
}

fn crash_everywhere(mode: SyncMode, seeds: u64) {
    let whole = SimulatedDisk::new();
    live(&whole, mode, &mut Promises::default()).unwrap();
    let operations = whole.operations();
    assert!(operations > 100, "{operations}");
    for step in 1..=operations {
        let disk = SimulatedDisk::new();
        disk.fail_power_at(step);
        let mut promises = Promises::default();
        // This may succeed: a GTID index that cannot be written is not an error.
        let _ = live(&disk, mode, &mut promises);
        for seed in 0..seeds {
            let context = format!("{mode:?}, step {step}, seed {seed}");
            let found = disk.after_power_failure(seed);
            // The power fails once more while opening repairs the log.
            let during_open = found.clone().after_process_death();
            during_open.fail_power_at(1 + seed * 7 % 23);
            if open(&during_open, mode).is_err() {
                survive(
                    &during_open.after_power_failure(seed + 1),
                    mode,
                    &promises,
                    &format!("{context}, in opening"),
                );
            }
            survive(&found, mode, &promises, &context);
        }
        // The process dies, the machine does not.
        survive(
            &disk.after_process_death(),
            mode,
            &promises,
            &format!("{mode:?}, step {step}, kill -9"),
        );
    }
}

#[test]
fn nothing_acknowledged_is_lost_when_the_power_fails_at_any_step() {
    crash_everywhere(SyncMode::EachGroup, 12);
}

#[test]
fn nothing_synced_is_lost_when_the_power_fails_with_deferred_syncs() {
    crash_everywhere(SyncMode::Deferred, 12);
}
