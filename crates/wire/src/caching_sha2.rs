//! `caching_sha2_password`, MySQL's default since 8.0.
//!
//! ```text
//!   client   SHA256(password) XOR SHA256(SHA256(SHA256(password)) ‖ scramble)
//!   server   knows the hash from an earlier login ─▶ FAST_OK, OK
//!            does not know it                     ─▶ FULL: it needs the password itself
//!   client   over TLS or a UNIX socket: the password, NUL
//!            over TCP in clear: requests the server's RSA key, and sends (password, NUL) XOR scramble, encrypted with OAEP
//! ```
//! The key is sent over the same connection: it protects the password from eavesdroppers, but not from a man in the
//! middle that answers with a key of its own. TLS protects from both. This server has no such key: it would have to
//! decrypt whatever strangers send, and always in the same time.
//!
//! The server stores `$A$005$`, a salt of 20 bytes, and 43 digits: SHA-crypt, 5,000 rounds of SHA-256, so that guessing
//! takes time. After a login it keeps `SHA256(SHA256(password))` in memory, which suffices for the next ones.

use crate::authentication::{Scramble, is_same};
use crate::error::{WireError, WireResult};
use paceline_sha_crypt::{DIGITS, ROUNDS, SHA256_ORDER, digest_digits, sha_crypt};
use rsa::pkcs8::DecodePublicKey;
use rsa::{Oaep, RsaPublicKey};
use sha1::Sha1;
use sha2::{Digest, Sha256};
use std::convert::Infallible;

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

/// First part of the stored form: the method and the rounds in thousands.
const STORED_PREFIX: &str = "$A$005$";
/// Length of a salt, in bytes.
const SALT_LENGTH: usize = 20;
/// Length of the hash as text.
const DIGITS_LENGTH: usize = 43;
/// Length of the stored form, in bytes.
pub const STORED_LENGTH: usize = STORED_PREFIX.len() + SALT_LENGTH + DIGITS_LENGTH;
/// Maximum length of a password, in bytes. The time of the hash depends on its square.
pub const PASSWORD_MAX: usize = 256;

/// Stored form of a password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CachingSha2Password(String);

impl CachingSha2Password {
    /// Returns a stored form of a password, which is not empty: one with a new salt. `None` for a password of more than
    /// [`PASSWORD_MAX`] bytes.
    pub fn of(password: &[u8]) -> Option<CachingSha2Password> {
        if password.len() > PASSWORD_MAX {
            return None;
        }
        let random: [u8; SALT_LENGTH] = rand::random();
        let salt = random.map(|byte| DIGITS[usize::from(byte % 64)]);
        Some(Self::with_salt(password, &salt))
    }

    fn with_salt(password: &[u8], salt: &[u8]) -> CachingSha2Password {
        let salt_text: String = salt.iter().map(|byte| char::from(*byte)).collect();
        CachingSha2Password(format!(
            "{STORED_PREFIX}{salt_text}{}",
            hash_digits(password, salt)
        ))
    }

    /// Parses a stored form. `None` for any other text, also for one with a salt that is not ASCII.
    pub fn parse(text: &str) -> Option<CachingSha2Password> {
        let is_right = text.len() == STORED_LENGTH
            && text.is_ascii()
            && text.starts_with(STORED_PREFIX)
            && text
                .bytes()
                .rev()
                .take(DIGITS_LENGTH)
                .all(|digit| DIGITS.contains(&digit));
        is_right.then(|| CachingSha2Password(text.to_owned()))
    }

    /// Returns the stored form as text.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Returns whether this is the password. Takes milliseconds, on purpose.
    pub fn verify(&self, password: &[u8]) -> bool {
        let salt = &self.0.as_bytes()[STORED_PREFIX.len()..][..SALT_LENGTH];
        !password.is_empty()
            && password.len() <= PASSWORD_MAX
            && is_same(Self::with_salt(password, salt).0.as_bytes(), self.0.as_bytes())
    }
}

/// Digest of a password that the server keeps in memory after a login.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CachedPassword([u8; 32]);

impl CachedPassword {
    /// Returns the digest of a password.
    pub fn of(password: &[u8]) -> CachedPassword {
        CachedPassword(Sha256::digest(Sha256::digest(password)).into())
    }

    /// Returns whether a client's first answer proves knowledge of the password.
    pub fn verify(&self, scramble: &Scramble, answer: &[u8]) -> bool {
        let mask = Sha256::new_with_prefix(self.0)
            .chain_update(scramble.bytes())
            .finalize();
        let first: Vec<u8> = answer.iter().zip(mask).map(|(a, b)| a ^ b).collect();
        answer.len() == mask.len() && is_same(&Sha256::digest(first), &self.0)
    }
}

/// Returns the digits of SHA-crypt.
fn hash_digits(password: &[u8], salt: &[u8]) -> String {
    let Ok(digest) = sha_crypt::<Sha256, Infallible>(password, salt, ROUNDS, &mut || Ok(()));
    digest_digits(&digest, &SHA256_ORDER)
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

    /// The example of hashcat for MySQL's hashes (mode 7401): the password is `hashcat`.
    #[test]
    fn the_stored_form_equals_mysqls() {
        let salt = [
            0xF9, 0xCC, 0x98, 0xCE, 0x08, 0x89, 0x29, 0x24, 0xF5, 0x0A, 0x21, 0x3B, 0x6B, 0xC5, 0x71, 0xA2,
            0xC1, 0x17, 0x78, 0xC5,
        ];
        assert_eq!(
            hash_digits(b"hashcat", &salt),
            "bTy95Y99eAME1dwEkHOA1ndHGBWz.1bxSSRkuTXFGV/"
        );
    }

    #[test]
    fn stored_passwords_are_verified() {
        let of = |password: &[u8]| CachingSha2Password::of(password).unwrap();
        let stored = of(b"secret");
        assert_eq!(CachingSha2Password::parse(stored.text()), Some(stored.clone()));
        assert_ne!(of(b"secret"), stored);
        assert!(of(&[b'x'; PASSWORD_MAX]).verify(&[b'x'; PASSWORD_MAX]));
        assert_eq!(CachingSha2Password::of(&[b'x'; PASSWORD_MAX + 1]), None);
        assert!(stored.verify(b"secret") && !stored.verify(b"Secret") && !stored.verify(b""));
        assert!(!stored.verify(&[b'x'; 300]));
        for text in [
            "",
            "secret",
            &stored.text()[1..],
            &stored.text().replace("005", "006"),
        ] {
            assert_eq!(CachingSha2Password::parse(text), None);
        }
        let scramble = Scramble::random();
        let cached = CachedPassword::of(b"secret");
        assert!(cached.verify(&scramble, &answer(&scramble, b"secret")));
        assert!(!cached.verify(&scramble, &answer(&scramble, b"Secret")));
        assert!(
            !cached.verify(&scramble, &[])
                && !cached.verify(&Scramble::random(), &answer(&scramble, b"secret"))
        );
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
