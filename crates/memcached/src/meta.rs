//! Flags of meta commands.
//!
//! Refused as invalid, because they need a state of items that rows do not have: `h` and `l` (last access), `I`, `R`,
//! `x` (stale items) and `N` of `mg` (an item that a client promises to fill).

use crate::error::ProtocolError;
use crate::reply_form::{EchoedFlag, MetaFlags};
use crate::request::StoreMode;

/// Maximum length of an opaque value in bytes.
const OPAQUE_BYTES_MAX: usize = 32;

/// Mode of `ms` or `ma`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MetaMode {
    /// Of `ms`.
    Store(StoreMode),
    /// Of `ma`.
    Increment,
    /// Of `ma`.
    Decrement,
}

/// Meta command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MetaCommand {
    Get,
    Set,
    Delete,
    Arithmetic,
}

impl MetaCommand {
    /// Returns the flags that the command has.
    fn flags(self) -> &'static [u8] {
        match self {
            MetaCommand::Get => b"bcCfkOqstuvTPL",
            MetaCommand::Set => b"bcCEFkOqsTMNPL",
            MetaCommand::Delete => b"bCkOqPL",
            MetaCommand::Arithmetic => b"bcCEkOqstvTMNJDPL",
        }
    }
}

/// Parsed flags of a meta command.
#[derive(Debug, Default)]
pub(crate) struct ParsedFlags {
    pub(crate) reply: MetaFlags,
    pub(crate) time_to_live: Option<i64>,
    pub(crate) compare: Option<u64>,
    pub(crate) new_cas: Option<u64>,
    pub(crate) client_flags: u32,
    pub(crate) mode: Option<MetaMode>,
    pub(crate) create: Option<i64>,
    pub(crate) initial: u64,
    pub(crate) delta: Option<u64>,
}

/// Parses the words after the key.
pub(crate) fn parse_flags<'a>(
    command: MetaCommand,
    key: &[u8],
    words: impl Iterator<Item = &'a [u8]>,
) -> Result<ParsedFlags, ProtocolError> {
    let mut flags = ParsedFlags::default();
    flags.reply.key = key.to_vec();
    let mut seen = [false; 128];
    for word in words {
        let (flag, token) = (word[0], &word[1..]);
        if !command.flags().contains(&flag) {
            return Err(ProtocolError::Client("invalid flag"));
        }
        if std::mem::replace(&mut seen[usize::from(flag)], true) {
            return Err(ProtocolError::Client("duplicate flag"));
        }
        let bad_token = || ProtocolError::Client("bad token in command line format");
        let unsigned = || parse_unsigned(token).ok_or_else(bad_token);
        let signed = || parse_signed(token).ok_or_else(bad_token);
        let echoed = match flag {
            b'k' => Some(EchoedFlag::Key),
            b'O' if token.len() > OPAQUE_BYTES_MAX => {
                return Err(ProtocolError::Client("opaque token too long"));
            }
            b'O' => Some(EchoedFlag::Opaque(token.to_vec())),
            b'c' => Some(EchoedFlag::Cas),
            b'f' => Some(EchoedFlag::ClientFlags),
            b's' => Some(EchoedFlag::Size),
            b't' => Some(EchoedFlag::TimeToLive),
            _ => None,
        };
        flags.reply.echoed.extend(echoed);
        match flag {
            b'b' => flags.reply.is_base64 = true,
            b'q' => flags.reply.is_quiet = true,
            b'v' => flags.reply.wants_value = true,
            b'T' => flags.time_to_live = Some(signed()?),
            b'C' => flags.compare = Some(unsigned()?),
            b'E' => flags.new_cas = Some(unsigned()?),
            b'F' => {
                flags.client_flags = {
                    let number = parse_unsigned(token).and_then(|number| u32::try_from(number).ok());
                    number.ok_or(ProtocolError::Client("bad command line format"))?
                }
            }
            b'N' => flags.create = Some(signed()?),
            b'J' => flags.initial = unsigned()?,
            b'D' => flags.delta = Some(unsigned()?),
            b'M' => flags.mode = Some(parse_mode(command, token)?),
            // Of no effect here, as in memcached: there is no order of uses, and P and L are for proxies.
            b'u' | b'P' | b'L' => {}
            _ => {}
        }
    }
    Ok(flags)
}

fn parse_mode(command: MetaCommand, token: &[u8]) -> Result<MetaMode, ProtocolError> {
    let mode = match (command, token.to_ascii_uppercase().as_slice()) {
        (MetaCommand::Set, b"S") => MetaMode::Store(StoreMode::Set),
        (MetaCommand::Set, b"E") => MetaMode::Store(StoreMode::Add),
        (MetaCommand::Set, b"R") => MetaMode::Store(StoreMode::Replace),
        (MetaCommand::Set, b"A") => MetaMode::Store(StoreMode::Append),
        (MetaCommand::Set, b"P") => MetaMode::Store(StoreMode::Prepend),
        (MetaCommand::Arithmetic, b"I" | b"+") => MetaMode::Increment,
        (MetaCommand::Arithmetic, b"D" | b"-") => MetaMode::Decrement,
        (MetaCommand::Arithmetic, _) => return Err(ProtocolError::Client("invalid mode for ma M token")),
        _ => return Err(ProtocolError::Client("invalid mode for ms M token")),
    };
    Ok(mode)
}

/// Parses an unsigned decimal number.
pub(crate) fn parse_unsigned(word: &[u8]) -> Option<u64> {
    let is_number = !word.is_empty() && word.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(word).ok().filter(|_| is_number)?.parse().ok()
}

/// Parses a decimal number.
pub(crate) fn parse_signed(word: &[u8]) -> Option<i64> {
    let digits = word.strip_prefix(b"-").unwrap_or(word);
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(word).ok().filter(|_| is_number)?.parse().ok()
}
