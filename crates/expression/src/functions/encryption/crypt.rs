//! crypt(3), the C library's hash of passwords, which ENCRYPT() calls. The method is a prefix of the salt:
//!
//! | salt | method |
//! |---|---|
//! | `ab` | DES, eight characters; a salt of more than 13 characters asks for bigcrypt, which has no limit |
//! | `_ccccssss` | DES with a count and a longer salt |
//! | `$1$salt$` | MD5, 1,000 rounds |
//! | `$5$salt$`, `$5$rounds=n$salt$` | SHA-256 |
//! | `$6$salt$`, `$6$rounds=n$salt$` | SHA-512 |
//!
//! The result starts with the salt, so that it is a salt itself. Other methods of Debian's C library (bcrypt, yescrypt,
//! NT, …) do not exist here.

use md5::Md5;
use paceline_sha_crypt::{DIGITS, ROUNDS, SHA256_ORDER, digest_digits, digest_of_round, repeated, sha_crypt};
use sha2::{Digest, Sha256, Sha512};

use super::des::{Des, Salt};

/// Passwords of this length in bytes are refused.
const PASSWORD_LENGTH_LIMIT: usize = 512;

/// Characters of a password for one hash by DES.
const DES_CHARACTERS: usize = 8;

/// Iterations of DES between two calls of `check`.
const DES_CHECK_INTERVAL: u32 = 1 << 16;

/// Reason for the absence of a hash.
#[derive(Debug)]
pub(super) enum CryptError<E> {
    /// The salt or the password is invalid; the C library returns `*0` instead of a hash.
    Invalid,
    /// The method does not exist here.
    Unsupported,
    /// `check` failed.
    Interrupted(E),
}

impl<E> From<E> for CryptError<E> {
    fn from(error: E) -> Self {
        CryptError::Interrupted(error)
    }
}

type Hashed<E> = Result<String, CryptError<E>>;

/// Hashes a password. Calls `check` now and then, as a salt can ask for minutes of work.
///
/// # Errors
/// [`CryptError`].
pub(super) fn crypt<E>(password: &[u8], salt: &[u8], check: &mut dyn FnMut() -> Result<(), E>) -> Hashed<E> {
    let is_unsafe = |byte: &u8| !byte.is_ascii_graphic() || b"!*:;\\".contains(byte);
    if password.len() >= PASSWORD_LENGTH_LIMIT || salt.iter().any(is_unsafe) {
        return Err(CryptError::Invalid);
    }
    match salt {
        [b'$', b'1', b'$', rest @ ..] => Ok(md5_crypt(password, rest, check)?),
        [b'$', b'5', b'$', rest @ ..] => sha_hash::<Sha256, E>(password, rest, &SHA256_CRYPT, check),
        [b'$', b'6', b'$', rest @ ..] => sha_hash::<Sha512, E>(password, rest, &SHA512_CRYPT, check),
        [b'$', ..] => {
            let others: &[&[u8]] = &[b"$2", b"$3$", b"$7$", b"$y$", b"$gy$", b"$md5", b"$sha1"];
            Err(match others.iter().any(|prefix| salt.starts_with(prefix)) {
                true => CryptError::Unsupported,
                false => CryptError::Invalid,
            })
        }
        [b'_', rest @ ..] => extended_des_crypt(password, salt, rest, check),
        [first, second, ..] => {
            let digits = [*first, *second];
            number(&digits).ok_or(CryptError::Invalid)?;
            if salt.len() > 2 + 11 && password.len() > DES_CHARACTERS {
                return Ok(big_crypt(password, digits));
            }
            Ok(text_of(&digits) + &des_crypt(password, digits))
        }
        _ => Err(CryptError::Invalid),
    }
}

/// Returns a salt of two digits made from the clock, as MariaDB makes it.
pub(super) fn salt_of_time(seconds: u64) -> [u8; 2] {
    [
        DIGITS[(seconds & 63) as usize],
        DIGITS[(seconds >> 5 & 63) as usize],
    ]
}

/// Returns the number with these digits, the lowest first.
fn number(digits: &[u8]) -> Option<u32> {
    digits.iter().rev().try_fold(0, |number, digit| {
        let value = DIGITS.iter().position(|known| known == digit)?;
        Some(number << 6 | value as u32)
    })
}

fn text_of(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
}

/// Returns the first eight characters as a key: seven bits each.
fn key_of(password: &[u8]) -> u64 {
    (0..DES_CHARACTERS).fold(0, |key, index| {
        let byte = password.get(index).copied().unwrap_or(0);
        key << 8 | u64::from(byte << 1)
    })
}

/// Writes a block as 11 digits, the highest bits first.
fn des_digits(block: u64) -> String {
    let bits = u128::from(block) << 2;
    (0..11)
        .rev()
        .map(|place| char::from(DIGITS[(bits >> (6 * place) & 63) as usize]))
        .collect()
}

fn des_crypt(password: &[u8], digits: [u8; 2]) -> String {
    let salt = Salt::new(number(&digits).expect("two digits"));
    des_digits(Des::new(key_of(password)).encrypt_often(0, salt, 25))
}

/// Hashes each eight characters; the salt of a part is the start of the hash before it. There are at most 16 parts.
fn big_crypt(password: &[u8], mut digits: [u8; 2]) -> String {
    let mut out = text_of(&digits);
    for part in password.chunks(DES_CHARACTERS).take(16) {
        let hash = des_crypt(part, digits);
        digits.copy_from_slice(&hash.as_bytes()[..2]);
        out += &hash;
    }
    out
}

