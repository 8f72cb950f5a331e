//! From bytes to requests.

use crate::LINE_BYTES_MAX;
use crate::error::{BAD_LINE, ProtocolError};
use crate::meta::{MetaCommand, MetaMode, ParsedFlags, parse_flags, parse_signed, parse_unsigned};
use crate::reply_form::ReplyForm;
use crate::request::{Arithmetic, Key, Request, Store, StoreMode};

/// Memory that is kept for the next requests, in bytes. A large value needs more for a while.
const KEPT_BYTES_MAX: usize = 128 << 10;

/// Where the reader is.
#[derive(Debug)]
enum Place {
    /// At the beginning of a line.
    Line,
    /// In a value of this length, without its end.
    Value(Box<(Store, ReplyForm)>, usize),
    /// In bytes that are not kept, after an error.
    Skip(u64),
}

/// Splits a stream of bytes into requests.
#[derive(Debug)]
pub struct RequestReader {
    value_bytes_max: usize,
    bytes: Vec<u8>,
    /// Number of bytes that are read.
    start: usize,
    place: Place,
}

impl RequestReader {
    /// Creates a reader that accepts values of at most so many bytes.
    pub fn new(value_bytes_max: usize) -> RequestReader {
        RequestReader {
            value_bytes_max,
            bytes: Vec::new(),
            start: 0,
            place: Place::Line,
        }
    }

    /// Accepts values of at most so many bytes from the next request on.
    pub fn set_value_bytes_max(&mut self, bytes: usize) {
        self.value_bytes_max = bytes;
    }

    /// Returns the buffer, to which received bytes are appended. At most a value and a line need to be in it.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        self.bytes.drain(..self.start);
        self.start = 0;
        if self.bytes.len() < KEPT_BYTES_MAX {
            self.bytes.shrink_to(KEPT_BYTES_MAX);
        }
        &mut self.bytes
    }

    /// Returns the next request; `None` if more bytes are needed.
    ///
    /// # Errors
    /// The request is wrong; the next call goes on after it.
    pub fn next_request(&mut self) -> Result<Option<Request>, ProtocolError> {
        loop {
            match std::mem::replace(&mut self.place, Place::Line) {
                Place::Skip(left) => {
                    let here = left.min((self.bytes.len() - self.start) as u64);
                    self.start += here as usize;
                    if here < left {
                        self.place = Place::Skip(left - here);
                        return Ok(None);
                    }
                }
                Place::Value(store, length) => match self.take_value(length) {
                    None => {
                        self.place = Place::Value(store, length);
                        return Ok(None);
                    }
                    Some(value) => {
                        let (store, form) = *store;
                        match value {
                            Ok(value) => return Ok(Some(Request::Store(Store { value, ..store }, form))),
                            Err(_) if form == ReplyForm::Quiet => {}
                            Err(error) => return Err(error),
                        }
                    }
                },
                Place::Line => {
                    let Some(line) = self.take_line()? else {
                        return Ok(None);
                    };
                    let line = &self.bytes[line];
                    let error = match parse_line(line, self.value_bytes_max) {
                        Line::Request(request) => return Ok(Some(request)),
                        Line::Value(store, length) => {
                            self.place = Place::Value(store, length);
                            continue;
                        }
                        Line::Error(error) => error,
                        Line::SkipValue(length, error) => {
                            self.place = Place::Skip(length.saturating_add(2));
                            error
                        }
                    };
                    if error == ProtocolError::Unknown || !wants_no_reply(line) {
                        return Err(error);
                    }
                }
            }
        }
    }

    /// Takes a line, if it is complete. Returns its place without its end.
    fn take_line(&mut self) -> Result<Option<std::ops::Range<usize>>, ProtocolError> {
        let rest = &self.bytes[self.start..];
        let within = &rest[..rest.len().min(LINE_BYTES_MAX + 2)];
        let Some(length) = within.iter().position(|byte| *byte == b'\n') else {
            return match rest.len() > LINE_BYTES_MAX + 1 {
                true => Err(ProtocolError::LineTooLong),
                false => Ok(None),
            };
        };
        let line = &rest[..length];
        let shown = line.strip_suffix(b"\r").unwrap_or(line).len();
        let begin = self.start;
        self.start += length + 1;
        Ok(Some(begin..begin + shown))
    }

    /// Takes a value and its end, if they are complete.
    fn take_value(&mut self, length: usize) -> Option<Result<Vec<u8>, ProtocolError>> {
        let rest = &self.bytes[self.start..];
        let value = rest.get(..length + 2)?;
        self.start += length + 2;
        Some(match value.strip_suffix(b"\r\n") {
            Some(value) => Ok(value.to_vec()),
            None => Err(ProtocolError::Client("bad data chunk")),
        })
    }
}

