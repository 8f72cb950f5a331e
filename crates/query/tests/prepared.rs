//! Plans that are executed several times with parameters of several types, and their access paths.

mod harness;

use harness::Server;
use paceline_query::execute::{Outcome, RowSink};
use paceline_query::plan::{Plan, ResultColumn};
use paceline_syntax::{ParseOptions, parse_first};
use paceline_types::Value;

#[derive(Default)]
struct Rows(Vec<Vec<Value>>);

impl RowSink for Rows {
    fn columns(&mut self, _columns: &[ResultColumn]) -> paceline_syntax::Result<()> {
        Ok(())
    }

    fn row(&mut self, row: &[Value]) -> paceline_syntax::Result<()> {
        self.0.push(row.to_vec());
        Ok(())
    }
}

fn server() -> Server {
    let mut server = Server::new();
    for text in [
        "CREATE DATABASE test",
        "CREATE TABLE test.t (id INT PRIMARY KEY, a INT, s VARCHAR(20), KEY a (a), KEY s (s))",
    ] {
        server.run(text).result.expect("made");
    }
    server.use_database("test");
    for id in 0..50 {
        let text = format!("INSERT INTO t VALUES ({id}, {}, 's{}')", id % 10, id % 7);
        server.run(&text).result.expect("inserted");
    }
    server
}

fn prepare(server: &Server, text: &str) -> Plan {
    let parsed = parse_first(text.as_bytes(), &ParseOptions::default()).expect("a statement");
    server.plan(&parsed.statement).expect("a plan")
}

fn ids(server: &mut Server, plan: &Plan, parameters: &[Value]) -> Vec<i64> {
    let mut rows = Rows::default();
    let outcome: Outcome = server.execute(plan, "", parameters, &mut rows).expect("executed");
    assert_eq!(outcome.rows_sent, rows.0.len() as u64);
    let mut ids: Vec<i64> = rows
        .0
        .iter()
        .map(|row| match row[0] {
            Value::Int(id) => id,
            ref other => panic!("an id, and not {other:?}"),
        })
        .collect();
    ids.sort_unstable();
    ids
}

#[test]
fn a_point_read_takes_any_type() {
    let mut server = server();
    let plan = prepare(&server, "SELECT id FROM t WHERE id = ?");
    assert_eq!(plan.parameter_count(), 1);
    for (value, expected) in [
        (Value::Int(7), vec![7]),
        (Value::UInt(7), vec![7]),
        (Value::from("7"), vec![7]),
        (Value::Double(7.0), vec![7]),
        (Value::Double(7.5), vec![]),
        (Value::Int(1_000_000_000_000), vec![]),
        (Value::Null, vec![]),
    ] {
        assert_eq!(
            ids(&mut server, &plan, std::slice::from_ref(&value)),
            expected,
            "{value:?}"
        );
    }
}

#[test]
fn ranges_are_computed_for_each_execution() {
    let mut server = server();
    let plan = prepare(&server, "SELECT id FROM t WHERE id BETWEEN ? AND ?");
    assert_eq!(
        ids(&mut server, &plan, &[Value::Int(3), Value::Int(5)]),
        [3, 4, 5]
    );
    assert_eq!(
        ids(&mut server, &plan, &[Value::Double(2.5), Value::from("4")]),
        [3, 4]
    );
    assert_eq!(
        ids(&mut server, &plan, &[Value::Int(5), Value::Int(3)]),
        [0i64; 0]
    );
    assert_eq!(ids(&mut server, &plan, &[Value::Null, Value::Int(3)]), [0i64; 0]);
    let plan = prepare(&server, "SELECT id FROM t WHERE a = ? AND id < ?");
    assert_eq!(
        ids(&mut server, &plan, &[Value::Int(3), Value::Int(25)]),
        [3, 13, 23]
    );
    let plan = prepare(&server, "SELECT id FROM t WHERE s = ? AND id < 10");
    assert_eq!(ids(&mut server, &plan, &[Value::from("S1")]), [1, 8]);
    // Compared as numbers, 0 is equal to every text that does not begin with a number. An index on text does not find
    // these.
    assert_eq!(ids(&mut server, &plan, &[Value::Int(0)]).len(), 10);
    let plan = prepare(&server, "SELECT id FROM t WHERE id IN (?, ?, ?) LIMIT ?");
    let parameters = [Value::Int(4), Value::Int(4), Value::Int(9), Value::Int(5)];
    assert_eq!(ids(&mut server, &plan, &parameters), [4, 9]);
}

