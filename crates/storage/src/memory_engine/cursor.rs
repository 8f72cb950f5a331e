//! Scan of the memory engine in batches: each is read in one walk over the skip list and then returned without
//! touching it.

use std::ops::Bound;
use std::sync::Arc;

use paceline_types::Version;

use super::MemoryEngine;
use super::versioned_key::KeyView;
use crate::engine::EngineCursor;
use crate::key::{Direction, KeyRange};

const FIRST_BATCH: usize = 8;
const BATCH_MAX: usize = 256;

/// Key and value.
type Entry = (Arc<[u8]>, Arc<[u8]>);

pub(crate) struct MemoryCursor {
    engine: Arc<MemoryEngine>,
    /// Version that is read; at [`Version::MAX`] each entry is as new as when the cursor reads it.
    version: Version,
    /// Range that is still to be read from the engine.
    rest: KeyRange,
    direction: Direction,
    batch: Vec<Entry>,
    /// Index of the batch's entry that the cursor is on, plus one; 0 before the first.
    at: usize,
    batch_max: usize,
    /// Whether `rest` may contain more entries.
    more: bool,
    whole: KeyRange,
}

impl MemoryCursor {
    pub(crate) fn new(
        engine: Arc<MemoryEngine>,
        range: KeyRange,
        direction: Direction,
        version: Version,
    ) -> Self {
        let whole = range.clone();
        let more = !range.is_empty();
        MemoryCursor {
            engine,
            version,
            rest: range,
            direction,
            batch: Vec::new(),
            at: 0,
            batch_max: FIRST_BATCH,
            more,
            whole,
        }
    }

    fn fill(&mut self) {
        let (engine, version) = (&self.engine, self.version);
        let (start, end) = (
            (&self.rest.start[..], Version::MAX),
            (&self.rest.end[..], Version::MAX),
        );
        let bounds = (
            Bound::Included(&start as &dyn KeyView),
            Bound::Excluded(&end as &dyn KeyView),
        );
        let range = engine.map.range::<dyn KeyView, _>(bounds);
        let limit = self.batch_max;
        // For each key, take the newest version that is not too new, or `None` where it is deleted. Forward, a
        // key's versions are newest first: take the first that fits. Backward, they are oldest first: take the
        // last that fits.
        let mut last_key: Option<Arc<[u8]>> = None;
        // Key at which the next batch begins.
        let mut next: Option<Arc<[u8]>> = None;
        let visible = |key: &Arc<[u8]>, found: Version, value: &Option<Arc<[u8]>>| {
            let hidden = engine
                .hidden_at(key, version)
                .is_some_and(|hidden| hidden > found);
            if hidden { None } else { value.clone() }
        };
        match self.direction {
            Direction::Forward => {
                for entry in range {
                    let key = entry.key();
                    if key.version > version || last_key.as_deref() == Some(&key.key[..]) {
                        continue;
                    }
                    if self.batch.len() == limit {
                        next = Some(Arc::clone(&key.key));
                        break;
                    }
                    last_key = Some(Arc::clone(&key.key));
                    if let Some(value) = visible(&key.key, key.version, entry.value()) {
                        self.batch.push((Arc::clone(&key.key), value));
                    }
                }
            }
            Direction::Backward => {
                let mut candidate: Option<Arc<[u8]>> = None;
                for entry in range.rev() {
                    let key = entry.key();
                    if key.version > version {
                        continue;
                    }
                    if last_key.as_deref() != Some(&key.key[..]) {
                        if let (Some(key), Some(value)) = (last_key.take(), candidate.take()) {
                            self.batch.push((key, value));
                        }
                        if self.batch.len() == limit {
                            next = Some(Arc::clone(&key.key));
                            break;
                        }
                        last_key = Some(Arc::clone(&key.key));
                    }
                    candidate = visible(&key.key, key.version, entry.value());
                }
                if next.is_none()
                    && let (Some(key), Some(value)) = (last_key, candidate)
                {
                    self.batch.push((key, value));
                }
            }
        }
        self.more = next.is_some();
        match (next, self.direction) {
            (Some(key), Direction::Forward) => self.rest.start = key.to_vec(),
            (Some(key), Direction::Backward) => self.rest.end = [&key[..], &[0]].concat(),
            (None, _) => {}
        }
        self.batch_max = (limit * 2).min(BATCH_MAX);
    }
}

impl EngineCursor for MemoryCursor {
    fn seek(&mut self, key: &[u8]) {
        self.rest = self.whole.clone();
        match self.direction {
            Direction::Forward if key > self.rest.start.as_slice() => self.rest.start = key.to_vec(),
            Direction::Backward if key < self.rest.end.as_slice() => {
                self.rest.end = key.to_vec();
                self.rest.end.push(0);
            }
            Direction::Forward | Direction::Backward => {}
        }
        self.more = !self.rest.is_empty();
        self.batch.clear();
        self.at = 0;
        self.batch_max = FIRST_BATCH;
    }

    fn advance(&mut self) -> bool {
        if self.at < self.batch.len() {
            self.at += 1;
            return true;
        }
        self.batch.clear();
        self.at = 0;
        if self.more {
            self.fill();
        }
        if self.batch.is_empty() {
            return false;
        }
        self.at = 1;
        true
    }

    fn entry(&self) -> Option<(&[u8], &[u8])> {
        let (key, value) = self.batch.get(self.at.checked_sub(1)?)?;
        Some((key, value))
    }
}
