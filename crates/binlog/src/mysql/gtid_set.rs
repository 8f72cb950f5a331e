//! A set of MySQL's GTIDs: for each server and tag, the numbers as intervals.
//!
//! ```text
//!   text    uuid:1-5:7,uuid:tag:1-3
//!   binary  format and count (8) | uuid (16) | tag, in the tagged format | count (8) | first (8), last plus one (8) …
//! ```
//! In the tagged format, the lowest and the highest byte of the count are 1. This is MySQL's `Gtid_set`;
//! Previous_gtids events and COM_BINLOG_DUMP_GTID contain the binary form.

use super::gtid::{GtidSource, MySqlGtid, ServerUuid, put_short_variable, tag_of, variable};
use crate::codec::{Cursor, PutExt};
use crate::error::{Error, Result};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// The numbers from `first` to `last`, both included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Interval {
    first: u64,
    last: u64,
}

/// The highest number of a GTID.
const NUMBER_MAX: u64 = 0x7FFF_FFFF_FFFF_FFFE;

/// A set of GTIDs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MySqlGtidSet {
    /// Ordered intervals with a gap between any two.
    sources: BTreeMap<GtidSource, Vec<Interval>>,
}

impl MySqlGtidSet {
    /// Creates an empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// Returns whether a GTID is in the set.
    pub fn contains(&self, gtid: &MySqlGtid) -> bool {
        let within = |interval: &Interval| (interval.first..=interval.last).contains(&gtid.number);
        self.sources
            .get(&gtid.source)
            .is_some_and(|intervals| intervals.iter().any(within))
    }

    /// Adds a GTID.
    pub fn add(&mut self, gtid: &MySqlGtid) {
        let interval = Interval {
            first: gtid.number,
            last: gtid.number,
        };
        self.add_interval(&gtid.source, interval);
    }

    /// Adds all GTIDs of another set.
    pub fn add_all(&mut self, other: &MySqlGtidSet) {
        for (source, intervals) in &other.sources {
            for interval in intervals {
                self.add_interval(source, *interval);
            }
        }
    }

    fn add_interval(&mut self, source: &GtidSource, added: Interval) {
        let intervals = match self.sources.get_mut(source) {
            Some(intervals) => intervals,
            None => self.sources.entry(source.clone()).or_default(),
        };
        // Most numbers directly follow the last one.
        if let Some(last) = intervals.last_mut()
            && added.first == last.last + 1
        {
            last.last = added.last;
            return;
        }
        let from = intervals.partition_point(|interval| interval.last + 1 < added.first);
        let to = intervals.partition_point(|interval| interval.first <= added.last + 1);
        let merged = intervals[from..to]
            .iter()
            .fold(added, |merged, interval| Interval {
                first: merged.first.min(interval.first),
                last: merged.last.max(interval.last),
            });
        intervals.splice(from..to, [merged]);
    }

    /// Returns an upper bound of the length of the binary form, in bytes.
    pub(crate) fn length(&self) -> usize {
        let of_source = |(source, intervals): (&GtidSource, &Vec<Interval>)| {
            16 + 1 + source.tag.len() + 8 + 16 * intervals.len()
        };
        8 + self.sources.iter().map(of_source).sum::<usize>()
    }

    /// Encodes the set in the binary form.
    pub fn encode(&self) -> Vec<u8> {
        let is_tagged = self.sources.keys().any(|source| !source.tag.is_empty());
        let count = self.sources.len() as u64;
        let mut out = Vec::new();
        out.put_u64(match is_tagged {
            true => 1 << 56 | count << 8 | 1,
            false => count,
        });
        for (source, intervals) in &self.sources {
            out.extend_from_slice(&source.uuid.0);
            if is_tagged {
                put_short_variable(source.tag.len(), &mut out);
                out.extend_from_slice(source.tag.as_bytes());
            }
            out.put_u64(intervals.len() as u64);
            for interval in intervals {
                out.put_u64(interval.first);
                out.put_u64(interval.last + 1);
            }
        }
        out
    }

