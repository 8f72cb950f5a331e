//! TLS, both sides: trust, certificates, and the transition of a connection from clear text to encryption.
//!
//! ```text
//!   client                                   server
//!     │ ◀────────── greeting, in clear ────────│   with CLIENT_SSL, as the server has a certificate
//!     │ ─ SSLRequest: flags, no user ─────────▶│   32 bytes, in clear
//!     │ ◀═══════════ TLS handshake ═══════════▶│
//!     │ ═ login ══════════════════════════════▶│   from here on the usual packets, inside of TLS
//! ```
//!
//! * [`authorities`]: trusted authorities: `ssl_ca`, `ssl_capath`, `ssl_crl`, `ssl_crlpath`, or the system's.
//! * [`certificate`]: decoded certificates: their names, dates and keys.
//! * [`files`]: certificates, keys and revocation lists in PEM files.
//! * [`signature`]: signatures of handshakes and of certificates, where rustls does not check them.
//! * [`suites`]: `ssl_cipher` and `tls_version`.
//! * [`parameters`]: the parameters of either side; [`client`], [`server`]: the settings made from them.
//! * [`self_signed`]: the certificate of a server that was given none; [`proof`]: why a client that knows the
//!   password trusts it.
//! * [`cluster_key`]: the key by which members of a cluster know each other.
//! * [`stream`]: the encrypted stream; [`prefixed_stream`]: the stream below it, after bytes that came too early.
//!
//! The stream below is any stream of tokio: this folder knows no socket.
//!
//! rustls implements the protocol, ring the cryptography. TLS 1.2 and 1.3 are supported; 1.0 and 1.1 are not. Three
//! things that OpenSSL accepts and rustls does not are accepted here, because users who followed MariaDB's guides
//! have them: certificates of X.509 version 1 (which `openssl x509 -req` created for decades), host names in the
//! common name only, and a self-signed certificate that is itself in `ssl_ca`.

pub mod authorities;
pub mod certificate;
pub mod client;
pub mod cluster_key;
pub mod files;
pub mod parameters;
mod prefixed_stream;
pub mod proof;
pub mod self_signed;
pub mod server;
pub mod signature;
pub mod stream;
pub mod suites;

pub use certificate::Certificate;
pub use client::{ClientTls, VerifyServer};
pub use cluster_key::ClusterKey;
pub use parameters::TlsParameters;
pub use server::ServerTls;
pub use stream::TlsSession;

use crate::error::WireError;
use rustls::crypto::CryptoProvider;

/// Returns the implementation of the cryptography.
pub(crate) fn provider() -> CryptoProvider {
    rustls::crypto::ring::default_provider()
}

/// Returns an error of a handshake or of its settings.
pub(crate) fn tls_error(text: impl ToString) -> WireError {
    WireError::Tls(text.to_string())
}

/// Returns the error of a failed handshake, with a short text.
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
