//! The ANALYZE statement: it executes the statement and shows what was read.

mod harness;

use harness::Server;

fn server() -> Server {
    let mut server = Server::new();
    for text in [
        "CREATE DATABASE test",
        "CREATE TABLE test.t (id INT PRIMARY KEY, a INT, KEY a (a))",
        "CREATE TABLE test.u (id INT PRIMARY KEY, b INT)",
    ] {
        server.run(text).result.expect("made");
    }
    server.use_database("test");
    for id in 0..20 {
        let text = format!("INSERT INTO t VALUES ({id}, {})", id % 10);
        server.run(&text).result.expect("inserted");
    }
    server
        .run("INSERT INTO u VALUES (0, 0), (1, 1), (2, 2)")
        .result
        .expect("inserted");
    server
}

/// Returns the columns table, r_rows and r_filtered of each line.
fn measured(server: &mut Server, text: &str) -> Vec<String> {
    let answer = server.run(text);
    answer.result.expect("analyzed");
    let columns = answer.columns.expect("columns");
    let places = ["table", "r_rows", "r_filtered"].map(|name| {
        let column = columns.iter().position(|column| &*column.name == name);
        column.expect("a column of ANALYZE")
    });
    let rows = answer.rows.iter();
    rows.map(|row| {
        let values: Vec<&str> = row.split('\t').collect();
        places.map(|place| values[place]).join(" ")
    })
    .collect()
}

#[test]
fn rows_are_counted_with_those_that_conditions_reject() {
    let mut server = server();
    assert_eq!(
        measured(&mut server, "ANALYZE SELECT * FROM t WHERE a + 0 < 3"),
        ["t 20.00 30.00"]
    );
    assert_eq!(
        measured(
            &mut server,
            "ANALYZE SELECT a FROM t WHERE a IN (1, 2) AND id + 0 < 10"
        ),
        ["t 4.00 50.00"]
    );
    assert_eq!(
        measured(&mut server, "ANALYZE SELECT * FROM t WHERE id = 5"),
        ["t 1.00 100.00"]
    );
}

#[test]
fn rows_of_an_inner_table_are_an_average_of_its_loops() {
    let mut server = server();
    assert_eq!(
        measured(
            &mut server,
            "ANALYZE SELECT STRAIGHT_JOIN * FROM u JOIN t ON t.a = u.b"
        ),
        ["u 3.00 100.00", "t 2.00 100.00"]
    );
}

#[test]
fn tables_that_are_not_read_have_no_measurements() {
    let mut server = server();
    assert_eq!(
        measured(
            &mut server,
            "ANALYZE SELECT STRAIGHT_JOIN * FROM u JOIN t ON t.a = u.b WHERE u.id > 100"
        ),
        ["u 0.00 100.00", "t NULL NULL"]
    );
}

#[test]
fn changes_are_made() {
    let mut server = server();
    assert_eq!(
        measured(&mut server, "ANALYZE UPDATE t SET a = 100 WHERE id < 4"),
        ["t 4.00 100.00"]
    );
    measured(&mut server, "ANALYZE DELETE FROM u WHERE id = 1");
    measured(&mut server, "ANALYZE INSERT INTO u SELECT id + 10, b FROM u");
    assert_eq!(server.run("SELECT COUNT(*) FROM t WHERE a = 100").rows, ["4"]);
    assert_eq!(
        server.run("SELECT id FROM u ORDER BY id").rows,
        ["0", "2", "10", "12"]
    );
}

#[test]
fn the_document_has_times() {
    let mut server = server();
    let answer = server.run("ANALYZE FORMAT=JSON SELECT * FROM t WHERE a + 0 < 3");
    assert_eq!(&*answer.columns.expect("a column")[0].name, "ANALYZE");
    let text = &answer.rows[0];
    for member in ["r_loops", "r_total_time_ms", "r_table_time_ms", "r_other_time_ms"] {
        assert!(text.contains(member), "{member} in {text}");
    }
    assert!(
        text.contains("\"r_rows\": 20") && text.contains("\"r_filtered\": 30"),
        "{text}"
    );
}

/// Returns the document of ANALYZE FORMAT=JSON.
fn document(server: &mut Server, text: &str) -> String {
    let answer = server.run(&format!("ANALYZE FORMAT=JSON {text}"));
    answer.result.expect("analyzed");
    answer.rows[0].clone()
}

#[test]
fn the_document_has_the_memory_of_each_operation_that_collects_rows() {
    let mut server = server();
    for (text, members) in [
        (
            "SELECT * FROM t ORDER BY a + 0",
            &[
                "read_sorted_file",
                "\"sort_key\": \"t.a + 0\"",
                "r_buffer_size",
                "\"r_output_rows\": 20",
            ][..],
        ),
        (
            "SELECT * FROM t ORDER BY a + 0 LIMIT 3",
            &[
                "\"r_limit\": 3",
                "\"r_used_priority_queue\": true",
                "\"r_rows\": 3",
            ],
        ),
        (
            "SELECT id + 0, COUNT(*) FROM t GROUP BY id + 0",
            &["temporary_table", "r_memory", "\"sort_key\": \"t.id + 0\""],
        ),
        ("SELECT DISTINCT id + 0 FROM t", &["temporary_table", "r_memory"]),
        (
            "SELECT STRAIGHT_JOIN * FROM u JOIN t ON t.a + 0 = u.b + 0",
            &["block-nl-join", "buffer_size", "\"r_effective_rows\": 2"],
        ),
        (
            "SELECT * FROM (SELECT DISTINCT b FROM u LIMIT 2) d",
            &["materialized", "r_memory"],
        ),
        (
            "SELECT RANK() OVER (ORDER BY a) FROM t",
            &["window_functions_computation", "r_memory", "r_buffer_size"],
        ),
        ("SELECT COUNT(DISTINCT a) FROM t", &["r_memory"]),
        ("SELECT 1 UNION SELECT b FROM u", &["union_result", "r_memory"]),
        (
            "UPDATE t SET a = a + 1 ORDER BY a + 0",
            &["filesort", "r_buffer_size"],
        ),
    ] {
        let document = document(&mut server, text);
        for member in members {
            assert!(document.contains(member), "{member} in {document}");
        }
    }
}

#[test]
fn explain_analyze_is_analyze() {
    let mut server = server();
    assert_eq!(
        measured(&mut server, "EXPLAIN ANALYZE SELECT * FROM t WHERE a + 0 < 3"),
        ["t 20.00 30.00"]
    );
    let answer = server.run("EXPLAIN ANALYZE FORMAT=JSON SELECT * FROM t");
    answer.result.expect("analyzed");
    assert!(answer.rows[0].contains("\"r_rows\": 20"));
    let unknown = server.run("EXPLAIN ANALYZE FORMAT=TREE SELECT * FROM t");
    assert_eq!(unknown.result.expect_err("refused").code().number(), 1791);
}

#[test]
fn joins_beyond_max_join_size_are_refused() {
    let mut server = server();
    server.session.settings.join_rows_max = 50;
    assert!(server.run("SELECT COUNT(*) FROM t, u").result.is_err());
    assert!(server.run("SELECT COUNT(*) FROM t").result.is_ok());
    assert!(server.run("EXPLAIN SELECT COUNT(*) FROM t, u").result.is_ok());
    assert!(
        server
            .run("INSERT INTO u SELECT 100 + t.id, 1 FROM t, u")
            .result
            .is_err()
    );
}
