//! A cluster as its members tell it: what etcd knows of them ([`crate::commands::members_of`]) beside what each answers
//! when it is asked ([`crate::messages::inquire`]).
//!
//! All members are asked at the same time, each for a limited time, so one that is silent delays the picture and does
//! not spoil it. The primary reports the distance of the others: the member that reports to be the primary in the
//! highest epoch. An old primary that has not noticed its end yet reports an older epoch.

use crate::commands::{MemberOverview, Part};
use crate::messages::{PeerLogin, inquire};
use crate::report::{MemberReport, PeerReport, Stage};
use paceline_cluster::{HolderKind, MemberId};
use std::time::Duration;
use tokio::task::JoinSet;

/// Time that a member has for its answer.
pub const ANSWER_MAX: Duration = Duration::from_secs(1);

/// Distance of a member's log from the primary's. `None`: unknown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MemberLag {
    /// Transactions: difference of the log indexes. Numbers that the log skips count as well.
    pub transactions: Option<u64>,
    /// Bytes, about.
    pub bytes: Option<u64>,
    /// Milliseconds, about.
    pub ms: Option<u64>,
}

/// A member in the picture.
#[derive(Clone, Debug)]
pub struct PicturedMember {
    /// Its entry and part in etcd.
    pub overview: MemberOverview,
    /// Its own report, or the reason why there is none.
    pub answer: Result<MemberReport, String>,
    /// Distance from the primary.
    pub lag: MemberLag,
}

impl PicturedMember {
    /// Returns its state in words.
    pub fn state(&self) -> String {
        match &self.answer {
            Err(reason) => format!("no answer: {reason}"),
            Ok(report) if report.stage == Stage::Log && self.overview.kind == HolderKind::Server => {
                "starting".to_owned()
            }
            Ok(report) => report.role.clone(),
        }
    }
}

/// Asks the members and puts the picture together. `own` is the report of the member that draws it; it is not asked.
pub async fn picture(
    members: Vec<MemberOverview>,
    own: Option<MemberReport>,
    login: &PeerLogin,
) -> Vec<PicturedMember> {
    let mut asked = JoinSet::new();
    for (at, member) in members.iter().enumerate() {
        let is_own = own.as_ref().is_some_and(|own| own.id == member.id.0);
        if let Some(entry) = member.entry.clone().filter(|_| !is_own) {
            let login = login.clone();
            asked.spawn(async move { (at, inquire(&entry, &login, ANSWER_MAX).await) });
        }
    }
    let mut answers: Vec<_> = members
        .iter()
        .map(|member| match &own {
            Some(own) if own.id == member.id.0 => Ok(own.clone()),
            _ => Err("its address is not known".to_owned()),
        })
        .collect();
    while let Some(answered) = asked.join_next().await {
        if let Ok((at, answer)) = answered {
            answers[at] = answer.map_err(|error| error.to_string());
        }
    }
    put_together(members, answers)
}

fn put_together(
    members: Vec<MemberOverview>,
    answers: Vec<Result<MemberReport, String>>,
) -> Vec<PicturedMember> {
    let primaries = answers.iter().flatten().filter(|report| report.is_primary);
    let primary = primaries.max_by_key(|report| report.epoch).cloned();
    let members = members.into_iter().zip(answers);
    members
        .map(|(mut overview, answer)| {
            let lag = primary
                .as_ref()
                .map(|primary| lag(primary, overview.id, answer.as_ref().ok()));
            overview.part = match (&primary, overview.part) {
                (Some(primary), _) if primary.id == overview.id.0 => Part::Primary,
                // etcd is away, or does not know it yet.
                (Some(_), Part::Primary) => Part::Holder,
                (_, part) => part,
            };
            PicturedMember {
                overview,
                answer,
                lag: lag.unwrap_or_default(),
            }
        })
        .collect()
}

fn lag(primary: &MemberReport, member: MemberId, report: Option<&MemberReport>) -> MemberLag {
    let none = MemberLag {
        transactions: Some(0),
        bytes: Some(0),
        ms: Some(0),
    };
    if primary.id == member.0 {
        return none;
    }
    let peer: Option<&PeerReport> = primary.peer(member);
    // Both may know an older end of it: of a member that follows, its log only grows.
    let known = peer.and_then(|peer| peer.log_index);
    let own = report.map(|report| report.log_index);
    let transactions = own.max(known).map(|end| primary.log_index.saturating_sub(end));
    match transactions {
        Some(0) => none,
        transactions => MemberLag {
            transactions,
            bytes: peer.and_then(|peer| peer.lag_bytes),
            ms: peer.and_then(|peer| peer.lag_ms),
        },
    }
}

/// Member that is to be upgraded next.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Upgrade {
    /// The member.
    pub member: MemberId,
    /// Its version.
    pub version: String,
    /// Newest version in the cluster.
    pub newest: String,
    /// Whether it is the primary: another server becomes the primary first.
    pub is_primary: bool,
}

