//! SHA-crypt, a slow hash of passwords (<https://www.akkadia.org/drepper/SHA-crypt.txt>): ENCRYPT() has it as crypt(3)
//! does, and `caching_sha2_password` stores it.
//!
//! The crate `sha-crypt` cannot serve: it cuts a salt at 16 bytes, and MySQL's salts have 20. It also cannot be
//! interrupted, and a salt of ENCRYPT() can ask for 999,999,999 rounds.
#![forbid(unsafe_code)]

use sha2::Digest;
use sha2::digest::Output;

/// Rounds of a hash that names no number of rounds.
pub const ROUNDS: u32 = 5_000;
/// Digits of a hash and of a salt.
pub const DIGITS: &[u8; 64] = b"./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// Places of the bytes of SHA-256 in the text of a hash: see [`digest_digits`].
pub const SHA256_ORDER: [u8; 32] = [
    0, 10, 20, 21, 1, 11, 12, 22, 2, 3, 13, 23, 24, 4, 14, 15, 25, 5, 6, 16, 26, 27, 7, 17, 18, 28, 8, 9, 19,
    29, 31, 30,
];

/// Rounds between two calls of `check`.
const CHECK_INTERVAL: u32 = 1 << 12;

/// Returns the digest of a password and a salt of any length. Calls `check` now and then. The time depends on the
/// rounds and on the square of the password's length, which the caller limits.
///
/// # Errors
/// The error of `check`.
pub fn sha_crypt<D: Digest, E>(
    password: &[u8],
    salt: &[u8],
    rounds: u32,
    check: &mut dyn FnMut() -> Result<(), E>,
) -> Result<Output<D>, E> {
    let alternate = D::new()
        .chain_update(password)
        .chain_update(salt)
        .chain_update(password)
        .finalize();
    let mut first = D::new()
        .chain_update(password)
        .chain_update(salt)
        .chain_update(repeated(&alternate, password.len()));
    let mut length = password.len();
    while length > 0 {
        match length & 1 {
            1 => first.update(&alternate),
            _ => first.update(password),
        }
        length >>= 1;
    }
    let mut digest = first.finalize();
    let mut of_password = D::new();
    for _ in 0..password.len() {
        of_password.update(password);
    }
    let password_bytes = repeated(&of_password.finalize(), password.len());
    let mut of_salt = D::new();
    for _ in 0..16 + usize::from(digest[0]) {
        of_salt.update(salt);
    }
    let salt_bytes = repeated(&of_salt.finalize(), salt.len());
    for round in 0..rounds {
        if round % CHECK_INTERVAL == 0 {
            check()?;
        }
        digest = digest_of_round::<D>(round, &digest, &password_bytes, &salt_bytes);
    }
    Ok(digest)
}

/// Returns the digest of one round: of the digest before it, and of password and salt in an order that changes.
pub fn digest_of_round<D: Digest>(round: u32, digest: &[u8], password: &[u8], salt: &[u8]) -> Output<D> {
    let is_odd = round % 2 == 1;
    let mut next = D::new();
    next.update(if is_odd { password } else { digest });
    if !round.is_multiple_of(3) {
        next.update(salt);
    }
    if !round.is_multiple_of(7) {
        next.update(password);
    }
    next.update(if is_odd { digest } else { password });
    next.finalize()
}

/// Returns the bytes again and again, up to a length.
pub fn repeated(bytes: &[u8], length: usize) -> Vec<u8> {
    bytes.iter().copied().cycle().take(length).collect()
}

/// Writes bytes of a digest, three at a time, as digits with the lowest bits first. `order` has the places in the
/// digest from the highest byte of each three to the lowest; fewer than three at the end.
pub fn digest_digits(digest: &[u8], order: &[u8]) -> String {
    let mut out = String::new();
    for places in order.chunks(3) {
        let mut bits = places.iter().fold(0, |bits, place| {
            bits << 8 | u32::from(digest[usize::from(*place)])
        });
        for _ in 0..=places.len() {
            out.push(char::from(DIGITS[(bits & 63) as usize]));
            bits >>= 6;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use sha2::Sha256;
    use std::convert::Infallible;

    #[test]
    fn the_example_of_the_specification() {
        let digest = sha_crypt::<Sha256, Infallible>(b"Hello world!", b"saltstring", ROUNDS, &mut || Ok(()));
        let Ok(digest) = digest;
        assert_eq!(
            digest_digits(&digest, &SHA256_ORDER),
            "5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc5"
        );
    }
}
