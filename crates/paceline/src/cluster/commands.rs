//! `paceline cluster …`: what an operator does with a cluster. Everything goes through etcd, so it works from any
//! machine that reaches it, also while no server answers. Only `status` with the cluster's secret asks the members.

use super::settings::read_secret;
use clap::{Args, Subcommand, ValueHint};
use paceline_cluster::{Configuration, Elections, Epoch, HolderKind, MemberId, Progress, primary_order};
use paceline_cluster_host::commands::{self, Overview, Part, Remainder};
use paceline_cluster_host::etcd::{EtcdSettings, Store};
use paceline_cluster_host::messages::PeerLogin;
use paceline_cluster_host::picture::{PicturedMember, next_upgrade, picture};
use paceline_cluster_host::register::MemberEntry;
use paceline_wire::tls::ClusterKey;
use std::io::{BufRead, IsTerminal, Write};
use std::path::PathBuf;
use std::time::Duration;

/// Time limit of a request to one URL of etcd. Longer than a member's, which asks again: here it ends the command.
const ETCD_TIMEOUT: Duration = Duration::from_secs(3);

/// Options of `paceline cluster`.
#[derive(Args, Debug)]
pub struct Options {
    #[command(subcommand)]
    action: Action,
    /// Name of the cluster.
    #[arg(
        long,
        global = true,
        value_name = "NAME",
        env = "PACELINE_CLUSTER",
        default_value = ""
    )]
    cluster: String,
    /// URLs of etcd, separated by commas.
    #[arg(
        long,
        global = true,
        value_name = "URL",
        value_delimiter = ',',
        env = "PACELINE_ETCD",
        default_value = "http://127.0.0.1:2379"
    )]
    etcd: Vec<String>,
    /// Authorities of etcd's certificate; by default those of the system.
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    etcd_ca_file: Option<PathBuf>,
    /// Certificate for etcd.
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "etcd_key_file")]
    etcd_cert_file: Option<PathBuf>,
    /// Key of this certificate.
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    etcd_key_file: Option<PathBuf>,
    /// User of etcd.
    #[arg(long, global = true, value_name = "NAME", requires = "etcd_password_file")]
    etcd_user: Option<String>,
    /// File with the password of this user.
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    etcd_password_file: Option<PathBuf>,
}

#[derive(Subcommand, Debug)]
enum Action {
    /// Show the members, the epoch, and changes that are under way.
    Status {
        /// File with the cluster's secret. With it the members are asked for their state, position and lag.
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, env = "PACELINE_CLUSTER_SECRET_FILE")]
        cluster_secret_file: Option<PathBuf>,
    },
    /// Make another server the primary. Clients wait meanwhile; nothing is lost.
    Switch {
        /// Name or number of the server that becomes the primary; by default the one with the highest priority.
        #[arg(long, value_name = "MEMBER")]
        to: Option<String>,
        /// Time limit in seconds.
        #[arg(long, value_name = "SECONDS", default_value_t = 15)]
        timeout: u64,
    },
    /// Make a member a log holder (again): transactions may wait for its copy, and it may become the primary.
    Add {
        /// Name or number of the member.
        member: String,
        /// Time limit in seconds.
        #[arg(long, value_name = "SECONDS", default_value_t = 60)]
        timeout: u64,
    },
    /// Make a log holder an ordinary replica; remove a member that is none.
    Remove {
        /// Name or number of the member.
        member: String,
        /// Time limit in seconds.
        #[arg(long, value_name = "SECONDS", default_value_t = 60)]
        timeout: u64,
    },
    /// Set how many copies each transaction needs, the primary's own included, and in how many zones.
    Copies {
        /// Number of copies; 0: a majority of the log holders.
        copies: usize,
        /// Number of zones.
        #[arg(long, value_name = "N", default_value_t = 1)]
        zones: u32,
    },
    /// Keep the members from replacing a dead primary by themselves.
    Pause,
    /// Let the members replace a dead primary again.
    Resume,
    /// After a disaster: go on with the log holders that are left, though they are too few. Transactions that only the
    /// others have are lost.
    RestoreQuorum {
        /// Name or number of the server that becomes the primary.
        #[arg(long, value_name = "MEMBER")]
        primary: String,
        /// Names or numbers of all log holders that are left, the primary among them.
        #[arg(long, value_name = "MEMBER", value_delimiter = ',', required = true)]
        holders: Vec<String>,
        /// Do not ask.
        #[arg(long)]
        yes: bool,
    },
}

