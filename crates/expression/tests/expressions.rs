//! Comparison of our results with MariaDB's. `tests/expressions/*.txt` contain the results of MariaDB 10.11
//! for several hundred expressions (see `record.py` there). Here each one is parsed, bound and evaluated;
//! value, type, warnings and errors are compared.
//!
//! Intended differences are listed with their reasons in `tests/expressions/deviations.txt`. An entry without
//! a difference fails the test too.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use paceline_expression::session::{Account, KeepDiagnostics, Services, SessionContext};
use paceline_expression::{
    Aggregate, Class, EvalContext, EvalState, Expr, ExprKind, ExprType, Scope, bind_expr, errors,
};
use paceline_syntax::ast::{self, ColumnName};
use paceline_syntax::{Error, Result};
use paceline_syntax::{ParseOptions, Statement, parse};
use paceline_types::data_type::{FloatType, IntegerType, IntegerWidth, Labels, Sign, column_flags};
use paceline_types::error_code::{ER_BAD_FIELD_ERROR, ER_INVALID_GROUP_FUNC_USE};
use paceline_types::{
    BitValue, BlobSize, Collation, DataType, Date, DateTime, DecimalType, EnumValue, SetValue, Time,
    TimeZone, Timestamp, Value, text,
};

/// The table `t` of `table.sql`.
struct Table {
    columns: Vec<(&'static str, ExprType)>,
    rows: Vec<Vec<Value>>,
}

fn table() -> Table {
    let integer = |width, sign| DataType::Integer(IntegerType::new(width, sign));
    let labels = Arc::new(Labels::new(["small", "big", "Huge"]));
    let members = Arc::new(Labels::new(["x", "y", "z"]));
    let general = Collation::Utf8mb4GeneralCi;
    let zerofill = DataType::Integer(IntegerType {
        zerofill: true,
        display_width: 5,
        ..IntegerType::new(IntegerWidth::Int, Sign::Unsigned)
    });
    let types = vec![
        ("id", integer(IntegerWidth::Int, Sign::Signed), false),
        ("ti", integer(IntegerWidth::Tiny, Sign::Signed), false),
        ("iu", integer(IntegerWidth::Int, Sign::Unsigned), true),
        ("zf", zerofill, true),
        ("bi", integer(IntegerWidth::Big, Sign::Signed), true),
        ("bu", integer(IntegerWidth::Big, Sign::Unsigned), true),
        ("de", DataType::Decimal(DecimalType::new(10, 2)), true),
        ("fl", DataType::Float(FloatType::default()), true),
        ("do", DataType::Double(FloatType::default()), true),
        (
            "vc",
            DataType::VarChar {
                length: 20,
                collation: general,
            },
            true,
        ),
        (
            "vb",
            DataType::VarChar {
                length: 20,
                collation: Collation::Utf8mb4Bin,
            },
            true,
        ),
        (
            "ch",
            DataType::Char {
                length: 5,
                collation: general,
            },
            true,
        ),
        (
            "la",
            DataType::VarChar {
                length: 20,
                collation: Collation::Latin1SwedishCi,
            },
            true,
        ),
        ("bn", DataType::Binary { length: 4 }, true),
        ("vn", DataType::VarBinary { length: 10 }, true),
        (
            "tx",
            DataType::Text {
                size: BlobSize::Normal,
                collation: general,
            },
            true,
        ),
        (
            "bl",
            DataType::Blob {
                size: BlobSize::Normal,
            },
            true,
        ),
        ("da", DataType::Date, true),
        ("tm", DataType::Time { decimals: 0 }, true),
        ("tf", DataType::Time { decimals: 3 }, true),
        ("dt", DataType::DateTime { decimals: 0 }, true),
        ("df", DataType::DateTime { decimals: 6 }, true),
        ("ts", DataType::Timestamp { decimals: 0 }, true),
        ("ye", DataType::Year, true),
        ("bt", DataType::Bit { length: 10 }, true),
        (
            "en",
            DataType::Enum {
                labels: labels.clone(),
                collation: general,
            },
            true,
        ),
        (
            "se",
            DataType::Set {
                labels: members.clone(),
                collation: general,
            },
            true,
        ),
        ("nl", integer(IntegerWidth::Int, Sign::Signed), true),
    ];
    let label = |index| {
        Value::Enum(EnumValue {
            index,
            labels: labels.clone(),
        })
    };
    let set = |bits| {
        Value::Set(SetValue {
            bits,
            labels: members.clone(),
        })
    };
    let decimal = |text: &str| Value::Decimal(text.parse().unwrap());
    let time = |seconds: i64, micros: i64, decimals| {
        Value::Time(Time::from_micros(seconds * 1_000_000 + micros, decimals))
    };
    let bytes = |bytes: &[u8]| Value::Bytes(bytes.to_vec());
    let first = vec![
        Value::Int(1),
        Value::Int(-5),
        Value::UInt(7),
        Value::UInt(42),
        Value::Int(-9_223_372_036_854_775_807),
        Value::UInt(u64::MAX),
        decimal("12.50"),
        Value::Float(1.5),
        Value::Double(2.25e10),
        "Hello".into(),
        "Hello".into(),
        "ab".into(),
        "Grün".into(),
        bytes(b"bin\0"),
        bytes(b"\x00\xff\x41"),
        "some text".into(),
        bytes("ü".as_bytes()),
        Value::Date(Date::new(2024, 2, 29)),
        time(-(12 * 3600 + 30 * 60 + 45), 0, 0),
        time(10 * 3600 + 20 * 60 + 30, 456_000, 3),
        Value::DateTime(DateTime::new(Date::new(2023, 12, 31), 23, 59, 59)),
        Value::DateTime(DateTime::new(Date::new(2023, 1, 2), 3, 4, 5).with_micros(678_901, 6)),
        Value::Timestamp(Timestamp::new(1_704_067_200, 0, 0)),
        Value::Year(2024),
        Value::Bit(BitValue {
            bits: 0b10_1010_1010,
            length: 10,
        }),
        label(2),
        set(0b101),
        Value::Null,
    ];
    let second = vec![
        Value::Int(2),
        Value::Int(3),
        Value::UInt(9),
        Value::UInt(7),
        Value::Int(5),
        Value::UInt(10),
        decimal("-3.25"),
        Value::Float(-0.1),
        Value::Double(1e-5),
        "world".into(),
        "World".into(),
        "zz".into(),
        "abc".into(),
        bytes(b"x\0\0\0"),
        bytes(b"abc"),
        "other".into(),
        bytes(b"abc"),
        Value::Date(Date::new(2020, 1, 1)),
        time(3600, 0, 0),
        time(0, 1_000, 3),
        Value::DateTime(DateTime::new(Date::new(2000, 1, 1), 0, 0, 0)),
        Value::DateTime(DateTime::new(Date::new(2000, 1, 1), 0, 0, 0).with_micros(0, 6)),
        Value::Timestamp(Timestamp::new(946_728_000, 0, 0)),
        Value::Year(1999),
        Value::Bit(BitValue { bits: 1, length: 10 }),
        label(1),
        set(0b010),
        Value::Null,
    ];
    let mut third = vec![Value::Null; types.len()];
    third[0] = Value::Int(3);
    third[1] = Value::Int(3);
    third[9] = "hello".into();
    third[10] = "hello".into();
    let columns = types
        .into_iter()
        .map(|(name, ty, nullable)| (name, ExprType::of_column(ty, nullable)))
        .collect();
    Table {
        columns,
        rows: vec![first, second, third],
    }
}

struct TableScope<'s> {
    session: &'s SessionContext,
    table: &'s Table,
    aggregates: Vec<Aggregate>,
    in_aggregate: bool,
}

