//! Startup options: the command line, and a file in my.cnf's format.
//!
//! Every system variable that can be set at startup is an option of the same name, by the table of
//! [`crate::variables`]: names, valid values, defaults and the help ([`arguments`]) come from there. `-` and `_` are
//! equivalent. A Boolean option can be used without a value, and as `--skip-NAME`. The command line has precedence over
//! the file.

mod arguments;
mod error;
mod file;

pub use error::OptionError;
pub use file::FileOption;

use self::arguments::{Listing, help};
use crate::accounts::InitialAccounts;
use crate::replica_filters::{ReplicaFilters, filter_kind};
use crate::server::LoginCharset;
use crate::statement_history::{CONSUMERS, Consumer, Consumers};
use crate::variables::{Fit, Globals, Kind, Startup, Variable, VariableValue};
use paceline_log_stream::source::filter::FilterKind;
use paceline_types::{Charset, Collation};
use std::path::{Path, PathBuf};

/// Returns a description of all options, for completions and manual pages. It parses nothing.
pub fn command() -> clap::Command {
    arguments::command(Listing::All)
}

/// Action requested by the command line.
#[derive(Debug)]
pub enum Request {
    /// Start a server.
    Start(Box<StartOptions>),
    /// Print this text.
    Help(String),
    /// Print the version.
    Version,
}

/// Whether clients are offered TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OfferTls {
    /// Yes, with the certificate of `ssl_cert`, or with one that is created at every start.
    Yes,
    /// No: `--skip-ssl`.
    No,
}

/// Options of a server.
#[derive(Debug)]
pub struct StartOptions {
    /// Data directory.
    pub datadir: PathBuf,
    /// Path of the UNIX socket, relative to the working directory at startup.
    pub socket: PathBuf,
    /// Base name of the log's files.
    pub log_bin: String,
    /// Whether clients are offered TLS.
    pub tls: OfferTls,
    /// Accounts of a new data directory.
    pub initial_accounts: InitialAccounts,
    /// All global variables.
    pub globals: Globals,
    /// Filters from `--connection.replicate_…`.
    pub filters: ReplicaFilters,
    /// Consumers of `performance_schema`.
    pub consumers: Consumers,
    /// Character set of new sessions.
    pub login_charset: LoginCharset,
    /// Warnings about adjusted values, to be logged.
    pub warnings: Vec<String>,
}

/// Reads the section `[client]` of a file in my.cnf's format, for programs that connect to a server. Writes a warning
/// to standard error if the file does not have this section.
///
/// # Errors
/// If the file cannot be read.
pub fn client_section(path: &std::path::Path) -> Result<Vec<(String, Option<String>)>, OptionError> {
    let file = file::read(path, &["client"])?;
    if let Some(warning) = file.nothing_read(path) {
        eprintln!("warning: {warning}");
    }
    Ok(file.options)
}

/// Reads some sections of a file in my.cnf's format.
///
/// # Errors
/// If the file cannot be read.
pub fn read_sections(path: &Path, sections: &[&str]) -> Result<Vec<FileOption>, OptionError> {
    Ok(file::read(path, sections)?.options)
}

/// Parses the arguments after `paceline server`.
///
/// # Errors
/// An unknown option, an invalid value, a file that cannot be read.
pub fn parse(arguments: &[String]) -> Result<Request, OptionError> {
    let mut given: Vec<(String, Option<String>)> = vec![];
    let mut config: Option<PathBuf> = None;
    let mut words = arguments.iter().peekable();
    while let Some(argument) = words.next() {
        match argument.as_str() {
            "--help" => return Ok(Request::Help(help(Listing::All))),
            "-h" | "-?" => return Ok(Request::Help(help(Listing::Usual))),
            "--version" | "-V" => return Ok(Request::Version),
            _ => {}
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
            match words.next_if(|next| !next.starts_with("--")) {
                Some(next) => value = Some(next.clone()),
                None => return Err(OptionError(format!("option '--{name}' needs a value"))),
            }
        }
        match normalized(&name).as_str() {
            "config" | "defaults_file" => config = value.map(PathBuf::from),
            _ => given.push((name, value)),
        }
    }
    let (mut all, mut warnings) = (vec![], vec![]);
    if let Some(path) = &config {
        let file = file::read(path, &["paceline"])?;
        warnings.extend(file.nothing_read(path));
        all = file.options;
    }
    all.extend(given);
    build(all, warnings)
}

