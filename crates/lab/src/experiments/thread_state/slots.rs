//! Where a thread publishes its state, by what keeps its two words together.
//!
//! Each slot's `set` is a call, as it is where a state is set from many places.

use crate::pthread::{MutexKind, PthreadMutex};
use std::hint;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

/// State of a thread: the address or number of its name, and the moment when it began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct State {
    pub name: u64,
    pub since: u64,
}

/// A place where a thread publishes its state. Only one thread writes to it.
pub trait Slot: Default + Sync {
    fn set(&self, state: State);

    /// Returns the state, as another thread sees it.
    fn get(&self) -> State;
}

/// The two words, which by themselves may be of different states.
#[derive(Debug, Default)]
struct Words {
    name: AtomicU64,
    since: AtomicU64,
}

impl Words {
    #[inline]
    fn store(&self, state: State) {
        self.name.store(state.name, Ordering::Relaxed);
        self.since.store(state.since, Ordering::Relaxed);
    }

    #[inline]
    fn load(&self) -> State {
        State {
            name: self.name.load(Ordering::Relaxed),
            since: self.since.load(Ordering::Relaxed),
        }
    }
}

/// A lock of one word that is taken and given back with a compare-exchange each.
#[derive(Debug, Default)]
pub struct TwoCompareExchanges {
    lock: AtomicU32,
    words: Words,
}

impl TwoCompareExchanges {
    #[inline]
    fn exchange(&self, from: u32, to: u32) {
        while self
            .lock
            .compare_exchange(from, to, Ordering::AcqRel, Ordering::Relaxed)
            .is_err()
        {
            hint::spin_loop();
        }
    }
}

impl Slot for TwoCompareExchanges {
    #[inline(never)]
    fn set(&self, state: State) {
        self.exchange(0, 1);
        self.words.store(state);
        self.exchange(1, 0);
    }

    fn get(&self) -> State {
        self.exchange(0, 1);
        let state = self.words.load();
        self.exchange(1, 0);
        state
    }
}

/// Words beside a sequence number. A reader that sees an odd number, or another one after than before, tries again.
#[derive(Debug, Default)]
struct Sequence {
    number: AtomicU64,
    words: Words,
}

impl Sequence {
    fn get(&self) -> State {
        loop {
            let before = self.number.load(Ordering::Acquire);
            let state = self.words.load();
            fence(Ordering::Acquire);
            if before.is_multiple_of(2) && self.number.load(Ordering::Relaxed) == before {
                return state;
            }
            hint::spin_loop();
        }
    }
}

/// A sequence number with a write barrier on each side of the words. No locked instruction; on x86-64 the barriers bind
/// the compiler alone.
#[derive(Debug, Default)]
pub struct BothBarriers(Sequence);

impl Slot for BothBarriers {
    #[inline(never)]
    fn set(&self, state: State) {
        let number = self.0.number.load(Ordering::Relaxed);
        self.0.number.store(number.wrapping_add(1), Ordering::Relaxed);
        fence(Ordering::Release);
        self.0.words.store(state);
        self.0.number.store(number.wrapping_add(2), Ordering::Release);
    }

    fn get(&self) -> State {
        self.0.get()
    }
}

/// The same, but readers are kept out by a full barrier, which waits until the stores are visible.
#[derive(Debug, Default)]
pub struct FullBarrier(Sequence);

impl Slot for FullBarrier {
    #[inline(never)]
    fn set(&self, state: State) {
        let number = self.0.number.load(Ordering::Relaxed);
        self.0.number.store(number.wrapping_add(1), Ordering::Relaxed);
        fence(Ordering::SeqCst);
        self.0.words.store(state);
        self.0.number.store(number.wrapping_add(2), Ordering::Release);
    }

    fn get(&self) -> State {
        self.0.get()
    }
}

/// The words in order: a reader that sees the new second word sees the new first one, but may see it early.
#[derive(Debug, Default)]
pub struct WriteBarrier(Words);

