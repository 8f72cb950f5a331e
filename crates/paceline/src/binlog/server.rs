//! The server that a log is read from: its address and the login.
//!
//! Options and environment variables are those of MariaDB's clients. An option file is read only if it is named.

use super::error::{Error, Result};
use crate::connection::{Address, ServerError};
use crate::tls::TlsOptions;
use clap::{Args, ValueEnum};
use paceline_wire::client::{Client, ConnectOptions};
use paceline_wire::{PORT, TcpAddress, WireError};
use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tokio::runtime::{Builder, Runtime};

const SOCKET: &str = "/run/mysqld/mysqld.sock";
/// Sections of an option file that are read.
const SECTIONS: [&str; 6] = [
    "client",
    "client-server",
    "client-mariadb",
    "mysqlbinlog",
    "mariadb-binlog",
    "paceline-binlog",
];

/// Transport of the connection to the server.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Protocol {
    /// Over TCP/IP.
    Tcp,
    /// Over a UNIX socket.
    Socket,
}

/// Address of the server, and the login.
#[derive(Args, Debug, Clone, Default)]
pub struct ServerOptions {
    /// Read the log of a running server, Paceline or MariaDB. File names are those of the server; without any, the
    /// whole log is read.
    #[arg(short = 'R', long)]
    pub read_from_remote_server: bool,
    /// Host name or address of the server, with a port (HOST:PORT, [IPV6]:PORT) if --port is not given, or the path of
    /// its UNIX socket.
    #[arg(short = 'h', long, value_name = "NAME")]
    host: Option<String>,
    /// Port of the server; by default from MYSQL_TCP_PORT in the environment, or else 3306.
    #[arg(short = 'P', long)]
    port: Option<u16>,
    /// Account on the server; by default from USER or LOGNAME in the environment, or else root.
    #[arg(short = 'u', long, value_name = "NAME")]
    user: Option<String>,
    /// Password, as -pPASSWORD or --password=PASSWORD; without a value, prompt for it. By default from MYSQL_PWD in the
    /// environment.
    #[arg(long, value_name = "PASSWORD")]
    password: Option<String>,
    /// Replaces `-p` without a password.
    #[arg(long, hide = true)]
    ask_password: bool,
    /// UNIX socket of the server, used if no other host is given; by default from MYSQL_UNIX_PORT in the environment,
    /// or else /run/mysqld/mysqld.sock.
    #[arg(short = 'S', long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// Transport of the connection.
    #[arg(long, value_enum)]
    protocol: Option<Protocol>,
    /// Option file. Host, port, socket, user, password and TLS options that are not given on the command line are read
    /// from its client sections.
    #[arg(long, value_name = "FILE")]
    defaults_file: Option<PathBuf>,
    /// Do not read an option file (the default).
    #[arg(long, conflicts_with = "defaults_file")]
    no_defaults: bool,
    /// TLS options.
    #[command(flatten)]
    tls: TlsOptions,
}

/// Converts arguments that clap cannot parse: `-pPASSWORD`, `-p` as a prompt, and names with underscores. MariaDB's
/// clients accept these.
pub fn normalize_arguments(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut options_end = false;
    let spell = |argument: OsString| match argument.into_string() {
        Ok(text) => normalize_argument(text, &mut options_end).into(),
        Err(argument) => argument,
    };
    arguments.into_iter().map(spell).collect()
}

fn normalize_argument(argument: String, options_end: &mut bool) -> String {
    *options_end |= argument == "--";
    if *options_end {
        return argument;
    }
    let Some(name) = argument.strip_prefix("--") else {
        return match argument.strip_prefix("-p") {
            Some("") => "--ask-password".to_owned(),
            Some(password) => format!("--password={password}"),
            None => argument,
        };
    };
    match name.split_once('=') {
        Some((name, value)) => format!("--{}={value}", name.replace('_', "-")),
        None if name == "password" => "--ask-password".to_owned(),
        None => format!("--{}", name.replace('_', "-")),
    }
}

