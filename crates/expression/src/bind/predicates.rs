//! IN, ANY and ALL, LIKE; subqueries as values.

use std::sync::Arc;

use paceline_types::error_code::ER_WRONG_ARGUMENTS;
use paceline_types::{Collation, DataType};

use crate::bind::{bind_expr, bind_operand};
use crate::error::Result;
use crate::errors;
use crate::eval::like::escape_character;
use crate::expr_type::{Class, ExprType};
use crate::rules::{self, CollationMix, round_quotient};
use crate::scope::Scope;
use crate::subquery::{Correlation, Subquery};
use crate::tree::{
    CastTarget, CompareOp, Comparison, DEFAULT_ESCAPE, Escape, Expr, ExprKind, InSet, Quantifier,
};
use crate::typing::charset::in_common_charset;
use crate::typing::operands::width;
use crate::typing::{adaptation, comparison, operands, reading};
use paceline_syntax::ast;

pub(super) fn in_list(
    needle: &ast::Expr,
    list: &[ast::Expr],
    negated: bool,
    scope: &mut dyn Scope,
) -> Result<Expr> {
    let mut needle = bind_operand(needle, scope)?;
    let mut items = list
        .iter()
        .map(|item| bind_operand(item, scope))
        .collect::<Result<Vec<_>>>()?;
    let session = scope.session();
    let connection = session.settings.collation_connection;
    let mut rules = Vec::with_capacity(items.len());
    let mut nullable = needle.ty.nullable;
    // Texts are all compared in a single collation.
    let mut of_texts = None;
    let operation = match (items.len(), negated) {
        (1, false) => "=",
        (1, true) => "<>",
        _ => "in",
    };
    for item in &mut items {
        if width(&needle) != 1 || width(item) != 1 {
            operands::check_rows(operation, &needle, item)?;
            operands::flatten(item);
        }
    }
    operands::flatten(&mut needle);
    let columns = width(&needle);
    if columns == 1 {
        let types: Vec<&ExprType> = std::iter::once(&needle.ty)
            .chain(items.iter().map(|item| &item.ty))
            .collect();
        let texts = types
            .iter()
            .all(|ty| matches!(ty.class(), Class::String | Class::Null) && !ty.is_parameter());
        if texts {
            let collation = CollationMix::for_comparison(&types, connection, operation)?;
            let operands: Vec<&Expr> = std::iter::once(&needle).chain(&items).collect();
            CollationMix::check_literals(&operands, collation, connection, operation)?;
            of_texts = Some(Comparison::of_texts(collation));
        } else if needle.ty.class() == Class::String && !types.iter().any(|ty| ty.is_parameter()) {
            // Texts among operands of other types must have compatible collations too.
            let texts: Vec<&ExprType> = types
                .iter()
                .copied()
                .filter(|ty| ty.class() == Class::String)
                .collect();
            let collation = CollationMix::for_comparison(&texts, connection, operation)?;
            let operands: Vec<&Expr> = std::iter::once(&needle).chain(&items).collect();
            CollationMix::check_literals(&operands, collation, connection, operation)?;
        }
    }
    let single = items.len() == 1;
    let column_rules = match columns {
        1 => Vec::new(),
        _ => rules_of_columns(operation, &needle, &items, connection)?,
    };
    let mut asked = Vec::with_capacity(items.len());
    let are_constants_of_one_kind = columns == 1 && {
        let kind = |item: &Expr| match rules::comparison_rule_for(operation, &needle.ty, &item.ty, connection)
        {
            Ok(Comparison::Decimal) => Some(Comparison::Int),
            by => by.ok(),
        };
        let mut kinds = items.iter().filter(|item| !item.ty.is_null()).map(kind);
        let first = kinds.next();
        items.iter().all(Expr::is_constant_during_execution) && kinds.all(|by| Some(by) == first)
    };
    for item in &mut items {
        nullable |= item.ty.nullable;
        if columns == 1 {
            let mut by = match &of_texts {
                Some(by) => by.clone(),
                None => rules::comparison_rule_for(operation, &needle.ty, &item.ty, connection)?,
            };
            // `a IN (b)` is `a = b`. With a longer list, JSON is compared with its quotes.
            if single {
                adaptation::unquote_json(&by, &mut needle, item, session);
            }
            // All items share the needle, so only the items are converted.
            let mut unchanged = needle.clone();
            let decimals = comparison::fixed_decimals(&by, &needle.ty, &item.ty);
            if single {
                adaptation::compare_exactly(&mut by, &needle, item);
            }
            if !item.ty.is_null() {
                asked.push(by.clone());
            }
            if are_constants_of_one_kind && by.is_numeric() {
                reading::hex_to_number(item);
            }
            if single {
                adaptation::adapt(&mut by, &mut unchanged, item, session);
            } else if are_constants_of_one_kind && adaptation::literal_to_column(&needle, item, session) {
                by = Comparison::Int;
            } else {
                adaptation::adapt_each(&mut by, &mut unchanged, item, session);
                adaptation::literal_to_number(&by, item);
            }
            if single {
                comparison::compare_fixed(&mut by, decimals);
                round_quotient(&by, &mut needle);
                round_quotient(&by, item);
            }
            rules.push(by);
        } else {
            let mut by = column_rules.clone();
            let mut unchanged = needle.clone();
            let pairs = operands::elements(&mut unchanged)
                .iter_mut()
                .zip(operands::elements(item));
            for (by, (left, right)) in by.iter_mut().zip(pairs) {
                adaptation::adapt_each(by, left, right, session);
                adaptation::literal_to_number(by, right);
            }
            rules.push(Comparison::Row(by));
        }
    }
    let is_constant_list = items.iter().all(Expr::is_constant_during_execution);
    if !single && is_constant_list && asked.windows(2).all(|pair| pair[0] == pair[1]) {
        items.iter_mut().for_each(adaptation::converted_before);
    }
    let ty = ExprType::boolean().with_nullable(nullable);
    // A NULL asks for nothing.
    let asking: Vec<Comparison> = rules
        .iter()
        .zip(&items)
        .filter(|(_, item)| columns > 1 || !item.ty.is_null())
        .map(|(by, _)| by.clone())
        .collect();
    adaptation::adapt_shared(&mut needle, &asking, session);
    Ok(Expr {
        kind: ExprKind::InList {
            by: rules,
            negated,
            needle: Box::new(needle),
            list: items,
            set: InSet::default(),
        },
        ty,
    })
}

