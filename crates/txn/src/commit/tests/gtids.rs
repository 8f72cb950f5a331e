//! Assignment of GTIDs.

use crate::testing::TestServer;
use crate::{Config, Error, GtidChoice, GtidStrictMode, Replication, TransactionOptions};
use paceline_simulated_disk::SimulatedDisk;
use paceline_types::{DomainId, Gtid, SequenceNumber, ServerId};
use std::sync::Arc;

fn commit(server: &TestServer, options: TransactionOptions) -> crate::Result<crate::CommitOutcome> {
    let mut writer = server.manager.begin(&server.session(), options);
    server.table.set(&mut writer, "x", "v")?;
    writer.commit_blocking()
}

fn with_gtid(text: &str) -> TransactionOptions {
    TransactionOptions {
        gtid: GtidChoice::Given(text.parse().unwrap()),
        ..TransactionOptions::default()
    }
}

#[test]
fn numbers_continue_from_the_highest_of_the_domain() {
    let disk = SimulatedDisk::new();
    let tables = Arc::new(tempfile::tempdir().unwrap());
    {
        let server = TestServer::open(Arc::new(disk.clone()), tables.clone(), Default::default());
        let next = |domain: u32, server_id: u32| TransactionOptions {
            gtid: GtidChoice::new(DomainId(domain), ServerId(server_id), SequenceNumber(0)),
            ..TransactionOptions::default()
        };
        let gtid = |options| commit(&server, options).unwrap().gtid.unwrap().to_string();
        assert_eq!(gtid(next(0, 1)), "0-1-1");
        assert_eq!(gtid(next(0, 1)), "0-1-2");
        // Replicated from server 2, with a gap; the numbers written here continue after it.
        assert_eq!(gtid(with_gtid("0-2-100")), "0-2-100");
        assert_eq!(gtid(next(0, 1)), "0-1-101");
        // Another domain has numbers of its own.
        assert_eq!(gtid(next(7, 3)), "7-3-1");
        assert_eq!(server.manager.gtid_state().to_string(), "0-2-100,0-1-101,7-3-1");
        assert_eq!(
            server.manager.gtid_state().position().to_string(),
            "0-1-101,7-3-1"
        );
    }
    let server = TestServer::open(Arc::new(disk), tables, Default::default());
    assert_eq!(server.recovery.state.to_string(), "0-2-100,0-1-101,7-3-1");
    assert_eq!(
        server.set("x", "v").unwrap().gtid,
        Some("0-1-102".parse().unwrap())
    );
}

#[test]
fn a_lower_gtid_is_refused_in_strict_mode_and_leaves_nothing() {
    let server = TestServer::new();
    commit(&server, with_gtid("0-2-100")).unwrap();
    // Outside strict mode it is allowed, with a warning.
    commit(&server, with_gtid("0-3-50")).unwrap();
    server
        .manager
        .set_config(Config {
            gtid_strict_mode: GtidStrictMode::On,
            ..Config::default()
        })
        .unwrap();
    let before = server.manager.positions();
    let refused = commit(&server, with_gtid("0-4-100"));
    let existing: Gtid = "0-3-50".parse().unwrap();
    match refused {
        Err(error @ Error::OutOfOrder { .. }) => {
            assert_eq!(error.error_code().number(), 1950);
            assert!(matches!(error, Error::OutOfOrder { existing: found, .. } if found == existing));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(server.manager.positions(), before);
    assert_eq!(server.manager.status().locked_keys, 0);
    assert_eq!(
        commit(&server, Default::default()).unwrap().gtid,
        Some("0-1-101".parse().unwrap())
    );
}

#[test]
fn local_transactions_are_in_no_gtid_state() {
    let server = TestServer::new();
    server.set("x", "1").unwrap();
    let local = TransactionOptions {
        replication: Replication::LocalOnly,
        ..TransactionOptions::default()
    };
    let outcome = commit(&server, local).unwrap();
    assert_eq!(outcome.gtid, None);
    assert_eq!(server.manager.gtid_state().to_string(), "0-1-1");
    assert_eq!(server.set("x", "2").unwrap().gtid, Some("0-1-2".parse().unwrap()));
    let mut reader = server
        .manager
        .log()
        .reader(server.recovery.start, server.manager.positions().written)
        .unwrap();
    let mut flagged = Vec::new();
    while let Some(event) = reader.next_event().unwrap() {
        let flags = event.event.header().flags;
        if flags.contains(paceline_binlog::event::EventFlags::SKIP_REPLICATION) {
            flagged.push(event.event.event_type().name());
        }
    }
    assert_eq!(flagged, ["Gtid", "Table_map", "Update_rows_v1", "Xid"]);
}

#[test]
fn replicated_transactions_are_marked_only_in_their_gtid_event() {
    let server = TestServer::new();
    let gtid: Gtid = "3-2-5".parse().unwrap();
    let options = TransactionOptions {
        gtid: GtidChoice::Replicated(gtid),
        ..TransactionOptions::default()
    };
    assert_eq!(commit(&server, options).unwrap().gtid, Some(gtid));
    server.set("y", "1").unwrap();
    let mut reader = server
        .manager
        .log()
        .reader(server.recovery.start, server.manager.positions().written)
        .unwrap();
    let mut marked = Vec::new();
    while let Some(event) = reader.next_event().unwrap() {
        let header = event.event.header();
        if header
            .flags
            .contains(paceline_binlog::event::EventFlags::REPLICATED)
        {
            marked.push((event.event.event_type().name(), header.server_id));
        }
    }
    assert_eq!(marked, [("Gtid", ServerId(2))]);
}
