//! Tests of what the golden scripts of expressions cannot show: subqueries, parameters, strict writes, folding.

use std::ops::ControlFlow;

use paceline_types::{Collation, Value};

use super::*;
use crate::error::Result;
use crate::session::{Services, SessionContext};
use paceline_syntax::ast::{self, ColumnName};
use paceline_syntax::{ParseOptions, Statement, parse};

/// Scope in which every subquery returns these rows and `?` has these types.
struct TestScope<'s> {
    session: &'s SessionContext,
    rows: Vec<Vec<Value>>,
    correlation: Correlation,
    parameters: Vec<ExprType>,
}

impl Scope for TestScope<'_> {
    fn session(&self) -> &SessionContext {
        self.session
    }

    fn resolve_column(&mut self, name: &ColumnName) -> Result<Expr> {
        assert_eq!(name.name, "a");
        Ok(Expr::column(0, ExprType::bigint(20).nullable()))
    }

    fn bind_subquery(&mut self, _query: &ast::Query) -> Result<Subquery> {
        let columns = match self.rows.first() {
            Some(row) => row
                .iter()
                .map(|value| ExprType::of_value(value, Collation::Utf8mb4GeneralCi).nullable())
                .collect(),
            None => vec![ExprType::bigint(20)],
        };
        Ok(Subquery {
            id: SubqueryId::new(0),
            columns,
            correlation: self.correlation,
            outer_slots: Vec::new(),
        })
    }

    fn bind_parameter(&mut self, index: usize) -> Result<ExprType> {
        Ok(self
            .parameters
            .get(index)
            .cloned()
            .unwrap_or_else(ExprType::parameter))
    }
}

/// Runner that returns its rows for any subquery, and counts its runs.
struct Rows {
    rows: Vec<Vec<Value>>,
    runs: usize,
}

impl NestedRunner for Rows {
    fn run(
        &mut self,
        _: SubqueryId,
        frame: SubqueryFrame<'_>,
        sink: &mut dyn FnMut(&[Value]) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        self.runs += 1;
        assert_eq!(frame.outer, [Value::Int(1)]);
        for row in &self.rows {
            if sink(row)?.is_break() {
                break;
            }
        }
        Ok(())
    }

    fn call(&mut self, _: &StoredCall, arguments: Vec<Value>, _: &mut SessionContext) -> Result<Value> {
        Ok(arguments.into_iter().next().unwrap_or(Value::Null))
    }

    fn call_group(&mut self, _: &StoredCall, _: Vec<Vec<Value>>, _: &mut SessionContext) -> Result<Value> {
        Ok(Value::Null)
    }
}

fn tree(source: &str) -> ast::Expr {
    let mut statements = parse(format!("SELECT {source}").as_bytes(), &ParseOptions::default()).unwrap();
    let Statement::Query(query) = statements.remove(0).statement else {
        panic!("{source}")
    };
    let ast::QueryBody::Select(select) = query.query.body else {
        panic!("{source}")
    };
    match select.items.into_iter().next() {
        Some(ast::SelectItem::Expr { expr, .. }) => expr,
        other => panic!("{other:?}"),
    }
}

fn session() -> SessionContext {
    SessionContext::new(1, Services::default())
}

/// Returns the values of an expression for two evaluations, or the error number, and the number of subquery
/// runs.
fn with_rows(
    source: &str,
    rows: &[&[Value]],
    correlation: Correlation,
) -> (std::result::Result<Value, u16>, usize) {
    let mut session = session();
    let rows: Vec<Vec<Value>> = rows.iter().map(|row| row.to_vec()).collect();
    let expr = bind_expr(
        &tree(source),
        &mut TestScope {
            session: &session,
            rows: rows.clone(),
            correlation,
            parameters: Vec::new(),
        },
    );
    let expr = match expr {
        Ok(expr) => expr,
        Err(error) => return (Err(error.code().number()), 0),
    };
    let mut state = EvalState::new();
    let mut runner = Rows { rows, runs: 0 };
    let mut context = EvalContext::new(&mut session, &mut state);
    context.runner = Some(&mut runner);
    let first = expr
        .eval(&[Value::Int(1)], &mut context)
        .map_err(|error| error.code().number());
    let second = expr
        .eval(&[Value::Int(1)], &mut context)
        .map_err(|error| error.code().number());
    assert_eq!(first, second);
    (first, runner.runs)
}

