//! Golden scripts of the lock manager (`testscripts/locks/`), and random load with checks.

use super::owner::{LockOwner, OwnerKind};
use super::*;
use crate::interrupt::Interrupt;
use crate::interrupt_reason::InterruptReason;
use crate::testing::Actors;
use paceline_golden_script::{Answers, Block, Command, Context, Runner};
use rand::Rng;
use std::collections::HashMap;
use std::sync::atomic::AtomicU64;

const INDEX: [u8; 4] = [0, 0, 4, 0];

fn key(text: &str) -> Vec<u8> {
    [&INDEX, text.as_bytes()].concat()
}

struct Holder {
    locks: Arc<LockManager>,
    owner: Arc<LockOwner>,
    held: HeldLocks,
    metadata: HashMap<String, MetadataGuard>,
}

/// Commands: `lock KEY s|x [nowait|skip|ms=N]`, `range FROM TO`, `table NAME read|write|readonly|exclusive`,
/// `upgrade NAME [MODE]`, `unlock` (the newest key), `release`, `weight N`, `kill NAME` (issued by any other
/// actor), `outlast NAME` (waits until that actor's wait has timed out).
struct LockScript {
    locks: Arc<LockManager>,
    owners: HashMap<String, Arc<LockOwner>>,
    actors: Actors<Holder>,
}

impl LockScript {
    fn new() -> Self {
        LockScript {
            locks: Arc::new(LockManager::new()),
            owners: HashMap::new(),
            actors: Actors::new(),
        }
    }
}