impl Scope for TableScope<'_> {
    fn session(&self) -> &SessionContext {
        self.session
    }

    fn resolve_column(&mut self, name: &ColumnName) -> Result<Expr> {
        let known = name.table.as_ref().is_none_or(|table| table == "t");
        let found = self
            .table
            .columns
            .iter()
            .position(|(column, _)| column.eq_ignore_ascii_case(&name.name));
        match found.filter(|_| known) {
            Some(index) => Ok(Expr::column(index, self.table.columns[index].1.clone())),
            None => Err(errors::error(ER_BAD_FIELD_ERROR, &[&name, &"SELECT"])),
        }
    }

    fn enter_aggregate(&mut self) -> Result<()> {
        if std::mem::replace(&mut self.in_aggregate, true) {
            return Err(errors::error(ER_INVALID_GROUP_FUNC_USE, &[]));
        }
        Ok(())
    }

    fn exit_aggregate(&mut self, aggregate: Aggregate) -> Result<Expr> {
        self.in_aggregate = false;
        let ty = aggregate.ty.clone();
        self.aggregates.push(aggregate);
        Ok(Expr::aggregate(self.aggregates.len() - 1, ty))
    }
}

fn select_item(source: &str) -> Result<ast::Expr> {
    let mut statements = parse(
        format!("SELECT {source} FROM t").as_bytes(),
        &ParseOptions::default(),
    )?;
    let Statement::Query(query) = statements.remove(0).statement else {
        panic!("{source} is no query")
    };
    let ast::QueryBody::Select(select) = query.query.body else {
        panic!("{source} is no SELECT")
    };
    match select.items.into_iter().next() {
        Some(ast::SelectItem::Expr { expr, .. }) => Ok(expr),
        other => panic!("{source}: {other:?}"),
    }
}

