//! The command-line program. `main.rs` runs it, and so does tests/other_version, for tests of upgrades.
#![forbid(unsafe_code)]

mod archive;
mod backup;
mod binlog;
mod cluster;
mod command_documents;
mod connection;
mod demo;
mod ganglia;
mod hidden_arguments;
mod join;
mod new_files;
mod progress;
mod promote;
mod restore;
mod rewind;
mod server_options;
mod stop;
mod sys_schema;
mod tls;
mod top;
mod workload;

use clap::{CommandFactory, Parser, Subcommand};
use join::NextStep;
use paceline_program_version as program_version;
use paceline_server::options::{self, Request, StartOptions};
use std::process::ExitCode;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Registry, reload};

/// Suited to transactions, whose memory is allocated by one thread and freed by another
/// (docs/decisions/0019-the-allocator.md).
#[global_allocator]
static ALLOCATOR: paceline_allocator::Allocator = paceline_allocator::Allocator;

/// A transactional database server that speaks MariaDB's protocols and whose binary log is its only log.
#[derive(Parser)]
#[command(
    name = "paceline",
    version = program_version::number(),
    about,
    disable_help_subcommand = true,
    propagate_version = true
)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Start a server. `paceline server --help` lists its options.
    #[command(disable_help_flag = true, disable_version_flag = true)]
    Server {
        /// --datadir DIR, --port N, --socket PATH, --VARIABLE=VALUE …
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        options: Vec<String>,
    },
    /// Back up a running server to a directory or a bucket, without blocking it.
    Backup(backup::Options),
    /// Store the binary log of one or more primaries, durably and byte for byte, and serve it to replicas.
    Archive(archive::Options),
    /// Turn an empty directory into a replica of a running server, and start it. `paceline join --help` lists its
    /// options.
    #[command(disable_help_flag = true, disable_version_flag = true)]
    Join {
        /// PRIMARY --datadir DIR …
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        options: Vec<String>,
    },
    /// Print a binary log of Paceline or MariaDB as SQL that restores it; also verify, summarize or undo it.
    /// `paceline binlog --help` lists its options.
    #[command(disable_help_flag = true, version = program_version::number())]
    Binlog(Box<binlog::Options>),
    /// Look at a cluster and change it: status, planned changes of the primary, members.
    Cluster(Box<cluster::Options>),
    /// Start a primary, a replica, an archive and a load in a temporary directory, to look at. At the end nothing is
    /// left.
    Demo(demo::Options),
    /// Send statistics of Paceline, MariaDB and memcached to Ganglia's gmond.
    Ganglia(Box<ganglia::Options>),
    /// Make a replica the primary. It first fetches the transactions that only other servers have; then they follow it.
    Promote(promote::Options),
    /// Create a data directory from a backup, at a point in time.
    Restore(restore::Options),
    /// Print completions for a shell: bash, elvish, fish, powershell or zsh.
    Completions(command_documents::CompletionOptions),
    /// Write the manual pages into a directory.
    Man(command_documents::ManOptions),
    /// Remove from a dead primary the transactions that its successor lacks, so that it can become a replica.
    Rewind(rewind::Options),
    /// Create or replace the database `sys`: views of waits, costly statements, needless indexes, memory.
    SysSchema(Box<sys_schema::Options>),
    /// Show live in the terminal what a Paceline or MariaDB does: sessions, statements, waits, commits, replication.
    Top(Box<top::Options>),
    /// Run a load that checks itself against a MariaDB or Paceline: transactions per second, latencies, errors.
    Workload(Box<workload::Options>),
}

/// Denies other users access to all files that this program creates, because they contain rows and password hashes.
/// Restrictions of the inherited umask remain.
fn close_files_to_others() {
    use rustix::fs::Mode;
    let inherited = rustix::process::umask(Mode::RWXO);
    rustix::process::umask(inherited | Mode::RWXO);
}

