//! Accounts of a data directory in which no statement has created an account yet.
//!
//! They are not in the catalog. The first statement about accounts writes them there, together with its own changes.
//! They are chosen when the directory is created ([`crate::data_directory`]), because a replay of that statement must
//! find the same ones.

use super::authentication::Authentication;
use super::{Account, Accounts, PrivilegeSet};

/// Accounts of a new data directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InitialAccounts {
    /// `root` and the user that runs the server. Each can be used by the operating system's user of the same name, over
    /// the UNIX socket.
    BySocket {
        /// The user that runs the server, if it is not root.
        server_user: Option<String>,
    },
    /// For a directory created with `--initialize-insecure`: `root` from this machine, without a password.
    WithoutPassword,
}

impl InitialAccounts {
    /// Returns accounts for the UNIX socket, including one for the user that runs this process.
    pub fn by_socket() -> InitialAccounts {
        let user = own_user();
        InitialAccounts::BySocket {
            server_user: (user != "root").then_some(user),
        }
    }

    /// Returns the accounts.
    pub fn accounts(&self) -> Accounts {
        let all = |user: &str, host: &str| Account {
            global: PrivilegeSet::everything(),
            ..Account::new(user, host)
        };
        match self {
            InitialAccounts::WithoutPassword => Accounts::new(
                ["localhost", "127.0.0.1", "::1"]
                    .map(|host| all("root", host))
                    .into(),
            ),
            InitialAccounts::BySocket { server_user } => {
                let users = ["root"].into_iter().chain(server_user.as_deref());
                let by_socket = |user| Account {
                    authentication: Authentication::by_socket(),
                    ..all(user, "localhost")
                };
                Accounts::new(users.map(by_socket).collect())
            }
        }
    }
}

/// Returns the name of the user that runs this process.
pub fn own_user() -> String {
    system_user(rustix::process::geteuid().as_raw())
}

/// Returns a user's name in the operating system, or its number if it has no name, as in a container.
pub fn system_user(id: u32) -> String {
    let found = nix::unistd::User::from_uid(nix::unistd::Uid::from_raw(id));
    let named = found.ok().flatten().map(|user| user.name);
    named.unwrap_or_else(|| id.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_and_the_servers_user() {
        let names = |initial: InitialAccounts| -> Vec<(String, String)> {
            let accounts = initial.accounts();
            let shown = |account: &Account| (account.quoted(), account.authentication.show());
            accounts.iter().map(shown).collect()
        };
        let socket = " IDENTIFIED VIA mysql_native_password USING 'invalid' OR unix_socket";
        let server_user = Some("paceline".to_owned());
        assert_eq!(
            names(InitialAccounts::BySocket { server_user }),
            ["'paceline'@'localhost'", "'root'@'localhost'"].map(|name| (name.to_owned(), socket.to_owned()))
        );
        assert_eq!(names(InitialAccounts::BySocket { server_user: None }).len(), 1);
        let open = names(InitialAccounts::WithoutPassword);
        assert!(open.len() == 3 && open.iter().all(|(_, shown)| shown.is_empty()));
    }

    #[test]
    fn users_have_names() {
        assert_eq!(system_user(0), "root");
        assert_eq!(system_user(u32::MAX - 7), "4294967288");
    }
}
