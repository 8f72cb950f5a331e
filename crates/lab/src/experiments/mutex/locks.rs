//! The mutexes, as implementations of one trait.

use super::sync_array::SyncArrayMutex;
use crate::machine;
use crate::pthread::{MutexKind, PthreadMutex};
use rustix::thread::futex;
use std::hint;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// A mutex that protects nothing by itself.
pub trait Lock: Send + Sync {
    fn new() -> Self;

    /// Does something while no other thread has the mutex.
    fn hold(&self, action: impl FnOnce());
}

impl Lock for SyncArrayMutex {
    fn new() -> Self {
        SyncArrayMutex::default()
    }

    #[inline]
    fn hold(&self, action: impl FnOnce()) {
        self.enter();
        action();
        self.exit();
    }
}

/// Test and set; a thread that does not get it sleeps in the kernel at once.
///
/// It has three states, so that an unlock without waiting threads needs no system call (U. Drepper, "Futexes are
/// tricky", the second mutex).
pub struct FutexLock(AtomicU32);

const FREE: u32 = 0;
const HELD: u32 = 1;
const AWAITED: u32 = 2;

impl Lock for FutexLock {
    fn new() -> Self {
        FutexLock(AtomicU32::new(FREE))
    }

    #[inline]
    fn hold(&self, action: impl FnOnce()) {
        let free = self
            .0
            .compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed);
        if free.is_err() {
            self.wait();
        }
        action();
        if self.0.swap(FREE, Ordering::Release) == AWAITED {
            futex::wake(&self.0, futex::Flags::PRIVATE, 1).expect("the word is there");
        }
    }
}

impl FutexLock {
    #[cold]
    fn wait(&self) {
        // A thread that has slept cannot know whether others still sleep, so it marks the mutex as awaited.
        while self.0.swap(AWAITED, Ordering::Acquire) != FREE {
            // Returns at once if the word has changed, and at times for no reason.
            let _ = futex::wait(&self.0, futex::Flags::PRIVATE, AWAITED, None);
        }
    }
}

/// The C library's mutex as it is by default.
pub struct DefaultLock(PthreadMutex);

impl Lock for DefaultLock {
    fn new() -> Self {
        DefaultLock(PthreadMutex::new(MutexKind::Default))
    }

    #[inline]
    fn hold(&self, action: impl FnOnce()) {
        self.0.lock();
        action();
        self.0.unlock();
    }
}

/// The C library's mutex that spins before it sleeps, as long as it took to get it before.
pub struct AdaptiveLock(PthreadMutex);

impl Lock for AdaptiveLock {
    fn new() -> Self {
        AdaptiveLock(PthreadMutex::new(MutexKind::Adaptive))
    }

    #[inline]
    fn hold(&self, action: impl FnOnce()) {
        self.0.lock();
        action();
        self.0.unlock();
    }
}

/// Rounds of spinning before a thread sleeps, with a try to lock after each.
const SPIN_ROUNDS: u32 = 30;

/// Most pauses in a round.
const PAUSES_MAX: u64 = 50;

/// Threads that may spin at the same time: one processor is the holder's.
static SPINNERS_MAX: LazyLock<usize> = LazyLock::new(|| machine::processors().saturating_sub(1).max(1));

/// Returns how many threads may spin at the same time.
pub fn spinners_max() -> usize {
    *SPINNERS_MAX
}

/// Number of threads that spin for any mutex.
static SPINNERS: AtomicUsize = AtomicUsize::new(0);

/// Spins for a default mutex of the C library, while there are not too many spinning threads; then sleeps.
fn spin_and_lock(mutex: &PthreadMutex, spinners: &AtomicUsize) {
    if mutex.try_lock() {
        return;
    }
    // A few more than the limit may spin for a moment.
    if spinners.load(Ordering::Relaxed) < spinners_max() {
        spinners.fetch_add(1, Ordering::Relaxed);
        // Different threads pause for different times, so that they do not try in step. The address of a local variable
        // differs from thread to thread.
        let mut random = std::ptr::from_ref(&mutex).addr() as u64 >> 4;
        let taken = (0..SPIN_ROUNDS).any(|_| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (0..=(random >> 33) % PAUSES_MAX).for_each(|_| hint::spin_loop());
            mutex.try_lock()
        });
        spinners.fetch_sub(1, Ordering::Relaxed);
        if taken {
            return;
        }
    }
    mutex.lock();
}

/// Spins while fewer than a limit of threads spin in the whole process.
pub struct GlobalLimitLock(PthreadMutex);

impl Lock for GlobalLimitLock {
    fn new() -> Self {
        GlobalLimitLock(PthreadMutex::new(MutexKind::Default))
    }

    #[inline]
    fn hold(&self, action: impl FnOnce()) {
        spin_and_lock(&self.0, &SPINNERS);
        action();
        self.0.unlock();
    }
}

/// Spins while fewer than a limit of threads spin for this mutex.
pub struct OwnLimitLock {
    mutex: PthreadMutex,
    spinners: AtomicUsize,
}

impl Lock for OwnLimitLock {
    fn new() -> Self {
        OwnLimitLock {
            mutex: PthreadMutex::new(MutexKind::Default),
            spinners: AtomicUsize::new(0),
        }
    }

    #[inline]
    fn hold(&self, action: impl FnOnce()) {
        spin_and_lock(&self.mutex, &self.spinners);
        action();
        self.mutex.unlock();
    }
}

impl Lock for std::sync::Mutex<()> {
    fn new() -> Self {
        std::sync::Mutex::new(())
    }

    #[inline]
    fn hold(&self, action: impl FnOnce()) {
        let _guard = self.lock().expect("no holder panics");
        action();
    }
}

impl Lock for parking_lot::Mutex<()> {
    fn new() -> Self {
        parking_lot::Mutex::new(())
    }

    #[inline]
    fn hold(&self, action: impl FnOnce()) {
        let _guard = self.lock();
        action();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;
    use std::thread;

    /// Checks that an increment that is not atomic loses nothing.
    fn excludes<L: Lock>() {
        const THREADS: u64 = 8;
        const ROUNDS: u64 = 2000;
        let (lock, count) = (L::new(), AtomicU64::new(0));
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    for round in 0..ROUNDS {
                        lock.hold(|| {
                            let before = count.load(Ordering::Relaxed);
                            if round % 100 == 0 {
                                thread::yield_now();
                            }
                            count.store(before + 1, Ordering::Relaxed);
                        });
                    }
                });
            }
        });
        assert_eq!(count.into_inner(), THREADS * ROUNDS);
    }

    #[test]
    fn each_lock_excludes_other_threads() {
        excludes::<SyncArrayMutex>();
        excludes::<FutexLock>();
        excludes::<DefaultLock>();
        excludes::<AdaptiveLock>();
        excludes::<GlobalLimitLock>();
        excludes::<OwnLimitLock>();
        excludes::<std::sync::Mutex<()>>();
        excludes::<parking_lot::Mutex<()>>();
        assert_eq!(SPINNERS.load(Ordering::Relaxed), 0);
    }
}
