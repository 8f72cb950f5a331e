//! Names of a view's query, resolved: what is left depends on nothing that can change but the tables themselves.
//!
//! `*` becomes the columns that there are now; a column gets the name of its table, a table that of its database; an alias of the select list that
//! GROUP BY or ORDER BY names becomes its expression; USING and NATURAL become conditions, RIGHT JOIN a LEFT JOIN with its sides swapped; a named
//! window its definition. Expressions get the form that MariaDB keeps ([`super::rewrite`]).
//!
//! The query is one that has been planned, so names that would be wrong are not looked for here: the first that fits is the one.

use sqlparser::ast::{
    self, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentClause, FunctionArguments, Ident,
    Query, Select, SelectItem, SetExpr, Value, WindowSpec, WindowType,
};

use paceline_types::error_code::*;

use super::rewrite::{self, is_unit_function};
use super::scope::{Common, Place, Scope, Surroundings, Table, ident};
use crate::catalog::{Catalog, same_name};
use crate::error::{Error, Result};
use crate::parse::{GENERATED_NAME, for_each_child, table_name};
use crate::session::SessionContext;
use crate::stack;

/// Queries within queries, and views of views, go this deep.
const DEPTH_MAX: u32 = 63;

/// Resolves names against a catalog.
pub(super) struct Resolver<'a> {
    pub catalog: &'a Catalog,
    pub session: &'a SessionContext,
    pub depth: u32,
}

/// An item of a select list.
struct Output {
    name: String,
    /// Whether the name was given by AS.
    is_named: bool,
    expr: Expr,
}

