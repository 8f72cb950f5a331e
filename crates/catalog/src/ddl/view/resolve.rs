//! Resolution of names in a view's query. The result depends on nothing that can change, except the tables
//! themselves.
//!
//! `*` becomes the current columns. A column gets the name of its table, a table that of its database. An
//! alias in GROUP BY or ORDER BY becomes its expression. USING and NATURAL become conditions, RIGHT JOIN
//! becomes LEFT JOIN with swapped sides, and a named window becomes its definition. Expressions get MariaDB's
//! stored form ([`super::rewrite`]).
//!
//! The query has been planned already, so its names are valid: the first match is used without looking for
//! errors.

use paceline_types::error_code::*;

use super::rewrite;
use super::scope::{Common, Place, Scope, Surroundings, Table};
use crate::ddl::column::qualify_sequences;
use crate::error::{Error, Result};
use crate::{Catalog, same_name};
use paceline_expression::session::SessionContext;
use paceline_syntax::ast::visit::for_each_child;
use paceline_syntax::ast::{
    ColumnName, Expr, FunctionCall, ItemName, Literal, NamedWindow, OrderItem, Over, Query, QueryBody,
    Select, SelectItem, WindowSpec, With,
};
use paceline_syntax::stack;

/// Maximum nesting of queries in queries, and of views of views.
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
    /// Whether the item has an alias.
    is_named: bool,
    expr: Expr,
}

