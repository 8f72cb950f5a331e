//! `paceline promote`: makes a replica the primary, and loses nothing that any of the replicas has.
//!
//! ```text
//!   every replica: stop receiving, apply what was received
//!   candidate ◀── what it lacks, domain by domain ── the others        (START SLAVE … UNTIL)
//!   candidate: forget the old primary, read_only=0
//!   the others, and an old primary that lives ──▶ candidate            (CHANGE MASTER … MASTER_USE_GTID)
//! ```
//!
//! With several replication domains there may be no replica that is ahead in all of them. So the candidate first replicates from each other
//! replica that has something it lacks, until just that; then it has the union, and whoever has less replicates from it. With
//! `--old-primary` it is a switch-over: the old primary stops writing first, and becomes a replica. If the candidate does not come to where it
//! ended, nothing else has been changed, and the old primary writes again.
//!
//! A replica may have transactions that it does not log (MariaDB's `log_slave_updates=OFF`). Nobody can fetch these: if the candidate lacks one in the end,
//! nobody is promoted.
//!
//! Connections that are made anew are encrypted as the candidate's to the old primary was; those that are turned keep their settings.
//!
//! All of this is SQL that MariaDB understands as well: servers of both kinds may take part, in any role. Nothing is changed before all of
//! them have answered and none has transactions that contradict another's.

mod plan;
mod server;

use crate::connection::{ServerError, account, or_environment};
use crate::tls::TlsOptions;
use paceline_binlog::GtidPosition;
use plan::{Holding, contradiction, lacking, not_given};
use server::{Replication, Server};
use std::time::Duration;

/// The connection by which a candidate fetches what it lacks.
const COLLECTING: &str = "paceline_promote";

/// How much longer than a step an answer may take: a server waits for a transaction as long as a step may take, and then says so.
const ANSWER: Duration = Duration::from_secs(10);

/// What the command line says.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// The replica that becomes the primary: HOST, HOST:PORT or [IPV6]:PORT. The others are told to connect to it there.
    candidate: String,
    /// The other replicas, named likewise.
    others: Vec<String>,
    /// The primary until now, if it lives: it becomes read-only first, and a replica in the end.
    #[arg(long, value_name = "ADDRESS")]
    old_primary: Option<String>,
    /// Who changes the servers.
    #[arg(long, default_value = "root")]
    user: String,
    /// Their password; else PACELINE_PASSWORD or MYSQL_PWD in the environment.
    #[arg(long, default_value = "", hide_default_value = true)]
    password: String,
    /// Whom the servers replicate as.
    #[arg(long)]
    replication_user: String,
    /// Their password; else PACELINE_REPLICATION_PASSWORD in the environment.
    #[arg(long, default_value = "", hide_default_value = true)]
    replication_password: String,
    /// How long each step may take, in seconds. A server that has not answered ten seconds after that is taken for gone.
    #[arg(long, default_value_t = 60)]
    timeout: u64,
    /// TLS.
    #[command(flatten)]
    tls: TlsOptions,
}

/// Why a promotion has stopped; for people.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A server could not be asked, or refused.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// Two servers have different transactions of one number.
    #[error(
        "{0}: two servers have written one domain, and nothing was changed; decide which of the two is right"
    )]
    Contradiction(String),
    /// A replica has transactions that it cannot give to the candidate.
    #[error(
        "{server} has {lacks}, which it does not log (log_slave_updates is OFF) and {candidate} lacks: promote {server}, whose log lacks them for the \
         others, or leave it out of the command, and they are lost. There is no new primary; the replicas have stopped receiving"
    )]
    NotLogged {
        /// HOST:PORT.
        server: String,
        /// Up to where.
        lacks: GtidPosition,
        /// HOST:PORT.
        candidate: String,
    },
    /// What the command line says of TLS cannot be heeded.
    #[error("{0}")]
    Tls(String),
    /// The candidate has not come to where the old primary ended, which writes again.
    #[error("{why}\nnothing was changed: {old} writes again, as before")]
    NotSwitched {
        /// What happened.
        why: Box<Error>,
        /// HOST:PORT.
        old: String,
    },
    /// The old primary writes no more, and there is no new one.
    #[error(
        "{why}\n{old} is read_only now, and no other server writes: run the same command again, which goes on from here, or let {old} go \
         on with SET GLOBAL read_only=0 there and START SLAVE on its replicas"
    )]
    NoPrimary {
        /// What happened.
        why: Box<Error>,
        /// HOST:PORT.
        old: String,
    },
    /// There is a new primary, and servers that do not follow it.
    #[error("{new} is the primary, and these do not replicate from it:\n{}", list(.servers))]
    NotFollowing {
        /// HOST:PORT.
        new: String,
        /// Which, and why.
        servers: Vec<String>,
    },
}

fn list(lines: &[String]) -> String {
    let lines: Vec<String> = lines.iter().map(|line| format!("  {line}")).collect();
    lines.join("\n")
}

