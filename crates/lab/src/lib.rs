//! The lab: experiments about what threads, locks and calls cost on the machine at hand.
//!
//! Each subcommand is an experiment. It prints a table with the axes of a measurement that was published before, the
//! published figures beside its own, and writes a drawing. `docs/lab` has a page for each: the question, the method and
//! what follows for the server.
//!
//! ```text
//!  experiments/wakeup ──┐
//!  experiments/…      ──┼──▶ Report { tables, drawings, notes } ──▶ terminal, *.svg
//!    └ driven_server    │
//!  machine            ──┘
//! ```
//!
//! The machine is rarely idle. So each figure is the median of several repeats, and the table has the lowest and the
//! highest of them.

#![deny(unsafe_code)]

mod cost_table;
mod cycles;
mod driven_server;
mod experiments;
mod linked_functions;
mod machine;
mod plot;
mod processor_time;
mod pthread;
mod report;
mod scale;
mod statistics;
mod table;

use clap::{Parser, Subcommand};
use driven_server::{missing_programs, require_programs};
use experiments::{fsyncs, hot_row, linking, mutex, scheduling, thread_state, wakeup};
use report::Report;
use scale::Scale;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

/// Experiments about what threads, locks and calls cost on this machine.
#[derive(Parser)]
#[command(name = "paceline-lab", version)]
struct CommandLine {
    /// Shortened form: shows that an experiment runs, its figures mean little.
    #[arg(long, global = true)]
    quick: bool,
    /// Directory of the drawings.
    #[arg(long, global = true, default_value = "target/lab")]
    output: PathBuf,
    #[command(subcommand)]
    choice: Choice,
}

#[derive(Subcommand)]
enum Choice {
    /// All experiments, one after the other.
    All,
    #[command(flatten)]
    One(Experiment),
}

#[derive(Subcommand)]
enum Experiment {
    /// Group commit: the serial part handed on, or done by one thread. Needs a server's program.
    Scheduling(scheduling::Options),
    /// Syncs of a write load, counted by the kernel and by the server, of this server and MariaDB.
    Fsyncs(fsyncs::Options),
    /// Updates of hot rows, with early release of row locks and without, beside MariaDB.
    HotRow(hot_row::Options),
    /// From the signal to the last wake of 5,000 waiting threads.
    Wakeup(wakeup::Options),
    /// Changes of a thread's state, and what a session's command tells the process list.
    ThreadState(thread_state::Options),
    /// Calls within a program and between libraries.
    Linking(linking::Options),
    /// Mutexes of eight kinds under 1 to 1,024 threads.
    Mutex(mutex::Options),
}

impl Choice {
    /// Returns the experiments. Those whose programs are not there are left out of all.
    fn experiments(self) -> Vec<Experiment> {
        let mut all = match self {
            Choice::One(experiment) => return vec![experiment],
            Choice::All => vec![
                Experiment::Scheduling(scheduling::Options::default()),
                Experiment::Fsyncs(fsyncs::Options::default()),
                Experiment::HotRow(hot_row::Options::default()),
                Experiment::Wakeup(wakeup::Options::default()),
                Experiment::ThreadState(thread_state::Options::default()),
                Experiment::Linking(linking::Options::default()),
                Experiment::Mutex(mutex::Options::default()),
            ],
        };
        all.retain(|experiment| {
            let (name, programs) = experiment.required_programs();
            let missing = missing_programs(&programs);
            if !missing.is_empty() {
                println!("Left out: {name}. There is no {}\n", missing.join(" and no "));
            }
            missing.is_empty()
        });
        all
    }
}

impl Experiment {
    /// Returns the name of an experiment with servers, and the programs that it starts.
    fn required_programs(&self) -> (&'static str, Vec<PathBuf>) {
        match self {
            Experiment::Scheduling(options) => ("scheduling", options.required_programs()),
            Experiment::Fsyncs(options) => ("fsyncs", options.required_programs()),
            Experiment::HotRow(options) => ("hot-row", options.required_programs()),
            _ => ("", vec![]),
        }
    }

    fn run(&self, scale: Scale) -> io::Result<Report> {
        require_programs(&self.required_programs().1)?;
        match self {
            Experiment::Scheduling(options) => scheduling::run(options, scale),
            Experiment::Fsyncs(options) => fsyncs::run(options, scale),
            Experiment::HotRow(options) => hot_row::run(options, scale),
            Experiment::Wakeup(options) => wakeup::run(options, scale),
            Experiment::ThreadState(options) => thread_state::run(options, scale),
            Experiment::Linking(options) => linking::run(options, scale),
            Experiment::Mutex(options) => mutex::run(options, scale),
        }
    }
}

/// Runs the program.
pub fn run() -> ExitCode {
    let arguments = CommandLine::parse();
    let scale = match arguments.quick {
        true => Scale::Quick,
        false => Scale::Full,
    };
    println!("{}", machine::description());
    for experiment in arguments.choice.experiments() {
        let done = experiment
            .run(scale)
            .and_then(|report| report.publish(&arguments.output));
        if let Err(error) = done {
            eprintln!("paceline-lab: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
