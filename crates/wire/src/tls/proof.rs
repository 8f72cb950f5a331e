//! Why a client believes the certificate of a server that nobody vouches for: the server proves to know the client's password.
//!
//! MariaDB 11.4's scheme (MDEV-31855, MDEV-31856). When the login is through, the server's OK packet says, as its info, a byte 1 and in hexadecimal digits
//!
//! ```text
//!   SHA256( the password as the server keeps it ‖ the scramble ‖ SHA256(the server's certificate) )
//! ```
//!
//! Who sits in between shows another certificate, and knows neither the password nor what is kept of it. It takes a password: for an account
//! without one the proof proves nothing, and is not given.

use super::certificate::Certificate;
use crate::authentication::Scramble;
use sha2::{Digest, Sha256};

/// What the info of the OK packet begins with.
const MARK: char = '\u{1}';

/// The info that an OK packet carries for a client whose password is kept as `kept`.
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

/// Whether an OK packet's info proves the certificate to a client whose password is kept as `kept`.
pub fn proves(info: &str, kept: &[u8], scramble: &Scramble, certificate: &Certificate) -> bool {
    info == proof(kept, scramble, certificate)
}
