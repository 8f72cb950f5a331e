//! What is read of an X.509 certificate: its names as MariaDB writes them, its dates, its key and who signed it. RFC 5280.

use super::der::{self, Element, Reader};
use rustls::pki_types::CertificateDer;
use std::net::IpAddr;

/// A certificate, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Certificate {
    der: CertificateDer<'static>,
    /// What is signed.
    pub(crate) signed: Vec<u8>,
    /// The algorithm that it is signed with, as rustls names algorithms: without the outermost tag and length.
    pub(crate) signature_algorithm: Vec<u8>,
    /// The signature.
    pub(crate) signature: Vec<u8>,
    /// The key's algorithm, in the same form.
    pub(crate) key_algorithm: Vec<u8>,
    /// The key's bits.
    pub(crate) key: Vec<u8>,
    /// The key with its algorithm, encoded.
    pub(crate) key_info: Vec<u8>,
    /// X.509's version: 1, 2 or 3.
    pub version: u8,
    /// The serial number.
    pub serial: Vec<u8>,
    /// Who signed it, encoded.
    pub issuer: Vec<u8>,
    /// Whose it is, encoded.
    pub subject: Vec<u8>,
    /// From when on it is valid, in seconds since 1970.
    pub not_before: i64,
    /// Until when it is valid, in seconds since 1970.
    pub not_after: i64,
    /// The hosts that it names.
    pub dns_names: Vec<String>,
    /// The addresses that it names.
    pub addresses: Vec<IpAddr>,
}

/// subjectAltName, 2.5.29.17.
const SUBJECT_ALTERNATIVE_NAME: &[u8] = &[0x55, 0x1D, 0x11];
/// commonName, 2.5.4.3.
const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];
/// `[2]` and `[7]` in a subjectAltName.
const DNS_NAME: u8 = 0x82;
const IP_ADDRESS: u8 = 0x87;

impl Certificate {
    /// Reads one. `None` if it is none.
    pub fn read(der: &CertificateDer<'_>) -> Option<Certificate> {
        let mut outer = Reader::new(der).expect(der::SEQUENCE)?.reader();
        let signed = outer.expect(der::SEQUENCE)?;
        let signature_algorithm = outer.expect(der::SEQUENCE)?;
        let signature = bits(outer.expect(der::BIT_STRING)?)?;
        let mut fields = signed.reader();
        let version = match fields.optional(der::context(0)) {
            Some(version) => match version.reader().expect(der::INTEGER)?.content {
                [number @ 0..=2] => number + 1,
                _ => return None,
            },
            None => 1,
        };
        let serial = fields.expect(der::INTEGER)?;
        fields.expect(der::SEQUENCE)?;
        let issuer = fields.expect(der::SEQUENCE)?;
        let mut validity = fields.expect(der::SEQUENCE)?.reader();
        let (not_before, not_after) = (time(validity.any()?)?, time(validity.any()?)?);
        let subject = fields.expect(der::SEQUENCE)?;
        let key_info = fields.expect(der::SEQUENCE)?;
        let mut key_parts = key_info.reader();
        let key_algorithm = key_parts.expect(der::SEQUENCE)?;
        let key = bits(key_parts.expect(der::BIT_STRING)?)?;
        let mut certificate = Certificate {
            der: der.clone().into_owned(),
            signed: signed.whole.to_vec(),
            signature_algorithm: signature_algorithm.content.to_vec(),
            signature,
            key_algorithm: key_algorithm.content.to_vec(),
            key,
            key_info: key_info.whole.to_vec(),
            version,
            serial: serial.content.to_vec(),
            issuer: issuer.whole.to_vec(),
            subject: subject.whole.to_vec(),
            not_before,
            not_after,
            dns_names: vec![],
            addresses: vec![],
        };
        while !fields.is_empty() {
            let field = fields.any()?;
            if field.tag == der::context(3) {
                certificate.read_extensions(field)?;
            }
        }
        Some(certificate)
    }

    fn read_extensions(&mut self, field: Element<'_>) -> Option<()> {
        let mut extensions = field.reader().expect(der::SEQUENCE)?.reader();
        while !extensions.is_empty() {
            let mut extension = extensions.expect(der::SEQUENCE)?.reader();
            let id = extension.expect(der::OBJECT_IDENTIFIER)?;
            extension.optional(der::BOOLEAN);
            let value = extension.expect(der::OCTET_STRING)?;
            if id.content == SUBJECT_ALTERNATIVE_NAME {
                let mut names = value.reader().expect(der::SEQUENCE)?.reader();
                while !names.is_empty() {
                    let name = names.any()?;
                    match name.tag {
                        DNS_NAME => self
                            .dns_names
                            .push(String::from_utf8_lossy(name.content).into_owned()),
                        IP_ADDRESS => self.addresses.extend(address(name.content)),
                        _ => {}
                    }
                }
            }
        }
        Some(())
    }

