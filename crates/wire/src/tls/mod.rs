//! TLS, both ends: what is trusted, what is shown, and how a connection that began in clear goes on encrypted.
//!
//! ```text
//!   client                                   server
//!     │ ◀────────── greeting, in clear ────────│   the server has a certificate: CLIENT_SSL
//!     │ ─ SSLRequest: flags, no user ─────────▶│   32 bytes, in clear
//!     │ ◀═══════════ TLS handshake ═══════════▶│
//!     │ ═ login ══════════════════════════════▶│   from here on packets as ever, inside of TLS
//! ```
//!
//! * [`authorities`]: whose certificates are believed: `ssl_ca`, `ssl_capath`, `ssl_crl`, `ssl_crlpath`, or the system's.
//! * [`certificate`]: what is read of a certificate: its names, its dates, its key.
//! * [`files`]: certificates, keys and revocation lists in PEM files.
//! * [`signature`]: signatures of handshakes and of certificates, where rustls does not check them.
//! * [`suites`]: `ssl_cipher` and `tls_version`.
//! * [`parameters`]: what either end is told; [`client`], [`server`]: what it makes of that.
//! * [`self_signed`]: the certificate of a server that was given none, and [`proof`]: why a client that knows its password believes it.
//! * [`stream`]: the encrypted socket.
//!
//! The protocol itself is rustls, the cryptography ring. TLS 1.2 and 1.3 are spoken; 1.0 and 1.1 are not. What OpenSSL accepts and
//! rustls does not, and what MariaDB's guides make its users have, is accepted here: certificates of X.509's first version (what
//! `openssl x509 -req` made for decades), names in the common name alone, and a self-signed certificate that is itself in `ssl_ca`.

pub mod authorities;
pub mod certificate;
pub mod client;
pub mod files;
pub mod parameters;
pub mod proof;
pub mod self_signed;
pub mod server;
pub mod signature;
pub mod stream;
pub mod suites;

pub use certificate::Certificate;
pub use client::{ClientTls, VerifyServer};
pub use parameters::TlsParameters;
pub use server::ServerTls;
pub use stream::TlsSession;

use crate::error::WireError;
use rustls::crypto::CryptoProvider;

/// The cryptography.
pub(crate) fn provider() -> CryptoProvider {
    rustls::crypto::ring::default_provider()
}

/// An error of a handshake or of its settings.
pub(crate) fn tls_error(text: impl ToString) -> WireError {
    WireError::Tls(text.to_string())
}

/// What a failed handshake says, in few words.
pub(crate) fn handshake_error(error: std::io::Error) -> WireError {
    let inner = error
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<rustls::Error>());
    match inner {
        Some(error) => tls_error(error),
        None if error.kind() == std::io::ErrorKind::UnexpectedEof => {
            tls_error("the other end closed the connection in the handshake")
        }
        None => tls_error(error),
    }
}