/// Returns the rules for the columns of a row that is searched in a list of rows: one rule per column.
fn rules_of_columns(
    operation: &str,
    needle: &Expr,
    items: &[Expr],
    connection: Collation,
) -> Result<Vec<Comparison>> {
    let needles = operands::column_types(needle);
    let lists: Vec<Vec<ExprType>> = items.iter().map(operands::column_types).collect();
    if lists.iter().any(|list| list.len() != needles.len()) {
        return Err(errors::operand_columns(needles.len()));
    }
    (0..needles.len())
        .map(|column| {
            let listed: Vec<&ExprType> = lists.iter().map(|list| &list[column]).collect();
            rules::rule_of_column(operation, &needles[column], &listed, connection)
        })
        .collect()
}

pub(super) fn scalar_subquery(subquery: Subquery) -> Expr {
    let ty = match &subquery.columns[..] {
        [column] => match column.data_type {
            DataType::Enum { collation, .. } | DataType::Set { collation, .. } => {
                ExprType::text(column.max_characters(), collation).with_coercibility(column.coercibility)
            }
            _ => column.clone(),
        }
        .nullable(),
        _ => ExprType::null(),
    };
    Expr {
        kind: ExprKind::ScalarSubquery(Arc::new(subquery)),
        ty,
    }
}

