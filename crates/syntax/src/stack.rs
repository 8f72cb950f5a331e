//! Stack space for recursion over a syntax tree, whose height is up to the client.

/// Stack that one level may need, in bytes.
const RESERVE_BYTES: usize = 256 << 10;
/// Size of an additional stack segment, in bytes.
const STEP_BYTES: usize = 4 << 20;

/// Runs the work of one level, on a new stack segment if the current one has too little space left.
#[inline]
pub fn on_enough<T>(work: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(RESERVE_BYTES, STEP_BYTES, work)
}
