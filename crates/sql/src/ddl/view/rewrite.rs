//! The form in which MariaDB keeps an expression: negations carried inwards, functions under one name, dates and times as sums.

use paceline_types::Collation;
use sqlparser::ast::{
    BinaryOperator, CastKind, CharacterLength, DataType, DateTimeField, Expr, Function, FunctionArg,
    FunctionArgExpr, FunctionArgumentList, FunctionArguments, Ident, Interval, ObjectName, Query, SelectItem,
    SetExpr, UnaryOperator, Value,
};

use super::super::normal_form;
use crate::error::Result;
use crate::parse::{GENERATED_NAME, arguments_mut};

pub(super) fn binary(left: Expr, op: BinaryOperator, right: Expr) -> Expr {
    Expr::BinaryOp {
        left: Box::new(left),
        op,
        right: Box::new(right),
    }
}

pub(super) fn number(text: &str) -> Expr {
    Expr::Value(Value::Number(text.to_owned(), false).with_empty_span())
}

/// What a condition is as a whole: a bare column is compared with 0.
pub(super) fn truth(expr: Expr) -> Expr {
    normal_form::truth(expr)
}

/// TIMESTAMPADD and its like: the first argument is no expression.
pub(super) fn is_unit_function(function: &Function) -> bool {
    let name = function.name.to_string();
    ["TIMESTAMPADD", "TIMESTAMPDIFF", "GET_FORMAT"]
        .iter()
        .any(|known| known.eq_ignore_ascii_case(&name))
}

/// `EXISTS (SELECT * …)` asks for no columns, and for one row.
pub(super) fn select_one(query: &mut Query) {
    if let SetExpr::Select(select) = &mut *query.body {
        for item in &mut select.projection {
            if matches!(item, SelectItem::Wildcard(_)) {
                *item = SelectItem::ExprWithAlias {
                    expr: number("1"),
                    alias: Ident {
                        value: "1".to_owned(),
                        quote_style: Some(GENERATED_NAME),
                        span: sqlparser::tokenizer::Span::empty(),
                    },
                };
            }
        }
    }
    if query.limit_clause.is_none() {
        query.limit_clause = Some(sqlparser::ast::LimitClause::LimitOffset {
            limit: Some(number("1")),
            offset: None,
            limit_by: Vec::new(),
        });
    }
}

/// An expression, whose parts have it already, in the form that is kept.
pub(super) fn rewritten(expr: Expr, connection: Collation) -> Result<Expr> {
    Ok(match expr {
        Expr::Nested(inner) => *inner,
        Expr::UnaryOp {
            op: UnaryOperator::Plus,
            expr,
        } => *expr,
        Expr::Exists {
            subquery,
            negated: true,
        } => not(Expr::Exists {
            subquery,
            negated: false,
        }),
        Expr::InSubquery {
            expr,
            subquery,
            negated: true,
        } => not(Expr::InSubquery {
            expr,
            subquery,
            negated: false,
        }),
        Expr::RLike {
            negated: true,
            expr,
            pattern,
            regexp,
        } => not(Expr::RLike {
            negated: false,
            expr,
            pattern,
            regexp,
        }),
        Expr::AnyOp {
            left,
            compare_op: BinaryOperator::Eq,
            right,
            is_some,
        } => match *right {
            Expr::Subquery(subquery) => Expr::InSubquery {
                expr: left,
                subquery,
                negated: false,
            },
            right => Expr::AnyOp {
                left,
                compare_op: BinaryOperator::Eq,
                right: Box::new(right),
                is_some,
            },
        },
        Expr::Cast {
            kind: CastKind::Cast,
            expr,
            data_type,
            ..
        } => cast(expr, data_type, connection),
        Expr::Function(function) => called(function),
        // `INTERVAL 1 DAY + d`
        Expr::BinaryOp {
            left,
            op: BinaryOperator::Plus,
            right,
        } if matches!(*left, Expr::Interval(_)) => Expr::BinaryOp {
            left: right,
            op: BinaryOperator::Plus,
            right: left,
        },
        other => normal_form::condition_step(other),
    })
}

fn not(expr: Expr) -> Expr {
    Expr::UnaryOp {
        op: UnaryOperator::Not,
        expr: Box::new(expr),
    }
}

/// A cast to text names its character set; one to bytes is one to text of that set.
fn cast(expr: Box<Expr>, data_type: DataType, connection: Collation) -> Expr {
    let (length, charset) = match data_type {
        DataType::Char(length) => (length, connection.charset().name()),
        DataType::Binary(length) => {
            let length = length.map(|length| CharacterLength::IntegerLength { length, unit: None });
            (length, "binary")
        }
        data_type => {
            return Expr::Cast {
                kind: CastKind::Cast,
                expr,
                data_type,
                format: None,
            };
        }
    };
    Expr::Convert {
        is_try: false,
        expr,
        data_type: Some(DataType::Char(length)),
        charset: Some(ObjectName::from(vec![Ident::new(charset)])),
        target_before_value: false,
        styles: Vec::new(),
    }
}