impl Slot for WriteBarrier {
    #[inline(never)]
    fn set(&self, state: State) {
        self.0.name.store(state.name, Ordering::Relaxed);
        store_barrier();
        self.0.since.store(state.since, Ordering::Relaxed);
    }

    fn get(&self) -> State {
        self.0.load()
    }
}

/// Lets no later store become visible before an earlier one. On x86-64 stores are in order without it; the published
/// figure is of the instruction.
#[cfg(target_arch = "x86_64")]
#[inline]
#[allow(unsafe_code, unused_unsafe)]
fn store_barrier() {
    // SAFETY: every x86-64 processor has the instruction, which takes nothing and changes nothing.
    unsafe { std::arch::x86_64::_mm_sfence() }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn store_barrier() {
    fence(Ordering::Release);
}

/// The words in any order.
#[derive(Debug, Default)]
pub struct NoBarrier(Words);

impl Slot for NoBarrier {
    #[inline(never)]
    fn set(&self, state: State) {
        self.0.store(state);
    }

    fn get(&self) -> State {
        self.0.load()
    }
}

/// One aligned word, which is written and read as a whole: a pointer to all that a reader wants to know. The time is
/// not published.
#[derive(Debug, Default)]
pub struct AlignedPointer(AtomicU64);

impl Slot for AlignedPointer {
    #[inline(never)]
    fn set(&self, state: State) {
        self.0.store(state.name, Ordering::Release);
    }

    fn get(&self) -> State {
        State {
            name: self.0.load(Ordering::Acquire),
            since: 0,
        }
    }
}

#[derive(Debug)]
pub struct PthreadSlot {
    mutex: PthreadMutex,
    words: Words,
}

impl Default for PthreadSlot {
    fn default() -> Self {
        PthreadSlot {
            mutex: PthreadMutex::new(MutexKind::Default),
            words: Words::default(),
        }
    }
}

impl Slot for PthreadSlot {
    #[inline(never)]
    fn set(&self, state: State) {
        self.mutex.lock();
        self.words.store(state);
        self.mutex.unlock();
    }

    fn get(&self) -> State {
        self.mutex.lock();
        let state = self.words.load();
        self.mutex.unlock();
        state
    }
}

#[derive(Debug, Default)]
pub struct StandardSlot(Mutex<State>);

impl Slot for StandardSlot {
    #[inline(never)]
    fn set(&self, state: State) {
        *self.0.lock().expect("no holder panics") = state;
    }

    fn get(&self) -> State {
        *self.0.lock().expect("no holder panics")
    }
}

#[derive(Debug, Default)]
pub struct ParkingLotSlot(parking_lot::Mutex<State>);

impl Slot for ParkingLotSlot {
    #[inline(never)]
    fn set(&self, state: State) {
        *self.0.lock() = state;
    }

    fn get(&self) -> State {
        *self.0.lock()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;
    use std::thread;

    /// Checks that a reader never sees one word of one state and one of another.
    fn never_mixed<S: Slot>() {
        let (slot, is_done) = (S::default(), AtomicBool::new(false));
        thread::scope(|scope| {
            scope.spawn(|| {
                while !is_done.load(Ordering::Relaxed) {
                    let state = slot.get();
                    assert_eq!(state.since, state.name * 3);
                }
            });
            for name in 0..200_000 {
                slot.set(State {
                    name,
                    since: name * 3,
                });
            }
            is_done.store(true, Ordering::Relaxed);
        });
    }

    #[test]
    fn locks_and_sequences_keep_the_words_together() {
        never_mixed::<TwoCompareExchanges>();
        never_mixed::<PthreadSlot>();
        never_mixed::<StandardSlot>();
        never_mixed::<ParkingLotSlot>();
        never_mixed::<BothBarriers>();
        never_mixed::<FullBarrier>();
    }
}
