//! Order of a write set's entries: a sorted list of entry numbers in chunks, each number with the head of its
//! key.
//!
//! ```text
//!   lasts    head of each chunk's last key             [h4]          [h9]  …
//!   chunks   heads, ascending                          [h0 h2 h4]    [h5 h5 h9]
//!            entry numbers                             [ 2  0  1]    [ 5  3  4]
//! ```
//!
//! - **Heads are contiguous**: a search in a large set compares sixteen-byte heads that lie side by side, and
//!   follows an entry to its key, somewhere in a large arena, only where the heads are equal.
//! - **Inserts are bounded**: a chunk contains at most [`CHUNK_MAX`] numbers, so an insert moves at most five
//!   kilobytes; the list of chunks itself is moved once in `CHUNK_MAX / 2` inserts.
//! - **Small sets are cheap**: up to eight keys cost one allocation, and an order without keys none. It is
//!   small itself, as every session has one in the state of its task.

use std::cmp::Ordering;

use smallvec::SmallVec;

use crate::key::KeyHead;

const CHUNK_MAX: usize = 256;

/// Memory of a key in the order, in bytes.
pub(super) const BYTES_PER_KEY: usize = size_of::<KeyHead>() + size_of::<u32>();

/// Part of the order. The two lists have the same length.
#[derive(Default)]
struct Chunk {
    heads: SmallVec<[KeyHead; 8]>,
    entries: SmallVec<[u32; 8]>,
}

impl Chunk {
    fn len(&self) -> usize {
        self.entries.len()
    }

    fn last_head(&self) -> KeyHead {
        self.heads[self.len() - 1]
    }

    fn insert(&mut self, offset: usize, head: KeyHead, entry: u32) {
        self.heads.insert(offset, head);
        self.entries.insert(offset, entry);
    }

    fn remove(&mut self, offset: usize) {
        self.heads.remove(offset);
        self.entries.remove(offset);
    }

    fn split_off(&mut self, offset: usize) -> Chunk {
        Chunk {
            heads: self.heads.drain(offset..).collect(),
            entries: self.entries.drain(offset..).collect(),
        }
    }

    fn retain(&mut self, keep: impl Fn(u32) -> bool) {
        let mut kept = 0;
        for offset in 0..self.len() {
            if keep(self.entries[offset]) {
                self.heads[kept] = self.heads[offset];
                self.entries[kept] = self.entries[offset];
                kept += 1;
            }
        }
        self.heads.truncate(kept);
        self.entries.truncate(kept);
    }
}

/// Position in the order; valid until the next insert or remove.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Position {
    chunk: usize,
    offset: usize,
}

/// Order of the entries. No chunk is ever empty.
pub(super) struct Order {
    chunks: Vec<Chunk>,
    /// Head of each chunk's last key.
    lasts: SmallVec<[KeyHead; 1]>,
}

