//! `mutex`: what mutexes cost, contended and not.
//!
//! So many threads do the same: choose one of so many mutexes, lock it, work for so long, unlock it. The figure is
//! the time from one iteration of all threads together to the next. Shares of the processors' time and context
//! switches tell why.
//!
//! ```text
//!  threads start ── all have begun ──┬── window ──┬── window ──┬── window ──┐ stop, join
//!                                    iterations and clocks are read at each of these
//! ```
//!
//! The work is a number of rounds of a loop and not a time, so a holder that loses its processor has the rest of it
//! to do when it comes back.

mod contest;
mod locks;
mod sync_array;

use crate::machine;
use crate::plot::{Drawing, Line, Panel, Panels};
use crate::report::Report;
use crate::scale::Scale;
use crate::table::{Table, figure};
use contest::{Contest, Outcome};
use locks::{AdaptiveLock, DefaultLock, FutexLock, GlobalLimitLock, OwnLimitLock};
use std::io;
use std::time::{Duration, Instant};
use sync_array::SyncArrayMutex;

/// Arguments of the experiment.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Options {
    /// Numbers of threads [default: 1, 2, 4 … 1,024; 1,4 with --quick].
    #[arg(long, value_delimiter = ',')]
    threads: Vec<usize>,
    /// Numbers of mutexes [default: 1,2,4,8,16; 1 with --quick].
    #[arg(long, value_delimiter = ',')]
    mutexes: Vec<usize>,
    /// Times for which a mutex is held, in ns [default: 0,1000,4000; 0 with --quick].
    #[arg(long, value_delimiter = ',')]
    hold_ns: Vec<u32>,
    /// Length of a window, in ms [default: 50; 10 with --quick].
    #[arg(long)]
    window_ms: Option<u64>,
    /// Windows of each figure [default: 3; 2 with --quick].
    #[arg(long)]
    repeats: Option<usize>,
    /// Time after which nothing further is measured, in s [default: 360].
    #[arg(long)]
    budget_s: Option<u64>,
}

/// A kind of mutex.
struct Kind {
    name: &'static str,
    measure: fn(&Contest) -> io::Result<Outcome>,
}

const KINDS: [Kind; 8] = [
    Kind {
        name: "sync-array",
        measure: Contest::measure::<SyncArrayMutex>,
    },
    Kind {
        name: "test-and-set, futex",
        measure: Contest::measure::<FutexLock>,
    },
    Kind {
        name: "pthread default",
        measure: Contest::measure::<DefaultLock>,
    },
    Kind {
        name: "pthread adaptive",
        measure: Contest::measure::<AdaptiveLock>,
    },
    Kind {
        name: "spin, global limit",
        measure: Contest::measure::<GlobalLimitLock>,
    },
    Kind {
        name: "spin, limit per mutex",
        measure: Contest::measure::<OwnLimitLock>,
    },
    Kind {
        name: "std",
        measure: Contest::measure::<std::sync::Mutex<()>>,
    },
    Kind {
        name: "parking_lot",
        measure: Contest::measure::<parking_lot::Mutex<()>>,
    },
];

/// Outcomes of one number of mutexes and one time: for each number of threads those of each kind. `None`: not measured.
struct OutcomeGroup {
    mutexes: usize,
    hold_ns: u32,
    outcomes: Vec<Vec<Option<Outcome>>>,
}

/// Runs the experiment.
///
/// # Errors
/// Those of creating threads, and of reading /proc.
pub fn run(options: &Options, scale: Scale) -> io::Result<Report> {
    let threads = axis(
        &options.threads,
        &[1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024],
        &[1, 4],
        scale,
    );
    let mutexes = axis(&options.mutexes, &[1, 2, 4, 8, 16], &[1], scale);
    let holds = axis(&options.hold_ns, &[0, 1000, 4000], &[0], scale);
    let window = Duration::from_millis(options.window_ms.unwrap_or(scale.choose(50, 10)).max(1));
    let windows = options.repeats.unwrap_or(scale.choose(3, 2)).max(1);
    let budget_s = options.budget_s.unwrap_or(360);
    let end = Instant::now() + Duration::from_secs(budget_s);
    let rounds_per_ns = contest::rounds_per_ns();
    let mut groups = vec![];
    for &hold_ns in &holds {
        for &mutexes in &mutexes {
            let mut outcomes = vec![];
            for &threads in &threads {
                let contest = Contest {
                    threads,
                    mutexes,
                    rounds: (f64::from(hold_ns) * rounds_per_ns) as u64,
                    window,
                    windows,
                };
                let of_kind = |kind: &Kind| match Instant::now() < end {
                    true => (kind.measure)(&contest).map(Some),
                    false => Ok(None),
                };
                outcomes.push(KINDS.iter().map(of_kind).collect::<io::Result<_>>()?);
            }
            groups.push(OutcomeGroup {
                mutexes,
                hold_ns,
                outcomes,
            });
        }
    }
    let mut notes = vec![
        format!("Spread of the repeats: the median figure's lowest and highest differ by {}.", typical_spread(&groups)),
        format!("Limit of spinning threads: {}.", locks::spinners_max()),
        "Shares of processor time: user and system are those of this process, idle is the machine's, the rest others'. \
         Figures of a machine whose others are busy mean little."
            .to_owned(),
    ];
    if Instant::now() >= end {
        notes.push(format!(
            "Figures are missing: the budget of {budget_s} s was used up (--budget-s)."
        ));
    }
    Ok(Report {
        name: "mutex",
        question: format!(
            "Nanoseconds of an iteration of all threads together; median of {windows} windows of {} ms. {} processors.",
            window.as_millis(),
            machine::processors()
        ),
        tables: groups
            .iter()
            .map(|group| nanoseconds(group, &threads))
            .chain(reasons(&groups, &threads))
            .collect(),
        notes,
        drawing: Drawing::Panels(drawing(&groups, &threads)),
        details: Some(("csv", details(&groups, &threads))),
    })
}

