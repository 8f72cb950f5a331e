//! The limit of memory.

use outside_engine::TreeType;
use paceline_embedded::{Database, Options, register_engine};

#[test]
fn a_transaction_beyond_the_limit_gets_1114_and_a_truncate_makes_room() {
    register_engine(0, &TreeType).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let options = Options::new().set("paceline-memory-limit", "256M");
    let database = Database::open(directory.path(), options).unwrap();
    let mut session = database.session().unwrap();
    session.execute("CREATE DATABASE d", ()).unwrap();
    let table = "CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY, a LONGTEXT) ENGINE=TREE";
    session.execute(table, ()).unwrap();
    let insert = "INSERT INTO d.t (a) VALUES (REPEAT('x', 4000000))";
    let refused = (0..100).find_map(|_| session.execute(insert, ()).err());
    assert_eq!(refused.expect("400 MB do not fit").number(), Some(1114));
    let count = |session: &mut paceline_embedded::Session| {
        session.query("SELECT id FROM d.t", ()).unwrap().rows.len()
    };
    let rows = count(&mut session);
    assert!(rows > 0);
    // Other tables are not affected.
    session.execute("CREATE TABLE d.i (a INT)", ()).unwrap();
    session.execute("INSERT INTO d.i VALUES (1)", ()).unwrap();
    session.execute("TRUNCATE TABLE d.t", ()).unwrap();
    // The memory is free within a second.
    let begin = std::time::Instant::now();
    while session.execute(insert, ()).is_err() {
        assert!(begin.elapsed().as_secs() < 60, "nothing is freed");
        std::thread::yield_now();
    }
    assert_eq!(count(&mut session), 1);
}
