//! Room on the stack for what walks a syntax tree by recursion: the tree is as high as a client's text has made it.

/// What one level may need, in bytes.
const RESERVE_BYTES: usize = 256 << 10;
/// By how much the stack grows, in bytes.
const STEP_BYTES: usize = 4 << 20;

/// Does the work of one level; the stack grows where the thread's own would not do.
#[inline]
pub fn on_enough<T>(work: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(RESERVE_BYTES, STEP_BYTES, work)
}
