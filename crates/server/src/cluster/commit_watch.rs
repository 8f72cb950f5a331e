//! The error log says when commits wait for the cluster, and when they no longer do: once each. The member's report
//! says it as long as they wait.

use super::{Cluster, WaitingCommits};
use paceline_cluster_host::ClusterHandle;
use std::sync::Arc;
use std::time::Duration;

/// Age of the oldest commit from which on the wait is said.
const SAID_AFTER: Duration = Duration::from_secs(1);
/// Time between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// Time without a message after which a member is named as silent, in milliseconds.
const SILENT_MS: u64 = 1000;

impl WaitingCommits {
    /// Returns whether they have waited for so long that it is said.
    fn lasts(self) -> bool {
        self.count > 0 && self.age >= SAID_AFTER
    }
}

/// Something to say.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum News {
    Waits(WaitingCommits),
    /// The oldest wait was at least this long.
    Over(Duration),
}

/// Wait that has been said.
#[derive(Debug, Default)]
struct SaidWait {
    longest: Option<Duration>,
}

impl SaidWait {
    /// Returns the news of these waits, if there is any.
    fn look(&mut self, waiting: WaitingCommits) -> Option<News> {
        match (self.longest, waiting.lasts()) {
            (None, true) => {
                self.longest = Some(waiting.age);
                Some(News::Waits(waiting))
            }
            (Some(longest), true) => {
                self.longest = Some(longest.max(waiting.age));
                None
            }
            (Some(longest), false) => {
                self.longest = None;
                Some(News::Over(longest))
            }
            (None, false) => None,
        }
    }
}

/// Watches the commits until the process ends.
pub fn start(cluster: Arc<Cluster>) {
    tokio::spawn(async move {
        let mut said = SaidWait::default();
        loop {
            match said.look(cluster.held.waiting()) {
                Some(News::Waits(waiting)) => {
                    tracing::warn!("cluster: commits wait {}", in_words(waiting, &cluster));
                }
                Some(News::Over(longest)) => tracing::info!(
                    "cluster: commits no longer wait for acknowledgements; the longest wait was {:.1} s or more",
                    longest.as_secs_f64()
                ),
                None => {}
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    });
}

/// Returns what commits wait for, if they have waited for longer than usual.
pub fn present_wait(cluster: &Cluster) -> Option<String> {
    let waiting = cluster.held.waiting();
    waiting.lasts().then(|| in_words(waiting, cluster))
}

fn in_words(WaitingCommits { count, age }: WaitingCommits, cluster: &Cluster) -> String {
    format!(
        "for acknowledgements: {count} transactions, the oldest for {:.1} s{}",
        age.as_secs_f64(),
        silent_members(cluster)
    )
}

/// Returns the holders that were not heard for a while, as a part of a sentence.
fn silent_members(cluster: &Cluster) -> String {
    let handle = &cluster.membership.handle;
    let Some(known) = handle.etcd_state() else {
        return String::new();
    };
    let peers = handle.peers();
    let holders = known.established_configuration().holders();
    let silent = holders.iter().filter(|holder| {
        let peer = peers.iter().find(|peer| peer.id == holder.id);
        let is_heard = peer.is_some_and(|peer| ClusterHandle::silence_ms(peer) < SILENT_MS);
        holder.id != cluster.membership.id && !is_heard
    });
    let silent: Vec<_> = silent.map(|holder| cluster.name_of(holder.id)).collect();
    match silent.is_empty() {
        true => String::new(),
        false => format!("; not heard: {}", silent.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_said_once_and_its_end_once() {
        let waiting = |count, ms| WaitingCommits {
            count,
            age: Duration::from_millis(ms),
        };
        let mut said = SaidWait::default();
        assert_eq!(said.look(waiting(3, 900)), None);
        assert_eq!(said.look(waiting(3, 1100)), Some(News::Waits(waiting(3, 1100))));
        assert_eq!(said.look(waiting(4, 2100)), None);
        assert_eq!(
            said.look(waiting(1, 10)),
            Some(News::Over(Duration::from_millis(2100)))
        );
        assert_eq!(said.look(waiting(0, 0)), None);
        assert_eq!(said.look(waiting(1, 1500)), Some(News::Waits(waiting(1, 1500))));
        assert_eq!(
            said.look(waiting(0, 0)),
            Some(News::Over(Duration::from_millis(1500)))
        );
    }
}
