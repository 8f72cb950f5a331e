//! The lab: experiments about what threads, locks and calls cost on the machine at hand.
//!
//! Each subcommand is an experiment. It prints a table with the axes of a measurement that was published before, the
//! published figures beside its own, and writes a drawing. `docs/lab` has a page for each: the question, the method and
//! what follows for the server.
//!
//! ```text
//!  experiments/wakeup ──┐
//!  experiments/…      ──┼──▶ Report { tables, drawings, notes } ──▶ terminal, *.svg
//!  machine            ──┘
//! ```
//!
//! The machine is rarely idle. So each figure is the median of several repeats, and the table has the lowest and the
//! highest of them.

#![deny(unsafe_code)]

mod cost_table;
mod cycles;
mod experiments;
mod linked_functions;
mod machine;
mod plot;
mod processor_time;
mod pthread;
mod report;
mod statistics;
mod table;

use clap::{Parser, Subcommand};
use experiments::{Scale, linking, mutex, scheduling, thread_state, wakeup};
use report::Report;
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
    /// Returns the experiments. Those that drive a server are left out of all if none is beside this program.
    fn experiments(self) -> Vec<Experiment> {
        let mut all = match self {
            Choice::One(experiment) => return vec![experiment],
            Choice::All => vec![
                Experiment::Scheduling(scheduling::Options::default()),
                Experiment::Wakeup(wakeup::Options::default()),
                Experiment::ThreadState(thread_state::Options::default()),
                Experiment::Linking(linking::Options::default()),
                Experiment::Mutex(mutex::Options::default()),
            ],
        };
        let server = scheduling::default_server();
        if !server.exists() {
            println!(
                "Left out: scheduling. There is no server at {}\n",
                server.display()
            );
            all.retain(|experiment| !matches!(experiment, Experiment::Scheduling(_)));
        }
        all
    }
}

impl Experiment {
    fn run(&self, scale: Scale) -> io::Result<Report> {
        match self {
            Experiment::Scheduling(options) => scheduling::run(options, scale),
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
