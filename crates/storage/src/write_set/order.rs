//! The order of a write set's entries: a sorted list of entry numbers in chunks.
//!
//! A chunk holds at most [`CHUNK_MAX`] numbers, so that an insert moves at most two kilobytes; the list of chunks itself is
//! moved once in `CHUNK_MAX / 2` inserts. Up to eight entries live inside the struct, without an allocation.

use std::cmp::Ordering;

use smallvec::SmallVec;

const CHUNK_MAX: usize = 512;

type Chunk = SmallVec<[u32; 8]>;

/// A place in the order; valid until the next insert or remove.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Position {
    chunk: usize,
    offset: usize,
}

/// No chunk is ever empty.
pub(super) struct Order {
    chunks: SmallVec<[Chunk; 1]>,
}

impl Order {
    pub(super) fn new() -> Self {
        Order {
            chunks: SmallVec::new(),
        }
    }

    pub(super) fn first(&self) -> Position {
        Position { chunk: 0, offset: 0 }
    }

    pub(super) fn end(&self) -> Position {
        Position {
            chunk: self.chunks.len(),
            offset: 0,
        }
    }

    pub(super) fn at(&self, position: Position) -> u32 {
        self.chunks[position.chunk][position.offset]
    }

    pub(super) fn after(&self, position: Position) -> Position {
        self.normalize(Position {
            offset: position.offset + 1,
            ..position
        })
    }

    /// The place before `position`, which must not be the first.
    pub(super) fn before(&self, position: Position) -> Position {
        if position.offset > 0 {
            Position {
                offset: position.offset - 1,
                ..position
            }
        } else {
            let chunk = position.chunk - 1;
            Position {
                chunk,
                offset: self.chunks[chunk].len() - 1,
            }
        }
    }

    /// The place of the first entry for which `less` is false. `less` is "this entry's key is below the one sought".
    pub(super) fn lower_bound(&self, less: impl Fn(u32) -> bool) -> Position {
        // Most writes come in key order: behind the last.
        if self.chunks.last().is_none_or(|last| less(last[last.len() - 1])) {
            return self.end();
        }
        let chunk = self.chunks.partition_point(|chunk| less(chunk[chunk.len() - 1]));
        Position {
            chunk,
            offset: self.chunks[chunk].partition_point(|&entry| less(entry)),
        }
    }

    /// The entry that compares equal and its place, or the place to insert it. `compare` is the entry's key against the one
    /// sought.
    pub(super) fn find(&self, compare: impl Fn(u32) -> Ordering) -> Result<(Position, u32), Position> {
        let Some(last) = self.chunks.last() else {
            return Err(self.end());
        };
        match compare(last[last.len() - 1]) {
            Ordering::Less => return Err(self.end()),
            Ordering::Equal => {
                let position = Position {
                    chunk: self.chunks.len() - 1,
                    offset: last.len() - 1,
                };
                return Ok((position, self.at(position)));
            }
            Ordering::Greater => {}
        }
        let chunk = self
            .chunks
            .partition_point(|chunk| compare(chunk[chunk.len() - 1]).is_lt());
        match self.chunks[chunk].binary_search_by(|&entry| compare(entry)) {
            Ok(offset) => Ok((Position { chunk, offset }, self.chunks[chunk][offset])),
            Err(offset) => Err(Position { chunk, offset }),
        }
    }

    pub(super) fn insert(&mut self, position: Position, entry: u32) {
        let end = self.end();
        let (at, offset) = match position == end {
            true => match self.chunks.last() {
                // A chunk that is only appended to is left full.
                Some(last) if last.len() < CHUNK_MAX => (end.chunk - 1, last.len()),
                _ => {
                    self.chunks.push(Chunk::new());
                    (end.chunk, 0)
                }
            },
            false => (position.chunk, position.offset),
        };
        let chunk = &mut self.chunks[at];
        chunk.insert(offset, entry);
        if chunk.len() > CHUNK_MAX {
            let upper: Chunk = chunk.drain(CHUNK_MAX / 2..).collect();
            self.chunks.insert(at + 1, upper);
        }
    }

    pub(super) fn remove(&mut self, position: Position) {
        let chunk = &mut self.chunks[position.chunk];
        chunk.remove(position.offset);
        if chunk.is_empty() {
            self.chunks.remove(position.chunk);
        }
    }

    pub(super) fn retain(&mut self, keep: impl Fn(u32) -> bool) {
        self.chunks.retain(|chunk| {
            chunk.retain(|entry| keep(*entry));
            !chunk.is_empty()
        });
    }

    pub(super) fn between(&self, from: Position, to: Position) -> impl Iterator<Item = u32> + use<'_> {
        let mut at = from;
        std::iter::from_fn(move || {
            (at < to).then(|| {
                let entry = self.at(at);
                at = self.after(at);
                entry
            })
        })
    }

    fn normalize(&self, position: Position) -> Position {
        if position.offset == self.chunks[position.chunk].len() {
            Position {
                chunk: position.chunk + 1,
                offset: 0,
            }
        } else {
            position
        }
    }
}
