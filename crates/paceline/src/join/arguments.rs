//! The command line: options of `paceline join`, mixed with options of `paceline server` in any order.

use crate::connection::{ServerError, SilenceLimit, or_environment};
use crate::tls::MasterTlsOptions;
use clap::{CommandFactory, Parser, ValueEnum};
use paceline_server::options::{self, OptionError, Request, StartOptions};
use paceline_wire::client::ConnectOptions;
use paceline_wire::tls::ClusterKey;

/// Default number of sessions that read from the primary.
const PARALLEL: u16 = 4;
const PARALLEL_MAX: i64 = 64;

/// Turn an empty directory into a replica of a running server, MariaDB or Paceline, and start the replica.
#[derive(Parser, Debug)]
#[command(
    name = "paceline join",
    after_help = "All options of `paceline server` (--datadir DIR, --server-id N, --port N, …) are accepted too. The replica starts with \
                  them when it is complete. It is read-only, unless these options say otherwise."
)]
pub struct Options {
    /// Server to copy: HOST, HOST:PORT or [IPV6]:PORT. The replica will connect to it at this address.
    pub primary: String,
    /// Account on the primary. It needs the privileges SELECT and RELOAD on *.*; for copying rows also TRIGGER, and
    /// SHOW VIEW if there are views; for copying files also REPLICATION SLAVE.
    #[arg(long, default_value = "root")]
    pub user: String,
    /// Password of the account; by default from PACELINE_PASSWORD or MYSQL_PWD in the environment.
    #[arg(long, default_value = "", hide_default_value = true)]
    pub password: String,
    /// Account that the replica replicates with; by default the same.
    #[arg(long)]
    pub replication_user: Option<String>,
    /// Password of this account; by default from PACELINE_REPLICATION_PASSWORD in the environment.
    #[arg(long)]
    pub replication_password: Option<String>,
    /// Number of sessions that read rows. Each reads one table, or a part of a large table, at a time.
    #[arg(long, default_value_t = PARALLEL, value_parser = clap::value_parser!(u16).range(1..=PARALLEL_MAX))]
    pub parallel: u16,
    /// Form of the copy; by default the files of a Paceline, unless something is left out or filtered, and the rows
    /// of a MariaDB.
    #[arg(long, value_name = "WHAT")]
    pub copy: Option<CopyMethod>,
    /// List of the kinds of objects that the replica will not have. Triggers, routines and events that are created
    /// later on the primary are left out too.
    #[arg(long, value_delimiter = ',', value_name = "KIND")]
    pub leave_out: Vec<Kind>,
    /// Time to wait for conflicting DDL on the primary, in seconds.
    #[arg(long, default_value_t = 10)]
    pub lock_timeout: u32,
    /// Do not start the replica when it is complete.
    #[arg(long)]
    pub prepare_only: bool,
    /// Time limit for a silent primary.
    #[command(flatten)]
    pub silence_limit: SilenceLimit,
    /// TLS options of all connections to the primary: of the copy, and of the replica.
    #[command(flatten)]
    pub tls: MasterTlsOptions,
}

impl Options {
    /// Returns the login at the primary.
    ///
    /// # Errors
    /// Fails if the TLS options cannot be used.
    pub fn login(&self, user: &str, password: &str) -> Result<ConnectOptions, ServerError> {
        let tls = self
            .tls
            .settings()
            .client()
            .map_err(|error| ServerError::new(&self.primary, error))?;
        Ok(ConnectOptions {
            user: user.to_owned(),
            password: password.to_owned(),
            tls,
            idle_timeout: self.silence_limit.limit(),
            ..ConnectOptions::default()
        })
    }
}

/// The part of the primary that is copied.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum CopyMethod {
    /// The files of a Paceline: all of its data, including accounts.
    Files,
    /// The rows of the tables.
    Rows,
}