    /// Its encoding.
    pub fn der(&self) -> &CertificateDer<'static> {
        &self.der
    }

    /// Whose it is, as `REQUIRE SUBJECT` and `openssl x509 -subject -nameopt compat` write it: `/C=DE/O=Example/CN=client`.
    pub fn subject_text(&self) -> String {
        name_text(&self.subject)
    }

    /// Who signed it, in the same form.
    pub fn issuer_text(&self) -> String {
        name_text(&self.issuer)
    }

    /// The common names of whose it is.
    pub fn common_names(&self) -> Vec<String> {
        attributes(&self.subject)
            .into_iter()
            .filter(|(id, _)| *id == COMMON_NAME)
            .map(|(_, value)| String::from_utf8_lossy(value.content).into_owned())
            .collect()
    }

    /// SHA-256 of it.
    pub fn fingerprint(&self) -> [u8; 32] {
        let mut out = [0; 32];
        out.copy_from_slice(ring::digest::digest(&ring::digest::SHA256, &self.der).as_ref());
        out
    }
}

/// A BIT STRING of whole bytes.
fn bits(element: Element<'_>) -> Option<Vec<u8>> {
    match element.content {
        [0, bytes @ ..] => Some(bytes.to_vec()),
        _ => None,
    }
}

fn address(bytes: &[u8]) -> Option<IpAddr> {
    match bytes.len() {
        4 => <[u8; 4]>::try_from(bytes).ok().map(IpAddr::from),
        16 => <[u8; 16]>::try_from(bytes).ok().map(IpAddr::from),
        _ => None,
    }
}

/// A time as certificates have it, `…Z` with seconds, in seconds since 1970.
fn time(element: Element<'_>) -> Option<i64> {
    let text = std::str::from_utf8(element.content).ok()?.strip_suffix('Z')?;
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (year, rest) = match (element.tag, text.len()) {
        (der::UTC_TIME, 12) => {
            let year: i64 = text[..2].parse().ok()?;
            (if year < 50 { 2000 + year } else { 1900 + year }, &text[2..])
        }
        (der::GENERALIZED_TIME, 14) => (text[..4].parse().ok()?, &text[4..]),
        _ => return None,
    };
    let part = |at: usize| rest[at..at + 2].parse::<i64>().ok();
    let (month, day) = (part(0)?, part(2)?);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    Some(days_since_1970(year, month, day) * 86_400 + part(4)? * 3600 + part(6)? * 60 + part(8)?)
}

/// Days from 1970-01-01 in the Gregorian calendar, by years that begin in March.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// The calendar's date of a day counted from 1970-01-01: year, month, day.
fn date_of(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day_of_year - (153 * shifted + 2) / 5 + 1)
}

/// A time as OpenSSL prints it: `Nov 22 06:04:00 2026 GMT`, as in `Ssl_server_not_after`.
pub fn time_text(seconds: i64) -> String {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let (year, month, day) = date_of(seconds.div_euclid(86_400));
    let second = seconds.rem_euclid(86_400);
    let name = MONTHS[(month - 1) as usize];
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{name} {day:2} {hour:02}:{minute:02}:{second:02} {year} GMT")
}

/// A time as a certificate has it: GeneralizedTime.
pub(crate) fn encode_time(seconds: i64) -> Vec<u8> {
    let (year, month, day) = date_of(seconds.div_euclid(86_400));
    let second = seconds.rem_euclid(86_400);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    // RFC 5280: two digits of the year until 2049.
    match year {
        1950..=2049 => der::encode(
            der::UTC_TIME,
            format!(
                "{:02}{month:02}{day:02}{hour:02}{minute:02}{second:02}Z",
                year % 100
            )
            .as_bytes(),
        ),
        _ => der::encode(
            der::GENERALIZED_TIME,
            format!("{year:04}{month:02}{day:02}{hour:02}{minute:02}{second:02}Z").as_bytes(),
        ),
    }
}

/// A name's attributes: which, and what.
fn attributes(name: &[u8]) -> Vec<(&[u8], Element<'_>)> {
    let mut found = vec![];
    let Some(name) = Reader::new(name).expect(der::SEQUENCE) else {
        return found;
    };
    let mut sets = name.reader();
    while let Some(set) = sets.expect(der::SET) {
        let mut members = set.reader();
        while let Some(member) = members.expect(der::SEQUENCE) {
            let mut parts = member.reader();
            if let (Some(id), Some(value)) = (parts.expect(der::OBJECT_IDENTIFIER), parts.any()) {
                found.push((id.content, value));
            }
        }
    }
    found
}