/// Returns the member to upgrade next, if the members have different versions: one of the oldest version, and the
/// primary last, because a member reads the log of an older one and not that of a newer one.
pub fn next_upgrade(members: &[MemberOverview]) -> Option<Upgrade> {
    let listed = members.iter().filter_map(|member| {
        let entry = member.entry.as_ref()?;
        Some((member, &entry.version, numbers(&entry.version)))
    });
    let listed: Vec<_> = listed.collect();
    let (_, newest, newest_numbers) = listed.iter().max_by_key(|(_, _, numbers)| numbers.clone())?;
    let older = listed.iter().filter(|(_, _, numbers)| numbers < newest_numbers);
    let next = older.min_by_key(|(member, _, numbers)| (member.part == Part::Primary, numbers.clone()))?;
    let (member, version, _) = next;
    Some(Upgrade {
        member: member.id,
        version: (*version).clone(),
        newest: (*newest).clone(),
        is_primary: member.part == Part::Primary,
    })
}

/// Returns the numbers of a version: `0.2.10` is later than `0.2.9`.
fn numbers(version: &str) -> Vec<u64> {
    let parts = version.split(|character: char| !character.is_ascii_digit());
    parts.filter_map(|part| part.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::register::{KindText, MemberEntry};

    fn overview(id: u32, part: Part, version: &str) -> MemberOverview {
        MemberOverview {
            id: MemberId(id),
            part,
            kind: HolderKind::Server,
            is_leaving: false,
            entry: Some(MemberEntry {
                id,
                name: id.to_string(),
                host: "localhost".to_owned(),
                port: 1,
                cluster_host: "localhost".to_owned(),
                cluster_port: 2,
                kind: KindText::Server,
                zone: 0,
                priority: 0,
                version: version.to_owned(),
                log_format: 1,
            }),
        }
    }

    fn report(id: u32, epoch: u64, is_primary: bool, log_index: u64) -> MemberReport {
        MemberReport {
            id,
            epoch: Some(epoch),
            is_primary,
            log_index,
            stage: Stage::Tables,
            role: "a role".to_owned(),
            ..MemberReport::default()
        }
    }

    #[test]
    fn the_primary_of_the_highest_epoch_says_how_far_others_are_behind() {
        let mut primary = report(2, 6, true, 100);
        primary.peers.push(PeerReport {
            id: 3,
            log_index: Some(80),
            lag_bytes: Some(5000),
            lag_ms: Some(300),
            ..PeerReport::default()
        });
        // etcd does not know the newest epoch yet, and the old primary has not noticed it.
        let members = vec![
            overview(1, Part::Primary, "1"),
            overview(2, Part::Holder, "1"),
            overview(3, Part::Holder, "1"),
        ];
        let answers = vec![Ok(report(1, 5, true, 100)), Ok(primary), Err("gone".to_owned())];
        let picture = put_together(members, answers);
        let parts: Vec<_> = picture.iter().map(|member| member.overview.part).collect();
        assert_eq!(parts, [Part::Holder, Part::Primary, Part::Holder]);
        assert_eq!(picture[0].lag.transactions, Some(0));
        assert_eq!(picture[1].lag.transactions, Some(0));
        let lag = picture[2].lag;
        assert_eq!(
            (lag.transactions, lag.bytes, lag.ms),
            (Some(20), Some(5000), Some(300))
        );
        assert_eq!(picture[2].state(), "no answer: gone");
        assert_eq!(picture[1].state(), "a role");
    }

    #[test]
    fn without_a_primary_nothing_is_said_of_lag() {
        let members = vec![overview(1, Part::Primary, "1")];
        let mut starting = report(1, 5, false, 100);
        starting.stage = Stage::Log;
        let picture = put_together(members, vec![Ok(starting)]);
        assert_eq!(picture[0].lag, MemberLag::default());
        assert_eq!(picture[0].state(), "starting");
    }

    #[test]
    fn the_oldest_is_upgraded_first_and_the_primary_last() {
        let next = |versions: [&str; 3]| {
            let parts = [Part::Primary, Part::Holder, Part::Holder];
            let members = (1..).zip(parts).zip(versions);
            let members = members.map(|((id, part), version)| overview(id, part, version));
            let next = next_upgrade(&members.collect::<Vec<_>>());
            next.map(|upgrade| (upgrade.member.0, upgrade.is_primary))
        };
        assert_eq!(next(["0.2.0", "0.2.0", "0.2.0"]), None);
        assert_eq!(next(["0.2.9", "0.2.10", "0.2.9"]), Some((3, false)));
        assert_eq!(next(["0.2.0", "0.3.0", "0.2.1"]), Some((3, false)));
        assert_eq!(next(["0.2.0", "0.3.0", "0.3.0"]), Some((1, true)));
    }
}