/// Runs a command.
///
/// # Errors
/// A message for users.
pub fn run(options: &Options) -> Result<(), String> {
    if options.cluster.is_empty() {
        return Err("--cluster=NAME is missing".into());
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("cannot start threads: {error}"))?;
    let user = match (&options.etcd_user, &options.etcd_password_file) {
        (Some(user), Some(file)) => Some((user.clone(), read_secret(file)?)),
        _ => None,
    };
    let settings = EtcdSettings {
        authority: options.etcd_ca_file.clone(),
        certificate: options.etcd_cert_file.clone().zip(options.etcd_key_file.clone()),
        user,
        timeout: ETCD_TIMEOUT,
        ..EtcdSettings::of_urls(options.etcd.clone())
    };
    let store = Store::new(&settings, &options.cluster).map_err(|error| error.to_string())?;
    let login = match &options.action {
        Action::Status {
            cluster_secret_file: Some(file),
        } => {
            let secret = read_secret(file)?;
            let key = ClusterKey::derive(&options.cluster, &secret).map_err(|error| error.to_string())?;
            Some(PeerLogin { secret, key })
        }
        _ => None,
    };
    runtime
        .block_on(act(&options.action, &store, login))
        .map_err(|error| error.to_string())
}

async fn act(action: &Action, store: &Store, login: Option<PeerLogin>) -> Result<(), commands::CommandError> {
    match action {
        Action::Status { .. } => {
            let overview = commands::overview(store).await?;
            match login {
                None => print!("{}", status(&overview)),
                Some(login) => {
                    let members = picture(overview.members.clone(), None, &login).await;
                    print!("{}{}", states(&members), summary(&overview));
                }
            }
        }
        Action::Switch { to, timeout } => {
            let target = match to {
                Some(name) => commands::find(store, name).await?,
                None => best_target(&commands::overview(store).await?)?,
            };
            commands::switch(store, target, Duration::from_secs(*timeout)).await?;
            println!(
                "{} is the primary",
                name_of(&commands::overview(store).await?, target)
            );
        }
        Action::Add { member, timeout } => {
            let member = commands::find(store, member).await?;
            commands::add(store, member).await?;
            commands::await_wanted(store, Duration::from_secs(*timeout)).await?;
            print!("{}", status(&commands::overview(store).await?));
        }
        Action::Remove { member, timeout } => {
            let member = commands::find(store, member).await?;
            commands::remove(store, member).await?;
            commands::await_wanted(store, Duration::from_secs(*timeout)).await?;
            print!("{}", status(&commands::overview(store).await?));
        }
        Action::Copies { copies, zones } => {
            let copies = Some(*copies).filter(|copies| *copies > 0);
            commands::set_copies(store, copies, *zones).await?;
            commands::await_wanted(store, Duration::from_secs(60)).await?;
            print!("{}", status(&commands::overview(store).await?));
        }
        Action::Pause => {
            commands::pause(store).await?;
            println!("a dead primary is not replaced until `paceline cluster resume`");
        }
        Action::Resume => {
            commands::resume(store).await?;
            println!("a dead primary is replaced");
        }
        Action::RestoreQuorum {
            primary,
            holders,
            yes,
        } => restore_quorum(store, primary, holders, *yes).await?,
    }
    Ok(())
}

/// Returns the server that a switch without a target goes to.
fn best_target(overview: &Overview) -> Result<MemberId, commands::CommandError> {
    let candidates = overview.members.iter().filter(|member| {
        member.kind == HolderKind::Server && member.part == Part::Holder && !member.is_leaving
    });
    // One that is not in the directory can be no target.
    let entries = candidates.filter_map(|member| member.entry.as_ref());
    entries
        .min_by_key(|entry| primary_order(entry.log_format, &entry.holder()))
        .map(MemberEntry::member)
        .ok_or_else(|| commands::CommandError::Unknown("that could become the primary".into()))
}

async fn restore_quorum(
    store: &Store,
    primary: &str,
    holders: &[String],
    yes: bool,
) -> Result<(), commands::CommandError> {
    let overview = commands::overview(store).await?;
    let primary = commands::find(store, primary).await?;
    let mut left = Vec::new();
    for name in holders {
        left.push(commands::find(store, name).await?);
    }
    let remainder = Remainder {
        primary,
        holders: left.clone(),
        copies: None,
        least: Epoch(0),
    };
    commands::check_remainder(store, &remainder).await?;
    let given_up = overview
        .members
        .iter()
        .filter(|member| matches!(member.part, Part::Primary | Part::Holder) && !left.contains(&member.id));
    let given_up: Vec<_> = given_up.map(|member| name_of(&overview, member.id)).collect();
    eprintln!(
        "{} becomes the primary. Given up: {}. Transactions that were reported as committed and that only these have are lost. \
         Make sure that none of them runs, and that none is started again with its directory as it is.",
        name_of(&overview, primary),
        match given_up.is_empty() {
            true => "none".to_owned(),
            false => given_up.join(", "),
        }
    );
    if !yes {
        confirm().map_err(commands::CommandError::NotConfirmed)?;
    }
    let record = commands::restore_quorum(store, &remainder).await?;
    println!("epoch {} begins when all of them have promised it", record.epoch);
    Ok(())
}

