//! MariaDB's stored form of a view's expressions: negations moved inwards, functions under one name, date
//! arithmetic as sums.

use paceline_types::Collation;

use super::super::normal_form;
use paceline_syntax::ast::{
    Arguments, BinaryOp, CastType, Expr, FunctionCall, Interval, IntervalUnit, ItemName, Limit, Quantifier,
    Query, QueryBody, SelectItem, Ties, TruthTest, UnaryOp,
};

/// Returns the form of a whole condition: a bare column is compared with 0.
pub(super) fn truth(expr: Expr) -> Expr {
    normal_form::truth(expr)
}

/// Makes `EXISTS (SELECT * …)` select 1, with a limit of one row.
pub(super) fn select_one(query: &mut Query) {
    if let QueryBody::Select(select) = &mut query.body {
        for item in &mut select.items {
            if matches!(item, SelectItem::Wildcard) {
                *item = SelectItem::Expr {
                    expr: Expr::number("1"),
                    name: ItemName::Text("1".to_owned()),
                };
            }
        }
    }
    if query.limit.is_none() {
        query.limit = Some(Limit {
            offset: None,
            count: Some(Expr::number("1")),
            ties: Ties::Cut,
        });
    }
}

/// Returns an expression in the stored form. Its children have it already.
pub(super) fn rewritten(expr: Expr, connection: Collation) -> Expr {
    match expr {
        Expr::Nested(inner) => *inner,
        Expr::Unary {
            op: UnaryOp::Plus,
            operand,
        } => *operand,
        Expr::InSubquery {
            operand,
            subquery,
            negated: true,
        } => Expr::negation(Expr::InSubquery {
            operand,
            subquery,
            negated: false,
        }),
        Expr::Regexp {
            text,
            pattern,
            negated: true,
        } => Expr::negation(Expr::Regexp {
            text,
            pattern,
            negated: false,
        }),
        Expr::Quantified {
            left,
            op: BinaryOp::Equal,
            quantifier: Quantifier::Any,
            subquery,
        } => Expr::InSubquery {
            operand: left,
            subquery,
            negated: false,
        },
        Expr::Cast { operand, target } => Expr::Cast {
            operand,
            target: with_charset(target, connection),
        },
        Expr::TimestampAdd { unit, amount, date } => {
            let interval = Interval { value: amount, unit };
            Expr::binary(*date, BinaryOp::Add, Expr::Interval(interval))
        }
        Expr::Call(call) => called(*call),
        // `INTERVAL 1 DAY + d`
        Expr::Binary {
            left,
            op: BinaryOp::Add,
            right,
        } if matches!(*left, Expr::Interval(_)) => Expr::binary(*right, BinaryOp::Add, *left),
        other => normal_form::condition_step(other),
    }
}

/// Adds the character set to a cast to text. A cast to bytes becomes one to text with the set `binary`.
fn with_charset(target: CastType, connection: Collation) -> CastType {
    match target {
        CastType::Char {
            length,
            charset: None,
        } => CastType::Char {
            length,
            charset: Some(connection.charset().name().to_owned()),
        },
        CastType::Binary(length) => CastType::Char {
            length,
            charset: Some("binary".to_owned()),
        },
        target => target,
    }
}

fn cast_as(operand: Expr, target: CastType) -> Expr {
    Expr::Cast {
        operand: Box::new(operand),
        target,
    }
}

/// Returns an interval to be added. A number without a unit is a number of days.
fn days(value: Expr) -> Expr {
    match value {
        interval @ Expr::Interval(_) => interval,
        value => Expr::Interval(Interval {
            value: Box::new(value),
            unit: IntervalUnit::Day,
        }),
    }
}

/// Returns a call with MariaDB's name for the function.
fn called(call: FunctionCall) -> Expr {
    use BinaryOp::{Add, Modulo, Subtract};
    let name = call.full_name().to_lowercase();
    if !call.is_plain() {
        return renamed(call, &name);
    }
    let mut arguments = call.arguments.exprs().to_vec();
    let count = arguments.len();
    let mut next = || arguments.remove(0);
    match (name.as_str(), count) {
        ("mod", 2) => {
            let left = next();
            Expr::binary(left, Modulo, next())
        }
        ("isnull", 1) => Expr::Is {
            operand: Box::new(next()),
            test: TruthTest::Null,
            negated: false,
        },
        ("date", 1) => cast_as(next(), CastType::Date),
        ("time", 1) => cast_as(next(), CastType::Time(None)),
        ("timestamp", 1) => cast_as(next(), CastType::DateTime(None)),
        ("date_add" | "adddate", 2) => {
            let date = next();
            Expr::binary(date, Add, days(next()))
        }
        ("date_sub" | "subdate", 2) => {
            let date = next();
            Expr::binary(date, Subtract, days(next()))
        }
        ("datediff", 2) => {
            let later = Expr::call("to_days", vec![next()]);
            Expr::binary(later, Subtract, Expr::call("to_days", vec![next()]))
        }
        ("instr", 2) => {
            let text = next();
            Expr::call("locate", vec![next(), text])
        }
        ("bin", 1) => Expr::call("conv", vec![next(), Expr::number("10"), Expr::number("2")]),
        ("oct", 1) => Expr::call("conv", vec![next(), Expr::number("10"), Expr::number("8")]),
        ("round", 1) => Expr::call("round", vec![next(), Expr::number("0")]),
        ("weekofyear", 1) => Expr::call("week", vec![next(), Expr::number("3")]),
        ("yearweek", 1) => Expr::call("yearweek", vec![next(), Expr::number("0")]),
        ("from_unixtime", 2) => {
            let time = Expr::call("from_unixtime", vec![next()]);
            Expr::call("date_format", vec![time, next()])
        }
        _ => renamed(call, &name),
    }
}

fn renamed(mut call: FunctionCall, name: &str) -> Expr {
    if matches!(name, "lag" | "lead")
        && let Arguments::List(arguments) = &mut call.arguments
        && arguments.len() == 1
    {
        arguments.push(Expr::number("1"));
    }
    let kept = match name {
        "day" => "dayofmonth",
        "power" => "pow",
        "atan2" => "atan",
        "sha1" => "sha",
        "session_user" | "system_user" => "user",
        "schema" => "database",
        "nvl" => "ifnull",
        "stddev" | "stddev_pop" => "std",
        "var_pop" => "variance",
        other => other,
    };
    call.database = None;
    call.name = kept.to_owned();
    Expr::Call(Box::new(call))
}