pub(super) fn quantified(
    left: &ast::Expr,
    op: CompareOp,
    quantifier: Quantifier,
    query: &ast::Query,
    scope: &mut dyn Scope,
) -> Result<Expr> {
    // MariaDB binds the left operand apart from the clause.
    let clause = scope.rename_clause(Some("IN/ALL/ANY"));
    let left = bind_operand(left, scope);
    scope.rename_clause(clause);
    let mut left = left?;
    let subquery = Arc::new(scope.bind_subquery(query)?);
    let types = operands::column_types(&left);
    if types.len() != subquery.columns.len() {
        return Err(errors::operand_columns(types.len()));
    }
    let equality = matches!(
        (op, quantifier),
        (CompareOp::Eq, Quantifier::Any) | (CompareOp::Ne, Quantifier::All)
    );
    if types.len() > 1 && !equality {
        return Err(errors::operand_columns(1));
    }
    let session = scope.session();
    let is_fixed_binary = |ty: &ExprType| matches!(ty.class(), Class::FixedBinary(_));
    let operation = match equality {
        // MariaDB refuses a UUID beside a number in each comparison of its own.
        true if types.iter().chain(&subquery.columns).any(is_fixed_binary) => "=",
        true => "in",
        false => op.as_str(),
    };
    let mut by = comparison::row_rules(operation, &types, &subquery.columns, session)?;
    let elements = operands::elements(&mut left);
    for ((by, column), element) in by.iter_mut().zip(&subquery.columns).zip(elements) {
        // The values of the rows are converted when the subquery runs.
        let mut column = Expr::column(0, column.clone());
        adaptation::unquote_json(by, element, &mut column, session);
        let decimals = comparison::fixed_decimals(by, &element.ty, &column.ty);
        // For `<` and similar operators MariaDB keeps the left side as text if its type is text: ADDTIME of a
        // text and an ENUM value are not converted to numbers.
        let is_kept = !equality && element.ty.class() == Class::String && !element.ty.is_parameter();
        // A left side that is looked up in a subquery's rows is read before the lookup, and less leniently
        // than one that is compared with each row.
        let is_read_before = matches!(by, Comparison::DateTime | Comparison::Time)
            && subquery.correlation == Correlation::Uncorrelated
            && !element.is_constant_during_execution();
        if is_kept || is_read_before {
            adaptation::adapt(by, &mut element.clone(), &mut column, session);
            if is_kept {
                as_text(element);
            }
        } else {
            adaptation::adapt(by, element, &mut column, session);
        }
        comparison::compare_fixed(by, decimals);
        round_quotient(by, element);
    }
    Ok(Expr {
        kind: ExprKind::Quantified {
            op,
            by,
            quantifier,
            left: Box::new(left),
            subquery,
        },
        ty: ExprType::boolean().nullable(),
    })
}

/// Converts an ENUM or SET value to its text.
fn as_text(expr: &mut Expr) {
    let collation = match expr.ty.data_type {
        DataType::Enum { collation, .. } | DataType::Set { collation, .. } => collation,
        _ => return,
    };
    let ty = ExprType::text(expr.ty.max_characters(), collation)
        .with_coercibility(expr.ty.coercibility)
        .with_nullable(expr.ty.nullable);
    let operand = Box::new(std::mem::replace(expr, Expr::null()));
    let target = CastTarget::Char {
        length: None,
        collation,
    };
    *expr = Expr {
        kind: ExprKind::Cast { target, operand },
        ty,
    };
}

pub(super) fn like(
    text: &ast::Expr,
    pattern: &ast::Expr,
    escape: Option<&ast::Expr>,
    negated: bool,
    scope: &mut dyn Scope,
) -> Result<Expr> {
    let mut text = bind_expr(text, scope)?;
    let mut pattern = bind_expr(pattern, scope)?;
    let mode = scope.session().settings.sql_mode;
    let escape = match escape {
        None => Escape::Character(DEFAULT_ESCAPE),
        Some(escape) => {
            let escape = bind_expr(escape, scope)?;
            match escape.as_literal() {
                Some(value) => Escape::Character(escape_character(value, mode)?),
                None if escape.is_constant_during_execution() => Escape::Computed(Box::new(escape)),
                None => return Err(errors::error(ER_WRONG_ARGUMENTS, &[&"ESCAPE"])),
            }
        }
    };
    let connection = scope.session().settings.collation_connection;
    let collation = CollationMix::for_comparison(&[&text.ty, &pattern.ty], connection, "like")?;
    CollationMix::check_literals(&[&text, &pattern], collation, connection, "like")?;
    for operand in [&mut text, &mut pattern] {
        in_common_charset(operand, collation, scope.session());
    }
    let nullable = text.ty.nullable || pattern.ty.nullable;
    Ok(Expr {
        kind: ExprKind::Like {
            negated,
            collation,
            escape,
            operands: Box::new([text, pattern]),
        },
        ty: ExprType::boolean().with_nullable(nullable),
    })
}
