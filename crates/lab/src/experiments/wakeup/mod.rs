//! `wakeup`: from the signal to the last wake of many waiting threads.
//!
//! All threads wait at one gate, or each at its own. The clock runs from before the first gate is opened until the
//! last thread has left its wait. A thread that was woken waits at an exit until then, as a thread of a server goes
//! on to wait for something else.
//!
//! ```text
//!  main:    start all ── all sleep? ── open the gates ················ last ── open the exit
//!  thread:       wait ──────────────────────── woken, count ── wait at the exit ──────── end
//!                                      └──────── measured ─────────────┘
//! ```

mod gates;
mod tasks;

use crate::machine;
use crate::plot::{Bar, Bars, Drawing};
use crate::report::Report;
use crate::scale::Scale;
use crate::statistics::{Sample, repeat_in_turn};
use crate::table::{Table, figure, figure_or_blank, spread};
use gates::{EventFdGate, FutexGate, Gate, ParkingLotGate, PthreadGate, Sharing, StandardGate, UnparkGate};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// Arguments of the experiment.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Options {
    /// Number of waiting threads [default: 5,000; 200 with --quick].
    #[arg(long)]
    threads: Option<usize>,
    /// Repeats of each figure [default: 5; 2 with --quick].
    #[arg(long)]
    repeats: Option<usize>,
}

/// Number of threads of the published figures.
const THREADS: usize = 5000;

/// Stack of a waiting thread, in bytes. It calls next to nothing.
const STACK: usize = 64 * 1024;

/// A way to wait: its name, the measurement in ms, and the published figures in ms of one gate for all and of one each.
struct Way {
    name: &'static str,
    measure: fn(usize, Sharing) -> io::Result<f64>,
    original: [Option<f64>; 2],
    /// Whether many can wait at one gate.
    has_shared: bool,
}

const WAYS: [Way; 7] = [
    Way {
        name: "pthread condition variable",
        measure: wake_threads::<PthreadGate>,
        original: [Some(46.9), Some(17.6)],
        has_shared: true,
    },
    Way {
        name: "futex",
        measure: wake_threads::<FutexGate>,
        original: [None, None],
        has_shared: true,
    },
    Way {
        name: "std condition variable",
        measure: wake_threads::<StandardGate>,
        original: [None, None],
        has_shared: true,
    },
    Way {
        name: "parking_lot condition variable",
        measure: wake_threads::<ParkingLotGate>,
        original: [None, None],
        has_shared: true,
    },
    Way {
        name: "std park and unpark",
        measure: wake_threads::<UnparkGate>,
        original: [None, None],
        has_shared: false,
    },
    Way {
        name: "eventfd",
        measure: wake_threads::<EventFdGate>,
        original: [None, None],
        has_shared: true,
    },
    Way {
        name: "tokio notification of tasks",
        measure: tasks::wake_tasks,
        original: [None, None],
        has_shared: true,
    },
];

impl Way {
    fn label(&self, sharing: Sharing) -> String {
        match sharing {
            Sharing::Shared => format!("{}, one for all", self.name),
            Sharing::Own => format!("{}, one each", self.name),
        }
    }
}

