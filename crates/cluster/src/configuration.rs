//! Configuration of an epoch: the log holders, and how many of them must have a transaction.

use std::fmt;

/// Identity of a member's data directory. A directory that is made anew has a new identity: the old one's promises and
/// log are gone.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct MemberId(pub u32);

impl fmt::Display for MemberId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "member {}", self.0)
    }
}

/// Kind of a log holder.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HolderKind {
    /// It has tables and may become the primary.
    Server,
    /// It has only the log.
    Archive,
}

/// Log holder of a configuration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Holder {
    /// Identity.
    pub id: MemberId,
    /// Kind.
    pub kind: HolderKind,
    /// Number of the zone (rack, data centre), below [`Configuration::ZONES_MAX`].
    pub zone: u8,
    /// Of the servers that could become the primary, the one with the highest priority claims first.
    pub priority: u8,
}

/// Reason why a configuration is impossible.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum ConfigurationError {
    #[error("a cluster has 1 to {} log holders", Configuration::HOLDERS_MAX)]
    HolderCount,
    #[error("{0} is named twice")]
    NamedTwice(MemberId),
    #[error("zones are numbered from 0 to {}", Configuration::ZONES_MAX - 1)]
    ZoneNumber,
    #[error("the number of copies must be 1 to the number of log holders")]
    Copies,
    #[error("the copies cannot be in so many zones")]
    Zones,
    #[error("none of the log holders is a server")]
    NoServer,
}

/// Log holders of an epoch, and the rule that makes a set of them an *acknowledgement quorum*: it has at least
/// `copies` holders, in at least `zones` zones.
///
/// A set of holders *blocks* if those outside it are no acknowledgement quorum. With one zone these are N − W + 1
/// holders. Any blocking set has a holder in common with any acknowledgement quorum.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Configuration {
    holders: Vec<Holder>,
    copies: usize,
    zones: u32,
}

impl Configuration {
    /// Maximum number of log holders.
    pub const HOLDERS_MAX: usize = 31;
    /// Maximum number of zones.
    pub const ZONES_MAX: u8 = 64;

    /// Creates one with `copies` copies of each transaction, the primary's included, in at least `zones` zones.
    ///
    /// # Errors
    /// The holders can never acknowledge anything, or limits are exceeded.
    pub fn new(holders: Vec<Holder>, copies: usize, zones: u32) -> Result<Self, ConfigurationError> {
        if holders.is_empty() || holders.len() > Self::HOLDERS_MAX {
            return Err(ConfigurationError::HolderCount);
        }
        for (at, holder) in holders.iter().enumerate() {
            if holders[..at].iter().any(|other| other.id == holder.id) {
                return Err(ConfigurationError::NamedTwice(holder.id));
            }
            if holder.zone >= Self::ZONES_MAX {
                return Err(ConfigurationError::ZoneNumber);
            }
        }
        if holders.iter().all(|holder| holder.kind == HolderKind::Archive) {
            return Err(ConfigurationError::NoServer);
        }
        if copies < 1 || copies > holders.len() {
            return Err(ConfigurationError::Copies);
        }
        let configuration = Configuration {
            holders,
            copies,
            zones,
        };
        match configuration.acknowledges(|_| true) {
            true => Ok(configuration),
            false => Err(ConfigurationError::Zones),
        }
    }

    /// Returns the log holders.
    pub fn holders(&self) -> &[Holder] {
        &self.holders
    }

    /// Returns the number of copies that a transaction needs, the primary's included.
    pub fn copies(&self) -> usize {
        self.copies
    }

    /// Returns the number of zones that these copies must be in.
    pub fn zones(&self) -> u32 {
        self.zones
    }

    /// Returns the holder with this identity.
    pub fn holder(&self, id: MemberId) -> Option<&Holder> {
        self.holders.iter().find(|holder| holder.id == id)
    }

    /// Returns whether this member is a server of it.
    pub fn has_server(&self, id: MemberId) -> bool {
        self.holder(id)
            .is_some_and(|holder| holder.kind == HolderKind::Server)
    }

