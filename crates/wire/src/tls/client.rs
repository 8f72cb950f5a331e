//! TLS settings of a client: which servers it trusts, and the certificate that it shows. They come from `--ssl-ca`
//! and the like, or from `MASTER_SSL_CA` and the like.
//!
//! A client that was configured to use TLS never continues without it. It checks what MariaDB's client checks:
//!
//! | `ssl_ca`, `ssl_capath` | verify | checked |
//! |---|---|---|
//! | none | no | nothing: encrypted, with any server |
//! | given | no | one of the authorities has signed the certificate |
//! | given | yes | the same, and the certificate is for this host |
//! | none | yes | a system authority has signed it and it is for this host, or the server [proves](super::proof) that it knows the password |
//!
//! A member of a cluster trusts only servers that have the cluster's key ([`super::cluster_key`]).
//!
//! The certificate is checked after the handshake and before anything else is sent.

use super::authorities::{Authorities, CertificateRejection, Usage, check_name};
use super::certificate::Certificate;
use super::cluster_key::{self, ClusterKey};
use super::parameters::TlsParameters;
use super::prefixed_stream::PrefixedStream;
use super::signature::verify_handshake_signatures;
use super::stream::EncryptedStream;
use super::{handshake_error, provider, tls_error};
use crate::error::WireResult;
use rustls::client::Resumption;
use rustls::client::danger::{ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::sign::SingleCertAndKey;
use rustls::{ClientConfig, Error};
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::{TlsConnector, TlsStream};

/// Whether the server's certificate must be for the server's host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum VerifyServer {
    /// No: an authority is enough, if one is given.
    #[default]
    No,
    /// Yes: the certificate must be trusted and for this host.
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

/// How a server is trusted.
#[derive(Debug)]
enum Trust {
    /// Any server is trusted.
    AnyServer,
    /// By these authorities.
    Authorities(Authorities, VerifyServer),
    /// By the system's authorities, or because the server knows the password.
    SystemOrProof(Authorities),
    /// By the key of a cluster.
    Cluster(ClusterKey),
}

/// TLS settings of a client, ready to connect with. Cheap to clone.
#[derive(Debug, Clone)]
pub struct ClientTls {
    config: Arc<ClientConfig>,
    trust: Arc<Trust>,
}

/// Proof that is missing before a server is trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TrustDecision {
    /// Nothing.
    Yes,
    /// The server must prove that it knows the password.
    IfItProves(Certificate),
}

impl ClientTls {
    /// Reads the files and creates the settings.
    ///
    /// # Errors
    /// [`WireError::Tls`](crate::WireError::Tls) if something cannot be read or used.
    pub fn new(parameters: &TlsParameters, verify: VerifyServer) -> WireResult<ClientTls> {
        let trust = match (parameters.names_authorities(), verify) {
            (false, VerifyServer::No) => Trust::AnyServer,
            (false, VerifyServer::Yes) => Trust::SystemOrProof(Authorities::system(parameters)?),
            (true, verify) => Trust::Authorities(Authorities::load(parameters)?, verify),
        };
        let shown = parameters.certified_key()?;
        let builder = ClientConfig::builder_with_provider(Arc::new(parameters.provider()?))
            .with_protocol_versions(&parameters.protocol_versions()?)
            .map_err(tls_error)?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(KeyPossessionVerifier));
        let mut config = match shown {
            Some(shown) => builder.with_client_cert_resolver(Arc::new(SingleCertAndKey::from(shown))),
            None => builder.with_no_client_auth(),
        };
        // Connections live long, so resuming a session is not worth the state.
        config.resumption = Resumption::disabled();
        Ok(ClientTls {
            config: Arc::new(config),
            trust: Arc::new(trust),
        })
    }

    /// Creates the settings of a member of a cluster, which trusts only the other members. TLS 1.3 only.
    ///
    /// # Errors
    /// [`WireError::Tls`](crate::WireError::Tls) if TLS 1.3 is not available.
    pub fn of_cluster(key: ClusterKey) -> WireResult<ClientTls> {
        let mut config = ClientConfig::builder_with_provider(Arc::new(provider()))
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(tls_error)?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(KeyPossessionVerifier))
            .with_no_client_auth();
        config.resumption = Resumption::disabled();
        Ok(ClientTls {
            config: Arc::new(config),
            trust: Arc::new(Trust::Cluster(key)),
        })
    }

    /// Encrypts a stream whose peer waits for the handshake, and checks the server's certificate.
    pub(crate) async fn connect<S>(
        &self,
        stream: S,
        host: &str,
    ) -> WireResult<(EncryptedStream<S>, TrustDecision)>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        // The name is only sent to the server. A name that cannot be sent is omitted, as an address is.
        let name = match &*self.trust {
            Trust::Cluster(_) => cluster_key::NAME,
            _ => host,
        };
        let name = ServerName::try_from(name.to_owned())
            .unwrap_or(ServerName::IpAddress(std::net::Ipv4Addr::UNSPECIFIED.into()));
        let stream = TlsConnector::from(self.config.clone())
            .connect(name, PrefixedStream::new(stream, vec![]))
            .await
            .map_err(handshake_error)?;
        let chain = stream.get_ref().1.peer_certificates().unwrap_or_default();
        let believed = self.trust.check(chain, host)?;
        Ok((EncryptedStream::new(TlsStream::Client(stream)), believed))
    }
}

impl Trust {
    fn check(&self, chain: &[CertificateDer<'_>], host: &str) -> Result<TrustDecision, CertificateRejection> {
        let now = UnixTime::now();
        match self {
            Trust::AnyServer => Ok(TrustDecision::Yes),
            Trust::Cluster(key) => match chain.first().is_some_and(|shown| key.is_of(shown)) {
                true => Ok(TrustDecision::Yes),
                false => Err(CertificateRejection::Other(
                    "the other side does not have the cluster's secret".to_owned(),
                )),
            },
            Trust::Authorities(authorities, verify) => {
                let certificate = authorities.check(chain, Usage::Server, now)?;
                if *verify == VerifyServer::Yes {
                    check_name(&certificate, host)?;
                }
                Ok(TrustDecision::Yes)
            }
            Trust::SystemOrProof(authorities) => match authorities.check(chain, Usage::Server, now) {
                Ok(certificate) => check_name(&certificate, host).map(|()| TrustDecision::Yes),
                Err(CertificateRejection::UnknownAuthority) => {
                    let own = chain.first().and_then(Certificate::read);
                    own.map(TrustDecision::IfItProves)
                        .ok_or(CertificateRejection::UnknownAuthority)
                }
                Err(other) => Err(other),
            },
        }
    }
}

/// Verifier for the handshake itself. It only checks that the server has the key of the certificate that it shows.
#[derive(Debug)]
struct KeyPossessionVerifier;

impl ServerCertVerifier for KeyPossessionVerifier {
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
