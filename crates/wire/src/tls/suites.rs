//! `ssl_cipher` and `tls_version`: which cipher suites and versions are spoken.
//!
//! There are nine suites, all of them with forward secrecy and authenticated encryption. They are named as OpenSSL names them, which is also how
//! `Ssl_cipher` shows them.

use super::{provider, tls_error};
use crate::error::WireResult;
use rustls::{CipherSuite, ProtocolVersion, SupportedCipherSuite, SupportedProtocolVersion};

/// OpenSSL's name of a suite.
pub fn suite_name(suite: CipherSuite) -> &'static str {
    match suite {
        CipherSuite::TLS13_AES_256_GCM_SHA384 => "TLS_AES_256_GCM_SHA384",
        CipherSuite::TLS13_AES_128_GCM_SHA256 => "TLS_AES_128_GCM_SHA256",
        CipherSuite::TLS13_CHACHA20_POLY1305_SHA256 => "TLS_CHACHA20_POLY1305_SHA256",
        CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384 => "ECDHE-ECDSA-AES256-GCM-SHA384",
        CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256 => "ECDHE-ECDSA-AES128-GCM-SHA256",
        CipherSuite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256 => "ECDHE-ECDSA-CHACHA20-POLY1305",
        CipherSuite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384 => "ECDHE-RSA-AES256-GCM-SHA384",
        CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 => "ECDHE-RSA-AES128-GCM-SHA256",
        CipherSuite::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256 => "ECDHE-RSA-CHACHA20-POLY1305",
        other => other.as_str().unwrap_or(""),
    }
}

/// The names of all suites, best first, as `Ssl_cipher_list` shows them.
pub fn suite_list(suites: &[SupportedCipherSuite]) -> String {
    let names: Vec<&str> = suites.iter().map(|suite| suite_name(suite.suite())).collect();
    names.join(":")
}

/// The name of a version, as `Ssl_version` and `tls_version` have it.
pub fn version_name(version: ProtocolVersion) -> &'static str {
    match version {
        ProtocolVersion::TLSv1_2 => "TLSv1.2",
        ProtocolVersion::TLSv1_3 => "TLSv1.3",
        other => other.as_str().unwrap_or(""),
    }
}

/// Words of OpenSSL's cipher lists that stand for suites of which there are none here, so that to exclude them changes nothing.
const ABSENT: [&str; 28] = [
    "aNULL",
    "eNULL",
    "NULL",
    "COMPLEMENTOFDEFAULT",
    "COMPLEMENTOFALL",
    "LOW",
    "MEDIUM",
    "EXP",
    "EXPORT",
    "RC4",
    "RC2",
    "DES",
    "3DES",
    "IDEA",
    "SEED",
    "CAMELLIA",
    "ARIA",
    "MD5",
    "SHA1",
    "SHA",
    "DSS",
    "aDSS",
    "kRSA",
    "RSA",
    "PSK",
    "SRP",
    "DHE",
    "ADH",
];

