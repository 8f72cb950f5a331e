//! TLS options of commands that connect to servers. They have the names that MariaDB's programs use.

use clap::{ArgAction, Args};
use paceline_log_stream::source::definition::TlsSettings;
use paceline_wire::WireResult;
use paceline_wire::tls::{ClientTls, ClusterKey, TlsParameters};

/// TLS options of a command's own connection to a server. Each of them except the `--skip` options switches encryption
/// on, and then nothing is sent in clear.
#[derive(Args, Debug, Clone, Default, PartialEq, Eq)]
#[command(next_help_heading = "TLS")]
pub struct TlsOptions {
    /// Encrypt the connection. The other TLS options imply this, except the --skip options.
    #[arg(long, overrides_with = "skip_ssl")]
    pub ssl: bool,
    /// Do not encrypt the connection (the default).
    #[arg(long, action = ArgAction::SetTrue)]
    pub skip_ssl: bool,
    /// File with certificate authorities. Only a server certificate that one of them has signed is trusted.
    #[arg(long, value_name = "FILE")]
    pub ssl_ca: Option<String>,
    /// Directory with files of certificate authorities.
    #[arg(long, value_name = "DIR")]
    pub ssl_capath: Option<String>,
    /// Client certificate.
    #[arg(long, value_name = "FILE")]
    pub ssl_cert: Option<String>,
    /// Private key of the client certificate.
    #[arg(long, value_name = "FILE")]
    pub ssl_key: Option<String>,
    /// Cipher suites to allow.
    #[arg(long, value_name = "LIST")]
    pub ssl_cipher: Option<String>,
    /// Certificate revocation list.
    #[arg(long, value_name = "FILE")]
    pub ssl_crl: Option<String>,
    /// Directory with files of certificate revocation lists.
    #[arg(long, value_name = "DIR")]
    pub ssl_crlpath: Option<String>,
    /// TLS versions to allow: TLSv1.2, TLSv1.3.
    #[arg(long, value_name = "LIST")]
    pub tls_version: Option<String>,
    /// Verify that the certificate names the host. Without --ssl-ca and --ssl-capath, an authority of the system must
    /// have signed it; otherwise the server must prove that it knows the password.
    #[arg(long, overrides_with = "skip_ssl_verify_server_cert")]
    pub ssl_verify_server_cert: bool,
    /// Do not verify that the certificate names the host (the default).
    #[arg(long)]
    pub skip_ssl_verify_server_cert: bool,
}

/// Returns whether a switch in an option file is on.
fn is_on(value: Option<&str>) -> bool {
    !matches!(
        value.map(str::to_ascii_lowercase).as_deref(),
        Some("0" | "off" | "false")
    )
}

impl TlsOptions {
    /// Applies an option from an option file, unless the command line sets it. Ignores options that do not concern TLS.
    pub fn complete(&mut self, name: &str, value: Option<&str>) {
        let slot = match name.replace('-', "_").as_str() {
            "ssl" if !self.skip_ssl => {
                self.ssl |= is_on(value);
                return;
            }
            "ssl_verify_server_cert" if !self.skip_ssl_verify_server_cert => {
                self.ssl_verify_server_cert |= is_on(value);
                return;
            }
            "ssl_ca" => &mut self.ssl_ca,
            "ssl_capath" => &mut self.ssl_capath,
            "ssl_cert" => &mut self.ssl_cert,
            "ssl_key" => &mut self.ssl_key,
            "ssl_cipher" => &mut self.ssl_cipher,
            "ssl_crl" => &mut self.ssl_crl,
            "ssl_crlpath" => &mut self.ssl_crlpath,
            "tls_version" => &mut self.tls_version,
            _ => return,
        };
        if slot.is_none() {
            *slot = value.map(str::to_owned);
        }
    }

    /// Returns the TLS configuration of the connection; `None` for an unencrypted connection.
    ///
    /// # Errors
    /// Fails if files cannot be read, or for unknown cipher suites.
    pub fn client(&self) -> WireResult<Option<ClientTls>> {
        let text = |given: &Option<String>| given.clone().unwrap_or_default();
        let parameters = TlsParameters {
            ca: text(&self.ssl_ca),
            ca_path: text(&self.ssl_capath),
            certificate: text(&self.ssl_cert),
            key: text(&self.ssl_key),
            cipher: text(&self.ssl_cipher),
            crl: text(&self.ssl_crl),
            crl_path: text(&self.ssl_crlpath),
            versions: text(&self.tls_version),
        };
        let is_wanted = self.ssl || self.ssl_verify_server_cert || parameters != TlsParameters::default();
        match is_wanted && !self.skip_ssl {
            true => ClientTls::new(&parameters, self.ssl_verify_server_cert.into()).map(Some),
            false => Ok(None),
        }
    }
}

