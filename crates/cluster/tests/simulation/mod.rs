//! A simulated cluster: members, their disks and clocks, a network and an etcd, all of which fail.
//!
//! ```text
//!   operator, accidents ──▶ hosts: member ⇄ disk, clock, log ⇄ network ⇄ etcd
//!                              └── every action ──▶ oracle: what must always hold
//! ```
//!
//! A seed determines a schedule: first a time of accidents, then a time in which everything works, and at its end
//! a planned switch. At each step the
//! oracle checks safety. At the end a primary must open within [`HEAL_TICKS_MAX`] ticks, publish a transaction, and
//! have it on every holder. With the same seed the same happens; a failure is repeated with a trace of it.
#![allow(dead_code, reason = "tests and the example use different parts of it")]

mod accidents;
mod etcd;
mod fault;
mod host;
mod network;
mod oracle;
mod random;
mod world;

pub use fault::Fault;
use oracle::Violation;
use std::fmt;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use world::{TICK_MS, World};

/// Bound of the time in which a healed cluster must work again.
pub const HEAL_TICKS_MAX: u64 = 400;
/// Number of lines of a trace that a failure shows.
const TRACE_LINES_MAX: usize = 100;

/// Scenario of a schedule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Plan {
    /// Accidents from which a cluster recovers by itself.
    Accidents,
    /// Too many disks are lost, and an operator forces an epoch.
    Disaster,
    /// etcd gives out epochs twice, as if it were restored from a copy.
    ForgetfulEtcd,
}

impl Plan {
    pub const ALL: [Plan; 3] = [Plan::Accidents, Plan::Disaster, Plan::ForgetfulEtcd];
}

/// A schedule.
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    pub seed: u64,
    pub plan: Plan,
    pub fault: Option<Fault>,
}

/// Counters of one or more schedules.
#[derive(Clone, Copy, Default, Debug)]
pub struct Statistics {
    pub opened: u64,
    pub acknowledged: u64,
    pub packets: u64,
    pub heal_ticks_max: u64,
    pub switch_ticks_max: u64,
}

impl Statistics {
    pub fn add(&mut self, other: Statistics) {
        self.opened += other.opened;
        self.acknowledged += other.acknowledged;
        self.packets += other.packets;
        self.heal_ticks_max = self.heal_ticks_max.max(other.heal_ticks_max);
        self.switch_ticks_max = self.switch_ticks_max.max(other.switch_ticks_max);
    }
}

impl fmt::Display for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Statistics {
            opened,
            acknowledged,
            packets,
            heal_ticks_max,
            switch_ticks_max,
        } = self;
        let (heal_ms, switch_ms) = (heal_ticks_max * TICK_MS, switch_ticks_max * TICK_MS);
        write!(
            f,
            "{opened} epochs opened, {acknowledged} transactions acknowledged, {packets} packets, healed within {heal_ms} ms, switched within {switch_ms} ms"
        )
    }
}

/// Runs a schedule.
///
/// # Errors
/// The violated property.
pub fn run(schedule: Schedule) -> Result<Statistics, Violation> {
    World::new(schedule, None).run()
}

/// Runs a schedule. That a member panics is a violation, too.
///
/// # Errors
/// The violated property.
pub fn run_caught(schedule: Schedule) -> Result<Statistics, Violation> {
    let result = catch_unwind(AssertUnwindSafe(|| run(schedule)));
    result.unwrap_or_else(|_| Err("a member panicked".to_owned()))
}

/// Runs schedules with these seeds, on two threads.
///
/// # Errors
/// The trace of a schedule that failed.
pub fn run_many(plan: Plan, seeds: Range<u64>) -> Result<Statistics, String> {
    const THREADS: u64 = 2;
    let run_part = |part: u64| {
        let mut statistics = Statistics::default();
        for seed in seeds.clone().filter(|seed| seed % THREADS == part) {
            let schedule = Schedule {
                seed,
                plan,
                fault: None,
            };
            match run_caught(schedule) {
                Ok(of_one) => statistics.add(of_one),
                Err(_) => return Err(trace(schedule, TRACE_LINES_MAX)),
            }
        }
        Ok(statistics)
    };
    let parts = thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|part| scope.spawn(move || run_part(part)))
            .collect();
        let results = threads
            .into_iter()
            .map(|thread| thread.join().expect("panics are caught"));
        results.collect::<Result<Vec<_>, _>>()
    });
    let mut statistics = Statistics::default();
    parts?.into_iter().for_each(|part| statistics.add(part));
    Ok(statistics)
}

/// Runs a schedule again and returns the last lines of its trace, and how it ended.
pub fn trace(schedule: Schedule, lines_max: usize) -> String {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let world = World::new(schedule, Some(lines.clone()));
    let result = catch_unwind(AssertUnwindSafe(|| world.run()));
    let result = result.unwrap_or_else(|_| Err("a member panicked".to_owned()));
    let lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
    let from = lines.len().saturating_sub(lines_max);
    format!("{}\n{schedule:?}: {result:?}", lines[from..].join("\n"))
}