impl Resolver<'_> {
    /// Resolves a query in place. Returns the names of its columns.
    pub fn query(&mut self, query: &mut Query, around: &Surroundings) -> Result<Vec<String>> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(Error::new(ER_TOO_HIGH_LEVEL_OF_NESTING_FOR_SELECT, &[]));
        }
        let mut around = around.clone();
        if let Some(with) = &mut query.with {
            self.with(with, &mut around)?;
        }
        let names = self.body(&mut query.body, &mut query.order_by, &around)?;
        self.depth -= 1;
        Ok(names)
    }

    fn with(&mut self, with: &mut With, around: &mut Surroundings) -> Result<()> {
        for table in &mut with.tables {
            let mut inner = Surroundings {
                scopes: Vec::new(),
                common: around.common.clone(),
            };
            if with.recursive
                && let QueryBody::SetOperation { left, .. } = &table.query.body
            {
                // The names of the whole are those of the first part.
                let columns = match table.columns.is_empty() {
                    true => self.body(&mut left.clone(), &mut [], &inner)?,
                    false => table.columns.clone(),
                };
                inner.common.push(Common {
                    name: table.name.clone(),
                    columns,
                });
            }
            let mut columns = self.query(&mut table.query, &inner)?;
            if !table.columns.is_empty() {
                set_names(&mut table.query.body, &table.columns);
                columns.clone_from(&table.columns);
            }
            around.common.push(Common {
                name: table.name.clone(),
                columns,
            });
        }
        Ok(())
    }

    fn body(
        &mut self,
        body: &mut QueryBody,
        order_by: &mut [OrderItem],
        around: &Surroundings,
    ) -> Result<Vec<String>> {
        match body {
            QueryBody::Select(select) => self.select(select, order_by, around),
            QueryBody::Query(query) => {
                let names = self.query(query, around)?;
                Ok(names)
            }
            QueryBody::SetOperation { left, right, .. } => {
                let names = self.body(left, &mut [], around)?;
                self.body(right, &mut [], around)?;
                self.order_by_of_union(order_by, &names, around)?;
                Ok(names)
            }
            QueryBody::Values(rows) => {
                for expr in rows.iter_mut().flatten() {
                    self.expr(expr, around)?;
                }
                let first = rows.first().map(Vec::as_slice);
                Ok(first.unwrap_or_default().iter().map(value_name).collect())
            }
        }
    }

    /// Resolves ORDER BY of a UNION: names of its columns stay as they are.
    fn order_by_of_union(
        &mut self,
        order_by: &mut [OrderItem],
        names: &[String],
        around: &Surroundings,
    ) -> Result<()> {
        for item in order_by {
            let is_column_of_union = item
                .bare_column()
                .is_some_and(|column| names.iter().any(|known| same_name(known, &column.name)));
            if !is_column_of_union {
                self.expr(&mut item.expr, around)?;
            }
        }
        Ok(())
    }

    fn select(
        &mut self,
        select: &mut Select,
        order_by: &mut [OrderItem],
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
        let outputs = self.outputs(&mut select.items, &inner)?;
        if let Some(condition) = &mut select.condition {
            self.condition(condition, &inner)?;
        }
        for expr in &mut select.group_by {
            self.group(expr, &outputs, &inner)?;
        }
        if let Some(condition) = &mut select.having {
            self.expr_with_aliases(condition, &outputs, &inner)?;
            *condition = rewrite::truth(condition.take());
        }
        for item in order_by {
            self.order(&mut item.expr, &outputs, &inner)?;
        }
        Ok(outputs.into_iter().map(|output| output.name).collect())
    }

    // The select list and names that refer to its items
    // --------------------------------------------------------

    fn outputs(&mut self, items: &mut Vec<SelectItem>, around: &Surroundings) -> Result<Vec<Output>> {
        let scope = around.scopes.last().cloned().unwrap_or_default();
        let mut outputs = Vec::with_capacity(items.len());
        for item in std::mem::take(items) {
            let (mut expr, name, is_named) = match item {
                SelectItem::Wildcard => {
                    self.expand(&scope, &scope.visible, items, &mut outputs);
                    continue;
                }
                SelectItem::TableWildcard(name) => {
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
                SelectItem::Expr { expr, name } => {
                    let text = match &name {
                        ItemName::Alias(name) | ItemName::Text(name) => name.clone(),
                        ItemName::Column => column_name(&expr).unwrap_or_else(|| expr.to_string()),
                    };
                    (expr, text, matches!(name, ItemName::Alias(_)))
                }
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

    /// Resolves an item of GROUP BY. A column has precedence over an alias; a number stays.
    fn group(&mut self, expr: &mut Expr, outputs: &[Output], around: &Surroundings) -> Result<()> {
        if is_position(expr) {
            return Ok(());
        }
        if let Some(name) = bare_column(expr)
            && let Some(scope) = around.scopes.last()
            && scope.find(name).is_none()
            && let Some(output) = outputs.iter().find(|output| same_name(&output.name, &name.name))
        {
            *expr = output.expr.clone();
            return Ok(());
        }
        self.expr_with_aliases(expr, outputs, around)
    }

    /// Resolves an item of ORDER BY. An alias has precedence over a column; a number stays.
    fn order(&mut self, expr: &mut Expr, outputs: &[Output], around: &Surroundings) -> Result<()> {
        if is_position(expr) {
            return Ok(());
        }
        if let Some(name) = bare_column(expr)
            && let Some(output) = outputs.iter().find(|output| same_name(&output.name, &name.name))
        {
            *expr = output.expr.clone();
            return Ok(());
        }
        self.expr_in(expr, around, outputs, AliasRule::AfterColumns)
    }

    /// Resolves HAVING. Aliases have precedence over columns, and stay.
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
        *expr = rewrite::truth(expr.take());
        Ok(())
    }

    pub(super) fn expr(&mut self, expr: &mut Expr, around: &Surroundings) -> Result<()> {
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
            Expr::UserVariable(_)
            | Expr::SystemVariable { .. }
            | Expr::Assignment { .. }
            | Expr::Parameter(_) => return Err(Error::new(ER_VIEW_SELECT_VARIABLE, &[])),
            Expr::Column(name) => {
                let is_bare = name.table.is_none();
                let is_alias =
                    |output: &&Output| is_bare && output.is_named && same_name(&output.name, &name.name);
                let alias = outputs.iter().find(is_alias);
                *expr = match (alias, self.column(name, around), rule) {
                    (Some(output), _, AliasRule::BeforeColumns) => Expr::column(&output.name),
                    (_, Some(column), _) => column,
                    (Some(output), None, _) => Expr::column(&output.name),
                    (None, None, _) => return Ok(()),
                };
                return Ok(());
            }
            Expr::Literal(_) => return Ok(()),
            Expr::Sequence(_) => return qualify_sequences(expr, self.session.database.as_deref()),
            Expr::Subquery(query) => {
                self.query(query, around)?;
                return Ok(());
            }
            Expr::Exists(subquery) => {
                rewrite::select_one(subquery);
                self.query(subquery, around)?;
            }
            Expr::InSubquery {
                operand: left,
                subquery,
                ..
            }
            | Expr::Quantified { left, subquery, .. } => {
                self.expr_in(left, around, outputs, rule)?;
                self.query(subquery, around)?;
            }
            Expr::Call(call) => self.call(call, around, outputs, rule)?,
            _ => for_each_child(expr, &mut |child| self.expr_in(child, around, outputs, rule))?,
        }
        *expr = rewrite::rewritten(expr.take(), self.session.settings.collation_connection);
        Ok(())
    }

    fn call(
        &mut self,
        call: &mut FunctionCall,
        around: &Surroundings,
        outputs: &[Output],
        rule: AliasRule,
    ) -> Result<()> {
        let window = match &mut call.over {
            Some(Over::Spec(spec)) => Some(spec),
            Some(Over::Named(_)) | None => None,
        };
        let (partition_by, window_order) = match window {
            Some(spec) => (&mut spec.partition_by[..], &mut spec.order_by[..]),
            None => (&mut [][..], &mut [][..]),
        };
        let ordered = call.order_by.iter_mut().chain(&mut call.within_group);
        let exprs = call
            .arguments
            .exprs_mut()
            .iter_mut()
            .chain(ordered.chain(window_order).map(|item| &mut item.expr))
            .chain(&mut call.limit)
            .chain(partition_by);
        for expr in exprs {
            self.expr_in(expr, around, outputs, rule)?;
        }
        Ok(())
    }

    /// Returns the column of this name in this SELECT or in an outer one.
    fn column(&self, name: &ColumnName, around: &Surroundings) -> Option<Expr> {
        around.scopes.iter().rev().find_map(|scope| scope.find(name))
    }
}

/// Meaning of a name that can be both an alias and a column.
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
    let item_name = match is_named {
        true => ItemName::Alias(name.clone()),
        false => ItemName::Text(name.clone()),
    };
    items.push(SelectItem::Expr {
        expr: expr.clone(),
        name: item_name,
    });
    outputs.push(Output { name, is_named, expr });
}

