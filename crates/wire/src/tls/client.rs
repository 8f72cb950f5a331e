//! A client's settings: whom it believes, and what it shows of itself. `--ssl-ca` and its like, `MASTER_SSL_CA` and its like.
//!
//! A client that was told to use TLS never goes on without it. What it checks is what MariaDB's client checks:
//!
//! | `ssl_ca`, `ssl_capath` | verify | checked |
//! |---|---|---|
//! | none | no | nothing: encrypted, to whomever |
//! | given | no | that one of them signed it |
//! | given | yes | and that it is this host's |
//! | none | yes | that an authority of the system signed it and it is this host's, or that the server [proves](super::proof) to know the password |
//!
//! The certificate is looked at after the handshake and before anything else is sent.

use super::authorities::{Authorities, Distrust, Usage, check_name};
use super::certificate::Certificate;
use super::parameters::TlsParameters;
use super::signature::verify_handshake_signatures;
use super::stream::{Below, TlsSocket};
use super::{handshake_error, tls_error};
use crate::error::WireResult;
use crate::socket::Socket;
use rustls::client::Resumption;
use rustls::client::danger::{ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::sign::SingleCertAndKey;
use rustls::{ClientConfig, Error};
use std::sync::Arc;
use tokio_rustls::{TlsConnector, TlsStream};

/// Whether the server's certificate has to be its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum VerifyServer {
    /// An authority, where one is given, is enough.
    #[default]
    No,
    /// It has to be trusted and this host's.
    Yes,
}

impl From<bool> for VerifyServer {
    fn from(is_on: bool) -> VerifyServer {
        match is_on {
            true => VerifyServer::Yes,
            false => VerifyServer::No,
        }
    }
}

/// How a server is believed.
#[derive(Debug)]
enum Trust {
    /// Whoever it is.
    Anyone,
    /// By these authorities.
    Authorities(Authorities, VerifyServer),
    /// By the system's authorities, or because it knows the password.
    SystemOrProof(Authorities),
}

/// Settings, ready to connect with. Cheap to clone.
#[derive(Debug, Clone)]
pub struct ClientTls {
    config: Arc<ClientConfig>,
    trust: Arc<Trust>,
}

/// What is to be done yet before a server is believed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Believed {
    /// Nothing.
    Yes,
    /// It has to prove that it knows the password.
    IfItProves(Certificate),
}

impl ClientTls {
    /// Reads the files and makes the settings.
    ///
    /// # Errors
    /// [`WireError::Tls`](crate::WireError::Tls) for what cannot be read or heeded.
    pub fn new(parameters: &TlsParameters, verify: VerifyServer) -> WireResult<ClientTls> {
        let trust = match (parameters.names_authorities(), verify) {
            (false, VerifyServer::No) => Trust::Anyone,
            (false, VerifyServer::Yes) => Trust::SystemOrProof(Authorities::system(parameters)?),
            (true, verify) => Trust::Authorities(Authorities::load(parameters)?, verify),
        };
        let shown = parameters.certified_key()?;
        let builder = ClientConfig::builder_with_provider(Arc::new(parameters.provider()?))
            .with_protocol_versions(&parameters.protocol_versions()?)
            .map_err(tls_error)?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(HasTheKey));
        let mut config = match shown {
            Some(shown) => builder.with_client_cert_resolver(Arc::new(SingleCertAndKey::from(shown))),
            None => builder.with_no_client_auth(),
        };
        // Connections live long: to take one up again is not worth the state.
        config.resumption = Resumption::disabled();
        Ok(ClientTls {
            config: Arc::new(config),
            trust: Arc::new(trust),
        })
    }

    /// Encrypts a socket whose other end waits for the handshake, and looks at the server's certificate.
    pub(crate) async fn connect(&self, socket: Socket, host: &str) -> WireResult<(Socket, Believed)> {
        // The name is only sent to the server. One that cannot be sent is left out, as an address is.
        let name = ServerName::try_from(host.to_owned())
            .unwrap_or(ServerName::IpAddress(std::net::Ipv4Addr::UNSPECIFIED.into()));
        let stream = TlsConnector::from(self.config.clone())
            .connect(name, Below::new(socket, vec![]))
            .await
            .map_err(handshake_error)?;
        let chain = stream.get_ref().1.peer_certificates().unwrap_or_default();
        let believed = self.trust.look_at(chain, host)?;
        let socket = TlsSocket::new(TlsStream::Client(stream));
        Ok((Socket::Tls(Box::new(socket)), believed))
    }
}

impl Trust {
    fn look_at(&self, chain: &[CertificateDer<'_>], host: &str) -> Result<Believed, Distrust> {
        let now = UnixTime::now();
        match self {
            Trust::Anyone => Ok(Believed::Yes),
            Trust::Authorities(authorities, verify) => {
                let certificate = authorities.check(chain, Usage::Server, now)?;
                if *verify == VerifyServer::Yes {
                    check_name(&certificate, host)?;
                }
                Ok(Believed::Yes)
            }
            Trust::SystemOrProof(authorities) => match authorities.check(chain, Usage::Server, now) {
                Ok(certificate) => check_name(&certificate, host).map(|()| Believed::Yes),
                Err(Distrust::UnknownAuthority) => {
                    let own = chain.first().and_then(Certificate::read);
                    own.map(Believed::IfItProves).ok_or(Distrust::UnknownAuthority)
                }
                Err(other) => Err(other),
            },
        }
    }
}

/// In the handshake only this is checked: that the server has the key of the certificate that it shows.
#[derive(Debug)]
struct HasTheKey;

impl ServerCertVerifier for HasTheKey {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    verify_handshake_signatures!();
}