#[test]
fn changes_see_the_parameters_of_their_execution() {
    let mut server = server();
    let plan = prepare(&server, "UPDATE t SET a = ? WHERE id = ?");
    for (a, id) in [(100, 1), (200, 2)] {
        let mut rows = Rows::default();
        let outcome = server
            .execute(&plan, "", &[Value::Int(a), Value::Int(id)], &mut rows)
            .expect("updated");
        assert_eq!(
            (outcome.affected_rows, outcome.info.as_str()),
            (1, "Rows matched: 1  Changed: 1  Warnings: 0")
        );
    }
    let outcome = server
        .execute(&plan, "", &[Value::Int(200), Value::Int(2)], &mut Rows::default())
        .expect("updated");
    assert_eq!(outcome.affected_rows, 0);
    let plan = prepare(&server, "SELECT id FROM t WHERE a >= ?");
    assert_eq!(ids(&mut server, &plan, &[Value::Int(100)]), [1, 2]);
    let plan = prepare(&server, "DELETE FROM t WHERE a = ?");
    let outcome = server
        .execute(&plan, "", &[Value::Int(100)], &mut Rows::default())
        .expect("deleted");
    assert_eq!(outcome.affected_rows, 1);
}

#[test]
fn a_plan_is_current_until_its_table_changes() {
    let mut server = server();
    let plan = prepare(&server, "SELECT * FROM t");
    assert!(plan.is_current(&server.handle.load()));
    server
        .run("CREATE TABLE other (id INT PRIMARY KEY)")
        .result
        .expect("made");
    assert!(
        plan.is_current(&server.handle.load()),
        "another table is nothing to it"
    );
    server
        .run("ALTER TABLE t ADD COLUMN more INT")
        .result
        .expect("altered");
    assert!(!plan.is_current(&server.handle.load()));
}

/// Returns the numbers of all rows, in the order of the result.
fn numbers(server: &mut Server, plan: &Plan, parameters: &[Value]) -> Vec<Vec<i64>> {
    let mut rows = Rows::default();
    server.execute(plan, "", parameters, &mut rows).expect("executed");
    let number = |value: &Value| match value {
        Value::Int(number) => *number,
        other => panic!("a number, and not {other:?}"),
    };
    (rows.0.iter())
        .map(|row| row.iter().map(number).collect())
        .collect()
}

