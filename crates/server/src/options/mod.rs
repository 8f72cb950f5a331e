//! What the server is started with: the command line, and a file in my.cnf's format.
//!
//! Every system variable that can be chosen at start-up is an option of the same name; `-` and `_` are the same. A switch may stand
//! without a value, and as `--skip-NAME`. What is on the command line wins over the file.

mod file;

use crate::replica_filters::{ReplicaFilters, filter_kind};
use crate::variables::{Access, Fit, Globals, Kind, Scope, Setting, TABLE, Variable};
use paceline_replication::replica::filter::FilterKind;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Why the options were refused, for people.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct OptionError(pub String);

/// What the command line asks for.
#[derive(Debug)]
pub enum Request {
    /// Start a server.
    Start(Box<StartOptions>),
    /// Print this.
    Help(String),
}

/// Whether clients are offered TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OfferTls {
    /// With the certificate of `ssl_cert`, or with one that is made at every start.
    Yes,
    /// `--skip-ssl`.
    No,
}

/// How to start a server.
#[derive(Debug)]
pub struct StartOptions {
    /// Where its data is.
    pub datadir: PathBuf,
    /// The UNIX socket; relative to where the program was started.
    pub socket: PathBuf,
    /// The base name of the log's files.
    pub log_bin: String,
    /// Whether clients are offered TLS.
    pub tls: OfferTls,
    /// All global variables.
    pub globals: Globals,
    /// What `--connection.replicate_…` says.
    pub filters: ReplicaFilters,
    /// What was adjusted, to be logged.
    pub warnings: Vec<String>,
}

/// The options in the section `[client]` of a file in my.cnf's format: what programs that connect to a server read.
///
/// # Errors
/// A file that cannot be read.
pub fn client_section(path: &std::path::Path) -> Result<Vec<(String, Option<String>)>, OptionError> {
    file::read(path, "client")
}

/// Variables that tell something and cannot be chosen.
fn is_told(variable: Variable) -> bool {
    use Variable::*;
    let name = variable.definition().name;
    name.starts_with("have_")
        || name.starts_with("version")
        || matches!(
            variable,
            Hostname
                | License
                | LargeFilesSupport
                | LowerCaseFileSystem
                | LockedInMemory
                | ProtocolVersion
                | SystemTimeZone
                | GtidBinlogPos
                | GtidBinlogState
                | GtidCurrentPos
                | GtidSlavePos
                | InnodbVersion
                | LogBinBasename
                | LogBinIndex
                | CharacterSetSystem
                | ServerUid
                | LargePageSize
        )
}

/// Reads the arguments after `paceline server`.
///
/// # Errors
/// An unknown option, a value that a variable does not take, a file that cannot be read.
pub fn parse(arguments: &[String]) -> Result<Request, OptionError> {
    let mut given: Vec<(String, Option<String>)> = vec![];
    let mut config: Option<PathBuf> = None;
    let mut arguments = arguments.iter().peekable();
    while let Some(argument) = arguments.next() {
        if matches!(argument.as_str(), "--help" | "-h" | "-?") {
            return Ok(Request::Help(help()));
        }
        let Some(option) = argument.strip_prefix("--") else {
            return Err(OptionError(format!(
                "unexpected argument '{argument}'; options start with --"
            )));
        };
        let (name, mut value) = match option.split_once('=') {
            Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
            None => (option.to_owned(), None),
        };
        if value.is_none() && takes_value(&name) {
            match arguments.next_if(|next| !next.starts_with("--")) {
                Some(next) => value = Some(next.clone()),
                None => return Err(OptionError(format!("option '--{name}' needs a value"))),
            }
        }
        match normalized(&name).as_str() {
            "config" | "defaults_file" => config = value.map(PathBuf::from),
            _ => given.push((name, value)),
        }
    }
    let mut all = match &config {
        Some(path) => file::read(path, "paceline")?,
        None => vec![],
    };
    all.extend(given);
    build(all)
}

fn normalized(name: &str) -> String {
    name.replace('-', "_").to_ascii_lowercase()
}

