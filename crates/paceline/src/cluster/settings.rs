//! Options of a member of a cluster: a server's variables, or an archive's command line. Both have the same rules.

use paceline_cluster_host::check_secret;
use paceline_cluster_host::etcd::EtcdSettings;
use paceline_cluster_host::member_file::is_cluster_name;
use paceline_cluster_host::register::{KindText, MemberEntry};
use paceline_server::options::StartOptions;
use paceline_server::variables::Variable;
use paceline_wire::TcpAddress;
use paceline_wire::tls::ClusterKey;
use std::net::{TcpListener, ToSocketAddrs};
use std::path::{Path, PathBuf};

/// Longest file with a secret, in bytes.
const SECRET_BYTES_MAX: u64 = 4096;

/// Options as they were given. An empty text, or 0, is an option that was not given.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Cluster")]
pub struct MemberOptions {
    /// Be a member of this cluster: a log holder that never becomes the primary.
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    pub cluster: String,
    /// URLs of etcd, separated by commas.
    #[arg(
        long,
        value_name = "URL[,URL…]",
        default_value = "",
        hide_default_value = true
    )]
    pub etcd: String,
    /// Address for messages of other members.
    #[arg(long, value_name = "HOST:PORT", default_value = "", hide_default_value = true)]
    pub cluster_address: String,
    /// File whose first line is the secret that all members share.
    #[arg(long, value_name = "FILE", default_value = "", hide_default_value = true)]
    pub cluster_secret_file: String,
    /// Name of this member, for people; by default HOST:PORT.
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    pub cluster_member_name: String,
    /// Of the servers that could become the primary, the one with the highest number does.
    #[arg(skip)]
    pub cluster_priority: u8,
    /// Number of the rack or data centre.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        hide_default_value = true,
        value_parser = clap::value_parser!(u8).range(..64)
    )]
    pub cluster_zone: u8,
    /// Authorities of etcd's certificate; by default those of the system.
    #[arg(long, value_name = "FILE", default_value = "", hide_default_value = true)]
    pub etcd_ca_file: String,
    /// Certificate for etcd.
    #[arg(long, value_name = "FILE", default_value = "", hide_default_value = true)]
    pub etcd_cert_file: String,
    /// Key of this certificate.
    #[arg(long, value_name = "FILE", default_value = "", hide_default_value = true)]
    pub etcd_key_file: String,
    /// User of etcd.
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    pub etcd_user: String,
    /// File with the password of this user.
    #[arg(long, value_name = "FILE", default_value = "", hide_default_value = true)]
    pub etcd_password_file: String,
}

impl MemberOptions {
    /// Returns the options of a server.
    fn of_server(options: &StartOptions) -> Self {
        let text = |variable: Variable| options.globals.get(variable).as_str().to_owned();
        let small = |variable: Variable| {
            u8::try_from(options.globals.number(variable)).expect("the variable's range is that of a byte")
        };
        MemberOptions {
            cluster: text(Variable::PacelineCluster),
            etcd: text(Variable::PacelineEtcd),
            cluster_address: text(Variable::PacelineClusterAddress),
            cluster_secret_file: text(Variable::PacelineClusterSecretFile),
            cluster_member_name: text(Variable::PacelineClusterMemberName),
            cluster_priority: small(Variable::PacelineClusterPriority),
            cluster_zone: small(Variable::PacelineClusterZone),
            etcd_ca_file: text(Variable::PacelineEtcdCaFile),
            etcd_cert_file: text(Variable::PacelineEtcdCertFile),
            etcd_key_file: text(Variable::PacelineEtcdKeyFile),
            etcd_user: text(Variable::PacelineEtcdUser),
            etcd_password_file: text(Variable::PacelineEtcdPasswordFile),
        }
    }

    /// Returns the first option that was given and has an effect only in a cluster.
    fn first_of_member(&self) -> Option<&'static str> {
        let texts = [
            ("cluster-address", &self.cluster_address),
            ("cluster-member-name", &self.cluster_member_name),
            ("cluster-secret-file", &self.cluster_secret_file),
            ("etcd", &self.etcd),
            ("etcd-ca-file", &self.etcd_ca_file),
            ("etcd-cert-file", &self.etcd_cert_file),
            ("etcd-key-file", &self.etcd_key_file),
            ("etcd-password-file", &self.etcd_password_file),
            ("etcd-user", &self.etcd_user),
        ];
        let numbers = [
            ("cluster-priority", self.cluster_priority),
            ("cluster-zone", self.cluster_zone),
        ];
        let text = texts
            .iter()
            .find(|(_, text)| !text.is_empty())
            .map(|(name, _)| *name);
        text.or_else(|| {
            numbers
                .iter()
                .find(|(_, number)| *number > 0)
                .map(|(name, _)| *name)
        })
    }
}

/// Settings of a member.
pub struct MemberSettings {
    /// Name of the cluster.
    pub cluster: String,
    /// How etcd is reached.
    pub etcd: EtcdSettings,
    /// Address for messages of other members. Its host is also that for clients.
    pub address: TcpAddress,
    /// Secret of the cluster.
    pub secret: String,
    /// Key that is derived from it.
    pub key: ClusterKey,
    name: String,
    kind: KindText,
    zone: u8,
    priority: u8,
}

impl MemberSettings {
    /// Reads the settings of a server. `None`: it is in no cluster.
    ///
    /// # Errors
    /// Those of [`MemberSettings::new`].
    pub fn of_server(options: &StartOptions) -> Result<Option<Self>, String> {
        Self::new(MemberOptions::of_server(options), KindText::Server)
    }

