//! `paceline promote`: makes a replica the primary, and loses nothing that any of the servers named has.
//!
//! ```text
//!   every replica: stop receiving, apply what was received; every archive: stop receiving, write it
//!   candidate ◀── what it lacks, domain by domain ── the others, the archives   (START SLAVE … UNTIL)
//!   the others: read_only=1
//!   candidate: forget the old primary, read_only=0
//!   the others, the archives, and an old primary that lives ──▶ candidate       (CHANGE MASTER)
//! ```
//!
//! With several replication domains there may be no replica that is ahead in all of them. So the candidate first replicates from each other
//! server that has something it lacks, until just that; then it has the union, and a server that has less replicates from it. With
//! `--old-primary` it is a switch-over: the old primary stops writing first, and becomes a replica. If the candidate does not come to where it
//! ended, nothing else has been changed, and the old primary writes again.
//!
//! An archive (`--archive`) may have acknowledged what no replica has. It knows only the account that it follows its primary with: that is the login
//! there, and what the candidate fetches with.
//!
//! *What is refused.* A server that is named and does not answer: what it has cannot be known ([`participants`]). No `--old-primary`, and the
//! servers' old primary lives: there would be two ([`living`]). `--force` goes on in both cases, and says what may be lost. Two servers that
//! contradict each other, and one server under two names, are refused in any case.
//!
//! A replica may have transactions that it does not log (MariaDB's `log_slave_updates=OFF`). No other server can fetch these: if the candidate lacks one in the
//! end, there is no promotion.
//!
//! Connections that are made anew are encrypted as the candidate's to the old primary was; those that are turned keep their settings.
//!
//! All of this is SQL that MariaDB understands as well: servers of both kinds may take part, in any role. Nothing is changed before all of
//! them have answered and none has transactions that contradict another's.

mod living;
mod participants;
mod plan;
mod server;

use crate::connection::{ServerError, account, or_environment};
use crate::tls::TlsOptions;
use living::Living;
use paceline_binlog::GtidPosition;
use paceline_types::ServerId;
use participants::{Logins, Named, Participants};
use plan::{Holding, contradiction, domains, lacking, not_given};
use server::{Archived, Replication, Role, Server};
use std::collections::HashSet;
use std::time::Duration;

/// The connection by which a candidate fetches what it lacks.
const COLLECTING: &str = "paceline_promote";

/// How much longer than a step an answer may take: a server waits for a transaction as long as a step may take, and then says so.
const ANSWER: Duration = Duration::from_secs(10);

/// Whether to go on where something may be lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Force {
    No,
    Yes,
}

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
    /// An archive that follows the old primary; may be given more than once. What it has and the candidate lacks is fetched from it, and it follows
    /// the new primary. Also one that serves the old primary's files (`paceline archive --serve`).
    #[arg(long, value_name = "ADDRESS")]
    archive: Vec<String>,
    /// Promote although an old primary that is not named lives, or a server that is named does not answer. What such a server has acknowledged, or
    /// acknowledges from now on, is lost.
    #[arg(long)]
    force: bool,
    /// The account that changes the servers.
    #[arg(long, default_value = "root")]
    user: String,
    /// Its password; else PACELINE_PASSWORD or MYSQL_PWD in the environment.
    #[arg(long, default_value = "", hide_default_value = true)]
    password: String,
    /// The account that the servers replicate as.
    #[arg(long)]
    replication_user: String,
    /// Its password; else PACELINE_REPLICATION_PASSWORD in the environment.
    #[arg(long, default_value = "", hide_default_value = true)]
    replication_password: String,
    /// The account of the archives, which is the one that they follow their primary with; else that of --replication-user.
    #[arg(long)]
    archive_user: Option<String>,
    /// Its password; else PACELINE_ARCHIVE_PASSWORD in the environment; else that of --replication-user.
    #[arg(long, default_value = "", hide_default_value = true)]
    archive_password: String,
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
    /// A server is not named as others could connect to it.
    #[error(transparent)]
    Address(ServerError),
    /// A server that is named does not answer.
    #[error(
        "{why}{}\nWhat it has cannot be known, and nothing was changed. If it is gone for good, --force goes on without it: what only it has is lost",
        hint(.why, *.role)
    )]
    NotKnown {
        /// What happened.
        why: ServerError,
        /// What it was to be.
        role: Role,
    },
    /// A server is named twice, or two have one id.
    #[error(
        "{one} and {other} are one server, or two with one server_id ({server_id}): a server cannot replicate from itself. Nothing was changed"
    )]
    Double {
        /// HOST:PORT.
        one: String,
        /// HOST:PORT.
        other: String,
        /// Of both.
        server_id: ServerId,
    },
    /// A server that they replicate from lives, and is not named.
    #[error(
        "the servers replicate from {}, which is not named and lives: {}. {}. Nothing was changed",
        .living.address, .living.sign, advice(.living)
    )]
    Lives {
        /// That one.
        living: Living,
    },
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