/// Returns the name of an unqualified column.
fn bare_column(expr: &Expr) -> Option<&ColumnName> {
    match expr {
        Expr::Column(name) if name.table.is_none() => Some(name),
        _ => None,
    }
}

fn column_name(expr: &Expr) -> Option<String> {
    match expr.without_parentheses() {
        Expr::Column(column) => Some(column.name.clone()),
        _ => None,
    }
}

fn value_name(expr: &Expr) -> String {
    match expr {
        Expr::Literal(Literal::Text(text)) => text.clone(),
        other => other.to_string(),
    }
}

/// Returns whether an item of GROUP BY or ORDER BY is the number of a column.
fn is_position(expr: &Expr) -> bool {
    matches!(expr, Expr::Literal(Literal::Number(_)))
}

/// Renames the columns of a query, which are named in its first SELECT.
pub(super) fn set_names(body: &mut QueryBody, names: &[String]) {
    match body {
        QueryBody::Select(select) => {
            for (item, name) in select.items.iter_mut().zip(names) {
                if let SelectItem::Expr { name: known, .. } = item {
                    *known = ItemName::Alias(name.clone());
                }
            }
        }
        QueryBody::Query(query) => set_names(&mut query.body, names),
        QueryBody::SetOperation { left, .. } => set_names(left, names),
        QueryBody::Values(_) => {}
    }
}

/// Replaces references to named windows by their definitions in WINDOW.
fn inline_windows(select: &mut Select) -> Result<()> {
    let mut known: Vec<NamedWindow> = Vec::with_capacity(select.windows.len());
    for window in std::mem::take(&mut select.windows) {
        let spec = inherited(window.spec, &known);
        known.push(NamedWindow { spec, ..window });
    }
    for item in &mut select.items {
        if let SelectItem::Expr { expr, .. } = item {
            inline_in(expr, &known)?;
        }
    }
    Ok(())
}

fn inline_in(expr: &mut Expr, known: &[NamedWindow]) -> Result<()> {
    if let Expr::Call(call) = expr {
        call.over = call.over.take().map(|over| match over {
            Over::Named(name) => match find_window(known, &name) {
                Some(spec) => Over::Spec(spec.clone()),
                None => Over::Named(name),
            },
            Over::Spec(spec) => Over::Spec(inherited(spec, known)),
        });
    }
    for_each_child(expr, &mut |child| inline_in(child, known))
}

fn find_window<'a>(known: &'a [NamedWindow], name: &str) -> Option<&'a WindowSpec> {
    let window = known.iter().find(|window| same_name(&window.name, name));
    window.map(|window| &window.spec)
}

/// Returns a window together with the parts that it inherits from the window that it names.
fn inherited(mut spec: WindowSpec, known: &[NamedWindow]) -> WindowSpec {
    let Some(name) = spec.base.take() else {
        return spec;
    };
    if let Some(base) = find_window(known, &name) {
        spec.partition_by.clone_from(&base.partition_by);
        if spec.order_by.is_empty() {
            spec.order_by.clone_from(&base.order_by);
        }
    }
    spec
}
