//! Rows: keys, scans, changes and their rules, locks, transactions, definitions that change.

use paceline_embedded::{
    Database, ErrorKind, IsolationLevel, LockMode, LockWait, Options, ReadMode, Scan, Session, Table,
    TransactionOptions, Value,
};
use std::borrow::Cow;

struct Fixture {
    // Dropped in this order: the session, the database, the directory.
    session: Session,
    database: Database,
    _directory: tempfile::TempDir,
}

fn fixture(statements: &[&str]) -> Fixture {
    let directory = tempfile::tempdir().unwrap();
    let database = Database::open(directory.path(), Options::new()).unwrap();
    let mut session = database.session().unwrap();
    session.execute("CREATE DATABASE d", ()).unwrap();
    session.execute("USE d", ()).unwrap();
    for statement in statements {
        session.execute(statement, ()).unwrap();
    }
    Fixture {
        session,
        database,
        _directory: directory,
    }
}

fn numbers(session: &mut Session, table: &Table, scan: &Scan<'_>) -> Vec<i64> {
    let mut found = Vec::new();
    let scanned = session.scan(table, scan, |row| {
        found.push(row.get(0)?);
        Ok(true)
    });
    scanned.unwrap();
    found
}

#[test]
fn rows_are_read_by_each_unique_key() {
    let mut at = fixture(&[
        "CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(20) COLLATE utf8mb4_general_ci, note TEXT, \
         UNIQUE KEY by_name (name), UNIQUE KEY by_note (note))",
    ]);
    let table = at.session.table("t").unwrap();
    at.session.insert(&table, (1, "Anna", "long")).unwrap();
    at.session
        .insert(&table, (2, None::<&str>, None::<&str>))
        .unwrap();
    let names = at.session.table_columns("d.t", &["name", "id"]).unwrap();
    let row = at.session.get(&names, (1,), |row| {
        let (name, id): (&str, i32) = row.read()?;
        Ok((name.to_owned(), id))
    });
    assert_eq!(row.unwrap(), Some(("Anna".to_owned(), 1)));
    let id = |session: &mut Session, index: &str, key: &str| {
        session
            .get_by(&table, Some(index), (key,), |row| row.get::<i32>(0))
            .unwrap()
    };
    // By the collation of the column.
    assert_eq!(id(&mut at.session, "by_name", "ANNA"), Some(1));
    assert_eq!(id(&mut at.session, "by_name", "Bert"), None);
    assert_eq!(id(&mut at.session, "by_note", "long"), Some(1));
    let null = at
        .session
        .get_by(&table, Some("by_name"), (None::<&str>,), |row| row.get::<i32>(0));
    assert_eq!(null.unwrap(), None);
    assert_eq!(
        at.session.get(&table, (3,), |row| row.get::<i32>(0)).unwrap(),
        None
    );
    let optional = at.session.get(&table, (2,), |row| {
        row.get_named::<Option<Cow<'_, str>>>("NAME").map(|n| n.is_none())
    });
    assert_eq!(optional.unwrap(), Some(true));
}

#[test]
fn keys_and_columns_of_wrong_types_are_errors() {
    let mut at = fixture(&[
        "CREATE TABLE t (id TINYINT PRIMARY KEY, a INT, KEY (a))",
        "CREATE VIEW v AS SELECT * FROM t",
    ]);
    let table = at.session.table("t").unwrap();
    at.session.insert(&table, (1, 1000)).unwrap();
    let kind = |done: paceline_embedded::Result<Option<i8>>| done.unwrap_err().kind();
    assert_eq!(
        kind(at.session.get(&table, (1000,), |row| row.get(0))),
        ErrorKind::Value
    );
    assert_eq!(
        kind(at.session.get(&table, ("one",), |row| row.get(0))),
        ErrorKind::Value
    );
    assert_eq!(
        kind(at.session.get(&table, (None::<i8>,), |row| row.get(0))),
        ErrorKind::Value
    );
    assert_eq!(
        kind(at.session.get(&table, (1, 2), |row| row.get(0))),
        ErrorKind::Value
    );
    assert_eq!(
        kind(at.session.get(&table, (1,), |row| row.get(1))),
        ErrorKind::Value
    );
    assert_eq!(
        kind(at.session.get_by(&table, Some("a"), (1,), |row| row.get(0))),
        ErrorKind::Value
    );
    assert_eq!(
        kind(at.session.get_by(&table, Some("b"), (1,), |row| row.get(0))),
        ErrorKind::Unknown
    );
    assert_eq!(
        kind(at.session.get(&table, (1,), |row| row.get(2))),
        ErrorKind::Unknown
    );
    assert_eq!(
        at.session.insert(&table, (2,)).unwrap_err().kind(),
        ErrorKind::Value
    );
    assert_eq!(at.session.table("x").err().unwrap().number(), Some(1146));
    assert_eq!(at.session.table("v").err().unwrap().number(), Some(1347));
    assert_eq!(
        at.session.table_columns("t", &["z"]).err().unwrap().number(),
        Some(1054)
    );
    // The session goes on.
    assert_eq!(
        at.session.get(&table, (1,), |row| row.get(1)).unwrap(),
        Some(1000)
    );
}

