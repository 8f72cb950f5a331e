//! Signatures: the owner of a certificate proves that it has the key, and an authority has signed the certificate.
//!
//! rustls and webpki check both for X.509 version 3, the only version that they support. For older certificates, this
//! module does what webpki would do, with the same algorithms.

use super::certificate::Certificate;
use super::provider;
use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::{verify_tls12_signature, verify_tls13_signature, verify_tls13_signature_with_raw_key};
use rustls::pki_types::{CertificateDer, SignatureVerificationAlgorithm, SubjectPublicKeyInfoDer};
use rustls::{CertificateError, DigitallySignedStruct, Error, SignatureScheme};
use webpki::RawPublicKeyEntity;
use x509_cert::der::Encode;
use x509_cert::der::asn1::BitString;

/// Verifies the signature of a TLS 1.2 handshake.
pub(crate) fn verify_tls12(
    message: &[u8],
    certificate: &CertificateDer<'_>,
    signed: &DigitallySignedStruct,
) -> Result<HandshakeSignatureValid, Error> {
    let known = provider().signature_verification_algorithms;
    let Some(old) = before_third_version(certificate) else {
        return verify_tls12_signature(message, certificate, signed, &known);
    };
    let of_scheme = known.mapping.iter().find(|(scheme, _)| *scheme == signed.scheme);
    let algorithms = of_scheme.map_or(&[][..], |(_, algorithms)| *algorithms);
    match is_signed(&old.key_info, algorithms, message, signed.signature()) {
        true => Ok(HandshakeSignatureValid::assertion()),
        false => Err(Error::InvalidCertificate(CertificateError::BadSignature)),
    }
}

/// Verifies the signature of a TLS 1.3 handshake.
pub(crate) fn verify_tls13(
    message: &[u8],
    certificate: &CertificateDer<'_>,
    signed: &DigitallySignedStruct,
) -> Result<HandshakeSignatureValid, Error> {
    let known = provider().signature_verification_algorithms;
    match before_third_version(certificate) {
        Some(old) => {
            let key = SubjectPublicKeyInfoDer::from(old.key_info);
            verify_tls13_signature_with_raw_key(message, &key, signed, &known)
        }
        None => verify_tls13_signature(message, certificate, signed, &known),
    }
}

/// The three methods that check signatures, which the traits for verifiers of servers and of clients have in common.
macro_rules! verify_handshake_signatures {
    () => {
        fn verify_tls12_signature(
            &self,
            message: &[u8],
            certificate: &rustls::pki_types::CertificateDer<'_>,
            signed: &rustls::DigitallySignedStruct,
        ) -> Result<rustls::client::danger::HandshakeSignatureValid, rustls::Error> {
            $crate::tls::signature::verify_tls12(message, certificate, signed)
        }

        fn verify_tls13_signature(
            &self,
            message: &[u8],
            certificate: &rustls::pki_types::CertificateDer<'_>,
            signed: &rustls::DigitallySignedStruct,
        ) -> Result<rustls::client::danger::HandshakeSignatureValid, rustls::Error> {
            $crate::tls::signature::verify_tls13(message, certificate, signed)
        }

        fn supported_verify_schemes(&self) -> Vec<rustls::SignatureScheme> {
            $crate::tls::signature::schemes()
        }
    };
}
pub(crate) use verify_handshake_signatures;

/// Returns the signature schemes that can be verified.
pub(crate) fn schemes() -> Vec<SignatureScheme> {
    provider().signature_verification_algorithms.supported_schemes()
}

/// Returns whether an authority has signed a certificate or a revocation list. Tries all algorithms, whichever one is
/// stated in the message, because none of them is weak.
pub(crate) fn has_signed(authority: &Certificate, message: &impl Encode, signature: &BitString) -> bool {
    let algorithms = provider().signature_verification_algorithms.all;
    match (message.to_der(), signature.as_bytes()) {
        (Ok(message), Some(signature)) => is_signed(&authority.key_info, algorithms, &message, signature),
        _ => false,
    }
}

fn before_third_version(certificate: &CertificateDer<'_>) -> Option<Certificate> {
    Certificate::read(certificate).filter(|read| !read.is_third_version())
}

/// Returns whether a signature was made with a key, by one of the algorithms.
fn is_signed(
    key_info: &[u8],
    algorithms: &[&dyn SignatureVerificationAlgorithm],
    message: &[u8],
    signature: &[u8],
) -> bool {
    let key = SubjectPublicKeyInfoDer::from(key_info);
    RawPublicKeyEntity::try_from(&key).is_ok_and(|key| {
        algorithms
            .iter()
            .any(|algorithm| key.verify_signature(*algorithm, message, signature).is_ok())
    })
}