/// What OpenSSL calls the attributes that names have.
fn attribute_name(id: &[u8]) -> String {
    let short = match id {
        [0x55, 0x04, last] => match last {
            3 => "CN",
            4 => "SN",
            5 => "serialNumber",
            6 => "C",
            7 => "L",
            8 => "ST",
            9 => "street",
            10 => "O",
            11 => "OU",
            12 => "title",
            13 => "description",
            17 => "postalCode",
            41 => "name",
            42 => "GN",
            43 => "initials",
            44 => "generationQualifier",
            46 => "dnQualifier",
            65 => "pseudonym",
            _ => "",
        },
        [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x01] => "emailAddress",
        [0x09, 0x92, 0x26, 0x89, 0x93, 0xF2, 0x2C, 0x64, 0x01, 0x19] => "DC",
        [0x09, 0x92, 0x26, 0x89, 0x93, 0xF2, 0x2C, 0x64, 0x01, 0x01] => "UID",
        _ => "",
    };
    if !short.is_empty() {
        return short.to_owned();
    }
    let mut numbers: Vec<u64> = vec![];
    let mut number = 0u64;
    for byte in id {
        number = (number << 7) | u64::from(byte & 0x7F);
        if byte & 0x80 == 0 {
            match numbers.is_empty() {
                true => {
                    let first = (number / 40).min(2);
                    numbers.extend([first, number - first * 40]);
                }
                false => numbers.push(number),
            }
            number = 0;
        }
    }
    let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
    numbers.join(".")
}

/// A name in one line, as `X509_NAME_oneline` writes it: bytes that are not printable ASCII as `\x` and two digits.
fn name_text(name: &[u8]) -> String {
    let mut text = String::new();
    for (id, value) in attributes(name) {
        text.push('/');
        text.push_str(&attribute_name(id));
        text.push('=');
        for byte in value.content {
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

    /// openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -days 36500 -subj '/C=DE/O=Ä & Co/emailAddress=a@b.c/CN=db.example.com'
    /// -addext 'subjectAltName=DNS:db.example.com,DNS:*.example.com,IP:127.0.0.1,IP:::1'
    const EXAMPLE: &str = include_str!("testdata/example.pem");

    #[test]
    fn a_certificate_of_openssls() {
        let der = CertificateDer::from_pem_slice(EXAMPLE.as_bytes()).unwrap();
        let certificate = Certificate::read(&der).unwrap();
        assert_eq!(certificate.version, 3);
        assert_eq!(
            certificate.subject_text(),
            "/C=DE/O=\\xC3\\x84 & Co/emailAddress=a@b.c/CN=db.example.com"
        );
        assert_eq!(certificate.issuer_text(), certificate.subject_text());
        assert_eq!(certificate.common_names(), ["db.example.com"]);
        assert_eq!(certificate.dns_names, ["db.example.com", "*.example.com"]);
        let addresses: Vec<String> = certificate.addresses.iter().map(IpAddr::to_string).collect();
        assert_eq!(addresses, ["127.0.0.1", "::1"]);
        assert_eq!(certificate.not_after - certificate.not_before, 36_500 * 86_400);
        for length in 0..der.len() {
            assert_eq!(Certificate::read(&CertificateDer::from(&der[..length])), None);
        }
    }

    #[test]
    fn times_as_certificates_and_openssl_write_them() {
        for (seconds, text) in [
            (0, "Jan  1 00:00:00 1970 GMT"),
            (1_795_327_445, "Nov 22 06:04:05 2026 GMT"),
            (951_782_400, "Feb 29 00:00:00 2000 GMT"),
            (4_107_542_400, "Mar  1 00:00:00 2100 GMT"),
        ] {
            assert_eq!(time_text(seconds), text);
            let encoded = encode_time(seconds);
            assert_eq!(time(Reader::new(&encoded).any().unwrap()), Some(seconds));
        }
        let wrong = der::encode(der::UTC_TIME, b"261399000000Z");
        assert_eq!(time(Reader::new(&wrong).any().unwrap()), None);
    }

    #[test]
    fn unknown_attributes_are_numbers() {
        assert_eq!(attribute_name(&[0x55, 0x04, 0x61]), "2.5.4.97");
        assert_eq!(
            attribute_name(&[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D]),
            "1.2.840.113549"
        );
    }
}
