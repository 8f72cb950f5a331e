//! A GTID position: the last GTID of each domain.

use crate::error::{Error, Result};
use paceline_types::{DomainId, Gtid, SequenceNumber, ServerId};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// One GTID per domain, ordered by domain. Its size is limited by the number of domains.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct GtidPosition {
    last: BTreeMap<DomainId, Gtid>,
}

impl GtidPosition {
    /// Returns the position before all transactions.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the last GTID of a domain.
    pub fn get(&self, domain_id: DomainId) -> Option<Gtid> {
        self.last.get(&domain_id).copied()
    }

    /// Sets the last GTID of a domain. Returns the previous one.
    pub fn set(&mut self, gtid: Gtid) -> Option<Gtid> {
        self.last.insert(gtid.domain_id, gtid)
    }

    /// Removes a domain. Returns its last GTID.
    pub fn remove(&mut self, domain_id: DomainId) -> Option<Gtid> {
        self.last.remove(&domain_id)
    }

    /// Sets the last GTID of a domain if its sequence number is higher than the present one. MariaDB does this where
    /// it merges two positions (`gtid_current_pos`).
    pub fn advance(&mut self, gtid: Gtid) {
        if self
            .get(gtid.domain_id)
            .is_none_or(|known| known.sequence < gtid.sequence)
        {
            self.set(gtid);
        }
    }

    /// Returns whether the domain's sequence number is at least `sequence`. Compares only numbers, as
    /// MASTER_GTID_WAIT does: gaps and server ids do not matter.
    pub fn reaches(&self, domain_id: DomainId, sequence: SequenceNumber) -> bool {
        self.get(domain_id)
            .is_some_and(|known| known.sequence >= sequence)
    }

    /// Returns whether this position is at or past the other one in every domain of the other one.
    pub fn covers(&self, other: &GtidPosition) -> bool {
        other
            .iter()
            .all(|gtid| self.reaches(gtid.domain_id, gtid.sequence))
    }

    /// Returns the GTIDs, ordered by domain.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Gtid> + '_ {
        self.last.values().copied()
    }

    /// Returns the number of domains.
    pub fn len(&self) -> usize {
        self.last.len()
    }

    /// Returns whether this is the position before all transactions.
    pub fn is_empty(&self) -> bool {
        self.last.is_empty()
    }
}

impl FromIterator<Gtid> for GtidPosition {
    /// If a domain occurs twice, the last GTID counts.
    fn from_iter<I: IntoIterator<Item = Gtid>>(gtids: I) -> Self {
        Self {
            last: gtids.into_iter().map(|gtid| (gtid.domain_id, gtid)).collect(),
        }
    }
}

impl fmt::Display for GtidPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_list(f, self.iter())
    }
}

impl FromStr for GtidPosition {
    type Err = Error;

    /// Parses `0-1-100,2-5-300`. An empty text is the position before all transactions.
    ///
    /// # Errors
    /// [`Error::GtidSyntax`] (1941) and [`Error::DuplicateDomain`] (1943).
    fn from_str(text: &str) -> Result<Self> {
        let mut position = Self::new();
        for gtid in parse_list(text)? {
            if let Some(first) = position.set(gtid) {
                return Err(Error::DuplicateDomain { first, second: gtid });
            }
        }
        Ok(position)
    }
}

/// Writes GTIDs separated by commas.
pub(super) fn write_list(f: &mut fmt::Formatter<'_>, gtids: impl Iterator<Item = Gtid>) -> fmt::Result {
    for (number, gtid) in gtids.enumerate() {
        if number > 0 {
            f.write_str(",")?;
        }
        write!(f, "{gtid}")?;
    }
    Ok(())
}

/// Parses GTIDs separated by commas, as MariaDB does: an empty text is an empty list; a number may have blanks and a
/// plus sign before it, and nothing after it.
pub(super) fn parse_list(text: &str) -> Result<Vec<Gtid>> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    text.split(',')
        .map(|part| {
            let mut numbers = part.split('-');
            let mut next = || numbers.next().and_then(number).ok_or(Error::GtidSyntax);
            let (domain_id, server_id, sequence) = (next()?, next()?, next()?);
            let narrow = |wide: u64| u32::try_from(wide).map_err(|_| Error::GtidSyntax);
            if numbers.next().is_some() {
                return Err(Error::GtidSyntax);
            }
            Ok(Gtid {
                domain_id: DomainId(narrow(domain_id)?),
                server_id: ServerId(narrow(server_id)?),
                sequence: SequenceNumber(sequence),
            })
        })
        .collect()
}

fn number(text: &str) -> Option<u64> {
    let digits = text.trim_start_matches([' ', '\t']);
    let digits = digits.strip_prefix('+').unwrap_or(digits);
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        digits.parse().ok()
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(text: &str) -> GtidPosition {
        text.parse().unwrap()
    }

    #[test]
    fn positions_are_parsed_and_printed() {
        assert_eq!(position("").to_string(), "");
        assert_eq!(position(" 0- 1-+1").to_string(), "0-1-1");
        assert_eq!(position("2-5-300, 0-1-100").to_string(), "0-1-100,2-5-300");
    }

    #[test]
    fn invalid_positions_have_mariadbs_errors() {
        for text in [
            "0-1",
            "0-1-1,",
            ",0-1-1",
            "0-1-1,,1-1-1",
            "0-1-1;1-1-1",
            "x",
            "0-1-1 1-1-1",
        ] {
            let error = text.parse::<GtidPosition>().unwrap_err();
            assert_eq!(
                (error.code(), error.to_string().as_str()),
                (1941, "Could not parse GTID list"),
                "{text:?}"
            );
        }
        let error = "0-1-1,1-1-1,0-2-5".parse::<GtidPosition>().unwrap_err();
        assert_eq!(error.code(), 1943);
        assert_eq!(
            error.to_string(),
            "GTID 0-2-5 and 0-1-1 conflict (duplicate domain id 0)"
        );
    }

    #[test]
    fn positions_are_compared_by_sequence_number_per_domain() {
        let here = position("0-1-100,2-5-300");
        assert!(here.covers(&position("0-9-100")) && here.covers(&position("")) && here.covers(&here));
        assert!(!here.covers(&position("0-1-101")) && !here.covers(&position("1-1-1")));
        let mut later = here.clone();
        later.advance("0-2-99".parse().unwrap());
        assert_eq!(later, here);
        later.advance("0-2-101".parse().unwrap());
        assert_eq!(later.to_string(), "0-2-101,2-5-300");
    }
}
