//! Ways in which a session can tell the process list about each command: its beginning, with the statement's text, and
//! its end. The way of this server is imitated, beside others that would cost less.

use crate::cycles::{Cost, CycleClock};
use crate::statistics::{Sample, repeat_in_turn};
use crate::table::{Table, figure, spread};
use parking_lot::Mutex;
use std::hint::black_box;
use std::io;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering, fence};
use std::time::SystemTime;

/// Text of sysbench's point select, prepared.
const SHORT: &[u8] = b"SELECT c FROM sbtest1 WHERE id=?";

/// Length of a long text, in bytes. Frameworks generate such ones.
const LONG: usize = 1000;

/// A place where a session publishes its commands. Only the session's thread writes to it.
trait Publication: Default {
    fn begin(&mut self, text: &[u8], now_us: u64);
    fn end(&mut self, now_us: u64);
}

/// As `SessionHandle::begin_command` and `end_command` do it today: a mutex around everything, and a copy of the text.
#[derive(Default)]
struct LockAndCopy(Mutex<Activity>);

#[derive(Default)]
struct Activity {
    command: &'static str,
    since_us: u64,
    state: &'static str,
    text: Vec<u8>,
}

impl Publication for LockAndCopy {
    #[inline(never)]
    fn begin(&mut self, text: &[u8], now_us: u64) {
        let shared: &LockAndCopy = self;
        let mut activity = shared.0.lock();
        activity.command = "Query";
        activity.since_us = now_us;
        activity.state = if text.is_empty() { "" } else { "executing" };
        activity.text.clear();
        activity.text.extend_from_slice(text);
    }

    #[inline(never)]
    fn end(&mut self, now_us: u64) {
        let shared: &LockAndCopy = self;
        let mut activity = shared.0.lock();
        activity.command = "Sleep";
        activity.since_us = now_us;
        activity.state = "";
        activity.text.clear();
    }
}

/// A mutex around the text, at the beginning only. Command, state and time are one word: the end is one store, since a
/// session that sleeps shows no text.
#[derive(Default)]
struct LockOnce {
    text: Mutex<Vec<u8>>,
    activity: AtomicU64,
}

impl Publication for LockOnce {
    #[inline(never)]
    fn begin(&mut self, text: &[u8], now_us: u64) {
        let shared: &LockOnce = self;
        let mut shown = shared.text.lock();
        shown.clear();
        shown.extend_from_slice(text);
        shared.activity.store(packed(0x101, now_us), Ordering::Relaxed);
    }

    #[inline(never)]
    fn end(&mut self, now_us: u64) {
        let shared: &LockOnce = self;
        shared.activity.store(packed(0x200, now_us), Ordering::Release);
    }
}

/// Capacity for a text that is copied without a lock, in words. The rest of a longer one needs a lock.
const WORDS: usize = 128;

/// A sequence number around one word for command, state and time, and a copy of the text. Locks nothing; the end is one
/// store, since a session that sleeps shows no text.
struct SequenceAndCopy {
    number: AtomicU64,
    activity: AtomicU64,
    length: AtomicU64,
    text: [AtomicU64; WORDS],
}

impl Default for SequenceAndCopy {
    fn default() -> Self {
        SequenceAndCopy {
            number: AtomicU64::new(0),
            activity: AtomicU64::new(0),
            length: AtomicU64::new(0),
            text: [const { AtomicU64::new(0) }; WORDS],
        }
    }
}

/// Command and state in the upper 12 bits, the time in µs since 1970 in the lower 52.
const fn packed(command_and_state: u64, now_us: u64) -> u64 {
    command_and_state << 52 | now_us & ((1 << 52) - 1)
}

impl Publication for SequenceAndCopy {
    #[inline(never)]
    fn begin(&mut self, text: &[u8], now_us: u64) {
        let shared: &SequenceAndCopy = self;
        let number = shared.number.load(Ordering::Relaxed);
        shared.number.store(number.wrapping_add(1), Ordering::Relaxed);
        fence(Ordering::Release);
        let (words, rest) = text.as_chunks::<8>();
        for (place, word) in shared.text.iter().zip(words) {
            place.store(u64::from_ne_bytes(*word), Ordering::Relaxed);
        }
        if let Some(place) = shared.text.get(words.len()) {
            let mut last = [0; 8];
            last[..rest.len()].copy_from_slice(rest);
            place.store(u64::from_ne_bytes(last), Ordering::Relaxed);
        }
        shared.length.store(text.len() as u64, Ordering::Relaxed);
        shared.activity.store(packed(0x101, now_us), Ordering::Relaxed);
        shared.number.store(number.wrapping_add(2), Ordering::Release);
    }

    #[inline(never)]
    fn end(&mut self, now_us: u64) {
        let shared: &SequenceAndCopy = self;
        shared.activity.store(packed(0x200, now_us), Ordering::Release);
    }
}

#[cfg(test)]
impl SequenceAndCopy {
    /// Returns the activity and the text, as another thread sees them.
    fn read(&self) -> (u64, Vec<u8>) {
        loop {
            let before = self.number.load(Ordering::Acquire);
            let activity = self.activity.load(Ordering::Relaxed);
            let length = (self.length.load(Ordering::Relaxed) as usize).min(WORDS * 8);
            let words = self.text[..length.div_ceil(8)].iter();
            let mut text: Vec<u8> = words
                .flat_map(|word| word.load(Ordering::Relaxed).to_ne_bytes())
                .collect();
            text.truncate(length);
            fence(Ordering::Acquire);
            if before.is_multiple_of(2) && self.number.load(Ordering::Relaxed) == before {
                return (activity, text);
            }
            std::hint::spin_loop();
        }
    }
}

