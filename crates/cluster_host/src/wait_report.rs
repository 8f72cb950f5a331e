//! Messages in the error log about what a member waits for.
//!
//! A member that waits is closed, and its tables cannot say why; the error log does. Elections pass through several
//! waits within milliseconds, so only a wait that lasts is reported, once, and once more when it has ended.

use crate::handle::ClusterHandle;
use paceline_cluster::Wait;
use std::mem::discriminant;
use std::time::Duration;
use tokio::time::{Instant, MissedTickBehavior, interval};

/// Time between two looks at the state. A wait that two looks find in turn is reported.
const INTERVAL: Duration = Duration::from_secs(1);

/// A wait that the last look found.
struct PresentWait {
    wait: Wait,
    since: Instant,
    is_reported: bool,
}

/// Watches a member, and reports its waits, until its driver ends.
pub(crate) async fn report(handle: ClusterHandle) {
    let mut present: Option<PresentWait> = None;
    let mut looks = interval(INTERVAL);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while !handle.has_ended() {
        let at = looks.tick().await;
        let wait = handle.status().waits;
        present = match (present.take(), wait) {
            (Some(mut before), Some(wait)) if discriminant(&before.wait) == discriminant(&wait) => {
                if !before.is_reported {
                    tracing::warn!("cluster: this member waits {wait}");
                    before.is_reported = true;
                }
                Some(before)
            }
            (before, wait) => {
                if let Some(before) = before.filter(|before| before.is_reported) {
                    let seconds = at.duration_since(before.since).as_secs();
                    tracing::info!(
                        "cluster: this member no longer waits {}; it did for {seconds} s",
                        before.wait
                    );
                }
                wait.map(|wait| PresentWait {
                    wait,
                    since: at,
                    is_reported: false,
                })
            }
        };
    }
}
