//! From results to bytes.

use crate::reply_form::{EchoedFlag, MetaFlags, ReplyForm};
use crate::request::Key;
use std::io::Write;

/// A stored item.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Item {
    /// The value.
    pub value: Vec<u8>,
    /// The client's flags.
    pub flags: u32,
    /// CAS; 0: none.
    pub cas: u64,
    /// Time to live in seconds from now; `None`: for ever.
    pub time_to_live: Option<u64>,
}

/// Result of a request about one key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reply {
    /// The item, for `mg` and after a change whose reply returns flags of it.
    Found(Item),
    /// `mg`: the item's CAS is that of the client, so its value is not sent.
    Unchanged(Item),
    /// It was stored.
    Stored(Item),
    /// It was deleted.
    Deleted,
    /// Its time to live was changed.
    Touched,
    /// Its new number.
    Number(u64, Item),
    /// The condition was not met.
    NotStored,
    /// The item has changed since the client has read it.
    Exists,
    /// There is no item.
    NotFound,
    /// Something else was done.
    Ok,
    /// The client's mistake.
    ClientError(String),
    /// A failure of the server.
    ServerError(String),
}

impl Reply {
    /// Returns whether the request has failed.
    pub fn is_error(&self) -> bool {
        matches!(self, Reply::ClientError(_) | Reply::ServerError(_))
    }
}

/// Appends the reply to a request.
pub fn write_reply(to: &mut Vec<u8>, reply: &Reply, form: &ReplyForm) {
    match form {
        ReplyForm::Quiet => {}
        ReplyForm::Meta(flags) if !reply.is_error() => write_meta(to, reply, flags),
        ReplyForm::Classic | ReplyForm::Meta(_) => write_classic(to, reply),
    }
}

fn line(to: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    to.write_fmt(text).expect("a vector takes everything");
    to.extend_from_slice(b"\r\n");
}

fn write_classic(to: &mut Vec<u8>, reply: &Reply) {
    match reply {
        Reply::Found(_) | Reply::Unchanged(_) | Reply::Ok => line(to, format_args!("OK")),
        Reply::Stored(_) => line(to, format_args!("STORED")),
        Reply::Deleted => line(to, format_args!("DELETED")),
        Reply::Touched => line(to, format_args!("TOUCHED")),
        Reply::Number(number, _) => line(to, format_args!("{number}")),
        Reply::NotStored => line(to, format_args!("NOT_STORED")),
        Reply::Exists => line(to, format_args!("EXISTS")),
        Reply::NotFound => line(to, format_args!("NOT_FOUND")),
        Reply::ClientError(text) => line(to, format_args!("CLIENT_ERROR {}", one_line(text))),
        Reply::ServerError(text) => line(to, format_args!("SERVER_ERROR {}", one_line(text))),
    }
}

/// Returns a message without ends of lines: what follows them would be taken for another reply.
fn one_line(text: &str) -> String {
    text.replace(|character: char| character.is_control(), " ")
}

/// Appends the item of a `get`.
pub fn write_item(to: &mut Vec<u8>, key: &Key, item: &Item, with_cas: bool) {
    to.extend_from_slice(b"VALUE ");
    to.extend_from_slice(key.as_bytes());
    let (flags, length) = (item.flags, item.value.len());
    match with_cas {
        true => line(to, format_args!(" {flags} {length} {}", item.cas)),
        false => line(to, format_args!(" {flags} {length}")),
    }
    to.extend_from_slice(&item.value);
    to.extend_from_slice(b"\r\n");
}

