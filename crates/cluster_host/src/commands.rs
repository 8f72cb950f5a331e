//! An operator's commands for a cluster: functions over etcd alone. Each returns data; the program shows it.
//!
//! | command | what it changes | done when |
//! |---|---|---|
//! | [`overview`] | nothing | |
//! | [`switch`] | writes a request that the primary reads | the primary has written the result |
//! | [`add`], [`remove`], [`set_copies`] | the wanted configuration | an epoch with it has opened ([`await_wanted`]) |
//! | [`pause`], [`resume`] | whether members claim epochs by themselves | at once |
//! | [`restore_quorum`] | appends a forced epoch | its primary has opened it |
//!
//! All changes are made by compare-and-swap, so two operators at a time do no harm.

use crate::etcd::agent::RESULT_SECONDS;
use crate::etcd::{EtcdError, Store};
use crate::register::{MemberEntry, Register, Settings, SwitchEntry};
use paceline_cluster::{
    Configuration, ConfigurationError, Elections, Epoch, EpochRecord, EtcdState, Holder, HolderKind,
    MemberId, Origin, Progress,
};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// Time between two looks at a result.
const LOOK_INTERVAL: Duration = Duration::from_millis(50);
/// Records before a forced one that are kept: they no longer matter.
const RECORDS_BEFORE_FORCED: usize = 8;

/// Reason why a command has failed.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum CommandError {
    #[error(transparent)]
    Etcd(#[from] EtcdError),
    #[error("the cluster has no member {0}")]
    Unknown(String),
    #[error("several members have the name {name}: use the number, {numbers}")]
    Ambiguous { name: String, numbers: String },
    #[error("{0} is the primary: switch to another server first")]
    IsPrimary(String),
    #[error("{0} is the primary already")]
    IsPrimaryAlready(String),
    #[error("{0} is not a server of the present configuration: it cannot become the primary")]
    NoServer(String),
    #[error("{0} is not one of the servers that are left: it cannot become the primary")]
    NotLeft(String),
    #[error("{0} is not a log holder")]
    NoHolder(MemberId),
    #[error("nothing was changed: {0}")]
    NotConfirmed(&'static str),
    #[error("the configuration is impossible: {0}")]
    Configuration(#[from] ConfigurationError),
    #[error("another switch is under way")]
    Busy,
    #[error("the switch was not made: {0}")]
    Refused(String),
    #[error("no primary has answered in {} s", .0.as_secs())]
    NoAnswer(Duration),
    #[error("{0} takes over, but does not accept writes yet")]
    NotOpened(String),
    #[error("the change is not established after {} s; the primary goes on trying{missing}", limit.as_secs())]
    NotEstablished { limit: Duration, missing: String },
}

/// Part of a member in the cluster.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// The primary of the newest epoch that has opened.
    Primary,
    /// A log holder.
    Holder,
    /// It becomes a log holder when the wanted configuration is established.
    Joining,
    /// It is in the directory only.
    Listed,
}

/// Member in the overview.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MemberOverview {
    /// Identity.
    pub id: MemberId,
    /// Its part.
    pub part: Part,
    /// Kind.
    pub kind: HolderKind,
    /// Whether it is a holder that the wanted configuration no longer has.
    pub is_leaving: bool,
    /// Its entry in the directory. `None`: a holder that was removed from it.
    pub entry: Option<MemberEntry>,
}

impl MemberOverview {
    /// Returns its part in a word.
    pub fn part_name(&self) -> &'static str {
        match (self.part, self.is_leaving) {
            (Part::Primary, _) => "primary",
            (Part::Holder, true) => "leaving",
            (Part::Holder, false) => "holder",
            (Part::Joining, _) => "joining",
            (Part::Listed, _) => "listed",
        }
    }
}

/// A cluster, as etcd knows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Overview {
    /// Newest epoch.
    pub newest: EpochRecord,
    /// Newest epoch that has opened or was forced. `None`: the first has not opened.
    pub established: Option<EpochRecord>,
    /// Whether the newest epoch's claimer holds its lease.
    pub is_claimer_alive: bool,
    /// Settings.
    pub settings: Settings,
    /// Members: holders first, in their configuration's order.
    pub members: Vec<MemberOverview>,
}

