//! A writing process is killed at a random moment: the tables are a prefix, and the position says which.

mod common;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use common::{frozen, key, open_small, position};
use paceline_storage::{BuildId, Direction, EngineKind, InputOrder, KeyRange};

const DIRECTORY: &str = "PACELINE_CRASH_TEST_DIRECTORY";
const KEYS: u32 = 2000;

/// Keys to put, sometimes further keys through a build, sometimes a deleted range.
type Group = (Vec<u32>, Option<Vec<u32>>, Option<(u32, u32)>);

/// Returns the contents of group number `n`.
fn group(n: u64) -> Group {
    let mut random = n.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = |below: u32| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random >> 20) as u32 % below
    };
    let puts = (0..1 + next(20)).map(|_| next(KEYS)).collect();
    let built = (n % 50 == 17).then(|| {
        let mut keys: Vec<u32> = (0..1 + next(300)).map(|_| next(KEYS)).collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    });
    let deleted = (n % 40 == 3).then(|| {
        let from = next(KEYS);
        (from, from + next(100))
    });
    (puts, built, deleted)
}

fn value(n: u64, key: u32) -> Vec<u8> {
    let filler = (n as usize * 31 + key as usize) % 180;
    let mut value = format!("group {n} key {key} ").into_bytes();
    value.resize(value.len() + filler, b'.');
    value
}

/// Returns the state after groups 1 to `last`.
fn model(last: u64) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let mut model = BTreeMap::new();
    for n in 1..=last {
        let (puts, built, deleted) = group(n);
        if let Some((from, to)) = deleted {
            for number in from..to {
                model.remove(&key(EngineKind::RocksDb, number));
            }
        }
        for number in puts.into_iter().chain(built.into_iter().flatten()) {
            let stored = [&position(n).to_be_bytes()[..], &value(n, number)].concat();
            model.insert(key(EngineKind::RocksDb, number), stored);
        }
    }
    model
}

/// The child process: continues from the tables' position until it is killed.
#[test]
#[ignore = "the child process of a_crash_leaves_a_prefix"]
fn child() {
    let Some(directory) = std::env::var_os(DIRECTORY) else {
        return;
    };
    let storage = open_small(Path::new(&directory));
    for id in storage.builds().unwrap() {
        storage.abandon(id).unwrap();
    }
    let mut n = storage.position().offset();
    println!("at {n}");
    loop {
        n += 1;
        let (puts, built, deleted) = group(n);
        let set = frozen(position(n), |set| {
            if let Some((from, to)) = deleted {
                set.delete_range(KeyRange::new(
                    key(EngineKind::RocksDb, from),
                    key(EngineKind::RocksDb, to),
                ));
            }
            for number in puts {
                set.put(&key(EngineKind::RocksDb, number), &value(n, number));
            }
        });
        match built {
            None => storage.apply(&[set], position(n)).unwrap(),
            Some(built) => {
                let build = storage.begin_build(BuildId(n)).unwrap();
                let mut index = build.index(InputOrder::Sorted);
                for number in built {
                    let stored = [&position(n).to_be_bytes()[..], &value(n, number)].concat();
                    index.put(&key(EngineKind::RocksDb, number), &stored).unwrap();
                }
                index.finish().unwrap();
                build.finish().unwrap();
                storage.activate(&[BuildId(n)], &[set], position(n)).unwrap();
            }
        }
        if n.is_multiple_of(97) {
            storage.maintain().unwrap();
        }
        if n.is_multiple_of(1000) {
            println!("at {n}");
        }
    }
}

#[test]
fn a_crash_leaves_a_prefix() {
    let directory = tempfile::tempdir().unwrap();
    let mut reached = 0;
    for round in 0..8 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child", "--ignored", "--nocapture"])
            .env(DIRECTORY, directory.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        // Its tables are open when it prints.
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        while !lines
            .next()
            .expect("the child prints where it is")
            .unwrap()
            .starts_with("at ")
        {}
        // Kills it at a random moment.
        std::thread::sleep(Duration::from_millis(rand::random_range(0..400)));
        child.kill().unwrap();
        child.wait().unwrap();

        let storage = open_small(directory.path());
        let last = storage.position();
        assert_eq!(last, storage.durable_position().unwrap());
        assert!(last >= reached_position(reached), "the tables went back");
        reached = last.offset();
        let expected = model(reached);
        let mut cursor = storage.scan_newest(
            KeyRange::new(key(EngineKind::RocksDb, 0), key(EngineKind::RocksDb, u32::MAX)),
            Direction::Forward,
        );
        let mut found = BTreeMap::new();
        while let Some((key, value)) = cursor.next().unwrap() {
            found.insert(key.to_vec(), value.to_vec());
        }
        assert!(
            found == expected,
            "round {round}: the tables at {last} are not the first {reached} groups"
        );
    }
    assert!(reached > 100, "some groups were flushed: {reached}");
}

fn reached_position(number: u64) -> paceline_types::LogPosition {
    if number == 0 {
        paceline_types::LogPosition::ZERO
    } else {
        position(number)
    }
}
