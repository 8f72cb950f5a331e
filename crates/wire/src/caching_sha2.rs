//! `caching_sha2_password`, MySQL's default since 8.0: the client's side.
//!
//! ```text
//!   client   SHA256(password) XOR SHA256(SHA256(SHA256(password)) ‖ scramble)
//!   server   knows the hash from an earlier login ─▶ FAST_OK, OK
//!            does not know it                     ─▶ FULL: it needs the password itself
//!   client   over TLS or a UNIX socket: the password, NUL
//!            over TCP in clear: requests the server's RSA key, and sends (password, NUL) XOR scramble, encrypted with OAEP
//! ```
//! The key is sent over the same connection: it protects the password from eavesdroppers, but not from a man in the
//! middle that answers with a key of its own. TLS protects from both.

use crate::authentication::Scramble;
use crate::error::{WireError, WireResult};
use rsa::pkcs8::DecodePublicKey;
use rsa::{Oaep, RsaPublicKey};
use sha1::Sha1;
use sha2::{Digest, Sha256};

/// Name of the method.
pub const CACHING_SHA2_PASSWORD: &str = "caching_sha2_password";

/// Status that the server sends during the authentication, after a byte 1.
pub mod auth_status {
    /// The password is correct; OK follows.
    pub const FAST_OK: u8 = 3;
    /// The server does not know the hash and needs the password.
    pub const FULL: u8 = 4;
}

/// Packet that requests the server's RSA key.
pub const REQUEST_PUBLIC_KEY: u8 = 2;

/// Returns the answer to a scramble; empty for an empty password.
pub fn answer(scramble: &Scramble, password: &[u8]) -> Vec<u8> {
    if password.is_empty() {
        return Vec::new();
    }
    let first = Sha256::digest(password);
    let stored = Sha256::digest(first);
    let mask = Sha256::new_with_prefix(stored)
        .chain_update(scramble.bytes())
        .finalize();
    first.iter().zip(mask).map(|(a, b)| a ^ b).collect()
}

/// Returns the packet with the password in clear text, for a connection that cannot be eavesdropped.
pub fn in_clear(password: &[u8]) -> Vec<u8> {
    let mut packet = password.to_vec();
    packet.push(0);
    packet
}

/// Returns the packet with the password, encrypted for the server that has sent the key.
///
/// # Errors
/// [`WireError::Malformed`] if `key_pem` is not an RSA key in PEM, or if the key is too small for the password.
pub fn encrypted(password: &[u8], scramble: &Scramble, key_pem: &[u8]) -> WireResult<Vec<u8>> {
    let key = std::str::from_utf8(key_pem)
        .ok()
        .and_then(|pem| RsaPublicKey::from_public_key_pem(pem.trim()).ok())
        .ok_or(WireError::Malformed("the server's public key"))?;
    let masked: Vec<u8> = in_clear(password)
        .iter()
        .zip(scramble.bytes().iter().cycle())
        .map(|(a, b)| a ^ b)
        .collect();
    key.encrypt(&mut rsa::rand_core::OsRng, Oaep::new::<Sha1>(), &masked)
        .map_err(|_| WireError::Malformed("a password longer than the server's public key"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rsa::RsaPrivateKey;
    use rsa::pkcs8::{EncodePublicKey, LineEnding};

    #[test]
    fn the_answer_equals_that_of_other_clients() {
        let scramble = Scramble::from_bytes(*b"0123456789abcdefghij");
        for password in ["", "x", "a longer password, with ümlauts"] {
            let theirs = mysql_common::auth::plugins::caching_sha2_password::scramble_sha256(
                scramble.bytes(),
                password.as_bytes(),
            );
            let theirs = theirs.map(|bytes| bytes.to_vec()).unwrap_or_default();
            assert_eq!(answer(&scramble, password.as_bytes()), theirs);
        }
    }

    #[test]
    fn only_the_owner_of_the_key_can_read_the_password() {
        let owner = RsaPrivateKey::new(&mut rsa::rand_core::OsRng, 1024).unwrap();
        let pem = owner.to_public_key().to_public_key_pem(LineEnding::LF).unwrap();
        let scramble = Scramble::from_bytes(*b"0123456789abcdefghij");
        let password = b"a password that is longer than a scramble";
        let sent = encrypted(password, &scramble, pem.as_bytes()).unwrap();
        let masked = owner.decrypt(Oaep::new::<Sha1>(), &sent).unwrap();
        let read: Vec<u8> = masked
            .iter()
            .zip(scramble.bytes().iter().cycle())
            .map(|(a, b)| a ^ b)
            .collect();
        assert_eq!(read, in_clear(password));
        // A password that does not fit into the key, and a text that is not a key.
        assert!(encrypted(&[b'x'; 200], &scramble, pem.as_bytes()).is_err());
        assert!(encrypted(password, &scramble, b"-----BEGIN PUBLIC KEY-----\nAAAA\n").is_err());
    }
}