impl Resolver<'_> {
    /// Resolves a query in place; gives the names of its columns.
    pub fn query(&mut self, query: &mut Query, around: &Surroundings) -> Result<Vec<String>> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(Error::new(ER_TOO_HIGH_LEVEL_OF_NESTING_FOR_SELECT, &[]));
        }
        let mut around = around.clone();
        if let Some(with) = &mut query.with {
            self.with(with, &mut around)?;
        }
        let names = self.body(&mut query.body, query.order_by.as_mut(), &around)?;
        self.depth -= 1;
        Ok(names)
    }

    fn with(&mut self, with: &mut ast::With, around: &mut Surroundings) -> Result<()> {
        for table in &mut with.cte_tables {
            let name = table.alias.name.value.clone();
            let mut inner = Surroundings {
                scopes: Vec::new(),
                common: around.common.clone(),
            };
            let given: Vec<String> = table
                .alias
                .columns
                .iter()
                .map(|column| column.name.value.clone())
                .collect();
            if with.recursive
                && let SetExpr::SetOperation { left, .. } = &*table.query.body
            {
                // The names of the first part are those of the whole.
                let columns = match given.is_empty() {
                    true => self.body(&mut left.clone(), None, &inner)?,
                    false => given.clone(),
                };
                inner.common.push(Common {
                    name: name.clone(),
                    columns,
                });
            }
            let mut columns = self.query(&mut table.query, &inner)?;
            if !given.is_empty() {
                set_names(&mut table.query.body, &given);
                columns = given;
            }
            around.common.push(Common { name, columns });
        }
        Ok(())
    }

    fn body(
        &mut self,
        body: &mut SetExpr,
        order_by: Option<&mut ast::OrderBy>,
        around: &Surroundings,
    ) -> Result<Vec<String>> {
        match body {
            SetExpr::Select(select) => self.select(select, order_by, around),
            SetExpr::Query(query) => {
                let names = self.query(query, around)?;
                Ok(names)
            }
            SetExpr::SetOperation { left, right, .. } => {
                let names = self.body(left, None, around)?;
                self.body(right, None, around)?;
                if let Some(order_by) = order_by {
                    self.order_by_of_union(order_by, &names, around)?;
                }
                Ok(names)
            }
            SetExpr::Values(values) => {
                let scopes = around.clone();
                for row in &mut values.rows {
                    for expr in &mut row.content {
                        self.expr(expr, &scopes)?;
                    }
                }
                let first = values.rows.first().map(|row| row.content.as_slice());
                Ok(first.unwrap_or_default().iter().map(value_name).collect())
            }
            _ => Err(Error::unsupported("this kind of query")),
        }
    }

    /// ORDER BY of a UNION: names of its columns stay as they are.
    fn order_by_of_union(
        &mut self,
        order_by: &mut ast::OrderBy,
        names: &[String],
        around: &Surroundings,
    ) -> Result<()> {
        for item in order_items(order_by) {
            match &mut item.expr {
                Expr::Identifier(name) if names.iter().any(|known| same_name(known, &name.value)) => {
                    name.quote_style = Some('`');
                }
                expr => self.expr(expr, around)?,
            }
        }
        Ok(())
    }

    fn select(
        &mut self,
        select: &mut Select,
        order_by: Option<&mut ast::OrderBy>,
        around: &Surroundings,
    ) -> Result<Vec<String>> {
        let mut scope = Scope::default();
        for item in &mut select.from {
            let visible = self.joined(item, &mut scope, around)?;
            scope.visible = std::mem::take(&mut scope.visible);
            scope.visible.extend(visible);
        }
        let mut inner = around.clone();
        inner.scopes.push(scope);
        inline_windows(select)?;
        let outputs = self.outputs(&mut select.projection, &inner)?;
        if let Some(condition) = &mut select.selection {
            self.condition(condition, &inner)?;
        }
        if let ast::GroupByExpr::Expressions(exprs, _) = &mut select.group_by {
            for expr in exprs {
                self.group(expr, &outputs, &inner)?;
            }
        }
        if let Some(condition) = &mut select.having {
            self.expr_with_aliases(condition, &outputs, &inner)?;
            *condition = rewrite::truth(std::mem::replace(condition, Expr::Identifier(Ident::new(""))));
        }
        if let Some(order_by) = order_by {
            for item in order_items(order_by) {
                self.order(&mut item.expr, &outputs, &inner)?;
            }
        }
        Ok(outputs.into_iter().map(|output| output.name).collect())
    }

    // The select list and what names its items ------------------------------------------------------------------

    fn outputs(&mut self, items: &mut Vec<SelectItem>, around: &Surroundings) -> Result<Vec<Output>> {
        let scope = around.scopes.last().cloned().unwrap_or_default();
        let mut outputs = Vec::with_capacity(items.len());
        for item in std::mem::take(items) {
            let (mut expr, name, is_named) = match item {
                SelectItem::Wildcard(_) => {
                    self.expand(&scope, &scope.visible, items, &mut outputs);
                    continue;
                }
                SelectItem::QualifiedWildcard(ast::SelectItemQualifiedWildcardKind::ObjectName(name), _) => {
                    let name = table_name(&name).ok_or_else(|| Error::unsupported("this name"))?;
                    let fits = |table: &Table| {
                        table.name == name.name
                            && (name.database.is_none() || table.database == name.database)
                    };
                    let number = scope.tables.iter().position(fits);
                    let number = number.ok_or_else(|| Error::new(ER_BAD_TABLE_ERROR, &[&name.name]))?;
                    let places: Vec<Place> = (0..scope.tables[number].columns.len())
                        .map(|column| (number, column))
                        .collect();
                    self.expand(&scope, &places, items, &mut outputs);
                    continue;
                }
                SelectItem::UnnamedExpr(expr) => {
                    let name = column_name(&expr).unwrap_or_else(|| expr.to_string());
                    (expr, name, false)
                }
                SelectItem::ExprWithAlias { expr, alias } => {
                    let is_named = alias.quote_style != Some(GENERATED_NAME);
                    (expr, alias.value, is_named)
                }
                _ => return Err(Error::unsupported("this select item")),
            };
            self.expr(&mut expr, around)?;
            push_output(items, &mut outputs, expr, name, is_named);
        }
        Ok(outputs)
    }

    fn expand(
        &self,
        scope: &Scope,
        places: &[Place],
        items: &mut Vec<SelectItem>,
        outputs: &mut Vec<Output>,
    ) {
        for &(table, column) in places {
            let known = &scope.tables[table].columns[column];
            if !known.invisible {
                let expr = scope.tables[table].reference(column);
                push_output(items, outputs, expr, known.name.clone(), false);
            }
        }
    }

    /// GROUP BY: a column goes before an alias; a number stays.
    fn group(&mut self, expr: &mut Expr, outputs: &[Output], around: &Surroundings) -> Result<()> {
        if is_position(expr) {
            return Ok(());
        }
        if let Expr::Identifier(name) = &*expr
            && let Some(scope) = around.scopes.last()
            && scope.find(std::slice::from_ref(name)).is_none()
            && let Some(output) = outputs.iter().find(|output| same_name(&output.name, &name.value))
        {
            *expr = output.expr.clone();
            return Ok(());
        }
        self.expr_with_aliases(expr, outputs, around)
    }

    /// ORDER BY: an alias goes before a column; a number stays.
    fn order(&mut self, expr: &mut Expr, outputs: &[Output], around: &Surroundings) -> Result<()> {
        if is_position(expr) {
            return Ok(());
        }
        if let Expr::Identifier(name) = &*expr
            && let Some(output) = outputs.iter().find(|output| same_name(&output.name, &name.value))
        {
            *expr = output.expr.clone();
            return Ok(());
        }
        self.expr_in(expr, around, outputs, AliasRule::AfterColumns)
    }

    /// HAVING: names given by AS go before columns, and stay.
    fn expr_with_aliases(
        &mut self,
        expr: &mut Expr,
        outputs: &[Output],
        around: &Surroundings,
    ) -> Result<()> {
        self.expr_in(expr, around, outputs, AliasRule::BeforeColumns)
    }

    // Expressions ------------------------------------------------------------------------------------------------

    pub(super) fn condition(&mut self, expr: &mut Expr, around: &Surroundings) -> Result<()> {
        self.expr(expr, around)?;
        *expr = rewrite::truth(std::mem::replace(expr, Expr::Identifier(Ident::new(""))));
        Ok(())
    }

    fn expr(&mut self, expr: &mut Expr, around: &Surroundings) -> Result<()> {
        self.expr_in(expr, around, &[], AliasRule::AfterColumns)
    }

    fn expr_in(
        &mut self,
        expr: &mut Expr,
        around: &Surroundings,
        outputs: &[Output],
        rule: AliasRule,
    ) -> Result<()> {
        stack::on_enough(|| self.level_in(expr, around, outputs, rule))
    }

    fn level_in(
        &mut self,
        expr: &mut Expr,
        around: &Surroundings,
        outputs: &[Output],
        rule: AliasRule,
    ) -> Result<()> {
        match expr {
            Expr::Identifier(name) if name.quote_style.is_none() && name.value.starts_with('@') => {
                return Err(Error::new(ER_VIEW_SELECT_VARIABLE, &[]));
            }
            Expr::BinaryOp {
                op: ast::BinaryOperator::Assignment,
                ..
            } => return Err(Error::new(ER_VIEW_SELECT_VARIABLE, &[])),
            Expr::Identifier(name) => {
                let alias = outputs
                    .iter()
                    .find(|output| output.is_named && same_name(&output.name, &name.value));
                let column = self.column(std::slice::from_ref(name), around);
                *expr = match (alias, column, rule) {
                    (Some(output), _, AliasRule::BeforeColumns) => Expr::Identifier(ident(&output.name)),
                    (_, Some(column), _) => column,
                    (Some(output), None, _) => Expr::Identifier(ident(&output.name)),
                    (None, None, _) => return Ok(()),
                };
                return Ok(());
            }
            Expr::CompoundIdentifier(parts) => {
                if let Some(column) = self.column(parts, around) {
                    *expr = column;
                }
                return Ok(());
            }
            Expr::Value(value) => {
                if matches!(value.value, Value::Placeholder(_)) {
                    return Err(Error::new(ER_VIEW_SELECT_VARIABLE, &[]));
                }
                return Ok(());
            }
            Expr::Subquery(query) => {
                self.query(query, around)?;
                return Ok(());
            }
            Expr::Exists { subquery, .. } => {
                rewrite::select_one(subquery);
                self.query(subquery, around)?;
            }
            Expr::InSubquery { expr, subquery, .. } => {
                self.expr_in(expr, around, outputs, rule)?;
                self.query(subquery, around)?;
            }
            Expr::Function(function) => self.function(function, around, outputs, rule)?,
            _ => for_each_child(expr, &mut |child| self.expr_in(child, around, outputs, rule))?,
        }
        let taken = std::mem::replace(expr, Expr::Identifier(Ident::new("")));
        *expr = rewrite::rewritten(taken, self.session.settings.collation_connection)?;
        Ok(())
    }

    fn function(
        &mut self,
        function: &mut Function,
        around: &Surroundings,
        outputs: &[Output],
        rule: AliasRule,
    ) -> Result<()> {
        let skipped = usize::from(is_unit_function(function));
        if let FunctionArguments::List(list) = &mut function.args {
            for argument in list.args.iter_mut().skip(skipped) {
                if let FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) = argument {
                    self.expr_in(expr, around, outputs, rule)?;
                }
            }
            for clause in &mut list.clauses {
                match clause {
                    FunctionArgumentClause::OrderBy(items) => {
                        for item in items {
                            self.expr_in(&mut item.expr, around, outputs, rule)?;
                        }
                    }
                    FunctionArgumentClause::Limit(expr) => self.expr_in(expr, around, outputs, rule)?,
                    _ => {}
                }
            }
        }
        for item in &mut function.within_group {
            self.expr_in(&mut item.expr, around, outputs, rule)?;
        }
        if let Some(WindowType::WindowSpec(spec)) = &mut function.over {
            for expr in &mut spec.partition_by {
                self.expr_in(expr, around, outputs, rule)?;
            }
            for item in &mut spec.order_by {
                self.expr_in(&mut item.expr, around, outputs, rule)?;
            }
        }
        Ok(())
    }

    /// The column of that name: of this SELECT, or of those around it.
    fn column(&self, parts: &[Ident], around: &Surroundings) -> Option<Expr> {
        around.scopes.iter().rev().find_map(|scope| scope.find(parts))
    }
}