    /// Checks the options and reads the secrets. `None`: it is in no cluster.
    ///
    /// # Errors
    /// A message for users: an option is missing, or a file cannot be read.
    pub fn new(options: MemberOptions, kind: KindText) -> Result<Option<Self>, String> {
        if options.cluster.is_empty() {
            return match options.first_of_member() {
                Some(option) => Err(format!("--{option} has no effect without --cluster")),
                None => Ok(None),
            };
        }
        if !is_cluster_name(&options.cluster) {
            return Err(format!(
                "--cluster: '{}' cannot be the name of a cluster",
                options.cluster
            ));
        }
        let needed = |value: String, option: &str| match value.is_empty() {
            true => Err(format!("--cluster needs {option}")),
            false => Ok(value),
        };
        let urls = needed(options.etcd, "--etcd=URL[,URL…]")?;
        let address = needed(options.cluster_address, "--cluster-address=HOST:PORT")?;
        let address = TcpAddress::with_default_port(&address, 0)
            .map_err(|error| format!("--cluster-address: {error}"))?;
        if address.port == 0 {
            return Err(format!("--cluster-address: '{}' has no port", address.host));
        }
        if ["0.0.0.0", "::", "*"].contains(&address.host.as_str()) {
            return Err(
                "--cluster-address: the other members connect to it, so it must name this host".into(),
            );
        }
        let secret = needed(options.cluster_secret_file, "--cluster-secret-file=FILE")?;
        let secret = read_secret(Path::new(&secret))?;
        check_secret(&secret).map_err(|error| format!("--cluster-secret-file: {error}"))?;
        let path = |text: String| Some(text).filter(|text| !text.is_empty()).map(PathBuf::from);
        let certificate = match (path(options.etcd_cert_file), path(options.etcd_key_file)) {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (None, None) => None,
            _ => return Err("--etcd-cert-file and --etcd-key-file need each other".into()),
        };
        let user = match (options.etcd_user, path(options.etcd_password_file)) {
            (user, Some(file)) if !user.is_empty() => Some((user, read_secret(&file)?)),
            (user, None) if user.is_empty() => None,
            _ => return Err("--etcd-user and --etcd-password-file need each other".into()),
        };
        Ok(Some(MemberSettings {
            etcd: EtcdSettings {
                authority: path(options.etcd_ca_file),
                certificate,
                user,
                ..EtcdSettings::of_urls(urls.split(',').map(|url| url.trim().to_owned()).collect())
            },
            key: ClusterKey::derive(&options.cluster, &secret).map_err(|error| error.to_string())?,
            secret,
            name: options.cluster_member_name,
            kind,
            zone: options.cluster_zone,
            priority: options.cluster_priority,
            cluster: options.cluster,
            address,
        }))
    }

    /// Listens for messages of other members.
    ///
    /// # Errors
    /// A message for users: the address is not one of this machine, or is in use.
    pub fn listen(&self) -> Result<TcpListener, String> {
        TcpListener::bind((self.address.host.as_str(), self.address.port))
            .map_err(|error| format!("--cluster-address: cannot listen on {}: {error}", self.address))
    }

    /// Checks that the other members can reach the server's port, if it listens on this address.
    ///
    /// # Errors
    /// A message for users: it only listens within this machine, and the address for the others is another one.
    pub fn check_bind_address(&self, bind_address: &str) -> Result<(), String> {
        let is_loopback = |host: &str| {
            let addresses = (host, self.address.port).to_socket_addrs();
            addresses.is_ok_and(|mut all| all.all(|address| address.ip().is_loopback()))
        };
        match is_loopback(bind_address) && !is_loopback(&self.address.host) {
            true => Err(format!(
                "--bind-address={bind_address}: the other members cannot reach this server at {}",
                self.address.host
            )),
            false => Ok(()),
        }
    }

    /// Returns the member's entry in the directory of the cluster.
    pub fn entry(&self, id: u32, port: u16) -> MemberEntry {
        let name = match self.name.is_empty() {
            true => format!("{}:{port}", self.address.host),
            false => self.name.clone(),
        };
        MemberEntry {
            id,
            name,
            host: self.address.host.clone(),
            port,
            cluster_host: self.address.host.clone(),
            cluster_port: self.address.port,
            kind: self.kind,
            zone: self.zone,
            priority: self.priority,
            version: paceline_program_version::number().to_owned(),
            log_format: paceline_program_version::present().log_format,
        }
    }
}

/// Reads a secret: the first line of a file that others cannot read.
pub(super) fn read_secret(path: &Path) -> Result<String, String> {
    use std::os::unix::fs::PermissionsExt;
    let failed = |error: std::io::Error| format!("cannot read {}: {error}", path.display());
    let metadata = std::fs::metadata(path).map_err(failed)?;
    if metadata.permissions().mode() & 0o007 != 0 {
        return Err(format!(
            "{} can be read by every user of this machine: chmod o= it",
            path.display()
        ));
    }
    if metadata.len() > SECRET_BYTES_MAX {
        return Err(format!("{} is too long for a secret", path.display()));
    }
    let text = std::fs::read_to_string(path).map_err(failed)?;
    match text.lines().next().map(str::trim) {
        Some(secret) if !secret.is_empty() => Ok(secret.to_owned()),
        _ => Err(format!("{} is empty", path.display())),
    }
}
