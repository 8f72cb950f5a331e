//! `mysql_native_password`.
//!
//! The server stores `SHA1(SHA1(password))`, written as `*` and 40 hexadecimal digits, and sends 20 random bytes. The
//! client answers `SHA1(password) XOR SHA1(random ‖ SHA1(SHA1(password)))`. For an account without a password the
//! answer is empty.

use sha1::{Digest, Sha1};

/// Name of the method.
pub const NATIVE_PASSWORD: &str = "mysql_native_password";

/// Compares two secrets of one length. The time does not reveal how much of them is equal.
pub(crate) fn is_same(one: &[u8], other: &[u8]) -> bool {
    let bytes = one.iter().zip(other);
    one.len() == other.len() && bytes.fold(0, |difference, (a, b)| difference | (a ^ b)) == 0
}

/// 20 random bytes for one authentication. None of them is zero or `$`, as in MariaDB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scramble([u8; 20]);

impl Scramble {
    /// Creates a random scramble.
    pub fn random() -> Scramble {
        let random: [u8; 20] = rand::random();
        // From 33 to 126 without '$': printable, as in MariaDB.
        Scramble(random.map(|byte| match 33 + byte % 93 {
            b'$' => b'~',
            other => other,
        }))
    }

    /// Wraps the bytes that a server has sent.
    pub fn from_bytes(bytes: [u8; 20]) -> Scramble {
        Scramble(bytes)
    }

    /// Returns the 20 bytes.
    pub fn bytes(&self) -> &[u8; 20] {
        &self.0
    }

    /// Returns the client's answer for `password`.
    pub fn answer(&self, password: &[u8]) -> Vec<u8> {
        if password.is_empty() {
            return vec![];
        }
        let first = sha1(&[password]);
        let stored = sha1(&[&first]);
        let mask = sha1(&[&self.0, &stored]);
        first.iter().zip(mask).map(|(a, b)| a ^ b).collect()
    }
}

/// Stored form of a password for `mysql_native_password`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NativePassword {
    /// The account has no password.
    Empty,
    /// `SHA1(SHA1(password))`.
    Hash([u8; 20]),
}

impl NativePassword {
    /// Returns the stored form of a password in clear text (`IDENTIFIED BY`, `PASSWORD()`).
    pub fn of(password: &str) -> NativePassword {
        NativePassword::of_bytes(password.as_bytes())
    }

    /// Returns the stored form of a password in any character set.
    pub fn of_bytes(password: &[u8]) -> NativePassword {
        if password.is_empty() {
            return NativePassword::Empty;
        }
        NativePassword::Hash(sha1(&[&sha1(&[password])]))
    }

    /// Parses `*` and 40 hexadecimal digits, or the empty string. `None` for any other text.
    pub fn parse(text: &str) -> Option<NativePassword> {
        if text.is_empty() {
            return Some(NativePassword::Empty);
        }
        let digits = text.strip_prefix('*')?.as_bytes();
        if digits.len() != 40 {
            return None;
        }
        let mut hash = [0; 20];
        for (byte, pair) in hash.iter_mut().zip(digits.chunks_exact(2)) {
            let high = (pair[0] as char).to_digit(16)?;
            let low = (pair[1] as char).to_digit(16)?;
            *byte = (high * 16 + low) as u8;
        }
        Some(NativePassword::Hash(hash))
    }

    /// Returns whether `answer` proves knowledge of the password, for a client that was sent `scramble`.
    pub fn verify(&self, scramble: &Scramble, answer: &[u8]) -> bool {
        match self {
            NativePassword::Empty => answer.is_empty(),
            NativePassword::Hash(stored) => {
                if answer.len() != 20 {
                    return false;
                }
                let mask = sha1(&[&scramble.0, stored]);
                let first: Vec<u8> = answer.iter().zip(mask).map(|(a, b)| a ^ b).collect();
                is_same(&sha1(&[&first]), stored)
            }
        }
    }
}

impl std::fmt::Display for NativePassword {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let NativePassword::Hash(hash) = self {
            f.write_str("*")?;
            for byte in hash {
                write!(f, "{byte:02X}")?;
            }
        }
        Ok(())
    }
}

fn sha1(parts: &[&[u8]]) -> [u8; 20] {
    let mut hasher = Sha1::new();
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stored_form_equals_mariadbs() {
        // SELECT PASSWORD('mariadb')
        let stored = NativePassword::of("mariadb");
        assert_eq!(stored.to_string(), "*54958E764CE10E50764C2EECBB71D01F08549980");
        assert_eq!(
            NativePassword::parse("*54958e764ce10e50764c2eecbb71d01f08549980"),
            Some(stored)
        );
        assert_eq!(NativePassword::of("").to_string(), "");
        assert_eq!(NativePassword::parse("*54"), None);
        assert_eq!(NativePassword::parse("plain"), None);
    }

    #[test]
    fn only_the_right_password_is_accepted() {
        let scramble = Scramble::random();
        assert!(
            scramble
                .bytes()
                .iter()
                .all(|byte| (33..=126).contains(byte) && *byte != b'$')
        );
        let stored = NativePassword::of("secret");
        assert!(stored.verify(&scramble, &scramble.answer(b"secret")));
        assert!(!stored.verify(&scramble, &scramble.answer(b"Secret")));
        assert!(!stored.verify(&scramble, b""));
        assert!(!stored.verify(&Scramble::random(), &scramble.answer(b"secret")));
        assert!(NativePassword::Empty.verify(&scramble, b""));
        assert!(!NativePassword::Empty.verify(&scramble, &scramble.answer(b"x")));
    }
}