fn uncorrelated(source: &str, rows: &[&[Value]]) -> std::result::Result<Value, u16> {
    with_rows(source, rows, Correlation::Uncorrelated).0
}

const ONE: Value = Value::Int(1);
const TWO: Value = Value::Int(2);
const YES: std::result::Result<Value, u16> = Ok(Value::Int(1));
const NO: std::result::Result<Value, u16> = Ok(Value::Int(0));
const UNKNOWN: std::result::Result<Value, u16> = Ok(Value::Null);

#[test]
fn a_scalar_subquery_gives_one_row_or_null_and_more_are_1242() {
    assert_eq!(uncorrelated("(SELECT 1)", &[&[TWO]]), Ok(TWO));
    assert_eq!(uncorrelated("(SELECT 1) + 1", &[&[ONE]]), Ok(TWO));
    assert_eq!(uncorrelated("(SELECT 1)", &[]), UNKNOWN);
    assert_eq!(uncorrelated("(SELECT 1)", &[&[ONE], &[TWO]]), Err(1242));
    assert_eq!(uncorrelated("(SELECT 1, 2)", &[&[ONE, TWO]]), Err(1241));
    assert_eq!(uncorrelated("(1, 2) = (SELECT 1, 2)", &[&[ONE, TWO]]), YES);
    assert_eq!(uncorrelated("(1, 2) = (SELECT 1, 2)", &[&[ONE, ONE]]), NO);
    assert_eq!(
        uncorrelated("(1, 2, 3) = (SELECT 1, 2)", &[&[ONE, ONE]]),
        Err(1241)
    );
}

#[test]
fn quantified_subqueries_know_null() {
    assert_eq!(uncorrelated("a IN (SELECT 1)", &[&[TWO], &[ONE]]), YES);
    assert_eq!(
        uncorrelated("a IN (SELECT 1)", &[&[TWO], &[Value::Null]]),
        UNKNOWN
    );
    assert_eq!(
        uncorrelated("a NOT IN (SELECT 1)", &[&[TWO], &[Value::Null]]),
        UNKNOWN
    );
    assert_eq!(uncorrelated("a NOT IN (SELECT 1)", &[&[TWO]]), YES);
    assert_eq!(uncorrelated("NULL IN (SELECT 1)", &[]), NO);
    assert_eq!(uncorrelated("NULL IN (SELECT 1)", &[&[ONE]]), UNKNOWN);
    assert_eq!(uncorrelated("a > ALL (SELECT 1)", &[]), YES);
    assert_eq!(uncorrelated("a < ALL (SELECT 1)", &[&[TWO], &[TWO]]), YES);
    assert_eq!(
        uncorrelated("a < ALL (SELECT 1)", &[&[TWO], &[Value::Null]]),
        UNKNOWN
    );
    assert_eq!(
        uncorrelated("a > ANY (SELECT 1)", &[&[TWO], &[Value::Int(0)]]),
        YES
    );
    assert_eq!(
        uncorrelated("(a, 2) IN (SELECT 1, 2)", &[&[TWO, TWO], &[ONE, TWO]]),
        YES
    );
    assert_eq!(
        uncorrelated("(a, 2) IN (SELECT 1, 2)", &[&[TWO, TWO], &[ONE, Value::Null]]),
        UNKNOWN
    );
    assert_eq!(
        uncorrelated("(a, 2) IN (SELECT 1, 2)", &[&[TWO, TWO], &[TWO, Value::Null]]),
        NO
    );
    assert_eq!(uncorrelated("a IN (SELECT 1, 2)", &[&[TWO, TWO]]), Err(1241));
    assert_eq!(uncorrelated("EXISTS (SELECT 1)", &[]), NO);
    assert_eq!(uncorrelated("NOT EXISTS (SELECT 1)", &[&[Value::Null]]), NO);
}