/// Kind of object that can be left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Kind {
    /// Views.
    Views,
    /// Triggers. Their changes on the primary are logged as rows.
    Triggers,
    /// Stored procedures and functions.
    Routines,
    /// Events of the event scheduler.
    Events,
    /// Foreign keys without actions. The primary checks them.
    ForeignKeys,
}

impl Kind {
    /// Returns the keyword of the server's option for objects that are defined later; `None` for views and foreign
    /// keys, which replicate normally.
    fn later(self) -> Option<&'static str> {
        match self {
            Kind::Triggers => Some("TRIGGERS"),
            Kind::Routines => Some("ROUTINES"),
            Kind::Events => Some("EVENTS"),
            Kind::Views | Kind::ForeignKeys => None,
        }
    }
}

/// The parsed command line.
#[derive(Debug)]
pub struct Arguments {
    /// Options of the command.
    pub options: Options,
    /// Options of the server that starts when the copy is complete.
    pub server: StartOptions,
    server_arguments: Vec<String>,
}

impl Arguments {
    /// Returns the server's options, with `instead` added. They take precedence.
    pub fn server_with(&self, instead: &[String]) -> Result<StartOptions, OptionError> {
        start_options(&[self.server_arguments.as_slice(), instead].concat())
    }

    /// Connects only to members of a cluster, which have this key.
    pub fn encrypt_for_members(&mut self, key: ClusterKey) {
        self.options.tls.encrypt_for_members(key);
    }

    /// Returns the server's options.
    pub fn into_server(self) -> StartOptions {
        self.server
    }
}

/// Reason why nothing is to be done.
#[derive(Debug)]
pub enum Refusal {
    /// An error of clap, or the help text.
    Clap(clap::Error),
    /// The version was requested.
    Version,
    /// An option of the server is invalid.
    Server(OptionError),
}

/// Returns a description of the command's own options, for completions and manual pages.
pub fn command() -> clap::Command {
    Options::command()
}

/// Parses the arguments after `paceline join`.
///
/// # Errors
/// [`Refusal`].
pub fn parse(arguments: &[String]) -> Result<Arguments, Refusal> {
    if arguments
        .iter()
        .any(|argument| argument == "--version" || argument == "-V")
    {
        return Err(Refusal::Version);
    }
    let (own, mut server_arguments) = split(arguments);
    let own = std::iter::once("paceline join".to_owned()).chain(own);
    let mut options = Options::try_parse_from(own).map_err(Refusal::Clap)?;
    let later: Vec<&str> = options.leave_out.iter().filter_map(|kind| kind.later()).collect();
    if !later.is_empty() {
        // Inserted before the user's options, which may override it.
        server_arguments.insert(0, format!("--paceline-replicate-leave-out={}", later.join(",")));
    }
    // A replica must not accept writes from clients. Also inserted before the user's options.
    server_arguments.insert(0, "--read-only=1".to_owned());
    let mut server = start_options(&server_arguments).map_err(Refusal::Server)?;
    server.datadir = options::absolute(&server.datadir);
    options.password = or_environment(&options.password, &["PACELINE_PASSWORD", "MYSQL_PWD"]);
    if options.replication_user.is_some() {
        let given = options.replication_password.take().unwrap_or_default();
        options.replication_password = Some(or_environment(&given, &["PACELINE_REPLICATION_PASSWORD"]));
    }
    Ok(Arguments {
        options,
        server,
        server_arguments,
    })
}

fn start_options(arguments: &[String]) -> Result<StartOptions, OptionError> {
    match options::parse(arguments)? {
        Request::Start(options) => Ok(*options),
        Request::Help(_) | Request::Version => Err(OptionError(
            "see `paceline server --help` for the server's options".into(),
        )),
    }
}