#[test]
fn scans_have_bounds_directions_and_limits() {
    let mut at = fixture(&["CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT, KEY ab (a, b))"]);
    let table = at.session.table("t").unwrap();
    at.session
        .insert_all(&table, (0..100).map(|id| (id, id / 10, id % 10)))
        .unwrap();
    let session = &mut at.session;
    let index = || Scan::index("ab");
    assert_eq!(numbers(session, &table, &Scan::rows()).len(), 100);
    assert_eq!(
        numbers(session, &table, &Scan::rows().at_least((97,))),
        [97, 98, 99]
    );
    assert_eq!(
        numbers(session, &table, &Scan::rows().after((97,)).before((99,))),
        [98]
    );
    assert_eq!(
        numbers(session, &table, &index().prefix((4,)).backward().limit(1)),
        [49]
    );
    assert_eq!(
        numbers(session, &table, &index().prefix((4,)).at_least((4, 8))),
        [48, 49]
    );
    assert_eq!(numbers(session, &table, &index().at_most((0, 1))), [0, 1]);
    assert_eq!(numbers(session, &table, &index().after((8,)).limit(2)), [90, 91]);
    assert_eq!(
        numbers(session, &table, &index().at_most((8,)).backward().limit(2)),
        [89, 88]
    );
    assert_eq!(numbers(session, &table, &index().prefix((40,))), [0_i64; 0]);
    assert_eq!(
        numbers(session, &table, &index().at_least((5,)).before((5,))),
        [0_i64; 0]
    );
    assert_eq!(numbers(session, &table, &Scan::rows().limit(0)), [0_i64; 0]);
}

#[test]
fn a_scan_of_several_parts_follows_their_order() {
    let mut at = fixture(&["CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT, KEY ab (a, b))"]);
    let table = at.session.table("t").unwrap();
    let rows = (0..100).map(|id| (id, id / 10, id % 10));
    at.session.insert_all(&table, rows).unwrap();
    let each = |session: &mut Session, scan: &Scan<'_>, prefixes: &[i64]| {
        let mut found = Vec::new();
        let prefixes = prefixes.iter().map(|&prefix| (prefix,));
        let scanned = session.scan_each(&table, scan, prefixes, |row| {
            found.push(row.get::<i64>(0)?);
            Ok(true)
        });
        scanned.unwrap();
        found
    };
    let session = &mut at.session;
    let latest = Scan::index("ab").backward().limit(1);
    assert_eq!(each(session, &latest, &[1, 2, 5]), [19, 29, 59]);
    assert_eq!(
        each(session, &latest, &[9, 40, 0, 3, 3, -1, 9]),
        [99, 9, 39, 39, 99]
    );
    let first = Scan::index("ab").limit(2);
    assert_eq!(each(session, &first, &[9, 40, 0]), [90, 91, 0, 1]);
    assert_eq!(each(session, &Scan::index("ab").limit(0), &[1]), [0_i64; 0]);
    assert_eq!(each(session, &latest, &[]), [0_i64; 0]);
    assert_eq!(each(session, &Scan::rows(), &[7, 3]), [7, 3]);
    // Under the changes of a transaction, and with all its locks.
    for level in [IsolationLevel::RepeatableRead, IsolationLevel::Serializable] {
        let mut transaction = session.begin(TransactionOptions::new().isolation(level)).unwrap();
        transaction.delete(&table, (19,)).unwrap();
        transaction.insert(&table, (200, 2, 50)).unwrap();
        let mut found = Vec::new();
        let scanned = transaction.scan_each(&table, &latest, [(2,), (1,)], |row| {
            found.push(row.get::<i64>(0)?);
            Ok(true)
        });
        scanned.unwrap();
        assert_eq!(found, [200, 18]);
    }
}