fn evaluate(source: &str, table: &Table, session: &mut SessionContext) -> Result<(Value, ExprType)> {
    let tree = select_item(source)?;
    let mut scope = TableScope {
        session,
        table,
        aggregates: Vec::new(),
        in_aggregate: false,
    };
    let mut expr = bind_expr(&tree, &mut scope)?;
    let aggregates = scope.aggregates;
    let mut state = EvalState::new();
    let mut context = EvalContext::new(session, &mut state);
    if !aggregates.is_empty() {
        let mut results = Vec::new();
        for aggregate in &aggregates {
            let mut accumulator = aggregate.accumulator();
            for row in &table.rows {
                accumulator.add(aggregate, row, &mut context)?;
            }
            results.push(accumulator.finish(aggregate, &mut context)?);
        }
        expr.visit_mut(&mut |node| {
            if let ExprKind::Aggregate(index) = node.kind {
                node.kind = ExprKind::Literal(results[index].clone());
            }
        });
    }
    let value = expr.eval(&table.rows[0], &mut context)?;
    Ok((value, expr.ty))
}

/// Returns a value in the notation of `record.py`.
fn shown(value: &Value, ty: &ExprType) -> String {
    if value.is_null() {
        return "\\N".to_owned();
    }
    let mut bytes = Vec::new();
    text::append_column_value(&value.as_ref(), &ty.data_type, &TimeZone::UTC, &mut bytes);
    let hex = |bytes: &[u8]| {
        bytes.iter().fold("x:".to_owned(), |mut out, byte| {
            let _ = write!(out, "{byte:02x}");
            out
        })
    };
    match std::str::from_utf8(&bytes) {
        Ok(text)
            if !text
                .chars()
                .any(|c| (c < ' ' && c != '\n' && c != '\t') || c == '\x7f') =>
        {
            text.replace('\\', "\\\\")
                .replace('\n', "\\n")
                .replace('\t', "\\t")
        }
        _ => hex(&bytes),
    }
}

/// Flags that clients act on.
const FLAGS_COMPARED: u16 =
    column_flags::UNSIGNED | column_flags::ZEROFILL | column_flags::ENUM | column_flags::SET;

/// Returns the part of a column definition's type, length, decimals, flags and collation that is compared.
/// Left out are the length of computed values, and the decimals of other types than numbers and temporal
/// types.
fn essential(recorded: &str) -> String {
    let parts: Vec<u32> = recorded.split(' ').filter_map(|part| part.parse().ok()).collect();
    let [code, _, decimals, flags, collation] = parts[..] else {
        return recorded.to_owned();
    };
    // Clients treat the longer text types alike, and also INT and BIGINT.
    let code = match code {
        249..=252 => 252,
        8 => 3,
        code => code,
    };
    let decimals = if code < 249 { decimals } else { 0 };
    format!("{code} {decimals} {} {collation}", flags as u16 & FLAGS_COMPARED)
}

/// Returns the type as a column definition packet describes it.
fn described(ty: &ExprType) -> String {
    format!(
        "{} {} {} {} {}",
        ty.field_type().code(),
        ty.display_length(4),
        ty.wire_decimals(),
        ty.column_flags(),
        ty.wire_collation(Collation::Utf8mb4GeneralCi).id()
    )
}

/// Result of one server for an expression.
#[derive(Debug, Default, PartialEq, Clone)]
struct Answer {
    value: Option<String>,
    ty: Option<String>,
    warnings: Vec<String>,
    error: Option<String>,
}

fn ours(source: &str, table: &Table, session: &mut SessionContext) -> Answer {
    session.begin_statement(KeepDiagnostics::No);
    // Compare only this statement's conditions. Earlier ones, which the server keeps for statements without
    // tables, are not compared.
    session.diagnostics.clear(session.settings.max_error_count);
    let result = evaluate(source, table, session);
    let mut warnings: Vec<String> = Vec::new();
    for condition in session.diagnostics.conditions() {
        let line = format!("{} {}", condition.code, condition.message);
        if !warnings.contains(&line) {
            warnings.push(line);
        }
    }
    match result {
        Ok((value, ty)) => Answer {
            value: Some(shown(&value, &ty)),
            ty: Some(described(&ty)),
            warnings,
            error: None,
        },
        Err(error) => Answer {
            error: Some(error_line(&error)),
            ..Answer::default()
        },
    }
}

