//! Sealing of connection passwords in the log.
//!
//! The password for a primary is part of the definition by `CHANGE MASTER`. The whole definition is in the log, so that
//! one write changes it. But the log is read by accounts with `REPLICATION SLAVE`, copied by `mariadb-binlog --raw`,
//! and included in backups. Therefore the log contains the password sealed, under a key that is not in the log:
//!
//! ```text
//!   DATADIR/paceline.key     32 random bytes in hexadecimal, mode 0600; created when the first password is sealed,
//!                            synced before the log contains the password, never changed
//!   the log                  "sealed_password": hexadecimal of nonce (12) | ChaCha20-Poly1305 of: length (2), password,
//!                            zeros to a multiple of 64
//! ```
//! The key is independent of the log's contents, so it is not a second source of truth. Operations that copy the log
//! leave the key behind:
//!
//! | | the connection |
//! |---|---|
//! | backup, `paceline binlog --raw`, archive | the copy of the log has only the sealed password |
//! | restore, rewind | connections are removed: CHANGE MASTER defines the primary again, with the password |
//! | join | gets the password, and creates the key of the new directory |
//! | copying or moving the whole directory | continues to work: the directory contains the key |
//! | the log without the key, or with another key | exists, but START SLAVE fails (1200) until `CHANGE MASTER TO MASTER_PASSWORD=…` |
//!
//! Earlier versions wrote passwords in plain text. Such a log is readable; its passwords are sealed at the first start,
//! and the server warns about the files that still contain them.

use parking_lot::Mutex;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::rand::{SecureRandom, SystemRandom};
use std::fmt;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Name of the key file in the data directory.
pub const KEY_FILE: &str = "paceline.key";

/// Length of the key in bytes.
const KEY_LENGTH: usize = 32;
/// Passwords are padded to a multiple of this number of bytes before they are sealed, which hides their lengths.
const PADDED_TO: usize = 64;
/// Additional authenticated data: data sealed for another purpose is not accepted as a password.
const PURPOSE: &[u8] = b"paceline: password of a connection";

/// A connection's password.
#[derive(Clone, PartialEq, Eq)]
pub enum Password {
    /// In plain text, because the protocol needs it.
    Known(String),
    /// Sealed under a key that is not available; kept in the form of the log.
    Sealed(String),
}

impl Default for Password {
    fn default() -> Self {
        Password::Known(String::new())
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Password::Known(_) => "Password::Known(…)",
            Password::Sealed(_) => "Password::Sealed(…)",
        })
    }
}

impl From<String> for Password {
    fn from(password: String) -> Self {
        Password::Known(password)
    }
}

/// Key of a data directory. Its file is created when it is first needed.
pub struct PasswordKey {
    path: PathBuf,
    key: Mutex<Option<LessSafeKey>>,
}

impl PasswordKey {
    /// Returns the key of this data directory.
    pub fn in_directory(directory: &Path) -> Self {
        PasswordKey {
            path: directory.join(KEY_FILE),
            key: Mutex::new(None),
        }
    }

    /// Seals a password for the log. A password that could not be opened keeps its sealed form.
    ///
    /// # Errors
    /// If the key can neither be read nor created.
    pub fn seal(&self, password: &Password) -> io::Result<String> {
        let password = match password {
            Password::Sealed(sealed) => return Ok(sealed.clone()),
            Password::Known(password) if password.is_empty() => return Ok(String::new()),
            Password::Known(password) => password.as_bytes(),
        };
        let length = u16::try_from(password.len())
            .map_err(|_| io::Error::new(ErrorKind::InvalidInput, "the password is too long"))?;
        let mut sealed = Vec::with_capacity(2 + password.len() + PADDED_TO);
        sealed.extend_from_slice(&length.to_le_bytes());
        sealed.extend_from_slice(password);
        sealed.resize(sealed.len().next_multiple_of(PADDED_TO), 0);
        let nonce: [u8; NONCE_LEN] = random()?;
        let mut key = self.key.lock();
        if key.is_none() {
            *key = Some(self.read_key().or_else(|error| match error.kind() {
                ErrorKind::NotFound => self.make_key(),
                _ => Err(error),
            })?);
        }
        let key = key.as_ref().expect("it was just read or made");
        key.seal_in_place_append_tag(
            Nonce::assume_unique_for_key(nonce),
            Aad::from(PURPOSE),
            &mut sealed,
        )
        .map_err(|_| io::Error::other("the password cannot be sealed"))?;
        Ok(to_hex(&nonce) + &to_hex(&sealed))
    }

    /// Opens a sealed password from the log. A password that cannot be opened stays sealed.
    pub fn open(&self, sealed: &str) -> Password {
        if sealed.is_empty() {
            return Password::default();
        }
        match self.opened(sealed) {
            Some(password) => Password::Known(password),
            None => Password::Sealed(sealed.to_owned()),
        }
    }