/// Hashes by DES with a count of iterations and a salt of 24 bits, four digits each.
fn extended_des_crypt<E>(
    password: &[u8],
    setting: &[u8],
    digits: &[u8],
    check: &mut dyn FnMut() -> Result<(), E>,
) -> Hashed<E> {
    let (Some(count), Some(salt)) = (
        digits.get(..4).and_then(number),
        digits.get(4..8).and_then(number),
    ) else {
        return Err(CryptError::Invalid);
    };
    let mut key = key_of(password);
    for part in password.chunks(DES_CHARACTERS).skip(1) {
        key = Des::new(key).encrypt(key) ^ key_of(part);
    }
    let des = Des::new(key);
    let mut block = 0;
    let mut left = count.max(1);
    while left > 0 {
        let count = left.min(DES_CHECK_INTERVAL);
        block = des.encrypt_often(block, Salt::new(salt), count);
        left -= count;
        check()?;
    }
    Ok(text_of(&setting[..9]) + &des_digits(block))
}

/// Returns the salt before `$`, at most `length_max` bytes.
fn salt_before_dollar(setting: &[u8], length_max: usize) -> &[u8] {
    let salt = setting.split(|byte| *byte == b'$').next().unwrap_or_default();
    &salt[..salt.len().min(length_max)]
}

fn md5_crypt<E>(
    password: &[u8],
    setting: &[u8],
    check: &mut dyn FnMut() -> Result<(), E>,
) -> Result<String, E> {
    const ORDER: [u8; 16] = [0, 6, 12, 1, 7, 13, 2, 8, 14, 3, 9, 15, 4, 10, 5, 11];
    let salt = salt_before_dollar(setting, 8);
    let alternate = Md5::new()
        .chain_update(password)
        .chain_update(salt)
        .chain_update(password)
        .finalize();
    let mut first = Md5::new()
        .chain_update(password)
        .chain_update(b"$1$")
        .chain_update(salt);
    first.update(repeated(&alternate, password.len()));
    let mut length = password.len();
    while length > 0 {
        first.update(match length & 1 {
            1 => &[0],
            _ => &password[..1],
        });
        length >>= 1;
    }
    let mut digest = first.finalize();
    for round in 0..1000 {
        digest = digest_of_round::<Md5>(round, &digest, password, salt);
    }
    check()?;
    Ok(format!("$1${}${}", text_of(salt), digest_digits(&digest, &ORDER)))
}

/// Differences between the methods `$5$` and `$6$`.
struct ShaCrypt {
    prefix: &'static str,
    /// Places of the digest's bytes in the result: see [`digest_digits`].
    order: &'static [u8],
}

static SHA256_CRYPT: ShaCrypt = ShaCrypt {
    prefix: "$5$",
    order: &SHA256_ORDER,
};

static SHA512_CRYPT: ShaCrypt = ShaCrypt {
    prefix: "$6$",
    order: &[
        0, 21, 42, 22, 43, 1, 44, 2, 23, 3, 24, 45, 25, 46, 4, 47, 5, 26, 6, 27, 48, 28, 49, 7, 50, 8, 29, 9,
        30, 51, 31, 52, 10, 53, 11, 32, 12, 33, 54, 34, 55, 13, 56, 14, 35, 15, 36, 57, 37, 58, 16, 59, 17,
        38, 18, 39, 60, 40, 61, 19, 62, 20, 41, 63,
    ],
};

/// Hashes by [SHA-crypt](paceline_sha_crypt).
fn sha_hash<D: Digest, E>(
    password: &[u8],
    setting: &[u8],
    method: &ShaCrypt,
    check: &mut dyn FnMut() -> Result<(), E>,
) -> Hashed<E> {
    let (rounds, shown_rounds, setting) = match setting.strip_prefix(b"rounds=") {
        Some(rest) => {
            let (rounds, rest) = rounds_of(rest).ok_or(CryptError::Invalid)?;
            (rounds, format!("rounds={rounds}$"), rest)
        }
        None => (ROUNDS, String::new(), setting),
    };
    let salt = salt_before_dollar(setting, 16);
    let digest = sha_crypt::<D, E>(password, salt, rounds, check)?;
    Ok(format!(
        "{}{shown_rounds}{}${}",
        method.prefix,
        text_of(salt),
        digest_digits(&digest, method.order)
    ))
}

/// Reads the number of rounds and the `$` after it.
fn rounds_of(setting: &[u8]) -> Option<(u32, &[u8])> {
    let end = setting.iter().position(|byte| *byte == b'$')?;
    let digits = str::from_utf8(&setting[..end]).ok()?;
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) || digits.starts_with('0') {
        return None;
    }
    let rounds = digits.parse().ok()?;
    (1000..=999_999_999)
        .contains(&rounds)
        .then_some((rounds, &setting[end + 1..]))
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    fn hash(salt: &[u8]) -> Hashed<Infallible> {
        crypt(b"abc", salt, &mut || Ok(()))
    }

    #[test]
    fn methods_that_do_not_exist_here_are_refused() {
        for salt in ["$2b$05$abcdefghijklmnopqrstuv", "$3$", "$y$j9T$abc$"] {
            assert!(matches!(hash(salt.as_bytes()), Err(CryptError::Unsupported)));
        }
        assert!(matches!(hash(b"$9$"), Err(CryptError::Invalid)));
    }

    #[test]
    fn a_hash_of_many_rounds_can_be_interrupted() {
        let salt = b"$6$rounds=999999999$abc$";
        let mut checks = 0;
        let mut check = || {
            checks += 1;
            if checks < 3 { Ok(()) } else { Err("killed") }
        };
        assert!(matches!(
            crypt(b"abc", salt, &mut check),
            Err(CryptError::Interrupted("killed"))
        ));
    }
}
