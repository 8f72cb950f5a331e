//! Options of a server that is a member of a cluster.

use paceline_cluster_host::etcd::EtcdSettings;
use paceline_cluster_host::member_file::is_cluster_name;
use paceline_cluster_host::register::{KindText, MemberEntry};
use paceline_server::options::StartOptions;
use paceline_server::variables::{Variable, VariableValue};
use paceline_wire::TcpAddress;
use std::path::{Path, PathBuf};

/// Longest file with a secret, in bytes.
const SECRET_BYTES_MAX: u64 = 4096;

/// Options that only a member of a cluster has.
const OTHERS: [Variable; 11] = [
    Variable::PacelineClusterAddress,
    Variable::PacelineClusterMemberName,
    Variable::PacelineClusterPriority,
    Variable::PacelineClusterSecretFile,
    Variable::PacelineClusterZone,
    Variable::PacelineEtcd,
    Variable::PacelineEtcdCaFile,
    Variable::PacelineEtcdCertFile,
    Variable::PacelineEtcdKeyFile,
    Variable::PacelineEtcdPasswordFile,
    Variable::PacelineEtcdUser,
];

fn is_given(options: &StartOptions, variable: Variable) -> bool {
    match options.globals.get(variable) {
        VariableValue::Text(text) => !text.is_empty(),
        number => number.as_u64() != 0,
    }
}

/// Settings of a member, from the options of its server.
pub struct MemberSettings {
    /// Name of the cluster.
    pub cluster: String,
    /// How etcd is reached.
    pub etcd: EtcdSettings,
    /// Address for messages of other members. Its host is also that for clients.
    pub address: TcpAddress,
    /// Secret of the cluster.
    pub secret: String,
    name: String,
    zone: u8,
    priority: u8,
}

impl MemberSettings {
    /// Reads the settings. `None`: the server is in no cluster.
    ///
    /// # Errors
    /// A message for users: an option is missing, or a file cannot be read.
    pub fn of(options: &StartOptions) -> Result<Option<Self>, String> {
        let text = |variable: Variable| options.globals.get(variable).as_str().to_owned();
        let cluster = text(Variable::PacelineCluster);
        if cluster.is_empty() {
            return match OTHERS.iter().find(|variable| is_given(options, **variable)) {
                Some(variable) => {
                    let option = variable.other_option_name().unwrap_or(variable.definition().name);
                    Err(format!(
                        "--{} has no effect without --cluster",
                        option.replace('_', "-")
                    ))
                }
                None => Ok(None),
            };
        }
        if !is_cluster_name(&cluster) {
            return Err(format!("--cluster: '{cluster}' cannot be the name of a cluster"));
        }
        let needed = |variable: Variable, option: &str| match text(variable) {
            value if value.is_empty() => Err(format!("--cluster needs {option}")),
            value => Ok(value),
        };
        let urls = needed(Variable::PacelineEtcd, "--etcd=URL[,URL…]")?;
        let address = needed(Variable::PacelineClusterAddress, "--cluster-address=HOST:PORT")?;
        let address: TcpAddress = address
            .parse()
            .map_err(|error| format!("--cluster-address: {error}"))?;
        if ["0.0.0.0", "::", "*"].contains(&address.host.as_str()) {
            return Err(
                "--cluster-address: the other members connect to it, so it must name this host".into(),
            );
        }
        let secret = needed(Variable::PacelineClusterSecretFile, "--cluster-secret-file=FILE")?;
        let path = |variable: Variable| {
            Some(text(variable))
                .filter(|text| !text.is_empty())
                .map(PathBuf::from)
        };
        let certificate = match (
            path(Variable::PacelineEtcdCertFile),
            path(Variable::PacelineEtcdKeyFile),
        ) {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (None, None) => None,
            _ => return Err("--etcd-cert-file and --etcd-key-file need each other".into()),
        };
        let user = match (
            text(Variable::PacelineEtcdUser),
            path(Variable::PacelineEtcdPasswordFile),
        ) {
            (user, Some(file)) if !user.is_empty() => Some((user, read_secret(&file)?)),
            (user, None) if user.is_empty() => None,
            _ => return Err("--etcd-user and --etcd-password-file need each other".into()),
        };
        let small = |variable: Variable| {
            u8::try_from(options.globals.number(variable)).expect("the variable's range is that of a byte")
        };
        Ok(Some(MemberSettings {
            etcd: EtcdSettings {
                authority: path(Variable::PacelineEtcdCaFile),
                certificate,
                user,
                ..EtcdSettings::of_urls(urls.split(',').map(|url| url.trim().to_owned()).collect())
            },
            secret: read_secret(Path::new(&secret))?,
            name: text(Variable::PacelineClusterMemberName),
            zone: small(Variable::PacelineClusterZone),
            priority: small(Variable::PacelineClusterPriority),
            cluster,
            address,
        }))
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
            kind: KindText::Server,
            zone: self.zone,
            priority: self.priority,
            version: env!("CARGO_PKG_VERSION").to_owned(),
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
