//! Each safety rule is broken, and the simulation finds it.

mod simulation;

use simulation::{Fault, Plan, Schedule, run_caught};

#[test]
fn each_broken_rule_is_found() {
    // Members panic when they see what cannot be.
    std::panic::set_hook(Box::new(|_| {}));
    let plan = Plan::Accidents;
    let unfound = Fault::ALL.into_iter().filter(|fault| {
        let schedule = |seed| Schedule {
            seed,
            plan,
            fault: Some(*fault),
        };
        let mut violations = (0..50_000).filter_map(|seed| Some((seed, run_caught(schedule(seed)).err()?)));
        let found = violations.next();
        println!("{fault:?}: {found:?}");
        found.is_none()
    });
    let unfound: Vec<_> = unfound.collect();
    assert!(unfound.is_empty(), "not found: {unfound:?}");
}