impl ServerOptions {
    /// Sets options that were not given from the option file.
    ///
    /// # Errors
    /// [`Error::Io`] if it cannot be read.
    pub fn complete(mut self) -> Result<Self> {
        let Some(path) = self.defaults_file.take() else {
            return Ok(self);
        };
        let text = fs::read_to_string(&path).map_err(|source| Error::Io {
            path: path.clone(),
            source,
        })?;
        let is_ours = |line: &str| section(line).is_some_and(|section| SECTIONS.contains(&section));
        if !text.lines().any(is_ours) {
            eprintln!(
                "warning: {} is ignored: it has none of the sections [{}]",
                path.display(),
                SECTIONS.join("], [")
            );
        }
        let mut tls = std::mem::take(&mut self.tls);
        for (name, value) in client_options(&text) {
            let text = || Some(value.to_owned());
            match name.replace('_', "-").as_str() {
                "host" => self.host = self.host.or_else(text),
                "user" => self.user = self.user.or_else(text),
                "password" if !self.ask_password => self.password = self.password.or_else(text),
                "socket" => self.socket = self.socket.or_else(|| Some(value.into())),
                "port" => self.port = self.port.or(value.parse().ok()),
                other => tls.complete(other, Some(value)),
            }
        }
        self.tls = tls;
        Ok(self)
    }

    fn target(&self) -> Result<Address, ServerError> {
        let host = self.host.as_deref().filter(|host| *host != "localhost");
        let by_socket = match self.protocol {
            Some(protocol) => protocol == Protocol::Socket,
            // As in MariaDB's clients, a port without a host means TCP.
            None => self.socket.is_some() && host.is_none() || (host.is_none() && self.port.is_none()),
        };
        if by_socket {
            let socket = self.socket.clone();
            let socket = socket.or_else(|| env::var_os("MYSQL_UNIX_PORT").map(PathBuf::from));
            return Ok(Address::Socket(socket.unwrap_or_else(|| SOCKET.into())));
        }
        let host = host.unwrap_or("127.0.0.1");
        if host.contains('/') {
            return host.parse();
        }
        let environment = env::var("MYSQL_TCP_PORT").ok();
        let default = environment.and_then(|port| port.parse().ok()).unwrap_or(PORT);
        let mut address = TcpAddress::with_default_port(host, default)
            .map_err(|error| ServerError::new("--host", error))?;
        if let Some(port) = self.port.filter(|port| *port != 0) {
            address.port = port;
        }
        Ok(Address::Tcp(address))
    }

    /// Returns the server's address for messages.
    pub fn address(&self) -> String {
        match self.target() {
            Ok(address) => address.to_string(),
            Err(_) => self.host.clone().unwrap_or_default(),
        }
    }

    /// Connects to the server.
    ///
    /// # Errors
    /// [`Error::Server`].
    pub fn connect(&self) -> Result<(Runtime, Client)> {
        let problem = |problem: String| Error::Server(ServerError::new(self.address(), problem));
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| problem(error.to_string()))?;
        let password = match (&self.password, self.ask_password) {
            (Some(password), _) => password.clone(),
            (None, true) => ask_password().map_err(|error| problem(error.to_string()))?,
            (None, false) => env::var("MYSQL_PWD").unwrap_or_default(),
        };
        let login = ConnectOptions {
            user: self.user.clone().unwrap_or_else(user_of_this_process),
            password,
            attributes: vec![("program_name".to_owned(), "paceline binlog".to_owned())],
            tls: self.tls.client().map_err(|error| problem(error.to_string()))?,
            ..ConnectOptions::default()
        };
        let connected = runtime.block_on(self.target()?.connect(&login));
        let client = connected.map_err(|error| {
            let what = match error {
                WireError::Server { message, .. } => message,
                error => error.to_string(),
            };
            problem(format!("Failed on connect: {what}"))
        })?;
        Ok((runtime, client))
    }
}

fn user_of_this_process() -> String {
    let name = env::var("USER").or_else(|_| env::var("LOGNAME"));
    name.unwrap_or_else(|_| "root".to_owned())
}

/// Asks for the password on the terminal. The input is not shown if that can be switched off.
fn ask_password() -> io::Result<String> {
    let echo = |mode: &str| {
        let _ = Command::new("stty").arg(mode).stderr(Stdio::null()).status();
    };
    eprint!("Enter password: ");
    io::stderr().flush()?;
    echo("-echo");
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line);
    echo("echo");
    eprintln!();
    read?;
    Ok(line.trim_end_matches(['\n', '\r']).to_owned())
}

/// Returns the section name if a line starts a section.
fn section(line: &str) -> Option<&str> {
    line.trim()
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
}

