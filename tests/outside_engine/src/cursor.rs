//! Scan of a range.

use std::sync::Arc;

use paceline_embedded::engine::{Direction, EngineCursor, KeyRange, Version};

use crate::{Entry, TreeEngine};

pub(crate) struct TreeCursor {
    engine: Arc<TreeEngine>,
    whole: KeyRange,
    /// Range that is not read yet.
    rest: KeyRange,
    direction: Direction,
    at: Version,
    entry: Option<Entry>,
}

impl TreeCursor {
    pub(crate) fn new(engine: Arc<TreeEngine>, range: KeyRange, direction: Direction, at: Version) -> Self {
        TreeCursor {
            engine,
            whole: range.clone(),
            rest: range,
            direction,
            at,
            entry: None,
        }
    }
}

impl EngineCursor for TreeCursor {
    fn advance(&mut self) -> bool {
        self.entry = self.engine.first(&self.rest, self.direction, self.at);
        match (&self.entry, self.direction) {
            (Some((key, _)), Direction::Forward) => self.rest.start = [&key[..], &[0]].concat(),
            (Some((key, _)), Direction::Backward) => self.rest.end = key.to_vec(),
            // An entry that is added later is not found.
            (None, _) => self.rest.end.clone_from(&self.rest.start),
        }
        self.entry.is_some()
    }

    fn entry(&self) -> Option<(&[u8], &[u8])> {
        let (key, value) = self.entry.as_ref()?;
        Some((key, value))
    }

    fn seek(&mut self, key: &[u8]) {
        self.rest = self.whole.clone();
        match self.direction {
            Direction::Forward if key > self.rest.start.as_slice() => self.rest.start = key.to_vec(),
            Direction::Backward if key < self.rest.end.as_slice() => self.rest.end = [key, &[0]].concat(),
            Direction::Forward | Direction::Backward => {}
        }
        self.entry = None;
    }
}