/// Waits until an owner's wait has ended.
fn outlast(owner: &LockOwner) {
    while owner.is_parked() {
        // The pause of a loop that waits.
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn describe<T>(result: Result<T>, ok: impl Fn(T) -> &'static str) -> String {
    match result {
        Ok(value) => ok(value).to_owned(),
        Err(Error::LockWaitTimeout) => "error 1205".into(),
        Err(Error::Deadlock) => "error 1213".into(),
        Err(error) => format!("error {error}"),
    }
}

fn granted(granted: LockOutcome) -> &'static str {
    match granted {
        LockOutcome::Granted => "granted",
        LockOutcome::Skipped => "skipped",
    }
}

fn metadata_mode(name: Option<&String>) -> MetadataMode {
    match name.map(String::as_str) {
        Some("read") => MetadataMode::Read,
        Some("write") => MetadataMode::Write,
        Some("readonly") => MetadataMode::ReadOnly,
        _ => MetadataMode::Exclusive,
    }
}

impl Runner for LockScript {
    type Command = Command;

    fn run(
        &mut self,
        command: &Command,
        context: &Context,
    ) -> std::result::Result<String, Box<dyn std::error::Error>> {
        let name = context.prefix.clone().ok_or("name the actor")?;
        if !self.actors.contains(&name) {
            let owner = LockOwner::new(self.owners.len() as u64 + 1, Interrupt::new());
            owner.begin();
            self.owners.insert(name.clone(), owner.clone());
            let holder = Holder {
                locks: self.locks.clone(),
                owner: owner.clone(),
                held: HeldLocks::default(),
                metadata: HashMap::new(),
            };
            self.actors.add(&name, owner, holder);
        }
        let mut consumer = command.consume_args();
        let mut wait_limit = WaitLimit::For(Duration::from_secs(60));
        if let Some(ms) = consumer.take_key("ms") {
            wait_limit = WaitLimit::For(Duration::from_millis(ms.parse()?));
        }
        let args: Vec<String> = std::iter::from_fn(|| consumer.next_pos().map(str::to_owned)).collect();
        if args.iter().any(|arg| arg == "nowait") {
            wait_limit = WaitLimit::None;
        }
        if args.iter().any(|arg| arg == "skip") {
            wait_limit = WaitLimit::Skip;
        }
        let result = match command.name.as_str() {
            "lock" => {
                let mode = if args[1] == "s" {
                    LockMode::Shared
                } else {
                    LockMode::Exclusive
                };
                let key = key(&args[0]);
                self.actors.run(&name, move |holder| {
                    let locked =
                        holder
                            .locks
                            .lock_key(&holder.owner, &mut holder.held, &key, mode, wait_limit);
                    if matches!(locked, Err(Error::Deadlock)) {
                        holder.locks.release(&holder.owner, &mut holder.held);
                    }
                    describe(locked, granted)
                })
            }
            "range" => {
                let range = KeyRange::new(key(&args[0]), key(&args[1]));
                self.actors.run(&name, move |holder| {
                    let locked = holder
                        .locks
                        .lock_range(&holder.owner, &mut holder.held, &range, wait_limit);
                    describe(locked, granted)
                })
            }
            "table" => {
                let mode = metadata_mode(args.get(1));
                let table = args[0].clone();
                self.actors.run(&name, move |holder| {
                    let object = MetadataObject::Table {
                        database: "d",
                        table: &table,
                    };
                    let locked = holder
                        .locks
                        .lock_metadata(&holder.owner, object, mode, wait_limit);
                    describe(
                        locked.map(|guard| holder.metadata.insert(table.clone(), guard)),
                        |_| "granted",
                    )
                })
            }
            "upgrade" => {
                let mode = metadata_mode(args.get(1));
                let table = args[0].clone();
                self.actors.run(&name, move |holder| {
                    let guard = holder.metadata.get_mut(&table).expect("it holds the table");
                    describe(guard.upgrade(mode, Duration::from_secs(60)), |()| "granted")
                })
            }
            "unlock" => self.actors.run(&name, |holder| {
                let keep = holder.held.keys.len() - 1;
                holder.locks.release_newest(&holder.owner, &mut holder.held, keep);
                "unlocked".into()
            }),
            "release" => self.actors.run(&name, |holder| {
                holder.locks.release(&holder.owner, &mut holder.held);
                holder.metadata.clear();
                holder.owner.begin();
                holder.owner.interrupt().clear_query();
                "released".into()
            }),
            "weight" => {
                let weight = args[0].parse()?;
                self.actors.run(&name, move |holder| {
                    holder.owner.set_weight(weight);
                    String::new()
                })
            }
            "kill" => {
                let owner = &self.owners[&args[0]];
                owner.interrupt().raise(InterruptReason::Query);
                // Its thread has to run before it shows that it no longer waits.
                outlast(owner);
                Some(String::new())
            }
            "outlast" => {
                outlast(&self.owners[&args[0]]);
                Some(String::new())
            }
            other => return Err(format!("no command {other}").into()),
        };
        Ok(result.unwrap_or_else(|| "waits".into()))
    }

    fn end_block(&mut self, _: &Block) -> std::result::Result<String, Box<dyn std::error::Error>> {
        let mut news = String::new();
        // One actor may wake another: repeat until nothing happens.
        loop {
            let round = self.actors.news();
            if round.is_empty() {
                return Ok(news);
            }
            for (name, result) in round {
                news += &format!("then {name}: {result}\n");
            }
        }
    }

    fn end_script(&mut self) -> std::result::Result<(), Box<dyn std::error::Error>> {
        assert!(
            self.actors.waiting().is_empty(),
            "still waiting: {:?}",
            self.actors.waiting()
        );
        Ok(())
    }
}

macro_rules! scripts {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                let path = concat!("testscripts/locks/", stringify!($name));
                paceline_golden_script::run(&mut LockScript::new(), path, Answers::Own);
            }
        )*
    };
}

scripts! { conflicts fairness upgrades deadlocks ranges metadata giving_up }

