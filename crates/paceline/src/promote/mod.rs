//! `paceline promote`: makes a replica the primary, without losing any transaction that one of the named servers has.
//!
//! ```text
//!   every replica: stop receiving, apply what was received; every archive: stop receiving, write what was received
//!   candidate ◀── what it lacks, domain by domain ── the others, the archives   (START SLAVE … UNTIL)
//!   the others: read_only=1
//!   candidate: forget the old primary, read_only=0
//!   the others, the archives, and the old primary if alive ──▶ candidate        (CHANGE MASTER)
//! ```
//!
//! With several replication domains, possibly no replica is ahead in all of them. So the candidate first replicates the
//! missing transactions from each server that has some. Then it has all transactions, and the others can replicate from
//! it. With `--old-primary` it is a switch-over: first the old primary stops writing, and finally it becomes a replica.
//! If the candidate does not reach the end of the old primary's log, nothing else has been changed, and the old primary
//! accepts writes again.
//!
//! An archive (`--archive`) may have acknowledged transactions that no replica has. It accepts only the account with
//! which it follows its primary. This account is used for the login on the archive, and by the candidate to fetch from
//! it.
//!
//! *Refusals.* A named server does not answer: it is unknown what it has ([`participants`]). The old primary is alive
//! and not given as `--old-primary`: there would be two primaries ([`unnamed_server`]). `--force` continues in both
//! cases, and prints what may be lost. Two servers with contradicting transactions, and one server under two names, are
//! always refused.
//!
//! A replica may have transactions that are not in its log (MariaDB's `log_slave_updates=OFF`). No other server can
//! fetch them. If the candidate still lacks one of them at the end, there is no promotion.
//!
//! New connections get the TLS settings of the candidate's connection to the old primary. Existing connections that are
//! redirected keep their settings.
//!
//! All steps use SQL that MariaDB also understands, so servers of both kinds may take part, in any role. Nothing is
//! changed until all servers have answered and no transactions contradict each other.

mod error;
mod participants;
mod positions;
mod role;
mod server;
mod unnamed_server;

use crate::connection::{account, or_environment};
use crate::tls::TlsOptions;
use error::{Error, Result};
use paceline_binlog::GtidPosition;
use participants::{Force, Logins, Participants, ServerAddresses};
use positions::{ServerPosition, contradiction, domains, lacking, unfetchable};
use server::{ArchiveOutcome, Replication, Server};
use std::collections::HashSet;
use std::time::Duration;

/// Name of the connection with which the candidate fetches missing transactions.
const COLLECTING: &str = "paceline_promote";

/// Extra time for an answer beyond the time limit of a step. A server may wait for a transaction until the limit, and
/// reports that only afterwards.
const ANSWER: Duration = Duration::from_secs(10);

/// Options of `paceline promote`.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// Replica that becomes the primary: HOST, HOST:PORT or [IPV6]:PORT. The other servers will connect to it at this
    /// address.
    candidate: String,
    /// Addresses of the other replicas.
    others: Vec<String>,
    /// The current primary, if it is alive. It is made read-only first, and becomes a replica at the end.
    #[arg(long, value_name = "ADDRESS")]
    old_primary: Option<String>,
    /// An archive that follows the old primary; may be given more than once. The candidate fetches from it the
    /// transactions that it lacks, and the archive then follows the new primary. An archive that serves the old
    /// primary's files (`paceline archive --serve`) can be given too.
    #[arg(long, value_name = "ADDRESS")]
    archive: Vec<String>,
    /// Promote even if an old primary that is not given is alive, or if a given server does not answer. Transactions
    /// that only such a server has acknowledged, or acknowledges from now on, are lost.
    #[arg(long)]
    force: bool,
    /// Account that reconfigures the servers.
    #[arg(long, default_value = "root")]
    user: String,
    /// Password of this account; by default from PACELINE_PASSWORD or MYSQL_PWD in the environment.
    #[arg(long, default_value = "", hide_default_value = true)]
    password: String,
    /// Account that the servers replicate with.
    #[arg(long)]
    replication_user: String,
    /// Password of this account; by default from PACELINE_REPLICATION_PASSWORD in the environment.
    #[arg(long, default_value = "", hide_default_value = true)]
    replication_password: String,
    /// Account of the archives: the one with which they follow their primary; by default that of --replication-user.
    #[arg(long)]
    archive_user: Option<String>,
    /// Password of this account; by default from PACELINE_ARCHIVE_PASSWORD in the environment, or else that of
    /// --replication-user.
    #[arg(long, default_value = "", hide_default_value = true)]
    archive_password: String,
    /// Time limit for each step, in seconds. A server that does not answer within another ten seconds is treated as
    /// unreachable.
    #[arg(long, default_value_t = 60)]
    timeout: u64,
    /// TLS options.
    #[command(flatten)]
    tls: TlsOptions,
}

