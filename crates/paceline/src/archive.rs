//! `paceline archive`: a server with no tables that keeps the log of one primary or several.

use clap::{Args, ValueEnum};
use paceline_archive::options::{Account, ArchiveOptions, Candidates, SemiSync};
use paceline_types::ServerId;
use std::path::PathBuf;
use std::process::ExitCode;

/// What the command line says.
#[derive(Args)]
pub struct Options {
    /// A primary to follow: HOST[:PORT], or several with commas of which one is the primary at a time. More than once: several primaries,
    /// each with replication domains of its own.
    #[arg(long = "from", value_name = "ADDRESS[,ADDRESS…]", required = true)]
    from: Vec<Candidates>,
    /// Where the log is kept. Made if it is not there.
    #[arg(long, value_name = "DIR")]
    datadir: PathBuf,
    /// Who logs in on the primaries; replicas and operators log in here with the same name.
    #[arg(long, short = 'u', default_value = "repl")]
    user: String,
    /// The password; without it that of the environment.
    #[arg(
        long,
        short = 'p',
        env = "MYSQL_PWD",
        hide_env_values = true,
        default_value = ""
    )]
    password: String,
    /// The archive's own server id. Without it one is made of the machine's name and the directory.
    #[arg(long, value_name = "N")]
    server_id: Option<u32>,
    /// The TCP port for replicas and operators; 0 takes any.
    #[arg(long, short = 'P', default_value_t = 3306)]
    port: u16,
    /// The address to listen on.
    #[arg(long, default_value = "0.0.0.0")]
    bind_address: String,
    /// The UNIX socket. Without it `archive.sock` in the directory.
    #[arg(long, short = 'S', value_name = "PATH")]
    socket: Option<PathBuf>,
    /// What file names begin with.
    #[arg(long, default_value = "archive")]
    log_bin: String,
    /// A file that has reached so many bytes is followed by another.
    #[arg(long, value_name = "BYTES", default_value_t = 256 << 20)]
    max_binlog_size: u64,
    /// Whether primaries are told what is durable here (semi-synchronous replication).
    #[arg(long, value_enum, default_value_t = Switch::On)]
    semi_sync: Switch,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Switch {
    On,
    Off,
}

/// Runs the archive until it is told to stop.
pub fn run(options: Options) -> ExitCode {
    let options = ArchiveOptions {
        datadir: options.datadir,
        sources: options.from,
        account: Account {
            user: options.user,
            password: options.password,
        },
        server_id: options.server_id.map(ServerId),
        bind_address: options.bind_address,
        port: Some(options.port),
        socket: options.socket,
        log_bin: options.log_bin,
        file_size_max: options.max_binlog_size.max(FILE_SIZE_MIN),
        semi_sync: match options.semi_sync {
            Switch::On => SemiSync::Acknowledge,
            Switch::Off => SemiSync::Off,
        },
    };
    match paceline_archive::startup::run(options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// The smallest file, in bytes: as for a server's `max_binlog_size`.
const FILE_SIZE_MIN: u64 = 4096;