fn call(name: &str, arguments: Vec<Expr>) -> Expr {
    let args = arguments
        .into_iter()
        .map(|expr| FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)))
        .collect();
    Expr::Function(Function {
        name: ObjectName::from(vec![Ident::new(name)]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList {
            duplicate_treatment: None,
            args,
            clauses: Vec::new(),
        }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    })
}

fn cast_as(expr: Expr, data_type: DataType) -> Expr {
    Expr::Cast {
        kind: CastKind::Cast,
        expr: Box::new(expr),
        data_type,
        format: None,
    }
}

fn days(value: Expr) -> Expr {
    match value {
        interval @ Expr::Interval(_) => interval,
        value => interval_of(value, DateTimeField::Day),
    }
}

fn interval_of(value: Expr, unit: DateTimeField) -> Expr {
    Expr::Interval(Interval {
        value: Box::new(value),
        leading_field: Some(unit),
        leading_precision: None,
        last_field: None,
        fractional_seconds_precision: None,
    })
}

/// A function under the name that MariaDB has for it.
fn called(mut function: Function) -> Expr {
    use BinaryOperator::{Minus, Modulo, Plus};
    let name = function.name.to_string().to_lowercase();
    let plain = function.over.is_none() && function.within_group.is_empty();
    let mut arguments: Vec<Expr> = arguments_mut(&mut function)
        .into_iter()
        .map(|expr| expr.clone())
        .collect();
    let has_more = match &function.args {
        FunctionArguments::List(list) => {
            list.duplicate_treatment.is_some()
                || !list.clauses.is_empty()
                || list.args.len() != arguments.len()
        }
        _ => false,
    };
    if !plain || has_more {
        return renamed(function, &name);
    }
    let count = arguments.len();
    let mut next = || arguments.remove(0);
    match (name.as_str(), count) {
        ("mod", 2) => {
            let left = next();
            binary(left, Modulo, next())
        }
        ("isnull", 1) => Expr::IsNull(Box::new(next())),
        ("date", 1) => cast_as(next(), DataType::Date),
        ("time", 1) => cast_as(next(), DataType::Time(None, sqlparser::ast::TimezoneInfo::None)),
        ("timestamp", 1) => cast_as(next(), DataType::Datetime(None)),
        ("date_add" | "adddate", 2) => {
            let date = next();
            binary(date, Plus, days(next()))
        }
        ("date_sub" | "subdate", 2) => {
            let date = next();
            binary(date, Minus, days(next()))
        }
        ("timestampadd", 3) => {
            let unit = next();
            let amount = next();
            let date = next();
            match unit_of(&unit) {
                Some(unit) => binary(date, Plus, interval_of(amount, unit)),
                None => call("timestampadd", vec![unit, amount, date]),
            }
        }
        ("datediff", 2) => {
            let later = call("to_days", vec![next()]);
            binary(later, Minus, call("to_days", vec![next()]))
        }
        ("instr", 2) => {
            let text = next();
            call("locate", vec![next(), text])
        }
        ("bin", 1) => call("conv", vec![next(), number("10"), number("2")]),
        ("oct", 1) => call("conv", vec![next(), number("10"), number("8")]),
        ("round", 1) => call("round", vec![next(), number("0")]),
        ("weekofyear", 1) => call("week", vec![next(), number("3")]),
        ("yearweek", 1) => call("yearweek", vec![next(), number("0")]),
        ("from_unixtime", 2) => {
            let time = call("from_unixtime", vec![next()]);
            call("date_format", vec![time, next()])
        }
        _ => renamed(function, &name),
    }
}

fn renamed(mut function: Function, name: &str) -> Expr {
    let is_single = matches!(&function.args, FunctionArguments::List(list) if list.args.len() == 1);
    if matches!(name, "lag" | "lead")
        && is_single
        && let FunctionArguments::List(list) = &mut function.args
    {
        list.args
            .push(FunctionArg::Unnamed(FunctionArgExpr::Expr(number("1"))));
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
    function.name = ObjectName::from(vec![Ident::new(kept)]);
    Expr::Function(function)
}

fn unit_of(expr: &Expr) -> Option<DateTimeField> {
    let Expr::Identifier(name) = expr else { return None };
    Some(match name.value.to_ascii_uppercase().as_str() {
        "MICROSECOND" => DateTimeField::Microsecond,
        "SECOND" => DateTimeField::Second,
        "MINUTE" => DateTimeField::Minute,
        "HOUR" => DateTimeField::Hour,
        "DAY" => DateTimeField::Day,
        "WEEK" => DateTimeField::Week(None),
        "MONTH" => DateTimeField::Month,
        "QUARTER" => DateTimeField::Quarter,
        "YEAR" => DateTimeField::Year,
        _ => return None,
    })
}