#[test]
fn an_index_on_text_orders_texts_only() {
    let mut server = server();
    for text in [
        "CREATE TABLE w (id INT PRIMARY KEY, v VARCHAR(10), b INT, n INT, KEY vb (v, b), KEY nb (n, b))",
        "INSERT INTO w VALUES (1,'1',30,1),(2,'1',10,1),(3,'1',20,1),(4,'2',5,2),(5,'01',10,1),(6,'1',30,1)",
    ] {
        server.run(text).result.expect("made");
    }
    let text = [Value::from("1")];
    let number = [Value::Int(1)];
    let plan = prepare(&server, "SELECT id FROM w WHERE v = ? ORDER BY b, id");
    assert_eq!(numbers(&mut server, &plan, &text), [[2], [3], [1], [6]]);
    assert_eq!(numbers(&mut server, &plan, &number), [[2], [5], [3], [1], [6]]);
    assert_eq!(numbers(&mut server, &plan, &[Value::Null]).len(), 0);
    let plan = prepare(
        &server,
        "SELECT id FROM w WHERE v = ? ORDER BY b DESC, id DESC LIMIT 2",
    );
    assert_eq!(numbers(&mut server, &plan, &text), [[6], [1]]);
    assert_eq!(numbers(&mut server, &plan, &number), [[6], [1]]);
    let plan = prepare(&server, "SELECT id FROM w WHERE v = ? AND b > 10 ORDER BY b, id");
    assert_eq!(numbers(&mut server, &plan, &text), [[3], [1], [6]]);
    assert_eq!(numbers(&mut server, &plan, &number), [[3], [1], [6]]);
    let plan = prepare(&server, "SELECT b, COUNT(*) FROM w WHERE v = ? GROUP BY b");
    assert_eq!(numbers(&mut server, &plan, &text), [[10, 1], [20, 1], [30, 2]]);
    assert_eq!(numbers(&mut server, &plan, &number), [[10, 2], [20, 1], [30, 2]]);
    let plan = prepare(&server, "SELECT MIN(b), MAX(b) FROM w WHERE v = ?");
    assert_eq!(numbers(&mut server, &plan, &text), [[10, 30]]);
    assert_eq!(numbers(&mut server, &plan, &number), [[10, 30]]);
    assert_eq!(numbers(&mut server, &plan, &[Value::Int(2)]), [[5, 5]]);
    let plan = prepare(&server, "SELECT id FROM w WHERE n = ? ORDER BY b, id");
    for one in [Value::Int(1), Value::from("1"), Value::Double(1.0)] {
        assert_eq!(numbers(&mut server, &plan, &[one]), [[2], [5], [3], [1], [6]]);
    }
    let plan = prepare(
        &server,
        "UPDATE w SET n = 9 WHERE v = ? ORDER BY b DESC, id LIMIT 1",
    );
    server
        .execute(&plan, "", &number, &mut Rows::default())
        .expect("updated");
    let plan = prepare(&server, "SELECT id FROM w WHERE n = 9");
    assert_eq!(numbers(&mut server, &plan, &[]), [[1]]);
}

#[test]
fn changes_with_limit_take_the_first_rows_for_both_kinds_of_value() {
    let mut server = server();
    for text in [
        "CREATE TABLE w (id INT PRIMARY KEY, v VARCHAR(10), b INT, n INT DEFAULT 0, KEY vb (v, b))",
        "INSERT INTO w (id, v, b) VALUES (1,'01',20),(2,'1',30),(3,'1',10),(4,'1',40),(5,'001',15)",
    ] {
        server.run(text).result.expect("made");
    }
    let (text, number) = (Value::from("1"), Value::Int(1));
    let shown = prepare(&server, "SELECT id, n FROM w WHERE n > 0 ORDER BY id");
    let mut change = |statement: &str, values: [&Value; 2]| {
        let plan = prepare(&server, statement);
        for value in values {
            let parameters = std::slice::from_ref(value);
            let outcome = server.execute(&plan, "", parameters, &mut Rows::default());
            assert_eq!(outcome.expect("changed").affected_rows, 1, "{statement}");
        }
        numbers(&mut server, &shown, &[])
    };
    let update = "UPDATE w SET n = n + 1 WHERE v = ? ORDER BY b DESC LIMIT 1";
    assert_eq!(change(update, [&text, &number]), [[4, 2]]);
    let update = "UPDATE w SET n = n + 1 WHERE v = ? ORDER BY v, b LIMIT 1";
    assert_eq!(change(update, [&text, &number]), [[3, 1], [4, 2], [5, 1]]);
    let update = "UPDATE w SET n = n + 1 WHERE id > 0 AND v = ? ORDER BY id LIMIT 1";
    assert_eq!(
        change(update, [&text, &number]),
        [[1, 1], [2, 1], [3, 1], [4, 2], [5, 1]]
    );
    let delete = "DELETE FROM w WHERE v = ? ORDER BY b LIMIT 1";
    assert_eq!(change(delete, [&text, &number]), [[1, 1], [2, 1], [4, 2]]);
}
