//! Open, close, crash, listen, follow.

use paceline_embedded::{Database, Error, ErrorKind, ListenAddress, Options, Session, Value};
use paceline_wire::client::{Client, ConnectOptions};
use paceline_wire::socket::Socket;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Names the directory for the child process of a test.
const CHILD_DIRECTORY: &str = "PACELINE_TEST_CHILD_DIRECTORY";

fn options() -> Options {
    Options::new().argument("--initialize-insecure")
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
}

fn count(session: &mut Session, table: &str) -> Value {
    session
        .query(&format!("SELECT COUNT(*) FROM {table}"), ())
        .unwrap()
        .rows[0][0]
        .clone()
}

#[test]
fn a_directory_is_opened_again_after_its_close() {
    let directory = tempfile::tempdir().unwrap();
    for round in 0..3 {
        let database = Database::open(directory.path(), options()).unwrap();
        let mut session = database.session().unwrap();
        session.execute("CREATE DATABASE IF NOT EXISTS d", ()).unwrap();
        session
            .execute("CREATE TABLE IF NOT EXISTS d.t (a INT PRIMARY KEY)", ())
            .unwrap();
        let table = session.table("d.t").unwrap();
        session.insert(&table, (round,)).unwrap();
        drop(session);
        database.close().unwrap();
    }
    let database = Database::open(directory.path(), options()).unwrap();
    assert_eq!(count(&mut database.session().unwrap(), "d.t"), Value::Int(3));
}

#[test]
fn a_directory_has_one_owner_also_within_a_process() {
    let directory = tempfile::tempdir().unwrap();
    let impatient = || options().lock_patience(Duration::ZERO);
    let first = Database::open(directory.path(), impatient()).unwrap();
    let refused = Database::open(directory.path(), impatient()).err().unwrap();
    assert!(
        refused.to_string().contains("is in use by another server"),
        "{refused}"
    );
    let session = first.session().unwrap();
    assert!(matches!(first.close(), Err(Error::InUse)));
    // The session is the last that uses it.
    drop(session);
    Database::open(directory.path(), impatient())
        .unwrap()
        .close()
        .unwrap();
}

#[test]
fn wrong_options_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    for (option, value, wanted) in [
        ("no-such-option", "1", "unknown option '--no-such-option'"),
        (
            "log-error",
            "errors",
            "is for a server that is a process of its own",
        ),
    ] {
        let refused = Database::open(directory.path(), options().set(option, value))
            .err()
            .unwrap();
        assert!(refused.to_string().contains(wanted), "{refused}");
    }
    // Nothing remains locked.
    Database::open(directory.path(), options()).unwrap();
}

/// Commits rows, and says so after each of them, until it is killed.
#[test]
#[ignore = "the child of the next test"]
fn child_that_commits() {
    let directory = std::env::var(CHILD_DIRECTORY).unwrap();
    let database = Database::open(directory, options()).unwrap();
    let mut session = database.session().unwrap();
    session.execute("CREATE DATABASE d", ()).unwrap();
    session
        .execute("CREATE TABLE d.t (a INT PRIMARY KEY)", ())
        .unwrap();
    let table = session.table("d.t").unwrap();
    for number in 0.. {
        session.insert(&table, (number,)).unwrap();
        // The harness captures println.
        writeln!(std::io::stderr(), "committed {number}").unwrap();
    }
}

#[test]
fn what_a_killed_process_has_committed_is_there() {
    let directory = tempfile::tempdir().unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "lifecycle::child_that_commits",
            "--ignored",
            "--nocapture",
        ])
        .env(CHILD_DIRECTORY, directory.path())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut committed = lines.map_while(Result::ok).filter_map(|line| {
        line.strip_prefix("committed ")
            .and_then(|number| number.parse::<i64>().ok())
    });
    assert_eq!(committed.by_ref().take(50).last(), Some(49));
    let impatient = options().lock_patience(Duration::ZERO);
    let refused = Database::open(directory.path(), impatient).err().unwrap();
    assert!(
        refused.to_string().contains(&format!("process {}", child.id())),
        "{refused}"
    );
    child.kill().unwrap();
    let last = committed.last().unwrap_or(49);
    child.wait().unwrap();
    let patient = options().lock_patience(Duration::from_secs(60));
    let database = Database::open(directory.path(), patient).unwrap();
    let mut session = database.session().unwrap();
    let table = session.table("d.t").unwrap();
    for number in 0..=last {
        let found: Option<i64> = session.get(&table, (number,), |row| row.get(0)).unwrap();
        assert_eq!(found, Some(number));
    }
}