/// Runs the program with the arguments of this process.
pub fn run() -> ExitCode {
    demo::bound_process::obey();
    paceline_types::heap::observe(&paceline_allocator::JemallocHeap);
    close_files_to_others();
    let arguments = hidden_arguments::reveal_or_hide(std::env::args_os().collect());
    let line = match arguments.get(1).is_some_and(|command| command == "binlog") {
        true => CommandLine::parse_from(binlog::normalize_arguments(arguments)),
        false => CommandLine::parse_from(arguments),
    };
    let arguments_of_server = match line.command {
        Command::Server { options } => options,
        Command::Backup(options) => return report("backup", backup(&options)),
        Command::Archive(options) => {
            start_logging(chosen_level());
            return archive::run(options);
        }
        Command::Join { options } => return join(&options),
        Command::Binlog(options) => return binlog::run(*options),
        Command::Cluster(options) => return report("cluster", cluster::run(&options)),
        Command::Demo(options) => return report("demo", demo::run(&options)),
        Command::Ganglia(options) => return report("ganglia", ganglia(&options)),
        Command::Promote(options) => return promote(&options),
        Command::Completions(options) => {
            let printed = command_documents::print_completions(&options, CommandLine::command());
            return report("completions", printed);
        }
        Command::Man(options) => {
            let written = command_documents::write_manual(&options, CommandLine::command());
            return report("man", written);
        }
        Command::Restore(options) => return report("restore", restore(&options)),
        Command::Rewind(options) => {
            start_logging(LevelFilter::WARN);
            return report("rewind", rewind::run(&options));
        }
        Command::SysSchema(options) => return report("sys-schema", sys_schema(&options)),
        Command::Top(options) => return report("top", top(&options)),
        Command::Workload(options) => return report("workload", workload(&options)),
    };
    let done = match options::parse(&arguments_of_server) {
        Ok(Request::Help(text)) => {
            print!("{text}");
            Ok(())
        }
        Ok(Request::Version) => {
            println!("{}", version("server"));
            Ok(())
        }
        Ok(Request::Start(options)) => {
            start_logging(chosen_level());
            serve(*options, &arguments_of_server)
        }
        Err(error) => {
            eprintln!("paceline server: {error}\nTry 'paceline server --help'.");
            return ExitCode::from(2);
        }
    };
    end(done)
}

/// Runs a server, alone or as a member of a cluster.
fn serve(options: StartOptions, arguments: &[String]) -> Result<(), String> {
    match cluster::MemberSettings::of_server(&options)? {
        Some(settings) => cluster::run_member(settings, options, arguments),
        None => paceline_server::startup::run(options),
    }
}

fn join(arguments: &[String]) -> ExitCode {
    let arguments = match join::parse(arguments) {
        Ok(arguments) => arguments,
        Err(join::Refusal::Version) => {
            println!("{}", version("join"));
            return ExitCode::SUCCESS;
        }
        Err(join::Refusal::Clap(error)) => error.exit(),
        Err(join::Refusal::Server(error)) => {
            eprintln!("paceline join: {error}\nTry 'paceline join --help' and 'paceline server --help'.");
            return ExitCode::from(2);
        }
    };
    match cluster::MemberSettings::of_server(&arguments.server) {
        Ok(None) => {}
        Ok(Some(_)) => {
            eprintln!(
                "paceline join: a member of a cluster copies the primary by itself: start `paceline server` with these options"
            );
            return ExitCode::from(2);
        }
        Err(error) => {
            eprintln!("paceline join: {error}");
            return ExitCode::from(2);
        }
    }
    // Nothing uses the server while it is being filled, so it logs little.
    let level = start_logging(LevelFilter::WARN);
    match join::prepare(&arguments) {
        Err(error) => {
            eprintln!("paceline join: {error}");
            ExitCode::FAILURE
        }
        Ok(NextStep::Stop) => ExitCode::SUCCESS,
        Ok(NextStep::Serve) => {
            // This can only fail if logging has ended.
            let _ = level.reload(chosen_level());
            end(paceline_server::startup::run(arguments.into_server()))
        }
    }
}

/// Returns the output of `--version`, in the same form as clap's for the other commands.
fn version(command: &str) -> String {
    format!("paceline-{command} {}", program_version::number())
}

fn end(done: Result<(), String>) -> ExitCode {
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
    // An interrupted recovery may still be running.
    runtime.shutdown_background();
    done.map_err(|error| error.to_string())
}

fn workload(options: &workload::Options) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let done = runtime.block_on(workload::run(options));
    // A session may still wait for a silent server.
    runtime.shutdown_background();
    done.map_err(|error| error.to_string())
}

fn top(options: &top::Options) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let done = runtime.block_on(top::run(options));
    // A reading may still wait for a silent server.
    runtime.shutdown_background();
    done.map_err(|error| error.to_string())
}

fn ganglia(options: &ganglia::Options) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let done = runtime.block_on(ganglia::run(options));
    // The resolver may still wait for a name.
    runtime.shutdown_background();
    done.map_err(|error| error.to_string())
}

fn sys_schema(options: &sys_schema::Options) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let done = runtime.block_on(sys_schema::run(options));
    // The resolver may still wait for a name.
    runtime.shutdown_background();
    done.map_err(|error| error.to_string())
}

/// Prints a command's error and returns its exit code.
fn report(command: &str, done: Result<(), String>) -> ExitCode {
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

/// Returns the log level from `PACELINE_LOG`: error, warn, info (the default), debug, trace.
fn chosen_level() -> LevelFilter {
    let level = std::env::var("PACELINE_LOG")
        .ok()
        .and_then(|level| level.parse().ok())
        .unwrap_or(tracing::Level::INFO);
    LevelFilter::from_level(level)
}

/// Starts logging to standard error. The returned handle changes the level.
fn start_logging(level: LevelFilter) -> reload::Handle<LevelFilter, Registry> {
    let (level, handle) = reload::Layer::new(level);
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(paceline_server::log_lines::LogLines::default)
        .with_target(false)
        .with_ansi(false);
    tracing_subscriber::registry().with(level).with(lines).init();
    handle
}