/// Returns the cluster as etcd knows it.
///
/// # Errors
/// etcd does not answer, or the cluster was not founded.
pub async fn overview(store: &Store) -> Result<Overview, CommandError> {
    Ok(overview_of(&store.read_founded().await?.register))
}

fn overview_of(register: &Register) -> Overview {
    let state = register.state();
    Overview {
        newest: register.newest().clone(),
        established: state.established().cloned(),
        is_claimer_alive: register.claimed == Some(register.newest().epoch),
        settings: register.settings.clone(),
        members: members_of(&state, &register.members),
    }
}

/// Returns the members of a cluster: holders first, in their configuration's order.
pub fn members_of(state: &EtcdState, directory: &[MemberEntry]) -> Vec<MemberOverview> {
    let configuration = state.established_configuration();
    let established = state.established();
    let wanted = state.wanted.as_ref();
    let entry = |id| directory.iter().find(|entry| entry.member() == id).cloned();
    let is_leaving = |id| wanted.is_some_and(|wanted| wanted.holder(id).is_none());
    let primary = established.filter(|record| record.progress == Progress::Opened);
    let primary = primary.map(|record| record.primary);
    let mut members: Vec<MemberOverview> = Vec::new();
    for holder in configuration.holders() {
        members.push(MemberOverview {
            id: holder.id,
            part: match primary == Some(holder.id) {
                true => Part::Primary,
                false => Part::Holder,
            },
            kind: holder.kind,
            is_leaving: is_leaving(holder.id),
            entry: entry(holder.id),
        });
    }
    let wanted_holders = wanted.map_or(&[][..], Configuration::holders).iter();
    let joining = wanted_holders.map(|holder| (holder.id, holder.kind, Part::Joining));
    let listed = directory
        .iter()
        .map(|entry| (entry.member(), entry.kind.into(), Part::Listed));
    for (id, kind, part) in joining.chain(listed) {
        if members.iter().all(|member| member.id != id) {
            members.push(MemberOverview {
                id,
                part,
                kind,
                is_leaving: false,
                entry: entry(id),
            });
        }
    }
    members
}

/// Finds a member by its name or its number.
///
/// # Errors
/// There is none, or there are several of this name.
pub async fn find(store: &Store, name: &str) -> Result<MemberId, CommandError> {
    let register = store.read_founded().await?.register;
    find_in(&register, name)
}

fn find_in(register: &Register, name: &str) -> Result<MemberId, CommandError> {
    let overview = overview_of(register);
    let is_named = |member: &&MemberOverview| member.entry.as_ref().is_some_and(|entry| entry.name == name);
    let named: Vec<_> = overview.members.iter().filter(is_named).collect();
    match named[..] {
        [] => {}
        [member] => return Ok(member.id),
        [..] => {
            let numbers = named
                .iter()
                .map(|member| format!("{} ({})", member.id.0, member.part_name()));
            return Err(CommandError::Ambiguous {
                name: name.to_owned(),
                numbers: numbers.collect::<Vec<_>>().join(" or "),
            });
        }
    }
    let unknown = || CommandError::Unknown(name.to_owned());
    let id = MemberId(name.parse().map_err(|_| unknown())?);
    let is_known = overview.members.iter().any(|member| member.id == id);
    is_known.then_some(id).ok_or_else(unknown)
}

