//! Detects a living primary that the command does not name: after the promotion, two servers would accept writes.
//!
//! The servers themselves know from where they replicate, or did last. If such a server is not named in the command,
//! and one of them is connected to it or it answers, it may be accepting writes. Everything that it acknowledges from
//! now on would be lost. A server that does not answer may still be alive but unreachable from here: that is what
//! fencing is for.

use super::error::{Result, UnnamedServer, UnnamedServerKind};
use super::participants::Participants;
use super::server::{Server, Upstream};
use paceline_types::ServerId;
use paceline_wire::TcpAddress;
use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;

/// Time that a server has to send its greeting.
const GREETING: Duration = Duration::from_secs(3);
/// Time that a replica has to notice that its connection to a dead primary is gone.
const NOTICE: Duration = Duration::from_secs(5);
/// Interval of polling.
const POLL: Duration = Duration::from_millis(50);

/// Returns the first such server found, if any.
pub async fn find(participants: &mut Participants) -> Result<Option<UnnamedServer>> {
    let named = Identities::of(participants);
    let mut suspects: HashMap<String, TcpAddress> = HashMap::new();
    let candidates = participants.candidate.upstreams().await?;
    let of_candidate: HashSet<String> = candidates.iter().map(|one| one.address.to_string()).collect();
    let mut all = candidates;
    for server in participants.others.iter_mut().chain(&mut participants.archives) {
        let theirs = server.upstreams().await?;
        // If a server has several primaries, only those that the candidate has too are considered.
        let is_single = theirs.len() == 1;
        all.extend(
            theirs
                .into_iter()
                .filter(|one| is_single || of_candidate.contains(&one.address.to_string())),
        );
    }
    for upstream in all.into_iter().filter(|one| !named.contains(one)) {
        suspects.insert(upstream.address.to_string(), upstream.address);
    }
    for (shown, address) in suspects {
        let (sign, kind) = match greeting(&address).await {
            Greeting::Of(kind) => ("it answers".to_owned(), kind),
            Greeting::Silent => (
                format!(
                    "it accepts connections but sends nothing for {} s, like a stopped process that may continue",
                    GREETING.as_secs()
                ),
                UnnamedServerKind::Primary,
            ),
            Greeting::None => match connected(participants, &shown).await? {
                Some(server) => (
                    format!(
                        "{server} is connected to it (if its machine died silently, this lasts for slave_net_timeout seconds)"
                    ),
                    UnnamedServerKind::Primary,
                ),
                None => continue,
            },
        };
        return Ok(Some(UnnamedServer {
            address: shown,
            kind,
            sign,
        }));
    }
    Ok(None)
}

/// The servers named on the command line.
struct Identities {
    addresses: HashSet<String>,
    ids: HashSet<ServerId>,
}

impl Identities {
    fn of(participants: &mut Participants) -> Self {
        let (mut addresses, mut ids) = (HashSet::new(), HashSet::new());
        for server in participants.all() {
            addresses.insert(server.address().to_owned());
            ids.insert(server.server_id());
        }
        Identities { addresses, ids }
    }

    /// Compares addresses and server ids, because a server may have several names.
    fn contains(&self, upstream: &Upstream) -> bool {
        self.addresses.contains(&upstream.address.to_string())
            || upstream.server_id.is_some_and(|id| self.ids.contains(&id))
    }
}

/// Result of waiting for a server's greeting.
enum Greeting {
    Of(UnnamedServerKind),
    /// No greeting within the time limit.
    Silent,
    /// No server.
    None,
}

async fn greeting(address: &TcpAddress) -> Greeting {
    let connecting = TcpStream::connect((address.host.as_str(), address.port));
    let Ok(Ok(mut stream)) = tokio::time::timeout(GREETING, connecting).await else {
        return Greeting::None;
    };
    let mut packet = [0; 256];
    match tokio::time::timeout(GREETING, stream.read(&mut packet)).await {
        Err(_) => Greeting::Silent,
        // A proxy in front of a dead server accepts the connection and closes it.
        Ok(Err(_) | Ok(0)) => Greeting::None,
        Ok(Ok(length)) => {
            let version = String::from_utf8_lossy(&packet[..length]);
            Greeting::Of(match version.contains("paceline-archive") {
                true => UnnamedServerKind::Archive,
                false => UnnamedServerKind::Primary,
            })
        }
    }
}

/// Returns the server that is connected to this address and remains connected.
async fn connected(participants: &mut Participants, address: &str) -> Result<Option<String>> {
    let deadline = Instant::now() + NOTICE;
    loop {
        let mut found = None;
        for server in participants.all() {
            if is_connected(server, address).await? {
                found = Some(server.address().to_owned());
                break;
            }
        }
        if found.is_none() || Instant::now() > deadline {
            return Ok(found);
        }
        tokio::time::sleep(POLL).await;
    }
}

async fn is_connected(server: &mut Server, address: &str) -> Result<bool> {
    let upstreams = server.upstreams().await?;
    Ok(upstreams
        .iter()
        .any(|one| one.is_connected && one.address.to_string() == address))
}
