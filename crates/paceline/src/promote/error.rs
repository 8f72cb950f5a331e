//! Reasons why a promotion has stopped.

use super::role::Role;
use crate::connection::ServerError;
use paceline_binlog::GtidPosition;
use paceline_types::ServerId;
use paceline_types::error_code::ER_ACCESS_DENIED_ERROR;

/// Kind of a living server that is not named.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UnnamedServerKind {
    /// It may accept writes.
    Primary,
    /// It is an archive, and may have transactions that the candidate lacks.
    Archive,
}

/// A living server from which others replicate, and which is not named.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnnamedServer {
    /// HOST:PORT.
    pub address: String,
    /// Its apparent kind.
    pub kind: UnnamedServerKind,
    /// Evidence that it is alive.
    pub sign: String,
}

/// Reason why a promotion has stopped. The texts are for users.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A server could not be reached, or refused something.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// The given address of a server cannot be used by other servers.
    #[error(transparent)]
    Address(ServerError),
    /// A named server does not answer.
    #[error(
        "{why}{}\nIt is unknown which transactions it has, so nothing was changed. If it is permanently lost, --force promotes without it; transactions \
         that only it has are lost",
        hint(.why, *.role)
    )]
    Unreachable { why: ServerError, role: Role },
    /// A server is named twice, or two servers have the same id.
    #[error(
        "{one} and {other} are the same server, or have the same server_id ({server_id}); a server cannot replicate from itself. Nothing was changed"
    )]
    DuplicateServer {
        /// HOST:PORT.
        one: String,
        /// HOST:PORT.
        other: String,
        server_id: ServerId,
    },
    /// The servers replicate from a living server that is not named.
    #[error(
        "the servers replicate from {}, which was not given and is alive: {}. {}. Nothing was changed",
        .living.address, .living.sign, advice(.living)
    )]
    PrimaryAlive { living: UnnamedServer },
    /// Two servers have different transactions with the same sequence number.
    #[error(
        "{0}: two servers have written the same domain. Nothing was changed; decide which of the two is right"
    )]
    Contradiction(String),
    /// A replica has transactions that the candidate lacks and that are not in its log.
    #[error(
        "{server} has {lacks}, which {candidate} lacks and cannot fetch: {server} does not log what it replicates (log_slave_updates is OFF). Either \
         promote {server}, although the other replicas cannot fetch these transactions from it, or leave it out of the command; then they are lost. \
         There is no new primary, and the replicas have stopped receiving"
    )]
    NotLogged {
        /// HOST:PORT.
        server: String,
        /// Last of these transactions in each domain.
        lacks: GtidPosition,
        /// HOST:PORT.
        candidate: String,
    },
    /// The TLS options cannot be used.
    #[error("{0}")]
    Tls(String),
    /// The candidate has not reached the end of the old primary's log. The old primary accepts writes again.
    #[error("{why}\nNothing was changed: {old} accepts writes again")]
    NotSwitched {
        why: Box<Error>,
        /// HOST:PORT.
        old: String,
    },
    /// The old primary accepts no writes, and there is no new primary.
    #[error(
        "{why}\n{old} is read_only now, and no other server accepts writes. Run the same command again to continue, or return to {old} with \
         SET GLOBAL read_only=0 there and START SLAVE on its replicas"
    )]
    NoPrimary {
        why: Box<Error>,
        /// HOST:PORT.
        old: String,
    },
    /// There is a new primary, but some servers do not replicate from it.
    #[error("{new} is the primary, but these servers do not replicate from it:\n{}", list(.servers))]
    NotFollowing {
        /// HOST:PORT.
        new: String,
        /// One line per server, with the cause.
        servers: Vec<String>,
    },
}

fn hint(why: &ServerError, role: Role) -> &'static str {
    match role {
        Role::Replica | Role::OldPrimary if why.is(&[ER_ACCESS_DENIED_ERROR]) => {
            " (if it is an archive, give it with --archive: it accepts only the account with which it follows its primary)"
        }
        _ => "",
    }
}

fn advice(living: &UnnamedServer) -> String {
    let address = &living.address;
    match living.kind {
        UnnamedServerKind::Primary => format!(
            "Two servers would accept writes. --old-primary={address} makes it a replica. If no client can reach it any more and it cannot be \
             connected to, --force promotes anyway; transactions that it acknowledges from now on are lost"
        ),
        UnnamedServerKind::Archive => format!(
            "It may have transactions that they lack. --archive={address} fetches them. --force promotes without it; transactions that only it has are \
             lost"
        ),
    }
}

fn list(lines: &[String]) -> String {
    let lines: Vec<String> = lines.iter().map(|line| format!("  {line}")).collect();
    lines.join("\n")
}

pub type Result<T, E = Error> = std::result::Result<T, E>;
