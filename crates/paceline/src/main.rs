//! The command-line program.
#![forbid(unsafe_code)]

mod archive;
mod backup;
mod binlog;
mod promote;
mod restore;

use clap::{Parser, Subcommand};
use paceline_server::options::{self, Request};
use std::process::ExitCode;

/// A transactional database server that speaks MariaDB's protocols and whose binary log is its only log.
#[derive(Parser)]
#[command(name = "paceline", version, about, disable_help_subcommand = true)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Start a server. `paceline server --help` lists its options.
    #[command(disable_help_flag = true)]
    Server {
        /// --datadir DIR, --port N, --socket PATH, --VARIABLE=VALUE …
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        options: Vec<String>,
    },
    /// Copy a running server into a directory or a bucket, blocking nobody.
    Backup(backup::Options),
    /// Print binary log files, ours or MariaDB's, as SQL that restores them.
    Binlog(binlog::Options),
    /// Keep the log of one primary or several, durably and byte for byte, and serve it to replicas.
    Archive(archive::Options),
    /// Make a replica the primary: it fetches what only other replicas have, and they follow it.
    Promote(promote::Options),
    /// Make a data directory of a backup, at a point in time.
    Restore(restore::Options),
}

fn main() -> ExitCode {
    let options = match CommandLine::parse().command {
        Command::Server { options } => options,
        Command::Binlog(options) => return binlog::run(&options),
        Command::Backup(options) => return told("backup", backup(&options)),
        Command::Archive(options) => {
            start_logging();
            return archive::run(options);
        }
        Command::Promote(options) => return promote(&options),
        Command::Restore(options) => return told("restore", restore(&options)),
    };
    let done = match options::parse(&options) {
        Ok(Request::Help(text)) => {
            print!("{text}");
            Ok(())
        }
        Ok(Request::Start(options)) => {
            start_logging();
            paceline_server::startup::run(*options)
        }
        Err(error) => {
            eprintln!("paceline server: {error}\nTry 'paceline server --help'.");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn backup(options: &backup::Options) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    runtime
        .block_on(backup::run(options))
        .map_err(|error| error.to_string())
}

fn restore(options: &restore::Options) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let done = runtime.block_on(restore::run(options));
    // A recovery that was interrupted need not come to its end.
    runtime.shutdown_background();
    done.map_err(|error| error.to_string())
}

/// How a command has ended, for its caller.
fn told(command: &str, done: Result<(), String>) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("paceline {command}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn promote(options: &promote::Options) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let done = match runtime {
        Ok(runtime) => runtime
            .block_on(promote::run(options))
            .map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("paceline promote: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Log lines go to standard error. `PACELINE_LOG` chooses how much: error, warn, info (the default), debug, trace.
fn start_logging() {
    let level = std::env::var("PACELINE_LOG")
        .ok()
        .and_then(|level| level.parse().ok())
        .unwrap_or(tracing::Level::INFO);
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_max_level(level)
        .with_target(false)
        .with_ansi(false)
        .init();
}
