//! Programs are run with a host that knows whole numbers and writes down what it is asked for.

use crate::{Answer, Code, RaisedCondition, RaisedLevel, Request, RowValue, Run};
use paceline_syntax::ast::{BinaryOp, Expr, Literal};
use paceline_syntax::{ParseOptions, Statement, Target, parse_first};
use paceline_types::Value;

/// Executes `BEGIN NOT ATOMIC …` and returns what has happened, one word for each statement: the text of a statement of
/// SQL with the values of its variables, and at the end `end` or `error N`. The statements `DO error(N)` and
/// `DO warning(N)` raise something; each cursor has the rows 1 and 2.
fn trace(text: &str) -> String {
    let parsed = parse_first(text.as_bytes(), &ParseOptions::default()).unwrap();
    let Statement::Compound(compound) = parsed.statement else {
        panic!("no compound statement")
    };
    let code = Code::compile(&compound.program);
    let mut run = Run::new(&code, Vec::new());
    let mut rows = vec![0; code.cursors().len()];
    let mut trace = Vec::new();
    for _ in 0..1_000 {
        let request = match run.request() {
            Ok(request) => request,
            Err(raised) => {
                trace.push(format!("error {}", raised.code));
                return trace.join("; ");
            }
        };
        let mut warnings = Vec::new();
        let answer = match request {
            Request::Assign { value, .. } => {
                evaluate(value, run.values(), &mut warnings).map(|number| Answer::Value(Value::Int(number)))
            }
            Request::Return(value) => evaluate(Some(value), run.values(), &mut warnings)
                .map(|number| Answer::Value(Value::Int(number))),
            Request::Test(condition) => evaluate(Some(condition), run.values(), &mut warnings)
                .map(|number| Answer::Truth(number != 0)),
            Request::Execute(sql) => match &sql.statement {
                Statement::Do(exprs) => {
                    let value = evaluate(Some(&exprs[0]), run.values(), &mut warnings);
                    if let Ok(value) = &value {
                        trace.push(value.to_string());
                    }
                    value.map(|_| Answer::Done)
                }
                _ => {
                    trace.push(sql.text.clone());
                    Ok(Answer::Done)
                }
            },
            Request::SelectInto { targets, .. } => Ok(Answer::Values(
                (targets.iter())
                    .map(|target| match target {
                        Target::Variable(variable) => (*variable, Value::Int(7)),
                        Target::User(name) => panic!("{name}"),
                    })
                    .collect(),
            )),
            Request::Open { query, .. } if format!("{query:?}").contains("missing") => {
                Err(raised(1146, "42S02", RaisedLevel::Error))
            }
            Request::Open { cursor, .. } => {
                trace.push(format!("open {cursor}"));
                rows[cursor] = 0;
                Ok(Answer::Done)
            }
            Request::FetchNext { .. } if trace.iter().any(|step| step == "define 0") => {
                Err(raised(1328, "HY000", RaisedLevel::Error))
            }
            Request::Fetch { cursor, into } => {
                rows[cursor] += 1;
                match rows[cursor] {
                    1 | 2 => Ok(Answer::Values(vec![(into[0], Value::Int(rows[cursor]))])),
                    _ => Err(raised(1329, "02000", RaisedLevel::Error)),
                }
            }
            Request::FetchNext { cursor, into } => {
                rows[cursor] += 1;
                match rows[cursor] {
                    1 | 2 => Ok(Answer::Values(vec![(into[0], Value::Int(rows[cursor]))])),
                    _ => Ok(Answer::Done),
                }
            }
            Request::FetchGroup => panic!("no aggregate function"),
            Request::DefineRow { query, .. } if format!("{query:?}").contains("twice") => {
                trace.push("define 0".to_owned());
                Err(raised(1060, "42S21", RaisedLevel::Error))
            }
            Request::DefineRow { .. } => {
                trace.push("define".to_owned());
                Ok(Answer::Done)
            }
            Request::AssignRow { value, .. } => {
                trace.push(match value {
                    RowValue::Null => "row null".to_owned(),
                    RowValue::Fields(fields) => format!("row of {}", fields.len()),
                    RowValue::Variable(_) => "row copied".to_owned(),
                    RowValue::Scalar => "row scalar".to_owned(),
                });
                Ok(Answer::Done)
            }
            Request::AssignQuery { row, .. } => {
                trace.push(format!("row {row} of query"));
                Ok(Answer::Done)
            }
            Request::Close { cursor } => {
                trace.push(format!("close {cursor}"));
                Ok(Answer::Done)
            }
            Request::End(value) => {
                assert!(value.is_none());
                trace.push("end".to_owned());
                return trace.join("; ");
            }
        };
        if let Err(raised) = run.answer(answer, &warnings) {
            trace.push(format!("error {}", raised.code));
            return trace.join("; ");
        }
    }
    panic!("the program does not end: {}", trace.join("; "))
}