#[test]
fn each_rule_of_a_table_holds_for_changes_of_rows() {
    let mut at = fixture(&[
        "CREATE TABLE parents (id INT PRIMARY KEY)",
        "CREATE TABLE log (what VARCHAR(20))",
        "CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, parent INT NOT NULL, a INT DEFAULT 7, b INT AS (a * 2), \
         CHECK (a < 100), FOREIGN KEY (parent) REFERENCES parents (id) ON DELETE CASCADE)",
        "CREATE TRIGGER i BEFORE INSERT ON t FOR EACH ROW INSERT INTO log VALUES (CONCAT('insert ', NEW.parent))",
    ]);
    let session = &mut at.session;
    let parents = session.table("parents").unwrap();
    session.insert(&parents, (1,)).unwrap();
    let by_default = session.table_columns("t", &["parent"]).unwrap();
    let with_a = session.table_columns("t", &["parent", "a"]).unwrap();
    assert_eq!(session.insert(&by_default, (1,)).unwrap().last_insert_id, 1);
    assert_eq!(session.insert(&with_a, (1, 5)).unwrap().last_insert_id, 2);
    assert_eq!(
        session.insert(&by_default, (9,)).unwrap_err().kind(),
        ErrorKind::ForeignKey
    );
    assert_eq!(
        session.insert(&with_a, (1, 100)).unwrap_err().kind(),
        ErrorKind::CheckConstraint
    );
    assert_eq!(
        session.insert(&with_a, (1, "x")).unwrap_err().kind(),
        ErrorKind::Value
    );
    assert_eq!(
        session.insert(&by_default, (None::<i32>,)).unwrap_err().number(),
        Some(1048)
    );
    let all = session.table_columns("t", &["a", "b"]).unwrap();
    let row = session.get(&all, (1,), |row| row.read::<(i32, i32)>()).unwrap();
    assert_eq!(row, Some((7, 14)));
    let a = session.table_columns("t", &["a"]).unwrap();
    assert_eq!(session.update(&a, (1,), (8,)).unwrap().rows, 1);
    assert_eq!(session.update(&a, (1,), (8,)).unwrap().rows, 0);
    assert_eq!(session.update(&a, (50,), (8,)).unwrap().rows, 0);
    assert_eq!(
        session.get(&all, (1,), |row| row.read::<(i32, i32)>()).unwrap(),
        Some((8, 16))
    );
    assert_eq!(
        session.insert(&parents, (1,)).unwrap_err().kind(),
        ErrorKind::DuplicateKey
    );
    assert_eq!(session.delete(&parents, (1,)).unwrap().rows, 1);
    assert_eq!(
        session.query("SELECT COUNT(*) FROM t", ()).unwrap().rows[0][0],
        Value::Int(0)
    );
    let logged = session
        .query("SELECT COUNT(*) FROM log WHERE what = 'insert 1'", ())
        .unwrap();
    assert_eq!(logged.rows[0][0], Value::Int(2));
}

