//! Trust in certificates, and the reasons against it.
//!
//! A certificate is trusted if a chain of signatures leads from it to one of the authorities, and every member of the
//! chain is valid now, was allowed to do what it did, and is on none of our revocation lists. webpki checks this,
//! except for the authority itself, which it takes as given. This module checks that the authority is valid now and
//! may sign, as OpenSSL requires. It also handles two kinds of certificates that OpenSSL accepts and webpki does not:
//! one of X.509 version 1, which has no extensions, must be signed by an authority directly; and one that is itself
//! among the authorities is trusted as it is.

use super::certificate::{Certificate, parse, seconds, time_text};
use super::files;
use super::parameters::{TlsParameters, path};
use super::signature::has_signed;
use super::{provider, tls_error};
use crate::error::{WireError, WireResult};
use rustls::DistinguishedName;
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer, ServerName, TrustAnchor, UnixTime};
use webpki::{
    CertRevocationList, EndEntityCert, ExpirationPolicy, KeyUsage, OwnedCertRevocationList,
    RevocationOptionsBuilder, UnknownStatusPolicy, VerifiedPath, anchor_from_trusted_cert,
};
use x509_cert::TbsCertificate;
use x509_cert::crl::CertificateList;
use x509_cert::der::Decode;

/// Maximum total length of the authorities' names that a server sends to its clients, in bytes. The protocol allows
/// 65,535, and rustls does not check the limit.
const SUBJECTS_MAX: usize = 32 << 10;

/// Purpose of a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Usage {
    /// It authenticates a server.
    Server,
    /// It authenticates a client.
    Client,
}

/// Reason why a certificate is not trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CertificateRejection {
    /// No known authority has signed it; also for an unknown self-signed certificate.
    UnknownAuthority,
    /// It is expired or not yet valid.
    OutOfDate(String),
    /// It is on a revocation list.
    Revoked,
    /// It belongs to another host.
    WrongName(String),
    /// Any other reason.
    Other(String),
}

impl std::fmt::Display for CertificateRejection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            CertificateRejection::UnknownAuthority => f.write_str("Peer certificate is not trusted"),
            CertificateRejection::OutOfDate(text) => {
                write!(f, "Certificate not yet valid or expired ({text})")
            }
            CertificateRejection::Revoked => f.write_str("Certificate revoked"),
            CertificateRejection::WrongName(text) => write!(f, "Hostname verification failed ({text})"),
            CertificateRejection::Other(text) => write!(f, "Peer certificate verification failed ({text})"),
        }
    }
}

impl From<CertificateRejection> for WireError {
    fn from(distrust: CertificateRejection) -> WireError {
        tls_error(distrust)
    }
}

/// The authorities whose certificates are trusted.
#[derive(Debug, Default)]
pub struct Authorities {
    /// Certificates that are trusted as they are.
    certificates: Vec<Certificate>,
    /// Those of them that may sign others, and webpki's form of each.
    signers: Vec<Certificate>,
    anchors: Vec<TrustAnchor<'static>>,
    subjects: Vec<DistinguishedName>,
    /// Revocation lists, the newest first: webpki uses the first one of an issuer.
    revocations: Vec<RevocationList>,
}

/// A revocation list of an authority, in webpki's form and in decoded form for certificates that webpki does not
/// support.
#[derive(Debug)]
struct RevocationList {
    list: CertRevocationList<'static>,
    parsed: CertificateList,
}

impl RevocationList {
    fn read(der: CertificateRevocationListDer<'static>) -> WireResult<RevocationList> {
        let unusable =
            |error: &dyn std::fmt::Display| tls_error(format!("A revocation list cannot be used: {error}"));
        let list = OwnedCertRevocationList::from_der(&der).map_err(|error| unusable(&error))?;
        Ok(RevocationList {
            list: list.into(),
            parsed: CertificateList::from_der(&der).map_err(|error| unusable(&error))?,
        })
    }

    /// Returns until when the list is valid, in seconds since 1970. A list without this date is useless, because
    /// webpki refuses it.
    fn next_update(&self) -> i64 {
        self.parsed.tbs_cert_list.next_update.map_or(0, seconds)
    }
}