fn write_meta(to: &mut Vec<u8>, reply: &Reply, flags: &MetaFlags) {
    let none = Item::default();
    let (code, item, is_usual) = match reply {
        Reply::Found(item) => ("HD", item, false),
        Reply::Unchanged(item) | Reply::Stored(item) | Reply::Number(_, item) => ("HD", item, true),
        Reply::Deleted | Reply::Touched | Reply::Ok => ("HD", &none, true),
        Reply::NotStored => ("NS", &none, false),
        Reply::Exists => ("EX", &none, false),
        Reply::NotFound => ("NF", &none, false),
        Reply::ClientError(_) | Reply::ServerError(_) => unreachable!("errors have the classic form"),
    };
    let number;
    let value = match reply {
        Reply::Found(item) if flags.wants_value => Some(&item.value[..]),
        Reply::Number(new, _) if flags.wants_value => {
            number = new.to_string();
            Some(number.as_bytes())
        }
        _ => None,
    };
    // A result with a value is never the usual one.
    if flags.is_quiet && is_usual && value.is_none() {
        return;
    }
    match value {
        Some(value) => write!(to, "VA {}", value.len()).expect("a vector takes everything"),
        None => to.extend_from_slice(code.as_bytes()),
    }
    let has_item = code == "HD";
    for flag in &flags.echoed {
        let written = match flag {
            EchoedFlag::Key => {
                to.extend_from_slice(b" k");
                to.extend_from_slice(&flags.key);
                if flags.is_base64 {
                    to.extend_from_slice(b" b");
                }
                Ok(())
            }
            EchoedFlag::Opaque(opaque) => {
                to.extend_from_slice(b" O");
                to.extend_from_slice(opaque);
                Ok(())
            }
            EchoedFlag::Cas => write!(to, " c{}", item.cas),
            EchoedFlag::ClientFlags if has_item => write!(to, " f{}", item.flags),
            EchoedFlag::Size if has_item => write!(to, " s{}", item.value.len()),
            EchoedFlag::TimeToLive if has_item => match item.time_to_live {
                Some(seconds) => write!(to, " t{seconds}"),
                None => write!(to, " t-1"),
            },
            EchoedFlag::ClientFlags | EchoedFlag::Size | EchoedFlag::TimeToLive => Ok(()),
        };
        written.expect("a vector takes everything");
    }
    to.extend_from_slice(b"\r\n");
    if let Some(value) = value {
        to.extend_from_slice(value);
        to.extend_from_slice(b"\r\n");
    }
}

/// Appends the reply to `mg` of a key without an item.
pub fn write_meta_miss(to: &mut Vec<u8>, flags: &MetaFlags) {
    if !flags.is_quiet {
        to.extend_from_slice(b"EN\r\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item() -> Item {
        Item {
            value: b"hi".to_vec(),
            flags: 7,
            cas: 9,
            time_to_live: Some(30),
        }
    }

    fn written(reply: &Reply, form: &ReplyForm) -> String {
        let mut bytes = Vec::new();
        write_reply(&mut bytes, reply, form);
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn an_error_is_one_line() {
        let error = Reply::ServerError("a\r\nSTORED".to_owned());
        assert_eq!(written(&error, &ReplyForm::Classic), "SERVER_ERROR a  STORED\r\n");
        let quiet = MetaFlags {
            is_quiet: true,
            ..MetaFlags::default()
        };
        assert_eq!(
            written(&error, &ReplyForm::Meta(quiet)),
            "SERVER_ERROR a  STORED\r\n"
        );
        assert_eq!(
            written(&error, &ReplyForm::Quiet),
            "",
            "a client that wants no reply reads none"
        );
    }

    #[test]
    fn quiet_requests_have_no_usual_reply() {
        assert_eq!(written(&Reply::Stored(item()), &ReplyForm::Quiet), "");
        let quiet = ReplyForm::Meta(MetaFlags {
            is_quiet: true,
            ..MetaFlags::default()
        });
        assert_eq!(written(&Reply::Stored(item()), &quiet), "");
        assert_eq!(written(&Reply::NotStored, &quiet), "NS\r\n");
        assert_eq!(written(&Reply::Found(item()), &quiet), "HD\r\n");
    }

    #[test]
    fn flags_are_returned_in_their_order() {
        let flags = |wants_value| {
            ReplyForm::Meta(MetaFlags {
                echoed: vec![
                    EchoedFlag::TimeToLive,
                    EchoedFlag::Opaque(b"x".to_vec()),
                    EchoedFlag::Key,
                    EchoedFlag::ClientFlags,
                    EchoedFlag::Size,
                    EchoedFlag::Cas,
                ],
                key: b"a".to_vec(),
                is_base64: false,
                is_quiet: false,
                wants_value,
            })
        };
        assert_eq!(
            written(&Reply::Found(item()), &flags(true)),
            "VA 2 t30 Ox ka f7 s2 c9\r\nhi\r\n"
        );
        assert_eq!(
            written(&Reply::Found(item()), &flags(false)),
            "HD t30 Ox ka f7 s2 c9\r\n"
        );
        assert_eq!(written(&Reply::NotFound, &flags(true)), "NF Ox ka c0\r\n");
        assert_eq!(
            written(&Reply::Number(12, item()), &flags(true)),
            "VA 2 t30 Ox ka f7 s2 c9\r\n12\r\n"
        );
    }
}
