//! MariaDB's `ed25519`.
//!
//! ```text
//!   private key   SHA512(password)
//!   stored form   the public key: 32 bytes, written as 43 digits of base 64
//!   server        ─▶ 32 random bytes
//!   client        ◀─ their signature: 64 bytes
//! ```
//! The password cannot be derived from the stored form other than by guessing, and the stored form is of no use for a
//! login. An account without a stored form lets nobody in.
//!
//! The standard hashes a random seed of 32 bytes to the private key. MariaDB hashes the password, of any length, so
//! its key is built from the parts of the signature scheme. From there on it is the standard's.

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::general_purpose::{GeneralPurpose, NO_PAD};
use ed25519_dalek::hazmat::{ExpandedSecretKey, raw_sign};
use ed25519_dalek::{Signature, VerifyingKey};
use sha2::{Digest, Sha512};

/// Name of the method.
pub const ED25519: &str = "ed25519";

/// Name of the client's side of the method, by which a server requests it.
pub const CLIENT_ED25519: &str = "client_ed25519";

/// Length of the stored form as text.
pub const HASH_LENGTH: usize = 43;

/// As in MariaDB the unused bits of the last digit may be set.
const BASE64: GeneralPurpose = GeneralPurpose::new(&STANDARD, NO_PAD.with_decode_allow_trailing_bits(true));

/// 32 random bytes for one authentication.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nonce([u8; 32]);

impl Nonce {
    /// Creates random bytes.
    pub fn random() -> Nonce {
        Nonce(rand::random())
    }

    /// Returns the bytes that a server has sent; `None` if they are not 32.
    pub fn from_slice(bytes: &[u8]) -> Option<Nonce> {
        bytes.try_into().ok().map(Nonce)
    }

    /// Returns the 32 bytes.
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Returns the client's answer for `password`.
    pub fn answer(&self, password: &[u8]) -> Vec<u8> {
        let key = private_key(password);
        raw_sign::<Sha512>(&key, &self.0, &VerifyingKey::from(&key))
            .to_bytes()
            .to_vec()
    }
}

/// Stored form of a password: the public key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ed25519Password([u8; 32]);

impl Ed25519Password {
    /// Returns the stored form of a password.
    pub fn of(password: &[u8]) -> Ed25519Password {
        Ed25519Password(VerifyingKey::from(&private_key(password)).to_bytes())
    }

    /// Parses 43 digits of base 64. `None` for any other text.
    pub fn parse(text: &str) -> Option<Ed25519Password> {
        if text.len() != HASH_LENGTH {
            return None;
        }
        let bytes = BASE64.decode(text).ok()?;
        bytes.try_into().ok().map(Ed25519Password)
    }

    /// Returns the 32 bytes.
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Returns whether `answer` proves knowledge of the password, for a client that was sent `nonce`.
    pub fn verify(&self, nonce: &Nonce, answer: &[u8]) -> bool {
        let (Ok(key), Ok(signature)) = (VerifyingKey::from_bytes(&self.0), Signature::from_slice(answer))
        else {
            return false;
        };
        // Strictly: a key without an owner lets nobody in.
        key.verify_strict(&nonce.0, &signature).is_ok()
    }
}

impl std::fmt::Display for Ed25519Password {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&BASE64.encode(self.0))
    }
}

fn private_key(password: &[u8]) -> ExpandedSecretKey {
    ExpandedSecretKey::from_bytes(&Sha512::digest(password).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SELECT authentication_string FROM mysql.global_priv in MariaDB 10.11.
    #[test]
    fn the_stored_form_equals_mariadbs() {
        for (password, text) in [
            ("secret", "ZIgUREUg5PVgQ6LskhXmO+eZLS0nC8be6HPjYWR4YJY"),
            ("foo", "vubFBzIrapbfHct1/J72dnUryz5VS7lA6XHH8sIx4TI"),
            ("a", "GvRmi9ungFjJD9sKjaq/T3CL1LmO2CLpz5I42gnB7Eg"),
        ] {
            let stored = Ed25519Password::of(password.as_bytes());
            assert_eq!(stored.to_string(), text);
            assert_eq!(Ed25519Password::parse(text), Some(stored));
        }
        for text in ["", "x", "!!!UREUg5PVgQ6LskhXmO+eZLS0nC8be6HPjYWR4YJY"] {
            assert_eq!(Ed25519Password::parse(text), None);
        }
    }

    /// Test vector 1 of RFC 8032, whose private key is the hash of this seed. For MariaDB the seed is a password.
    #[test]
    fn the_answer_is_a_signature_of_the_standard() {
        let hex = |text: &str| -> Vec<u8> {
            let digits = text.as_bytes().chunks_exact(2);
            let byte = |pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
            digits.map(byte).collect()
        };
        let seed = hex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60");
        let public = hex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
        assert_eq!(Ed25519Password::of(&seed).bytes()[..], public[..]);
        let signature =
            raw_sign::<Sha512>(&private_key(&seed), b"", &VerifyingKey::from(&private_key(&seed)));
        assert_eq!(
            signature.to_bytes()[..],
            hex(
                "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
            )[..]
        );
    }

    #[test]
    fn only_the_right_password_is_accepted() {
        let stored = Ed25519Password::of(b"secret");
        let nonce = Nonce::random();
        let answer = nonce.answer(b"secret");
        assert!(stored.verify(&nonce, &answer));
        assert!(!stored.verify(&nonce, &nonce.answer(b"Secret")));
        assert!(!stored.verify(&Nonce::random(), &answer));
        assert!(!stored.verify(&nonce, &[]) && !stored.verify(&nonce, &answer[1..]));
        // Not a point of the curve.
        assert!(!Ed25519Password([0xFF; 32]).verify(&nonce, &answer));
        // The neutral element: without strictness everybody could sign for it.
        let mut one = [0; 32];
        one[0] = 1;
        let forged = [one, [0; 32]].concat();
        assert!(!Ed25519Password(one).verify(&nonce, &forged));
    }
}
