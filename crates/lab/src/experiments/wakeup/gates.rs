//! Gates: threads wait until they are opened, once.

use parking_lot as pl;
use rustix::event::{EventfdFlags, eventfd};
use rustix::process::{Resource, getrlimit, setrlimit};
use rustix::thread::futex;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, OnceLock};
use std::thread::{self, Thread};

use crate::pthread::{MutexKind, PthreadCondition, PthreadMutex};

/// A gate that threads wait at until it is opened. It stays open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// One gate for all.
    Shared,
    /// A gate for each.
    Own,
}

/// Something that threads wait for.
pub trait Gate: Send + Sync + Sized {
    /// Makes a gate for so many waiting threads.
    ///
    /// # Errors
    /// Those of creating a descriptor.
    fn new(waiting: usize) -> io::Result<Self>;

    /// Tells the gate which thread is going to wait. Most gates need not know.
    fn register(&self) {}

    /// Waits until the gate is open. A thread waits once.
    fn wait(&self);

    /// Wakes all waiting threads; those that come later do not wait. Where only one can wait, one is woken: a wake of
    /// all searches for others.
    fn open(&self);
}

/// A pthread mutex and condition variable.
pub struct PthreadGate {
    mutex: PthreadMutex,
    condition: PthreadCondition,
    /// Changes under the mutex only.
    is_open: AtomicBool,
    waiting: usize,
}

impl Gate for PthreadGate {
    fn new(waiting: usize) -> io::Result<Self> {
        Ok(PthreadGate {
            waiting,
            mutex: PthreadMutex::new(MutexKind::Default),
            condition: PthreadCondition::new(),
            is_open: AtomicBool::new(false),
        })
    }

    fn wait(&self) {
        self.mutex.lock();
        while !self.is_open.load(Ordering::Relaxed) {
            self.condition.wait(&self.mutex);
        }
        self.mutex.unlock();
    }

    fn open(&self) {
        self.mutex.lock();
        self.is_open.store(true, Ordering::Relaxed);
        self.mutex.unlock();
        match self.waiting {
            1 => self.condition.signal(),
            _ => self.condition.broadcast(),
        }
    }
}

/// One word that the kernel compares before a thread sleeps. There is no mutex to take after the wake.
pub struct FutexGate {
    is_open: AtomicU32,
    waiting: u32,
}

impl Gate for FutexGate {
    fn new(waiting: usize) -> io::Result<Self> {
        Ok(FutexGate {
            is_open: AtomicU32::new(0),
            waiting: u32::try_from(waiting).map_err(io::Error::other)?,
        })
    }

    fn wait(&self) {
        while self.is_open.load(Ordering::Acquire) == 0 {
            // Returns at once if the word has changed, and at times for no reason.
            let _ = futex::wait(&self.is_open, futex::Flags::PRIVATE, 0, None);
        }
    }

    fn open(&self) {
        self.is_open.store(1, Ordering::Release);
        futex::wake(&self.is_open, futex::Flags::PRIVATE, self.waiting).expect("the word is there");
    }
}

/// Mutex and condition variable of the standard library.
pub struct StandardGate {
    is_open: Mutex<bool>,
    waiting: usize,
    condition: Condvar,
}

impl Gate for StandardGate {
    fn new(waiting: usize) -> io::Result<Self> {
        Ok(StandardGate {
            waiting,
            is_open: Mutex::new(false),
            condition: Condvar::new(),
        })
    }

    fn wait(&self) {
        let is_open = self.is_open.lock().expect("no holder panics");
        let _is_open = self
            .condition
            .wait_while(is_open, |is_open| !*is_open)
            .expect("no holder panics");
    }

    fn open(&self) {
        *self.is_open.lock().expect("no holder panics") = true;
        match self.waiting {
            1 => self.condition.notify_one(),
            _ => self.condition.notify_all(),
        }
    }
}

/// Mutex and condition variable of parking_lot.
pub struct ParkingLotGate {
    is_open: pl::Mutex<bool>,
    waiting: usize,
    condition: pl::Condvar,
}

impl Gate for ParkingLotGate {
    fn new(waiting: usize) -> io::Result<Self> {
        Ok(ParkingLotGate {
            waiting,
            is_open: pl::Mutex::new(false),
            condition: pl::Condvar::new(),
        })
    }

    fn wait(&self) {
        let mut is_open = self.is_open.lock();
        self.condition.wait_while(&mut is_open, |is_open| !*is_open);
    }

    fn open(&self) {
        *self.is_open.lock() = true;
        match self.waiting {
            1 => usize::from(self.condition.notify_one()),
            _ => self.condition.notify_all(),
        };
    }
}

/// A thread that parks. Only one can wait.
pub struct UnparkGate {
    thread: OnceLock<Thread>,
    is_open: AtomicBool,
}

impl Gate for UnparkGate {
    fn new(waiting: usize) -> io::Result<Self> {
        assert_eq!(waiting, 1, "a thread is unparked by itself");
        Ok(UnparkGate {
            thread: OnceLock::new(),
            is_open: AtomicBool::new(false),
        })
    }

    fn register(&self) {
        self.thread.set(thread::current()).expect("one thread waits");
    }

    fn wait(&self) {
        while !self.is_open.load(Ordering::Acquire) {
            thread::park();
        }
    }

    fn open(&self) {
        self.is_open.store(true, Ordering::Release);
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }
}

/// A descriptor that counts: each read takes one, and waits for it.
pub struct EventFdGate {
    descriptor: OwnedFd,
    waiting: u64,
}

impl Gate for EventFdGate {
    fn new(waiting: usize) -> io::Result<Self> {
        Ok(EventFdGate {
            descriptor: eventfd(0, EventfdFlags::SEMAPHORE | EventfdFlags::CLOEXEC)?,
            waiting: waiting as u64,
        })
    }

    fn wait(&self) {
        let mut taken = [0; 8];
        rustix::io::retry_on_intr(|| rustix::io::read(&self.descriptor, &mut taken))
            .expect("a read of an eventfd waits");
    }

    fn open(&self) {
        rustix::io::write(&self.descriptor, &self.waiting.to_ne_bytes()).expect("the count is small");
    }
}

/// Raises the limit of this process on open descriptors for an eventfd each.
///
/// # Errors
/// If the system's limit is lower.
pub fn allow_descriptors(threads: usize) -> io::Result<()> {
    let needed = threads as u64 + 100;
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current.is_some_and(|current| current < needed) {
        if limit.maximum.is_some_and(|maximum| maximum < needed) {
            let message = format!("{threads} eventfds need `ulimit -n {needed}`; --threads takes fewer");
            return Err(io::Error::other(message));
        }
        limit.current = Some(needed);
        setrlimit(Resource::Nofile, limit)?;
    }
    Ok(())
}