#[test]
fn many_rows_are_looked_up_by_key() {
    let numbers: Vec<[Value; 1]> = (0..50).map(|number| [Value::Int(number * 2)]).collect();
    let rows: Vec<&[Value]> = numbers.iter().map(<[Value; 1]>::as_slice).collect();
    assert_eq!(uncorrelated("a IN (SELECT 1)", &rows), NO);
    assert_eq!(uncorrelated("a + 1 IN (SELECT 1)", &rows), YES);
    assert_eq!(uncorrelated("a NOT IN (SELECT 1)", &rows), YES);
    let mut with_null = rows.clone();
    let null = [Value::Null];
    with_null.push(&null);
    assert_eq!(uncorrelated("a IN (SELECT 1)", &with_null), UNKNOWN);
    assert_eq!(uncorrelated("a + 1 IN (SELECT 1)", &with_null), YES);
    let words: Vec<[Value; 1]> = "ab cd ef gh ij kl mn op qr"
        .split(' ')
        .map(|word| [word.into()])
        .collect();
    let rows: Vec<&[Value]> = words.iter().map(<[Value; 1]>::as_slice).collect();
    assert_eq!(uncorrelated("'EF ' IN (SELECT 1)", &rows), YES);
    assert_eq!(uncorrelated("'x' IN (SELECT 1)", &rows), NO);
}

#[test]
fn uncorrelated_subqueries_run_once() {
    for source in ["(SELECT 1)", "a IN (SELECT 1)", "EXISTS (SELECT 1)"] {
        assert_eq!(
            with_rows(source, &[&[ONE]], Correlation::Uncorrelated).1,
            1,
            "{source}"
        );
        assert_eq!(
            with_rows(source, &[&[ONE]], Correlation::Correlated).1,
            2,
            "{source}"
        );
    }
}

fn with_parameters(source: &str, values: &[Value], types: Vec<ExprType>) -> Value {
    let mut session = session();
    let mut scope = TestScope {
        session: &session,
        rows: Vec::new(),
        correlation: Correlation::Uncorrelated,
        parameters: types,
    };
    let expr = bind_expr(&tree(source), &mut scope).unwrap();
    let mut state = EvalState::new();
    let mut context = EvalContext::new(&mut session, &mut state);
    context.parameters = values;
    expr.eval(&[Value::Int(5)], &mut context).unwrap()
}

#[test]
fn parameters_work_with_and_without_a_type_at_bind() {
    let cases: &[(&str, &[Value], Value)] = &[
        ("a = ?", &[Value::Int(5)], ONE),
        ("a = ?", &[Value::Text("5".to_owned())], ONE),
        ("a = ?", &[Value::Double(5.5)], Value::Int(0)),
        ("a = ?", &[Value::Null], Value::Null),
        ("? + ?", &[Value::Int(1), Value::Int(2)], Value::Int(3)),
        (
            "? / ?",
            &[Value::Int(1), Value::Int(4)],
            Value::Decimal("0.2500".parse().unwrap()),
        ),
        (
            "CONCAT(?, ?)",
            &[Value::Text("x".to_owned()), Value::Int(2)],
            Value::Text("x2".to_owned()),
        ),
        ("? LIKE 'A%'", &[Value::Text("abc".to_owned())], ONE),
        ("a BETWEEN ? AND ?", &[Value::Int(1), Value::Int(9)], ONE),
        ("a IN (?, ?)", &[Value::Int(1), Value::Int(5)], ONE),
        ("IFNULL(?, 7)", &[Value::Null], Value::Int(7)),
        ("-?", &[Value::Int(3)], Value::Int(-3)),
    ];
    for (source, values, expected) in cases {
        let types = values
            .iter()
            .map(|value| ExprType::of_value(value, Collation::Utf8mb4GeneralCi))
            .collect();
        let known = with_parameters(source, values, types);
        let unknown = with_parameters(source, values, Vec::new());
        assert_eq!(text(&known), text(expected), "{source} {values:?} with types");
        assert_eq!(
            text(&unknown),
            text(expected),
            "{source} {values:?} without types"
        );
    }
}