/// A parsed line.
enum Line {
    Request(Request),
    /// A value of this length follows.
    Value(Box<(Store, ReplyForm)>, usize),
    Error(ProtocolError),
    /// A value of this length follows and is not wanted.
    SkipValue(u64, ProtocolError),
}

fn parse_line(line: &[u8], value_bytes_max: usize) -> Line {
    let mut words = line.split(|byte| *byte == b' ').filter(|word| !word.is_empty());
    let Some(command) = words.next() else {
        return Line::Error(ProtocolError::Unknown);
    };
    let words: Vec<&[u8]> = words.collect();
    let mode = match command {
        b"set" | b"cas" => Some(StoreMode::Set),
        b"add" => Some(StoreMode::Add),
        b"replace" => Some(StoreMode::Replace),
        b"append" => Some(StoreMode::Append),
        b"prepend" => Some(StoreMode::Prepend),
        _ => None,
    };
    let (length, stored) = match (mode, command) {
        (Some(mode), _) => (words.get(3), parse_store(mode, command == b"cas", &words)),
        (None, b"ms") => (words.get(1), parse_meta_set(&words)),
        (None, _) => {
            return match parse_without_value(command, &words) {
                Ok(request) => Line::Request(request),
                Err(error) => Line::Error(error),
            };
        }
    };
    // Even if the rest is wrong, the value is not to be taken for commands.
    let Some(length) = length.and_then(|word| parse_unsigned(word)) else {
        return Line::Error(stored.err().unwrap_or(BAD_LINE));
    };
    match stored {
        Err(error) => Line::SkipValue(length, error),
        Ok(_) if length > value_bytes_max as u64 => Line::SkipValue(length, ProtocolError::TooLarge),
        Ok(stored) => Line::Value(Box::new(stored), length as usize),
    }
}

/// Parses `set` and its like: key, flags, time to live, length.
fn parse_store(mode: StoreMode, is_cas: bool, words: &[&[u8]]) -> Result<(Store, ReplyForm), ProtocolError> {
    let least = if is_cas { 5 } else { 4 };
    if words.len() < least {
        return Err(ProtocolError::Unknown);
    }
    let compare = match is_cas {
        true => Some(parse_unsigned(words[4]).ok_or(BAD_LINE)?),
        false => None,
    };
    let flags = parse_unsigned(words[1]).and_then(|flags| u32::try_from(flags).ok());
    let store = Store {
        key: Key::of_word(words[0])?,
        mode,
        flags: flags.ok_or(BAD_LINE)?,
        time_to_live: parse_signed(words[2]).ok_or(BAD_LINE)?,
        value: Vec::new(),
        compare,
        new_cas: None,
        create: None,
    };
    Ok((store, form_of(&words[least..])))
}

/// Returns whether a client does not read the reply to this line of a classic command.
fn wants_no_reply(line: &[u8]) -> bool {
    line.trim_ascii_end().ends_with(b" noreply")
}

fn form_of(rest: &[&[u8]]) -> ReplyForm {
    match rest.last().is_some_and(|word| *word == b"noreply") {
        true => ReplyForm::Quiet,
        false => ReplyForm::Classic,
    }
}