fn normalized(name: &str) -> String {
    name.replace('-', "_").to_ascii_lowercase()
}

/// Parses `--ssl` and `--skip-ssl`, which are options without a variable, as in MariaDB. Returns `None` for other
/// options.
fn offer_tls(name: &str, value: Option<&str>) -> Result<Option<OfferTls>, OptionError> {
    Ok(switch("ssl", name, value)?.map(|is_on| match is_on {
        true => OfferTls::Yes,
        false => OfferTls::No,
    }))
}

/// Parses `--character-set-client-handshake`, an option without a variable, as in MariaDB. Returns `None` for other
/// options.
fn login_charset(name: &str, value: Option<&str>) -> Result<Option<LoginCharset>, OptionError> {
    Ok(
        switch("character_set_client_handshake", name, value)?.map(|is_on| match is_on {
            true => LoginCharset::OfClient,
            false => LoginCharset::OfServer,
        }),
    )
}

/// Parses a Boolean option without a variable: with or without a value, or as `--skip-NAME`. Returns `None` for other
/// options.
fn switch(wanted: &str, name: &str, value: Option<&str>) -> Result<Option<bool>, OptionError> {
    let prefixed = |prefix: &str| value.is_none() && name.strip_prefix(prefix) == Some(wanted);
    Ok(Some(match value {
        None if name == wanted || prefixed("enable_") => true,
        None if prefixed("skip_") || prefixed("disable_") => false,
        Some(value) if name == wanted => match value.to_ascii_lowercase().as_str() {
            "1" | "on" | "true" => true,
            "0" | "off" | "false" => false,
            _ => {
                let shown = wanted.replace('_', "-");
                return Err(OptionError(format!("--{shown}={value}: it is ON or OFF")));
            }
        },
        _ => return Ok(None),
    }))
}

/// Switches a consumer of `performance_schema` on or off, which is an option without a variable, as in MariaDB. Returns
/// a warning if its events do not exist here.
fn switch_consumer(
    consumers: &Consumers,
    name: &str,
    value: Option<&str>,
) -> Result<Option<String>, OptionError> {
    let option = format!("--performance-schema-consumer-{}", name.replace('_', "-"));
    let is_on = match value.map(str::to_ascii_lowercase).as_deref() {
        None | Some("1" | "on" | "true") => true,
        Some("0" | "off" | "false") => false,
        Some(value) => return Err(OptionError(format!("{option}={value}: it is ON or OFF"))),
    };
    if let Some(consumer) = Consumer::of_name(name) {
        consumers.set(consumer, is_on);
        return Ok(None);
    }
    match CONSUMERS.contains(&name) {
        true => Ok(is_on.then(|| format!("option '{option}' has no effect"))),
        false => Err(OptionError(format!("unknown option '{option}'"))),
    }
}

/// Returns whether an option needs a value: all except Boolean ones, `log_bin`, `event_scheduler`, and unknown options.
pub fn takes_value(name: &str) -> bool {
    match normalized(name).as_str() {
        "config" | "defaults_file" => true,
        "log_bin" | "event_scheduler" => false,
        name if name.contains('.') => true,
        name => Variable::by_option(name).is_some_and(|variable| variable.definition().kind != Kind::Boolean),
    }
}

/// Returns whether an option without a value switches the variable on.
fn is_switch(variable: Variable) -> bool {
    variable == Variable::EventScheduler || variable.definition().kind == Kind::Boolean
}

