//! A primary that lives and is not named: with it there would be two that take writes.
//!
//! Where the candidate and the others replicate from, or did last, is known from themselves. Such a server that is not in the command, and that
//! they are connected to or that answers, may be writing: what it acknowledges from now on would be lost. A server that does not answer can live
//! all the same, cut off from here: that is what fencing is for.

use super::Result;
use super::participants::Participants;
use super::server::{Server, Upstream};
use paceline_types::ServerId;
use paceline_wire::TcpAddress;
use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;

/// How long a server has to greet.
const GREETING: Duration = Duration::from_secs(3);
/// How long a replica has to notice that the connection to a dead primary is gone.
const NOTICE: Duration = Duration::from_secs(5);
/// How often it is asked.
const POLL: Duration = Duration::from_millis(50);

/// What a server is that lives and is not named.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// It may take writes.
    Primary,
    /// It keeps a log, and may have what the candidate lacks.
    Archive,
}

/// A server that lives, that others replicate from, and that is not named.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Living {
    /// HOST:PORT.
    pub address: String,
    /// What it seems to be.
    pub kind: Kind,
    /// How that is known.
    pub sign: String,
}

/// The first that is found.
pub async fn find(participants: &mut Participants) -> Result<Option<Living>> {
    let named = Identities::of(participants);
    let mut suspects: HashMap<String, TcpAddress> = HashMap::new();
    let candidates = participants.candidate.upstreams().await?;
    let of_candidate: HashSet<String> = candidates.iter().map(|one| one.address.to_string()).collect();
    let mut all = candidates;
    for server in participants.others.iter_mut().chain(&mut participants.archives) {
        let theirs = server.upstreams().await?;
        // One with several primaries is told of this one only where the candidate has it too.
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
                    "it accepts connections and says nothing for {} s, as a process that is stopped and may go on",
                    GREETING.as_secs()
                ),
                Kind::Primary,
            ),
            Greeting::None => match connected(participants, &shown).await? {
                Some(server) => (
                    format!(
                        "{server} is connected to it (where its machine died without a word, that lasts for slave_net_timeout seconds)"
                    ),
                    Kind::Primary,
                ),
                None => continue,
            },
        };
        return Ok(Some(Living {
            address: shown,
            kind,
            sign,
        }));
    }
    Ok(None)
}

/// The servers that the command line names.
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

    /// By address, or by id: a server may have several names.
    fn contains(&self, upstream: &Upstream) -> bool {
        self.addresses.contains(&upstream.address.to_string())
            || upstream.server_id.is_some_and(|id| self.ids.contains(&id))
    }
}

/// What a server says first.
enum Greeting {
    Of(Kind),
    /// Nothing, for too long.
    Silent,
    /// There is nobody.
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
        // What stands in front of a dead server closes.
        Ok(Err(_) | Ok(0)) => Greeting::None,
        Ok(Ok(length)) => {
            let version = String::from_utf8_lossy(&packet[..length]);
            Greeting::Of(match version.contains("paceline-archive") {
                true => Kind::Archive,
                false => Kind::Primary,
            })
        }
    }
}

/// The server that is connected to this address, and stays so.
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