/// Parses a meta command's key and flags.
fn parse_meta(
    command: MetaCommand,
    words: &[&[u8]],
    first_flag: usize,
) -> Result<(Key, ParsedFlags), ProtocolError> {
    let word = words.first().ok_or(BAD_LINE)?;
    let flags = words.get(first_flag..).unwrap_or_default();
    let flags = parse_flags(command, word, flags.iter().copied())?;
    let key = match flags.reply.is_base64 {
        true => Key::of_base64(word).map_err(|_| ProtocolError::Client("error decoding key"))?,
        false => Key::of_word(word)?,
    };
    Ok((key, flags))
}

fn parse_meta_set(words: &[&[u8]]) -> Result<(Store, ReplyForm), ProtocolError> {
    let (key, flags) = parse_meta(MetaCommand::Set, words, 2)?;
    if words.get(1).is_none_or(|length| parse_unsigned(length).is_none()) {
        return Err(BAD_LINE);
    }
    let mode = match flags.mode {
        Some(MetaMode::Store(mode)) => mode,
        _ => StoreMode::Set,
    };
    let store = Store {
        key,
        mode,
        flags: flags.client_flags,
        time_to_live: flags.time_to_live.unwrap_or(0),
        value: Vec::new(),
        compare: flags.compare,
        new_cas: flags.new_cas,
        create: flags.create,
    };
    Ok((store, ReplyForm::Meta(flags.reply)))
}