/// TLS options of connections to a primary, named as in CHANGE MASTER.
#[derive(Args, Debug, Clone, Default, PartialEq, Eq)]
#[command(next_help_heading = "TLS to the primary")]
pub struct MasterTlsOptions {
    /// Encrypt connections to the primary. The other --master-ssl options imply this.
    #[arg(long)]
    master_ssl: bool,
    /// File with certificate authorities. Only a primary's certificate that one of them has signed is trusted.
    #[arg(long, value_name = "FILE", default_value = "", hide_default_value = true)]
    master_ssl_ca: String,
    /// Directory with files of certificate authorities.
    #[arg(long, value_name = "DIR", default_value = "", hide_default_value = true)]
    master_ssl_capath: String,
    /// Client certificate.
    #[arg(long, value_name = "FILE", default_value = "", hide_default_value = true)]
    master_ssl_cert: String,
    /// Private key of the client certificate.
    #[arg(long, value_name = "FILE", default_value = "", hide_default_value = true)]
    master_ssl_key: String,
    /// Cipher suites to allow.
    #[arg(long, value_name = "LIST", default_value = "", hide_default_value = true)]
    master_ssl_cipher: String,
    /// Certificate revocation list.
    #[arg(long, value_name = "FILE", default_value = "", hide_default_value = true)]
    master_ssl_crl: String,
    /// Directory with files of certificate revocation lists.
    #[arg(long, value_name = "DIR", default_value = "", hide_default_value = true)]
    master_ssl_crlpath: String,
    /// Verify that the certificate names the host. Without --master-ssl-ca and --master-ssl-capath, an authority of the
    /// system must have signed it; otherwise the primary must prove that it knows the password.
    #[arg(long)]
    master_ssl_verify_server_cert: bool,
    /// Between members of a cluster: their key.
    #[arg(skip)]
    cluster: Option<ClusterKey>,
}

impl MasterTlsOptions {
    /// Connects only to members of a cluster, which have this key.
    pub fn encrypt_for_members(&mut self, key: ClusterKey) {
        self.cluster = Some(key);
    }

    /// Returns whether any of the options is given.
    pub fn is_given(&self) -> bool {
        *self != MasterTlsOptions::default()
    }

    /// Returns the settings as part of a connection's definition.
    pub fn settings(&self) -> TlsSettings {
        let mut settings = TlsSettings {
            enabled: false,
            parameters: TlsParameters {
                ca: self.master_ssl_ca.clone(),
                ca_path: self.master_ssl_capath.clone(),
                certificate: self.master_ssl_cert.clone(),
                key: self.master_ssl_key.clone(),
                cipher: self.master_ssl_cipher.clone(),
                crl: self.master_ssl_crl.clone(),
                crl_path: self.master_ssl_crlpath.clone(),
                versions: String::new(),
            },
            verify_server_certificate: self.master_ssl_verify_server_cert,
            cluster: None,
        };
        settings.enabled = self.master_ssl || settings != TlsSettings::default();
        settings.cluster = self.cluster.clone();
        settings
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser, Debug)]
    struct Command {
        #[command(flatten)]
        tls: TlsOptions,
        #[command(flatten)]
        master: MasterTlsOptions,
    }

    fn parsed(arguments: &[&str]) -> Command {
        let all = std::iter::once("paceline").chain(arguments.iter().copied());
        Command::try_parse_from(all).unwrap()
    }

    #[test]
    fn connections_are_encrypted_if_any_option_asks_for_it() {
        let has_tls = |arguments: &[&str]| parsed(arguments).tls.client().unwrap().is_some();
        assert!(!has_tls(&[]));
        assert!(has_tls(&["--ssl"]));
        assert!(has_tls(&["--ssl-verify-server-cert"]));
        assert!(has_tls(&["--tls-version=TLSv1.3"]));
        assert!(!has_tls(&["--ssl", "--skip-ssl"]));
        assert!(has_tls(&["--skip-ssl", "--ssl"]));
        assert!(parsed(&["--ssl-ca=/nonexistent"]).tls.client().is_err());
        assert!(!parsed(&[]).master.settings().enabled);
        assert!(parsed(&["--master-ssl-cipher=x"]).master.settings().enabled);
    }

    #[test]
    fn the_command_line_wins_over_an_option_file() {
        let mut tls = parsed(&["--ssl-ca=/a", "--skip-ssl-verify-server-cert"]).tls;
        tls.complete("ssl-ca", Some("/b"));
        tls.complete("ssl_cert", Some("/c"));
        tls.complete("ssl-verify-server-cert", None);
        tls.complete("ssl", Some("OFF"));
        tls.complete("host", Some("h"));
        assert_eq!(
            tls,
            TlsOptions {
                ssl_ca: Some("/a".into()),
                ssl_cert: Some("/c".into()),
                skip_ssl_verify_server_cert: true,
                ..TlsOptions::default()
            }
        );
    }
}
