//! `REQUIRE …`: how the connection of an account has to be encrypted.

use super::show::text_literal;
use paceline_sql::parse::TlsRequirement;
use paceline_wire::tls::TlsSession;
use serde::{Deserialize, Serialize};

/// What an account requires of a connection.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Require {
    /// `NONE`.
    #[default]
    Nothing,
    /// `SSL`: that it is encrypted.
    Ssl,
    /// `X509`: that the client has shown a certificate.
    X509,
    /// That the certificate is a certain one; an empty text asks for nothing.
    Certificate {
        /// `ISSUER`: who signed it.
        issuer: String,
        /// `SUBJECT`: whose it is.
        subject: String,
        /// `CIPHER`: the cipher suite of the connection.
        cipher: String,
    },
}

/// The fields of an account's record, those of MariaDB's `mysql.global_priv`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RequireRecord {
    /// 0 to 3: nothing, `SSL`, `X509`, a certificate.
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
    /// `mysql.user.ssl_type`.
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
    /// What a statement says.
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

    /// Whether a connection is what the account asks for; `None` is one in clear. That a certificate is genuine was checked when the client
    /// showed it.
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

    /// As `SHOW CREATE USER` and `SHOW GRANTS` write it, with a space before it.
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

    /// The fields of the record.
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

    /// Reads them. A kind that is not known asks for a certificate: it must not let in whom it was to keep out.
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
    fn what_is_met() {
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
    fn as_mariadb_shows_it() {
        assert_eq!(Require::Nothing.show(), "");
        assert_eq!(Require::X509.show(), " REQUIRE X509");
        assert_eq!(
            certificate("/CN=ca", "it's", "C").show(),
            " REQUIRE ISSUER '/CN=ca' SUBJECT 'it''s' CIPHER 'C'"
        );
    }
}