impl Authorities {
    /// Loads the authorities from files.
    ///
    /// # Errors
    /// If a file cannot be read or contains no certificate. In a directory, files without certificates are skipped,
    /// and so are unreadable files, because fewer authorities only mean less trust. Revocation lists must always be
    /// readable.
    pub fn load(from: &TlsParameters) -> WireResult<Authorities> {
        let mut authorities = Authorities::default();
        if let Some(path) = path(&from.ca) {
            for certificate in files::certificates(path)? {
                authorities.add(&certificate).ok_or_else(|| {
                    tls_error(format!(
                        "'{}' contains something that is not a certificate",
                        path.display()
                    ))
                })?;
            }
        }
        if let Some(directory) = path(&from.ca_path) {
            for path in files::files_of(directory)? {
                for certificate in files::certificates(&path).unwrap_or_default() {
                    authorities.add(&certificate);
                }
            }
        }
        authorities.load_revocations(from)?;
        Ok(authorities)
    }

    fn load_revocations(&mut self, from: &TlsParameters) -> WireResult<()> {
        let mut lists = vec![];
        if let Some(path) = path(&from.crl) {
            lists = files::revocation_lists(path)?;
            if lists.is_empty() {
                return Err(tls_error(format!(
                    "Unable to get revocation list from '{}': it holds none",
                    path.display()
                )));
            }
        }
        if let Some(directory) = path(&from.crl_path) {
            for path in files::files_of(directory)? {
                lists.extend(files::revocation_lists(&path)?);
            }
        }
        for list in lists {
            self.revocations.push(RevocationList::read(list)?);
        }
        self.revocations
            .sort_by_key(|list| std::cmp::Reverse(list.next_update()));
        Ok(())
    }

    /// Loads the operating system's authorities, with the given revocation lists.
    ///
    /// # Errors
    /// As for [`load`](Authorities::load).
    pub fn system(from: &TlsParameters) -> WireResult<Authorities> {
        let mut authorities = Authorities::default();
        for certificate in rustls_native_certs::load_native_certs().certs {
            authorities.add(&certificate);
        }
        authorities.load_revocations(from)?;
        Ok(authorities)
    }

    fn add(&mut self, der: &CertificateDer<'_>) -> Option<()> {
        let certificate = Certificate::read(der)?;
        // A directory often contains each certificate under several names.
        if self.certificates.contains(&certificate) {
            return Some(());
        }
        let anchor = anchor_from_trusted_cert(der).ok()?.to_owned();
        self.subjects
            .push(DistinguishedName::in_sequence(&anchor.subject));
        if certificate.may_sign() {
            self.anchors.push(anchor);
            self.signers.push(certificate.clone());
        }
        self.certificates.push(certificate);
        Some(())
    }

    /// Returns whether there are no authorities.
    pub fn is_empty(&self) -> bool {
        self.certificates.is_empty()
    }

    /// Returns the names of the authorities, which a server sends to its clients so that they can choose a
    /// certificate. Empty if the names are too long: clients then show the certificate that they have.
    pub(crate) fn subjects(&self) -> &[DistinguishedName] {
        let bytes: usize = self.subjects.iter().map(|name| name.as_ref().len() + 2).sum();
        match bytes <= SUBJECTS_MAX {
            true => &self.subjects,
            false => &[],
        }
    }