fn raised(code: u16, sqlstate: &str, level: RaisedLevel) -> RaisedCondition {
    RaisedCondition {
        level,
        code,
        sqlstate: sqlstate.to_owned(),
        message: String::new(),
    }
}

fn evaluate(
    expr: Option<&Expr>,
    values: &[Value],
    warnings: &mut Vec<RaisedCondition>,
) -> Result<i64, RaisedCondition> {
    let mut number = |expr: &Expr| evaluate(Some(expr), values, warnings);
    Ok(match expr {
        None => 0,
        Some(Expr::Literal(Literal::Number(text))) => text.parse().unwrap(),
        Some(Expr::Parameter(variable)) => match &values[*variable] {
            Value::Int(number) => *number,
            _ => 0,
        },
        Some(Expr::Nested(inner)) => number(inner)?,
        Some(Expr::Binary { left, op, right }) => {
            let (left, right) = (number(left)?, number(right)?);
            match op {
                BinaryOp::Add => left + right,
                BinaryOp::Subtract => left - right,
                BinaryOp::Equal => i64::from(left == right),
                BinaryOp::Less => i64::from(left < right),
                BinaryOp::Greater => i64::from(left > right),
                BinaryOp::LessOrEqual => i64::from(left <= right),
                BinaryOp::GreaterOrEqual => i64::from(left >= right),
                other => panic!("{other:?}"),
            }
        }
        Some(Expr::Call(call)) => {
            let text = format!("{call:?}");
            let code: u16 = text
                .split('"')
                .find_map(|part| part.parse().ok())
                .expect("a number");
            let state = match code {
                1062 => "23000",
                1329 => "02000",
                _ => "HY000",
            };
            if text.to_lowercase().contains("warning") {
                warnings.push(raised(code, state, RaisedLevel::Warning));
                return Ok(0);
            }
            let level = if code == 1317 {
                RaisedLevel::Fatal
            } else {
                RaisedLevel::Error
            };
            return Err(raised(code, state, level));
        }
        Some(other) => panic!("{other:?}"),
    })
}

/// Runs a body in a block.
fn body(text: &str) -> String {
    trace(&format!("BEGIN NOT ATOMIC {text} END"))
}

#[test]
fn control_statements_choose_and_repeat() {
    assert_eq!(
        body("DECLARE a INT DEFAULT 3; IF a < 2 THEN DO 1; ELSEIF a < 4 THEN DO 2; ELSE DO 3; END IF;"),
        "2; end"
    );
    assert_eq!(
        body("DECLARE a INT DEFAULT 3; IF a < 2 THEN DO 1; END IF; DO a;"),
        "3; end"
    );
    assert_eq!(
        body("CASE 2 WHEN 1 THEN DO 1; WHEN 2 THEN DO 2; ELSE DO 3; END CASE;"),
        "2; end"
    );
    assert_eq!(body("CASE WHEN 1 > 2 THEN DO 1; ELSE DO 3; END CASE;"), "3; end");
    assert_eq!(body("CASE 3 WHEN 1 THEN DO 1; END CASE;"), "error 1339");
    assert_eq!(
        body("DECLARE a INT DEFAULT 0; WHILE a < 3 DO SET a = a + 1; DO a; END WHILE;"),
        "1; 2; 3; end"
    );
    assert_eq!(
        body("DECLARE a INT DEFAULT 9; REPEAT DO a; UNTIL 1 END REPEAT;"),
        "9; end"
    );
    assert_eq!(body("FOR i IN 2..4 DO DO i; END FOR;"), "2; 3; 4; end");
    assert_eq!(body("FOR i IN REVERSE 2..4 DO DO i; END FOR;"), "4; 3; 2; end");
    assert_eq!(body("FOR i IN 4..2 DO DO i; END FOR;"), "end");
    assert_eq!(
        body("a: FOR i IN 1..3 DO IF i = 2 THEN ITERATE a; END IF; DO i; END FOR;"),
        "1; 3; end"
    );
    let nested = "a: LOOP b: LOOP LEAVE a; END LOOP; DO 1; END LOOP; DO 2;";
    assert_eq!(body(nested), "2; end");
    assert_eq!(body("a: BEGIN DO 1; LEAVE a; DO 2; END; DO 3;"), "1; 3; end");
}

