//! Both sides of the MariaDB client/server protocol: the bytes on the socket, not their meaning.
//!
//! ```text
//!   socket ──bytes──▶ PacketReader ──payload──▶ Command            (server reads)
//!   socket ◀─bytes─── PacketWriter ◀─payload─── OK, ERR, columns, rows   (server writes)
//! ```
//!
//! * [`proxy_header`]: the address of a client behind a proxy.
//! * [`tls`]: encryption of a stream, and the trust in certificates.
//! * [`compressed`]: compression of a stream, for a client that requests it.
//! * [`socket`]: a TCP or UNIX stream, in clear, encrypted or compressed, and a handle by which another task can end
//!   reads from it. [`listener`]: the sockets that clients connect to.
//! * [`framing`]: packets: 3 bytes of length, a sequence number, and the payload; payloads of 16 MiB and more use
//!   several packets. Both directions are buffered, so that one request costs one `read` and one `write`.
//! * [`capability`], [`handshake`], [`authentication`], [`ed25519`], [`caching_sha2`]: the beginning of a connection,
//!   also after `COM_CHANGE_USER`.
//! * [`command`]: the requests of a client.
//! * [`response`], [`column`], [`session_state`], [`prepared`]: the answers.
//! * [`client`]: the client's side, for tests, tools and replication. [`TcpAddress`]: the address of a server.
//!
//! The hot path writes directly into the output buffer; only rare messages are structures of their own. Nothing in
//! this crate trusts its input: every length is checked, and a malformed packet is a [`WireError`], which ends only
//! its connection.
//!
//! The formats are those of MariaDB's knowledge base, "Client/Server Protocol", checked against MariaDB 10.11 itself.
#![forbid(unsafe_code)]

pub mod authentication;
mod buffered;
pub mod bytes;
pub mod caching_sha2;
pub mod capability;
pub mod client;
pub mod column;
pub mod command;
pub mod compressed;
pub mod ed25519;
pub mod error;
pub mod framing;
pub mod handshake;
pub mod listener;
pub mod prepared;
pub mod proxy_header;
pub mod response;
pub mod session_state;
pub mod socket;
mod tcp_address;
pub mod tls;

pub use buffered::{buffered_bytes, buffered_bytes_max, set_buffered_bytes_max};
pub use capability::Capabilities;
pub use error::{WireError, WireResult};
pub use framing::{PacketReader, PacketWriter};
pub use tcp_address::{AddressError, PORT, TcpAddress};
