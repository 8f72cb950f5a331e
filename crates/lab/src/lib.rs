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
    experiment: Experiment,
}

#[derive(Subcommand)]
enum Experiment {
    /// All experiments, one after the other.
    All,
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

impl Experiment {
    /// Runs it, or all, and publishes each report when it is there.
    fn run(&self, scale: Scale, publish: impl Fn(Report) -> io::Result<()>) -> io::Result<()> {
        match self {
            Experiment::All => {
                let server = scheduling::default_server();
                match server.exists() {
                    true => publish(scheduling::run(&scheduling::Options::default(), scale)?)?,
                    false => println!(
                        "scheduling: left out, there is no server at {}\n",
                        server.display()
                    ),
                }
                publish(wakeup::run(&wakeup::Options::default(), scale)?)?;
                publish(thread_state::run(&thread_state::Options::default(), scale)?)?;
                publish(linking::run(&linking::Options::default(), scale)?)?;
                publish(mutex::run(&mutex::Options::default(), scale)?)
            }
            Experiment::Scheduling(options) => publish(scheduling::run(options, scale)?),
            Experiment::Wakeup(options) => publish(wakeup::run(options, scale)?),
            Experiment::ThreadState(options) => publish(thread_state::run(options, scale)?),
            Experiment::Linking(options) => publish(linking::run(options, scale)?),
            Experiment::Mutex(options) => publish(mutex::run(options, scale)?),
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
    let publish = |report: Report| report.publish(&arguments.output);
    match arguments.experiment.run(scale, publish) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("paceline-lab: {error}");
            ExitCode::FAILURE
        }
    }
}