#[test]
fn a_transaction_is_isolated_and_mixes_rows_with_sql() {
    let mut at = fixture(&["CREATE TABLE t (id INT PRIMARY KEY, a INT)"]);
    let mut other = at.database.session().unwrap();
    let table = at.session.table("t").unwrap();
    at.session.insert(&table, (1, 1)).unwrap();
    let mut transaction = at.session.begin(TransactionOptions::new()).unwrap();
    transaction.insert(&table, (2, 2)).unwrap();
    transaction.execute("UPDATE t SET a = a + 10", ()).unwrap();
    {
        let row = transaction.get(&table, (2,)).unwrap().unwrap();
        assert_eq!(row.read::<(i32, i32)>().unwrap(), (2, 12));
    }
    assert_eq!(
        transaction
            .query("SELECT SUM(a) FROM t WHERE id = ?", (1,))
            .unwrap()
            .rows
            .len(),
        1
    );
    assert_eq!(other.get(&table, (2,), |row| row.get::<i32>(1)).unwrap(), None);
    let gtid = transaction.commit().unwrap();
    assert!(gtid.is_some());
    assert_eq!(
        other.get(&table, (2,), |row| row.get::<i32>(1)).unwrap(),
        Some(12)
    );

    // Dropped: rolled back.
    at.session
        .begin(TransactionOptions::new())
        .unwrap()
        .delete(&table, (1,))
        .unwrap();
    assert_eq!(
        other.get(&table, (1,), |row| row.get::<i32>(1)).unwrap(),
        Some(11)
    );

    // REPEATABLE READ sees one snapshot, READ COMMITTED one for each call.
    for (level, seen) in [
        (IsolationLevel::RepeatableRead, 11),
        (IsolationLevel::ReadCommitted, 99),
    ] {
        let mut transaction = at
            .session
            .begin(TransactionOptions::new().isolation(level))
            .unwrap();
        let before: i32 = transaction.get(&table, (1,)).unwrap().unwrap().get(1).unwrap();
        assert_eq!(before, 11);
        let a = other.table_columns("d.t", &["a"]).unwrap();
        other.update(&a, (1,), (99,)).unwrap();
        let after: i32 = transaction.get(&table, (1,)).unwrap().unwrap().get(1).unwrap();
        assert_eq!(after, seen);
        assert_eq!(transaction.commit().unwrap(), None);
        other.update(&a, (1,), (11,)).unwrap();
    }
    let mut reader = at.session.begin(TransactionOptions::new().read_only()).unwrap();
    assert_eq!(reader.delete(&table, (1,)).unwrap_err().number(), Some(1792));
}

#[test]
fn a_suspended_transaction_is_resumed() {
    let mut at = fixture(&["CREATE TABLE t (id INT PRIMARY KEY)"]);
    let table = at.session.table("t").unwrap();
    assert_eq!(table.columns(), ["id"]);
    let mut transaction = at.session.begin(TransactionOptions::new()).unwrap();
    transaction.insert(&table, (1,)).unwrap();
    transaction.suspend();
    let mut other = at.database.session().unwrap();
    assert!(other.get(&table, (1,), |_| Ok(())).unwrap().is_none());
    let mut transaction = at.session.resume();
    transaction.insert(&table, (2,)).unwrap();
    transaction.suspend();
    assert!(at.session.resume().commit().unwrap().is_some());
    assert_eq!(numbers(&mut other, &table, &Scan::rows()), [1, 2]);
    // It is over.
    let mut transaction = at.session.resume();
    assert_eq!(transaction.insert(&table, (3,)).unwrap_err().number(), Some(1213));
    drop(transaction);
    at.session.begin(TransactionOptions::new()).unwrap().suspend();
    at.session.insert(&table, (3,)).unwrap();
    at.session.resume().roll_back();
    assert_eq!(numbers(&mut other, &table, &Scan::rows()), [1, 2]);
}

#[test]
fn calls_of_a_session_are_ended_by_another_thread() {
    let mut at = fixture(&["CREATE TABLE t (id INT PRIMARY KEY)"]);
    let mut waiter = at.database.session().unwrap();
    let interrupter = waiter.interrupter();
    for number in [1317, 1927] {
        let (begun, has_begun) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            let ended = scope.spawn(|| {
                begun.send(()).unwrap();
                waiter.execute("DO SLEEP(1000)", ()).unwrap_err().number()
            });
            has_begun.recv().unwrap();
            while at
                .session
                .query(
                    "SELECT 1 FROM information_schema.processlist WHERE info = 'DO SLEEP(1000)'",
                    (),
                )
                .unwrap()
                .rows
                .is_empty()
            {}
            match number {
                1317 => interrupter.end_call(),
                _ => interrupter.end_session(),
            }
            assert_eq!(ended.join().unwrap(), Some(number));
        });
    }
    assert_eq!(waiter.execute("DO 1", ()).unwrap_err().number(), Some(1927));
}

