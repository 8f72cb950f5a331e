//! Tests of the commit pipeline, one subject per file.

mod crashes;
mod faults;
mod gtids;
mod histories;
mod interleavings;
mod large;
mod log_files;
mod pipeline;
mod replica_positions;
mod unacknowledged;

use crate::{Config, LeaderMode, LockRelease, PublishThread};

/// Returns every combination of leader, publisher and lock release.
fn all_modes() -> Vec<Config> {
    let mut modes = Vec::new();
    for (leader_mode, publish_thread) in [
        (LeaderMode::Inline, PublishThread::LogThread),
        (LeaderMode::Thread, PublishThread::LogThread),
        (LeaderMode::Thread, PublishThread::Publisher),
        (LeaderMode::Adaptive, PublishThread::LogThread),
        (LeaderMode::Adaptive, PublishThread::Publisher),
    ] {
        for lock_release in [LockRelease::Early, LockRelease::AfterPublish] {
            modes.push(Config {
                leader_mode,
                publish_thread,
                lock_release,
                ..Config::default()
            });
        }
    }
    modes
}