fn parse_without_value(command: &[u8], words: &[&[u8]]) -> Result<Request, ProtocolError> {
    let keys = |words: &[&[u8]]| {
        words
            .iter()
            .map(|word| Key::of_word(word))
            .collect::<Result<Vec<_>, _>>()
    };
    let number = |word: &[u8]| parse_signed(word).ok_or(ProtocolError::Client("invalid exptime argument"));
    Ok(match (command, words) {
        (b"get" | b"gets", [_, ..]) => Request::Get {
            keys: keys(words)?,
            with_cas: command == b"gets",
            touch: None,
        },
        (b"gat" | b"gats", [time_to_live, items @ ..]) => Request::Get {
            touch: Some(number(time_to_live)?),
            keys: keys(items)?,
            with_cas: command == b"gats",
        },
        (b"delete", [key, rest @ ..]) => match rest {
            // A time of 0 was allowed by early versions.
            [] | [b"0"] | [b"noreply"] | [b"0", b"noreply"] => Request::Delete {
                key: Key::of_word(key)?,
                compare: None,
                form: form_of(rest),
            },
            _ => {
                return Err(ProtocolError::Client(
                    "bad command line format.  Usage: delete <key> [noreply]",
                ));
            }
        },
        (b"incr" | b"decr", [key, delta, rest @ ..]) => {
            let delta =
                parse_unsigned(delta).ok_or(ProtocolError::Client("invalid numeric delta argument"))?;
            let change = Arithmetic {
                key: Key::of_word(key)?,
                delta,
                is_decrement: command == b"decr",
                create: None,
                time_to_live: None,
                compare: None,
                new_cas: None,
            };
            Request::Arithmetic(change, form_of(rest))
        }
        (b"touch", [key, time_to_live, rest @ ..]) => Request::Touch {
            key: Key::of_word(key)?,
            time_to_live: number(time_to_live)?,
            form: form_of(rest),
        },
        (b"mg", [_, ..]) => {
            let (key, flags) = parse_meta(MetaCommand::Get, words, 1)?;
            Request::MetaGet {
                key,
                touch: flags.time_to_live,
                unless: flags.compare,
                flags: flags.reply,
            }
        }
        (b"md", [_, ..]) => {
            let (key, flags) = parse_meta(MetaCommand::Delete, words, 1)?;
            Request::Delete {
                key,
                compare: flags.compare,
                form: ReplyForm::Meta(flags.reply),
            }
        }
        (b"ma", [_, ..]) => {
            let (key, flags) = parse_meta(MetaCommand::Arithmetic, words, 1)?;
            let change = Arithmetic {
                key,
                delta: flags.delta.unwrap_or(1),
                is_decrement: flags.mode == Some(MetaMode::Decrement),
                create: flags.create.map(|time_to_live| (flags.initial, time_to_live)),
                time_to_live: flags.time_to_live,
                compare: flags.compare,
                new_cas: flags.new_cas,
            };
            Request::Arithmetic(change, ReplyForm::Meta(flags.reply))
        }
        (b"me", [key]) => Request::MetaDebug {
            key: Key::of_word(key)?,
            written: key.to_vec(),
        },
        (b"me", [key, b"b"]) => Request::MetaDebug {
            key: Key::of_base64(key)?,
            written: key.to_vec(),
        },
        (b"mn", _) => Request::MetaNoop,
        (b"stats", _) => Request::Stats(words.join(&b' ')),
        (b"version", _) => Request::Version,
        (b"verbosity", [level] | [level, _]) => match form_of(words) {
            ReplyForm::Classic if parse_unsigned(level).is_none() => return Err(BAD_LINE),
            form => Request::Verbosity(form),
        },
        (b"flush_all", []) => Request::FlushAll {
            delay: 0,
            form: ReplyForm::Classic,
        },
        (b"flush_all", [b"noreply"]) => Request::FlushAll {
            delay: 0,
            form: ReplyForm::Quiet,
        },
        (b"flush_all", [delay, rest @ ..]) => Request::FlushAll {
            delay: number(delay)?,
            form: form_of(rest),
        },
        (b"quit", _) => Request::Quit,
        _ => return Err(ProtocolError::Unknown),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reply_form::{EchoedFlag, MetaFlags};
    use proptest::prelude::*;

    fn read(bytes: &[u8]) -> Vec<Result<Request, ProtocolError>> {
        let mut reader = RequestReader::new(100);
        reader.buffer().extend_from_slice(bytes);
        let mut found = Vec::new();
        loop {
            match reader.next_request() {
                Ok(None) => return found,
                Ok(Some(request)) => found.push(Ok(request)),
                Err(error) => {
                    found.push(Err(error));
                    if error.ends_connection() {
                        return found;
                    }
                }
            }
        }
    }

    fn key(text: &str) -> Key {
        Key::of_word(text.as_bytes()).unwrap()
    }

    #[test]
    fn values_are_taken_by_their_length() {
        let found = read(b"set a 1 0 5\r\nget b\r\nget a c\r\n");
        let [
            Ok(Request::Store(store, ReplyForm::Classic)),
            Ok(Request::Get { keys, .. }),
        ] = &found[..]
        else {
            panic!("{found:?}")
        };
        assert_eq!(
            (&store.value[..], &keys[..]),
            (&b"get b"[..], &[key("a"), key("c")][..])
        );
        assert_eq!(
            read(b"set a 1 0 2\r\nabcd\r\nversion\r\n"),
            [
                Err(ProtocolError::Client("bad data chunk")),
                Err(ProtocolError::Unknown),
                Ok(Request::Version)
            ]
        );

        let found = read(b"set a 1 -5 4 noreply\r\n\r\n\r\n\r\nquit\r\n");
        let [Ok(Request::Store(store, ReplyForm::Quiet)), Ok(Request::Quit)] = &found[..] else {
            panic!("{found:?}")
        };
        assert_eq!(
            (store.flags, store.time_to_live, &store.value[..]),
            (1, -5, &b"\r\n\r\n"[..])
        );
    }

    #[test]
    fn a_value_that_is_not_wanted_is_not_taken_for_commands() {
        let found = read(b"set a 0 0 101\r\n");
        assert_eq!(found, [Err(ProtocolError::TooLarge)]);
        let mut bytes = b"set a 0 0 200\r\n".to_vec();
        bytes.extend(b"quit\r\n".repeat(33));
        bytes.extend(b"ab\r\nversion\r\n");
        assert_eq!(read(&bytes), [Err(ProtocolError::TooLarge), Ok(Request::Version)]);
        let bytes = [
            b"set ".to_vec(),
            vec![b'k'; 300],
            b" 0 0 6\r\nquit\r\n\r\nversion\r\n".to_vec(),
        ]
        .concat();
        assert_eq!(read(&bytes), [Err(BAD_LINE), Ok(Request::Version)]);
    }

    #[test]
    fn errors_are_those_of_memcached() {
        let unknown = Err(ProtocolError::Unknown);
        assert_eq!(
            read(b"get\r\nfoo\r\n\r\nGET a\r\n"),
            [unknown.clone(), unknown.clone(), unknown.clone(), unknown]
        );
        assert_eq!(
            read(b"incr a x\r\n"),
            [Err(ProtocolError::Client("invalid numeric delta argument"))]
        );
        assert_eq!(read(b"set a x 0 1\r\n1\r\n"), [Err(BAD_LINE)]);
        assert_eq!(
            read(&vec![b'x'; LINE_BYTES_MAX + 2]),
            [Err(ProtocolError::LineTooLong)]
        );
        assert_eq!(read(&vec![b'x'; LINE_BYTES_MAX + 1]), []);
    }

    #[test]
    fn a_client_that_wants_no_reply_gets_no_error() {
        let refused: [&[u8]; 5] = [
            b"incr a x noreply\r\n",
            b"touch a x noreply\r\n",
            b"set a x 0 1 noreply\r\n1\r\n",
            b"set a 0 0 1 noreply\r\nabc",
            b"set a 0 0 101 noreply\r\n",
        ];
        assert_eq!(read(&refused.concat()), []);
        // An unknown command has no form.
        assert_eq!(read(b"foo noreply\r\n"), [Err(ProtocolError::Unknown)]);
    }

    #[test]
    fn meta_commands_have_flags() {
        let found = read(b"mg a k Oxy t v q C5 T30\r\nmn\r\nmg a z\r\nmg a v v\r\n");
        let expected = Request::MetaGet {
            key: key("a"),
            flags: MetaFlags {
                echoed: vec![
                    EchoedFlag::Key,
                    EchoedFlag::Opaque(b"xy".to_vec()),
                    EchoedFlag::TimeToLive,
                ],
                key: b"a".to_vec(),
                is_base64: false,
                is_quiet: true,
                wants_value: true,
            },
            touch: Some(30),
            unless: Some(5),
        };
        assert_eq!(
            found,
            [
                Ok(expected),
                Ok(Request::MetaNoop),
                Err(ProtocolError::Client("invalid flag")),
                Err(ProtocolError::Client("duplicate flag")),
            ]
        );
        let found = read(b"ms AAE= 2 b F7 MA N60\r\nhi\r\n");
        let [Ok(Request::Store(store, ReplyForm::Meta(flags)))] = &found[..] else {
            panic!("{found:?}")
        };
        assert_eq!(
            (store.mode, store.flags, store.create),
            (StoreMode::Append, 7, Some(60))
        );
        assert_eq!(
            (store.key.as_bytes(), &store.value[..], &flags.key[..]),
            (&[0, 1][..], &b"hi"[..], &b"AAE="[..])
        );
        let found = read(b"ma n N0 J5 D3 M- v\r\n");
        let [Ok(Request::Arithmetic(change, _))] = &found[..] else {
            panic!("{found:?}")
        };
        assert_eq!(
            (change.delta, change.is_decrement, change.create),
            (3, true, Some((5, 0)))
        );
    }

    proptest! {
        /// However the bytes are cut, the requests are the same, and nothing panics.
        #[test]
        fn pieces_make_no_difference(
            lines in proptest::collection::vec("(get|set|ms|mg|incr|cas|x)( [a-c0-9]{1,3}| 0| -1| 4){0,5}( noreply| v| kx)?\r?\n", 0..6),
            cuts in proptest::collection::vec(1usize..9, 1..40),
        ) {
            let bytes = lines.concat().into_bytes();
            let whole = read(&bytes);
            let mut reader = RequestReader::new(100);
            let mut found = Vec::new();
            let (mut rest, mut cuts) = (&bytes[..], cuts.iter().cycle());
            while !rest.is_empty() {
                let (piece, after) = rest.split_at((*cuts.next().unwrap()).min(rest.len()));
                reader.buffer().extend_from_slice(piece);
                rest = after;
                loop {
                    match reader.next_request() {
                        Ok(None) => break,
                        Ok(Some(request)) => found.push(Ok(request)),
                        Err(error) => found.push(Err(error)),
                    }
                }
            }
            prop_assert_eq!(found, whole);
        }
    }
}