#[test]
fn an_error_that_sql_has_raised_has_its_sqlstate() {
    let mut at = fixture(&[]);
    let error = at
        .session
        .execute("SIGNAL SQLSTATE '45001' SET MESSAGE_TEXT = 'mine'", ())
        .unwrap_err();
    assert_eq!((error.number(), error.sqlstate()), (Some(1644), Some("45001")));
    assert_eq!(error.to_string(), "mine");
}

#[test]
fn a_conflict_rolls_back_and_the_function_is_tried_again() {
    let mut at = fixture(&["CREATE TABLE t (id INT PRIMARY KEY, a INT)"]);
    let mut other = at.database.session().unwrap();
    let table = at.session.table("t").unwrap();
    let a = at.session.table_columns("t", &["a"]).unwrap();
    at.session.insert(&table, (1, 1)).unwrap();
    let mut attempts = 0;
    let done = at.session.transact(TransactionOptions::new(), 3, |transaction| {
        attempts += 1;
        let seen: i32 = transaction.get(&a, (1,))?.unwrap().get(0)?;
        if attempts == 1 {
            other.update(&a, (1,), (5,))?;
        }
        let done = transaction.update(&a, (1,), (seen + 1,));
        if attempts == 1 {
            assert_eq!(done.as_ref().unwrap_err().kind(), ErrorKind::Conflict);
            // The transaction is over, also for what comes after the error.
            assert_eq!(
                transaction.insert(&table, (2, 2)).unwrap_err().kind(),
                ErrorKind::Conflict
            );
        }
        done
    });
    assert_eq!(done.unwrap().rows, 1);
    assert_eq!(attempts, 2);
    assert_eq!(other.get(&a, (1,), |row| row.get::<i32>(0)).unwrap(), Some(6));
}

/// A row that is read keeps its transaction borrowed, so its error cannot end it at once.
#[test]
fn a_conflict_of_a_read_rolls_back_everything_as_well() {
    let mut at = fixture(&["CREATE TABLE t (id INT PRIMARY KEY, a INT)"]);
    let mut other = at.database.session().unwrap();
    let table = at.session.table("t").unwrap();
    let a = at.session.table_columns("t", &["a"]).unwrap();
    at.session.insert_all(&table, [(1, 1), (2, 2)]).unwrap();
    let exclusive = ReadMode::Locked {
        mode: LockMode::Exclusive,
        wait: LockWait::Default,
    };
    for ends_at_once in [true, false] {
        let mut transaction = at.session.begin(TransactionOptions::new()).unwrap();
        transaction.get(&table, (2,)).unwrap().unwrap();
        transaction.insert(&table, (9, 9)).unwrap();
        other
            .update(&a, (1,), (if ends_at_once { 5 } else { 6 },))
            .unwrap();
        let refused = transaction.get_by(&table, None, (1,), exclusive).err();
        assert_eq!(refused.unwrap().kind(), ErrorKind::Conflict);
        if !ends_at_once {
            let refused = transaction.insert(&table, (10, 10)).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::Conflict);
        }
        assert_eq!(transaction.commit().unwrap_err().kind(), ErrorKind::Conflict);
        for id in [9, 10] {
            assert_eq!(other.get(&a, (id,), |row| row.get::<i32>(0)).unwrap(), None);
        }
    }
}

#[test]
fn locking_reads_skip_refuse_and_protect() {
    let mut at = fixture(&["CREATE TABLE t (id INT PRIMARY KEY, a INT, KEY by_a (a))"]);
    let mut other = at.database.session().unwrap();
    let table = at.session.table("t").unwrap();
    at.session.insert_all(&table, (0..5).map(|id| (id, 10))).unwrap();
    let locked = |wait| ReadMode::Locked {
        mode: LockMode::Exclusive,
        wait,
    };
    let mut first = at.session.begin(TransactionOptions::new()).unwrap();
    let row = first
        .get_by(&table, None, (0,), locked(LockWait::Default))
        .unwrap();
    assert_eq!(row.unwrap().get::<i32>(1).unwrap(), 10);
    let mut second = other.begin(TransactionOptions::new()).unwrap();
    let refused = second
        .get_by(&table, None, (0,), locked(LockWait::NoWait))
        .err()
        .unwrap();
    assert_eq!(refused.kind(), ErrorKind::LockWaitTimeout);
    assert!(
        second
            .get_by(&table, None, (0,), locked(LockWait::SkipLocked))
            .unwrap()
            .is_none()
    );
    let mut free = Vec::new();
    let scan = Scan::index("by_a")
        .prefix((10,))
        .locking(locked(LockWait::SkipLocked))
        .limit(2);
    let scanned = second.scan(&table, &scan, |row| {
        free.push(row.get::<i32>(0)?);
        Ok(true)
    });
    scanned.unwrap();
    assert_eq!(free, [1, 2]);
    second.delete(&table, (1,)).unwrap();
    second.commit().unwrap();
    drop(first);
    assert_eq!(numbers(&mut at.session, &table, &Scan::rows()), [0, 2, 3, 4]);
}

