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

use super::authorities::{Authorities, AuthorityFiles, Distrust, Usage, check_name};
use super::certificate::Certificate;
use super::stream::{Below, TlsSocket};
use super::suites::{parse_versions, provider_with};
use super::{files, handshake_error, signature, tls_error};
use crate::error::WireResult;
use crate::socket::Socket;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{ResolvesClientCert, Resumption};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{ClientConfig, DigitallySignedStruct, Error, SignatureScheme};
use std::path::{Path, PathBuf};
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

/// What a client is told of TLS. An empty text stands for what is not given.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ClientTlsOptions {
    /// `ssl_ca`.
    pub ca: String,
    /// `ssl_capath`.
    pub ca_path: String,
    /// `ssl_cert`.
    pub certificate: String,
    /// `ssl_key`; the certificate's file if it is not given.
    pub key: String,
    /// `ssl_cipher`.
    pub cipher: String,
    /// `ssl_crl`.
    pub crl: String,
    /// `ssl_crlpath`.
    pub crl_path: String,
    /// `tls_version`.
    pub versions: String,
    /// `ssl_verify_server_cert`.
    pub verify: VerifyServer,
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

/// A path, if it is given.
fn path(text: &str) -> Option<&Path> {
    (!text.is_empty()).then(|| Path::new(text))
}

impl ClientTls {
    /// Reads the files and makes the settings.
    ///
    /// # Errors
    /// [`WireError::Tls`](crate::WireError::Tls) for what cannot be read or heeded.
    pub fn new(options: &ClientTlsOptions) -> WireResult<ClientTls> {
        let has_authorities = !options.ca.is_empty() || !options.ca_path.is_empty();
        let trust = match (has_authorities, options.verify) {
            (false, VerifyServer::No) => Trust::Anyone,
            (false, VerifyServer::Yes) => Trust::SystemOrProof(Authorities::system()),
            (true, verify) => Trust::Authorities(
                Authorities::load(AuthorityFiles {
                    ca: path(&options.ca),
                    ca_path: path(&options.ca_path),
                    crl: path(&options.crl),
                    crl_path: path(&options.crl_path),
                })?,
                verify,
            ),
        };
        let certificate: PathBuf = match (options.certificate.as_str(), options.key.as_str()) {
            ("", key) => key.into(),
            (certificate, _) => certificate.into(),
        };
        let key: PathBuf = match options.key.as_str() {
            "" => certificate.clone(),
            key => key.into(),
        };
        let shown = match certificate.as_os_str().is_empty() {
            true => None,
            false => Some(files::certified_key(&certificate, &key)?),
        };
        let builder = ClientConfig::builder_with_provider(Arc::new(provider_with(&options.cipher)?))
            .with_protocol_versions(&parse_versions(&options.versions)?)
            .map_err(tls_error)?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(HasTheKey));
        let mut config = match shown {
            Some(shown) => builder.with_client_cert_resolver(resolver(shown)),
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

fn resolver(shown: CertifiedKey) -> Arc<dyn ResolvesClientCert> {
    Arc::new(SingleCertAndKey::from(shown))
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

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        signature::verify_tls12(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        signature::verify_tls13(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        signature::schemes()
    }
}
