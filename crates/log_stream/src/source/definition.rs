//! Definition of a connection by `CHANGE MASTER`.
//!
//! Definitions are stored as JSON in the log's replica records ([`paceline_binlog::replica_state`]): there are few,
//! people read them during repairs, and new fields have defaults. The password is sealed ([`super::password`]). The
//! connection's position in its primary's log is not part of the definition; it is stored beside it.

use super::error::SourceError;
use super::password::{KEY_FILE, Password, PasswordKey};
use crate::primary::request::MemberReader;
use paceline_types::error_code::ER_MASTER_INFO;
use paceline_wire::WireResult;
use paceline_wire::tls::{ClientTls, ClusterKey, TlsParameters};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Maximum of `MASTER_HEARTBEAT_PERIOD`.
pub const HEARTBEAT_PERIOD_MAX: Duration = Duration::from_secs(4_294_967);

/// `MASTER_USE_GTID`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum UseGtid {
    /// By file and position.
    No,
    /// From `gtid_slave_pos`.
    #[default]
    SlavePos,
    /// From `gtid_current_pos`, which includes local transactions.
    CurrentPos,
}

impl UseGtid {
    /// Returns the value of `Using_Gtid`.
    pub fn name(self) -> &'static str {
        match self {
            UseGtid::No => "No",
            UseGtid::SlavePos => "Slave_Pos",
            UseGtid::CurrentPos => "Current_Pos",
        }
    }
}

/// Settings of `MASTER_SSL` and related options. If TLS is enabled, the connection is never opened without it, whatever
/// the primary offers.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TlsSettings {
    /// `MASTER_SSL`.
    pub enabled: bool,
    /// Files and lists: `MASTER_SSL_CA` and others.
    #[serde(flatten)]
    pub parameters: TlsParameters,
    /// `MASTER_SSL_VERIFY_SERVER_CERT`.
    pub verify_server_certificate: bool,
    /// Between members of a cluster: their key. The other settings do not apply then. Never recorded.
    #[serde(skip)]
    pub cluster: Option<ClusterKey>,
}

/// A connection's settings. The defaults are MariaDB's.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct Definition {
    /// Host name or address of the primary.
    pub host: String,
    /// Port of the primary.
    pub port: u16,
    /// User name for the primary.
    pub user: String,
    /// Password of the user. In the log it is sealed, beside the other fields.
    #[serde(skip)]
    pub password: Password,
    /// Maximum number of seconds between two attempts to connect.
    pub connect_retry_seconds: u32,
    /// Kind of position from which replication continues.
    pub use_gtid: UseGtid,
    /// `MASTER_HEARTBEAT_PERIOD` in milliseconds; 0: no heartbeats. `None` if it was not specified: see
    /// [`Definition::heartbeat_period`].
    pub heartbeat_period_ms: Option<u64>,
    /// `MASTER_DELAY` in seconds.
    pub delay_seconds: u32,
    /// If not empty, only these domains are replicated.
    pub do_domain_ids: Vec<u32>,
    /// These domains are not replicated.
    pub ignore_domain_ids: Vec<u32>,
    /// Transactions from these servers are not replicated.
    pub ignore_server_ids: Vec<u32>,
    /// TLS settings.
    pub tls: TlsSettings,
    /// In a cluster: this member, and the epoch in which it reads. Such a definition is never recorded. The connection
    /// continues from the end of the log, whatever is published.
    #[serde(skip)]
    pub reader: Option<MemberReader>,
}

/// Form of the password in a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PasswordForm {
    /// Sealed, or no password.
    Sealed,
    /// In plain text, as written by earlier versions.
    Clear,
}

/// Form of a definition in the log.
#[derive(Serialize, Deserialize)]
struct Record {
    #[serde(flatten)]
    definition: Definition,
    #[serde(default)]
    sealed_password: String,
    /// Plain text password, written by earlier versions.
    #[serde(default, skip_serializing)]
    password: String,
}

impl TlsSettings {
    /// Returns the settings of connections between members of a cluster.
    pub fn of_cluster(key: ClusterKey) -> Self {
        TlsSettings {
            cluster: Some(key),
            ..TlsSettings::default()
        }
    }

    /// Returns the TLS configuration, or `None` without TLS. Files are read each time, because they may have been
    /// replaced.
    ///
    /// # Errors
    /// Unreadable files; unsupported cipher suites.
    pub fn client(&self) -> WireResult<Option<ClientTls>> {
        if let Some(key) = &self.cluster {
            return ClientTls::of_cluster(key.clone()).map(Some);
        }
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
            password: Password::default(),
            connect_retry_seconds: 60,
            use_gtid: UseGtid::SlavePos,
            heartbeat_period_ms: None,
            delay_seconds: 0,
            do_domain_ids: Vec::new(),
            ignore_domain_ids: Vec::new(),
            ignore_server_ids: Vec::new(),
            tls: TlsSettings::default(),
            reader: None,
        }
    }
}

