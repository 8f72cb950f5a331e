//! Key with which the members of a cluster know each other: each derives the same one from the cluster's secret.
//!
//! ```text
//!   secret, name of the cluster ── slow hash ──▶ seed ──▶ Ed25519 key ──▶ self-signed certificate, made at each start
//! ```
//! A member that connects requires that the other shows a certificate with this key, and that it has the key: TLS's own
//! handshake proves that before anything is sent. So a server in the middle that does not know the secret gets nothing
//! at all, not even an answer to a scramble. A member that was reached proves by its password, inside of this
//! connection, that it knows the secret, too. There is nothing to configure, and no date at which something expires.
//!
//! On the port for clients there are two certificates: a client that asks for [`NAME`] (TLS's server name) gets that of
//! the cluster, any other that of `ssl_cert`.
//!
//! # The secret in the key
//! A client that connects sees the public key and can try out secrets with it, as with an overheard scramble. The hash
//! is slow ([`ROUNDS`]) and has the cluster's name as its salt. A random secret, as the manual makes it, is beyond
//! trying out anyway.

use super::tls_error;
use crate::error::WireResult;
use paceline_sha_crypt::sha_crypt;
use rcgen::{CertificateParams, DistinguishedName, DnType, IsCa, KeyPair, PKCS_ED25519};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::sign::CertifiedKey;
use sha2::{Digest, Sha256};
use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;

/// Server name by which members ask for the certificate with the cluster's key.
pub const NAME: &str = "paceline.cluster";

/// Rounds of the hash. About a tenth of a second, once for each start of a member.
const ROUNDS: u32 = 100_000;
/// Beginning of an Ed25519 key in PKCS #8 (RFC 8410), before its 32 bytes.
const PKCS8_PREFIX: [u8; 16] = [
    0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
];

/// Key of a cluster, with a certificate for it. Cheap to clone.
#[derive(Clone)]
pub struct ClusterKey {
    shown: Arc<CertifiedKey>,
    /// Encoded public key with its algorithm.
    key_info: Arc<[u8]>,
}

impl ClusterKey {
    /// Derives the key of a cluster. Takes about a tenth of a second.
    ///
    /// # Errors
    /// [`WireError::Tls`](crate::WireError::Tls) if no certificate can be made.
    pub fn derive(cluster: &str, secret: &str) -> WireResult<ClusterKey> {
        let salt = format!("paceline cluster key 1 {cluster}");
        let hash =
            sha_crypt::<Sha256, Infallible>(secret.as_bytes(), salt.as_bytes(), ROUNDS, &mut || Ok(()));
        let Ok(hash) = hash;
        let seed = Sha256::new().chain_update(b"seed").chain_update(hash).finalize();
        let encoded = [&PKCS8_PREFIX[..], &seed[..]].concat();
        let encoded = PrivatePkcs8KeyDer::from(encoded);
        let key = KeyPair::from_pkcs8_der_and_sign_algo(&encoded, &PKCS_ED25519).map_err(tls_error)?;
        let mut name = DistinguishedName::new();
        name.push(DnType::CommonName, NAME);
        let mut wanted = CertificateParams::default();
        wanted.distinguished_name = name;
        wanted.is_ca = IsCa::ExplicitNoCa;
        let certificate = wanted.self_signed(&key).map_err(tls_error)?;
        let signing = super::provider()
            .key_provider
            .load_private_key(PrivateKeyDer::from(encoded))
            .map_err(tls_error)?;
        let key_info = super::certificate::key_info(certificate.der())
            .ok_or_else(|| tls_error("the cluster's certificate cannot be read"))?;
        Ok(ClusterKey {
            shown: Arc::new(CertifiedKey::new(vec![certificate.der().clone()], signing)),
            key_info: key_info.into(),
        })
    }

    /// Returns the certificate to show, with its key.
    pub(super) fn shown(&self) -> Arc<CertifiedKey> {
        Arc::clone(&self.shown)
    }

    /// Returns whether a certificate is for this key. Its other fields do not matter.
    pub(super) fn is_of(&self, certificate: &CertificateDer<'_>) -> bool {
        super::certificate::key_info(certificate).is_some_and(|key_info| key_info[..] == self.key_info[..])
    }
}

impl PartialEq for ClusterKey {
    fn eq(&self, other: &Self) -> bool {
        self.key_info == other.key_info
    }
}

impl Eq for ClusterKey {}

impl fmt::Debug for ClusterKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClusterKey").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_with_one_secret_and_cluster_have_one_key() {
        let one = ClusterKey::derive("shop", "a long secret").unwrap();
        let same = ClusterKey::derive("shop", "a long secret").unwrap();
        assert_eq!(one, same);
        assert!(one.is_of(&same.shown.cert[0]) && same.is_of(&one.shown.cert[0]));
        one.shown.keys_match().unwrap();
        for (cluster, secret) in [
            ("shop", "a long secret "),
            ("shops", "a long secret"),
            ("shop", "other"),
        ] {
            let other = ClusterKey::derive(cluster, secret).unwrap();
            assert_ne!(one, other);
            assert!(!one.is_of(&other.shown.cert[0]));
        }
        assert_eq!(format!("{one:?}"), "ClusterKey { .. }");
    }
}