#[test]
fn variables_are_those_of_the_nearest_block() {
    let text = "DECLARE a INT DEFAULT 1; BEGIN DECLARE a INT DEFAULT 2; DO a; SET a = 5; END; DO a;";
    assert_eq!(body(text), "2; 1; end");
    assert_eq!(body("DECLARE a, b INT; SET a = 1, b = a + 1; DO b;"), "2; end");
    assert_eq!(body("DECLARE a INT; SELECT 7 INTO a; DO a;"), "7; end");
    // A block begins anew in each pass.
    let text = "DECLARE n INT DEFAULT 0; WHILE n < 2 DO BEGIN DECLARE a INT DEFAULT 1; DO a; SET a = 9, n = n + 1; END; END WHILE;";
    assert_eq!(body(text), "1; 1; end");
}

#[test]
fn a_continue_handler_leads_behind_the_statement() {
    let handler = "DECLARE CONTINUE HANDLER FOR 1062 DO 100;";
    assert_eq!(
        body(&format!("{handler} DO 1; DO error(1062); DO 2;")),
        "1; 100; 2; end"
    );
    assert_eq!(
        body(&format!("{handler} DO 1; DO error(1048); DO 2;")),
        "1; error 1048"
    );
    assert_eq!(
        body(&format!("{handler} IF error(1062) THEN DO 1; END IF; DO 2;")),
        "100; 2; end"
    );
    assert_eq!(
        body(&format!("{handler} WHILE error(1062) DO DO 1; END WHILE; DO 2;")),
        "100; 2; end"
    );
    assert_eq!(
        body("DECLARE CONTINUE HANDLER FOR SQLWARNING DO 100; DO warning(1000); DO 2;"),
        "0; 100; 2; end"
    );
    assert_eq!(
        body("DECLARE CONTINUE HANDLER FOR SQLEXCEPTION DO 100; DO warning(1000); DO 2;"),
        "0; 2; end"
    );
    // KILL ends the program.
    assert_eq!(
        body("DECLARE CONTINUE HANDLER FOR SQLEXCEPTION DO 100; DO error(1317); DO 2;"),
        "error 1317"
    );
}

#[test]
fn an_exit_handler_ends_its_block() {
    let text = "BEGIN DECLARE EXIT HANDLER FOR SQLEXCEPTION DO 100; DO 1; BEGIN DO error(1062); END; DO 2; END; DO 3;";
    assert_eq!(body(text), "1; 100; 3; end");
    // In a loop the block begins again, with its handler.
    let text = "DECLARE n INT DEFAULT 0; WHILE n < 2 DO SET n = n + 1; BEGIN DECLARE EXIT HANDLER FOR 1062 DO 100; \
                DO error(1062); END; END WHILE; DO error(1062);";
    assert_eq!(body(text), "100; 100; error 1062");
}

#[test]
fn the_most_specific_handler_of_the_nearest_block_counts() {
    let text = "DECLARE CONTINUE HANDLER FOR SQLEXCEPTION DO 1; DECLARE CONTINUE HANDLER FOR SQLSTATE '23000' DO 2; \
                DECLARE CONTINUE HANDLER FOR 1062 DO 3; DO error(1062); DO error(1048);";
    assert_eq!(body(text), "3; 1; end");
    let text = "DECLARE CONTINUE HANDLER FOR 1062 DO 1; BEGIN DECLARE CONTINUE HANDLER FOR SQLEXCEPTION DO 2; DO error(1062); END;";
    assert_eq!(body(text), "2; end");
}

#[test]
fn a_handler_is_not_active_while_it_runs() {
    let text = "DECLARE CONTINUE HANDLER FOR SQLEXCEPTION DO 1; \
                BEGIN DECLARE CONTINUE HANDLER FOR 1062 BEGIN DO 2; DO error(1062); DO 3; END; DO error(1062); DO 4; END; DO 5;";
    assert_eq!(body(text), "2; 1; 3; 4; 5; end");
    let text = "BEGIN DECLARE EXIT HANDLER FOR SQLEXCEPTION DO 1; \
                BEGIN DECLARE CONTINUE HANDLER FOR 1062 BEGIN DO 2; DO error(1062); DO 3; END; DO error(1062); DO 4; END; \
                DO 5; END; DO 6;";
    assert_eq!(body(text), "2; 1; 6; end");
    // A block in the handler's statement has handlers of its own.
    let text = "DECLARE CONTINUE HANDLER FOR 1062 BEGIN DECLARE CONTINUE HANDLER FOR 1062 DO 9; DO error(1062); DO 2; END; \
                DO error(1062); DO 3;";
    assert_eq!(body(text), "9; 2; 3; end");
}