/// A pointer to a text that outlives the command, such as a prepared statement's, and one word for the rest. Whoever
/// frees a text has to wait for readers, which is not measured here.
#[derive(Default)]
struct Pointers {
    activity: AtomicU64,
    text: AtomicPtr<u8>,
}

impl Publication for Pointers {
    #[inline(never)]
    fn begin(&mut self, text: &[u8], now_us: u64) {
        let shared: &Pointers = self;
        shared.text.store(text.as_ptr().cast_mut(), Ordering::Relaxed);
        shared.activity.store(packed(0x101, now_us), Ordering::Release);
    }

    #[inline(never)]
    fn end(&mut self, now_us: u64) {
        let shared: &Pointers = self;
        shared.activity.store(packed(0x200, now_us), Ordering::Release);
    }
}

/// Nothing is told.
#[derive(Default)]
struct Silence;

impl Publication for Silence {
    #[inline(never)]
    fn begin(&mut self, text: &[u8], now_us: u64) {
        black_box((text, now_us));
    }

    #[inline(never)]
    fn end(&mut self, now_us: u64) {
        black_box(now_us);
    }
}

/// Measures the ways, and the clock, which a command reads twice for the process list alone.
///
/// # Errors
/// Those of the cycle counter.
pub fn measure(
    clock: &mut CycleClock,
    commands: u64,
    repeats: usize,
    point_select_us: f64,
) -> io::Result<Table> {
    let long = vec![b'x'; LONG];
    type Work = fn(&mut CycleClock, u64, &[u8]) -> io::Result<Cost>;
    let ways: [(&str, Work, &[u8]); 15] = [
        (
            "lock and copy, as today; 32 bytes",
            publish::<LockAndCopy, 1>,
            SHORT,
        ),
        ("… 1,000 bytes", publish::<LockAndCopy, 1>, &long),
        ("… 32 bytes, many sessions", publish::<LockAndCopy, MANY>, SHORT),
        (
            "lock and copy, one store at the end; 32 bytes",
            publish::<LockOnce, 1>,
            SHORT,
        ),
        ("… 1,000 bytes", publish::<LockOnce, 1>, &long),
        ("… 32 bytes, many sessions", publish::<LockOnce, MANY>, SHORT),
        (
            "sequence and copy; 32 bytes",
            publish::<SequenceAndCopy, 1>,
            SHORT,
        ),
        ("… 1,000 bytes", publish::<SequenceAndCopy, 1>, &long),
        (
            "… 32 bytes, many sessions",
            publish::<SequenceAndCopy, MANY>,
            SHORT,
        ),
        ("pointers", publish::<Pointers, 1>, SHORT),
        ("… many sessions", publish::<Pointers, MANY>, SHORT),
        ("nothing", publish::<Silence, 1>, SHORT),
        ("… many sessions", publish::<Silence, MANY>, SHORT),
        ("the clock, read twice as today", read_clock::<2>, SHORT),
        ("the clock, read once", read_clock::<1>, SHORT),
    ];
    let mut table = Table::new(["way", "ns a command", "lowest … highest", "share, %"]);
    let commands = commands.max(1);
    let costs = repeat_in_turn(&ways, repeats, |(_, work, text)| work(clock, commands, text))?;
    for ((name, ..), costs) in ways.iter().zip(costs) {
        let nanoseconds = Sample::new(
            costs
                .iter()
                .map(|cost| cost.seconds / commands as f64 * 1e9)
                .collect(),
        );
        let share = nanoseconds.median() / (point_select_us * 1000.0) * 100.0;
        table.row([
            (*name).to_owned(),
            figure(nanoseconds.median()),
            spread(&nanoseconds),
            figure(share),
        ]);
    }
    Ok(table)
}

/// Sessions whose commands take turns, so that each finds its publication in no near cache.
const MANY: usize = 1 << 13;

/// Publishes commands of so many sessions.
fn publish<P: Publication, const SESSIONS: usize>(
    clock: &mut CycleClock,
    commands: u64,
    text: &[u8],
) -> io::Result<Cost> {
    let mut sessions: Vec<Box<P>> = (0..SESSIONS).map(|_| Box::default()).collect();
    let mut place = 0_usize;
    let mut publish = |commands| {
        for number in 0..commands {
            // Far from the previous one, and all before the first again.
            place = (place + 4099) % SESSIONS;
            sessions[place].begin(black_box(text), number);
            sessions[place].end(number);
        }
    };
    // Each session has its memory before the clock runs.
    publish(SESSIONS as u64);
    let cost = clock.measure(|| publish(commands));
    black_box(&sessions);
    cost
}

/// Reads the time of day so many times a command.
fn read_clock<const TIMES: usize>(clock: &mut CycleClock, commands: u64, _: &[u8]) -> io::Result<Cost> {
    clock.measure(|| {
        for _ in 0..commands {
            for _ in 0..TIMES {
                black_box(SystemTime::now());
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copied_text_is_read_back() {
        let mut session = SequenceAndCopy::default();
        for text in [&b""[..], b"SELECT 1", b"SELECT c FROM sbtest1 WHERE id=17"] {
            session.begin(text, 7);
            assert_eq!(session.read(), (packed(0x101, 7), text.to_vec()));
            session.end(8);
            assert_eq!(session.read().0, packed(0x200, 8));
        }
    }

    #[test]
    fn a_text_beyond_the_words_is_cut() {
        let mut session = SequenceAndCopy::default();
        let text = vec![b'y'; WORDS * 8 + 100];
        session.begin(&text, 7);
        assert_eq!(session.read().1, text[..WORDS * 8]);
    }
}