/// Returns what was asked for, or the published axis.
fn axis<T: Copy>(asked: &[T], full: &[T], quick: &[T], scale: Scale) -> Vec<T> {
    match asked.is_empty() {
        true => scale.choose(full, quick).to_vec(),
        false => asked.to_vec(),
    }
}

impl OutcomeGroup {
    fn title(&self) -> String {
        let mutexes = match self.mutexes {
            1 => "1 mutex".to_owned(),
            several => format!("{several} mutexes"),
        };
        format!("{mutexes}, held {} ns", self.hold_ns)
    }
}

/// Returns the nanoseconds of a group: a row for each kind, a column for each number of threads.
fn nanoseconds(group: &OutcomeGroup, threads: &[usize]) -> (String, Table) {
    let headings = threads.iter().map(|threads| format!("{threads} thr."));
    let mut table = Table::new(["mutex".to_owned()].into_iter().chain(headings));
    for (place, kind) in KINDS.iter().enumerate() {
        let cells = group.outcomes.iter().map(|outcomes| match &outcomes[place] {
            Some(outcome) => figure(outcome.nanoseconds.median()),
            None => String::new(),
        });
        table.row([kind.name.to_owned()].into_iter().chain(cells));
    }
    (format!("{}: ns for an iteration", group.title()), table)
}

/// Returns where the time went with one mutex: for a few numbers of threads. The file of details has all of them.
fn reasons(groups: &[OutcomeGroup], threads: &[usize]) -> Vec<(String, Table)> {
    let fewest = groups.iter().map(|group| group.mutexes).min();
    let of_fewest = groups.iter().filter(|group| Some(group.mutexes) == fewest);
    let with_table = of_fewest.map(|group| {
        let mut table = Table::new([
            "mutex",
            "threads",
            "ns",
            "lowest … highest",
            "switches for 1,000",
            "user, %",
            "system, %",
            "idle, %",
            "others, %",
        ]);
        for (place, kind) in KINDS.iter().enumerate() {
            for (outcomes, &threads) in group.outcomes.iter().zip(threads) {
                let is_shown = [1, 4, 32, 256, 1024].contains(&threads);
                if let (true, Some(outcome)) = (is_shown, &outcomes[place]) {
                    table.row([
                        kind.name.to_owned(),
                        threads.to_string(),
                        figure(outcome.nanoseconds.median()),
                        crate::table::spread(&outcome.nanoseconds),
                        figure(outcome.switches * 1000.0),
                        format!("{:.0}", outcome.interval.user * 100.0),
                        format!("{:.0}", outcome.interval.system * 100.0),
                        format!("{:.0}", outcome.interval.idle * 100.0),
                        format!("{:.0}", outcome.interval.others() * 100.0),
                    ]);
                }
            }
        }
        (format!("{}: where the time went", group.title()), table)
    });
    with_table.collect()
}

/// Returns every figure, a line each.
fn details(groups: &[OutcomeGroup], threads: &[usize]) -> String {
    let mut text =
        "mutex,mutexes,hold_ns,threads,ns,ns_lowest,ns_highest,switches_per_iteration,user,system,idle\n"
            .to_owned();
    for group in groups {
        for (outcomes, threads) in group.outcomes.iter().zip(threads) {
            for (kind, outcome) in KINDS.iter().zip(outcomes) {
                let Some(outcome) = outcome else { continue };
                let sample = &outcome.nanoseconds;
                text.push_str(&format!(
                    "\"{}\",{},{},{threads},{:.1},{:.1},{:.1},{:.4},{:.3},{:.3},{:.3}\n",
                    kind.name,
                    group.mutexes,
                    group.hold_ns,
                    sample.median(),
                    sample.lowest(),
                    sample.highest(),
                    outcome.switches,
                    outcome.interval.user,
                    outcome.interval.system,
                    outcome.interval.idle,
                ));
            }
        }
    }
    text
}

/// Returns the median of the spreads relative to their medians, in percent.
fn typical_spread(groups: &[OutcomeGroup]) -> String {
    let outcomes = groups
        .iter()
        .flat_map(|group| &group.outcomes)
        .flatten()
        .flatten();
    let spreads: Vec<f64> = outcomes
        .map(|outcome| {
            let sample = &outcome.nanoseconds;
            (sample.highest() - sample.lowest()) / sample.median() * 100.0
        })
        .collect();
    match spreads.is_empty() {
        true => "nothing that was measured".to_owned(),
        false => format!("{:.0} %", crate::statistics::Sample::new(spreads).median()),
    }
}

fn drawing(groups: &[OutcomeGroup], threads: &[usize]) -> Panels {
    let panel = |group: &OutcomeGroup| Panel {
        title: group.title(),
        lines: KINDS
            .iter()
            .enumerate()
            .map(|(place, kind)| Line {
                label: kind.name,
                points: threads
                    .iter()
                    .zip(&group.outcomes)
                    .filter_map(|(&threads, outcomes)| {
                        let outcome = outcomes[place].as_ref()?;
                        Some((threads as f64, outcome.nanoseconds.median()))
                    })
                    .collect(),
            })
            .collect(),
    };
    let mut columns: Vec<usize> = groups.iter().map(|group| group.mutexes).collect();
    columns.sort_unstable();
    columns.dedup();
    Panels {
        title: "ns for an iteration of all threads together, by the number of threads".to_owned(),
        columns: columns.len(),
        panels: groups.iter().map(panel).collect(),
    }
}
