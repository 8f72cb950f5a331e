//! `paceline archive`: a server without tables that stores the log of one or several primaries.

use crate::tls::MasterTlsOptions;
use clap::{Args, ValueEnum};
use paceline_archive::options::{
    Account, ArchiveOptions, Candidates, Compression, Retention, Role, SemiSync,
};
use paceline_types::ServerId;
use paceline_wire::tls::TlsParameters;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Options of `paceline archive`.
#[derive(Args)]
pub struct Options {
    /// A primary to follow: HOST, HOST:PORT or [IPV6]:PORT, or several with commas of which one is the primary at a
    /// time. More than once: several primaries, each with replication domains of its own.
    #[arg(
        long = "from",
        value_name = "ADDRESS[,ADDRESS…]",
        required_unless_present = "serve",
        requires = "datadir"
    )]
    from: Vec<Candidates>,
    /// Where the log is kept. Made if it is not there.
    #[arg(long, value_name = "DIR")]
    datadir: Option<PathBuf>,
    /// Serve the binary log files in a directory, which another server has left, and follow nobody. Nothing is written
    /// there.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["from", "datadir", "to"])]
    serve: Option<PathBuf>,
    /// Copy closed files to a directory or an object storage URL (s3://BUCKET/PREFIX), and read them back from there
    /// when a replica asks.
    #[arg(long, value_name = "DIR|URL")]
    to: Option<String>,
    /// Files that were closed longer ago do not stay on this disk. With --to never before they are copied.
    #[arg(long, value_name = "SECONDS")]
    binlog_expire_logs_seconds: Option<u64>,
    /// The oldest files do not stay on this disk when all of them are larger than that. With --to never before they are
    /// copied.
    #[arg(long, value_name = "BYTES")]
    max_binlog_total_size: Option<u64>,
    /// How closed files are kept.
    #[arg(long, value_enum, default_value_t = CompressionOption::Zstd)]
    compression: CompressionOption,
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
    /// What file names begin with: `archive`; with --serve, what is there.
    #[arg(long, value_name = "NAME")]
    log_bin: Option<String>,
    /// A file that has reached so many bytes is followed by another.
    #[arg(long, value_name = "BYTES", default_value_t = 256 << 20)]
    max_binlog_size: u64,
    /// Whether primaries are told what is durable here (semi-synchronous replication).
    #[arg(long, value_enum, default_value_t = Switch::On)]
    semi_sync: Switch,
    /// Do not offer TLS to those who connect here.
    #[arg(long)]
    skip_ssl: bool,
    /// The certificate that they are shown; without one, it is made at every start.
    #[arg(long, value_name = "FILE", requires = "ssl_key")]
    ssl_cert: Option<String>,
    /// Its key.
    #[arg(long, value_name = "FILE", requires = "ssl_cert")]
    ssl_key: Option<String>,
    /// Refuse those who show a certificate that none of these authorities has signed.
    #[arg(long, value_name = "FILE")]
    ssl_ca: Option<String>,
    /// TLS to the primaries.
    #[command(flatten)]
    master_tls: MasterTlsOptions,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum CompressionOption {
    Zstd,
    None,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Switch {
    On,
    Off,
}

/// Runs the archive until it is asked to stop.
pub fn run(options: Options) -> ExitCode {
    let retention = Retention {
        age_max: options.binlog_expire_logs_seconds.map(Duration::from_secs),
        bytes_max: options.max_binlog_total_size,
    };
    if options.to.is_some() && options.compression == CompressionOption::None {
        eprintln!("paceline archive: --to copies compressed files: --compression=none does not go with it");
        return ExitCode::from(2);
    }
    let role = match (options.serve, options.datadir) {
        (Some(directory), _) => Role::Serve {
            directory,
            log_bin: options.log_bin.clone(),
        },
        (None, Some(datadir)) => Role::Follow {
            datadir,
            sources: options.from,
        },
        (None, None) => {
            eprintln!("paceline archive: --from needs --datadir");
            return ExitCode::from(2);
        }
    };
    let options = ArchiveOptions {
        role,
        account: Account {
            user: options.user,
            password: options.password,
        },
        server_id: options.server_id.map(ServerId),
        bind_address: options.bind_address,
        port: Some(options.port),
        socket: options.socket,
        log_bin: options.log_bin.unwrap_or_else(|| "archive".to_owned()),
        file_size_max: options.max_binlog_size.max(FILE_SIZE_MIN),
        semi_sync: match options.semi_sync {
            Switch::On => SemiSync::Acknowledge,
            Switch::Off => SemiSync::Off,
        },
        storage: options.to,
        compression: match options.compression {
            CompressionOption::Zstd => Compression::Zstd,
            CompressionOption::None => Compression::None,
        },
        retention,
        source_tls: options.master_tls.settings(),
        tls: match options.skip_ssl {
            true => None,
            false => Some(TlsParameters {
                certificate: options.ssl_cert.unwrap_or_default(),
                key: options.ssl_key.unwrap_or_default(),
                ca: options.ssl_ca.unwrap_or_default(),
                ..TlsParameters::default()
            }),
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

/// Minimum size of a log file in bytes, as for a server's `max_binlog_size`.
const FILE_SIZE_MIN: u64 = 4096;