    /// Returns whether the holders of which `has` is true are an acknowledgement quorum.
    pub fn acknowledges(&self, has: impl Fn(MemberId) -> bool) -> bool {
        let mut copies = 0;
        let mut zones = 0u64;
        for holder in self.holders.iter().filter(|holder| has(holder.id)) {
            copies += 1;
            zones |= 1 << holder.zone;
        }
        copies >= self.copies && zones.count_ones() >= self.zones
    }

    /// Returns whether there is no acknowledgement quorum without the holders of which `has` is true.
    pub fn blocks(&self, has: impl Fn(MemberId) -> bool) -> bool {
        !self.acknowledges(|id| !has(id))
    }

    /// Returns the highest value that an acknowledgement quorum has reached. A holder without a value has reached none.
    pub fn reached<T: Ord + Copy>(&self, value: impl Fn(MemberId) -> Option<T>) -> Option<T> {
        let values = self.holders.iter().filter_map(|holder| value(holder.id));
        values
            .filter(|least| self.acknowledges(|id| value(id).is_some_and(|reached| reached >= *least)))
            .max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holders(zones: &[u8]) -> Vec<Holder> {
        let numbered = zones.iter().zip(1..);
        numbered
            .map(|(zone, id)| Holder {
                id: MemberId(id),
                kind: HolderKind::Server,
                zone: *zone,
                priority: 0,
            })
            .collect()
    }

    #[test]
    fn a_blocking_set_meets_every_acknowledgement_quorum() {
        for zones_of in [&[0][..], &[0, 0, 0], &[0, 0, 1, 1], &[0, 1, 2], &[0, 0, 1, 1, 2]] {
            let count = zones_of.len();
            for copies in 1..=count {
                for zones in 0..=3 {
                    let Ok(configuration) = Configuration::new(holders(zones_of), copies, zones) else {
                        continue;
                    };
                    let has = |set: u32| move |id: MemberId| set & (1 << id.0) != 0;
                    let sets = || (0..1u32 << count).map(|set| set << 1);
                    for blocking in sets().filter(|set| configuration.blocks(has(*set))) {
                        for quorum in sets().filter(|set| configuration.acknowledges(has(*set))) {
                            assert_ne!(blocking & quorum, 0, "{zones_of:?} {copies} {zones}");
                        }
                    }
                    if zones <= 1 {
                        let smallest = sets().filter(|set| configuration.blocks(has(*set)));
                        let smallest = smallest.map(u32::count_ones).min();
                        assert_eq!(smallest, Some((count - copies + 1) as u32));
                    }
                }
            }
        }
    }

    #[test]
    fn the_value_that_a_quorum_has_reached() {
        let configuration = Configuration::new(holders(&[0, 0, 1]), 2, 2).unwrap();
        let reached = |values: [Option<u64>; 3]| configuration.reached(|id| values[id.0 as usize - 1]);
        assert_eq!(reached([Some(9), Some(8), Some(3)]), Some(3));
        assert_eq!(reached([Some(9), Some(2), Some(7)]), Some(7));
        assert_eq!(reached([Some(9), Some(8), None]), None);
    }

    #[test]
    fn impossible_configurations_are_refused() {
        let error = |holders, copies, zones| Configuration::new(holders, copies, zones).unwrap_err();
        assert_eq!(error(vec![], 1, 1), ConfigurationError::HolderCount);
        assert_eq!(error(holders(&[0, 0]), 3, 1), ConfigurationError::Copies);
        assert_eq!(error(holders(&[0, 0]), 0, 1), ConfigurationError::Copies);
        assert_eq!(error(holders(&[0, 0]), 2, 2), ConfigurationError::Zones);
        assert_eq!(error(holders(&[64]), 1, 1), ConfigurationError::ZoneNumber);
        let twice = [holders(&[0]), holders(&[0])].concat();
        assert_eq!(error(twice, 1, 1), ConfigurationError::NamedTwice(MemberId(1)));
    }
}
