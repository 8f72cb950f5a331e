//! Whose certificates are believed, and why one is not.
//!
//! A certificate is believed if a chain of signatures leads from it to one of the authorities, every member of the chain is valid now,
//! may do what it did, and is on no revocation list that we have. webpki checks this. Two kinds that it does not know, and OpenSSL does, are
//! checked here: a certificate of X.509's first version has no extensions, so it must be signed by an authority itself; and a
//! certificate that is among the authorities is believed as it is.

use super::certificate::Certificate;
use super::files;
use super::{provider, tls_error};
use crate::error::{WireError, WireResult};
use rustls::DistinguishedName;
use rustls::pki_types::{CertificateDer, ServerName, TrustAnchor, UnixTime};
use std::net::IpAddr;
use std::path::Path;
use webpki::{
    CertRevocationList, EndEntityCert, KeyUsage, OwnedCertRevocationList, RevocationOptionsBuilder,
    UnknownStatusPolicy, anchor_from_trusted_cert,
};

/// Where authorities and revocation lists are.
#[derive(Debug, Clone, Copy, Default)]
pub struct AuthorityFiles<'a> {
    /// `ssl_ca`: a file of certificates.
    pub ca: Option<&'a Path>,
    /// `ssl_capath`: a directory of such files.
    pub ca_path: Option<&'a Path>,
    /// `ssl_crl`: a file of revocation lists.
    pub crl: Option<&'a Path>,
    /// `ssl_crlpath`: a directory of such files.
    pub crl_path: Option<&'a Path>,
}

/// What a certificate is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Usage {
    /// To show that a server is who it says.
    Server,
    /// To show that a client is.
    Client,
}

/// Why a certificate is not believed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Distrust {
    /// No authority that we know stands behind it: also what a self-signed certificate comes to.
    UnknownAuthority,
    /// Its time is over, or has not come.
    OutOfDate(String),
    /// It is on a revocation list.
    Revoked,
    /// It is another host's.
    WrongName(String),
    /// Whatever else.
    Other(String),
}

impl std::fmt::Display for Distrust {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Distrust::UnknownAuthority => f.write_str("Peer certificate is not trusted"),
            Distrust::OutOfDate(text) => write!(f, "Certificate not yet valid or expired ({text})"),
            Distrust::Revoked => f.write_str("Certificate revoked"),
            Distrust::WrongName(text) => write!(f, "Hostname verification failed ({text})"),
            Distrust::Other(text) => write!(f, "Peer certificate verification failed ({text})"),
        }
    }
}

impl From<Distrust> for WireError {
    fn from(distrust: Distrust) -> WireError {
        tls_error(distrust)
    }
}

/// Those whose certificates are believed.
#[derive(Debug, Default)]
pub struct Authorities {
    certificates: Vec<Certificate>,
    anchors: Vec<TrustAnchor<'static>>,
    subjects: Vec<DistinguishedName>,
    revocations: Vec<CertRevocationList<'static>>,
}

impl Authorities {
    /// Reads them from files.
    ///
    /// # Errors
    /// If a file cannot be read or holds nothing; in a directory, files that hold nothing are passed over.
    pub fn load(from: AuthorityFiles<'_>) -> WireResult<Authorities> {
        let mut authorities = Authorities::default();
        if let Some(path) = from.ca {
            for certificate in files::certificates(path)? {
                authorities
                    .add(&certificate)
                    .ok_or_else(|| tls_error(format!("'{}' holds what is no certificate", path.display())))?;
            }
        }
        if let Some(directory) = from.ca_path {
            for path in files::files_of(directory)? {
                for certificate in files::certificates(&path).unwrap_or_default() {
                    authorities.add(&certificate);
                }
            }
        }
        let mut lists = vec![];
        if let Some(path) = from.crl {
            lists.extend(files::revocation_lists(path)?);
        }
        if let Some(directory) = from.crl_path {
            for path in files::files_of(directory)? {
                lists.extend(files::revocation_lists(&path).unwrap_or_default());
            }
        }
        for list in lists {
            let list = OwnedCertRevocationList::from_der(&list)
                .map_err(|error| tls_error(format!("A revocation list cannot be used: {error}")))?;
            authorities.revocations.push(list.into());
        }
        Ok(authorities)
    }

