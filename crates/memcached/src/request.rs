//! Requests, independent of the way in which they were written.

use crate::KEY_BYTES_MAX;
use crate::reply_form::{MetaFlags, ReplyForm};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::fmt;

/// A key: 1 to [`KEY_BYTES_MAX`] bytes.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Key(Vec<u8>);

/// Reason why bytes are no key.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum KeyError {
    /// It has no byte, or too many.
    #[error("a key has 1 to {KEY_BYTES_MAX} bytes")]
    Length,
    /// A zero byte.
    #[error("a key has no zero byte")]
    Character,
    /// It should be base64.
    #[error("the key is not base64")]
    Base64,
}

impl Key {
    /// Creates a key from a word of a request's line. As in memcached, and against its own text, it may have control
    /// characters: some clients send them.
    ///
    /// # Errors
    /// Its length; a zero byte.
    pub fn of_word(word: &[u8]) -> Result<Key, KeyError> {
        if word.contains(&0) {
            return Err(KeyError::Character);
        }
        Key::of_bytes(word.to_vec())
    }

    /// Creates a key from its base64, as the flag `b` of meta commands writes it. It may have any bytes.
    ///
    /// # Errors
    /// The base64 is wrong; the length.
    pub fn of_base64(word: &[u8]) -> Result<Key, KeyError> {
        Key::of_bytes(STANDARD.decode(word).map_err(|_| KeyError::Base64)?)
    }

    fn of_bytes(bytes: Vec<u8>) -> Result<Key, KeyError> {
        match (1..=KEY_BYTES_MAX).contains(&bytes.len()) {
            true => Ok(Key(bytes)),
            false => Err(KeyError::Length),
        }
    }

    /// Returns the key's bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({})", self.0.escape_ascii())
    }
}

/// Condition under which a value is stored, and its use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StoreMode {
    /// Always.
    Set,
    /// If the key has no item.
    Add,
    /// If the key has an item.
    Replace,
    /// The value is added after that of the item.
    Append,
    /// The value is added before that of the item.
    Prepend,
}

/// A value to store.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Store {
    /// The key.
    pub key: Key,
    /// Condition and use.
    pub mode: StoreMode,
    /// The client's flags. [`StoreMode::Append`] and [`StoreMode::Prepend`] leave those of the item.
    pub flags: u32,
    /// Time to live, as the client wrote it: 0 is for ever, at most 30 days are seconds from now, more is a UNIX time.
    /// Negative: expired at once. Appending leaves that of the item.
    pub time_to_live: i64,
    /// The value.
    pub value: Vec<u8>,
    /// The item's CAS must be this.
    pub compare: Option<u64>,
    /// CAS of the new item; otherwise the server chooses one.
    pub new_cas: Option<u64>,
    /// Time to live of an item that is made when there is none to append to.
    pub create: Option<i64>,
}

/// A change of a number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Arithmetic {
    /// The key.
    pub key: Key,
    /// Amount.
    pub delta: u64,
    /// Whether the amount is subtracted; the result is at least 0. An addition wraps around.
    pub is_decrement: bool,
    /// Number and time to live of an item that is made when there is none.
    pub create: Option<(u64, i64)>,
    /// New time to live.
    pub time_to_live: Option<i64>,
    /// The item's CAS must be this.
    pub compare: Option<u64>,
    /// CAS of the new item; otherwise the server chooses one.
    pub new_cas: Option<u64>,
}

/// A request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Request {
    /// `get`, `gets`, `gat`, `gats`.
    Get {
        /// The keys, in order.
        keys: Vec<Key>,
        /// Whether the reply has the items' CAS.
        with_cas: bool,
        /// New time to live of the items.
        touch: Option<i64>,
    },
    /// `mg`.
    MetaGet {
        /// The key.
        key: Key,
        /// Form of the reply.
        flags: MetaFlags,
        /// New time to live of the item.
        touch: Option<i64>,
        /// The value is not returned if the item's CAS is this.
        unless: Option<u64>,
    },
    /// `set`, `add`, `replace`, `append`, `prepend`, `cas`, `ms`.
    Store(Store, ReplyForm),
    /// `delete`, `md`.
    Delete {
        /// The key.
        key: Key,
        /// The item's CAS must be this.
        compare: Option<u64>,
        /// Form of the reply.
        form: ReplyForm,
    },
    /// `incr`, `decr`, `ma`.
    Arithmetic(Arithmetic, ReplyForm),
    /// `touch`.
    Touch {
        /// The key.
        key: Key,
        /// New time to live.
        time_to_live: i64,
        /// Form of the reply.
        form: ReplyForm,
    },
    /// `me`.
    MetaDebug {
        /// The key.
        key: Key,
        /// The key, as the client wrote it.
        written: Vec<u8>,
    },
    /// `mn`.
    MetaNoop,
    /// `stats`, with its arguments.
    Stats(Vec<u8>),
    /// `version`.
    Version,
    /// `verbosity`.
    Verbosity(ReplyForm),
    /// `flush_all`.
    FlushAll {
        /// Seconds until then.
        delay: i64,
        /// Form of the reply.
        form: ReplyForm,
    },
    /// `quit`.
    Quit,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_limits() {
        assert_eq!(Key::of_word(b""), Err(KeyError::Length));
        assert_eq!(Key::of_word(&[b'a'; 251]), Err(KeyError::Length));
        assert_eq!(Key::of_word(&[b'a'; 250]).unwrap().as_bytes().len(), 250);
        assert_eq!(Key::of_word(b"a\0b"), Err(KeyError::Character));
        assert_eq!(Key::of_word(b"a\x01\x7f").unwrap().as_bytes(), b"a\x01\x7f");
        assert_eq!(Key::of_word("é".as_bytes()).unwrap().as_bytes(), "é".as_bytes());
        assert_eq!(Key::of_base64(b"AAE=").unwrap().as_bytes(), [0, 1]);
        assert_eq!(Key::of_base64(b"A"), Err(KeyError::Base64));
    }
}