fn build(options: Vec<(String, Option<String>)>, mut warnings: Vec<String>) -> Result<Request, OptionError> {
    let globals = Globals::default();
    let mut chosen_charset = None;
    let mut chosen_collation = None;
    let mut start = StartOptions {
        datadir: PathBuf::from("./data"),
        socket: PathBuf::new(),
        log_bin: "binlog".into(),
        tls: OfferTls::Yes,
        initial_accounts: InitialAccounts::by_socket(),
        globals: Globals::default(),
        filters: ReplicaFilters::default(),
        consumers: Consumers::default(),
        login_charset: LoginCharset::default(),
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
        if let Some(charset) = login_charset(&wanted, value.as_deref())? {
            start.login_charset = charset;
            continue;
        }
        if wanted == "initialize_insecure" {
            if value.is_some() {
                return Err(OptionError(format!("--{name} takes no value")));
            }
            start.initial_accounts = InitialAccounts::WithoutPassword;
            continue;
        }
        if let Some(consumer) = wanted.strip_prefix("performance_schema_consumer_") {
            if let Some(warning) = switch_consumer(&start.consumers, consumer, value.as_deref())? {
                warnings.push(warning);
            }
            continue;
        }
        let unknown = || OptionError(format!("unknown option '--{name}'"));
        let (wanted, is_loose) = match wanted.strip_prefix("loose_") {
            Some(rest) => (rest.to_owned(), true),
            None => (wanted, false),
        };
        let (variable, value) = match (Variable::by_option(&wanted), value) {
            (Some(variable), Some(value)) => (variable, value),
            (Some(variable), None) if is_switch(variable) => (variable, "ON".to_owned()),
            (Some(_), None) => return Err(OptionError(format!("option '--{name}' needs a value"))),
            (None, value) => {
                // --skip-NAME and --disable-NAME switch off, --enable-NAME switches on.
                let switch = |prefix: &str| {
                    let variable = wanted.strip_prefix(prefix).and_then(Variable::by_name)?;
                    (is_switch(variable) && value.is_none()).then_some(variable)
                };
                if let Some(variable) = switch("skip_").or_else(|| switch("disable_")) {
                    (variable, "OFF".to_owned())
                } else if let Some(variable) = switch("enable_") {
                    (variable, "ON".to_owned())
                } else if is_loose {
                    // As in MariaDB, an option with this prefix need not exist.
                    warnings.push(format!("unknown option '--{name}'"));
                    continue;
                } else {
                    return Err(unknown());
                }
            }
        };
        let definition = variable.definition();
        if definition.startup == Startup::NotAnOption {
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
        let setting = match variable {
            // As in MariaDB, no filter is one that lets everything pass.
            Variable::LogSlowFilter if setting.as_u64() == 0 => definition.default_setting(),
            _ => setting,
        };
        if let Some(part) = crate::statement_logs::unbuilt_part(variable, &setting) {
            warnings.push(format!("option '{}': {part} has no effect", definition.name));
        }
        if definition.is_without_effect(&setting) {
            warnings.push(format!("option '{}': {value} has no effect", definition.name));
        }
        if filter_kind(variable).is_some() && !globals.get(variable).as_str().is_empty() {
            // This option may occur several times.
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
                    VariableValue::Unsigned((setting.as_f64() * 86_400.0) as u64),
                );
            }
            Variable::BinlogExpireLogsSeconds => {
                globals.set(
                    Variable::ExpireLogsDays,
                    VariableValue::Double(setting.as_u64() as f64 / 86_400.0),
                );
            }
            Variable::CharacterSetServer => chosen_charset = Charset::from_name(setting.as_str()),
            Variable::CollationServer => chosen_collation = Collation::from_name(setting.as_str()),
            _ => {}
        }
        for (other, setting) in crate::statement_logs::paired(variable, &setting, |other| globals.get(other))
        {
            globals.set(other, setting);
        }
        globals.set(variable, setting);
    }
    match (chosen_charset, chosen_collation) {
        // As in MariaDB, the order of the two options does not matter.
        (Some(charset), Some(collation)) if collation.charset() != charset => {
            return Err(OptionError(format!(
                "COLLATION '{}' is not valid for CHARACTER SET '{}'",
                collation.name(),
                charset.name()
            )));
        }
        (_, Some(_)) => globals.pair_charset(Variable::CollationServer),
        (Some(_), None) => globals.pair_charset(Variable::CharacterSetServer),
        (None, None) => {}
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

/// Parses `--connection.replicate_do_db=a`: this connection's list, instead of the one for all connections. The option
/// may occur several times.
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
                let variable = Variable::by_option(&normalized(variable))?;
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
    /// Returns the TCP port, or `None` with `skip_networking`.
    pub fn port(&self) -> Option<u16> {
        match self.globals.is_on(Variable::SkipNetworking) {
            true => None,
            false => Some(self.globals.number(Variable::Port) as u16),
        }
    }

    /// Returns the address to listen on.
    pub fn bind_address(&self) -> String {
        match self.globals.get(Variable::BindAddress).as_str() {
            "*" | "" => "::".to_owned(),
            address => address.to_owned(),
        }
    }
}

