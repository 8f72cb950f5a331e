//! Global transaction ids in MariaDB's form, `domain-server-sequence`.

use crate::error::{Error, Result};
use std::fmt;
use std::str::FromStr;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, serde::Serialize, serde::Deserialize,
        )]
        pub struct $name(pub $inner);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl From<$inner> for $name {
            fn from(raw: $inner) -> Self {
                $name(raw)
            }
        }
    };
}

id! {
    /// A replication domain: a stream of transactions with its own order. 0 is the default.
    DomainId(u32)
}
id! {
    /// The server where a transaction was first committed.
    ServerId(u32)
}
id! {
    /// A transaction's number in its domain. Holes are legal; 0 is never assigned.
    SequenceNumber(u64)
}

impl SequenceNumber {
    /// Returns the next number, or `None` if no number is left.
    pub fn next(self) -> Option<Self> {
        self.0.checked_add(1).map(SequenceNumber)
    }
}

/// A global transaction id. Its order (domain, server, sequence) is only for sorted collections; it is not the order of
/// history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct Gtid {
    /// Domain of the transaction.
    pub domain_id: DomainId,
    /// Server where the transaction was first committed.
    pub server_id: ServerId,
    /// Number in the domain.
    pub sequence: SequenceNumber,
}

impl Gtid {
    /// Combines the three parts.
    pub const fn new(domain_id: DomainId, server_id: ServerId, sequence: SequenceNumber) -> Self {
        Gtid {
            domain_id,
            server_id,
            sequence,
        }
    }
}

impl fmt::Display for Gtid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-{}", self.domain_id, self.server_id, self.sequence)
    }
}

impl FromStr for Gtid {
    type Err = Error;

    /// Parses `domain-server-sequence`: three decimal numbers without signs or blanks.
    fn from_str(text: &str) -> Result<Self> {
        fn number<T: FromStr>(part: Option<&str>) -> Option<T> {
            let part = part?;
            (!part.is_empty() && part.bytes().all(|b| b.is_ascii_digit())).then(|| part.parse().ok())?
        }
        let mut parts = text.trim().splitn(3, '-');
        let gtid = (|| {
            Some(Gtid {
                domain_id: DomainId(number(parts.next())?),
                server_id: ServerId(number(parts.next())?),
                sequence: SequenceNumber(number(parts.next())?),
            })
        })();
        gtid.ok_or_else(|| Error::InvalidGtid(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_its_own_text() {
        let gtid = Gtid::new(DomainId(4_294_967_295), ServerId(3), SequenceNumber(u64::MAX));
        assert_eq!(gtid.to_string(), "4294967295-3-18446744073709551615");
        assert_eq!(gtid.to_string().parse::<Gtid>().unwrap(), gtid);
    }

    #[test]
    fn rejects_text_that_is_not_a_gtid() {
        for bad in [
            "",
            "0-1",
            "0-1-",
            "0-1-x",
            "0--1",
            "-0-1-2",
            "4294967296-1-1",
            "0-1-18446744073709551616",
            "0-1-2-3",
            "+0-1-2",
        ] {
            assert!(bad.parse::<Gtid>().is_err(), "{bad}");
        }
    }
}
