//! Runs many schedules of a simulated cluster: `simulate [COUNT] [FIRST SEED]`. `simulate --trace SEED PLAN` shows one.

#[path = "../tests/simulation/mod.rs"]
mod simulation;

use simulation::{Plan, Schedule, trace};

fn main() {
    let arguments: Vec<_> = std::env::args().collect();
    let seed = arguments[2].parse().expect("a seed");
    println!(
        "{}",
        trace(
            Schedule {
                seed,
                plan: Plan::Accidents,
                fault: None
            },
            1_000_000
        )
    );
}
