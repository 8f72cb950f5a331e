//! Estimates of the number of entries in a range, for different distributions of keys.

mod common;

use common::{frozen, open_small, position};
use paceline_storage::{EngineKind, IndexId, KeyRange, StorageSnapshot};

/// Creates keys of one index with these endings, most of them in table files and the rest in memory.
fn filled(directory: &std::path::Path, endings: impl Iterator<Item = Vec<u8>>) -> StorageSnapshot {
    let storage = open_small(directory);
    let index = IndexId::in_engine(IndexId::FIRST_USER, EngineKind::RocksDb);
    let endings: Vec<Vec<u8>> = endings.collect();
    for (number, chunk) in endings.chunks(5_000).enumerate() {
        let at = position(number as u64 + 1);
        let set = frozen(at, |set| {
            for ending in chunk {
                set.put(&[&index.to_be_bytes()[..], ending].concat(), &[7; 30]);
            }
        });
        storage.apply(&[set], at).unwrap();
    }
    storage.snapshot()
}

fn whole() -> KeyRange {
    IndexId::in_engine(IndexId::FIRST_USER, EngineKind::RocksDb).range()
}

fn estimate(snapshot: &StorageSnapshot, range: KeyRange, strata: usize) -> f64 {
    let mut entries = 0;
    let estimate = snapshot
        .survey(range, strata, &mut |entry| {
            entries += usize::from(entry.weight > 0.0);
            Ok(())
        })
        .unwrap();
    assert!(entries <= strata * 16, "{entries} entries were looked at");
    estimate
}

fn check(name: &str, endings: impl Iterator<Item = Vec<u8>>) {
    let directory = tempfile::tempdir().unwrap();
    let endings: Vec<Vec<u8>> = endings.collect();
    let snapshot = filled(directory.path(), endings.iter().cloned());
    let estimate = estimate(&snapshot, whole(), 64);
    let ratio = estimate / endings.len() as f64;
    println!("{name}: {} entries, {estimate:.0} estimated", endings.len());
    assert!(
        (0.6..1.6).contains(&ratio),
        "{name}: {} entries, {estimate} estimated",
        endings.len()
    );
}

fn number(n: u32) -> Vec<u8> {
    (n ^ 0x8000_0000).to_be_bytes().to_vec()
}

#[test]
fn estimates_are_close_for_every_distribution() {
    check("dense", (0..40_000).map(number));
    check("every eighth", (0..40_000).map(|n| number(n * 8)));
    check("eight of 32", (0..40_000).map(|n| number(n / 8 * 32 + n % 8)));
    check(
        "dense and far away",
        (0..40_000).chain((1..1_000).map(|n| n * 2_000_000)).map(number),
    );
    check(
        "growing gaps",
        (0..30_000u32).map(|n| number((f64::from(n).powi(2) * 2.0) as u32)),
    );
    check(
        "digits",
        (0..40_000).map(|n| format!("Customer#{n:09}").into_bytes()),
    );
    check(
        "digits of different length",
        (0..40_000).map(|n| n.to_string().into_bytes()),
    );
    check(
        "hashes",
        (0..40_000u64).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes().to_vec()),
    );
    check(
        "hexadecimal",
        (0..40_000u32).map(|n| format!("{:08x}", n.wrapping_mul(2_654_435_761)).into_bytes()),
    );
    check(
        "two columns",
        (0..40_000).map(|n| [number(n / 4), number(n % 4)].concat()),
    );
    check(
        "few values and a row each",
        (0..40_000).map(|n| [number(n % 3), number(n)].concat()),
    );
    // Order lines by part and supplier, as in TPC-H: groups of ten in groups of forty, with unordered last
    // columns.
    let line = |n: u32| {
        let order = n.wrapping_mul(2_654_435_761) % 2_400_000;
        [
            number(n / 40),
            number(n / 10 % 4 * 250),
            number(order),
            number(n % 7),
        ]
        .concat()
    };
    check("groups in groups", (0..60_000).map(line));
    let long = |n: u32| [&[b'x'; 300][..], &number(n), &[b'y'; 100][..], &number(n % 7)].concat();
    check("long beginnings", (0..20_000).map(long));
    let words = ["alpha", "beta", "gamma", "delta", "omega", "zeta", "theta"];
    check(
        "words",
        (0..40_000).map(|n| format!("{}{}{n}", words[n % 7], words[n / 7 % 7]).into_bytes()),
    );
}

#[test]
fn a_short_range_is_exact_and_weights_show_the_size_of_groups() {
    let directory = tempfile::tempdir().unwrap();
    let snapshot = filled(
        directory.path(),
        (0..30_000).map(|n| [number(n / 10), number(n)].concat()),
    );
    let prefix = |n: u32| [&whole().start[..], &number(n)].concat();
    for (from, to) in [(5, 6), (2_999, 4_000), (100, 105), (2_999, 3_005), (4_000, 5_000)] {
        let range = KeyRange::new(prefix(from), prefix(to));
        let exact = (f64::from(to.min(3_000)) - f64::from(from)).max(0.0) * 10.0;
        let found = estimate(&snapshot, range, 8);
        let is_near = if exact <= 16.0 {
            found == exact
        } else {
            (0.7..1.4).contains(&(found / exact))
        };
        assert!(
            is_near,
            "from {from} to {to}: {found} estimated, there are {exact}"
        );
    }
    let (mut pairs, mut changes) = (0.0, 0.0);
    let mut last: (Vec<u8>, f64) = (Vec::new(), 0.0);
    let mut visit = |entry: paceline_storage::SurveyedEntry<'_>| {
        if entry.is_successor {
            assert!(*last.0 < *entry.key);
            pairs += last.1;
            if last.0[..8] != entry.key[..8] {
                changes += last.1;
            }
        }
        last = (entry.key.to_vec(), entry.weight);
        Ok(())
    };
    snapshot.survey(whole(), 64, &mut visit).unwrap();
    let group: f64 = pairs / changes;
    assert!(
        (7.0..14.0).contains(&group),
        "groups of 10 look like groups of {group}"
    );
}
