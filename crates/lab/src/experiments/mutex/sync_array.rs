//! A mutex with a global array of waits, as InnoDB had it for many years.
//!
//! A thread that does not get the mutex spins for 50 µs. Then it reserves a cell of the array, which one mutex of
//! the system protects, says at the mutex that somebody waits, tries a last time, and waits for the mutex's event.
//! An unlock that finds waiting threads wakes them all, and each takes the array's mutex again to free its cell.
//!
//! ```text
//!  enter:  test and set ─ spin 50 µs ─ reserve cell ─ waiters = 1 ─ test and set ─ wait for event ─ free cell ─┐
//!             ▲                          (array)                                                   (array)     │
//!             └────────────────────────────────────────────────────────────────────────────────────────────────┘
//!  exit:   reset ─ waiters? ─ waiters = 0 ─ mark cells, set event (array): all wake
//! ```
//!
//! The array is what made its costs, and its use: it knows who waits for what.

use std::hint;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

/// How long a thread spins before it reserves a cell.
const SPIN: Duration = Duration::from_micros(50);

/// Pauses between two looks at the mutex. Reading the clock takes some more.
const PAUSES: u32 = 10;

/// Times that a thread tries with its cell reserved.
const LAST_TRIES: u32 = 4;

/// A mutex whose waits are in the array.
#[derive(Debug, Default)]
pub struct SyncArrayMutex {
    is_locked: AtomicBool,
    has_waiters: AtomicBool,
    event: OsEvent,
}

/// InnoDB's `os_event`, which is set and reset: each set counts, so that a reset between a wait's start and its
/// sleep loses no wake.
#[derive(Debug, Default)]
struct OsEvent {
    set_count: Mutex<u64>,
    condition: Condvar,
}

/// A wait for a mutex.
#[derive(Debug)]
struct Cell {
    /// Address of the mutex.
    mutex: usize,
    /// Whether the mutex was unlocked since. InnoDB's watchdog looked at it.
    is_signalled: bool,
}

/// The waits of all mutexes.
#[derive(Debug, Default)]
struct Array {
    cells: Vec<Option<Cell>>,
}

static ARRAY: Mutex<Array> = Mutex::new(Array { cells: vec![] });

impl SyncArrayMutex {
    #[inline]
    pub fn enter(&self) {
        if !self.try_enter() {
            self.spin_or_wait();
        }
    }

    #[inline]
    fn try_enter(&self) -> bool {
        !self.is_locked.swap(true, Ordering::Acquire)
    }

    #[cold]
    fn spin_or_wait(&self) {
        loop {
            let end = Instant::now() + SPIN;
            while self.is_locked.load(Ordering::Relaxed) && Instant::now() < end {
                (0..PAUSES).for_each(|_| hint::spin_loop());
            }
            if self.try_enter() {
                return;
            }
            std::thread::yield_now();
            // The event is reset before the flag is set: a later unlock sets it again.
            let set_count = self.event.set_count();
            let cell = reserve(self.address());
            self.has_waiters.store(true, Ordering::SeqCst);
            if (0..LAST_TRIES).any(|_| !self.is_locked.swap(true, Ordering::SeqCst)) {
                free(cell);
                // The flag remains, as in InnoDB: others may have set it.
                return;
            }
            self.event.wait(set_count);
            free(cell);
        }
    }

    /// Unlocks it. The caller has locked it.
    #[inline]
    pub fn exit(&self) {
        // A thread that waits sets the flag and tries then; this resets the lock and looks then. One of them sees
        // the other.
        self.is_locked.swap(false, Ordering::SeqCst);
        if self.has_waiters.load(Ordering::SeqCst) {
            self.signal();
        }
    }

    #[cold]
    fn signal(&self) {
        self.has_waiters.store(false, Ordering::SeqCst);
        self.event.set();
        let mut array = ARRAY.lock().expect("no holder panics");
        let address = self.address();
        for cell in array.cells.iter_mut().flatten() {
            cell.is_signalled |= cell.mutex == address;
        }
    }

    fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }
}

fn reserve(mutex: usize) -> usize {
    let mut array = ARRAY.lock().expect("no holder panics");
    let cell = Some(Cell {
        mutex,
        is_signalled: false,
    });
    // As in InnoDB, the array is searched from its start.
    match array.cells.iter().position(Option::is_none) {
        Some(place) => {
            array.cells[place] = cell;
            place
        }
        None => {
            array.cells.push(cell);
            array.cells.len() - 1
        }
    }
}

fn free(place: usize) {
    let cell = ARRAY.lock().expect("no holder panics").cells[place].take();
    assert!(cell.is_some(), "a cell is freed by the thread that reserved it");
}

impl OsEvent {
    fn set_count(&self) -> u64 {
        *self.set_count.lock().expect("no holder panics")
    }

    /// Waits until it was set after it had this count.
    fn wait(&self, set_count: u64) {
        let count = self.set_count.lock().expect("no holder panics");
        let _count = self
            .condition
            .wait_while(count, |count| *count == set_count)
            .expect("no holder panics");
    }

    fn set(&self) {
        *self.set_count.lock().expect("no holder panics") += 1;
        self.condition.notify_all();
    }
}