    /// Those that the operating system believes.
    pub fn system() -> Authorities {
        let mut authorities = Authorities::default();
        for certificate in rustls_native_certs::load_native_certs().certs {
            authorities.add(&certificate);
        }
        authorities
    }

    fn add(&mut self, der: &CertificateDer<'_>) -> Option<()> {
        let certificate = Certificate::read(der)?;
        let anchor = anchor_from_trusted_cert(der).ok()?.to_owned();
        self.subjects
            .push(DistinguishedName::from(certificate.subject.clone()));
        self.anchors.push(anchor);
        self.certificates.push(certificate);
        Some(())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.certificates.is_empty()
    }

    /// Who they are: a server tells its clients, so that they choose a certificate.
    pub(crate) fn subjects(&self) -> &[DistinguishedName] {
        &self.subjects
    }

    /// Checks the certificate that a peer showed, the first of `chain`, with the others that it sent.
    ///
    /// # Errors
    /// Why it is not believed. That nobody known stands behind it is only said if nothing else is wrong with it.
    pub fn check(
        &self,
        chain: &[CertificateDer<'_>],
        usage: Usage,
        now: UnixTime,
    ) -> Result<Certificate, Distrust> {
        let unreadable = || Distrust::Other("the certificate is malformed".into());
        let (der, intermediates) = chain.split_first().ok_or_else(unreadable)?;
        let certificate = Certificate::read(der).ok_or_else(unreadable)?;
        check_dates(&certificate, now)?;
        if self
            .certificates
            .iter()
            .any(|known| known.der() == certificate.der())
        {
            return Ok(certificate);
        }
        match certificate.version {
            3 => self.check_chain(der, intermediates, usage, now)?,
            _ => self.check_first_version(&certificate)?,
        }
        Ok(certificate)
    }

    fn check_chain(
        &self,
        der: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        usage: Usage,
        now: UnixTime,
    ) -> Result<(), Distrust> {
        let usage = match usage {
            Usage::Server => KeyUsage::server_auth(),
            Usage::Client => KeyUsage::client_auth(),
        };
        let lists: Vec<&CertRevocationList<'_>> = self.revocations.iter().collect();
        let revocation = RevocationOptionsBuilder::new(&lists)
            .ok()
            .map(|builder| builder.with_status_policy(UnknownStatusPolicy::Allow).build());
        let certificate = EndEntityCert::try_from(der).map_err(distrust)?;
        let algorithms = provider().signature_verification_algorithms.all;
        certificate
            .verify_for_usage(
                algorithms,
                &self.anchors,
                intermediates,
                now,
                usage,
                revocation,
                None,
            )
            .map_err(distrust)?;
        Ok(())
    }

    /// X.509's first version: an authority signed it itself.
    fn check_first_version(&self, certificate: &Certificate) -> Result<(), Distrust> {
        let signed_by = |authority: &&Certificate| {
            authority.subject == certificate.issuer
                && provider()
                    .signature_verification_algorithms
                    .all
                    .iter()
                    .any(|algorithm| {
                        algorithm.signature_alg_id().as_ref() == certificate.signature_algorithm
                            && algorithm.public_key_alg_id().as_ref() == authority.key_algorithm
                            && algorithm
                                .verify_signature(&authority.key, &certificate.signed, &certificate.signature)
                                .is_ok()
                    })
        };
        if !self.certificates.iter().any(|authority| signed_by(&authority)) {
            return Err(Distrust::UnknownAuthority);
        }
        let revoked = self
            .revocations
            .iter()
            .filter(|list| same_name(list.issuer(), &certificate.issuer))
            .any(|list| matches!(list.find_serial(&certificate.serial), Ok(Some(_)) | Err(_)));
        match revoked {
            true => Err(Distrust::Revoked),
            false => Ok(()),
        }
    }
}

/// Compares names, whether they are given with their outermost tag or without.
fn same_name(content: &[u8], whole: &[u8]) -> bool {
    content == whole || whole.ends_with(content) && whole.len() - content.len() <= 6
}

fn check_dates(certificate: &Certificate, now: UnixTime) -> Result<(), Distrust> {
    use super::certificate::time_text;
    let now = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
    if now > certificate.not_after {
        return Err(Distrust::OutOfDate(format!(
            "it was valid until {}",
            time_text(certificate.not_after)
        )));
    }
    if now < certificate.not_before {
        return Err(Distrust::OutOfDate(format!(
            "it is valid from {}",
            time_text(certificate.not_before)
        )));
    }
    Ok(())
}

/// webpki's words, where they are not ours.
fn distrust(error: webpki::Error) -> Distrust {
    use webpki::Error::*;
    match error {
        // A certificate that is its own authority is one that is not known.
        UnknownIssuer | CaUsedAsEndEntity => Distrust::UnknownAuthority,
        CertExpired { .. } | CertNotValidYet { .. } => Distrust::OutOfDate("one in its chain".into()),
        CertRevoked => Distrust::Revoked,
        other => Distrust::Other(other.to_string()),
    }
}

/// Checks that a certificate is `host`'s, by the rules of OpenSSL's `X509_check_host` and `X509_check_ip`: the names of the extension, and the
/// common name where the extension names no host.
///
/// # Errors
/// [`Distrust::WrongName`].
pub fn check_name(certificate: &Certificate, host: &str) -> Result<(), Distrust> {
    let address: Option<IpAddr> = host.parse().ok();
    let named = match address {
        Some(address) => certificate.addresses.contains(&address),
        None => ServerName::try_from(host).is_ok_and(|name| {
            EndEntityCert::try_from(certificate.der())
                .is_ok_and(|certificate| certificate.verify_is_valid_for_subject_name(&name).is_ok())
        }),
    };
    let common = || {
        certificate.dns_names.is_empty()
            && certificate
                .common_names()
                .iter()
                .any(|name| matches_host(name, host))
    };
    if named || common() {
        return Ok(());
    }
    Err(Distrust::WrongName(format!(
        "the certificate of '{}' is not '{host}'s",
        certificate.subject_text()
    )))
}

/// A common name against a host: a `*` stands for the first label, and only where two more follow.
fn matches_host(name: &str, host: &str) -> bool {
    let host = host.strip_suffix('.').unwrap_or(host);
    match name.strip_prefix("*.") {
        Some(domain) => {
            domain.contains('.')
                && host
                    .split_once('.')
                    .is_some_and(|(label, rest)| !label.is_empty() && rest.eq_ignore_ascii_case(domain))
        }
        None => name.eq_ignore_ascii_case(host),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustls::pki_types::pem::PemObject;

    #[test]
    fn names_by_the_extension() {
        let der = CertificateDer::from_pem_slice(include_bytes!("testdata/example.pem")).unwrap();
        let certificate = Certificate::read(&der).unwrap();
        for host in [
            "db.example.com",
            "DB.Example.com",
            "x.example.com",
            "127.0.0.1",
            "::1",
        ] {
            assert_eq!(check_name(&certificate, host), Ok(()), "{host}");
        }
        for host in [
            "example.com",
            "a.b.example.com",
            "db.example.org",
            "127.0.0.2",
            "::2",
            "",
        ] {
            assert!(check_name(&certificate, host).is_err(), "{host}");
        }
    }

    #[test]
    fn names_by_the_common_name() {
        assert!(matches_host("db.example.com", "DB.example.com"));
        assert!(matches_host("db.example.com", "db.example.com."));
        assert!(matches_host("*.example.com", "db.example.com"));
        assert!(!matches_host("*.example.com", "a.db.example.com"));
        assert!(!matches_host("*.com", "example.com"));
        assert!(!matches_host("*.example.com", ".example.com"));
        assert!(!matches_host("db", "db2"));
    }
}