/// Checks exclusion, and that no waiter is forgotten: threads lock random keys in random modes, with a counter
/// under each key that detects conflicting holders.
#[test]
fn key_locks_exclude_each_other_under_random_load() {
    const KEYS: usize = 8;
    let locks = Arc::new(LockManager::new());
    // Per key: readers in the low half, writers in the high half.
    let inside: Arc<Vec<AtomicU64>> = Arc::new((0..KEYS).map(|_| AtomicU64::new(0)).collect());
    let threads: Vec<_> = (0..8)
        .map(|id| {
            let (locks, inside) = (locks.clone(), inside.clone());
            std::thread::spawn(move || {
                let mut rng = rand::rng();
                let owner = LockOwner::new(id + 1, Interrupt::new());
                let (mut committed, mut deadlocks) = (0, 0);
                for _ in 0..3000 {
                    owner.begin();
                    let mut held = HeldLocks::default();
                    let mut modes: HashMap<usize, LockMode> = HashMap::new();
                    let mut failed = false;
                    for _ in 0..rng.random_range(1..5) {
                        let number = rng.random_range(0..KEYS);
                        let mode = if rng.random() {
                            LockMode::Shared
                        } else {
                            LockMode::Exclusive
                        };
                        let wait_limit = match rng.random_range(0..10) {
                            0 => WaitLimit::Skip,
                            1 => WaitLimit::For(Duration::from_micros(50)),
                            _ => WaitLimit::For(Duration::from_secs(30)),
                        };
                        match locks.lock_key(&owner, &mut held, &key(&number.to_string()), mode, wait_limit) {
                            Ok(LockOutcome::Granted) => {
                                let before = modes.get(&number).copied();
                                let (add, mode) = match (before, mode) {
                                    (None, LockMode::Shared) => (1, mode),
                                    (None, LockMode::Exclusive) => (1 << 32, mode),
                                    (Some(LockMode::Shared), LockMode::Exclusive) => ((1 << 32) - 1, mode),
                                    (Some(before), _) => (0, before),
                                };
                                let now = inside[number].fetch_add(add, Ordering::SeqCst) + add;
                                modes.insert(number, mode);
                                match mode {
                                    LockMode::Exclusive => {
                                        assert_eq!(now, 1 << 32, "an exclusive lock is alone")
                                    }
                                    LockMode::Shared => assert!(now < 1 << 32, "no writer beside a reader"),
                                }
                            }
                            Ok(LockOutcome::Skipped) | Err(Error::LockWaitTimeout) => {}
                            Err(Error::Deadlock) => {
                                deadlocks += 1;
                                failed = true;
                                break;
                            }
                            Err(error) => panic!("{error}"),
                        }
                    }
                    for (number, mode) in modes.drain() {
                        let add = if mode == LockMode::Shared { 1 } else { 1 << 32 };
                        inside[number].fetch_sub(add, Ordering::SeqCst);
                    }
                    locks.release(&owner, &mut held);
                    committed += u64::from(!failed);
                }
                (committed, deadlocks)
            })
        })
        .collect();
    let mut committed = 0;
    for thread in threads {
        committed += thread.join().unwrap().0;
    }
    assert!(committed > 0);
    assert_eq!(locks.locked_keys(), 0, "nothing is left behind");
}