/// `--ssl`, `--skip-ssl`: as in MariaDB an option that is no variable. `None` for other options.
fn offer_tls(name: &str, value: Option<&str>) -> Result<Option<OfferTls>, OptionError> {
    Ok(Some(match (name, value) {
        ("ssl", None) => OfferTls::Yes,
        ("ssl", Some(value)) => match value.to_ascii_lowercase().as_str() {
            "1" | "on" | "true" => OfferTls::Yes,
            "0" | "off" | "false" => OfferTls::No,
            _ => return Err(OptionError(format!("--ssl={value}: it is ON or OFF"))),
        },
        ("enable_ssl", None) => OfferTls::Yes,
        ("skip_ssl" | "disable_ssl", None) => OfferTls::No,
        _ => return Ok(None),
    }))
}

/// Whether an option is nothing without a value: all but switches and `log_bin`. Nor are options that are not known.
pub fn takes_value(name: &str) -> bool {
    match normalized(name).as_str() {
        "config" | "defaults_file" => true,
        "log_bin" => false,
        name if name.contains('.') => true,
        name => Variable::by_name(name).is_some_and(|variable| variable.definition().kind != Kind::Boolean),
    }
}

fn build(options: Vec<(String, Option<String>)>) -> Result<Request, OptionError> {
    let globals = Globals::default();
    let mut warnings = vec![];
    let mut start = StartOptions {
        datadir: PathBuf::from("./data"),
        socket: PathBuf::new(),
        log_bin: "binlog".into(),
        tls: OfferTls::Yes,
        globals: Globals::default(),
        filters: ReplicaFilters::default(),
        warnings: vec![],
    };
    let mut connection_options: Vec<(String, String)> = vec![];
    for (name, value) in options {
        if name.contains('.') {
            connection_options.push((name, value.unwrap_or_default()));
            continue;
        }
        let wanted = normalized(&name);
        if wanted == "log_bin" {
            start.log_bin = value.filter(|base| !base.is_empty()).unwrap_or(start.log_bin);
            continue;
        }
        if let Some(offer) = offer_tls(&wanted, value.as_deref())? {
            start.tls = offer;
            continue;
        }
        let unknown = || OptionError(format!("unknown option '--{name}'"));
        let (variable, value) = match (Variable::by_name(&wanted), value) {
            (Some(variable), Some(value)) => (variable, value),
            (Some(variable), None) if variable.definition().kind == Kind::Boolean => {
                (variable, "ON".to_owned())
            }
            (Some(_), None) => return Err(OptionError(format!("option '--{name}' needs a value"))),
            (None, value) => {
                // --skip-NAME and --disable-NAME switch off, --enable-NAME on.
                let switch = |prefix: &str| {
                    let variable = wanted.strip_prefix(prefix).and_then(Variable::by_name)?;
                    (variable.definition().kind == Kind::Boolean && value.is_none()).then_some(variable)
                };
                if let Some(variable) = switch("skip_").or_else(|| switch("disable_")) {
                    (variable, "OFF".to_owned())
                } else if let Some(variable) = switch("enable_") {
                    (variable, "ON".to_owned())
                } else {
                    return Err(unknown());
                }
            }
        };
        let definition = variable.definition();
        if definition.scope == Scope::SessionOnly || is_told(variable) {
            return Err(OptionError(format!(
                "'{}' cannot be chosen at start-up",
                definition.name
            )));
        }
        let (setting, fit) = definition
            .parse(&value)
            .map_err(|error| OptionError(format!("--{name}={value}: {error}")))?;
        if fit == Fit::Cut {
            let used = definition.show(&setting).unwrap_or_default();
            warnings.push(format!(
                "option '{}': value {value} adjusted to {used}",
                definition.name
            ));
        }
        if filter_kind(variable).is_some() && !globals.get(variable).as_str().is_empty() {
            // Such an option may stand several times.
            let all = format!("{},{}", globals.get(variable).as_str(), setting.as_str());
            globals.set_text(variable, all);
            continue;
        }
        match variable {
            Variable::Datadir => start.datadir = PathBuf::from(&value),
            Variable::Socket => start.socket = PathBuf::from(&value),
            Variable::ExpireLogsDays => {
                globals.set(
                    Variable::BinlogExpireLogsSeconds,
                    Setting::Unsigned((setting.as_f64() * 86_400.0) as u64),
                );
            }
            Variable::BinlogExpireLogsSeconds => {
                globals.set(
                    Variable::ExpireLogsDays,
                    Setting::Double(setting.as_u64() as f64 / 86_400.0),
                );
            }
            Variable::BinlogFormat if definition.show(&setting).as_deref() != Some("ROW") => {
                warnings.push(format!("option 'binlog_format': {value} adjusted to ROW"));
                continue;
            }
            _ => {}
        }
        globals.set(variable, setting);
    }
    start.filters = connection_filters(&connection_options, &globals)?;
    if start.log_bin.contains('/') {
        return Err(OptionError(
            "log_bin is a base name, without directories: the log is in the data directory".into(),
        ));
    }
    if start.socket.as_os_str().is_empty() {
        start.socket = start.datadir.join("paceline.sock");
    }
    start.globals = globals;
    start.warnings = warnings;
    Ok(Request::Start(Box::new(start)))
}