/// What functions here return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Promotes the candidate.
///
/// # Errors
/// The step that failed. Run again, it goes on from there.
pub async fn run(options: &Options) -> Result<()> {
    let patience = Duration::from_secs(options.timeout);
    let silence = Some(patience.saturating_add(ANSWER));
    let account = account(&options.user, &options.password, &options.tls, silence);
    let account = account.map_err(|error| Error::Tls(error.to_string()))?;
    let mut replication = Replication {
        user: options.replication_user.clone(),
        password: or_environment(&options.replication_password, &["PACELINE_REPLICATION_PASSWORD"]),
        tls: String::new(),
    };
    let mut candidate = Server::connect(&options.candidate, &account).await?;
    let mut others = Vec::new();
    for address in &options.others {
        others.push(Server::connect(address, &account).await?);
    }
    let mut old_primary = match &options.old_primary {
        Some(address) => Some(Server::connect(address, &account).await?),
        None => None,
    };
    replication.tls = candidate.tls_settings().await?;
    let mut holdings = vec![candidate.holding().await?];
    for server in others.iter_mut().chain(&mut old_primary) {
        holdings.push(server.holding().await?);
    }
    refuse_contradictions(&holdings)?;

    let made = make_primary(
        &mut candidate,
        &mut others,
        old_primary.as_mut(),
        &replication,
        patience,
    )
    .await;
    if let Err(why) = made {
        let Some(old) = &mut old_primary else {
            return Err(why);
        };
        // If it cannot be asked, it is told all the same.
        return Err(match old.is_writable().await {
            Ok(true) => why,
            Ok(false) | Err(_) => Error::NoPrimary {
                why: why.into(),
                old: old.address().to_owned(),
            },
        });
    }
    let position = candidate.holding().await?.has();
    println!("{} is the primary, at {position}", candidate.address());
    let mut failed = Vec::new();
    for server in others.iter_mut().chain(&mut old_primary) {
        match server.follow(candidate.address(), &replication).await {
            Ok(()) => println!("{} replicates from it", server.address()),
            Err(error) => failed.push(error.to_string()),
        }
    }
    match failed.is_empty() {
        true => Ok(()),
        false => Err(Error::NotFollowing {
            new: candidate.address().to_owned(),
            servers: failed,
        }),
    }
}

/// The candidate gets everything that any of them has, and writes.
async fn make_primary(
    candidate: &mut Server,
    others: &mut [Server],
    old_primary: Option<&mut Server>,
    replication: &Replication,
    patience: Duration,
) -> Result<()> {
    if let Some(old) = old_primary {
        let was_writable = old.is_writable().await?;
        old.execute("SET GLOBAL read_only=1").await?;
        if let Err(why) = catch_up(candidate, old, patience).await {
            // Every replica still follows it, and nobody else was told to write. If it was read-only before, somebody else may write.
            if !was_writable || old.execute("SET GLOBAL read_only=0").await.is_err() {
                return Err(why);
            }
            return Err(Error::NotSwitched {
                why: why.into(),
                old: old.address().to_owned(),
            });
        }
    }
    for server in std::iter::once(&mut *candidate).chain(others.iter_mut()) {
        server.stop_receiving(patience).await?;
    }
    collect(candidate, others, replication, patience).await?;
    candidate.forget_primaries().await?;
    candidate.execute("SET GLOBAL read_only=0").await
}

/// The candidate comes to where the old primary, which writes no more, has ended.
async fn catch_up(candidate: &mut Server, old: &mut Server, patience: Duration) -> Result<()> {
    let last = old.holding().await?.logged;
    println!("{} writes no more; it ends at {last}", old.address());
    candidate.wait_for(&last, patience).await
}

/// The candidate fetches what the others have and it lacks.
async fn collect(
    candidate: &mut Server,
    others: &mut [Server],
    replication: &Replication,
    patience: Duration,
) -> Result<()> {
    let mut holdings = vec![candidate.holding().await?];
    for server in others.iter_mut() {
        holdings.push(server.holding().await?);
    }
    // Again, now that nothing moves any more.
    refuse_contradictions(&holdings)?;
    for holding in &holdings {
        println!("{} has {}", holding.address, holding.has());
    }
    for other in holdings.iter().skip(1) {
        let has = candidate.holding().await?.has();
        let lacks: GtidPosition = lacking(&has, &other.logged);
        if lacks.is_empty() {
            continue;
        }
        println!(
            "{} fetches up to {lacks} from {}",
            candidate.address(),
            other.address
        );
        candidate
            .fetch(COLLECTING, &other.address, replication, &lacks, patience)
            .await?;
    }
    let has = candidate.holding().await?.has();
    match not_given(&has, &holdings[1..]) {
        Some((other, lacks)) => Err(Error::NotLogged {
            server: other.address.clone(),
            lacks,
            candidate: candidate.address().to_owned(),
        }),
        None => Ok(()),
    }
}

fn refuse_contradictions(holdings: &[Holding]) -> Result<()> {
    match contradiction(holdings) {
        Some(contradiction) => Err(Error::Contradiction(contradiction)),
        None => Ok(()),
    }
}