fn hint(why: &ServerError, role: Role) -> &'static str {
    match role {
        Role::Replica | Role::OldPrimary if why.problem.contains("error 1045") => {
            " (an archive, which knows only the account that it follows its primary with, is named by --archive)"
        }
        _ => "",
    }
}

fn advice(living: &Living) -> String {
    let address = &living.address;
    match living.kind {
        living::Kind::Primary => format!(
            "There would be two servers that take writes. --old-primary={address} makes it a replica. If no client can reach it any more and it \
             cannot be asked, --force goes on: what it acknowledges from now on is lost"
        ),
        living::Kind::Archive => format!(
            "It may have what they lack. --archive={address} fetches that. --force goes on without it: what only it has is lost"
        ),
    }
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
    let archives_password = or_environment(&options.archive_password, &["PACELINE_ARCHIVE_PASSWORD"]);
    let mut archives_account = Replication {
        user: options.archive_user.as_ref().unwrap_or(&replication.user).clone(),
        password: match archives_password.is_empty() {
            true => replication.password.clone(),
            false => archives_password,
        },
        tls: String::new(),
    };
    let mut archives_login = account.clone();
    archives_login.user.clone_from(&archives_account.user);
    archives_login.password.clone_from(&archives_account.password);
    let force = match options.force {
        true => Force::Yes,
        false => Force::No,
    };
    let named = Named {
        candidate: &options.candidate,
        others: &options.others,
        archives: &options.archive,
        old_primary: options.old_primary.as_deref(),
    };
    let logins = Logins {
        servers: &account,
        archives: &archives_login,
    };
    let mut servers = Participants::connect(named, logins, force).await?;
    replication.tls = servers.candidate.tls_settings().await?;
    archives_account.tls.clone_from(&replication.tls);
    let mut holdings = Vec::new();
    for server in servers.all() {
        holdings.push(server.holding().await?);
    }
    refuse_contradictions(&holdings)?;
    if let Some(living) = living::find(&mut servers).await? {
        match force {
            Force::No => return Err(Error::Lives { living }),
            Force::Yes => eprintln!(
                "warning: {} lives ({}), and goes on as it is; what it has acknowledged and they lack, and what it acknowledges from now on, is lost. \
                 Keep its clients away from it",
                living.address, living.sign
            ),
        }
    }
    warn_of_the_unnamed(&mut servers).await;
    let accounts = Accounts {
        replication: &replication,
        archives: &archives_account,
    };
    let made = make_primary(&mut servers, accounts, patience).await;
    if let Err(why) = made {
        // Best effort: an archive that does not follow keeps nothing.
        for archive in &mut servers.archives {
            let _ = archive.go_on().await;
        }
        let Some(old) = &mut servers.old_primary else {
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
    turn_to_the_new_primary(&mut servers, &replication).await
}

/// The accounts by which the candidate fetches.
#[derive(Clone, Copy)]
struct Accounts<'a> {
    replication: &'a Replication,
    archives: &'a Replication,
}

/// What cannot be refused, because only the operator knows it.
async fn warn_of_the_unnamed(servers: &mut Participants) {
    let mut named = HashSet::new();
    let mut acknowledge = Vec::new();
    for server in servers.all() {
        named.insert(server.server_id());
        acknowledge.push(server.acknowledges().await);
    }
    match &mut servers.old_primary {
        Some(old) => {
            // An account that may not ask has been told of nothing.
            for (id, host) in old.replicas().await.unwrap_or_default() {
                if !named.contains(&id) {
                    eprintln!(
                        "warning: server {id} ({host}) replicates from {}, is not named, and goes on replicating from there",
                        old.address()
                    );
                }
            }
        }
        None if acknowledge.iter().all(|one| *one == Some(false)) => eprintln!(
            "warning: none of the servers named acknowledges to its primary (rpl_semi_sync_slave_enabled is OFF): what the old primary \
             committed last may be in none of them"
        ),
        None => {}
    }
}

/// The other servers follow the candidate, which is the primary.
async fn turn_to_the_new_primary(servers: &mut Participants, replication: &Replication) -> Result<()> {
    let candidate = &mut servers.candidate;
    let position = candidate.holding().await?.has();
    println!("{} is the primary, at {position}", candidate.address());
    let mut failed = Vec::new();
    for server in servers.others.iter_mut().chain(&mut servers.old_primary) {
        match server.follow(candidate.address(), replication).await {
            Ok(()) => println!("{} replicates from it", server.address()),
            Err(error) => failed.push(error.to_string()),
        }
    }
    for archive in &mut servers.archives {
        match archive.archive_from(candidate.address()).await {
            Ok(Archived::Follows) => println!("{} follows it", archive.address()),
            Ok(Archived::UntilRestart) => println!(
                "{} follows it until it is started again: its --from does not name {}",
                archive.address(),
                candidate.address()
            ),
            Ok(Archived::FollowsNobody) => {}
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
async fn make_primary(servers: &mut Participants, accounts: Accounts<'_>, patience: Duration) -> Result<()> {
    let Participants {
        candidate,
        others,
        archives,
        old_primary,
    } = servers;
    if let Some(old) = old_primary {
        let was_writable = old.is_writable().await?;
        old.execute("SET GLOBAL read_only=1").await?;
        if let Err(why) = catch_up(candidate, old, patience).await {
            // Every replica still follows it, and no other server was told to write. If it was read-only before, another may write.
            if !was_writable || old.execute("SET GLOBAL read_only=0").await.is_err() {
                return Err(why);
            }
            return Err(Error::NotSwitched {
                why: why.into(),
                old: old.address().to_owned(),
            });
        }
    }
    let all = std::iter::once(&mut *candidate)
        .chain(others.iter_mut())
        .chain(archives.iter_mut());
    for server in all {
        server.stop_receiving(patience).await?;
    }
    collect(candidate, others, archives, accounts, patience).await?;
    for other in others {
        other.execute("SET GLOBAL read_only=1").await?;
    }
    candidate.forget_primaries().await?;
    candidate.execute("SET GLOBAL read_only=0").await
}

/// The candidate comes to where the old primary, which writes no more, has ended.
async fn catch_up(candidate: &mut Server, old: &mut Server, patience: Duration) -> Result<()> {
    let last = old.holding().await?.logged;
    println!("{} writes no more; it ends at {last}", old.address());
    candidate.wait_for(&last, patience).await
}

/// The candidate fetches what the others and the archives have and it lacks.
async fn collect(
    candidate: &mut Server,
    others: &mut [Server],
    archives: &mut [Server],
    accounts: Accounts<'_>,
    patience: Duration,
) -> Result<()> {
    let mut holdings = vec![candidate.holding().await?];
    for server in others.iter_mut() {
        holdings.push(server.holding().await?);
    }
    let known = domains(&holdings);
    for archive in archives.iter_mut() {
        holdings.push(archive.holding_of(&known).await?);
    }
    // Again, now that nothing moves any more.
    refuse_contradictions(&holdings)?;
    for holding in &holdings {
        println!("{} has {}", holding.address, holding.has());
    }
    for (number, other) in holdings.iter().enumerate().skip(1) {
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
        let account = match number > others.len() {
            true => accounts.archives,
            false => accounts.replication,
        };
        candidate
            .fetch(COLLECTING, &other.address, account, &lacks, patience)
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
