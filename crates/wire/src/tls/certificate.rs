//! X.509 certificates: their names as MariaDB writes them, their dates, their keys. x509-cert decodes them; this
//! module formats names and times as OpenSSL does.

use rustls::pki_types::CertificateDer;
use sha2::{Digest, Sha256};
use std::time::Duration;
use x509_cert::certificate::Version;
use x509_cert::der::{DateTime, Decode, Encode};
use x509_cert::ext::pkix::name::GeneralName;
use x509_cert::ext::pkix::{BasicConstraints, KeyUsage, SubjectAltName};
use x509_cert::name::Name;
use x509_cert::time::Time;

/// A decoded certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Certificate {
    der: CertificateDer<'static>,
    version: Version,
    /// Name of the owner.
    pub(crate) subject: Name,
    issuer: Name,
    names_hosts: bool,
    may_sign: bool,
    /// Encoded key with its algorithm.
    pub(crate) key_info: Vec<u8>,
    /// Beginning of the validity, in seconds since 1970.
    pub not_before: i64,
    /// End of the validity, in seconds since 1970.
    pub not_after: i64,
}

/// Decodes all of `der`. `None` if it is not a certificate, or if it has extensions but a version before they existed.
pub(crate) fn parse(der: &CertificateDer<'_>) -> Option<x509_cert::Certificate> {
    let parsed = x509_cert::Certificate::from_der(der).ok()?;
    let signed = &parsed.tbs_certificate;
    (signed.version == Version::V3 || signed.extensions.is_none()).then_some(parsed)
}

/// Returns a certificate's public key with its algorithm, encoded.
pub(crate) fn key_info(der: &CertificateDer<'_>) -> Option<Vec<u8>> {
    parse(der)?.tbs_certificate.subject_public_key_info.to_der().ok()
}

/// Returns a certificate's time in seconds since 1970.
pub(crate) fn seconds(time: Time) -> i64 {
    i64::try_from(time.to_unix_duration().as_secs()).unwrap_or(i64::MAX)
}

impl Certificate {
    /// Decodes a certificate. `None` if `der` is not one.
    pub fn read(der: &CertificateDer<'_>) -> Option<Certificate> {
        let signed = parse(der)?.tbs_certificate;
        // A host in the extension counts even if webpki cannot read it: the common name must not replace it.
        let names_hosts = signed
            .get::<SubjectAltName>()
            .ok()?
            .is_some_and(|(_, names)| names.0.iter().any(|name| matches!(name, GeneralName::DnsName(_))));
        Some(Certificate {
            may_sign: may_sign(&signed)?,
            names_hosts,
            key_info: signed.subject_public_key_info.to_der().ok()?,
            not_before: seconds(signed.validity.not_before),
            not_after: seconds(signed.validity.not_after),
            version: signed.version,
            subject: signed.subject,
            issuer: signed.issuer,
            der: der.clone().into_owned(),
        })
    }

    /// Returns the encoded certificate.
    pub fn der(&self) -> &CertificateDer<'static> {
        &self.der
    }

    /// Returns whether it is of X.509 version 3, the only version that rustls and webpki support.
    pub(crate) fn is_third_version(&self) -> bool {
        self.version == Version::V3
    }

    /// Returns the owner's name as in `REQUIRE SUBJECT` and `openssl x509 -subject -nameopt compat`:
    /// `/C=DE/O=Example/CN=client`.
    pub fn subject_text(&self) -> String {
        name_text(&self.subject)
    }

    /// Returns the signer's name in the same form.
    pub fn issuer_text(&self) -> String {
        name_text(&self.issuer)
    }

    /// Returns the common names of the owner.
    pub fn common_names(&self) -> Vec<String> {
        attributes(&self.subject)
            .filter(|(name, _)| name == "CN")
            .map(|(_, value)| String::from_utf8_lossy(value).into_owned())
            .collect()
    }

    /// Returns whether its subjectAltName contains hosts. If so, the common name does not count.
    pub fn names_hosts(&self) -> bool {
        self.names_hosts
    }

    /// Returns whether it belongs to an authority, which may sign other certificates.
    pub(crate) fn may_sign(&self) -> bool {
        self.may_sign
    }

    /// Returns the certificate's SHA-256.
    pub fn fingerprint(&self) -> [u8; 32] {
        Sha256::digest(&self.der).into()
    }
}

/// Returns whether a certificate may sign others, by OpenSSL's rule (`X509_check_ca`): the basic constraints say so;
/// or there are none, and it is a self-signed one of version 1, or its key usage includes signing.
fn may_sign(signed: &x509_cert::TbsCertificate) -> Option<bool> {
    let usage = signed
        .get::<KeyUsage>()
        .ok()?
        .map(|(_, usage)| usage.key_cert_sign());
    let is_authority = match signed.get::<BasicConstraints>().ok()? {
        Some((_, constraints)) => constraints.ca,
        None if signed.version == Version::V1 => signed.issuer == signed.subject,
        None => usage.is_some(),
    };
    Some(is_authority && usage != Some(false))
}

/// Formats a time as OpenSSL does: `Nov 22 06:04:00 2026 GMT`, as in `Ssl_server_not_after`. Empty for a time that no
/// certificate can contain.
pub fn time_text(seconds: i64) -> String {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let time = u64::try_from(seconds)
        .ok()
        .and_then(|seconds| DateTime::from_unix_duration(Duration::from_secs(seconds)).ok());
    let Some(time) = time else {
        return String::new();
    };
    let month = MONTHS[usize::from(time.month()) - 1];
    let (hour, minute, second) = (time.hour(), time.minutes(), time.seconds());
    format!(
        "{month} {:2} {hour:02}:{minute:02}:{second:02} {} GMT",
        time.day(),
        time.year()
    )
}