/// Asks the primary to hand over to this server, and waits until this one accepts writes, at most `limit`.
///
/// # Errors
/// The primary refuses, or there is none that answers, or the server has not opened in time.
pub async fn switch(store: &Store, target: MemberId, limit: Duration) -> Result<(), CommandError> {
    let snapshot = store.read_founded().await?;
    let state = snapshot.register.state();
    if !state.established_configuration().has_server(target) {
        return Err(CommandError::NoServer(snapshot.register.name_of(target)));
    }
    if state.established().is_some_and(|record| record.primary == target) {
        return Err(CommandError::IsPrimaryAlready(snapshot.register.name_of(target)));
    }
    if snapshot
        .register
        .switch
        .as_ref()
        .is_some_and(|entry| entry.result.is_none())
    {
        return Err(CommandError::Busy);
    }
    // A request that nobody answers goes away with its lease.
    let seconds = limit.as_secs().clamp(5, RESULT_SECONDS);
    let lease = store.grant_lease(seconds).await?;
    let entry = SwitchEntry {
        request: rand::random(),
        target: target.0,
        result: None,
    };
    if !store.put_switch(&snapshot, &entry, &lease).await? {
        return Err(CommandError::Busy);
    }
    let ends = Instant::now() + limit;
    while Instant::now() < ends {
        let answer = store.read_founded().await?.register.switch;
        match answer.filter(|answer| answer.request == entry.request) {
            Some(SwitchEntry {
                result: Some(result), ..
            }) => {
                return match result.is_empty() {
                    true => until_opened(store, target, ends).await,
                    false => Err(CommandError::Refused(result)),
                };
            }
            Some(SwitchEntry { result: None, .. }) => sleep(LOOK_INTERVAL).await,
            None => break,
        }
    }
    Err(CommandError::NoAnswer(limit))
}

/// Waits until this server is the primary of the newest epoch that has opened.
async fn until_opened(store: &Store, target: MemberId, ends: Instant) -> Result<(), CommandError> {
    while Instant::now() < ends {
        let state = store.read_founded().await?.register.state();
        if state.established().is_some_and(|record| record.primary == target) {
            return Ok(());
        }
        sleep(LOOK_INTERVAL).await;
    }
    let register = store.read_founded().await?.register;
    Err(CommandError::NotOpened(register.name_of(target)))
}

/// Wants this member of the directory as a log holder, with the kind, zone and priority of its entry. Returns the
/// wanted configuration, or the present one if it is like that.
///
/// # Errors
/// The member is not in the directory, or the configuration is impossible.
pub async fn add(store: &Store, member: MemberId) -> Result<Configuration, CommandError> {
    want(store, |register, mut holders| {
        let entry = register.members.iter().find(|entry| entry.member() == member);
        let holder = entry
            .ok_or_else(|| CommandError::Unknown(member.0.to_string()))?
            .holder();
        match holders.iter_mut().find(|known| known.id == member) {
            Some(known) => *known = holder,
            None => holders.push(holder),
        }
        Ok(holders)
    })
    .await
}

/// Wants the configuration without this log holder. A member that is no holder is removed from the directory.
///
/// # Errors
/// It is the primary, or the rest is no configuration.
pub async fn remove(store: &Store, member: MemberId) -> Result<(), CommandError> {
    let register = store.read_founded().await?.register;
    let overview = overview_of(&register);
    let known = overview.members.iter().find(|known| known.id == member);
    match known.map(|known| known.part) {
        None => return Err(CommandError::Unknown(member.0.to_string())),
        Some(Part::Listed) => return Ok(store.forget(member).await?),
        Some(Part::Primary | Part::Holder | Part::Joining) => {}
    }
    want(store, |register, mut holders| {
        if register
            .state()
            .established()
            .is_some_and(|record| record.primary == member)
        {
            return Err(CommandError::IsPrimary(register.name_of(member)));
        }
        holders.retain(|holder| holder.id != member);
        Ok(holders)
    })
    .await
    .map(|_| ())
}

/// Fixes the number of copies that each transaction needs (`None`: a majority), and the zones that they must span.
///
/// # Errors
/// The holders cannot have so many copies, or not in so many zones.
pub async fn set_copies(
    store: &Store,
    copies: Option<usize>,
    zones: u32,
) -> Result<Configuration, CommandError> {
    want(store, |register, holders| {
        (register.settings.copies, register.settings.zones) = (copies, zones);
        Ok(holders)
    })
    .await
}