/// `--connection.replicate_do_db=a`: that connection's list, instead of the one for all of them. The option may stand several times.
fn connection_filters(
    options: &[(String, String)],
    globals: &Globals,
) -> Result<ReplicaFilters, OptionError> {
    let filters = ReplicaFilters::default();
    let mut lists: Vec<(String, FilterKind, String)> = vec![];
    for (name, rule) in options {
        let (connection, kind) = name
            .rsplit_once('.')
            .and_then(|(connection, variable)| {
                let variable = Variable::by_name(&normalized(variable))?;
                Some((connection.to_lowercase(), filter_kind(variable)?))
            })
            .ok_or_else(|| OptionError(format!("unknown option '--{name}'")))?;
        let known = lists
            .iter_mut()
            .find(|(other, other_kind, _)| (other, *other_kind) == (&connection, kind));
        let list = match known {
            Some((.., list)) => {
                list.push(',');
                list.push_str(rule);
                list
            }
            None => {
                lists.push((connection.clone(), kind, rule.clone()));
                rule
            }
        };
        filters
            .set(&connection, globals, kind, list)
            .map_err(|error| OptionError(format!("--{name}={rule}: {error}")))?;
    }
    Ok(filters)
}

impl StartOptions {
    /// The TCP port; `None` with `skip_networking`.
    pub fn port(&self) -> Option<u16> {
        match self.globals.is_on(Variable::SkipNetworking) {
            true => None,
            false => Some(self.globals.number(Variable::Port) as u16),
        }
    }

    /// The address to listen on.
    pub fn bind_address(&self) -> String {
        match self.globals.get(Variable::BindAddress).as_str() {
            "*" | "" => "::".to_owned(),
            address => address.to_owned(),
        }
    }
}

/// The text of `--help`.
fn help() -> String {
    let mut text = String::from(
        "Usage: paceline server [OPTIONS]\n\n\
         Starts a server and stays in the foreground until SIGTERM or SIGINT.\n\n\
         \x20 --datadir DIR        where the data is; made if it is not there   [./data]\n\
         \x20 --port N             TCP port                                     [3306]\n\
         \x20 --bind-address A     address to listen on; * for all              [127.0.0.1]\n\
         \x20 --socket PATH        UNIX socket                                  [DATADIR/paceline.sock]\n\
         \x20 --server-id N        this server's number in GTIDs                [1]\n\
         \x20 --log-bin NAME       base name of the log's files                 [binlog]\n\
         \x20 --skip-ssl           do not offer TLS\n\
         \x20 --config FILE        read the section [paceline] of a my.cnf-style file first\n\
         \x20 --VARIABLE=VALUE     any of the system variables below; a switch may stand as --NAME or --skip-NAME\n\n\
         System variables and their defaults:\n",
    );
    for row in TABLE {
        if row.scope != Scope::SessionOnly && !is_told(row.variable) {
            let fixed = if row.access == Access::Fixed {
                " (only at start-up)"
            } else {
                ""
            };
            let _ = writeln!(
                text,
                "  {:<36} {}{fixed}",
                row.name,
                row.default.unwrap_or("NULL")
            );
        }
    }
    text
}