/// Returns OpenSSL's name of an attribute. Libraries know the names of RFC 4514, which are different.
fn attribute_name(id: String) -> String {
    let short = match id.as_str() {
        "2.5.4.3" => "CN",
        "2.5.4.4" => "SN",
        "2.5.4.5" => "serialNumber",
        "2.5.4.6" => "C",
        "2.5.4.7" => "L",
        "2.5.4.8" => "ST",
        "2.5.4.9" => "street",
        "2.5.4.10" => "O",
        "2.5.4.11" => "OU",
        "2.5.4.12" => "title",
        "2.5.4.13" => "description",
        "2.5.4.15" => "businessCategory",
        "2.5.4.16" => "postalAddress",
        "2.5.4.17" => "postalCode",
        "2.5.4.18" => "postOfficeBox",
        "2.5.4.20" => "telephoneNumber",
        "2.5.4.41" => "name",
        "2.5.4.42" => "GN",
        "2.5.4.43" => "initials",
        "2.5.4.44" => "generationQualifier",
        "2.5.4.45" => "x500UniqueIdentifier",
        "2.5.4.46" => "dnQualifier",
        "2.5.4.65" => "pseudonym",
        "2.5.4.72" => "role",
        "2.5.4.97" => "organizationIdentifier",
        "1.3.6.1.4.1.311.60.2.1.1" => "jurisdictionL",
        "1.3.6.1.4.1.311.60.2.1.2" => "jurisdictionST",
        "1.3.6.1.4.1.311.60.2.1.3" => "jurisdictionC",
        "1.2.840.113549.1.9.1" => "emailAddress",
        "1.2.840.113549.1.9.2" => "unstructuredName",
        "1.2.840.113549.1.9.8" => "unstructuredAddress",
        "0.9.2342.19200300.100.1.25" => "DC",
        "0.9.2342.19200300.100.1.1" => "UID",
        "0.9.2342.19200300.100.1.3" => "mail",
        _ => return id,
    };
    short.to_owned()
}

/// Returns the attributes of a name: OpenSSL's names for them, and their bytes.
fn attributes(name: &Name) -> impl Iterator<Item = (String, &[u8])> {
    name.0
        .iter()
        .flat_map(|set| set.0.iter())
        .map(|attribute| (attribute_name(attribute.oid.to_string()), attribute.value.value()))
}

/// Formats a name in one line as `X509_NAME_oneline` does: bytes that are not printable ASCII as `\x` and two digits.
fn name_text(name: &Name) -> String {
    let mut text = String::new();
    for (name, value) in attributes(name) {
        text.push('/');
        text.push_str(&name);
        text.push('=');
        for byte in value {
            match byte {
                b' '..=b'~' => text.push(char::from(*byte)),
                other => text.push_str(&format!("\\x{other:02X}")),
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustls::pki_types::pem::PemObject;

    /// openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -days 36500 -subj '/C=DE/O=Ä &
    /// Co/emailAddress=a@b.c/CN=db.example.com' -addext
    /// 'subjectAltName=DNS:db.example.com,DNS:*.example.com,IP:127.0.0.1,IP:::1'
    const EXAMPLE: &str = include_str!("testdata/example.pem");

    #[test]
    fn a_certificate_made_by_openssl_is_decoded() {
        let der = CertificateDer::from_pem_slice(EXAMPLE.as_bytes()).unwrap();
        let certificate = Certificate::read(&der).unwrap();
        assert!(certificate.is_third_version());
        assert_eq!(
            certificate.subject_text(),
            "/C=DE/O=\\xC3\\x84 & Co/emailAddress=a@b.c/CN=db.example.com"
        );
        assert_eq!(certificate.issuer_text(), certificate.subject_text());
        assert_eq!(certificate.common_names(), ["db.example.com"]);
        assert!(certificate.names_hosts());
        assert_eq!(certificate.not_after - certificate.not_before, 36_500 * 86_400);
        for length in 0..der.len() {
            assert_eq!(Certificate::read(&CertificateDer::from(&der[..length])), None);
        }
        let longer = [&der[..], &[0]].concat();
        assert_eq!(Certificate::read(&CertificateDer::from(longer)), None);
    }

    #[test]
    fn times_are_formatted_as_by_openssl() {
        for (seconds, text) in [
            (0, "Jan  1 00:00:00 1970 GMT"),
            (1_795_327_445, "Nov 22 06:04:05 2026 GMT"),
            (951_782_400, "Feb 29 00:00:00 2000 GMT"),
            (4_107_542_400, "Mar  1 00:00:00 2100 GMT"),
            // RFC 5280's "no well-defined end".
            (253_402_300_799, "Dec 31 23:59:59 9999 GMT"),
            (i64::MAX, ""),
        ] {
            assert_eq!(time_text(seconds), text);
        }
    }

    #[test]
    fn attributes_have_openssls_names() {
        for (id, name) in [
            // openssl req -x509 -subj /2.5.4.97=x | openssl x509 -noout -subject -nameopt compat, by OpenSSL 3.0.19
            ("2.5.4.97", "organizationIdentifier"),
            ("1.3.6.1.4.1.311.60.2.1.3", "jurisdictionC"),
            ("2.5.4.42", "GN"),
            // Attributes without a name are shown as numbers.
            ("2.5.4.98", "2.5.4.98"),
            ("1.2.840.113549", "1.2.840.113549"),
        ] {
            assert_eq!(attribute_name(id.to_owned()), name);
        }
    }
}
