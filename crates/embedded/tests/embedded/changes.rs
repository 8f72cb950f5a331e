//! Following the log.

use paceline_embedded::{ChangeRef, Changes, Database, Options, Result, Session, TransactionOptions, Value};
use std::time::Duration;

/// Long enough for anything that is committed already.
const SOON: Option<Duration> = Some(Duration::from_secs(60));

/// Short, for what must not come.
const NOW: Option<Duration> = Some(Duration::from_millis(50));

/// Returns the changes of the next transaction as texts.
fn next(changes: &mut Changes) -> Vec<String> {
    let transaction = changes.next(SOON).unwrap().expect("a transaction is committed");
    let mut shown = Vec::new();
    let done: Result<()> = transaction.for_each(|change| {
        shown.push(match change {
            ChangeRef::Statement { text, .. } => text.to_owned(),
            ChangeRef::Row(row) => {
                let of =
                    |values: Option<&[Value]>| values.map_or("-".to_owned(), |values| format!("{values:?}"));
                format!(
                    "{}.{} {:?} {} {}",
                    row.database,
                    row.table,
                    row.columns,
                    of(row.before),
                    of(row.after)
                )
            }
        });
        Ok(())
    });
    done.unwrap();
    shown
}

fn open(directory: &tempfile::TempDir) -> (Database, Session) {
    let database = Database::open(directory.path(), Options::new()).unwrap();
    let session = database.session().unwrap();
    (database, session)
}

#[test]
fn committed_changes_are_followed_and_continued() {
    let directory = tempfile::tempdir().unwrap();
    let (database, mut session) = open(&directory);
    let mut changes = database.changes("").unwrap();
    session.execute("CREATE DATABASE d", ()).unwrap();
    session
        .execute(
            "CREATE TABLE d.t (id INT UNSIGNED PRIMARY KEY, v VARCHAR(10))",
            (),
        )
        .unwrap();
    assert_eq!(next(&mut changes), ["CREATE DATABASE d"]);
    assert_eq!(next(&mut changes).len(), 1);
    let table = session.table("d.t").unwrap();
    let mut transaction = session.begin(TransactionOptions::new()).unwrap();
    transaction.insert(&table, (4_000_000_000_u32, "ä")).unwrap();
    assert!(changes.next(NOW).unwrap().is_none());
    transaction.execute("UPDATE d.t SET v = NULL", ()).unwrap();
    transaction.delete(&table, (4_000_000_000_u32,)).unwrap();
    let gtid = transaction.commit().unwrap().unwrap();
    let columns = r#"d.t ["id", "v"]"#;
    let (full, empty) = (r#"[UInt(4000000000), Text("ä")]"#, "[UInt(4000000000), Null]");
    assert_eq!(
        next(&mut changes),
        [
            format!("{columns} - {full}"),
            format!("{columns} {full} {empty}"),
            format!("{columns} {empty} -"),
        ]
    );
    assert_eq!(changes.position(), gtid.to_string());
    assert_eq!(changes.position(), database.position());

    // Continued after a restart, across a change of the log's file.
    let position = changes.position();
    drop((changes, session));
    database.close().unwrap();
    let (database, mut session) = open(&directory);
    let mut changes = database.changes(&position).unwrap();
    assert!(changes.next(NOW).unwrap().is_none());
    session.execute("FLUSH BINARY LOGS", ()).unwrap();
    session.insert(&session.table("d.t").unwrap(), (1, "b")).unwrap();
    assert_eq!(next(&mut changes), [r#"d.t ["id", "v"] - [UInt(1), Text("b")]"#]);
    assert!(changes.next(NOW).unwrap().is_none());
    let refused = database.changes("0-1-99999").err().unwrap();
    assert!(refused.to_string().contains("0-1-99999"), "{refused}");
    assert!(database.changes("nonsense").is_err());
}

#[test]
fn changes_before_an_alter_table_have_the_types_of_their_time() {
    let directory = tempfile::tempdir().unwrap();
    let (database, mut session) = open(&directory);
    session
        .execute("SET GLOBAL binlog_row_metadata = FULL", ())
        .unwrap();
    session.execute("CREATE DATABASE d", ()).unwrap();
    session
        .execute(
            "CREATE TABLE d.t (id INT UNSIGNED PRIMARY KEY, v VARCHAR(10))",
            (),
        )
        .unwrap();
    let position = database.position();
    session.insert(&session.table("d.t").unwrap(), (1, "a")).unwrap();
    session
        .execute(
            "ALTER TABLE d.t ADD COLUMN first INT NOT NULL DEFAULT 7 FIRST",
            (),
        )
        .unwrap();
    session
        .insert(&session.table("d.t").unwrap(), (8, 2, "b"))
        .unwrap();
    let mut changes = database.changes(&position).unwrap();
    assert_eq!(next(&mut changes), [r#"d.t ["id", "v"] - [UInt(1), Text("a")]"#]);
    assert_eq!(next(&mut changes).len(), 1);
    assert_eq!(
        next(&mut changes),
        [r#"d.t ["first", "id", "v"] - [Int(8), UInt(2), Text("b")]"#]
    );
}

#[test]
fn a_change_stream_is_a_future_of_any_runtime() {
    let directory = tempfile::tempdir().unwrap();
    let (database, mut session) = open(&directory);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let mut changes = database.changes("").unwrap();
    let writer = std::thread::spawn(move || session.execute("CREATE DATABASE d", ()).unwrap());
    let transaction = runtime.block_on(changes.next_async()).unwrap();
    assert_eq!(transaction.gtid().to_string(), changes.position());
    writer.join().unwrap();
}