    /// Decodes the binary form.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        let mut cursor = Cursor::new("Previous_gtids", bytes);
        let head = cursor.u64()?;
        let (is_tagged, count) = match head >> 56 {
            0 => (false, head),
            1 => (true, head << 8 >> 16),
            _ => return Err(cursor.malformed("its format is not known")),
        };
        let mut set = MySqlGtidSet::new();
        for _ in 0..count {
            let mut uuid = [0; 16];
            uuid.copy_from_slice(cursor.bytes(16)?);
            let tag = match is_tagged {
                true => {
                    let length = usize::try_from(variable(&mut cursor)?).unwrap_or(usize::MAX);
                    let tag = tag_of(cursor.bytes(length)?);
                    tag.ok_or_else(|| cursor.malformed("a tag is none"))?
                }
                false => "".into(),
            };
            let source = GtidSource {
                uuid: ServerUuid(uuid),
                tag,
            };
            for _ in 0..cursor.u64()? {
                let (first, behind) = (cursor.u64()?, cursor.u64()?);
                if first == 0 || first >= behind || behind > NUMBER_MAX + 1 {
                    return Err(cursor.malformed("an interval has no numbers"));
                }
                let interval = Interval {
                    first,
                    last: behind - 1,
                };
                set.add_interval(&source, interval);
            }
        }
        match cursor.is_empty() {
            true => Ok(set),
            false => Err(cursor.malformed("it is too long")),
        }
    }
}

impl fmt::Display for MySqlGtidSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (source, intervals)) in self.sources.iter().enumerate() {
            if at > 0 {
                f.write_str(",")?;
            }
            write!(f, "{source}")?;
            for Interval { first, last } in intervals {
                match first == last {
                    true => write!(f, ":{first}")?,
                    false => write!(f, ":{first}-{last}")?,
                }
            }
        }
        Ok(())
    }
}

impl FromStr for MySqlGtidSet {
    type Err = Error;

    /// Parses the text form as MySQL does: white space and empty parts are ignored, and a tag applies up to the next
    /// one.
    fn from_str(text: &str) -> Result<Self> {
        let malformed = |problem| Error::Malformed {
            event: "GTID",
            problem,
        };
        let mut set = MySqlGtidSet::new();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let mut words = part.split(':').map(str::trim);
            let mut source = GtidSource {
                uuid: words.next().unwrap_or_default().parse()?,
                tag: "".into(),
            };
            for word in words {
                if word.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') {
                    source.tag = tag_of(word.as_bytes()).ok_or_else(|| malformed("a tag is none"))?;
                    continue;
                }
                let (first, last) = word.split_once('-').unwrap_or((word, word));
                let number = |text: &str| text.trim().parse::<u64>().ok();
                match (number(first), number(last)) {
                    (Some(first @ 1..), Some(last)) if last <= NUMBER_MAX => {
                        // MySQL skips an interval that ends before it begins.
                        if first <= last {
                            set.add_interval(&source, Interval { first, last });
                        }
                    }
                    _ => return Err(malformed("an interval has no numbers")),
                }
            }
        }
        Ok(set)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    const UUID: &str = "bfedd796-e63b-11f1-af6b-02fc00000001";

    #[test]
    fn sets_survive_the_text_form_and_the_binary_form() {
        for text in [
            String::new(),
            format!("{UUID}:1"),
            format!("{UUID}:1-5:7-9,cfedd796-e63b-11f1-af6b-02fc00000001:3"),
            format!("{UUID}:1-5,{UUID}:tag_1:1-3:9"),
        ] {
            let set: MySqlGtidSet = text.parse().unwrap();
            assert_eq!(set.to_string(), text);
            let bytes = set.encode();
            assert_eq!(MySqlGtidSet::decode(&bytes).unwrap(), set);
            for length in 0..bytes.len() {
                assert!(MySqlGtidSet::decode(&bytes[..length]).is_err());
            }
        }
        let written = format!(" {UUID} : 1 - 3 : 4:tag:1,\n{UUID}:Tag:2:9-8,");
        let set: MySqlGtidSet = written.parse().unwrap();
        assert_eq!(set.to_string(), format!("{UUID}:1-4,{UUID}:tag:1-2"));
        for wrong in [
            "0-1-2",
            &format!("{UUID}:0"),
            &format!("{UUID}:x-"),
            &format!("{UUID}:1-9223372036854775807"),
        ] {
            assert!(wrong.parse::<MySqlGtidSet>().is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn a_set_contains_what_was_added(numbers in prop::collection::vec((1u64..60, 0u64..6), 0..40)) {
            let mut set = MySqlGtidSet::new();
            let mut all = BTreeSet::new();
            let source = GtidSource { uuid: UUID.parse().unwrap(), tag: "".into() };
            for (first, more) in numbers {
                set.add_interval(&source, Interval { first, last: first + more });
                all.extend(first..=first + more);
            }
            for number in 1..70 {
                let gtid = MySqlGtid { source: source.clone(), number };
                prop_assert_eq!(set.contains(&gtid), all.contains(&number));
            }
            let intervals = set.sources.get(&source).cloned().unwrap_or_default();
            prop_assert!(intervals.windows(2).all(|pair| pair[0].last + 1 < pair[1].first));
        }
    }
}