/// Separates the command's options and positional argument from the server's options.
fn split(arguments: &[String]) -> (Vec<String>, Vec<String>) {
    let command = Options::command();
    let takes_value = |name: &str| {
        command
            .get_arguments()
            .find(|argument| argument.get_long() == Some(name))
            .map(|argument| argument.get_action().takes_values())
    };
    let (mut own, mut server) = (vec![], vec![]);
    let mut rest = arguments.iter().peekable();
    while let Some(argument) = rest.next() {
        let Some(option) = argument.strip_prefix("--").filter(|option| *option != "help") else {
            own.push(argument.clone());
            continue;
        };
        let (name, has_value) = match option.split_once('=') {
            Some((name, _)) => (name, true),
            None => (option, false),
        };
        let (wants_value, side) = match takes_value(name) {
            Some(wants) => (wants, &mut own),
            None => (options::takes_value(name), &mut server),
        };
        side.push(argument.clone());
        if wants_value && !has_value {
            side.extend(rest.next_if(|next| !next.starts_with("--")).cloned());
        }
    }
    (own, server)
}

#[cfg(test)]
mod tests {
    use super::*;
    use paceline_server::variables::Variable;

    fn strings(arguments: &[&str]) -> Vec<String> {
        arguments.iter().map(|text| text.to_string()).collect()
    }

    #[test]
    fn options_of_join_and_of_the_server_may_be_mixed() {
        let arguments = parse(&strings(&[
            "--datadir",
            "/d",
            "db1:3306",
            "--user=copier",
            "--server-id",
            "7",
            "--parallel",
            "8",
            "--leave-out=views,foreign-keys",
            "--gtid-strict-mode",
            "--prepare-only",
        ]))
        .unwrap();
        assert_eq!(arguments.options.primary, "db1:3306");
        assert_eq!(arguments.options.user, "copier");
        assert_eq!(arguments.options.parallel, 8);
        assert_eq!(arguments.options.leave_out, [Kind::Views, Kind::ForeignKeys]);
        assert!(arguments.options.prepare_only);
        assert_eq!(arguments.server.datadir, std::path::Path::new("/d"));
        let server = arguments.server_with(&strings(&["--server-id=9"])).unwrap();
        assert_eq!(server.globals.number(Variable::ServerId), 9);
    }

    #[test]
    fn kinds_that_are_left_out_of_the_copy_are_left_out_of_replication() {
        let of = |more: &[&str]| {
            let arguments = strings(&[&["--datadir=/d", "db1"], more].concat());
            let globals = parse(&arguments).unwrap().server.globals;
            globals.number(Variable::PacelineReplicateLeaveOut)
        };
        assert_eq!(of(&[]), 0);
        assert_eq!(of(&["--leave-out=views"]), 0);
        assert_eq!(of(&["--leave-out=events,foreign-keys,triggers"]), 0b101);
        assert_eq!(of(&["--leave-out=routines"]), 0b10);
        assert_eq!(
            of(&["--leave-out=routines", "--paceline-replicate-leave-out=ROLES"]),
            0b1000
        );
    }

    #[test]
    fn a_replica_is_read_only_unless_the_options_say_otherwise() {
        let of = |more: &[&str]| {
            let arguments = strings(&[&["--datadir=/d", "db1"], more].concat());
            parse(&arguments)
                .unwrap()
                .server
                .globals
                .is_on(Variable::ReadOnly)
        };
        assert!(of(&[]));
        assert!(!of(&["--read-only=0"]));
        assert!(!of(&["--skip-read-only"]));
    }

    #[test]
    fn unknown_options_and_invalid_values_are_refused() {
        assert!(matches!(
            parse(&strings(&["db1", "--nonsense=1"])),
            Err(Refusal::Server(_))
        ));
        for wrong in [
            &["--datadir=/d"][..],
            &["db1", "db2"],
            &["db1", "--parallel=0"],
            &["db1", "--leave-out=tables"],
        ] {
            assert!(
                matches!(parse(&strings(wrong)), Err(Refusal::Clap(_))),
                "{wrong:?}"
            );
        }
    }
}
