//! `paceline archive`: a server without tables that stores the log of one or several primaries.

use crate::cluster::{self, MemberOptions, MemberSettings};
use crate::tls::MasterTlsOptions;
use clap::{Args, ValueEnum};
use paceline_archive::options::{
    Account, ArchiveOptions, Candidates, Compression, Retention, Role, SemiSync,
};
use paceline_cluster_host::member_file::refuse_directory_of_member;
use paceline_cluster_host::register::KindText;
use paceline_http_endpoint::EndpointOptions;
use paceline_types::ServerId;
use paceline_wire::tls::TlsParameters;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Options of `paceline archive`.
#[derive(Args)]
pub struct Options {
    /// Primary to follow: HOST, HOST:PORT or [IPV6]:PORT. Several addresses separated by commas are servers of which
    /// one at a time is the primary. Repeat the option to follow several primaries, each with its own replication
    /// domains.
    #[arg(
        long = "from",
        value_name = "ADDRESS[,ADDRESS…]",
        required_unless_present_any = ["serve", "cluster"],
        requires = "datadir",
        conflicts_with = "cluster"
    )]
    from: Vec<Candidates>,
    /// Directory of the log. It is created if it does not exist.
    #[arg(long, value_name = "DIR")]
    datadir: Option<PathBuf>,
    /// Serve the binary log files that another server has left in this directory, and follow no primary. Nothing is
    /// written to the directory.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["from", "datadir", "to", "cluster"])]
    serve: Option<PathBuf>,
    /// Copy closed files to this directory or object storage URL (s3://BUCKET/PREFIX), and read them from there when a
    /// replica requests them.
    #[arg(long, value_name = "DIR|URL")]
    to: Option<String>,
    /// Age, counted from when a file was closed, after which it is removed from the local disk. With --to, only after
    /// it has been copied.
    #[arg(long, value_name = "SECONDS")]
    binlog_expire_logs_seconds: Option<u64>,
    /// Total size of the files above which the oldest are removed from the local disk. With --to, only after they have
    /// been copied.
    #[arg(long, value_name = "BYTES")]
    max_binlog_total_size: Option<u64>,
    /// Compression of closed files.
    #[arg(long, value_enum, default_value_t = CompressionOption::Zstd)]
    compression: CompressionOption,
    /// Account on the primaries. Replicas and operators log in to the archive with the same name and password.
    #[arg(long, short = 'u', default_value = "repl")]
    user: String,
    /// Password of the account.
    #[arg(
        long,
        short = 'p',
        env = "MYSQL_PWD",
        hide_env_values = true,
        default_value = ""
    )]
    password: String,
    /// Server id of the archive; by default derived from the host name and the directory.
    #[arg(long, value_name = "N")]
    server_id: Option<u32>,
    /// TCP port for replicas and operators; 0 for any free port.
    #[arg(long, short = 'P', default_value_t = 3306)]
    port: u16,
    /// Address to listen on.
    #[arg(long, default_value = "0.0.0.0")]
    bind_address: String,
    /// Path of the UNIX socket; by default `archive.sock` in the directory of --datadir, and none with --serve.
    #[arg(long, short = 'S', value_name = "PATH")]
    socket: Option<PathBuf>,
    /// Base name of the log files; by default `archive`, and with --serve that of the existing files.
    #[arg(long, value_name = "NAME")]
    log_bin: Option<String>,
    /// Size at which a new log file is started.
    #[arg(long, value_name = "BYTES", default_value_t = 256 << 20)]
    max_binlog_size: u64,
    /// Acknowledge durable transactions to the primaries (semi-synchronous replication).
    #[arg(long, value_enum, default_value_t = Switch::On, conflicts_with = "cluster")]
    semi_sync: Switch,
    /// Do not offer TLS to clients of the archive.
    #[arg(long)]
    skip_ssl: bool,
    /// Certificate of the archive; by default one is created at every start.
    #[arg(long, value_name = "FILE", requires = "ssl_key")]
    ssl_cert: Option<String>,
    /// Private key of this certificate.
    #[arg(long, value_name = "FILE", requires = "ssl_cert")]
    ssl_key: Option<String>,
    /// File with certificate authorities. A client certificate that none of them has signed is refused.
    #[arg(long, value_name = "FILE")]
    ssl_ca: Option<String>,
    /// HOST:PORT on which `/metrics`, `/health` and `/ready` are served; by default none.
    #[arg(long, value_name = "HOST:PORT")]
    http_address: Option<String>,
    /// File whose first line is the token that `/metrics` needs. An address that other machines can reach needs one.
    #[arg(long, value_name = "FILE", requires = "http_address")]
    http_token_file: Option<String>,
    /// TLS options for connections to the primaries.
    #[command(flatten)]
    master_tls: MasterTlsOptions,
    /// Options of a member of a cluster.
    #[command(flatten)]
    member: MemberOptions,
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
        eprintln!(
            "paceline archive: --to requires compression: it cannot be combined with --compression=none"
        );
        return ExitCode::from(2);
    }
    let member = match MemberSettings::new(options.member, KindText::Archive) {
        Ok(member) => member,
        Err(error) => {
            eprintln!("paceline archive: {error}");
            return ExitCode::from(2);
        }
    };
    if member.is_some() && options.master_tls.is_given() {
        eprintln!("paceline archive: --master-ssl has no effect with --cluster: members always use TLS");
        return ExitCode::from(2);
    }
    let account = Account {
        user: options.user,
        password: options.password,
    };
    let directory = options.datadir.clone();
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
            eprintln!("paceline archive: --from and --cluster require --datadir");
            return ExitCode::from(2);
        }
    };
    let options = ArchiveOptions {
        role,
        clients: vec![account.clone()],
        account,
        server_id: options.server_id.map(ServerId),
        bind_address: options.bind_address,
        port: Some(options.port),
        socket: options.socket,
        log_bin: options.log_bin.unwrap_or_else(|| "archive".to_owned()),
        file_size_max: options.max_binlog_size.max(FILE_SIZE_MIN),
        semi_sync: match options.semi_sync {
            // Members acknowledge by messages.
            _ if member.is_some() => SemiSync::Off,
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
        http: options.http_address.map(|address| EndpointOptions {
            address,
            token_file: options.http_token_file.unwrap_or_default(),
        }),
    };
    let outcome = match (member, directory) {
        (Some(member), Some(directory)) => cluster::run_archive(&member, options, &directory),
        (None, Some(directory)) => refuse_directory_of_member(&directory)
            .and_then(|()| paceline_archive::startup::run(options).map_err(|error| error.to_string())),
        (_, None) => paceline_archive::startup::run(options).map_err(|error| error.to_string()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Minimum size of a log file in bytes, as for a server's `max_binlog_size`.
const FILE_SIZE_MIN: u64 = 4096;