/// Changes the wanted configuration. `change` gets the holders of the wanted one, or else of the present one.
async fn want(
    store: &Store,
    change: impl Fn(&mut Register, Vec<Holder>) -> Result<Vec<Holder>, CommandError>,
) -> Result<Configuration, CommandError> {
    let register = store.change(|register: &mut Register| {
        let before = register.settings.clone();
        let present = register.state().established_configuration().clone();
        let base = register.settings.wanted.as_ref().unwrap_or(&present);
        let holders = base.holders().to_vec();
        let holders = change(register, holders)?;
        let wanted = register.settings.configuration(holders)?;
        register.want(wanted);
        Ok::<_, CommandError>(register.settings != before)
    });
    let register = register.await?;
    let present = register.state().established_configuration().clone();
    Ok(register.settings.wanted.unwrap_or(present))
}

/// Waits until an epoch with the wanted configuration has opened, at most `limit`.
///
/// # Errors
/// It has not: members that are to be added have not caught up, for example.
pub async fn await_wanted(store: &Store, limit: Duration) -> Result<(), CommandError> {
    let ends = Instant::now() + limit;
    loop {
        let register = store.read_founded().await?.register;
        if register.settings.wanted.is_none() {
            return Ok(());
        }
        if Instant::now() >= ends {
            let missing = missing(&overview_of(&register));
            return Err(CommandError::NotEstablished { limit, missing });
        }
        sleep(LOOK_INTERVAL).await;
    }
}

/// Says which members a change waits for, as the end of a sentence.
fn missing(overview: &Overview) -> String {
    let joining = overview
        .members
        .iter()
        .filter(|member| member.part == Part::Joining);
    let names: Vec<_> = joining
        .map(|member| match &member.entry {
            Some(entry) => format!("{} ({})", entry.name, member.id.0),
            None => member.id.0.to_string(),
        })
        .collect();
    match names.is_empty() {
        true => String::new(),
        false => format!(
            ". It waits until these run and have its log: {}. `paceline cluster remove` gives a member up",
            names.join(", ")
        ),
    }
}

/// Keeps members from claiming epochs by themselves. Planned switches and [`restore_quorum`] still work.
///
/// # Errors
/// etcd does not answer.
pub async fn pause(store: &Store) -> Result<(), CommandError> {
    set_elections(store, Elections::Paused).await
}

/// Lets members claim epochs by themselves again.
///
/// # Errors
/// etcd does not answer.
pub async fn resume(store: &Store) -> Result<(), CommandError> {
    set_elections(store, Elections::Active).await
}

async fn set_elections(store: &Store, elections: Elections) -> Result<(), CommandError> {
    let change = |register: &mut Register| {
        let before = std::mem::replace(&mut register.settings.elections, elections);
        Ok::<_, CommandError>(before != elections)
    };
    store.change(change).await.map(|_| ())
}

/// Members that are left after a disaster.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Remainder {
    /// The server that becomes the primary.
    pub primary: MemberId,
    /// The log holders that are left, the primary among them. All of them must be up.
    pub holders: Vec<MemberId>,
    /// Copies that each transaction needs from now on. `None`: a majority.
    pub copies: Option<usize>,
    /// Lowest number of the new epoch. One that a member has promised is too low; the next number after the newest in
    /// etcd is enough unless etcd was restored from an old copy.
    pub least: Epoch,
}

/// Appends a forced epoch with what is left, and returns it. Holders that are not named are given up, with the
/// transactions that only they have. Zones no longer count.
///
/// # Errors
/// The members are unknown, or no configuration.
pub async fn restore_quorum(store: &Store, remainder: &Remainder) -> Result<EpochRecord, CommandError> {
    let change = |register: &mut Register| {
        let (settings, configuration) = remaining(register, remainder)?;
        register.settings = settings;
        let forced = EpochRecord {
            epoch: register.newest().epoch.next().max(remainder.least),
            primary: remainder.primary,
            configuration,
            origin: Origin::Forced,
            progress: Progress::Claimed,
        };
        let surplus = register.records.len().saturating_sub(RECORDS_BEFORE_FORCED);
        register.records.drain(..surplus);
        register.records.push(forced);
        Ok::<_, CommandError>(true)
    };
    Ok(store.change(change).await?.newest().clone())
}

