//! Handle on the current catalog.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use arc_swap::ArcSwap;
use paceline_types::Version;
use parking_lot::{Mutex, MutexGuard};

use super::record::CatalogChange;
use super::snapshot::Catalog;
use crate::error::Result;

/// The current [`Catalog`], behind one atomic pointer.
#[derive(Debug)]
pub struct CatalogHandle {
    current: ArcSwap<Catalog>,
    /// Next free index number, after those of the catalog and of unpublished statements.
    next_id: AtomicU32,
    /// Only one statement at a time plans and takes numbers.
    planning: Mutex<()>,
    publishing: Mutex<()>,
}

impl CatalogHandle {
    /// Creates a handle on a loaded catalog.
    pub fn new(catalog: Catalog) -> Self {
        let next_id = AtomicU32::new(catalog.next_id());
        Self {
            current: ArcSwap::from_pointee(catalog),
            next_id,
            planning: Mutex::new(()),
            publishing: Mutex::new(()),
        }
    }

    /// Returns the current catalog.
    #[inline]
    pub fn load(&self) -> Arc<Catalog> {
        self.current.load_full()
    }

    /// Replaces the catalog by the one after these changes. Called in the order of the log, when the changes are in the
    /// engines and before they are visible.
    ///
    /// # Errors
    /// If a table's description is inconsistent, which is impossible for a planned one.
    pub fn publish(&self, changes: &[CatalogChange], version: Version) -> Result<()> {
        let _one_at_a_time = self.publishing.lock();
        let next = self.current.load().changed(changes, version)?;
        self.next_id.fetch_max(next.next_id(), Ordering::AcqRel);
        self.current.store(Arc::new(next));
        Ok(())
    }

    /// Blocks other planning until the numbers for a plan are taken.
    pub(crate) fn plan(&self) -> NumberingGuard<'_> {
        NumberingGuard {
            _guard: self.planning.lock(),
            next_id: &self.next_id,
        }
    }
}

/// Guard for taking index numbers.
pub(crate) struct NumberingGuard<'a> {
    _guard: MutexGuard<'a, ()>,
    next_id: &'a AtomicU32,
}

impl NumberingGuard<'_> {
    /// Returns the first free number.
    pub(crate) fn next_id(&self) -> u32 {
        self.next_id.load(Ordering::Acquire)
    }

    /// Takes the numbers below `next`.
    pub(crate) fn take_until(self, next: u32) {
        self.next_id.fetch_max(next, Ordering::AcqRel);
    }
}
