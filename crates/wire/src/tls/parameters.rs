//! TLS parameters of either side: `ssl_ca` of a server, `--ssl-ca` of a command, `MASTER_SSL_CA` of a replica.

use super::suites::{parse_suites, parse_versions};
use super::{files, provider};
use crate::error::WireResult;
use rustls::SupportedProtocolVersion;
use rustls::crypto::CryptoProvider;
use rustls::sign::CertifiedKey;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Files, directories and lists. An empty text means that the parameter is not set.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TlsParameters {
    /// `ssl_ca`: a file of authorities' certificates.
    pub ca: String,
    /// `ssl_capath`: a directory of such files.
    pub ca_path: String,
    /// `ssl_cert`: the certificate to show, with those that lead to its authority.
    pub certificate: String,
    /// `ssl_key`. If it is not set, the key is in the certificate's file.
    pub key: String,
    /// `ssl_cipher`.
    pub cipher: String,
    /// `ssl_crl`: a file of revocation lists.
    pub crl: String,
    /// `ssl_crlpath`: a directory of such files.
    pub crl_path: String,
    /// `tls_version`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub versions: String,
}

/// Returns a path, if it is set.
pub(crate) fn path(text: &str) -> Option<&Path> {
    (!text.is_empty()).then(|| Path::new(text))
}

impl TlsParameters {
    /// Returns whether authorities are configured.
    pub(crate) fn names_authorities(&self) -> bool {
        !self.ca.is_empty() || !self.ca_path.is_empty()
    }

    /// Returns the certificate to show and its key, if they are configured. One file may contain both, under either
    /// name.
    pub(crate) fn certified_key(&self) -> WireResult<Option<CertifiedKey>> {
        let (certificate, key) = match (self.certificate.as_str(), self.key.as_str()) {
            ("", "") => return Ok(None),
            ("", both) | (both, "") => (both, both),
            both => both,
        };
        files::certified_key(Path::new(certificate), Path::new(key)).map(Some)
    }

    /// Returns the cryptography with the suites of `ssl_cipher`.
    pub(crate) fn provider(&self) -> WireResult<CryptoProvider> {
        Ok(CryptoProvider {
            cipher_suites: parse_suites(&self.cipher)?,
            ..provider()
        })
    }

    /// Returns the versions of `tls_version`.
    pub(crate) fn protocol_versions(&self) -> WireResult<Vec<&'static SupportedProtocolVersion>> {
        parse_versions(&self.versions)
    }
}
