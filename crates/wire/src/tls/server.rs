//! A server's settings: the certificate that it shows, and whose clients' certificates it believes. `ssl_cert`, `ssl_key`, `ssl_ca` and their like.
//!
//! A client need not show a certificate. If it shows one and the server knows authorities, the certificate is checked in the handshake, and a
//! wrong one ends it; whether an account needs one is asked later. A server that knows no authorities asks for none.

use super::authorities::{Authorities, AuthorityFiles, Usage};
use super::certificate::Certificate;
use super::stream::{Below, TlsSocket};
use super::suites::{parse_versions, provider_with, suite_list};
use super::{files, handshake_error, self_signed, signature, tls_error};
use crate::error::WireResult;
use crate::socket::Socket;
use rustls::client::danger::HandshakeSignatureValid;
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{NoClientAuth, NoServerSessionStorage};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{DigitallySignedStruct, DistinguishedName, Error, ServerConfig, SignatureScheme};
use std::path::Path;
use std::sync::Arc;
use tokio_rustls::{TlsAcceptor, TlsStream};

/// What a server is told of TLS. An empty text stands for what is not given.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ServerTlsOptions {
    /// `ssl_cert`. Without it the server makes a certificate of its own.
    pub certificate: String,
    /// `ssl_key`; the certificate's file if it is not given.
    pub key: String,
    /// `ssl_ca`.
    pub ca: String,
    /// `ssl_capath`.
    pub ca_path: String,
    /// `ssl_crl`.
    pub crl: String,
    /// `ssl_crlpath`.
    pub crl_path: String,
    /// `ssl_cipher`.
    pub cipher: String,
    /// `tls_version`.
    pub versions: String,
}

/// Settings, ready to accept with. Cheap to clone.
#[derive(Debug, Clone)]
pub struct ServerTls {
    config: Arc<ServerConfig>,
    certificate: Arc<Certificate>,
    cipher_list: Arc<str>,
}

fn path(text: &str) -> Option<&Path> {
    (!text.is_empty()).then(|| Path::new(text))
}

impl ServerTls {
    /// Reads the files, or makes a certificate.
    ///
    /// # Errors
    /// [`WireError::Tls`](crate::WireError::Tls) for what cannot be read or heeded.
    pub fn new(options: &ServerTlsOptions) -> WireResult<ServerTls> {
        let shown = match (options.certificate.as_str(), options.key.as_str()) {
            ("", "") => self_signed::make(UnixTime::now())?,
            ("", both) | (both, "") => files::certified_key(Path::new(both), Path::new(both))?,
            (certificate, key) => files::certified_key(Path::new(certificate), Path::new(key))?,
        };
        let authorities = Authorities::load(AuthorityFiles {
            ca: path(&options.ca),
            ca_path: path(&options.ca_path),
            crl: path(&options.crl),
            crl_path: path(&options.crl_path),
        })?;
        let verifier: Arc<dyn ClientCertVerifier> = match authorities.is_empty() {
            true => Arc::new(NoClientAuth),
            false => Arc::new(IfShown(authorities)),
        };
        Self::with(shown, verifier, &options.cipher, &options.versions)
    }

    fn with(
        shown: CertifiedKey,
        verifier: Arc<dyn ClientCertVerifier>,
        cipher: &str,
        versions: &str,
    ) -> WireResult<ServerTls> {
        let certificate = shown
            .cert
            .first()
            .and_then(Certificate::read)
            .ok_or_else(|| tls_error("Unable to get certificate"))?;
        let provider = provider_with(cipher)?;
        let cipher_list = suite_list(&provider.cipher_suites).into();
        let mut config = ServerConfig::builder_with_provider(Arc::new(provider))
            .with_protocol_versions(&parse_versions(versions)?)
            .map_err(tls_error)?
            .with_client_cert_verifier(verifier)
            .with_cert_resolver(Arc::new(SingleCertAndKey::from(shown)));
        // Connections live long: to take one up again is not worth the state.
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        Ok(ServerTls {
            config: Arc::new(config),
            certificate: Arc::new(certificate),
            cipher_list,
        })
    }

    /// The certificate that it shows.
    pub fn certificate(&self) -> &Certificate {
        &self.certificate
    }

    /// `Ssl_cipher_list`.
    pub fn cipher_list(&self) -> &str {
        &self.cipher_list
    }

    /// Encrypts a socket whose other end asked for it; `early` is what it has sent behind that.
    ///
    /// # Errors
    /// [`WireError::Tls`](crate::WireError::Tls); the socket is gone then.
    pub async fn accept(&self, socket: Socket, early: Vec<u8>) -> WireResult<Socket> {
        let stream = TlsAcceptor::from(self.config.clone())
            .accept(Below::new(socket, early))
            .await
            .map_err(handshake_error)?;
        Ok(Socket::Tls(Box::new(TlsSocket::new(TlsStream::Server(stream)))))
    }
}

/// Checks a client's certificate if it shows one.
#[derive(Debug)]
struct IfShown(Authorities);

impl ClientCertVerifier for IfShown {
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
        use super::authorities::Distrust;
        use rustls::CertificateError;
        let mut chain = vec![end_entity.clone()];
        chain.extend_from_slice(intermediates);
        match self.0.check(&chain, Usage::Client, now) {
            Ok(_) => Ok(ClientCertVerified::assertion()),
            Err(distrust) => Err(Error::InvalidCertificate(match distrust {
                Distrust::UnknownAuthority => CertificateError::UnknownIssuer,
                Distrust::OutOfDate(_) => CertificateError::Expired,
                Distrust::Revoked => CertificateError::Revoked,
                Distrust::WrongName(_) => CertificateError::NotValidForName,
                Distrust::Other(_) => CertificateError::ApplicationVerificationFailure,
            })),
        }
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
