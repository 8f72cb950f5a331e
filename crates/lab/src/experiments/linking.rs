//! `linking`: what a call of a function of a shared library costs more than one of the program's own.
//!
//! The function adds one. A call within the program is one instruction. A call to a library goes to a stub (the
//! procedure linkage table), which jumps to the address that the loader has written; with `-fno-plt` the call itself
//! reads the address, and a call through a pointer has it in a register.

use crate::cost_table::CostTable;
use crate::cycles::CycleClock;
use crate::linked_functions::{SharedFunctions, call_nothing, call_static};
use crate::plot::{Bars, Drawing};
use crate::report::Report;
use crate::scale::Scale;
use crate::statistics::repeat_in_turn;
use std::ffi::c_long;
use std::io;

/// Arguments of the experiment.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Options {
    /// Calls in each repeat [default: 50,000,000; 100,000 with --quick].
    #[arg(long)]
    calls: Option<i32>,
    /// Repeats of each figure [default: 20; 2 with --quick].
    #[arg(long)]
    repeats: Option<usize>,
}

/// Figures are for so many calls, as the published ones.
const CALLS: f64 = 1e9;

/// A way of linking: a loop of calls, and the published seconds and cycles.
struct Way<'a> {
    name: &'static str,
    work: Box<dyn Fn(c_long) -> c_long + 'a>,
    original: Option<(f64, f64)>,
}

impl<'a> Way<'a> {
    fn new(name: &'static str, work: impl Fn(c_long) -> c_long + 'a, original: Option<(f64, f64)>) -> Self {
        Way {
            name,
            work: Box::new(work),
            original,
        }
    }
}

/// Runs the experiment.
///
/// # Errors
/// Those of loading the libraries, and of the cycle counter.
pub fn run(options: &Options, scale: Scale) -> io::Result<Report> {
    let calls = options.calls.unwrap_or(scale.choose(50_000_000, 100_000)).max(1);
    let repeats = options.repeats.unwrap_or(scale.choose(20, 2)).max(1);
    let directory = tempfile::tempdir()?;
    let shared = SharedFunctions::load(directory.path())?;
    let ways = [
        Way::new("static", call_static, Some((2.54, 6.0))),
        Way::new(
            "dynamic",
            |calls| shared.call_through_table(calls),
            Some((3.38, 8.0)),
        ),
        Way::new(
            "dynamic, -fno-plt",
            |calls| shared.call_without_table(calls),
            None,
        ),
        Way::new(
            "dynamic, through a pointer",
            |calls| shared.call_through_pointer(calls),
            None,
        ),
        Way::new("the loop alone", call_nothing, None),
    ];
    let mut clock = CycleClock::open();
    for way in &ways {
        // The first call of a library's function binds it.
        (way.work)(1);
    }
    let costs = repeat_in_turn(&ways, repeats, |way| {
        let mut result = 0;
        let cost = clock.measure(|| result = (way.work)(c_long::from(calls)));
        assert_eq!(result, c_long::from(calls), "{}", way.name);
        cost
    })?;
    let mut table = CostTable::new("call", "s for 10^9", &clock, f64::from(calls), CALLS);
    for (way, costs) in ways.iter().zip(costs) {
        table.row(way.name, &costs, way.original);
    }
    let (table, bars) = table.finish();
    Ok(Report {
        name: "linking",
        question: format!(
            "10^9 calls of a function that adds one; median of {repeats} repeats of {calls} calls."
        ),
        tables: vec![(String::new(), table)],
        notes: vec![
            "Seconds are processor time of the thread.".to_owned(),
            clock.note().to_owned(),
            format!("C compiler: {}", env!("LAB_CC")),
        ],
        drawing: Drawing::Bars(Bars {
            title: "10^9 calls of a function that adds one".to_owned(),
            unit: "s",
            bars,
        }),
        details: None,
    })
}
