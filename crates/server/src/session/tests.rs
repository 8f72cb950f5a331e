//! Tests of whole sessions: commands through the protocol, and the packets of replies.

use super::testing::{TestServer, packets_of};
use paceline_expression::session::{ServerFunctions, WaitOutcome};
use paceline_wire::Capabilities;
use paceline_wire::client::QueryResult;
use paceline_wire::response::{ReceivedOk, Status};

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_panics_is_removed() {
    let test = TestServer::new();
    let server = test.server.clone();
    let (mut session, _client) = test.session();
    session.prepare(b"SELECT 1".to_vec());
    session.prepare(b"SELECT ?".to_vec());
    let locked = session
        .state
        .services
        .get_lock(&session.state.context, "a", 0.0)
        .unwrap();
    assert_eq!(locked, WaitOutcome::Done);
    assert_eq!((server.prepared_statements(), server.sessions.count()), (2, 1));
    let ended = tokio::spawn(async move {
        let _session = session;
        panic!("as a defect would");
    });
    assert!(ended.await.unwrap_err().is_panic());
    assert_eq!((server.prepared_statements(), server.sessions.count()), (0, 0));
    assert!(server.user_locks.lock().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn every_kind_of_statement_has_its_reply() {
    let test = TestServer::new();
    let mut session = test.internal();
    let table = "CREATE TABLE t (id int PRIMARY KEY, v varchar(9))";
    session.execute_all(&["CREATE DATABASE d", "USE d", table]).await;
    // First bytes of the reply's first packet: OK, a number of columns, or an error.
    for (text, first) in [
        ("INSERT INTO t VALUES (1, 'a'), (2, 'b')", 0),
        ("SELECT id, v FROM t", 2),
        ("DO 1", 0),
        ("EXPLAIN SELECT 1", 10),
        ("BEGIN", 0),
        ("SAVEPOINT s", 0),
        ("COMMIT", 0),
        ("SET @a = 1", 0),
        ("SET STATEMENT max_statement_time = 9 FOR SELECT 1", 1),
        ("SHOW DATABASES", 1),
        ("SHOW WARNINGS", 3),
        ("SHOW CREATE TABLE t", 2),
        ("SHOW GRANTS FOR root@localhost", 1),
        ("SHOW MASTER STATUS", 4),
        ("SHOW SLAVE STATUS", 54),
        ("SHOW ALL SLAVES STATUS", 62),
        ("CREATE USER u", 0),
        ("PREPARE p FROM 'SELECT ?'", 0),
        ("EXECUTE p USING @a", 1),
        ("EXECUTE IMMEDIATE 'SELECT 1, 2'", 2),
        ("DEALLOCATE PREPARE p", 0),
        ("CHECK TABLE t", 4),
        ("ANALYZE TABLE t", 4),
        ("CHECKSUM TABLE t", 2),
        ("KILL QUERY 4000000000", 0xFF),
        ("FLUSH STATUS", 0),
        ("PURGE BINARY LOGS TO 'binlog.000001'", 0),
        ("LOCK TABLES t READ", 0),
        ("UNLOCK TABLES", 0),
        ("HELP 'x'", 3),
        ("LOAD DATA INFILE '/no/such/file' INTO TABLE t", 0xFF),
        ("BINLOG 'x'", 0xFF),
        (
            "CHANGE MASTER 'c' TO MASTER_HOST='h', MASTER_USE_GTID=slave_pos",
            0,
        ),
        ("STOP SLAVE 'c'", 0),
        ("RESET SLAVE 'c' ALL", 0),
        ("/* nothing */", 0),
        ("", 0xFF),
        ("CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW SET @a = 1", 0),
        ("CREATE PROCEDURE p() SET @a = 1", 0),
        ("CALL p()", 0),
        ("CREATE FULLTEXT INDEX i ON t (a)", 0xFF),
        ("DROP TABLE t", 0),
    ] {
        let packets = session.packets(text).await;
        assert_eq!(packets[0][0], first, "{text}: {packets:?}");
    }
    assert!(!session.state().transaction.is_active());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_process_list_shows_no_password_of_a_refused_statement() {
    let test = TestServer::new();
    let (mut session, _client) = test.session();
    let refused = "CREATE USER a IDENTIFIED BY 's' typo";
    let masked = "CREATE USER a IDENTIFIED '*****'";
    for (text, shown) in [
        (refused, masked),
        ("PREPARE p FROM 'SET PASSWORD = ''s'''", "PREPARE p FROM '*****'"),
        ("SELECT 's' FROM", "SELECT 's' FROM"),
    ] {
        session.query(text.into()).await.unwrap();
        let activity = session.state.shared.activity();
        assert_eq!(String::from_utf8_lossy(&activity.text), shown);
    }
    // COM_STMT_PREPARE.
    let shown = session.state.shown_before_parsing(refused.as_bytes());
    assert_eq!(String::from_utf8_lossy(&shown), masked);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ok_packet_has_counts_status_and_text() {
    let test = TestServer::new();
    let mut session = test.internal();
    let table = "CREATE TABLE t (id int PRIMARY KEY)";
    session.execute_all(&["CREATE DATABASE d", "USE d", table]).await;
    session.connection().capabilities = Capabilities::SERVER;
    let ok = |packets: Vec<Vec<u8>>| ReceivedOk::decode(&packets[0], Capabilities::SERVER).unwrap();
    let inserted = ok(session.packets("INSERT INTO t VALUES (1), (2), (3)").await);
    assert_eq!(inserted.affected_rows, 3);
    assert_eq!(inserted.info, "Records: 3  Duplicates: 0  Warnings: 0");
    assert!(inserted.status.has(Status::AUTOCOMMIT) && !inserted.status.has(Status::IN_TRANSACTION));
    let begun = ok(session.packets("START TRANSACTION READ ONLY").await);
    assert!(begun.status.has(Status::IN_TRANSACTION) && begun.status.has(Status::IN_READ_ONLY_TRANSACTION));
    // The status belongs to the settings of the statement, also within SET STATEMENT.
    let quoted = session
        .packets("SET STATEMENT sql_mode = 'ANSI_QUOTES' FOR COMMIT")
        .await;
    assert!(ok(quoted).status.has(Status::ANSI_QUOTES));
    assert!(!ok(session.packets("DO 1").await).status.has(Status::ANSI_QUOTES));
    let warned = ok(session.packets("DROP TABLE IF EXISTS a, b").await);
    assert_eq!(warned.warnings, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_is_a_packet_and_a_condition() {
    let test = TestServer::new();
    let mut session = test.internal();
    let packets = session.packets("SELECT * FROM d.missing").await;
    let text = "Table 'd.missing' doesn't exist";
    assert_eq!(
        packets,
        [[&[0xFF, 0x7A, 0x04][..], b"#42S02", text.as_bytes()].concat()]
    );
    assert_eq!(session.state().context.row_count, -1);
    // A SHOW of the diagnostics does not change them.
    for _ in 0..2 {
        let shown = session.packets("SHOW ERRORS").await;
        let row = &shown[shown.len() - 2];
        assert!(row.ends_with(text.as_bytes()), "{row:?}");
    }
    session.packets("SELECT 1 FROM mysql.user").await;
    assert!(session.state().context.diagnostics.conditions().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_of_the_protocol_are_answered() {
    let test = TestServer::new();
    let mut client = test.client().await;
    client.ping().await.unwrap();
    client.query("CREATE DATABASE d").await.unwrap();
    // COM_INIT_DB, COM_STATISTICS, COM_RESET_CONNECTION.
    client.command(b"\x02d").await.unwrap();
    assert_eq!(
        client.rows("SELECT database()").await.unwrap(),
        [[Some("d".to_owned())]]
    );
    client.send(b"\x09").await.unwrap();
    assert!(client.receive().await.unwrap().starts_with(b"Uptime: "));
    client.query("SET @a = 1").await.unwrap();
    client.command(b"\x1f").await.unwrap();
    assert_eq!(
        client.rows("SELECT @a, database()").await.unwrap(),
        [[None, Some("d".to_owned())]]
    );
    // An unknown command and a malformed one.
    for (command, number) in [(&b"\xF0"[..], 1047), (b"\x17\x01", 1835)] {
        client.send(command).await.unwrap();
        let answer = client.receive().await.unwrap();
        assert_eq!(answer[..3], [0xFF, (number & 255) as u8, (number >> 8) as u8]);
    }
    client.ping().await.unwrap();
    client.quit().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prepared_statement_is_planned_again_after_a_change() {
    let test = TestServer::new();
    let mut client = test.client().await;
    for text in [
        "CREATE DATABASE d",
        "USE d",
        "CREATE TABLE t (a int)",
        "INSERT INTO t VALUES (1)",
    ] {
        client.query(text).await.unwrap();
    }
    let prepared = client.prepare("SELECT * FROM t").await.unwrap();
    let columns = |results: &[QueryResult]| match &results[0] {
        QueryResult::Rows(rows) => rows.columns.len(),
        QueryResult::Ok(_) => 0,
    };
    assert_eq!(columns(&client.execute(&prepared, &[]).await.unwrap()), 1);
    client.query("ALTER TABLE t ADD b int").await.unwrap();
    assert_eq!(columns(&client.execute(&prepared, &[]).await.unwrap()), 2);
    assert_eq!(test.server.prepared_statements(), 1);
    client.quit().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn commit_release_ends_the_connection_after_its_reply() {
    let test = TestServer::new();
    let mut client = test.client().await;
    client.query("BEGIN").await.unwrap();
    client.query("COMMIT RELEASE").await.unwrap();
    assert!(client.ping().await.is_err());
}

#[test]
fn packets_are_split_at_their_headers() {
    assert_eq!(
        packets_of(b"\x01\0\0\0a\x02\0\0\x01bc"),
        [b"a".to_vec(), b"bc".to_vec()]
    );
}

/// Checks that the functions for statements receive only what they need.
#[test]
fn no_statement_module_uses_the_session() {
    let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/session/statements");
    let mut folders = vec![directory];
    let mut count = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            let names = text.split(|c: char| !c.is_alphanumeric() && c != '_');
            let uses = names.filter(|name| *name == "Session").count();
            // `VariableScope::Session` and `TransactionScope::Session` are scopes.
            let ends = |(at, scope): (usize, &str)| {
                let next = text[at + scope.len()..].chars().next();
                next.is_none_or(|c| !c.is_alphanumeric())
            };
            let scopes = text
                .match_indices("Scope::Session")
                .filter(|found| ends(*found))
                .count();
            assert_eq!(uses, scopes, "{}", path.display());
            count += 1;
        }
    }
    assert!(count > 20);
}
