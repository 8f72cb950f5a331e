//! The MariaDB client/server protocol, both ends of it: what goes over the socket and nothing about what it means.
//!
//! ```text
//!   socket ──bytes──▶ PacketReader ──payload──▶ Command            (server reads)
//!   socket ◀─bytes─── PacketWriter ◀─payload─── OK, ERR, columns, rows   (server writes)
//! ```
//!
//! * [`socket`]: a TCP or UNIX stream, in clear or encrypted, and a handle by which another task can end its reading.
//! * [`tls`]: how it becomes encrypted, and whom one believes.
//! * [`framing`]: packets: 3 bytes of length, a sequence number, payload; payloads of 16 MiB and more in several. Both directions are
//!   buffered so that one request costs one `read` and one `write`.
//! * [`capability`], [`handshake`], [`authentication`], [`caching_sha2`]: how a connection begins, or begins anew (`COM_CHANGE_USER`).
//! * [`command`]: what a client asks for.
//! * [`response`], [`column`], [`session_state`], [`prepared`]: what it is answered.
//! * [`client`]: the other end, for tests, tools and replication. [`TcpAddress`]: where it finds a server.
//!
//! The hot path writes straight into the output buffer; only what is rare is a structure of its own. Nothing in here trusts what it
//! reads: every length is checked, and a malformed packet is a [`WireError`], which ends one connection and no more.
//!
//! The formats are those of MariaDB's knowledge base, "Client/Server Protocol", checked against MariaDB 10.11 itself.
#![forbid(unsafe_code)]

pub mod authentication;
pub mod bytes;
pub mod caching_sha2;
pub mod capability;
pub mod client;
pub mod column;
pub mod command;
pub mod error;
pub mod framing;
pub mod handshake;
pub mod listener;
pub mod prepared;
pub mod response;
pub mod session_state;
pub mod socket;
mod tcp_address;
pub mod tls;

pub use capability::Capabilities;
pub use error::{WireError, WireResult};
pub use framing::{PacketReader, PacketWriter};
pub use tcp_address::{NoAddress, PORT, TcpAddress};
