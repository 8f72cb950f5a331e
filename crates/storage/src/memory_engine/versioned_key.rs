//! Key of the skip list: the bytes of a key, followed by the version, newest first.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::sync::Arc;

use paceline_types::Version;

#[derive(Clone)]
pub(super) struct VersionedKey {
    pub(super) key: Arc<[u8]>,
    pub(super) version: Version,
}

/// View of a key for comparisons, so that a search need not own its key.
pub(super) trait KeyView {
    fn key(&self) -> &[u8];
    fn version(&self) -> Version;
}

impl KeyView for VersionedKey {
    fn key(&self) -> &[u8] {
        &self.key
    }

    fn version(&self) -> Version {
        self.version
    }
}

impl KeyView for (&[u8], Version) {
    fn key(&self) -> &[u8] {
        self.0
    }

    fn version(&self) -> Version {
        self.1
    }
}

impl<'a> Borrow<dyn KeyView + 'a> for VersionedKey {
    fn borrow(&self) -> &(dyn KeyView + 'a) {
        self
    }
}

impl Ord for dyn KeyView + '_ {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key()
            .cmp(other.key())
            .then_with(|| other.version().cmp(&self.version()))
    }
}

impl PartialOrd for dyn KeyView + '_ {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for dyn KeyView + '_ {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for dyn KeyView + '_ {}

impl Ord for VersionedKey {
    fn cmp(&self, other: &Self) -> Ordering {
        (self as &dyn KeyView).cmp(other as &dyn KeyView)
    }
}

impl PartialOrd for VersionedKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for VersionedKey {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for VersionedKey {}