#[test]
fn cursors_are_opened_read_and_closed() {
    let text = "DECLARE a INT; DECLARE done INT DEFAULT 0; DECLARE c CURSOR FOR SELECT 1; \
                DECLARE CONTINUE HANDLER FOR NOT FOUND SET done = 1; \
                OPEN c; l: LOOP FETCH c INTO a; IF done THEN LEAVE l; END IF; DO a; END LOOP; CLOSE c;";
    assert_eq!(body(text), "open 0; 1; 2; close 0; end");
    let cursor = "DECLARE a INT; DECLARE c CURSOR FOR SELECT 1;";
    assert_eq!(body(&format!("{cursor} FETCH c INTO a;")), "error 1326");
    assert_eq!(body(&format!("{cursor} CLOSE c;")), "error 1326");
    assert_eq!(body(&format!("{cursor} OPEN c; OPEN c;")), "open 0; error 1325");
    assert_eq!(
        body(&format!("BEGIN {cursor} OPEN c; END; DO 1;")),
        "open 0; close 0; 1; end"
    );
    assert_eq!(
        body(&format!("l: BEGIN {cursor} OPEN c; LEAVE l; END; DO 1;")),
        "open 0; close 0; 1; end"
    );
    // Cursors of inner blocks are closed when an EXIT handler ends the outer one.
    let text = "BEGIN DECLARE EXIT HANDLER FOR SQLEXCEPTION DO 1; BEGIN DECLARE c CURSOR FOR SELECT 1; OPEN c; DO error(1062); END; \
                END; DO 2;";
    assert_eq!(body(text), "open 0; 1; close 0; 2; end");
    let text =
        "DECLARE x INT; DECLARE c CURSOR (p INT) FOR SELECT p; OPEN c(5); FETCH c INTO x; DO x; CLOSE c;";
    assert_eq!(body(text), "open 0; 1; close 0; end");
}

#[test]
fn a_loop_over_rows_closes_its_cursor() {
    let all = "define; open 0; 1; 1; close 0; 9; end";
    assert_eq!(body("FOR r IN (SELECT 1) DO DO 1; END FOR; DO 9;"), all);
    let cursor = "DECLARE c CURSOR FOR SELECT 1;";
    assert_eq!(body(&format!("{cursor} FOR r IN c DO DO 1; END FOR; DO 9;")), all);
    let cursor = "DECLARE c CURSOR (p INT) FOR SELECT p;";
    assert_eq!(
        body(&format!("{cursor} FOR r IN c(4) DO DO 1; END FOR; DO 9;")),
        all
    );
    let left = "define; open 0; close 0; 9; end";
    assert_eq!(body("l: FOR r IN (SELECT 1) DO LEAVE l; END FOR; DO 9;"), left);
    assert_eq!(
        body("l: FOR r IN (SELECT 1) DO ITERATE l; DO 1; END FOR; DO 9;"),
        left
    );
    let outer = "l: LOOP FOR r IN (SELECT 1) DO LEAVE l; END FOR; END LOOP; DO 9;";
    assert_eq!(body(outer), left);
    let handled = "BEGIN DECLARE EXIT HANDLER FOR SQLEXCEPTION DO 7; FOR r IN (SELECT 1) DO DO error(1062); END FOR; END; DO 9;";
    assert_eq!(body(handled), "define; open 0; 7; close 0; 9; end");
}

#[test]
fn a_loop_over_rows_ends_if_its_cursor_cannot_be_read() {
    let handler = "DECLARE CONTINUE HANDLER FOR SQLEXCEPTION DO 7;";
    let loop_over = |query: &str| body(&format!("{handler} FOR r IN ({query}) DO DO 1; END FOR; DO 9;"));
    // Of OPEN, FETCH and the test whether there was a row.
    assert_eq!(loop_over("SELECT * FROM missing"), "define; 7; 7; 7; 9; end");
    assert_eq!(
        loop_over("SELECT * FROM twice"),
        "define 0; 7; open 0; 7; close 0; 9; end"
    );
}

#[test]
fn rows_are_assigned_as_a_whole() {
    let text = "DECLARE r, q ROW(a INT, b INT) DEFAULT ROW(1, 2); SET q = r; SET r = NULL; SET r = 5; SET r.b = 4; DO r.b;";
    let trace = "row of 2; row of 2; row copied; row null; row scalar; 4; end";
    assert_eq!(body(text), trace);
}