/// Returns a value as text: an untyped parameter may turn the result of CONCAT into bytes.
fn text(value: &Value) -> String {
    let mut out = Vec::new();
    paceline_types::text::append_value(&value.as_ref(), &paceline_types::TimeZone::UTC, &mut out);
    if value.is_null() {
        "NULL".to_owned()
    } else {
        String::from_utf8(out).unwrap()
    }
}

#[test]
fn strict_writes_turn_warnings_into_errors() {
    let mut session = session();
    for (source, code) in [("1 / (a - a)", 1365), ("a + 'x'", 1292)] {
        let mut scope = EmptyColumns { session: &session };
        let expr = bind_expr(&tree(source), &mut scope).unwrap();
        let mut state = EvalState::new();
        let mut context = EvalContext::new(&mut session, &mut state);
        assert!(expr.eval(&[Value::Int(1)], &mut context).is_ok(), "{source}");
        assert_eq!(context.session.diagnostics.warning_count(), 1, "{source}");
        context.mode = EvalMode::StrictWrite;
        let error = expr.eval(&[Value::Int(1)], &mut context).unwrap_err();
        assert_eq!(error.code().number(), code, "{source}");
        session.diagnostics.clear(64);
    }
}

/// Evaluating twice would cost 2⁶⁰ evaluations of the innermost argument: the test would not end.
#[test]
fn selecting_functions_evaluate_an_argument_once() {
    for (open, close) in [
        ("COALESCE(", ")"),
        ("IFNULL(", ", 1)"),
        ("IF(1, ", ", 2)"),
        ("NVL2(1, ", ", 2)"),
    ] {
        let source = format!("{}a{}", open.repeat(60), close.repeat(60));
        let mut session = session();
        let mut scope = EmptyColumns { session: &session };
        let expr = bind_expr(&tree(&source), &mut scope).unwrap();
        let mut state = EvalState::new();
        let mut context = EvalContext::new(&mut session, &mut state);
        let value = expr.eval(&[Value::Int(7)], &mut context).unwrap();
        assert_eq!(value, Value::Int(7), "{open}");
    }
}

struct EmptyColumns<'s> {
    session: &'s SessionContext,
}

impl Scope for EmptyColumns<'_> {
    fn session(&self) -> &SessionContext {
        self.session
    }

    fn resolve_column(&mut self, _name: &ColumnName) -> Result<Expr> {
        Ok(Expr::column(0, ExprType::bigint(20)))
    }
}

#[test]
fn constants_fold_unless_they_would_warn() {
    let session = session();
    for (source, folded) in [
        ("1 + 1", true),
        ("CONCAT('a', 'b')", true),
        ("'2020-01-01' < '2021-01-01'", true),
        ("1 / 0", false),
        ("1 + 'x'", false),
        ("NOW()", false),
        ("RAND()", false),
        ("9223372036854775807 + 1", false),
    ] {
        let expr = bind_expr(&tree(source), &mut EmptyScope::new(&session)).unwrap();
        assert_eq!(expr.as_literal().is_some(), folded, "{source}");
    }
}

#[test]
fn integer_columns_compare_as_integers_with_constants_that_are_integers() {
    let session = session();
    for (source, int) in [
        ("a = '5'", true),
        ("a = 5.0", true),
        ("a < '5.5'", false),
        ("a = 'x'", false),
        ("a IN ('1', 2)", true),
    ] {
        let expr = bind_expr(&tree(source), &mut EmptyColumns { session: &session }).unwrap();
        let by = match expr.kind {
            ExprKind::Compare { by, .. } => vec![by],
            ExprKind::InList { by, .. } => by,
            other => panic!("{other:?}"),
        };
        assert_eq!(by.iter().all(|by| *by == Comparison::Int), int, "{source}");
    }
}