fn error_line(error: &Error) -> String {
    format!("{} {}", error.code(), error.message())
}

/// Returns the recorded results of a file.
fn recorded(path: &Path) -> Vec<(String, Answer)> {
    let mut answers: Vec<(String, Answer)> = Vec::new();
    for line in std::fs::read_to_string(path).unwrap().lines() {
        if let Some(source) = line.strip_prefix('>') {
            answers.push((
                source.trim_start_matches('>').trim().to_owned(),
                Answer::default(),
            ));
            continue;
        }
        let Some((_, answer)) = answers.last_mut() else {
            continue;
        };
        match line.get(..2) {
            Some("= ") => answer.value = Some(line[2..].to_owned()),
            Some(": ") => answer.ty = Some(line[2..].to_owned()),
            Some("~ ") => answer.warnings.push(line[2..].to_owned()),
            Some("! ") => answer.error = Some(line[2..].to_owned()),
            _ => {}
        }
    }
    answers
}

/// Returns expressions with the lines in which they differ: `value`, `type`, `warnings`, `error`.
fn deviations(folder: &Path) -> BTreeMap<String, Vec<String>> {
    let mut out = BTreeMap::new();
    for line in std::fs::read_to_string(folder.join("deviations.txt"))
        .unwrap_or_default()
        .lines()
    {
        if let Some((kinds, source)) = line.split_once(" > ") {
            out.insert(
                source.trim().to_owned(),
                kinds.split_whitespace().map(str::to_owned).collect(),
            );
        }
    }
    out
}

fn session() -> SessionContext {
    let mut session = SessionContext::new(7, Services::default());
    session.settings.time_zone = TimeZone::UTC;
    session.settings.timestamp_override = Some(1_700_000_000_123_456);
    session.database = Some("golden".to_owned());
    session.user = Account {
        user: "root".to_owned(),
        host: "localhost".to_owned(),
    };
    session.current_user = session.user.clone();
    session
}

#[test]
fn answers_are_mariadbs() {
    let folder = Path::new("tests/expressions");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
        .filter(|path| path.file_stem().is_some_and(|stem| stem != "deviations"))
        .collect();
    files.sort();
    let table = table();
    let mut allowed = deviations(folder);
    let mut report = String::new();
    let (mut compared, mut failed) = (0, 0);
    for file in files {
        let mut session = session();
        for (source, theirs) in recorded(&file) {
            compared += 1;
            let answer = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                ours(&source, &table, &mut session)
            }));
            let answer = answer.unwrap_or_else(|_| Answer {
                error: Some("panic".to_owned()),
                ..Answer::default()
            });
            let mut differing = Vec::new();
            for (kind, same) in [
                ("value", answer.value == theirs.value),
                (
                    "type",
                    answer.ty.as_deref().map(essential) == theirs.ty.as_deref().map(essential),
                ),
                ("warnings", answer.warnings == theirs.warnings),
                ("error", answer.error == theirs.error),
            ] {
                if !same {
                    differing.push(kind);
                }
            }
            let expected = allowed.remove(&source).unwrap_or_default();
            if differing != expected {
                failed += 1;
                let name = file.file_stem().unwrap().to_string_lossy();
                let _ = writeln!(report, "[{name}] {} > {source}", differing.join(" "));
                for (label, side) in [("MariaDB", &theirs), ("ours", &answer)] {
                    let _ = writeln!(
                        report,
                        "    {label:8} {} : {} ~ {} ! {}",
                        side.value.as_deref().unwrap_or("-"),
                        side.ty.as_deref().unwrap_or("-"),
                        side.warnings.join(" ~ "),
                        side.error.as_deref().unwrap_or("-"),
                    );
                }
            }
        }
    }
    for source in allowed.keys() {
        failed += 1;
        let _ = writeln!(
            report,
            "deviations.txt lists an expression that no file has: {source}"
        );
    }
    assert!(compared > 800, "only {compared} expressions were found");
    assert_eq!(failed, 0, "{failed} of {compared} answers differ\n{report}");
}

#[test]
fn classes_follow_types() {
    assert_eq!(ExprType::boolean().class(), Class::Int);
    assert_eq!(ExprType::null().class(), Class::Null);
}
