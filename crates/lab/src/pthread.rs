//! Mutex and condition variable of the C library, which the published measurements used.

#![allow(unsafe_code)]

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;

/// Kinds of mutexes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MutexKind {
    /// Sleeps at once.
    Default,
    /// Spins before it sleeps. Only glibc has it.
    Adaptive,
}

/// `PTHREAD_MUTEX_ADAPTIVE_NP` of glibc.
const ADAPTIVE: libc::c_int = 3;

/// A mutex at a fixed address. It protects nothing by itself.
#[derive(Debug)]
pub struct PthreadMutex(Box<UnsafeCell<libc::pthread_mutex_t>>);

// SAFETY: functions on a pthread mutex may be called by any thread at any time.
unsafe impl Send for PthreadMutex {}
// SAFETY: as above.
unsafe impl Sync for PthreadMutex {}

impl PthreadMutex {
    /// Makes a mutex.
    ///
    /// # Panics
    /// If the C library does not have this kind.
    pub fn new(kind: MutexKind) -> Self {
        let mutex = Box::new(UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER));
        let kind = match kind {
            MutexKind::Default => libc::PTHREAD_MUTEX_DEFAULT,
            MutexKind::Adaptive => ADAPTIVE,
        };
        let mut attributes = MaybeUninit::uninit();
        // SAFETY: the attributes are initialised before they are used and destroyed after; the mutex is in a box, so it
        // keeps its address, and nobody has used it.
        unsafe {
            succeeded(libc::pthread_mutexattr_init(attributes.as_mut_ptr()));
            succeeded(libc::pthread_mutexattr_settype(attributes.as_mut_ptr(), kind));
            succeeded(libc::pthread_mutex_init(mutex.get(), attributes.as_ptr()));
            succeeded(libc::pthread_mutexattr_destroy(attributes.as_mut_ptr()));
        }
        PthreadMutex(mutex)
    }

    #[inline]
    pub fn lock(&self) {
        // SAFETY: the mutex is initialised and has the same address until it is dropped.
        succeeded(unsafe { libc::pthread_mutex_lock(self.0.get()) });
    }

    /// Locks it if it is free. Returns whether it did.
    #[inline]
    pub fn try_lock(&self) -> bool {
        // SAFETY: as in `lock`.
        match unsafe { libc::pthread_mutex_trylock(self.0.get()) } {
            0 => true,
            libc::EBUSY => false,
            error => panic!("pthread_mutex_trylock: error {error}"),
        }
    }

    /// Unlocks it. The caller has locked it.
    #[inline]
    pub fn unlock(&self) {
        // SAFETY: as in `lock`. Even an unlock of a mutex that is free harms nothing but the mutex itself, which
        // protects no memory.
        succeeded(unsafe { libc::pthread_mutex_unlock(self.0.get()) });
    }
}

impl Drop for PthreadMutex {
    fn drop(&mut self) {
        // SAFETY: it is initialised, and nobody else has a reference.
        unsafe { libc::pthread_mutex_destroy(self.0.get()) };
    }
}

/// A condition variable at a fixed address.
#[derive(Debug)]
pub struct PthreadCondition(Box<UnsafeCell<libc::pthread_cond_t>>);

// SAFETY: functions on a condition variable may be called by any thread at any time.
unsafe impl Send for PthreadCondition {}
// SAFETY: as above.
unsafe impl Sync for PthreadCondition {}

impl PthreadCondition {
    pub fn new() -> Self {
        PthreadCondition(Box::new(UnsafeCell::new(libc::PTHREAD_COND_INITIALIZER)))
    }

    /// Waits for a broadcast, or returns for no reason. The caller has locked the mutex, always the same one.
    pub fn wait(&self, mutex: &PthreadMutex) {
        // SAFETY: both are initialised and keep their addresses.
        succeeded(unsafe { libc::pthread_cond_wait(self.0.get(), mutex.0.get()) });
    }

    /// Wakes one that waits.
    pub fn signal(&self) {
        // SAFETY: it is initialised and keeps its address.
        succeeded(unsafe { libc::pthread_cond_signal(self.0.get()) });
    }

    /// Wakes all that wait.
    pub fn broadcast(&self) {
        // SAFETY: it is initialised and keeps its address.
        succeeded(unsafe { libc::pthread_cond_broadcast(self.0.get()) });
    }
}

impl Drop for PthreadCondition {
    fn drop(&mut self) {
        // SAFETY: it is initialised, and nobody waits, since nobody else has a reference.
        unsafe { libc::pthread_cond_destroy(self.0.get()) };
    }
}

#[inline]
fn succeeded(result: libc::c_int) {
    assert_eq!(result, 0, "error of a pthread function");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_locked_mutex_is_busy() {
        for kind in [MutexKind::Default, MutexKind::Adaptive] {
            let mutex = PthreadMutex::new(kind);
            mutex.lock();
            assert!(!mutex.try_lock());
            mutex.unlock();
            assert!(mutex.try_lock());
            mutex.unlock();
        }
    }
}