    /// Checks the certificate that a peer has shown, which is the first of `chain`, with the other ones that it has
    /// sent.
    ///
    /// # Errors
    /// The reason why it is not trusted. [`CertificateRejection::UnknownAuthority`] means that nothing else is wrong
    /// with it.
    pub fn check(
        &self,
        chain: &[CertificateDer<'_>],
        usage: Usage,
        now: UnixTime,
    ) -> Result<Certificate, CertificateRejection> {
        let unreadable = || CertificateRejection::Other("the certificate is malformed".into());
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
        match certificate.is_third_version() {
            true => self.check_chain(der, intermediates, usage, now)?,
            false => self.check_older_version(&certificate, now)?,
        }
        Ok(certificate)
    }

    fn check_chain(
        &self,
        der: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        usage: Usage,
        now: UnixTime,
    ) -> Result<(), CertificateRejection> {
        let usage = match usage {
            Usage::Server => KeyUsage::server_auth(),
            Usage::Client => KeyUsage::client_auth(),
        };
        // As OpenSSL checks it for MariaDB: if there are lists, every member of the chain needs a valid one of its
        // issuer.
        let lists: Vec<&CertRevocationList<'_>> = self.revocations.iter().map(|list| &list.list).collect();
        let revocation = RevocationOptionsBuilder::new(&lists).ok().map(|builder| {
            builder
                .with_status_policy(UnknownStatusPolicy::Deny)
                .with_expiration_policy(ExpirationPolicy::Enforce)
                .build()
        });
        // Several certificates of an authority may have the same key: it is enough if one of them is valid.
        let is_anchored_now = |path: &VerifiedPath<'_>| {
            let of_anchor = self.anchors.iter().zip(&self.signers);
            let mut dates = of_anchor
                .filter(|(anchor, _)| *anchor == path.anchor())
                .map(|(_, signer)| check_dates(signer, now));
            match dates.any(|outcome| outcome.is_ok()) {
                true => Ok(()),
                false => Err(webpki::Error::CertExpired {
                    time: now,
                    not_after: now,
                }),
            }
        };
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
                Some(&is_anchored_now),
            )
            .map_err(distrust)?;
        Ok(())
    }

    /// Checks a certificate before X.509 version 3, which an authority must have signed directly.
    fn check_older_version(
        &self,
        certificate: &Certificate,
        now: UnixTime,
    ) -> Result<(), CertificateRejection> {
        let unreadable = || distrust(webpki::Error::BadDer);
        let parsed = parse(certificate.der()).ok_or_else(unreadable)?;
        let signed = &parsed.tbs_certificate;
        let mut outcome = Err(CertificateRejection::UnknownAuthority);
        for signer in &self.signers {
            if signed.issuer == signer.subject && has_signed(signer, signed, &parsed.signature) {
                outcome =
                    check_dates(signer, now).and_then(|()| self.check_older_revocation(signed, signer, now));
                if outcome.is_ok() {
                    break;
                }
            }
        }
        outcome
    }

    /// Checks the revocation lists as webpki does.
    fn check_older_revocation(
        &self,
        certificate: &TbsCertificate,
        signer: &Certificate,
        now: UnixTime,
    ) -> Result<(), CertificateRejection> {
        if self.revocations.is_empty() {
            return Ok(());
        }
        let newest = self
            .revocations
            .iter()
            .find(|known| known.parsed.tbs_cert_list.issuer == certificate.issuer)
            .filter(|newest| has_signed(signer, &newest.parsed.tbs_cert_list, &newest.parsed.signature))
            .ok_or_else(|| distrust(webpki::Error::UnknownRevocationStatus))?;
        let mut revoked = newest.parsed.tbs_cert_list.revoked_certificates.iter().flatten();
        if revoked.any(|revoked| revoked.serial_number == certificate.serial_number) {
            return Err(CertificateRejection::Revoked);
        }
        match newest.next_update() > seconds_of(now) {
            true => Ok(()),
            false => Err(out_of_date_list()),
        }
    }
}

fn out_of_date_list() -> CertificateRejection {
    CertificateRejection::OutOfDate("the revocation list of its authority".into())
}

fn seconds_of(now: UnixTime) -> i64 {
    i64::try_from(now.as_secs()).unwrap_or(i64::MAX)
}

fn check_dates(certificate: &Certificate, now: UnixTime) -> Result<(), CertificateRejection> {
    let now = seconds_of(now);
    if now > certificate.not_after {
        return Err(CertificateRejection::OutOfDate(format!(
            "it was valid until {}",
            time_text(certificate.not_after)
        )));
    }
    if now < certificate.not_before {
        return Err(CertificateRejection::OutOfDate(format!(
            "it is valid from {}",
            time_text(certificate.not_before)
        )));
    }
    Ok(())
}

/// Converts an error of webpki.
fn distrust(error: webpki::Error) -> CertificateRejection {
    use webpki::Error::*;
    match error {
        // A certificate that is its own authority has an unknown authority.
        UnknownIssuer | CaUsedAsEndEntity => CertificateRejection::UnknownAuthority,
        CertExpired { .. } | CertNotValidYet { .. } => {
            CertificateRejection::OutOfDate("one in its chain".into())
        }
        CertRevoked => CertificateRejection::Revoked,
        CrlExpired { .. } => out_of_date_list(),
        UnknownRevocationStatus => {
            CertificateRejection::Other("there is no revocation list of its authority".into())
        }
        other => CertificateRejection::Other(other.to_string()),
    }
}

/// Checks that a certificate belongs to `host`, by the rules of OpenSSL's `X509_check_host` and `X509_check_ip`: by
/// the names in the extension, and by the common name if the extension contains no host.
///
/// # Errors
/// [`CertificateRejection::WrongName`].
pub fn check_name(certificate: &Certificate, host: &str) -> Result<(), CertificateRejection> {
    let named = ServerName::try_from(host).is_ok_and(|name| {
        EndEntityCert::try_from(certificate.der())
            .is_ok_and(|certificate| certificate.verify_is_valid_for_subject_name(&name).is_ok())
    });
    let common = || {
        !certificate.names_hosts()
            && certificate
                .common_names()
                .iter()
                .any(|name| matches_host(name, host))
    };
    if named || common() {
        return Ok(());
    }
    Err(CertificateRejection::WrongName(format!(
        "the certificate of '{}' is not '{host}'s",
        certificate.subject_text()
    )))
}

