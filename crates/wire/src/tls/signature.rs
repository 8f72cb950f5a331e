//! The signatures of the handshake: who shows a certificate proves to have its key.
//!
//! rustls' own check reads the certificate by webpki, which knows only X.509's third version. For the first one it is done here, by the
//! same algorithms.

use super::certificate::Certificate;
use super::provider;
use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::{verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::CertificateDer;
use rustls::{CertificateError, DigitallySignedStruct, Error, SignatureScheme};

/// TLS 1.2.
pub(crate) fn verify_tls12(
    message: &[u8],
    certificate: &CertificateDer<'_>,
    signed: &DigitallySignedStruct,
) -> Result<HandshakeSignatureValid, Error> {
    match first_version(certificate) {
        Some(certificate) => verify(message, &certificate, signed, usize::MAX),
        None => verify_tls12_signature(
            message,
            certificate,
            signed,
            &provider().signature_verification_algorithms,
        ),
    }
}

/// TLS 1.3: one algorithm for each scheme, and none of PKCS#1 1.5.
pub(crate) fn verify_tls13(
    message: &[u8],
    certificate: &CertificateDer<'_>,
    signed: &DigitallySignedStruct,
) -> Result<HandshakeSignatureValid, Error> {
    let Some(read) = first_version(certificate) else {
        return verify_tls13_signature(
            message,
            certificate,
            signed,
            &provider().signature_verification_algorithms,
        );
    };
    match signed.scheme {
        SignatureScheme::RSA_PKCS1_SHA256
        | SignatureScheme::RSA_PKCS1_SHA384
        | SignatureScheme::RSA_PKCS1_SHA512 => Err(Error::InvalidCertificate(CertificateError::BadSignature)),
        _ => verify(message, &read, signed, 1),
    }
}

/// The schemes that either can be checked by.
pub(crate) fn schemes() -> Vec<SignatureScheme> {
    provider().signature_verification_algorithms.supported_schemes()
}

fn first_version(certificate: &CertificateDer<'_>) -> Option<Certificate> {
    Certificate::read(certificate).filter(|read| read.version < 3)
}

/// Tries the first `algorithms_max` algorithms of the scheme.
fn verify(
    message: &[u8],
    certificate: &Certificate,
    signed: &DigitallySignedStruct,
    algorithms_max: usize,
) -> Result<HandshakeSignatureValid, Error> {
    let mapping = provider().signature_verification_algorithms.mapping;
    let valid = mapping
        .iter()
        .filter(|(scheme, _)| *scheme == signed.scheme)
        .flat_map(|(_, algorithms)| algorithms.iter().take(algorithms_max))
        .any(|algorithm| {
            algorithm.public_key_alg_id().as_ref() == certificate.key_algorithm
                && algorithm
                    .verify_signature(&certificate.key, message, signed.signature())
                    .is_ok()
        });
    match valid {
        true => Ok(HandshakeSignatureValid::assertion()),
        false => Err(Error::InvalidCertificate(CertificateError::BadSignature)),
    }
}
