//! Random schedules of a simulated cluster: safety at each step, and life at the end.

mod simulation;

use simulation::{Plan, Statistics, run_many};
use std::ops::Range;

fn run(plan: Plan, seeds: Range<u64>) -> Statistics {
    match run_many(plan, seeds) {
        Ok(statistics) => statistics,
        Err(failure) => panic!("{failure}"),
    }
}

#[test]
fn nothing_acknowledged_is_lost_by_accidents() {
    let statistics = run(Plan::Accidents, 0..20_000);
    // They do what they are for.
    assert!(statistics.opened > 30_000, "{statistics}");
    assert!(statistics.acknowledged > 300_000, "{statistics}");
}

#[test]
fn a_forced_epoch_keeps_what_its_holders_have() {
    run(Plan::Disaster, 0..3_000);
}

#[test]
fn an_etcd_that_gives_out_an_epoch_twice_harms_nothing() {
    run(Plan::ForgetfulEtcd, 0..3_000);
}
