//! `thread-state`: what it costs a thread to tell others what it does.
//!
//! A thread that changes its state writes two words: what it does, and since when. The ways differ in what keeps the
//! two together, so that a reader never sees one word of one state and one of another. States are read rarely, so
//! nobody reads while the clock runs.
//!
//! The second table puts the question to a command of this server: see [`commands`].

mod commands;
mod slots;

use crate::cost_table::CostTable;
use crate::cycles::CycleClock;
use crate::plot::{Bars, Drawing};
use crate::report::Report;
use crate::scale::Scale;
use crate::statistics::repeat_in_turn;
use slots::{
    AlignedPointer, BothBarriers, FullBarrier, NoBarrier, ParkingLotSlot, PthreadSlot, Slot, StandardSlot,
    State, TwoCompareExchanges, WriteBarrier,
};
use std::io;
use std::sync::atomic::{Ordering, compiler_fence};

/// Arguments of the experiment.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Options {
    /// Changes in each repeat [default: 5,000,000; 100,000 with --quick].
    #[arg(long)]
    changes: Option<u64>,
    /// Repeats of each figure [default: 20; 2 with --quick].
    #[arg(long)]
    repeats: Option<usize>,
    /// Processor time of a point select in µs, of which shares are shown [default: 23, of docs/decisions/0020].
    #[arg(long)]
    point_select_us: Option<f64>,
}

/// Figures are for so many changes, as the published ones.
const CHANGES: f64 = 1e8;

/// Processor time of the server for a point select in µs (docs/decisions/0020-idle-poll.md).
const POINT_SELECT_US: f64 = 23.0;

/// A way of changing a state, and the published seconds and cycles.
struct Way {
    name: &'static str,
    change: fn(u64),
    original: Option<(f64, f64)>,
}

const WAYS: [Way; 10] = [
    Way {
        name: "two compare-exchanges",
        change: change::<TwoCompareExchanges>,
        original: Some((3.70, 81.0)),
    },
    Way {
        name: "pthread mutex",
        change: change::<PthreadSlot>,
        original: Some((2.26, 50.0)),
    },
    Way {
        name: "std mutex",
        change: change::<StandardSlot>,
        original: None,
    },
    Way {
        name: "parking_lot mutex",
        change: change::<ParkingLotSlot>,
        original: None,
    },
    Way {
        name: "full barrier",
        change: change::<FullBarrier>,
        original: None,
    },
    Way {
        name: "sequence between two write barriers",
        change: change::<BothBarriers>,
        original: None,
    },
    Way {
        name: "write barrier",
        change: change::<WriteBarrier>,
        original: Some((0.53, 12.0)),
    },
    Way {
        name: "no barrier",
        change: change::<NoBarrier>,
        original: Some((0.45, 10.0)),
    },
    Way {
        name: "one aligned pointer",
        change: change::<AlignedPointer>,
        original: None,
    },
    Way {
        name: "the loop alone",
        change: loop_alone,
        original: None,
    },
];

/// Runs the experiment.
///
/// # Errors
/// Those of the cycle counter.
pub fn run(options: &Options, scale: Scale) -> io::Result<Report> {
    let changes = options.changes.unwrap_or(scale.choose(5_000_000, 100_000)).max(1);
    let repeats = options.repeats.unwrap_or(scale.choose(20, 2)).max(1);
    let point_select_us = options.point_select_us.unwrap_or(POINT_SELECT_US);
    let mut clock = CycleClock::open();
    let costs = repeat_in_turn(&WAYS, repeats, |way| clock.measure(|| (way.change)(changes)))?;
    let mut table = CostTable::new("way", "s for 10^8", &clock, changes as f64, CHANGES);
    for (way, costs) in WAYS.iter().zip(costs) {
        table.row(way.name, &costs, way.original);
    }
    let (table, bars) = table.finish();
    let commands = commands::measure(&mut clock, changes / 10, repeats, point_select_us)?;
    Ok(Report {
        name: "thread-state",
        question: format!(
            "10^8 changes of a thread's state; median of {repeats} repeats of {changes} changes."
        ),
        tables: vec![
            (String::new(), table),
            (
                format!(
                    "A command of a session tells its beginning, with its text, and its end. Share of a point select of {point_select_us} µs:"
                ),
                commands,
            ),
        ],
        notes: vec![
            "Seconds are processor time of the thread.".to_owned(),
            clock.note().to_owned(),
        ],
        drawing: Drawing::Bars(Bars {
            title: "10^8 changes of a thread's state".to_owned(),
            unit: "s",
            bars,
        }),
        details: None,
    })
}

fn change<S: Slot>(changes: u64) {
    let slot = S::default();
    for number in 0..changes {
        slot.set(State {
            name: number,
            since: number,
        });
    }
    assert_eq!(slot.get().name, changes - 1, "the last state");
}

/// The loop with a call that does nothing.
fn loop_alone(changes: u64) {
    #[inline(never)]
    fn set(_: State) {
        // No instruction, but the compiler must not leave out the call.
        compiler_fence(Ordering::SeqCst);
    }
    for number in 0..changes {
        set(State {
            name: number,
            since: number,
        });
    }
}
