//! Proof by which a client trusts a server whose certificate no authority has signed: the server knows the client's
//! password.
//!
//! This is MariaDB 11.4's scheme (MDEV-31855, MDEV-31856). After the login, the info of the server's OK packet is a
//! byte 1 and in hexadecimal digits
//!
//! ```text
//!   SHA256( the stored form of the password ‖ the scramble ‖ SHA256(the server's certificate) )
//! ```
//!
//! A man in the middle shows another certificate and knows neither the password nor its stored form. The scheme needs a
//! password: for an account without one the proof would prove nothing, and is not sent.

use super::certificate::Certificate;
use crate::authentication::Scramble;
use sha2::{Digest, Sha256};

/// First byte of the info of the OK packet.
const MARK: char = '\u{1}';

/// Returns the info of an OK packet for a client whose password has the stored form `kept`.
pub fn proof(kept: &[u8], scramble: &Scramble, certificate: &Certificate) -> String {
    let mut digest = Sha256::new();
    digest.update(kept);
    digest.update(scramble.bytes());
    digest.update(certificate.fingerprint());
    let mut info = String::from(MARK);
    for byte in digest.finalize() {
        info.push_str(&format!("{byte:02X}"));
    }
    info
}

/// Returns whether an OK packet's info proves the certificate, for a client whose password has the stored form `kept`.
pub fn proves(info: &str, kept: &[u8], scramble: &Scramble, certificate: &Certificate) -> bool {
    info == proof(kept, scramble, certificate)
}