#[test]
fn a_handle_finds_its_columns_again_after_alter_table() {
    let mut at = fixture(&["CREATE TABLE t (id INT PRIMARY KEY, a INT)"]);
    let mut other = at.database.session().unwrap();
    let (all, a) = (
        at.session.table("t").unwrap(),
        at.session.table_columns("t", &["a"]).unwrap(),
    );
    at.session.insert(&all, (1, 2)).unwrap();
    other
        .execute("ALTER TABLE d.t ADD COLUMN z VARCHAR(10) DEFAULT 'z' FIRST", ())
        .unwrap();
    assert_eq!(
        at.session.get(&a, (1,), |row| row.get::<i32>(0)).unwrap(),
        Some(2)
    );
    let row = at
        .session
        .get(&all, (1,), |row| row.read::<(String, i32, i32)>())
        .unwrap();
    assert_eq!(row, Some(("z".to_owned(), 1, 2)));
    at.session.insert(&all, ("y", 2, 3)).unwrap();
    other.execute("DROP TABLE d.t", ()).unwrap();
    assert_eq!(
        at.session
            .get(&a, (1,), |row| row.get::<i32>(0))
            .unwrap_err()
            .number(),
        Some(1146)
    );
    other
        .execute("CREATE TABLE d.t (a VARCHAR(10), id VARCHAR(5) PRIMARY KEY)", ())
        .unwrap();
    at.session.insert(&all, ("new", "k")).unwrap();
    assert_eq!(
        at.session.get(&a, ("k",), |row| row.get::<String>(0)).unwrap(),
        Some("new".to_owned())
    );
}

#[test]
fn temporary_tables_and_tables_without_a_key_are_read_too() {
    let mut at = fixture(&[
        "CREATE TEMPORARY TABLE own (id INT PRIMARY KEY, a INT)",
        "CREATE TABLE heap (a INT, KEY (a))",
    ]);
    let own = at.session.table("own").unwrap();
    at.session.insert(&own, (1, 2)).unwrap();
    assert_eq!(
        at.session.get(&own, (1,), |row| row.get::<i32>(1)).unwrap(),
        Some(2)
    );
    let heap = at.session.table("heap").unwrap();
    at.session.insert_all(&heap, [(3,), (1,), (3,)]).unwrap();
    assert_eq!(
        numbers(&mut at.session, &heap, &Scan::index("a").backward()),
        [3, 3, 1]
    );
    assert_eq!(
        at.session
            .get(&heap, (1,), |row| row.get::<i32>(0))
            .unwrap_err()
            .number(),
        Some(1176)
    );
    assert_eq!(at.session.delete(&heap, (1,)).unwrap_err().number(), Some(1176));
}

#[test]
fn statements_whose_rows_cannot_be_returned_are_refused() {
    let mut at = fixture(&[]);
    assert_eq!(
        at.session.query("SHOW TABLES", ()).unwrap_err().number(),
        Some(1295)
    );
    assert_eq!(
        at.session.execute("SELECT * FROM", ()).unwrap_err().number(),
        Some(1064)
    );
    let rows = at.session.query("SELECT 1 AS one, ? AS two", ("x",)).unwrap();
    assert_eq!(rows.columns, ["one", "two"]);
    assert_eq!(rows.rows, [[Value::Int(1), Value::Text("x".to_owned())]]);
}
