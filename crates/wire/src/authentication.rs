//! `mysql_native_password`.
//!
//! The server keeps `SHA1(SHA1(password))`, written `*` and 40 hexadecimal digits, and sends 20 random bytes. The client answers
//! `SHA1(password) XOR SHA1(random ‖ SHA1(SHA1(password)))`; an account without a password is answered with nothing.

use sha1::{Digest, Sha1};

/// The only authentication method so far.
pub const NATIVE_PASSWORD: &str = "mysql_native_password";

/// 20 random bytes that an answer is good for once. None of them is zero or `$`, as MariaDB has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scramble([u8; 20]);

impl Scramble {
    /// A new one.
    pub fn random() -> Scramble {
        let random: [u8; 20] = rand::random();
        // 33 to 126 without '$': printable, as MariaDB's.
        Scramble(random.map(|byte| match 33 + byte % 93 {
            b'$' => b'~',
            other => other,
        }))
    }

    /// Takes the bytes that a server sent.
    pub fn from_bytes(bytes: [u8; 20]) -> Scramble {
        Scramble(bytes)
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8; 20] {
        &self.0
    }

    /// The client's answer for `password`.
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

/// What the server keeps of a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NativePassword {
    /// The account has none.
    Empty,
    /// `SHA1(SHA1(password))`.
    Hash([u8; 20]),
}

impl NativePassword {
    /// Of a password in clear (`IDENTIFIED BY`, `PASSWORD()`).
    pub fn of(password: &str) -> NativePassword {
        NativePassword::of_bytes(password.as_bytes())
    }

    /// Of a password in whatever character set.
    pub fn of_bytes(password: &[u8]) -> NativePassword {
        if password.is_empty() {
            return NativePassword::Empty;
        }
        NativePassword::Hash(sha1(&[&sha1(&[password])]))
    }

    /// Reads the form with `*` and 40 hexadecimal digits, or the empty string.
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

    /// True if `answer` proves the password to who sent `scramble`.
    pub fn verify(&self, scramble: &Scramble, answer: &[u8]) -> bool {
        match self {
            NativePassword::Empty => answer.is_empty(),
            NativePassword::Hash(stored) => {
                if answer.len() != 20 {
                    return false;
                }
                let mask = sha1(&[&scramble.0, stored]);
                let first: Vec<u8> = answer.iter().zip(mask).map(|(a, b)| a ^ b).collect();
                // No early exit: how much of it matches is nobody's business.
                sha1(&[&first])
                    .iter()
                    .zip(stored)
                    .fold(0, |difference, (a, b)| difference | (a ^ b))
                    == 0
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
    fn the_stored_form_is_mariadbs() {
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
    fn only_the_right_password_is_let_in() {
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
