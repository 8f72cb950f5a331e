//! Runs many schedules of a simulated cluster and says how long that took.
//!
//! `simulate [COUNT [FIRST_SEED]]`: COUNT schedules with accidents, a tenth as many of each other plan.
//! `simulate --trace PLAN SEED`: everything that happens in one of them.

#[path = "../tests/simulation/mod.rs"]
mod simulation;

use simulation::{Plan, Schedule, run_many, trace};
use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let number = |at: usize| arguments.get(at).map(|text: &String| text.parse::<u64>());
    match (
        arguments.first().map(String::as_str),
        number(0),
        number(1),
        number(2),
    ) {
        (Some("--trace"), _, _, Some(Ok(seed))) => {
            let Some(plan) = Plan::ALL
                .into_iter()
                .find(|plan| format!("{plan:?}") == arguments[1])
            else {
                return refuse();
            };
            println!(
                "{}",
                trace(
                    Schedule {
                        seed,
                        plan,
                        fault: None
                    },
                    usize::MAX
                )
            );
            ExitCode::SUCCESS
        }
        (_, None | Some(Ok(_)), None | Some(Ok(_)), None) => {
            let count = number(0).and_then(Result::ok).unwrap_or(1_000_000);
            let first = number(1).and_then(Result::ok).unwrap_or(0);
            simulate(count, first)
        }
        _ => refuse(),
    }
}

fn refuse() -> ExitCode {
    eprintln!(
        "simulate [COUNT [FIRST_SEED]], or simulate --trace PLAN SEED; plans: {:?}",
        Plan::ALL
    );
    ExitCode::from(2)
}

fn simulate(count: u64, first: u64) -> ExitCode {
    for plan in Plan::ALL {
        let count = if plan == Plan::Accidents {
            count
        } else {
            count / 10
        };
        let begin = Instant::now();
        match run_many(plan, first..first.saturating_add(count)) {
            Ok(statistics) => {
                let seconds = begin.elapsed().as_secs();
                println!("{count} schedules of {plan:?} in {seconds} s: {statistics}");
            }
            Err(failure) => {
                println!("{failure}");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}
