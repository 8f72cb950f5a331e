//! `ssl_cipher` and `tls_version`: the supported cipher suites and versions.
//!
//! There are nine suites, all of them with forward secrecy and authenticated encryption. They have OpenSSL's names,
//! which `Ssl_cipher` shows.

use super::{provider, tls_error};
use crate::error::WireResult;
use rustls::{CipherSuite, ProtocolVersion, SupportedCipherSuite, SupportedProtocolVersion};

/// Returns OpenSSL's name of a suite.
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

/// Returns the names of all suites, the best one first, as in `Ssl_cipher_list`.
pub fn suite_list(suites: &[SupportedCipherSuite]) -> String {
    let names: Vec<&str> = suites.iter().map(|suite| suite_name(suite.suite())).collect();
    names.join(":")
}

/// Returns the name of a version, as in `Ssl_version` and `tls_version`.
pub fn version_name(version: ProtocolVersion) -> &'static str {
    match version {
        ProtocolVersion::TLSv1_2 => "TLSv1.2",
        ProtocolVersion::TLSv1_3 => "TLSv1.3",
        other => other.as_str().unwrap_or(""),
    }
}

/// Words of OpenSSL's cipher lists for suites that do not exist here, so that excluding them has no effect.
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

/// Parses `ssl_cipher`. Returns the suites in our order of preference; all of them if the list is empty.
///
/// A list contains the names of suites, separated by `:`, `,` or a space; `ALL`, `DEFAULT` and `HIGH` mean all of
/// them. `!`, `-` and `+` before a word have the same meaning as in OpenSSL, except that the order is not changed. As
/// in OpenSSL, the suites of TLS 1.3 stay unless the list contains some of them.
///
/// # Errors
/// An error for an unknown word after `!` or `-`, and for a list that leaves no suite.
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
            // As in OpenSSL, unknown suites are ignored as long as one is known.
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

/// Parses `tls_version`, a list such as `TLSv1.2,TLSv1.3`. Returns both versions if the list is empty.
///
/// # Errors
/// An error for a list that contains neither of them.
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
    fn lists_are_parsed_as_by_openssl() {
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
    fn unusable_lists_are_refused() {
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
