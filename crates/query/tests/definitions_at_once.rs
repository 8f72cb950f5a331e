//! Concurrent definition statements: one is prepared before another is published.

mod harness;

use harness::Server;

fn server() -> Server {
    let mut server = Server::new();
    for statement in [
        "create database d",
        "create table d.a (x int)",
        "create table d.b (y int)",
        "insert into d.a values (1), (2)",
        "insert into d.b values (-1), (-2)",
    ] {
        server.run(statement).result.expect(statement);
    }
    server.use_database("d");
    server
}

#[test]
fn each_build_has_a_number_of_its_own() {
    let mut server = server();
    let (check, index) = ("alter table a add check (x > 0)", "alter table b add unique (y)");
    let first = server.prepare(check).unwrap();
    let second = server.prepare(index).unwrap();
    assert_eq!(first.builds.len(), 1);
    assert_eq!(second.builds.len(), 1);
    assert_ne!(first.builds, second.builds);
    assert_ne!(first.xid, second.xid);
    // The order in the log differs from that of the numbers.
    server.commit_definition(second, index).unwrap();
    server.commit_definition(first, check).unwrap();
    for (insert, code) in [
        ("insert into a values (0)", 4025),
        ("insert into b values (-1)", 1062),
    ] {
        let error = server.run(insert).result.err();
        assert_eq!(error.map(|error| error.code().number()), Some(code), "{insert}");
    }
    assert!(server.manager.storage().builds().unwrap().is_empty());
}

#[test]
fn an_unpublished_build_hides_no_rows_from_another_check() {
    let mut server = server();
    let _unpublished = server.prepare("alter table a add check (x > 0)").unwrap();
    let failed = server.prepare("alter table b add check (y > 0)");
    assert_eq!(failed.err().map(|error| error.code().number()), Some(4025));
}
