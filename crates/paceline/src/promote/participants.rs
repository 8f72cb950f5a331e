//! The servers that take part in a promotion: all of them have answered, and all are different servers.
//!
//! It is unknown which transactions an unreachable server has. It may be the only one with a transaction that was
//! acknowledged to a client. So without it nothing is changed, unless `--force` states that it is gone for good.

use super::error::{Error, Result};
use super::role::Role;
use super::server::Server;
use paceline_types::ServerId;
use paceline_wire::client::ConnectOptions;
use std::collections::HashSet;

/// Whether to continue although transactions may be lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Force {
    No,
    Yes,
}

/// Addresses from the command line.
#[derive(Clone, Copy, Debug)]
pub struct ServerAddresses<'a> {
    pub candidate: &'a str,
    pub others: &'a [String],
    pub archives: &'a [String],
    pub old_primary: Option<&'a str>,
}

/// Logins. An archive accepts only its own account.
#[derive(Clone, Copy, Debug)]
pub struct Logins<'a> {
    pub servers: &'a ConnectOptions,
    pub archives: &'a ConnectOptions,
}

/// Connections to all servers.
pub struct Participants {
    pub candidate: Server,
    /// Other replicas. They follow the candidate in the end.
    pub others: Vec<Server>,
    pub archives: Vec<Server>,
    pub old_primary: Option<Server>,
}

impl Participants {
    pub async fn connect(named: ServerAddresses<'_>, logins: Logins<'_>, force: Force) -> Result<Self> {
        let candidate = Server::connect(named.candidate, logins.servers, Role::Replica).await?;
        let mut others = Vec::new();
        for address in named.others {
            others.extend(Self::connect_one(address, logins.servers, Role::Replica, force).await?);
        }
        let mut archives = Vec::new();
        for address in named.archives {
            archives.extend(Self::connect_one(address, logins.archives, Role::Archive, force).await?);
        }
        let old_primary = match named.old_primary {
            Some(address) => Self::connect_one(address, logins.servers, Role::OldPrimary, force).await?,
            None => None,
        };
        let mut participants = Participants {
            candidate,
            others,
            archives,
            old_primary,
        };
        participants.refuse_duplicates()?;
        participants.choose_archives_connections().await?;
        Ok(participants)
    }

    /// Connects to a server. Returns `None` if it does not answer and `--force` is given.
    async fn connect_one(
        address: &str,
        login: &ConnectOptions,
        role: Role,
        force: Force,
    ) -> Result<Option<Server>> {
        match Server::connect(address, login, role).await {
            Ok(server) => Ok(Some(server)),
            Err(Error::Server(why)) => match force {
                Force::No => Err(Error::Unreachable { why, role }),
                Force::Yes => {
                    eprintln!("warning: {why}; it is left out, and transactions that only it has are lost");
                    Ok(None)
                }
            },
            Err(other) => Err(other),
        }
    }

    /// Returns all servers, the candidate first.
    pub fn all(&mut self) -> impl Iterator<Item = &mut Server> {
        std::iter::once(&mut self.candidate)
            .chain(&mut self.others)
            .chain(&mut self.archives)
            .chain(&mut self.old_primary)
    }

    /// Refuses a server that is named twice: it would become a replica of itself.
    fn refuse_duplicates(&mut self) -> Result<()> {
        let mut seen: Vec<(String, ServerId)> = Vec::new();
        for server in self.all() {
            let this = (server.address().to_owned(), server.server_id());
            let duplicate = seen
                .iter()
                .find(|(address, id)| *address == this.0 || *id == this.1);
            if let Some((address, id)) = duplicate {
                return Err(Error::DuplicateServer {
                    one: address.clone(),
                    other: this.0,
                    server_id: *id,
                });
            }
            seen.push(this);
        }
        Ok(())
    }

    /// If an archive stores the logs of several primaries, selects its connection to this primary. The others are not
    /// changed.
    async fn choose_archives_connections(&mut self) -> Result<()> {
        let mut known: HashSet<String> = self.all().map(|server| server.address().to_owned()).collect();
        known.extend(self.candidate.primaries().await?);
        for archive in &mut self.archives {
            archive.restrict_connections(&known).await?;
        }
        Ok(())
    }
}