/// Returns the absolute form of a path, which need not exist.
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
            Ok(Request::Version) => Err("the version".into()),
            Err(error) => Err(error.to_string()),
        }
    }

    #[test]
    fn character_set_and_collation_of_the_server_are_consistent() {
        let chosen = |arguments: &[&str]| {
            let globals = start(arguments)?.globals;
            let text = |variable| globals.get(variable).as_str().to_owned();
            Ok::<_, String>((
                text(Variable::CharacterSetServer),
                text(Variable::CollationServer),
            ))
        };
        let pair = |charset: &str, collation: &str| Ok((charset.to_owned(), collation.to_owned()));
        assert_eq!(
            chosen(&["--character-set-server=latin1"]),
            pair("latin1", "latin1_swedish_ci")
        );
        assert_eq!(
            chosen(&["--collation-server=latin1_bin"]),
            pair("latin1", "latin1_bin")
        );
        for order in [
            ["--character-set-server=latin1", "--collation-server=latin1_bin"],
            ["--collation-server=latin1_bin", "--character-set-server=latin1"],
        ] {
            assert_eq!(chosen(&order), pair("latin1", "latin1_bin"));
        }
        assert_eq!(
            chosen(&["--character-set-server=latin1", "--collation-server=utf8mb4_bin"]),
            Err("COLLATION 'utf8mb4_bin' is not valid for CHARACTER SET 'latin1'".to_owned())
        );
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
    fn the_usual_options_are_parsed() {
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
    fn invalid_options_are_errors() {
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
        assert!(start(&["--help"]).unwrap_err().contains("--max-connections"));
        assert!(start(&["--ssl=maybe"]).is_err());
        assert!(start(&["--initialize-insecure=1"]).is_err());
    }

    #[test]
    fn options_choose_the_initial_accounts() {
        let chosen = |arguments: &[&str]| start(arguments).unwrap().initial_accounts;
        assert_eq!(chosen(&[]), InitialAccounts::by_socket());
        assert_eq!(
            chosen(&["--initialize-insecure"]),
            InitialAccounts::WithoutPassword
        );
    }

    #[test]
    fn tls_is_offered_unless_switched_off() {
        let offers = |arguments: &[&str]| start(arguments).unwrap().tls;
        assert_eq!(offers(&[]), OfferTls::Yes);
        assert_eq!(offers(&["--skip-ssl", "--ssl-cert=/c.pem"]), OfferTls::No);
        assert_eq!(offers(&["--ssl=0"]), OfferTls::No);
        assert_eq!(offers(&["--ssl"]), OfferTls::Yes);
    }

    #[test]
    fn the_character_set_of_clients_can_be_ignored() {
        let charset = |arguments: &[&str]| start(arguments).unwrap().login_charset;
        assert_eq!(charset(&[]), LoginCharset::OfClient);
        for option in [
            "--skip-character-set-client-handshake",
            "--character-set-client-handshake=0",
            "--character_set_client_handshake=OFF",
        ] {
            assert_eq!(charset(&[option]), LoginCharset::OfServer, "{option}");
        }
        assert!(start(&["--character-set-client-handshake=2"]).is_err());
    }

    #[test]
    fn the_command_line_has_precedence_over_the_file() {
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

    #[test]
    fn changes_are_logged_as_rows_unless_the_option_says_otherwise() {
        let format = |arguments: &[&str]| {
            let options = start(arguments).unwrap();
            let format = options.globals.get(Variable::BinlogFormat);
            Variable::BinlogFormat.definition().show(&format)
        };
        assert_eq!(format(&[]).as_deref(), Some("ROW"));
        assert_eq!(format(&["--binlog-format=mixed"]).as_deref(), Some("MIXED"));
    }
}