/// Promotes the candidate.
///
/// # Errors
/// The failed step. If the command is repeated, it continues from there.
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
    let named = ServerAddresses {
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
    if let Some(living) = unnamed_server::find(&mut servers).await? {
        match force {
            Force::No => return Err(Error::PrimaryAlive { living }),
            Force::Yes => eprintln!(
                "warning: {} is alive ({}) and is not changed; transactions that it has acknowledged and they lack, and those that it acknowledges \
                 from now on, are lost. Keep its clients away from it",
                living.address, living.sign
            ),
        }
    }
    print_warnings(&mut servers).await;
    let accounts = Accounts {
        replication: &replication,
        archives: &archives_account,
    };
    let made = make_primary(&mut servers, accounts, patience).await;
    if let Err(why) = made {
        // Restarts the archives if possible: an archive that does not follow a primary stores nothing.
        for archive in &mut servers.archives {
            let _ = archive.resume_receiving().await;
        }
        let Some(old) = &mut servers.old_primary else {
            return Err(why);
        };
        // If the old primary does not answer, it is treated as not writable.
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

/// Accounts with which the candidate fetches.
#[derive(Clone, Copy)]
struct Accounts<'a> {
    replication: &'a Replication,
    archives: &'a Replication,
}

/// Prints warnings about risks that only the operator can judge.
async fn print_warnings(servers: &mut Participants) {
    let mut named = HashSet::new();
    let mut acknowledge = Vec::new();
    for server in servers.all() {
        named.insert(server.server_id());
        acknowledge.push(server.acknowledges().await);
    }
    match &mut servers.old_primary {
        Some(old) => {
            // If the account lacks the privilege for this query, there is no warning.
            for (id, host) in old.replicas().await.unwrap_or_default() {
                if !named.contains(&id) {
                    eprintln!(
                        "warning: server {id} ({host}) replicates from {}, was not given, and continues to replicate from there",
                        old.address()
                    );
                }
            }
        }
        None if acknowledge.iter().all(|one| *one == Some(false)) => eprintln!(
            "warning: none of the given servers acknowledges transactions (rpl_semi_sync_slave_enabled is OFF): none of them may have the \
             last commits of the old primary"
        ),
        None => {}
    }
}

/// Makes the other servers follow the candidate, which is now the primary.
async fn turn_to_the_new_primary(servers: &mut Participants, replication: &Replication) -> Result<()> {
    let candidate = &mut servers.candidate;
    let position = candidate.holding().await?.position();
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
            Ok(ArchiveOutcome::Follows) => println!("{} follows it", archive.address()),
            Ok(ArchiveOutcome::UntilRestart) => println!(
                "{} follows it until it is restarted: its --from does not name {}",
                archive.address(),
                candidate.address()
            ),
            Ok(ArchiveOutcome::FollowsNobody) => {}
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

/// Makes the candidate fetch everything that any server has, and accept writes.
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
            // Every replica still follows the old primary, and no other server was made writable. If the old primary
            // was read-only before, another server may be the one that accepts writes.
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
    candidate.reset_connections().await?;
    candidate.execute("SET GLOBAL read_only=0").await
}

/// Waits until the candidate has reached the end of the log of the old primary, which accepts no more writes.
async fn catch_up(candidate: &mut Server, old: &mut Server, patience: Duration) -> Result<()> {
    let last = old.holding().await?.logged;
    println!("{} accepts no more writes; its log ends at {last}", old.address());
    candidate.wait_for(&last, patience).await
}

/// Makes the candidate fetch what the others and the archives have and it lacks.
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
    // Checked again, now that the positions no longer change.
    refuse_contradictions(&holdings)?;
    for holding in &holdings {
        println!("{} has {}", holding.address, holding.position());
    }
    for (number, other) in holdings.iter().enumerate().skip(1) {
        let has = candidate.holding().await?.position();
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
    let has = candidate.holding().await?.position();
    match unfetchable(&has, &holdings[1..]) {
        Some((other, lacks)) => Err(Error::NotLogged {
            server: other.address.clone(),
            lacks,
            candidate: candidate.address().to_owned(),
        }),
        None => Ok(()),
    }
}

fn refuse_contradictions(holdings: &[ServerPosition]) -> Result<()> {
    match contradiction(holdings) {
        Some(contradiction) => Err(Error::Contradiction(contradiction)),
        None => Ok(()),
    }
}
