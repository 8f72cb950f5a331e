//! The certificate of a server that was given none, as in MariaDB 11.4: self-signed, created at every start, and
//! stored nowhere.
//!
//! With it, connections are encrypted for every client. A client that verifies the server trusts it by the password
//! ([`proof`](super::proof)).

use super::{provider, tls_error};
use crate::error::WireResult;
use rcgen::{
    CertificateParams, DistinguishedName, DnType, IsCa, KeyPair, PKCS_ECDSA_P256_SHA256, date_time_ymd,
};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer, UnixTime};
use rustls::sign::CertifiedKey;
use std::time::Duration;

/// Name of the owner.
const COMMON_NAME: &str = "Paceline Server";
/// How long the certificate is valid from its creation on.
const VALID: Duration = Duration::from_secs(10 * 365 * 86_400);
/// How long the certificate has already been valid at its creation, because clocks differ.
const VALID_SINCE: Duration = Duration::from_secs(86_400);

/// Creates a key and a certificate for it.
///
/// # Errors
/// If the system has no random bytes.
pub fn make(now: UnixTime) -> WireResult<CertifiedKey> {
    let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).map_err(tls_error)?;
    let now = date_time_ymd(1970, 1, 1) + Duration::from_secs(now.as_secs());
    let mut name = DistinguishedName::new();
    name.push(DnType::CommonName, COMMON_NAME);
    // rcgen derives the serial number from the key, so each start has its own.
    let mut wanted = CertificateParams::default();
    wanted.distinguished_name = name;
    wanted.not_before = now - VALID_SINCE;
    wanted.not_after = now + VALID;
    wanted.is_ca = IsCa::ExplicitNoCa;
    let certificate = wanted.self_signed(&key).map_err(tls_error)?;
    let private = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let signing = provider()
        .key_provider
        .load_private_key(private)
        .map_err(tls_error)?;
    Ok(CertifiedKey::new(vec![certificate.der().clone()], signing))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tls::certificate::{Certificate, parse};
    use x509_cert::der::Encode;

    #[test]
    fn the_certificate_is_self_signed() {
        let now = UnixTime::now();
        let made = make(now).unwrap();
        let certificate = Certificate::read(&made.cert[0]).unwrap();
        assert_eq!(certificate.subject_text(), "/CN=Paceline Server");
        assert_eq!(certificate.issuer_text(), certificate.subject_text());
        let since = i64::try_from(now.as_secs() - VALID_SINCE.as_secs()).unwrap();
        let until = i64::try_from(now.as_secs() + VALID.as_secs()).unwrap();
        assert_eq!((certificate.not_before, certificate.not_after), (since, until));
        // webpki can decode it, and the key signs for it.
        let read = webpki::EndEntityCert::try_from(&made.cert[0]).unwrap();
        let parsed = parse(&made.cert[0]).unwrap();
        let signed = parsed.tbs_certificate.to_der().unwrap();
        let algorithm = webpki::ring::ECDSA_P256_SHA256;
        read.verify_signature(algorithm, &signed, parsed.signature.raw_bytes())
            .unwrap();
        made.keys_match().unwrap();
        assert!(!certificate.may_sign());
        let other = make(now).unwrap();
        assert_ne!(other.cert[0], made.cert[0]);
        assert_ne!(
            parse(&other.cert[0]).unwrap().tbs_certificate.serial_number,
            parsed.tbs_certificate.serial_number
        );
    }
}
