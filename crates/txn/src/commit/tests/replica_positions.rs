//! Replica position of a server: moved by transactions and by records, waited for, and restored after a crash.

use crate::sync_point::CommitStep;
use crate::testing::{TestOptions, TestServer};
use crate::{GtidChoice, Interrupt, PositionWaitOutcome, SequenceSource, SourceMark, TransactionOptions};
use paceline_binlog::{PositionChange, ReplicaRecord, ReplicaState, SourcePosition};
use paceline_simulated_disk::SimulatedDisk;
use paceline_types::Gtid;
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::{Duration, Instant};

fn open(disk: &SimulatedDisk) -> TestServer {
    // The tables are new each time: every transaction is replayed.
    let tables = Arc::new(tempfile::tempdir().unwrap());
    TestServer::open(Arc::new(disk.clone()), tables, TestOptions::default())
}

fn replicate(server: &TestServer, gtid: &str, source: Option<(&str, u64)>) {
    let gtid: Gtid = gtid.parse().unwrap();
    let choice = match source {
        None => GtidChoice::Replicated(gtid),
        Some((file, offset)) => {
            let position = SourcePosition {
                file: file.into(),
                offset,
            };
            let mark = SourceMark {
                connection: "east".into(),
                position,
                executed: None,
                numbers: SequenceSource::Primary,
            };
            GtidChoice::ReplicatedFrom(gtid, Arc::new(mark))
        }
    };
    let options = TransactionOptions {
        gtid: choice,
        ..TransactionOptions::default()
    };
    let mut writer = server.manager.begin(&server.session(), options);
    server.table.set(&mut writer, "x", &gtid.to_string()).unwrap();
    assert_eq!(writer.commit_blocking().unwrap().gtid, Some(gtid));
}

fn state(server: &TestServer) -> (String, Option<u64>) {
    let state: ReplicaState = server.manager.log().replica_state();
    let source = state.sources.get("east").map(|source| source.offset);
    (state.position.to_string(), source)
}

#[test]
fn a_position_moves_with_transactions_and_records_and_survives_a_crash() {
    let disk = SimulatedDisk::new();
    let server = open(&disk);
    server.set("own", "1").unwrap();
    assert_eq!(server.manager.replicated_position().to_string(), "");
    replicate(&server, "0-2-5", None);
    replicate(&server, "7-3-9", Some(("bin.000002", 700)));
    server.set("own", "2").unwrap();
    assert_eq!(server.manager.replicated_position().to_string(), "0-2-5,7-3-9");
    // Our own transaction is the later one in domain 0, and has our server id.
    assert_eq!(
        server
            .manager
            .current_position(paceline_types::ServerId(1))
            .to_string(),
        "0-1-6,7-3-9"
    );
    let crashed = disk.after_power_failure(1);
    assert_eq!(state(&open(&crashed)), ("0-2-5,7-3-9".to_owned(), Some(700)));

    // A filtered transaction; then another file begins, whose head holds the whole position.
    let passed = PositionChange::To(vec!["7-3-12".parse().unwrap()]);
    server
        .manager
        .move_replica_position(&ReplicaRecord::of_gtids(passed))
        .unwrap();
    assert_eq!(server.manager.replicated_position().to_string(), "0-2-5,7-3-12");
    server.manager.rotate().unwrap();
    assert_eq!(
        state(&open(&disk.after_power_failure(2))),
        ("0-2-5,7-3-12".to_owned(), Some(700))
    );

    // SET GLOBAL gtid_slave_pos, a definition, RESET MASTER.
    let record = ReplicaRecord {
        definitions: vec![("east".into(), Some(b"{}".as_slice().into()))],
        ..ReplicaRecord::of_gtids(PositionChange::Replace("1-1-1".parse().unwrap()))
    };
    server.manager.move_replica_position(&record).unwrap();
    server.manager.reset(None).unwrap();
    let again = open(&disk.after_process_death());
    assert_eq!(again.manager.replicated_position().to_string(), "1-1-1");
    assert_eq!(state(&again), ("1-1-1".to_owned(), Some(700)));
    assert!(
        again
            .manager
            .log()
            .replica_state()
            .definitions
            .contains_key("east")
    );
}

#[test]
fn a_position_in_the_primarys_log_is_lost_only_with_its_transaction() {
    let disk = SimulatedDisk::new();
    let server = open(&disk);
    replicate(&server, "0-2-1", Some(("bin.000001", 100)));
    let left: Arc<Mutex<Vec<SimulatedDisk>>> = Arc::default();
    {
        let (left, disk) = (left.clone(), disk.clone());
        server.manager.sync_points().set(move |step| {
            if step == CommitStep::Written {
                left.lock()
                    .extend((0..20).map(|seed| disk.after_power_failure(seed)));
            }
        });
    }
    replicate(&server, "0-2-2", Some(("bin.000001", 200)));
    let mut seen = std::collections::BTreeSet::new();
    for disk in left.lock().iter() {
        let again = open(disk);
        let (position, source) = state(&again);
        let row = again.get("x").unwrap();
        assert_eq!(
            position, row,
            "the position is that of the last transaction that is there"
        );
        assert_eq!(source, Some(if row == "0-2-2" { 200 } else { 100 }));
        seen.insert(row);
    }
    assert!(!seen.is_empty());
}

#[test]
fn a_wait_ends_when_the_position_is_published() {
    let server = Arc::new(open(&SimulatedDisk::new()));
    let wait = |text: &str, timeout_ms: u64| {
        let deadline = Instant::now() + Duration::from_millis(timeout_ms);
        server
            .manager
            .wait_replicated(&text.parse().unwrap(), Some(deadline), &Interrupt::new())
            .unwrap()
    };
    // A transaction written here satisfies no wait for a replicated one.
    server.set("own", "1").unwrap();
    assert_eq!(wait("0-1-1", 0), PositionWaitOutcome::TimedOut);
    assert_eq!(wait("", 0), PositionWaitOutcome::Reached);
    let other = server.clone();
    let writer = std::thread::spawn(move || {
        // Most often the wait has begun by then.
        std::thread::sleep(Duration::from_millis(50));
        replicate(&other, "0-2-8", None);
        replicate(&other, "5-2-1", None);
    });
    assert_eq!(wait("0-9-7,5-2-1", 30_000), PositionWaitOutcome::Reached);
    writer.join().unwrap();
    assert_eq!(server.get("x").as_deref(), Some("5-2-1"));
    let interrupt = Interrupt::new();
    interrupt.raise(crate::InterruptReason::Query);
    let wanted = "0-2-100".parse().unwrap();
    assert!(server.manager.wait_replicated(&wanted, None, &interrupt).is_err());
}