/// Runs the experiment.
///
/// # Errors
/// Those of creating threads and descriptors.
pub fn run(options: &Options, scale: Scale) -> io::Result<Report> {
    let threads = options.threads.unwrap_or(scale.choose(THREADS, 200)).max(1);
    let repeats = options.repeats.unwrap_or(scale.choose(5, 2)).max(1);
    gates::allow_descriptors(threads)?;
    let shared = WAYS
        .iter()
        .filter(|way| way.has_shared)
        .map(|way| (way, Sharing::Shared));
    let subjects: Vec<_> = shared.chain(WAYS.iter().map(|way| (way, Sharing::Own))).collect();
    let results = repeat_in_turn(&subjects, repeats, |(way, sharing)| {
        (way.measure)(threads, *sharing)
    })?;
    let bars: Vec<Bar> = subjects
        .iter()
        .zip(results)
        .map(|((way, sharing), milliseconds)| Bar {
            label: way.label(*sharing),
            sample: Sample::new(milliseconds),
            // Published figures are of that number of threads.
            original: way.original[*sharing as usize].filter(|_| threads == THREADS),
        })
        .collect();
    let mut table = Table::new([
        "way to wait",
        "one for all, ms",
        "lowest … highest",
        "published, ms",
        "one each, ms",
        "lowest … highest",
        "published, ms",
    ]);
    for way in &WAYS {
        let mut cells = vec![way.name.to_owned()];
        for sharing in [Sharing::Shared, Sharing::Own] {
            match bars.iter().find(|bar| bar.label == way.label(sharing)) {
                Some(bar) => cells.extend([
                    figure(bar.sample.median()),
                    spread(&bar.sample),
                    figure_or_blank(bar.original),
                ]),
                None => cells.extend([String::new(), String::new(), String::new()]),
            }
        }
        table.row(cells);
    }
    let title = format!("From the signal to the last wake of {threads} threads");
    Ok(Report {
        name: "wakeup",
        question: format!("{title}; median of {repeats} repeats."),
        tables: vec![(String::new(), table)],
        notes: vec![
            "Tasks of tokio wait without a thread each: its threads are as many as processors.".to_owned(),
        ],
        drawing: Drawing::Bars(Bars {
            title,
            unit: "ms",
            bars,
        }),
        details: None,
    })
}

/// Measures one signal to that many threads, in ms.
fn wake_threads<G: Gate + 'static>(threads: usize, sharing: Sharing) -> io::Result<f64> {
    let gates: Vec<Arc<G>> = match sharing {
        Sharing::Shared => vec![Arc::new(G::new(threads)?)],
        Sharing::Own => (0..threads)
            .map(|_| G::new(1).map(Arc::new))
            .collect::<io::Result<_>>()?,
    };
    let exit = Arc::new(FutexGate::new(threads)?);
    let arrived = Arc::new(AtomicUsize::new(0));
    let awaited = Arc::new(AtomicUsize::new(threads));
    let (last, last_woken) = mpsc::channel();
    let mut handles = Vec::with_capacity(threads);
    for number in 0..threads {
        let gate = gates[number % gates.len()].clone();
        let (own_exit, arrived, awaited, last) =
            (exit.clone(), arrived.clone(), awaited.clone(), last.clone());
        let body = move || {
            gate.register();
            arrived.fetch_add(1, Ordering::Relaxed);
            gate.wait();
            if awaited.fetch_sub(1, Ordering::Relaxed) == 1 {
                // The receiver is there until it has this.
                let _ = last.send(Instant::now());
            }
            own_exit.wait();
        };
        match thread::Builder::new().stack_size(STACK).spawn(body) {
            Ok(handle) => handles.push(handle),
            Err(error) => {
                // Those that wait already would never end.
                gates.iter().for_each(|gate| gate.open());
                exit.open();
                return Err(io::Error::new(
                    error.kind(),
                    format!("{number} threads of {threads}: {error}"),
                ));
            }
        }
    }
    while arrived.load(Ordering::Relaxed) < threads {
        thread::sleep(Duration::from_millis(1));
    }
    machine::await_sleeping_threads()?;
    let start = Instant::now();
    gates.iter().for_each(|gate| gate.open());
    let end = last_woken.recv().map_err(io::Error::other)?;
    exit.open();
    for handle in handles {
        handle
            .join()
            .map_err(|_| io::Error::other("a waiting thread panicked"))?;
    }
    Ok((end - start).as_secs_f64() * 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_wakes_all() {
        gates::allow_descriptors(50).unwrap();
        for way in &WAYS {
            for sharing in [Sharing::Shared, Sharing::Own] {
                if way.has_shared || sharing == Sharing::Own {
                    let ms = (way.measure)(50, sharing).unwrap();
                    assert!(ms > 0.0, "{}, {sharing:?}: {ms}", way.name);
                }
            }
        }
    }
}
