//! `REQUIRE …`: required encryption of an account's connections.

use crate::sql_text::text_literal;
use paceline_syntax::TlsRequirement;
use paceline_wire::tls::TlsSession;
use serde::{Deserialize, Serialize};

/// Requirement of an account on its connections.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Require {
    /// `NONE`.
    #[default]
    Nothing,
    /// `SSL`: the connection is encrypted.
    Ssl,
    /// `X509`: the client has presented a certificate.
    X509,
    /// The client has presented a certificate with these properties. An empty text requires nothing.
    Certificate {
        /// `ISSUER`: issuer of the certificate.
        issuer: String,
        /// `SUBJECT`: subject of the certificate.
        subject: String,
        /// `CIPHER`: cipher suite of the connection.
        cipher: String,
    },
}

/// Fields of an account's record, as in MariaDB's `mysql.global_priv`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RequireRecord {
    /// 0 to 3: none, `SSL`, `X509`, a specific certificate.
    #[serde(skip_serializing_if = "is_zero")]
    pub ssl_type: u8,
    /// `CIPHER`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub ssl_cipher: String,
    /// `ISSUER`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub x509_issuer: String,
    /// `SUBJECT`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub x509_subject: String,
}

fn is_zero(number: &u8) -> bool {
    *number == 0
}

impl RequireRecord {
    /// Returns the value of `mysql.user.ssl_type`.
    pub fn type_name(&self) -> &'static str {
        match self.ssl_type {
            1 => "ANY",
            2 => "X509",
            3 => "SPECIFIED",
            _ => "",
        }
    }
}

impl Require {
    /// Converts the clause of a statement.
    pub fn of(parsed: &TlsRequirement) -> Require {
        let text = |given: &Option<String>| given.clone().unwrap_or_default();
        match parsed {
            TlsRequirement::None => Require::Nothing,
            TlsRequirement::Ssl => Require::Ssl,
            TlsRequirement::X509 => Require::X509,
            TlsRequirement::Specified {
                subject,
                issuer,
                cipher,
            } => Require::Certificate {
                issuer: text(issuer),
                subject: text(subject),
                cipher: text(cipher),
            },
        }
    }

    /// Returns whether a connection meets the requirement; `None` is an unencrypted one. The certificate was verified
    /// when the client presented it.
    pub fn is_met_by(&self, connection: Option<&TlsSession>) -> bool {
        match (self, connection) {
            (Require::Nothing, _) => true,
            (_, None) => false,
            (Require::Ssl, Some(_)) => true,
            (Require::X509, Some(session)) => session.peer.is_some(),
            (
                Require::Certificate {
                    issuer,
                    subject,
                    cipher,
                },
                Some(session),
            ) => {
                let is = |wanted: &str, found: &str| wanted.is_empty() || wanted == found;
                is(cipher, session.cipher)
                    && session.peer.as_ref().is_some_and(|peer| {
                        is(issuer, &peer.issuer_text()) && is(subject, &peer.subject_text())
                    })
            }
        }
    }

    /// Returns the clause as `SHOW CREATE USER` and `SHOW GRANTS` print it, with a leading space.
    pub fn show(&self) -> String {
        match self {
            Require::Nothing => String::new(),
            Require::Ssl => " REQUIRE SSL".to_owned(),
            Require::X509 => " REQUIRE X509".to_owned(),
            Require::Certificate {
                issuer,
                subject,
                cipher,
            } => {
                let mut line = String::from(" REQUIRE");
                for (name, value) in [("ISSUER", issuer), ("SUBJECT", subject), ("CIPHER", cipher)] {
                    if !value.is_empty() {
                        line.push_str(&format!(" {name} {}", text_literal(value)));
                    }
                }
                line
            }
        }
    }

    /// Converts to the fields of the record.
    pub fn to_record(&self) -> RequireRecord {
        match self {
            Require::Nothing => RequireRecord::default(),
            Require::Ssl => RequireRecord {
                ssl_type: 1,
                ..RequireRecord::default()
            },
            Require::X509 => RequireRecord {
                ssl_type: 2,
                ..RequireRecord::default()
            },
            Require::Certificate {
                issuer,
                subject,
                cipher,
            } => RequireRecord {
                ssl_type: 3,
                ssl_cipher: cipher.clone(),
                x509_issuer: issuer.clone(),
                x509_subject: subject.clone(),
            },
        }
    }

    /// Reads the fields of a record. An unknown kind requires a certificate, to keep out clients that it was meant to
    /// exclude.
    pub fn from_record(record: RequireRecord) -> Require {
        match record.ssl_type {
            0 => Require::Nothing,
            1 => Require::Ssl,
            2 => Require::X509,
            _ => Require::Certificate {
                issuer: record.x509_issuer,
                subject: record.x509_subject,
                cipher: record.ssl_cipher,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use paceline_wire::tls::{Certificate, ServerTls, TlsParameters};

    fn session(peer: Option<Certificate>) -> TlsSession {
        TlsSession {
            version: "TLSv1.3",
            cipher: "TLS_AES_256_GCM_SHA384",
            peer,
        }
    }

    fn certificate(issuer: &str, subject: &str, cipher: &str) -> Require {
        Require::Certificate {
            issuer: issuer.into(),
            subject: subject.into(),
            cipher: cipher.into(),
        }
    }

    #[test]
    fn requirements_are_checked() {
        let own = ServerTls::new(&TlsParameters::default()).unwrap();
        let shown = session(Some(own.certificate().clone()));
        let bare = session(None);
        let name = "/CN=Paceline Server";
        for (require, clear, encrypted, with_certificate) in [
            (Require::Nothing, true, true, true),
            (Require::Ssl, false, true, true),
            (Require::X509, false, false, true),
            (certificate("", name, ""), false, false, true),
            (
                certificate(name, name, "TLS_AES_256_GCM_SHA384"),
                false,
                false,
                true,
            ),
            (certificate("", "", ""), false, false, true),
            (certificate("/CN=other", name, ""), false, false, false),
            (certificate("", "/CN=paceline server", ""), false, false, false),
            (certificate("", "", "TLS_AES_128_GCM_SHA256"), false, false, false),
        ] {
            assert_eq!(require.is_met_by(None), clear, "{require:?}");
            assert_eq!(require.is_met_by(Some(&bare)), encrypted, "{require:?}");
            assert_eq!(require.is_met_by(Some(&shown)), with_certificate, "{require:?}");
            assert_eq!(Require::from_record(require.to_record()), require);
        }
    }

    #[test]
    fn shown_as_in_mariadb() {
        assert_eq!(Require::Nothing.show(), "");
        assert_eq!(Require::X509.show(), " REQUIRE X509");
        assert_eq!(
            certificate("/CN=ca", "it's", "C").show(),
            " REQUIRE ISSUER '/CN=ca' SUBJECT 'it''s' CIPHER 'C'"
        );
    }
}