#[test]
fn a_client_looks_in_through_a_socket_that_is_switched_on() {
    let directory = tempfile::tempdir().unwrap();
    let database = Database::open(directory.path().join("data"), options()).unwrap();
    let mut session = database.session().unwrap();
    session.execute("CREATE DATABASE d", ()).unwrap();
    session
        .execute("CREATE TABLE d.t (a INT PRIMARY KEY)", ())
        .unwrap();
    let table = session.table("d.t").unwrap();
    let path = directory.path().join("look-in.sock");
    let login = ConnectOptions {
        user: "root".to_owned(),
        ..ConnectOptions::default()
    };
    runtime().block_on(async {
        assert!(Client::connect_unix(&path, &login).await.is_err());
        database.listen(ListenAddress::Socket(path.clone())).unwrap();
        let mut client = Client::connect_unix(&path, &login).await.unwrap();
        session.insert(&table, (5,)).unwrap();
        assert_eq!(
            client.rows("SELECT a FROM d.t").await.unwrap(),
            [[Some("5".to_owned())]]
        );
        database.stop_listening();
        assert!(!path.exists());
        // The connection goes on, a new one is not accepted.
        assert_eq!(
            client.rows("SELECT @@skip_networking").await.unwrap(),
            [[Some("1".to_owned())]]
        );
        assert!(Client::connect_unix(&path, &login).await.is_err());
        let refused = client.rows("SHUTDOWN").await.unwrap_err();
        assert!(refused.to_string().contains("embedded server"), "{refused}");
    });
}

#[test]
fn a_connection_within_the_process_is_the_administrators() {
    let directory = tempfile::tempdir().unwrap();
    let database = Database::open(directory.path(), Options::new()).unwrap();
    let stream = database.connect().unwrap();
    stream.set_nonblocking(true).unwrap();
    runtime().block_on(async {
        let socket = Socket::unix(tokio::net::UnixStream::from_std(stream).unwrap());
        let login = ConnectOptions {
            user: "anybody".to_owned(),
            ..ConnectOptions::default()
        };
        let mut client = Client::handshake(socket, &login).await.unwrap();
        let row = client.rows("SELECT USER(), CURRENT_USER()").await.unwrap();
        assert_eq!(
            row,
            [[
                Some("anybody@localhost".to_owned()),
                Some("root@localhost".to_owned())
            ]]
        );
        client
            .rows("CREATE USER looker@localhost IDENTIFIED BY 'secret'")
            .await
            .unwrap();
        client.rows("SHOW DATABASES").await.unwrap();
    });
    // Open connections do not keep it open.
    database.close().unwrap();
}

#[test]
fn sessions_work_within_a_programs_runtime() {
    let directory = tempfile::tempdir().unwrap();
    runtime().block_on(async {
        let database = Database::open(directory.path(), options()).unwrap();
        let mut session = database.async_session().unwrap();
        session
            .call(|session| session.execute("CREATE DATABASE d", ()))
            .await
            .unwrap();
        let refused = session
            .call(|session| session.execute("CREATE DATABASE d", ()))
            .await
            .unwrap_err();
        assert_eq!(
            (refused.number(), refused.sqlstate()),
            (Some(1007), Some("HY000"))
        );
        drop(session);
        database.close().unwrap();
    });
}

#[test]
fn kill_ends_a_session_of_the_program() {
    let directory = tempfile::tempdir().unwrap();
    let database = Database::open(directory.path(), options()).unwrap();
    let (mut first, mut second) = (database.session().unwrap(), database.session().unwrap());
    let id = first.query("SELECT CONNECTION_ID()", ()).unwrap().rows[0][0].clone();
    let shown = second.query(
        "SELECT COUNT(*) FROM information_schema.processlist WHERE id = ?",
        (id.clone(),),
    );
    assert_eq!(shown.unwrap().rows[0][0], Value::Int(1));
    let Value::Int(number) = id else {
        panic!("{id:?} is no number")
    };
    second.execute(&format!("KILL {number}"), ()).unwrap();
    let killed = first.query("SELECT 1", ()).unwrap_err();
    assert_eq!(killed.kind(), ErrorKind::Interrupted);
}

#[test]
fn a_replica_follows_an_embedded_primary() {
    let directory = tempfile::tempdir().unwrap();
    let open = |name: &str, id: &str| {
        let options = options().set("server-id", id).argument("--skip-ssl");
        Database::open(directory.path().join(name), options).unwrap()
    };
    let (primary, replica) = (open("primary", "1"), open("replica", "2"));
    let address = ListenAddress::Tcp {
        address: "127.0.0.1".to_owned(),
        port: 0,
    };
    let ListenAddress::Tcp { port, .. } = primary.listen(address).unwrap() else {
        unreachable!()
    };
    let mut writer = primary.session().unwrap();
    writer
        .execute("CREATE USER r@'127.0.0.1' IDENTIFIED BY 'secret'", ())
        .unwrap();
    writer
        .execute("GRANT REPLICATION SLAVE ON *.* TO r@'127.0.0.1'", ())
        .unwrap();
    writer.execute("CREATE DATABASE d", ()).unwrap();
    writer
        .execute("CREATE TABLE d.t (a INT PRIMARY KEY)", ())
        .unwrap();
    let table = writer.table("d.t").unwrap();
    writer
        .insert_all(&table, (0..100).map(|number| (number,)))
        .unwrap();
    let mut reader = replica.session().unwrap();
    let change = format!(
        "CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = {port}, MASTER_USER = 'r', MASTER_PASSWORD = 'secret', \
         MASTER_USE_GTID = slave_pos, MASTER_SSL = 0"
    );
    reader.execute(&change, ()).unwrap();
    reader.execute("START SLAVE", ()).unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    while reader.table("d.t").is_err() || count(&mut reader, "d.t") != Value::Int(100) {
        assert!(Instant::now() < deadline, "the replica has not followed");
        // The condition is in another server, which does not wake this thread.
        std::thread::sleep(Duration::from_millis(10));
    }
}