/// Which of an alias and a column a name means, where it can be either.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AliasRule {
    BeforeColumns,
    AfterColumns,
}

fn push_output(
    items: &mut Vec<SelectItem>,
    outputs: &mut Vec<Output>,
    expr: Expr,
    name: String,
    is_named: bool,
) {
    let alias = Ident {
        value: name.clone(),
        quote_style: Some(if is_named { '`' } else { GENERATED_NAME }),
        span: sqlparser::tokenizer::Span::empty(),
    };
    items.push(SelectItem::ExprWithAlias {
        expr: expr.clone(),
        alias,
    });
    outputs.push(Output { name, is_named, expr });
}

fn column_name(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Identifier(name) => Some(name.value.clone()),
        Expr::CompoundIdentifier(parts) => parts.last().map(|part| part.value.clone()),
        Expr::Nested(inner) => column_name(inner),
        _ => None,
    }
}

fn value_name(expr: &Expr) -> String {
    match expr {
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(text) => text.clone(),
            other => other.to_string(),
        },
        other => other.to_string(),
    }
}

fn order_items(order_by: &mut ast::OrderBy) -> &mut [ast::OrderByExpr] {
    match &mut order_by.kind {
        ast::OrderByKind::Expressions(items) => items,
        ast::OrderByKind::All(_) => &mut [],
    }
}

