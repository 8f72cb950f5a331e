//! Options that name a running server and an account on it, for commands that a person starts by hand. They are those
//! of the `mariadb` client, and an option file may have them.

use crate::connection::{Address, SilenceLimit, account};
use crate::tls::TlsOptions;
use clap::{Args, ValueHint};
use paceline_server::options::client_section;
use paceline_wire::client::ConnectOptions;
use std::path::PathBuf;

/// Options that name a server and an account.
#[derive(Args, Debug)]
pub struct ServerOptions {
    /// Host of the server; by default 127.0.0.1.
    #[arg(long, value_name = "NAME", value_hint = ValueHint::Hostname)]
    host: Option<String>,
    /// Port of the server; by default 3306.
    #[arg(long, value_name = "N")]
    port: Option<u16>,
    /// UNIX socket of the server, instead of host and port.
    #[arg(long, value_name = "PATH", conflicts_with_all = ["host", "port"], value_hint = ValueHint::FilePath)]
    socket: Option<PathBuf>,
    /// Account; by default root.
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
    /// Password of the account; by default from PACELINE_PASSWORD or MYSQL_PWD in the environment.
    #[arg(long)]
    password: Option<String>,
    /// Option file in the format of my.cnf. Address, user, password and TLS options that are not given on the command
    /// line are read from its section [client].
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    defaults_file: Option<PathBuf>,
    /// Time limit for a silent server.
    #[command(flatten)]
    silence_limit: SilenceLimit,
    /// TLS options.
    // The last field: their heading would also apply to options after them.
    #[command(flatten)]
    tls: TlsOptions,
}

/// A server and a login.
#[derive(Debug)]
pub struct Server {
    pub address: Address,
    pub login: ConnectOptions,
}

impl ServerOptions {
    /// Returns the server and the login that the options and their option file name.
    ///
    /// # Errors
    /// A text for users: the option file or the TLS options cannot be used, or the address is invalid.
    pub fn server(&self) -> Result<Server, String> {
        let file = match &self.defaults_file {
            Some(path) => client_section(path).map_err(|error| error.to_string())?,
            None => Vec::new(),
        };
        let in_file = |name: &str| {
            let mut values = file.iter().filter(|(option, _)| option == name);
            values.next_back().and_then(|(_, value)| value.clone())
        };
        let mut tls = self.tls.clone();
        for (name, value) in file.iter().rev() {
            tls.complete(name, value.as_deref());
        }
        let has_address = self.host.is_some() || self.port.is_some();
        let socket = match has_address {
            true => None,
            false => self
                .socket
                .clone()
                .or_else(|| in_file("socket").map(PathBuf::from)),
        };
        let address = match socket {
            Some(socket) => Address::Socket(socket),
            None => {
                let host = self.host.clone().or_else(|| in_file("host"));
                let host = host.unwrap_or_else(|| "127.0.0.1".to_owned());
                let port = self.port.map(|port| port.to_string()).or_else(|| in_file("port"));
                let port = port.unwrap_or_else(|| "3306".to_owned());
                let text = match host.contains(':') {
                    true => format!("[{host}]:{port}"),
                    false => format!("{host}:{port}"),
                };
                text.parse::<Address>().map_err(|error| error.to_string())?
            }
        };
        let user = self.user.clone().or_else(|| in_file("user"));
        let password = self.password.clone().or_else(|| in_file("password"));
        let login = account(
            user.as_deref().unwrap_or("root"),
            password.as_deref().unwrap_or_default(),
            &tls,
            self.silence_limit.limit(),
        )
        .map_err(|error| error.to_string())?;
        Ok(Server { address, login })
    }
}
