//! Global transaction ids, `domain-server-sequence`, as MariaDB writes them.

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
    /// A replication domain: one stream of transactions that is in order in itself. 0 is the default.
    DomainId(u32)
}
id! {
    /// The server where a transaction was born.
    ServerId(u32)
}
id! {
    /// A transaction's number in its domain. Holes are legal; 0 is never given out.
    SequenceNumber(u64)
}

impl SequenceNumber {
    /// The next number, or `None` where numbers are exhausted.
    pub fn next(self) -> Option<Self> {
        self.0.checked_add(1).map(SequenceNumber)
    }
}

/// A global transaction id. Its order (domain, server, sequence) is only for sorted collections and says nothing of history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct Gtid {
    /// The stream it belongs to.
    pub domain_id: DomainId,
    /// Where it was born.
    pub server_id: ServerId,
    /// Its number in the domain.
    pub sequence: SequenceNumber,
}

impl Gtid {
    /// Puts a GTID together.
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

    /// Parses `domain-server-sequence`, three decimal numbers without signs or blanks inside.
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
    fn reads_what_it_writes() {
        let gtid = Gtid::new(DomainId(4_294_967_295), ServerId(3), SequenceNumber(u64::MAX));
        assert_eq!(gtid.to_string(), "4294967295-3-18446744073709551615");
        assert_eq!(gtid.to_string().parse::<Gtid>().unwrap(), gtid);
    }

    #[test]
    fn refuses_what_is_not_one() {
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