/// Returns the options in the sections for clients.
fn client_options(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut is_ours = false;
    text.lines().filter_map(move |line| {
        let line = line.trim();
        if let Some(section) = section(line) {
            is_ours = SECTIONS.contains(&section);
            return None;
        }
        if !is_ours || line.starts_with(['#', ';', '!']) {
            return None;
        }
        let (name, value) = line.split_once('=')?;
        let value = value.trim();
        let unquoted = ['"', '\'']
            .iter()
            .find_map(|quote| value.strip_prefix(*quote)?.strip_suffix(*quote));
        Some((name.trim(), unquoted.unwrap_or(value)))
    })
}

/// Returns the path of a file for `--raw`. The name comes from the server: returns `None` if it leads to another
/// directory.
pub fn raw_file(prefix: Option<&Path>, name: &str) -> Option<PathBuf> {
    if name.is_empty() || name == "." || name == ".." || name.contains(['/', '\0']) {
        return None;
    }
    let mut path = prefix
        .map(|prefix| prefix.as_os_str().to_owned())
        .unwrap_or_default();
    path.push(name);
    Some(path.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;

    #[test]
    fn short_password_options_and_underscores_are_converted() {
        let spelled = |arguments: &[&str]| {
            let spelled = normalize_arguments(arguments.iter().map(OsString::from));
            spelled.join(OsStr::new(" ")).into_string().unwrap()
        };
        assert_eq!(
            spelled(&["-psecret", "-p", "--password"]),
            "--password=secret --ask-password --ask-password"
        );
        assert_eq!(
            spelled(&["--start_position=a_b", "--to_last_log", "-P", "1"]),
            "--start-position=a_b --to-last-log -P 1"
        );
        assert_eq!(spelled(&["--", "-p", "--a_b"]), "-- -p --a_b");
    }

    #[test]
    fn file_names_from_a_server_cannot_lead_to_other_directories() {
        let file = |prefix, name| raw_file(prefix, name).map(|path| path.display().to_string());
        assert_eq!(file(None, "bin.000001").as_deref(), Some("bin.000001"));
        assert_eq!(
            file(Some(Path::new("copies/x-")), "bin.000001").as_deref(),
            Some("copies/x-bin.000001")
        );
        for name in ["", ".", "..", "/etc/passwd", "../bin.000001", "a/b", "a\0"] {
            assert_eq!(file(None, name), None, "{name}");
        }
    }

    #[test]
    fn only_the_sections_for_clients_are_read() {
        let text = "[mysqld]\nuser=mysql\n[client]\n# comment\nuser = \"a b\"\npassword='x=y'\nport=3307\n[paceline-binlog]\nhost=db\n";
        let found: Vec<_> = client_options(text).collect();
        assert_eq!(
            found,
            [
                ("user", "a b"),
                ("password", "x=y"),
                ("port", "3307"),
                ("host", "db")
            ]
        );
    }

    #[test]
    fn a_socket_is_used_if_no_host_is_named() {
        let address = |options: ServerOptions| options.address();
        let options = ServerOptions::default;
        assert_eq!(
            address(ServerOptions {
                socket: Some("/s".into()),
                ..options()
            }),
            "/s"
        );
        assert_eq!(
            address(ServerOptions {
                port: Some(7),
                ..options()
            }),
            "127.0.0.1:7"
        );
        for (host, port, found) in [
            ("db1", None, "db1:3306"),
            ("db1:7", None, "db1:7"),
            ("db1:7", Some(8), "db1:8"),
            ("[::1]:7", None, "[::1]:7"),
            ("/run/s", None, "/run/s"),
        ] {
            let host = Some(host.to_owned());
            assert_eq!(
                address(ServerOptions {
                    host,
                    port,
                    ..options()
                }),
                found
            );
        }
        let nowhere = ServerOptions {
            host: Some("db1:x".into()),
            ..options()
        };
        assert!(nowhere.target().is_err());
        let named = ServerOptions {
            host: Some("::1".into()),
            port: Some(7),
            socket: Some("/s".into()),
            ..options()
        };
        assert_eq!(address(named.clone()), "[::1]:7");
        assert_eq!(
            address(ServerOptions {
                protocol: Some(Protocol::Socket),
                ..named
            }),
            "/s"
        );
    }
}