/// Writers and range readers exclude each other, whichever comes first.
#[test]
fn range_locks_exclude_writers_under_random_load() {
    const KEYS: usize = 6;
    let locks = Arc::new(LockManager::new());
    let inside: Arc<Vec<AtomicU64>> = Arc::new((0..KEYS).map(|_| AtomicU64::new(0)).collect());
    let threads: Vec<_> = (0..6u64)
        .map(|id| {
            let (locks, inside) = (locks.clone(), inside.clone());
            std::thread::spawn(move || {
                let mut rng = rand::rng();
                let owner = LockOwner::new(id + 1, Interrupt::new());
                let wait_limit = WaitLimit::For(Duration::from_secs(30));
                for _ in 0..2000 {
                    owner.begin();
                    let mut held = HeldLocks::default();
                    if id % 2 == 0 {
                        let from = rng.random_range(0..KEYS);
                        let to = rng.random_range(from..KEYS);
                        let range = KeyRange::new(key(&from.to_string()), key(&(to + 1).to_string()));
                        match locks.lock_range(&owner, &mut held, &range, wait_limit) {
                            Ok(_) => {
                                for counter in &inside[from..=to] {
                                    assert!(counter.fetch_add(1, Ordering::SeqCst) < 1 << 32);
                                }
                                std::hint::spin_loop();
                                for counter in &inside[from..=to] {
                                    counter.fetch_sub(1, Ordering::SeqCst);
                                }
                            }
                            Err(Error::Deadlock) => {}
                            Err(error) => panic!("{error}"),
                        }
                    } else {
                        let mut written = Vec::new();
                        for _ in 0..rng.random_range(1..3) {
                            let number = rng.random_range(0..KEYS);
                            let name = key(&number.to_string());
                            match locks.lock_key(&owner, &mut held, &name, LockMode::Exclusive, wait_limit) {
                                Ok(_) if written.contains(&number) => {}
                                Ok(_) => {
                                    assert_eq!(inside[number].fetch_add(1 << 32, Ordering::SeqCst), 0);
                                    written.push(number);
                                }
                                Err(Error::Deadlock) => break,
                                Err(error) => panic!("{error}"),
                            }
                        }
                        for number in written {
                            inside[number].fetch_sub(1 << 32, Ordering::SeqCst);
                        }
                    }
                    locks.release(&owner, &mut held);
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(locks.locked_keys(), 0, "nothing is left behind");
    assert!(locks.ranges.is_empty(), "no range is left behind");
}

/// A join looks up its rows one by one: its locks must stay few, be found quickly and be released quickly.
#[test]
fn many_ranges_become_the_whole_index() {
    let start = Instant::now();
    let locks = LockManager::new();
    let [reader, writer] = [1, 2].map(|id| LockOwner::new(id, Interrupt::new()));
    let (mut held, mut written) = (HeldLocks::default(), HeldLocks::default());
    let number = |number: usize| key(&format!("{number:06}"));
    let mut write = |number: &[u8]| {
        let locked = locks.lock_key(
            &writer,
            &mut written,
            number,
            LockMode::Exclusive,
            WaitLimit::None,
        );
        locks.release(&writer, &mut written);
        locked.is_ok()
    };
    let mut read = |range: KeyRange| {
        locks
            .lock_range(&reader, &mut held, &range, WaitLimit::None)
            .unwrap();
    };
    // Adjacent ranges are merged.
    for place in 0..50_000 {
        read(KeyRange::new(number(place), number(place + 1)));
    }
    assert!(!write(&number(0)) && !write(&number(49_999)) && write(&number(50_000)));
    // As many disjoint ranges as are allowed: the gaps between them stay free.
    for place in 1..range::RANGES_MAX {
        read(KeyRange::single(&number(50_000 + 2 * place)));
    }
    assert!(!write(&number(50_002)) && write(&number(50_003)));
    for place in 60_000..110_000 {
        read(KeyRange::single(&number(place)));
    }
    assert!(!write(&number(50_003)) && !write(&number(999_999)));
    assert!(write(&[0, 0, 4, 1, 1]), "another index");
    locks.release(&reader, &mut held);
    assert!(write(&number(0)) && locks.ranges.is_empty());
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}

/// Sessions share a limit of locks; an applier locks whatever it must.
#[test]
fn too_many_locks_are_refused_and_released() {
    let locks = LockManager::new();
    locks.set_keys_max(3000);
    let owner = |id, kind| {
        let owner = LockOwner::of_kind(id, Interrupt::new(), kind);
        owner.begin();
        owner
    };
    let lock = |owner: &Arc<LockOwner>, held: &mut HeldLocks, number: u64| {
        let key = format!("{}-{number}", owner.id());
        locks.lock_key(owner, held, key.as_bytes(), LockMode::Exclusive, WaitLimit::None)
    };
    let all = |owner: &Arc<LockOwner>, held: &mut HeldLocks, count: u64| {
        (0..count).find_map(|number| lock(owner, held, number).err().map(|error| (number, error)))
    };
    let (first, second) = (owner(1, OwnerKind::Session), owner(2, OwnerKind::Session));
    let (mut held, mut others) = (HeldLocks::default(), HeldLocks::default());
    assert!(all(&first, &mut held, 2000).is_none());
    let (number, error) = all(&second, &mut others, 10_000).unwrap();
    assert!(matches!(error, Error::TooManyLocks { keys_max: 3000 }), "{error}");
    assert!((1024..=3000).contains(&number), "{number}");
    let mut applied = HeldLocks::default();
    let applier = owner(3, OwnerKind::Applier);
    assert!(all(&applier, &mut applied, 10_000).is_none());
    locks.release(&applier, &mut applied);
    locks.release(&second, &mut others);
    locks.release(&first, &mut held);
    assert_eq!(locks.locked_keys(), 0);
    // Rows that are locked and released again count once.
    for number in 0..20_000 {
        lock(&first, &mut held, number).unwrap();
        locks.release_newest(&first, &mut held, 0);
    }
    assert!(all(&first, &mut held, 2500).is_none());
    locks.release(&first, &mut held);
    assert!(all(&second, &mut others, 2500).is_none());
    locks.release(&second, &mut others);
}
