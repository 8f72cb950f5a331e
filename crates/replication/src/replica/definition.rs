//! What `CHANGE MASTER` has said of a connection.
//!
//! Kept as JSON in the log's replica records ([`paceline_binlog::replica_state`]): few, read by people who repair something, and growing by
//! fields with defaults. Where the connection stands in its primary's log is not in here but beside it, as a place.

use paceline_wire::WireResult;
use paceline_wire::tls::{ClientTls, TlsParameters};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The longest `MASTER_HEARTBEAT_PERIOD`.
pub const HEARTBEAT_PERIOD_MAX: Duration = Duration::from_secs(4_294_967);

/// `MASTER_USE_GTID`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum UseGtid {
    /// By file and position.
    No,
    /// From `gtid_slave_pos`.
    #[default]
    SlavePos,
    /// From `gtid_current_pos`: what was written here counts too.
    CurrentPos,
}

impl UseGtid {
    /// What `Using_Gtid` shows.
    pub fn name(self) -> &'static str {
        match self {
            UseGtid::No => "No",
            UseGtid::SlavePos => "Slave_Pos",
            UseGtid::CurrentPos => "Current_Pos",
        }
    }
}

/// `MASTER_SSL` and its like. A connection that asks for TLS is not opened without it, whatever the primary offers.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TlsSettings {
    /// `MASTER_SSL`.
    pub enabled: bool,
    /// `MASTER_SSL_CA` and the others that name files and lists.
    #[serde(flatten)]
    pub parameters: TlsParameters,
    /// `MASTER_SSL_VERIFY_SERVER_CERT`.
    pub verify_server_certificate: bool,
}

/// A connection's settings. The defaults are MariaDB's.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct Definition {
    /// The primary's name or address.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// Who connects.
    pub user: String,
    /// In clear: the protocol needs it.
    pub password: String,
    /// Seconds between two attempts to connect, at most.
    pub connect_retry_seconds: u32,
    /// From where it goes on.
    pub use_gtid: UseGtid,
    /// `MASTER_HEARTBEAT_PERIOD` in milliseconds; 0: none are asked for. `None` where it was not given: [`Definition::heartbeat_period`].
    pub heartbeat_period_ms: Option<u64>,
    /// `MASTER_DELAY` in seconds.
    pub delay_seconds: u32,
    /// Only these replication domains.
    pub do_domain_ids: Vec<u32>,
    /// Not these replication domains.
    pub ignore_domain_ids: Vec<u32>,
    /// Nothing that was born on these servers.
    pub ignore_server_ids: Vec<u32>,
    /// TLS.
    pub tls: TlsSettings,
}

impl TlsSettings {
    /// What the connection is encrypted by: `None` in clear. Files are read each time: they may have been replaced since.
    ///
    /// # Errors
    /// Files that cannot be read, suites that are not spoken.
    pub fn client(&self) -> WireResult<Option<ClientTls>> {
        if !self.enabled {
            return Ok(None);
        }
        ClientTls::new(&self.parameters, self.verify_server_certificate.into()).map(Some)
    }
}

impl Default for Definition {
    fn default() -> Self {
        Definition {
            host: String::new(),
            port: 3306,
            user: String::new(),
            password: String::new(),
            connect_retry_seconds: 60,
            use_gtid: UseGtid::SlavePos,
            heartbeat_period_ms: None,
            delay_seconds: 0,
            do_domain_ids: Vec::new(),
            ignore_domain_ids: Vec::new(),
            ignore_server_ids: Vec::new(),
            tls: TlsSettings::default(),
        }
    }
}

impl Definition {
    /// The bytes that the log keeps.
    pub fn to_record(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("a definition is plain data")
    }

    /// Reads what the log keeps; `None` for what no version of this server has written.
    pub fn from_record(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }

    /// After how long without an event the primary is to tell that it lives: half of `slave_net_timeout` unless it was given. Zero: never.
    pub fn heartbeat_period(&self, net_timeout: Duration) -> Duration {
        let given = self.heartbeat_period_ms.map(Duration::from_millis);
        given.unwrap_or_else(|| (net_timeout / 2).min(HEARTBEAT_PERIOD_MAX))
    }

    /// Whether a transaction of this domain, born on this server, is for us.
    pub fn wants(&self, domain_id: u32, server_id: u32) -> bool {
        let domain = match self.do_domain_ids.is_empty() {
            true => !self.ignore_domain_ids.contains(&domain_id),
            false => self.do_domain_ids.contains(&domain_id),
        };
        domain && !self.ignore_server_ids.contains(&server_id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_returns_and_older_ones_get_defaults() {
        let definition = Definition {
            host: "db1".into(),
            do_domain_ids: vec![7],
            use_gtid: UseGtid::No,
            ..Definition::default()
        };
        assert_eq!(
            Definition::from_record(&definition.to_record()),
            Some(definition.clone())
        );
        assert_eq!(
            Definition::from_record(br#"{"host":"a"}"#).map(|old| (old.port, old.use_gtid)),
            Some((3306, UseGtid::SlavePos))
        );
        let encrypted = br#"{"host":"a","tls":{"enabled":true,"ca":"/ca","certificate":"/c","verify_server_certificate":true}}"#;
        let old = Definition::from_record(encrypted).unwrap();
        assert!(old.tls.enabled && old.tls.verify_server_certificate);
        assert_eq!(
            (
                old.tls.parameters.ca.as_str(),
                old.tls.parameters.certificate.as_str()
            ),
            ("/ca", "/c")
        );
        let record = String::from_utf8(old.to_record()).unwrap();
        assert!(
            record.contains(r#""tls":{"enabled":true,"ca":"/ca","ca_path":"","#),
            "{record}"
        );
        let heartbeat = |given, timeout| {
            let definition = Definition {
                heartbeat_period_ms: given,
                ..Definition::default()
            };
            let kept = Definition::from_record(&definition.to_record()).unwrap();
            kept.heartbeat_period(Duration::from_secs(timeout)).as_millis()
        };
        assert_eq!(heartbeat(None, 5), 2_500);
        assert_eq!(heartbeat(None, 31_536_000), HEARTBEAT_PERIOD_MAX.as_millis());
        assert_eq!((heartbeat(Some(0), 5), heartbeat(Some(7_000), 5)), (0, 7_000));
        assert!(definition.wants(7, 1) && !definition.wants(8, 1));
        assert_eq!(Definition::from_record(b"x"), None);
    }
}