/// Whether an item of GROUP BY or ORDER BY is the number of a column.
fn is_position(expr: &Expr) -> bool {
    matches!(expr, Expr::Value(value) if matches!(value.value, Value::Number(..)))
}

/// Gives the columns of a query these names: those of its first SELECT.
pub(super) fn set_names(body: &mut SetExpr, names: &[String]) {
    match body {
        SetExpr::Select(select) => {
            for (item, name) in select.projection.iter_mut().zip(names) {
                if let SelectItem::ExprWithAlias { alias, .. } = item {
                    *alias = ident(name);
                }
            }
        }
        SetExpr::Query(query) => set_names(&mut query.body, names),
        SetExpr::SetOperation { left, .. } => set_names(left, names),
        _ => {}
    }
}

/// Puts the definitions of WINDOW where they are named.
fn inline_windows(select: &mut Select) -> Result<()> {
    let named = std::mem::take(&mut select.named_window);
    let mut known: Vec<(String, WindowSpec)> = Vec::with_capacity(named.len());
    for ast::NamedWindowDefinition(name, definition) in named {
        if let ast::NamedWindowExpr::WindowSpec(spec) = definition {
            let spec = inherited(spec, &known);
            known.push((name.value, spec));
        }
    }
    for item in &mut select.projection {
        if let SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } = item {
            inline_in(expr, &known)?;
        }
    }
    Ok(())
}

fn inline_in(expr: &mut Expr, known: &[(String, WindowSpec)]) -> Result<()> {
    if let Expr::Function(function) = expr {
        let over = function.over.take();
        function.over = over.map(|over| match over {
            WindowType::NamedWindow(name) => {
                match known.iter().find(|(other, _)| same_name(other, &name.value)) {
                    Some((_, spec)) => WindowType::WindowSpec(spec.clone()),
                    None => WindowType::NamedWindow(name),
                }
            }
            WindowType::WindowSpec(spec) => WindowType::WindowSpec(inherited(spec, known)),
        });
        if let FunctionArguments::List(list) = &mut function.args {
            for argument in &mut list.args {
                if let FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) = argument {
                    inline_in(expr, known)?;
                }
            }
        }
        return Ok(());
    }
    for_each_child(expr, &mut |child| inline_in(child, known))
}

/// A window with what it takes from the one that it names.
fn inherited(mut spec: WindowSpec, known: &[(String, WindowSpec)]) -> WindowSpec {
    let Some(name) = spec.window_name.take() else {
        return spec;
    };
    if let Some((_, base)) = known.iter().find(|(other, _)| same_name(other, &name.value)) {
        spec.partition_by.clone_from(&base.partition_by);
        if spec.order_by.is_empty() {
            spec.order_by.clone_from(&base.order_by);
        }
    }
    spec
}
