//! The commit pipeline under test: one subject a file.

mod crashes;
mod faults;
mod gtids;
mod histories;
mod log_files;
mod pipeline;
mod replica_positions;

use crate::{Config, LeaderMode, LockRelease};

/// Every way to lead and to release locks.
fn all_modes() -> Vec<Config> {
    let mut modes = Vec::new();
    for leader_mode in [
        LeaderMode::Inline,
        LeaderMode::Thread,
        LeaderMode::Adaptive,
        LeaderMode::Handoff,
    ] {
        for lock_release in [LockRelease::Early, LockRelease::AfterPublish] {
            modes.push(Config {
                leader_mode,
                lock_release,
                ..Config::default()
            });
        }
    }
    modes
}
