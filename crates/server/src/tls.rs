//! TLS for clients: the offered configuration, `FLUSH SSL`, and `Ssl_…` of SHOW STATUS.
//!
//! Like MariaDB 11.4 and later, a server without a configured certificate creates one at every start: clients are
//! encrypted without any setup, and those that know MariaDB's scheme verify the certificate by their password
//! ([`paceline_wire::tls::proof`]). `--skip-ssl` disables TLS.

use crate::variables::{Globals, Variable};
use arc_swap::ArcSwapOption;
use paceline_syntax::Error;
use paceline_types::error_code::ER_UNKNOWN_ERROR;
use paceline_wire::WireError;
use paceline_wire::tls::certificate::time_text;
use paceline_wire::tls::{ClusterKey, ServerTls, TlsParameters, TlsSession};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// TLS of a running server.
#[derive(Debug, Default)]
pub struct Tls {
    current: ArcSwapOption<ServerTls>,
    /// `Ssl_accepts` since the last `FLUSH SSL`.
    accepts: AtomicU64,
    /// `Ssl_finished_accepts`.
    finished_accepts: AtomicU64,
    /// In a cluster: the members' key.
    cluster: OnceLock<ClusterKey>,
}

/// Value of `version_ssl_library`.
const LIBRARY: &str = "rustls 0.23, ring 0.17";

/// Returns the TLS parameters from the variables.
fn parameters(globals: &Globals) -> TlsParameters {
    let text = |variable: Variable| globals.get(variable).as_str().to_owned();
    let versions = Variable::TlsVersion.definition();
    TlsParameters {
        certificate: text(Variable::SslCert),
        key: text(Variable::SslKey),
        ca: text(Variable::SslCa),
        ca_path: text(Variable::SslCapath),
        crl: text(Variable::SslCrl),
        crl_path: text(Variable::SslCrlpath),
        cipher: text(Variable::SslCipher),
        versions: versions
            .show(&globals.get(Variable::TlsVersion))
            .unwrap_or_default(),
    }
}

/// Creates a TLS configuration from the variables.
///
/// # Errors
/// A message about invalid settings.
pub fn make(globals: &Globals) -> Result<ServerTls, String> {
    ServerTls::new(&parameters(globals)).map_err(reason)
}

/// Returns the error text without the common prefix.
fn reason(error: WireError) -> String {
    match error {
        WireError::Tls(text) => text,
        other => other.to_string(),
    }
}

impl Tls {
    /// Shows the members of a cluster their key, from the next configuration on.
    pub fn show_members(&self, key: ClusterKey) {
        let _ = self.cluster.set(key);
    }

    fn make(&self, globals: &Globals) -> Result<ServerTls, String> {
        let made = make(globals)?;
        match self.cluster.get() {
            Some(key) => made.with_cluster(key).map_err(reason),
            None => Ok(made),
        }
    }

    /// Offers TLS to clients, as configured by the variables.
    ///
    /// # Errors
    /// A message about invalid settings: a server that should be encrypted must not start without TLS.
    pub fn offer(&self, globals: &Globals) -> Result<(), String> {
        let made = self
            .make(globals)
            .map_err(|reason| format!("TLS cannot be set up: {reason}"))?;
        let versions = parameters(globals).versions;
        for old in ["TLSv1.0", "TLSv1.1"] {
            if versions.split(',').any(|version| version == old) {
                tracing::warn!("tls_version names {old}, which is not spoken any more");
            }
        }
        if globals.get(Variable::SslCert).as_str().is_empty() {
            tracing::info!("no ssl_cert is given: TLS is offered with a certificate of this start's own");
        }
        globals.set_text(Variable::HaveSsl, "YES");
        globals.set_text(Variable::VersionSslLibrary, LIBRARY);
        self.current.store(Some(Arc::new(made)));
        Ok(())
    }

    /// Reads the files again for `FLUSH SSL`. Existing connections are not affected.
    ///
    /// # Errors
    /// The error of the files; the previous configuration stays in effect.
    pub fn reload(&self, globals: &Globals) -> Result<(), Error> {
        if self.current.load().is_none() {
            return Ok(());
        }
        let made = self.make(globals).map_err(|reason| {
            Error::with_message(
                ER_UNKNOWN_ERROR,
                format!("Failed to refresh SSL, error: {reason}"),
            )
        })?;
        self.current.store(Some(Arc::new(made)));
        self.accepts.store(0, Ordering::Relaxed);
        self.finished_accepts.store(0, Ordering::Relaxed);
        Ok(())
    }

    /// Returns the configuration for new connections.
    pub fn current(&self) -> Option<ServerTls> {
        self.current.load().as_deref().cloned()
    }

    /// Counts a started handshake.
    pub fn begin_handshake(&self) {
        self.accepts.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a finished handshake.
    pub fn end_handshake(&self) {
        self.finished_accepts.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the values of `Ssl_…` for a session, which may be unencrypted. Sessions are never resumed, and there is
    /// no renegotiation.
    pub fn status(&self, session: Option<&TlsSession>) -> Vec<(String, String)> {
        let current = self.current.load();
        // As in MariaDB, unencrypted sessions do not see the certificate.
        let certificate = current
            .as_ref()
            .filter(|_| session.is_some())
            .map(|tls| tls.certificate());
        let date = |seconds: Option<i64>| seconds.map(time_text).unwrap_or_default();
        let cipher_list = match (session, current.as_ref()) {
            (Some(_), Some(tls)) => tls.cipher_list().to_owned(),
            _ => String::new(),
        };
        let texts = [
            (
                "Ssl_cipher",
                session.map_or("", |session| session.cipher).to_owned(),
            ),
            ("Ssl_cipher_list", cipher_list),
            ("Ssl_server_not_after", date(certificate.map(|own| own.not_after))),
            (
                "Ssl_server_not_before",
                date(certificate.map(|own| own.not_before)),
            ),
            (
                "Ssl_session_cache_mode",
                if current.is_some() { "OFF" } else { "NONE" }.to_owned(),
            ),
            (
                "Ssl_version",
                session.map_or("", |session| session.version).to_owned(),
            ),
        ];
        let numbers = [
            ("Ssl_accepts", self.accepts.load(Ordering::Relaxed)),
            (
                "Ssl_finished_accepts",
                self.finished_accepts.load(Ordering::Relaxed),
            ),
        ];
        texts
            .into_iter()
            .chain(numbers.map(|(name, number)| (name, number.to_string())))
            .map(|(name, value)| (name.to_owned(), value))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tls_is_offered_and_reloaded_and_invalid_files_are_errors() {
        let globals = Globals::default();
        let tls = Tls::default();
        assert!(tls.current().is_none());
        tls.reload(&globals).unwrap();
        assert!(tls.current().is_none(), "a reload does not switch it on");
        tls.offer(&globals).unwrap();
        let first = tls.current().unwrap();
        tls.begin_handshake();
        tls.reload(&globals).unwrap();
        let second = tls.current().unwrap();
        assert_ne!(first.certificate(), second.certificate());
        assert!(tls.status(None).contains(&("Ssl_accepts".into(), "0".into())));
        globals.set_text(Variable::SslCa, "/nonexistent");
        let error = tls.reload(&globals).unwrap_err();
        assert_eq!(error.code(), ER_UNKNOWN_ERROR);
        assert!(
            error
                .message()
                .starts_with("Failed to refresh SSL, error: Unable to get certificate from '/nonexistent'")
        );
        assert_eq!(tls.current().unwrap().certificate(), second.certificate());
        assert!(Tls::default().offer(&globals).is_err());
    }
}
