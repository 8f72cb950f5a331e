//! Expressions beside MariaDB 10.11: golden scripts (`testscripts`) of their values, types, warnings and errors. Each
//! is parsed, bound and evaluated over the first row of the table of `testscripts/table.sql`; one with aggregates,
//! which is tagged `[all]`, over all rows.
//!
//! ```text
//!   = 2024-02-29                       value; \N is NULL, x:… are bytes that are not text
//!   type: date, binary                 type with its decimals, flags, and collation
//!   warning 1292: …                    conditions, each once
//! ```

use std::fmt::Write;
use std::sync::Arc;

use paceline_expression::session::{Account, KeepDiagnostics, Services, SessionContext};
use paceline_expression::{
    Aggregate, Class, EvalContext, EvalState, Expr, ExprKind, ExprType, Scope, SlotNames, bind_expr, errors,
};
use paceline_golden_script::{Answers, Command, Context, Runner};
use paceline_syntax::Result;
use paceline_syntax::ast::{self, ColumnName};
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

/// Names in the statement that MariaDB has answered.
struct TableNames<'t> {
    table: &'t Table,
    /// The expression as written.
    source: &'t str,
    /// Its place in memory.
    item: usize,
}

impl SlotNames for TableNames<'_> {
    fn append_slot(&self, slot: usize, _parameters: &[Value], out: &mut String) {
        self.append_column(slot, out);
    }

    fn item_name(&self, place: usize) -> Option<&str> {
        (place == self.item).then_some(self.source)
    }

    fn append_column(&self, slot: usize, out: &mut String) -> bool {
        let (name, _) = &self.table.columns[slot];
        let _ = write!(out, "`golden`.`t`.`{name}`");
        true
    }
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
        panic!("{source} is not a query")
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
    let names = TableNames {
        table,
        source,
        item: std::ptr::from_ref(&expr).addr(),
    };
    context.names = Some(&names);
    let value = expr.eval(&table.rows[0], &mut context)?;
    Ok((value, expr.ty.clone()))
}

/// Shows a value as `tools/record_scripts.py` does.
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

/// Describes the part of a type that is compared. Left out are the length, the decimals of other types than numbers and
/// temporal types, and flags that clients ignore. The longer text types are one, and so are INT and BIGINT.
fn described(ty: &ExprType) -> String {
    let code = ty.field_type().code();
    let name = match code {
        1 => "tinyint",
        2 => "smallint",
        3 | 8 => "int",
        4 => "float",
        5 => "double",
        6 => "null",
        7 => "timestamp",
        9 => "mediumint",
        10 => "date",
        11 => "time",
        12 => "datetime",
        13 => "year",
        16 => "bit",
        246 => "decimal",
        249..=252 => "blob",
        253 => "varchar",
        254 => "char",
        other => panic!("type {other}"),
    };
    let mut words = vec![name.to_owned()];
    let decimals = ty.wire_decimals();
    if code < 249 && decimals != 0 {
        words.push(format!("{decimals} decimals"));
    }
    for (flag, word) in [
        (column_flags::UNSIGNED, "unsigned"),
        (column_flags::ZEROFILL, "zerofill"),
        (column_flags::ENUM, "enum"),
        (column_flags::SET, "set"),
    ] {
        if ty.column_flags() & flag != 0 {
            words.push(word.to_owned());
        }
    }
    words.push(ty.wire_collation(Collation::Utf8mb4GeneralCi).name().to_owned());
    words.join(", ")
}

/// Answers expressions, in one session.
struct ExpressionRunner {
    table: Table,
    session: SessionContext,
}

impl ExpressionRunner {
    fn new() -> Self {
        ExpressionRunner {
            table: table(),
            session: session(),
        }
    }

    fn answer(&mut self, source: &str) -> String {
        let session = &mut self.session;
        session.begin_statement(KeepDiagnostics::No);
        // Compare only this statement's conditions. Earlier ones, which the server keeps for statements without
        // tables, are not compared.
        session.diagnostics.clear(session.settings.max_error_count);
        let (value, ty) = match evaluate(source, &self.table, session) {
            Ok(result) => result,
            Err(error) => return format!("error {}: {}\n", error.code(), error.message()),
        };
        let mut out = format!("= {}\ntype: {}\n", shown(&value, &ty), described(&ty));
        let mut known: Vec<String> = Vec::new();
        for condition in self.session.diagnostics.conditions() {
            let level = condition.level.as_str().to_lowercase();
            let line = format!("{level} {}: {}\n", condition.code, condition.message);
            if !known.contains(&line) {
                out += &line;
                known.push(line);
            }
        }
        out
    }
}

impl Runner for ExpressionRunner {
    type Command = Command;

    fn run(
        &mut self,
        command: &Command,
        _: &Context,
    ) -> std::result::Result<String, Box<dyn std::error::Error>> {
        let answer = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| self.answer(&command.name)));
        Ok(answer.unwrap_or_else(|_| "panic".to_owned()))
    }
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
    let answers = paceline_golden_script::run_folder("testscripts", Answers::MariaDb, ExpressionRunner::new);
    assert!(answers > 1_500, "only {answers} answers were found");
}

#[test]
fn classes_follow_types() {
    assert_eq!(ExprType::boolean().class(), Class::Int);
    assert_eq!(ExprType::null().class(), Class::Null);
}
