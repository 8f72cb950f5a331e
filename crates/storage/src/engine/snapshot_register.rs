//! The open snapshots of all engines behind the trait.

use std::collections::BTreeMap;
use std::sync::Arc;

use paceline_types::Version;
use parking_lot::Mutex;

/// Versions that are read, and by how many snapshots.
#[derive(Default)]
pub(crate) struct SnapshotRegister {
    open: Mutex<BTreeMap<Version, usize>>,
}

impl SnapshotRegister {
    /// Registers a snapshot of everything applied up to `version`. Must not run while a group is applied: the next
    /// snapshot is at least as new as all applied changes.
    pub(crate) fn register(self: &Arc<Self>, version: Version) -> Arc<RegisteredSnapshot> {
        *self.open.lock().entry(version).or_default() += 1;
        Arc::new(RegisteredSnapshot {
            register: Arc::clone(self),
            version,
        })
    }

    /// Returns the version of the oldest open snapshot.
    pub(crate) fn oldest(&self) -> Option<Version> {
        self.open.lock().first_key_value().map(|(version, _)| *version)
    }
}

/// Version whose state stays readable as long as this lives.
pub(crate) struct RegisteredSnapshot {
    register: Arc<SnapshotRegister>,
    version: Version,
}

impl RegisteredSnapshot {
    pub(crate) fn version(&self) -> Version {
        self.version
    }
}

impl Drop for RegisteredSnapshot {
    fn drop(&mut self) {
        let mut open = self.register.open.lock();
        if let Some(count) = open.get_mut(&self.version) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.version);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_snapshot_is_known_until_its_last_holder_is_gone() {
        let register = Arc::new(SnapshotRegister::default());
        let at = |offset| Version::new(1, offset);
        assert_eq!(register.oldest(), None);
        let first = register.register(at(5));
        let again = register.register(at(5));
        let newer = register.register(at(9));
        drop(first);
        assert_eq!(register.oldest(), Some(at(5)));
        drop(again);
        assert_eq!(register.oldest(), Some(at(9)));
        assert_eq!(newer.version(), at(9));
        drop(newer);
        assert_eq!(register.oldest(), None);
    }
}
