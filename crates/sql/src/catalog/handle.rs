//! The catalog that everyone sees now.

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
    /// Numbers of indexes that are taken: those of the catalog and those of statements that are not published yet.
    next_id: AtomicU32,
    /// Planning, which takes numbers, is done by one at a time.
    planning: Mutex<()>,
    publishing: Mutex<()>,
}

impl CatalogHandle {
    /// A handle on a catalog that was loaded.
    pub fn new(catalog: Catalog) -> Self {
        let next_id = AtomicU32::new(catalog.next_id());
        Self {
            current: ArcSwap::from_pointee(catalog),
            next_id,
            planning: Mutex::new(()),
            publishing: Mutex::new(()),
        }
    }

    /// The catalog now.
    #[inline]
    pub fn load(&self) -> Arc<Catalog> {
        self.current.load_full()
    }

    /// Switches to the catalog after these changes. Called in the log's order, when the transaction that made them is in the engines and
    /// before anyone sees it.
    ///
    /// # Errors
    /// If a table's description contradicts itself, which a planned one never does.
    pub fn publish(&self, changes: &[CatalogChange], version: Version) -> Result<()> {
        let _one_at_a_time = self.publishing.lock();
        let next = self.current.load().changed(changes, version)?;
        self.next_id.fetch_max(next.next_id(), Ordering::AcqRel);
        self.current.store(Arc::new(next));
        Ok(())
    }

    /// Keeps others from planning until the numbers that a plan needs are taken.
    pub(crate) fn plan(&self) -> Planning<'_> {
        Planning {
            _guard: self.planning.lock(),
            next_id: &self.next_id,
        }
    }
}

/// The right to take numbers of indexes.
pub(crate) struct Planning<'a> {
    _guard: MutexGuard<'a, ()>,
    next_id: &'a AtomicU32,
}

impl Planning<'_> {
    /// The first free number.
    pub(crate) fn next_id(&self) -> u32 {
        self.next_id.load(Ordering::Acquire)
    }

    /// Takes numbers up to `next`.
    pub(crate) fn take_until(self, next: u32) {
        self.next_id.fetch_max(next, Ordering::AcqRel);
    }
}
