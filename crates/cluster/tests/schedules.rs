//! Random schedules of a simulated cluster: safety at each step, and life at the end.

mod simulation;

use simulation::{Fault, Plan, Schedule, Statistics, run, trace};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

/// Runs the schedule. A panic of a member is a violation, too.
fn violation(schedule: Schedule) -> Result<Statistics, String> {
    let result = catch_unwind(AssertUnwindSafe(|| run(schedule)));
    result.unwrap_or_else(|_| Err("a member panicked".to_owned()))
}

fn run_all(plan: Plan, seeds: std::ops::Range<u64>) -> Statistics {
    const THREADS: u64 = 2;
    let mut statistics = Statistics::default();
    thread::scope(|scope| {
        let parts: Vec<_> = (0..THREADS)
            .map(|part| {
                let seeds = seeds.clone().filter(move |seed| seed % THREADS == part);
                scope.spawn(move || {
                    let mut statistics = Statistics::default();
                    for seed in seeds {
                        let schedule = Schedule {
                            seed,
                            plan,
                            fault: None,
                        };
                        match violation(schedule) {
                            Ok(of_one) => statistics.add(of_one),
                            Err(_) => panic!("{}", trace(schedule, 120)),
                        }
                    }
                    statistics
                })
            })
            .collect();
        for part in parts {
            statistics.add(part.join().expect("a schedule failed; its trace is above"));
        }
    });
    statistics
}

#[test]
fn nothing_acknowledged_is_lost_by_accidents() {
    let statistics = run_all(Plan::Accidents, 0..20_000);
    eprintln!("{statistics:?}");
    assert!(statistics.opened > 40_000, "{statistics:?}");
    assert!(statistics.acknowledged > 200_000, "{statistics:?}");
}

#[test]
fn a_forced_epoch_keeps_what_its_holders_have() {
    let statistics = run_all(Plan::Disaster, 0..3_000);
    eprintln!("{statistics:?}");
}

#[test]
fn an_etcd_that_gives_out_an_epoch_twice_harms_nothing() {
    run_all(Plan::ForgetfulEtcd, 0..3_000);
}

#[test]
fn each_broken_rule_is_found() {
    // Members panic when they see what cannot be; that is not for the test's output.
    std::panic::set_hook(Box::new(|_| {}));
    let plan = Plan::Accidents;
    let unfound = Fault::ALL.into_iter().filter(|fault| {
        let schedule = |seed| Schedule {
            seed,
            plan,
            fault: Some(*fault),
        };
        let found = (0..20_000).find_map(|seed| violation(schedule(seed)).err().map(|why| (seed, why)));
        eprintln!("{fault:?}: {found:?}");
        found.is_none()
    });
    let unfound: Vec<_> = unfound.collect();
    assert!(unfound.is_empty(), "not found: {unfound:?}");
}
