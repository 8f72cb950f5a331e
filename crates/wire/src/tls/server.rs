//! TLS settings of a server: the certificate that it shows, and which clients' certificates it trusts. They come from
//! `ssl_cert`, `ssl_key`, `ssl_ca` and the like.
//!
//! A client need not show a certificate. If it shows one and the server has authorities, the certificate is checked
//! in the handshake, and an untrusted one ends the handshake. Whether an account requires a certificate is checked
//! later. A server without authorities requests no certificates.

use super::authorities::{Authorities, CertificateRejection, Usage};
use super::certificate::Certificate;
use super::cluster_key::{self, ClusterKey};
use super::parameters::TlsParameters;
use super::prefixed_stream::PrefixedStream;
use super::signature::verify_handshake_signatures;
use super::stream::EncryptedStream;
use super::suites::suite_list;
use super::{handshake_error, provider, self_signed, tls_error};
use crate::error::WireResult;
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{Acceptor, ClientHello, NoClientAuth, NoServerSessionStorage, ResolvesServerCert};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{CertificateError, DistinguishedName, Error, ServerConfig};
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::{LazyConfigAcceptor, TlsAcceptor, TlsStream};

/// TLS settings of a server, ready to accept with. Cheap to clone.
#[derive(Debug, Clone)]
pub struct ServerTls {
    config: Arc<ServerConfig>,
    certificate: Arc<Certificate>,
    cipher_list: Arc<str>,
    /// Settings for members of the cluster.
    members: Option<Arc<ServerConfig>>,
}

impl ServerTls {
    /// Reads the files, or creates a certificate.
    ///
    /// # Errors
    /// [`WireError::Tls`](crate::WireError::Tls) if something cannot be read or used.
    pub fn new(parameters: &TlsParameters) -> WireResult<ServerTls> {
        let shown = match parameters.certified_key()? {
            Some(shown) => shown,
            None => self_signed::make(UnixTime::now())?,
        };
        let authorities = Authorities::load(parameters)?;
        let verifier: Arc<dyn ClientCertVerifier> = match authorities.is_empty() {
            true => Arc::new(NoClientAuth),
            false => Arc::new(OptionalCertificateVerifier(authorities)),
        };
        let certificate = shown
            .cert
            .first()
            .and_then(Certificate::read)
            .ok_or_else(|| tls_error("Unable to get certificate"))?;
        let provider = parameters.provider()?;
        let cipher_list = suite_list(&provider.cipher_suites).into();
        let mut config = ServerConfig::builder_with_provider(Arc::new(provider))
            .with_protocol_versions(&parameters.protocol_versions()?)
            .map_err(tls_error)?
            .with_client_cert_verifier(verifier)
            .with_cert_resolver(Arc::new(SingleCertAndKey::from(shown)));
        // Connections live long, so resuming a session is not worth the state.
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        Ok(ServerTls {
            config: Arc::new(config),
            certificate: Arc::new(certificate),
            cipher_list,
            members: None,
        })
    }

    /// Creates the settings of a port for members of a cluster only.
    ///
    /// # Errors
    /// [`WireError::Tls`](crate::WireError::Tls) if TLS 1.3 is not available.
    pub fn of_cluster(key: &ClusterKey) -> WireResult<ServerTls> {
        let config = member_config(key)?;
        let certificate = key.shown().cert.first().and_then(Certificate::read);
        Ok(ServerTls {
            certificate: Arc::new(certificate.ok_or_else(|| tls_error("Unable to get certificate"))?),
            cipher_list: suite_list(&config.crypto_provider().cipher_suites).into(),
            config,
            members: None,
        })
    }

    /// Adds the certificate of a cluster, for clients that ask for it. The parameters for other clients do not apply to
    /// members.
    ///
    /// # Errors
    /// [`WireError::Tls`](crate::WireError::Tls) if TLS 1.3 is not available.
    pub fn with_cluster(self, key: &ClusterKey) -> WireResult<ServerTls> {
        Ok(ServerTls {
            members: Some(member_config(key)?),
            ..self
        })
    }

    /// Returns the certificate that the server shows.
    pub fn certificate(&self) -> &Certificate {
        &self.certificate
    }

    /// Returns the value of `Ssl_cipher_list`.
    pub fn cipher_list(&self) -> &str {
        &self.cipher_list
    }

    /// Encrypts a stream whose peer has requested it; `early` is what the peer has sent after the request.
    pub(crate) async fn accept<S>(&self, stream: S, early: Vec<u8>) -> WireResult<EncryptedStream<S>>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let stream = PrefixedStream::new(stream, early);
        let stream = match &self.members {
            None => TlsAcceptor::from(self.config.clone()).accept(stream).await,
            Some(members) => {
                let started = LazyConfigAcceptor::new(Acceptor::default(), stream)
                    .await
                    .map_err(handshake_error)?;
                let is_member = started.client_hello().server_name() == Some(cluster_key::NAME);
                let config = if is_member { members } else { &self.config };
                started.into_stream(config.clone()).await
            }
        };
        let stream = stream.map_err(handshake_error)?;
        Ok(EncryptedStream::new(TlsStream::Server(stream)))
    }
}

/// Returns the settings for members of a cluster. A member proves its secret after the handshake, by its password.
fn member_config(key: &ClusterKey) -> WireResult<Arc<ServerConfig>> {
    let mut config = ServerConfig::builder_with_provider(Arc::new(provider()))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(tls_error)?
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(ClusterCertificate(key.shown())));
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    Ok(Arc::new(config))
}

/// The certificate with the key of a cluster.
#[derive(Debug)]
struct ClusterCertificate(Arc<CertifiedKey>);

impl ResolvesServerCert for ClusterCertificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.0))
    }
}

/// Verifier that checks a client's certificate if the client shows one.
#[derive(Debug)]
struct OptionalCertificateVerifier(Authorities);

impl ClientCertVerifier for OptionalCertificateVerifier {
    fn client_auth_mandatory(&self) -> bool {
        false
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.0.subjects()
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        let mut chain = vec![end_entity.clone()];
        chain.extend_from_slice(intermediates);
        match self.0.check(&chain, Usage::Client, now) {
            Ok(_) => Ok(ClientCertVerified::assertion()),
            Err(distrust) => Err(Error::InvalidCertificate(match distrust {
                CertificateRejection::UnknownAuthority => CertificateError::UnknownIssuer,
                CertificateRejection::OutOfDate(_) => CertificateError::Expired,
                CertificateRejection::Revoked => CertificateError::Revoked,
                CertificateRejection::WrongName(_) => CertificateError::NotValidForName,
                CertificateRejection::Other(_) => CertificateError::ApplicationVerificationFailure,
            })),
        }
    }

    verify_handshake_signatures!();
}