#[test]
fn an_operand_that_does_not_count_is_not_evaluated() {
    // The right sides would fail in a strict write.
    let mut session = session();
    for (source, expected) in [
        ("a = 0 AND 1 / (a - a) = 1", 0),
        ("a = 1 OR 1 / (a - a) = 1", 1),
        ("IF(a = 1, 7, 1 / (a - a))", 7),
    ] {
        let expr = bind_expr(&tree(source), &mut EmptyColumns { session: &session }).unwrap();
        let mut state = EvalState::new();
        let mut context = EvalContext::new(&mut session, &mut state);
        context.mode = EvalMode::StrictWrite;
        let value = expr.eval(&[Value::Int(1)], &mut context).unwrap();
        assert_eq!(
            text(&value).parse::<f64>().unwrap(),
            f64::from(expected),
            "{source}"
        );
    }
}

/// Expressions whose operand is read in two ways. The test nests many of them.
const READ_TWICE: [(&str, &str, &str); 7] = [
    ("1 / (SELECT 1)", "NULLIF(", ", 5)"),
    ("CONVERT((SELECT 1) USING latin1)", "NULLIF(", ", x'35')"),
    ("(SELECT 1)", "NULLIF(JSON_EXTRACT(", ", '$'), 'x')"),
    ("(SELECT 1)", "NULLIF(DATE_ADD(", ", INTERVAL 1 DAY), 5)"),
    ("(SELECT 1)", "DATE_ADD(", ", INTERVAL 1 DAY) IN (20010102, 'x')"),
    (
        "(SELECT 1)",
        "CASE DATE_ADD(",
        ", INTERVAL 1 DAY) WHEN 20010102 THEN '2001-01-01' WHEN 'x' THEN '2001-01-03' END",
    ),
    ("(SELECT 1)", "IFNULL(", ", 5)"),
];

fn nested((inner, before, after): (&str, &str, &str), depth: usize) -> String {
    format!("{}{inner}{}", before.repeat(depth), after.repeat(depth))
}

#[test]
fn operands_that_are_read_in_two_ways_are_not_copied() {
    let session = session();
    for shape in READ_TWICE {
        let nodes = |depth| {
            let mut scope = TestScope {
                session: &session,
                rows: vec![vec![ONE]],
                correlation: Correlation::Volatile,
                parameters: Vec::new(),
            };
            let mut nodes = 0;
            let expr = bind_expr(&tree(&nested(shape, depth)), &mut scope).unwrap();
            expr.visit(&mut |_| nodes += 1);
            nodes
        };
        let (two, four, twelve) = (nodes(2), nodes(4), nodes(12));
        assert_eq!(twelve - four, (four - two) * 4, "{shape:?}");
    }
}

#[test]
fn operands_that_are_read_in_two_ways_are_evaluated_once() {
    for shape in READ_TWICE {
        let (_, runs) = with_rows(&nested(shape, 12), &[&[ONE]], Correlation::Volatile);
        assert_eq!(runs, 2, "{shape:?}: one for each of two evaluations");
    }
}

#[test]
fn numbers_have_no_sign_where_an_operand_has_none() {
    let value = |text: &str| with_rows(text, &[], Correlation::Uncorrelated).0;
    for text in [
        "a - ROUND(CAST(8 AS UNSIGNED), 1)",
        "a - TRUNCATE(CAST(8 AS UNSIGNED), a)",
        "a - FLOOR(CAST(8 AS UNSIGNED))",
        "CAST(8 AS UNSIGNED) DIV TIME'-00:00:01'",
        "CAST(8 AS UNSIGNED) DIV -a",
    ] {
        assert_eq!(value(text), Err(1690), "{text}");
    }
    assert!(value("a - COALESCE(CAST(8 AS UNSIGNED), NULL)").is_ok());
    assert!(value("a - IF(a, CAST(8 AS UNSIGNED), NULL)").is_err());
}