/// Compares a common name with a host. A `*` matches the first label, and only if at least two labels follow.
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
    use rcgen::{CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose};
    use rustls::pki_types::pem::PemObject;

    fn wanted(name: &str, is_ca: IsCa) -> CertificateParams {
        let mut wanted = CertificateParams::default();
        wanted.distinguished_name.push(DnType::CommonName, name);
        wanted.is_ca = is_ca;
        wanted
    }

    /// Returns the result of checking a client's certificate that `signer`, which is among the authorities, has signed.
    fn signed_by(signer: CertificateParams) -> Result<Certificate, CertificateRejection> {
        let key = KeyPair::generate().unwrap();
        let mut authorities = Authorities::default();
        let certificate = signer.self_signed(&key).unwrap();
        authorities.add(certificate.der()).unwrap();
        let now = UnixTime::now();
        let chain = [certificate.der().clone()];
        if check_dates(&authorities.certificates[0], now).is_ok() {
            authorities.check(&chain, Usage::Client, now).unwrap();
        }
        let client = wanted("client", IsCa::NoCa)
            .signed_by(&KeyPair::generate().unwrap(), &Issuer::new(signer, key))
            .unwrap();
        authorities.check(&[client.der().clone()], Usage::Client, now)
    }

    #[test]
    fn no_names_are_sent_if_there_are_too_many_authorities() {
        let key = KeyPair::generate().unwrap();
        let mut authorities = Authorities::default();
        for number in 0..300 {
            let name = format!("{number}{}", "x".repeat(60));
            let certificate = wanted(&name, IsCa::Ca(rcgen::BasicConstraints::Unconstrained));
            let certificate = certificate.self_signed(&key).unwrap();
            for _ in 0..3 {
                authorities.add(certificate.der()).unwrap();
            }
        }
        assert_eq!(authorities.subjects().len(), 300);
        for number in 0..600 {
            let name = format!("{number}{}", "y".repeat(60));
            let certificate = wanted(&name, IsCa::Ca(rcgen::BasicConstraints::Unconstrained));
            authorities
                .add(certificate.self_signed(&key).unwrap().der())
                .unwrap();
        }
        assert_eq!(authorities.certificates.len(), 900);
        assert!(authorities.subjects().is_empty());
    }

    #[test]
    fn an_authority_must_be_valid_and_allowed_to_sign() {
        let authority = || wanted("ca", IsCa::Ca(rcgen::BasicConstraints::Unconstrained));
        signed_by(authority()).unwrap();
        let mut by_usage = wanted("ca", IsCa::NoCa);
        by_usage.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        signed_by(by_usage).unwrap();
        // A certificate that is only trusted itself must not sign others.
        for pinned in [wanted("pinned", IsCa::ExplicitNoCa), wanted("pinned", IsCa::NoCa)] {
            assert_eq!(
                signed_by(pinned).unwrap_err(),
                CertificateRejection::UnknownAuthority
            );
        }
        let mut other_usage = authority();
        other_usage.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        assert_eq!(
            signed_by(other_usage).unwrap_err(),
            CertificateRejection::UnknownAuthority
        );
        let mut lapsed = authority();
        lapsed.not_after = rcgen::date_time_ymd(2021, 1, 1);
        assert!(matches!(
            signed_by(lapsed),
            Err(CertificateRejection::OutOfDate(_))
        ));
        let mut early = authority();
        early.not_before = rcgen::date_time_ymd(4000, 1, 1);
        assert!(matches!(
            signed_by(early),
            Err(CertificateRejection::OutOfDate(_))
        ));
    }

    #[test]
    fn hosts_are_checked_against_the_extension() {
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
    fn hosts_are_checked_against_the_common_name() {
        assert!(matches_host("db.example.com", "DB.example.com"));
        assert!(matches_host("db.example.com", "db.example.com."));
        assert!(matches_host("*.example.com", "db.example.com"));
        assert!(!matches_host("*.example.com", "a.db.example.com"));
        assert!(!matches_host("*.com", "example.com"));
        assert!(!matches_host("*.example.com", ".example.com"));
        assert!(!matches_host("db", "db2"));
    }
}