impl Definition {
    /// Encodes the definition for the log.
    ///
    /// # Errors
    /// If the password cannot be sealed ([`PasswordKey::seal`]).
    pub fn to_record(&self, key: &PasswordKey) -> std::io::Result<Vec<u8>> {
        let record = Record {
            sealed_password: key.seal(&self.password)?,
            password: String::new(),
            definition: self.clone(),
        };
        Ok(serde_json::to_vec(&record).expect("a definition is plain data"))
    }

    /// Decodes a definition from the log. Also returns the form of the password. `None` if no version of this server
    /// has written these bytes.
    pub fn from_record(bytes: &[u8], key: &PasswordKey) -> Option<(Self, PasswordForm)> {
        let record: Record = serde_json::from_slice(bytes).ok()?;
        let (password, form) = match record.password.is_empty() {
            true => (key.open(&record.sealed_password), PasswordForm::Sealed),
            false => (Password::Known(record.password), PasswordForm::Clear),
        };
        let definition = Definition {
            password,
            ..record.definition
        };
        Some((definition, form))
    }

    /// Returns the password in plain text.
    ///
    /// # Errors
    /// If it is sealed under a key that is not available.
    pub fn password(&self) -> Result<&str, SourceError> {
        match &self.password {
            Password::Known(password) => Ok(password),
            Password::Sealed(_) => Err(SourceError::fatal(
                ER_MASTER_INFO.number(),
                format!(
                    "The password of this connection cannot be read: the binary log has it sealed, and {KEY_FILE} in the data directory is missing or \
                     another one. Set it again: CHANGE MASTER TO MASTER_PASSWORD='...'"
                ),
            )),
        }
    }

    /// Returns the time without an event after which the primary sends a heartbeat: half of `slave_net_timeout` unless
    /// it was specified. Zero: never.
    pub fn heartbeat_period(&self, net_timeout: Duration) -> Duration {
        let given = self.heartbeat_period_ms.map(Duration::from_millis);
        given.unwrap_or_else(|| (net_timeout / 2).min(HEARTBEAT_PERIOD_MAX))
    }

    /// Returns whether a transaction with this domain and server id is to be replicated.
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
    fn definitions_round_trip_and_older_ones_get_defaults() {
        let directory = tempfile::tempdir().unwrap();
        let key = PasswordKey::in_directory(directory.path());
        let from_record = |bytes: &[u8]| Definition::from_record(bytes, &key);
        let definition = Definition {
            host: "db1".into(),
            password: Password::Known("geheim".into()),
            do_domain_ids: vec![7],
            use_gtid: UseGtid::No,
            ..Definition::default()
        };
        assert_eq!(
            from_record(&definition.to_record(&key).unwrap()),
            Some((definition.clone(), PasswordForm::Sealed))
        );
        assert_eq!(
            from_record(br#"{"host":"a"}"#).map(|(old, _)| (old.port, old.use_gtid)),
            Some((3306, UseGtid::SlavePos))
        );
        let (old, form) = from_record(br#"{"host":"a","password":"geheim"}"#).unwrap();
        assert_eq!((&old.password, form), (&definition.password, PasswordForm::Clear));
        let record = old.to_record(&key).unwrap();
        assert!(!String::from_utf8(record.clone()).unwrap().contains("geheim"));
        assert_eq!(from_record(&record), Some((old, PasswordForm::Sealed)));
        let encrypted = br#"{"host":"a","tls":{"enabled":true,"ca":"/ca","certificate":"/c","verify_server_certificate":true}}"#;
        let (old, _) = from_record(encrypted).unwrap();
        assert!(old.tls.enabled && old.tls.verify_server_certificate);
        assert_eq!(
            (
                old.tls.parameters.ca.as_str(),
                old.tls.parameters.certificate.as_str()
            ),
            ("/ca", "/c")
        );
        let record = String::from_utf8(old.to_record(&key).unwrap()).unwrap();
        assert!(
            record.contains(r#""tls":{"enabled":true,"ca":"/ca","ca_path":"","#),
            "{record}"
        );
        let heartbeat = |given, timeout| {
            let definition = Definition {
                heartbeat_period_ms: given,
                ..Definition::default()
            };
            let (kept, _) = from_record(&definition.to_record(&key).unwrap()).unwrap();
            kept.heartbeat_period(Duration::from_secs(timeout)).as_millis()
        };
        assert_eq!(heartbeat(None, 5), 2_500);
        assert_eq!(heartbeat(None, 31_536_000), HEARTBEAT_PERIOD_MAX.as_millis());
        assert_eq!((heartbeat(Some(0), 5), heartbeat(Some(7_000), 5)), (0, 7_000));
        assert!(definition.wants(7, 1) && !definition.wants(8, 1));
        assert_eq!(from_record(b"x"), None);
    }
}