/// The absolute form of a path, without asking whether it is there.
pub fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(arguments: &[&str]) -> Result<StartOptions, String> {
        let arguments: Vec<String> = arguments.iter().map(|text| text.to_string()).collect();
        match parse(&arguments) {
            Ok(Request::Start(options)) => Ok(*options),
            Ok(Request::Help(text)) => Err(text),
            Err(error) => Err(error.to_string()),
        }
    }

    #[test]
    fn filters_of_connections() {
        let options = start(&[
            "--replicate-do-db=a",
            "--East.replicate-do-db=b",
            "--east.replicate_do_db",
            "c",
            "--replicate-ignore-table=a.t",
            "--replicate-ignore-table=a.u",
        ])
        .unwrap();
        let east = options.filters.of("east", &options.globals);
        assert_eq!(east.show(FilterKind::DoDb), "b,c");
        assert_eq!(east.show(FilterKind::IgnoreTable), "a.t,a.u");
        let others = options.filters.of("", &options.globals);
        assert_eq!(others.show(FilterKind::DoDb), "a");
        assert_eq!(
            start(&["--east.port=1"]).unwrap_err(),
            "unknown option '--east.port'"
        );
        assert!(start(&["--east.replicate-do-table=t"]).is_err());
    }

    #[test]
    fn the_usual_options() {
        let options = start(&[
            "--datadir",
            "/d",
            "--port",
            "4000",
            "--socket=/s",
            "--max-connections=10000",
            "--skip-networking",
        ])
        .unwrap();
        assert_eq!(options.datadir, Path::new("/d"));
        assert_eq!(options.socket, Path::new("/s"));
        assert_eq!(options.port(), None);
        assert_eq!(options.globals.number(Variable::MaxConnections), 10000);
        let options = start(&[
            "--datadir=/d",
            "--max_allowed_packet=64M",
            "--autocommit=0",
            "--gtid-strict-mode",
        ])
        .unwrap();
        assert_eq!(options.socket, Path::new("/d/paceline.sock"));
        assert_eq!(options.port(), Some(3306));
        assert_eq!(options.globals.number(Variable::MaxAllowedPacket), 64 << 20);
        assert!(
            !options.globals.is_on(Variable::Autocommit) && options.globals.is_on(Variable::GtidStrictMode)
        );
    }

    #[test]
    fn what_is_refused() {
        assert_eq!(
            start(&["--nonsense=1"]).unwrap_err(),
            "unknown option '--nonsense'"
        );
        assert_eq!(start(&["--port"]).unwrap_err(), "option '--port' needs a value");
        assert_eq!(
            start(&["--version-comment=x"]).unwrap_err(),
            "'version_comment' cannot be chosen at start-up"
        );
        assert_eq!(
            start(&["data"]).unwrap_err(),
            "unexpected argument 'data'; options start with --"
        );
        assert!(
            start(&["--sync-binlog=often"])
                .unwrap_err()
                .contains("Incorrect argument type to variable 'sync_binlog'")
        );
        assert!(
            start(&["--config=/does/not/exist"])
                .unwrap_err()
                .contains("cannot read the configuration file")
        );
        assert!(start(&["--help"]).unwrap_err().contains("max_connections"));
        assert!(start(&["--ssl=maybe"]).is_err());
    }

    #[test]
    fn tls_is_offered_unless_it_is_refused() {
        let offers = |arguments: &[&str]| start(arguments).unwrap().tls;
        assert_eq!(offers(&[]), OfferTls::Yes);
        assert_eq!(offers(&["--skip-ssl", "--ssl-cert=/c.pem"]), OfferTls::No);
        assert_eq!(offers(&["--ssl=0"]), OfferTls::No);
        assert_eq!(offers(&["--ssl"]), OfferTls::Yes);
    }

    #[test]
    fn the_command_line_wins_over_the_file() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "[paceline]\nport=1111\nserver-id = 7\n").unwrap();
        let config = format!("--config={}", file.path().display());
        let options = start(&["--port=2222", &config]).unwrap();
        assert_eq!(
            (options.port(), options.globals.number(Variable::ServerId)),
            (Some(2222), 7)
        );
    }

    #[test]
    fn values_out_of_range_are_adjusted_with_a_warning() {
        let options = start(&["--max-connections=1"]).unwrap();
        assert_eq!(options.globals.number(Variable::MaxConnections), 10);
        assert_eq!(
            options.warnings,
            ["option 'max_connections': value 1 adjusted to 10"]
        );
    }

    /// An option file of a MariaDB often has MIXED, its default.
    #[test]
    fn changes_are_logged_as_rows() {
        let options = start(&["--binlog-format=MIXED"]).unwrap();
        let format = options.globals.get(Variable::BinlogFormat);
        let shown = Variable::BinlogFormat.definition().show(&format);
        assert_eq!(shown.as_deref(), Some("ROW"));
        assert_eq!(
            options.warnings,
            ["option 'binlog_format': MIXED adjusted to ROW"]
        );
    }
}