/// The suites of `ssl_cipher`, in our order of preference; all of them if it is empty.
///
/// A list names suites, separated by `:`, `,` or a space; `ALL`, `DEFAULT` and `HIGH` stand for all. `!`, `-` and `+` before a word mean what they mean
/// in OpenSSL, except that an order is not taken over. As there, suites of TLS 1.3 stay unless the list names some of them.
///
/// # Errors
/// A word that is not understood, and a list that leaves nothing.
pub fn parse_suites(list: &str) -> WireResult<Vec<SupportedCipherSuite>> {
    let all = provider().cipher_suites;
    let is_13 = |suite: &SupportedCipherSuite| suite.version().version == ProtocolVersion::TLSv1_3;
    let words: Vec<&str> = list
        .split([':', ',', ' '])
        .filter(|word| !word.is_empty() && !word.starts_with('@'))
        .collect();
    if words.is_empty() {
        return Ok(all);
    }
    let mut chosen: Vec<CipherSuite> = vec![];
    let mut excluded: Vec<CipherSuite> = vec![];
    let failed = |word: &str| {
        tls_error(format!(
            "Failed to set ciphers to use: '{word}' in '{list}' is none that this server speaks; there are {}",
            suite_list(&all)
        ))
    };
    for word in words {
        let (sign, name) = match word.split_at_checked(1) {
            Some((sign @ ("!" | "-" | "+"), name)) => (sign, name),
            _ => ("", word),
        };
        let named: Vec<CipherSuite> = match name {
            "ALL" | "DEFAULT" | "HIGH" | "SECURE128" | "SECURE256" => {
                let older = all.iter().filter(|suite| !is_13(suite));
                older.map(SupportedCipherSuite::suite).collect()
            }
            name => all
                .iter()
                .map(SupportedCipherSuite::suite)
                .filter(|suite| suite_name(*suite) == name || suite.as_str() == Some(name))
                .collect(),
        };
        match sign {
            "!" | "-" => {
                if named.is_empty() && !ABSENT.contains(&name) {
                    return Err(failed(word));
                }
                excluded.extend(named);
            }
            "+" => {}
            // As OpenSSL does, suites that are not known are passed over, as long as one is.
            _ => chosen.extend(named),
        }
    }
    let names_13 = all
        .iter()
        .any(|suite| is_13(suite) && chosen.contains(&suite.suite()));
    let left: Vec<SupportedCipherSuite> = all
        .iter()
        .filter(|suite| chosen.contains(&suite.suite()) || is_13(suite) && !names_13)
        .filter(|suite| !excluded.contains(&suite.suite()))
        .copied()
        .collect();
    match chosen.iter().any(|suite| !excluded.contains(suite)) {
        true => Ok(left),
        false => Err(failed(list)),
    }
}

/// The versions of `tls_version`, a list as `TLSv1.2,TLSv1.3`; both if it is empty.
///
/// # Errors
/// If it names none of the two.
pub fn parse_versions(list: &str) -> WireResult<Vec<&'static SupportedProtocolVersion>> {
    let words: Vec<&str> = list
        .split(',')
        .map(str::trim)
        .filter(|word| !word.is_empty())
        .collect();
    let has = |name: &str| words.is_empty() || words.iter().any(|word| word.eq_ignore_ascii_case(name));
    let mut versions = vec![];
    if has("TLSv1.3") {
        versions.push(&rustls::version::TLS13);
    }
    if has("TLSv1.2") {
        versions.push(&rustls::version::TLS12);
    }
    match versions.is_empty() {
        true => Err(tls_error(format!(
            "tls_version '{list}' names no version that is safe: TLSv1.2 and TLSv1.3 are spoken"
        ))),
        false => Ok(versions),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(list: &str) -> String {
        suite_list(&parse_suites(list).unwrap())
    }

    const ALL_13: &str = "TLS_AES_256_GCM_SHA384:TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256";

    #[test]
    fn lists_as_openssl_has_them() {
        assert_eq!(parse_suites("").unwrap().len(), 9);
        assert_eq!(parse_suites("HIGH:!aNULL:!MD5:@STRENGTH").unwrap().len(), 9);
        assert_eq!(
            parsed("ECDHE-RSA-AES128-GCM-SHA256:AES128-SHA"),
            format!("{ALL_13}:ECDHE-RSA-AES128-GCM-SHA256")
        );
        assert_eq!(
            parsed("TLS_AES_128_GCM_SHA256, ECDHE-ECDSA-CHACHA20-POLY1305"),
            "TLS_AES_128_GCM_SHA256:ECDHE-ECDSA-CHACHA20-POLY1305"
        );
        assert_eq!(
            parsed("ALL:-ECDHE-ECDSA-CHACHA20-POLY1305:!TLS_AES_128_GCM_SHA256")
                .split(':')
                .count(),
            7
        );
    }

    #[test]
    fn what_cannot_be_heeded_is_refused() {
        for list in [
            "AES128-SHA",
            "DHE-RSA-AES256-SHA",
            "ALL:!NOSUCH",
            "HIGH:!HIGH",
            "nonsense",
        ] {
            assert!(parse_suites(list).is_err(), "{list}");
        }
        assert!(parse_versions("TLSv1.0,TLSv1.1").is_err());
        assert_eq!(parse_versions("TLSv1.1,tlsv1.2").unwrap().len(), 1);
        assert_eq!(parse_versions("").unwrap().len(), 2);
    }
}
