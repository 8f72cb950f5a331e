//! The certificate of a server that was given none, as MariaDB 11.4's servers make it: made anew at every start, kept nowhere, signed by itself.
//!
//! It encrypts for everybody; a client that wants to know whom it talks to believes it by its password ([`proof`](super::proof)).

use super::certificate::encode_time;
use super::der::{self, encode, encode_all};
use super::{provider, tls_error};
use crate::error::WireResult;
use ring::rand::{SecureRandom, SystemRandom};
use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, UnixTime};
use rustls::sign::CertifiedKey;

/// Whose it is.
const COMMON_NAME: &str = "Paceline Server";
/// How long it is valid, and for how long it has been: clocks differ.
const VALID_SECONDS: i64 = 10 * 365 * 86_400;
const VALID_SINCE_SECONDS: i64 = 86_400;

const ID_COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];
const ID_EC_PUBLIC_KEY: &[u8] = &[0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01];
const ID_P256: &[u8] = &[0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07];
const ID_ECDSA_WITH_SHA256: &[u8] = &[0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x02];
const ID_BASIC_CONSTRAINTS: &[u8] = &[0x55, 0x1D, 0x13];

/// A new key and its certificate.
///
/// # Errors
/// If the system has no random bytes.
pub fn make(now: UnixTime) -> WireResult<CertifiedKey> {
    let failed = |_| tls_error("a certificate cannot be made: the system gives no random bytes");
    let random = SystemRandom::new();
    let algorithm = &ECDSA_P256_SHA256_ASN1_SIGNING;
    let document = EcdsaKeyPair::generate_pkcs8(algorithm, &random).map_err(failed)?;
    let pair = EcdsaKeyPair::from_pkcs8(algorithm, document.as_ref(), &random).map_err(tls_error)?;
    let mut serial = [0; 16];
    random.fill(&mut serial).map_err(failed)?;
    // Positive, and without a leading zero byte.
    serial[0] = serial[0] & 0x7F | 0x40;
    let signed = to_be_signed(pair.public_key().as_ref(), &serial, now);
    let signature = pair.sign(&random, &signed).map_err(failed)?;
    let certificate = encode_all(
        der::SEQUENCE,
        &[signed, signature_algorithm(), bits(signature.as_ref())],
    );
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(document.as_ref().to_vec()));
    let signing = provider().key_provider.load_private_key(key).map_err(tls_error)?;
    Ok(CertifiedKey::new(
        vec![CertificateDer::from(certificate)],
        signing,
    ))
}

fn bits(bytes: &[u8]) -> Vec<u8> {
    encode(der::BIT_STRING, &[&[0], bytes].concat())
}

fn id(bytes: &[u8]) -> Vec<u8> {
    encode(der::OBJECT_IDENTIFIER, bytes)
}

fn signature_algorithm() -> Vec<u8> {
    encode_all(der::SEQUENCE, &[id(ID_ECDSA_WITH_SHA256)])
}

fn to_be_signed(public_key: &[u8], serial: &[u8], now: UnixTime) -> Vec<u8> {
    let now = i64::try_from(now.as_secs()).unwrap_or(0);
    let common_name = encode_all(
        der::SEQUENCE,
        &[
            id(ID_COMMON_NAME),
            encode(der::UTF8_STRING, COMMON_NAME.as_bytes()),
        ],
    );
    let name = encode_all(der::SEQUENCE, &[encode_all(der::SET, &[common_name])]);
    let validity = encode_all(
        der::SEQUENCE,
        &[
            encode_time(now - VALID_SINCE_SECONDS),
            encode_time(now + VALID_SECONDS),
        ],
    );
    let key_algorithm = encode_all(der::SEQUENCE, &[id(ID_EC_PUBLIC_KEY), id(ID_P256)]);
    let key = encode_all(der::SEQUENCE, &[key_algorithm, bits(public_key)]);
    // Critical, and nobody's authority.
    let constraints = encode_all(
        der::SEQUENCE,
        &[
            id(ID_BASIC_CONSTRAINTS),
            encode(der::BOOLEAN, &[0xFF]),
            encode(der::OCTET_STRING, &encode(der::SEQUENCE, &[])),
        ],
    );
    let extensions = encode_all(der::SEQUENCE, &[constraints]);
    encode_all(
        der::SEQUENCE,
        &[
            encode(der::context(0), &encode(der::INTEGER, &[2])),
            encode(der::INTEGER, serial),
            signature_algorithm(),
            name.clone(),
            validity,
            name,
            key,
            encode(der::context(3), &extensions),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tls::certificate::Certificate;

    #[test]
    fn it_is_signed_by_itself() {
        let now = UnixTime::now();
        let made = make(now).unwrap();
        let certificate = Certificate::read(&made.cert[0]).unwrap();
        assert_eq!(certificate.subject_text(), "/CN=Paceline Server");
        assert_eq!(certificate.issuer, certificate.subject);
        assert_eq!(
            certificate.not_after - certificate.not_before,
            VALID_SECONDS + VALID_SINCE_SECONDS
        );
        // webpki reads it, and the key signs for it.
        let read = webpki::EndEntityCert::try_from(&made.cert[0]).unwrap();
        let algorithm = webpki::ring::ECDSA_P256_SHA256;
        read.verify_signature(algorithm, &certificate.signed, &certificate.signature)
            .unwrap();
        assert_eq!(made.key.public_key().unwrap().as_ref(), certificate.key_info);
        assert_ne!(make(now).unwrap().cert[0], made.cert[0]);
    }
}