/// Checks what [`restore_quorum`] needs, and changes nothing.
///
/// # Errors
/// The members are unknown, or no configuration.
pub async fn check_remainder(store: &Store, remainder: &Remainder) -> Result<(), CommandError> {
    let register = store.read_founded().await?.register;
    remaining(&register, remainder).map(drop)
}

/// Returns the settings and the configuration of what is left.
fn remaining(register: &Register, remainder: &Remainder) -> Result<(Settings, Configuration), CommandError> {
    let holders = remainder.holders.iter().map(|id| known_holder(register, *id));
    let holders = holders.collect::<Result<Vec<_>, _>>()?;
    let settings = Settings {
        wanted: None,
        copies: remainder.copies,
        zones: 1,
        elections: register.settings.elections,
    };
    let configuration = settings.configuration(holders)?;
    match configuration.has_server(remainder.primary) {
        true => Ok((settings, configuration)),
        false => Err(CommandError::NotLeft(register.name_of(remainder.primary))),
    }
}

/// Returns a log holder as a configuration has it, or as the directory has it.
fn known_holder(register: &Register, id: MemberId) -> Result<Holder, CommandError> {
    let mut records = register.records.iter().rev();
    let holder = records.find_map(|record| record.configuration.holder(id).copied());
    let entry = || register.members.iter().find(|entry| entry.member() == id);
    holder
        .or_else(|| entry().map(MemberEntry::holder))
        .ok_or(CommandError::NoHolder(id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::register::KindText;

    fn entry(id: u32, name: &str) -> MemberEntry {
        MemberEntry {
            id,
            name: name.to_owned(),
            host: "h".to_owned(),
            port: 3306,
            cluster_host: "h".to_owned(),
            cluster_port: 3307,
            kind: KindText::Server,
            zone: 0,
            priority: 0,
            version: "0".to_owned(),
            log_format: 1,
        }
    }

    #[test]
    fn members_are_shown_with_their_part() {
        let mut register = Register::founded(entry(1, "a").holder()).unwrap();
        register.members = vec![entry(1, "a"), entry(2, "b"), entry(3, "c")];
        let founded = register.newest().clone();
        let parts = |register: &Register| {
            let members = overview_of(register).members;
            members
                .iter()
                .map(|member| (member.id.0, member.part))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            parts(&register),
            [(1, Part::Holder), (2, Part::Listed), (3, Part::Listed)]
        );
        register.mark_opened(&EpochRecord {
            progress: Progress::Opened,
            ..founded
        });
        let holders = vec![entry(1, "a").holder(), entry(2, "b").holder()];
        register.settings.wanted = Some(register.settings.configuration(holders).unwrap());
        assert_eq!(
            parts(&register),
            [(1, Part::Primary), (2, Part::Joining), (3, Part::Listed)]
        );
    }

    #[test]
    fn a_change_that_is_not_established_names_the_members_that_it_waits_for() {
        let mut register = Register::founded(entry(1, "a").holder()).unwrap();
        register.members = vec![entry(1, "a"), entry(2, "b")];
        assert_eq!(missing(&overview_of(&register)), "");
        let holders = vec![entry(1, "a").holder(), entry(2, "b").holder()];
        register.settings.wanted = Some(register.settings.configuration(holders).unwrap());
        let text = missing(&overview_of(&register));
        assert!(text.contains("have its log: b (2)."), "{text}");
    }

    #[test]
    fn members_are_found_by_name_or_number() {
        let mut register = Register::founded(entry(1, "a").holder()).unwrap();
        register.members = vec![entry(1, "a"), entry(2, "b"), entry(3, "b")];
        assert_eq!(find_in(&register, "a").unwrap(), MemberId(1));
        assert_eq!(find_in(&register, "3").unwrap(), MemberId(3));
        let ambiguous = find_in(&register, "b").unwrap_err().to_string();
        assert!(
            ambiguous.ends_with("use the number, 2 (listed) or 3 (listed)"),
            "{ambiguous}"
        );
        assert!(matches!(find_in(&register, "4"), Err(CommandError::Unknown(_))));
    }
}