    fn opened(&self, sealed: &str) -> Option<String> {
        let bytes = from_hex(sealed)?;
        let (nonce, sealed) = bytes.split_first_chunk::<NONCE_LEN>()?;
        let mut key = self.key.lock();
        if key.is_none() {
            match self.read_key() {
                Ok(read) => *key = Some(read),
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => tracing::error!("cannot read {}: {error}", self.path.display()),
            }
        }
        let mut sealed = sealed.to_vec();
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let padded = key
            .as_ref()?
            .open_in_place(nonce, Aad::from(PURPOSE), &mut sealed)
            .ok()?;
        let (length, padded) = padded.split_first_chunk::<2>()?;
        let password = padded.get(..usize::from(u16::from_le_bytes(*length)))?;
        String::from_utf8(password.to_vec()).ok()
    }

    fn read_key(&self) -> io::Result<LessSafeKey> {
        let mut file = File::open(&self.path)?;
        let mode = file.metadata()?.permissions().mode();
        if mode & 0o077 != 0 {
            tracing::warn!(
                "{} could be read by others (mode {:o}); it is mode 600 now",
                self.path.display(),
                mode & 0o777
            );
            file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
        }
        let mut text = String::new();
        // Read a little more than necessary, so that a longer file is rejected.
        (&mut file)
            .take(4 * KEY_LENGTH as u64)
            .read_to_string(&mut text)?;
        from_hex(text.trim_end())
            .and_then(|key| new_key(&key))
            .ok_or_else(|| {
                io::Error::new(
                    ErrorKind::InvalidData,
                    "it is not 64 hexadecimal digits, as a key is",
                )
            })
    }

    fn make_key(&self) -> io::Result<LessSafeKey> {
        let key: [u8; KEY_LENGTH] = random()?;
        // The file gets its final name when it is complete.
        let unfinished = self.path.with_extension("key.new");
        let mut file = File::options()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&unfinished)?;
        file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
        file.write_all((to_hex(&key) + "\n").as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&unfinished, &self.path)?;
        let directory = self.path.parent().filter(|path| !path.as_os_str().is_empty());
        File::open(directory.unwrap_or(Path::new(".")))?.sync_all()?;
        Ok(new_key(&key).expect("it is as long as a key"))
    }
}

fn new_key(bytes: &[u8]) -> Option<LessSafeKey> {
    UnboundKey::new(&CHACHA20_POLY1305, bytes)
        .ok()
        .map(LessSafeKey::new)
}

fn random<const LENGTH: usize>() -> io::Result<[u8; LENGTH]> {
    let mut bytes = [0; LENGTH];
    match SystemRandom::new().fill(&mut bytes) {
        Ok(()) => Ok(bytes),
        Err(_) => Err(io::Error::other("the system gives no random numbers")),
    }
}

fn to_hex(bytes: &[u8]) -> String {
    use fmt::Write;
    bytes
        .iter()
        .fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> = text
        .chars()
        .map(|digit| digit.to_digit(16).map(|digit| digit as u8))
        .collect();
    let pairs = digits?;
    match pairs.len() % 2 {
        0 => Some(pairs.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sealed_password_is_opened_by_its_own_key_only() {
        let (here, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let known = |text: &str| Password::Known(text.to_owned());
        let key = PasswordKey::in_directory(here.path());
        for text in ["geheim", "päss'wörd\0", &"x".repeat(200)] {
            let sealed = key.seal(&known(text)).unwrap();
            assert!(!sealed.contains(&to_hex(text.as_bytes())));
            assert_ne!(key.seal(&known(text)).unwrap(), sealed);
            // After a restart.
            assert_eq!(PasswordKey::in_directory(here.path()).open(&sealed), known(text));
            let other = PasswordKey::in_directory(elsewhere.path());
            assert_eq!(other.open(&sealed), Password::Sealed(sealed.clone()));
            other.seal(&known("other")).unwrap();
            assert_eq!(other.open(&sealed), Password::Sealed(sealed.clone()));
            assert_eq!(other.seal(&Password::Sealed(sealed.clone())).unwrap(), sealed);
            // A change at any place makes it invalid.
            for at in [0, sealed.len() / 2, sealed.len() - 1] {
                let mut changed = sealed.clone().into_bytes();
                changed[at] = if changed[at] == b'0' { b'1' } else { b'0' };
                let changed = String::from_utf8(changed).unwrap();
                assert_eq!(key.open(&changed), Password::Sealed(changed.clone()));
            }
        }
        assert_eq!(
            key.seal(&known("a")).unwrap().len(),
            key.seal(&known("abcdefgh")).unwrap().len()
        );
        assert_eq!(key.open(&key.seal(&known("")).unwrap()), known(""));
        assert_eq!(format!("{:?}", known("geheim")), "Password::Known(…)");
    }

    #[test]
    fn the_key_file_is_private() {
        let directory = tempfile::tempdir().unwrap();
        let password = Password::Known("geheim".to_owned());
        let sealed = PasswordKey::in_directory(directory.path())
            .seal(&password)
            .unwrap();
        let path = directory.path().join(KEY_FILE);
        let mode = || std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(), 0o600);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert_eq!(
            PasswordKey::in_directory(directory.path()).open(&sealed),
            password
        );
        assert_eq!(mode(), 0o600);
        // An invalid key file is not replaced: its content may still be needed.
        std::fs::write(&path, "x").unwrap();
        assert!(
            PasswordKey::in_directory(directory.path())
                .seal(&password)
                .is_err()
        );
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "x");
    }
}