impl Order {
    pub(super) fn new() -> Self {
        Order {
            chunks: Vec::new(),
            lasts: SmallVec::new(),
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
        self.chunks[position.chunk].entries[position.offset]
    }

    pub(super) fn after(&self, position: Position) -> Position {
        self.normalize(Position {
            offset: position.offset + 1,
            ..position
        })
    }

    /// Returns the position before `position`, which must not be the first.
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

    /// Returns the position of the first entry whose key is not below the one sought, which begins with `head`.
    /// `compare` compares an entry's key with it.
    pub(super) fn lower_bound(&self, head: KeyHead, compare: impl Fn(u32) -> Ordering) -> Position {
        match self.find(head, compare) {
            Ok((position, _)) | Err(position) => position,
        }
    }

    /// Returns the entry that compares equal and its position, or the position at which to insert it. `compare`
    /// compares an entry's key with the one sought, which begins with `head`.
    pub(super) fn find(
        &self,
        head: KeyHead,
        compare: impl Fn(u32) -> Ordering,
    ) -> Result<(Position, u32), Position> {
        let compare_at = |chunk: &Chunk, offset: usize| {
            let by_head = chunk.heads[offset].cmp(&head);
            by_head.then_with(|| compare(chunk.entries[offset]))
        };
        let found = |number: usize, offset: usize| {
            let position = Position {
                chunk: number,
                offset,
            };
            Ok((position, self.at(position)))
        };
        let Some((last, before)) = self.chunks.split_last() else {
            return Err(self.end());
        };
        // Most writes are in key order: after the last key, or to the last key again.
        match compare_at(last, last.len() - 1) {
            Ordering::Less => return Err(self.end()),
            Ordering::Equal => return found(before.len(), last.len() - 1),
            Ordering::Greater => {}
        }
        let number = search(before.len(), |number| {
            let entries = &before[number].entries;
            let by_head = self.lasts[number].cmp(&head);
            by_head.then_with(|| compare(entries[entries.len() - 1]))
        });
        let number = match number {
            Ok(number) => return found(number, before[number].len() - 1),
            Err(number) => number,
        };
        // Its last key is above the one sought.
        let chunk = &self.chunks[number];
        match search(chunk.len() - 1, |offset| compare_at(chunk, offset)) {
            Ok(offset) => found(number, offset),
            Err(offset) => Err(Position {
                chunk: number,
                offset,
            }),
        }
    }

    /// Inserts an entry, whose key begins with `head`, at the position that [`find`](Self::find) returned for
    /// it.
    pub(super) fn insert(&mut self, position: Position, head: KeyHead, entry: u32) {
        let end = self.end();
        let (at, offset) = match position == end {
            true => match self.chunks.last() {
                // A chunk that is only appended to stays full.
                Some(last) if last.len() < CHUNK_MAX => (end.chunk - 1, last.len()),
                _ => {
                    if self.chunks.is_empty() {
                        // Most sets need only one.
                        self.chunks.reserve_exact(1);
                    }
                    self.chunks.push(Chunk::default());
                    self.lasts.push(head);
                    (end.chunk, 0)
                }
            },
            false => (position.chunk, position.offset),
        };
        let chunk = &mut self.chunks[at];
        chunk.insert(offset, head, entry);
        self.lasts[at] = chunk.last_head();
        if chunk.len() > CHUNK_MAX {
            let upper = chunk.split_off(CHUNK_MAX / 2);
            self.lasts[at] = chunk.last_head();
            self.lasts.insert(at + 1, upper.last_head());
            self.chunks.insert(at + 1, upper);
        }
    }

    pub(super) fn remove(&mut self, position: Position) {
        let chunk = &mut self.chunks[position.chunk];
        chunk.remove(position.offset);
        if chunk.len() == 0 {
            self.chunks.remove(position.chunk);
            self.lasts.remove(position.chunk);
        } else {
            self.lasts[position.chunk] = chunk.last_head();
        }
    }

    pub(super) fn retain(&mut self, keep: impl Fn(u32) -> bool) {
        self.chunks.retain_mut(|chunk| {
            chunk.retain(&keep);
            chunk.len() > 0
        });
        self.note_lasts();
    }

    /// Updates the heads after keys have changed; their order must not have changed.
    pub(super) fn set_heads(&mut self, head_of: impl Fn(u32) -> KeyHead) {
        for chunk in &mut self.chunks {
            for (head, entry) in chunk.heads.iter_mut().zip(&chunk.entries) {
                *head = head_of(*entry);
            }
        }
        self.note_lasts();
    }

    fn note_lasts(&mut self) {
        self.lasts = self.chunks.iter().map(Chunk::last_head).collect();
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

/// Returns the index below `length` for which `compare` returns `Equal`, or else the first one for which it
/// returns `Greater`; the results of `compare` must ascend.
fn search(length: usize, compare: impl Fn(usize) -> Ordering) -> Result<usize, usize> {
    let (mut low, mut high) = (0, length);
    while low < high {
        let middle = low + (high - low) / 2;
        match compare(middle) {
            Ordering::Less => low = middle + 1,
            Ordering::Equal => return Ok(middle),
            Ordering::Greater => high = middle,
        }
    }
    Err(low)
}