/// Asks whether to go on. Returns the reason if not.
fn confirm() -> Result<(), &'static str> {
    if !std::io::stdin().is_terminal() {
        return Err("there is no terminal to ask on; --yes answers the question");
    }
    eprint!("Type YES to go on: ");
    let _ = std::io::stderr().flush();
    let mut answer = String::new();
    let is_read = std::io::stdin().lock().read_line(&mut answer).is_ok();
    match is_read && answer.trim() == "YES" {
        true => Ok(()),
        false => Err("the answer was not YES"),
    }
}

fn name_of(overview: &Overview, member: MemberId) -> String {
    let known = overview.members.iter().find(|known| known.id == member);
    let entry = known.and_then(|known| known.entry.as_ref());
    entry.map_or_else(|| member.to_string(), |entry| entry.name.clone())
}

/// Returns the text of `status`.
fn status(overview: &Overview) -> String {
    let mut text = String::new();
    let mut line = |cells: [&str; 7]| {
        let [name, part, address, kind, zone, priority, version] = cells;
        text.push_str(&format!(
            "{name:<20} {part:<9} {address:<22} {kind:<8} {zone:>4} {priority:>8} {version}\n"
        ));
    };
    line(["member", "part", "address", "kind", "zone", "priority", "version"]);
    for member in &overview.members {
        let part = member.part_name();
        let kind = match member.kind {
            HolderKind::Server => "server",
            HolderKind::Archive => "archive",
        };
        match &member.entry {
            Some(entry) => line([
                &entry.name,
                part,
                &format!("{}:{}", entry.host, entry.port),
                kind,
                &entry.zone.to_string(),
                &entry.priority.to_string(),
                &entry.version,
            ]),
            None => line([&member.id.0.to_string(), part, "", kind, "", "", ""]),
        }
    }
    text.push_str(&summary(overview));
    text
}

/// Returns the members with what they say themselves.
fn states(members: &[PicturedMember]) -> String {
    let mut text = String::new();
    let mut line = |cells: [&str; 8]| {
        let [name, part, address, version, epoch, behind, seconds, state] = cells;
        text.push_str(&format!(
            "{name:<20} {part:<9} {address:<22} {version:<8} {epoch:>6} {behind:>8} {seconds:>8}  {state}\n"
        ));
    };
    line([
        "member",
        "part",
        "address",
        "version",
        "epoch",
        "behind",
        "seconds",
        "position, state",
    ]);
    for member in members {
        let entry = member.overview.entry.as_ref();
        let number = |number: Option<u64>| number.map_or_else(String::new, |number| number.to_string());
        let report = member.answer.as_ref().ok();
        let waits = report.and_then(|report| report.waits.as_ref());
        let mut state = report.map_or_else(String::new, |report| format!("{} ", report.gtid_position));
        state.push_str(&member.state());
        if let Some(waits) = waits {
            state.push_str(&format!("; waits {waits}"));
        }
        line([
            &entry.map_or_else(|| member.overview.id.0.to_string(), |entry| entry.name.clone()),
            member.overview.part_name(),
            &entry.map_or_else(String::new, |entry| format!("{}:{}", entry.host, entry.port)),
            entry.map_or("", |entry| &entry.version),
            &number(report.and_then(|report| report.epoch)),
            &number(member.lag.transactions),
            &member
                .lag
                .ms
                .map_or_else(String::new, |ms| format!("{:.1}", ms as f64 / 1000.0)),
            &state,
        ]);
    }
    text
}

/// Returns how many copies each transaction needs, and in how many zones if not in one.
fn needed_copies(configuration: &Configuration) -> String {
    let (copies, holders) = (configuration.copies(), configuration.holders().len());
    match configuration.zones() {
        0 | 1 => format!("{copies} of {holders} copies"),
        zones => format!("{copies} of {holders} copies in {zones} zones"),
    }
}

/// Returns the lines under the members: the epoch, changes that are under way, the next upgrade.
fn summary(overview: &Overview) -> String {
    let mut text = String::new();
    let newest = &overview.newest;
    let state = match (newest.progress, overview.is_claimer_alive) {
        (Progress::Opened, _) => "open",
        (Progress::Claimed, true) => "being opened",
        (Progress::Claimed, false) => "claimed and not opened",
    };
    text.push_str(&format!(
        "epoch {} of {}: {state}, commits need {}\n",
        newest.epoch,
        name_of(overview, newest.primary),
        needed_copies(&newest.configuration),
    ));
    if overview.settings.wanted.is_some() {
        text.push_str("a change of the log holders is under way\n");
    }
    if overview.settings.elections == Elections::Paused {
        text.push_str("paused: a dead primary is not replaced\n");
    }
    if let Some(upgrade) = next_upgrade(&overview.members) {
        let name = name_of(overview, upgrade.member);
        let before = match upgrade.is_primary {
            true => ", after a switch to another server",
            false => "",
        };
        text.push_str(&format!(
            "upgrade next: {name}, from {} to {}{before}\n",
            upgrade.version, upgrade.newest
        ));
    }
    text
}
