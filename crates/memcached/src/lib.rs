//! Memcached's text protocol: requests are parsed, replies are written. Nothing here knows tables or sockets.
//!
//! ```text
//!   bytes ──▶ RequestReader ──▶ Request ──▶ (the server) ──▶ Reply ──▶ bytes
//!               classic: get gets gat gats set add replace append prepend cas incr decr delete touch
//!               meta:    mg ms md ma mn me
//!               others:  stats version verbosity flush_all quit
//! ```
//! Source: memcached's `doc/protocol.txt`, version 1.6. The binary protocol, which memcached's authors advise
//! against, and UDP are not spoken.
//!
//! # Limits
//! A key has at most [`KEY_BYTES_MAX`] bytes, a line [`LINE_BYTES_MAX`], a value as many as the reader is told. The
//! reader consumes a value that is too long piece by piece without keeping it, so a client that announces a gigabyte
//! costs no memory. A request for many keys is one line, so it is limited too; memcached limits neither.
//!
//! # Errors
//! `ERROR` is an unknown command, `CLIENT_ERROR` a wrong one, `SERVER_ERROR` a failure of the server. After most errors
//! the connection goes on with the next line, as in memcached. Where the place of the next request is unknown, the
//! connection has to be closed ([`ProtocolError::ends_connection`]).
#![forbid(unsafe_code)]

mod error;
mod meta;
mod reader;
mod reply;
mod reply_form;
mod request;

pub use error::ProtocolError;
pub use reader::RequestReader;
pub use reply::{Item, Reply, write_item, write_meta_miss, write_reply};
pub use reply_form::{EchoedFlag, MetaFlags, ReplyForm};
pub use request::{Arithmetic, Key, KeyError, Request, Store, StoreMode};

/// Maximum length of a key in bytes.
pub const KEY_BYTES_MAX: usize = 250;
/// Maximum length of a request's line in bytes, without its end.
pub const LINE_BYTES_MAX: usize = 64 << 10;
