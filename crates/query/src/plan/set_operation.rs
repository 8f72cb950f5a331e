//! Whole queries: WITH, set operations, VALUES, and the clauses that apply to the whole query.

use paceline_types::DataType;
use paceline_types::error_code::{
    ER_BAD_FIELD_ERROR, ER_DUP_FIELDNAME, ER_DUP_QUERY_NAME, ER_WITH_COL_WRONG_LIST,
    ER_WRONG_NUMBER_OF_COLUMNS_IN_SELECT, ER_WRONG_VALUE_COUNT_ON_ROW,
};

use super::block::{BindMode, Block, OuterScope, Output};
use super::common_table::{CommonTableKind, CommonTables, add_readers, not_compliant};
use super::dml::keep_digits;
use super::position::column_at;
use super::select::Surroundings;
use super::tree::{
    Limit, QueryBody, QueryPlan, ReadMode, RecursivePlan, SetOperation, SetPlan, SortItem, SortKey,
    ValuesPlan,
};
use super::{Planner, ResultColumn, unique_id};
use crate::error::{Error, Result};
use paceline_expression::{
    Class, CollationMix, Expr, ExprKind, ExprType, convert_to_common_type, union_type,
};
use paceline_syntax::ast;

impl Planner<'_> {
    /// Plans the query of a SELECT statement.
    pub fn plan_top_query(&self, query: &ast::Query) -> Result<QueryPlan> {
        let read = self.read_mode(query.lock);
        self.plan_query(query, None, CommonTables::default(), read)
    }

    /// Plans a query inside another one.
    pub fn plan_subquery(
        &self,
        query: &ast::Query,
        parent: Option<&mut dyn OuterScope>,
        common: CommonTables,
    ) -> Result<QueryPlan> {
        let read = self.read_mode(query.lock);
        self.plan_query(query, parent, common, read)
    }

    fn plan_query(
        &self,
        query: &ast::Query,
        parent: Option<&mut dyn OuterScope>,
        common: CommonTables,
        read: ReadMode,
    ) -> Result<QueryPlan> {
        let _depth = self.descend()?;
        let common = self.plan_with(query.with.as_ref(), common)?;
        self.plan_body(
            &query.body,
            &query.order_by,
            query.limit.as_ref(),
            parent,
            common,
            read,
        )
    }

    fn plan_body(
        &self,
        body: &ast::QueryBody,
        order_by: &[ast::OrderItem],
        limit: Option<&ast::Limit>,
        parent: Option<&mut dyn OuterScope>,
        common: CommonTables,
        read: ReadMode,
    ) -> Result<QueryPlan> {
        match body {
            ast::QueryBody::Select(select) => self.plan_select(
                select,
                &Surroundings {
                    order_by,
                    limit,
                    read,
                },
                parent,
                common,
            ),
            ast::QueryBody::SetOperation { .. } => {
                self.plan_set(SetChain::of(body), order_by, limit, parent, common, read)
            }
            ast::QueryBody::Query(query) => {
                if order_by.is_empty() && limit.is_none() {
                    let read = match query.lock {
                        Some(_) => self.read_mode(query.lock),
                        None => read,
                    };
                    return self.plan_query(query, parent, common, read);
                }
                // An order without a limit has no effect: the outer order replaces it, or the outer limit applies to
                // it.
                if query.limit.is_none() {
                    let common = self.plan_with(query.with.as_ref(), common)?;
                    let order_by = if order_by.is_empty() {
                        &query.order_by
                    } else {
                        order_by
                    };
                    return self.plan_body(&query.body, order_by, limit, parent, common, read);
                }
                let chain = SetChain {
                    first: body,
                    rest: Vec::new(),
                };
                self.plan_set(chain, order_by, limit, parent, common, read)
            }
            ast::QueryBody::Values(values) => self.plan_values(values, order_by, limit, parent, common),
        }
    }

    /// Adds the tables of WITH to the known ones.
    fn plan_with(&self, with: Option<&ast::With>, mut common: CommonTables) -> Result<CommonTables> {
        let Some(with) = with else { return Ok(common) };
        for (number, table) in with.tables.iter().enumerate() {
            let name = &table.name;
            let before = &with.tables[..number];
            if before.iter().any(|other| other.name.eq_ignore_ascii_case(name)) {
                return Err(Error::new(ER_DUP_QUERY_NAME, &[name]));
            }
            let plan = match with.recursive && mentions(&table.query.body, name) {
                true => self.plan_recursive(table, &common)?,
                false => self.plan_subquery(&table.query, None, common.clone())?,
            };
            let columns = renamed(&plan.columns, &table.columns)?;
            cycle_columns(&table.cycle, &columns)?;
            let types = plan.types.clone();
            common = common.with(
                name.clone(),
                CommonTableKind::Planned(plan.into()),
                columns,
                types,
            );
        }
        Ok(common)
    }

    fn plan_recursive(&self, definition: &ast::CommonTable, common: &CommonTables) -> Result<QueryPlan> {
        let ast::CommonTable {
            name,
            columns: names,
            query,
            cycle,
        } = definition;
        let ast::QueryBody::SetOperation {
            left,
            op: ast::SetOperator::Union,
            all: keep_duplicates,
            right,
        } = &query.body
        else {
            return Err(Error::unsupported("this kind of recursive query"));
        };
        if !query.order_by.is_empty() || query.limit.is_some() || mentions(left, name) {
            return Err(Error::unsupported("this kind of recursive query"));
        }
        let anchor = self.plan_body(left, &[], None, None, common.clone(), self.reads.get())?;
        let table = super::from::recursive_table_id();
        // The recursive part may make any column NULL or longer. The anchor decides the kind of value.
        let types: Vec<ExprType> = anchor.types.iter().cloned().map(ExprType::nullable).collect();
        let columns = renamed(&anchor.columns, names)?;
        let inner = common.with(
            name.to_owned(),
            CommonTableKind::Recursive(table),
            columns.clone(),
            types.clone(),
        );
        let step = self.plan_body(right, &[], None, None, inner, self.reads.get())?;
        if step.types.len() != anchor.types.len() {
            return Err(Error::new(ER_WRONG_NUMBER_OF_COLUMNS_IN_SELECT, &[]));
        }
        if has_aggregation(&step) {
            return Err(not_compliant(name));
        }
        let mut readers = Vec::new();
        add_readers(&step, table, &mut readers);
        let conversions = [
            conversions(&anchor.types, &types),
            conversions(&step.types, &types),
        ]
        .map(|conversions| conversions.unwrap_or_default());
        Ok(QueryPlan {
            id: unique_id(),
            body: QueryBody::Recursive(Box::new(RecursivePlan {
                table,
                anchor,
                step,
                readers,
                keep_duplicates: *keep_duplicates && cycle.is_empty(),
                cycle: cycle_columns(cycle, &columns)?,
                conversions,
            })),
            columns,
            types,
            correlated: false,
        })
    }

    /// Plans a chain of set operations. They are executed from left to right, two at a time. As in MariaDB, a column's
    /// type follows from all parts of the chain: values that become text because of the third part must not be compared
    /// as numbers before.
    fn plan_set(
        &self,
        chain: SetChain<'_>,
        order_by: &[ast::OrderItem],
        limit: Option<&ast::Limit>,
        mut parent: Option<&mut dyn OuterScope>,
        common: CommonTables,
        read: ReadMode,
    ) -> Result<QueryPlan> {
        let _depth = self.descend()?;
        let mut plan_part = |part: &ast::QueryBody| {
            let parent = parent.as_deref_mut().map(|parent| parent as &mut dyn OuterScope);
            self.plan_body(part, &[], None, parent, common.clone(), read)
        };
        let first = plan_part(chain.first)?;
        let mut rest = Vec::with_capacity(chain.rest.len());
        for (operation, part) in chain.rest {
            let plan = plan_part(part)?;
            if plan.types.len() != first.types.len() {
                return Err(Error::new(ER_WRONG_NUMBER_OF_COLUMNS_IN_SELECT, &[]));
            }
            rest.push((operation, plan));
        }
        let connection = self.session().settings.collation_connection;
        let mut types = Vec::with_capacity(first.types.len());
        for (column, ty) in first.types.iter().enumerate() {
            let others = rest.iter().map(|(_, plan)| &plan.types[column]);
            let all: Vec<&ExprType> = std::iter::once(ty).chain(others).collect();
            let ty = union_type(&all, connection)?;
            if ty.class() == Class::String {
                let parts = std::iter::once(&first).chain(rest.iter().map(|(_, plan)| plan));
                let values: Vec<&Expr> = parts.filter_map(|plan| projected(plan, column)).collect();
                CollationMix::check_literals(&values, ty.collation(), connection, "UNION")?;
            }
            types.push(ty);
        }
        let mut columns = Vec::with_capacity(types.len());
        for (column, (result, ty)) in first.columns.iter().zip(&types).enumerate() {
            let mut merged = ResultColumn::of_expression(result.name.clone(), ty);
            merged.org_name = merged.name.clone();
            let mut sides = std::iter::once(&first).chain(rest.iter().map(|(_, plan)| plan));
            let are_columns = sides.all(|plan| plan.types[column].is_column());
            merged.is_computed = !are_columns;
            merged.is_temporary = !are_columns;
            merged.become_field();
            columns.push(merged);
        }
        let order = self.bind_result_order(order_by, &columns, &types)?;
        let limit = Block::new(self, None).bind_limit(limit)?;
        let mut whole = first;
        keep_digits_of_text(&mut whole, &types);
        if rest.is_empty() {
            // A query in parentheses with its own limit, to which another order or limit is applied.
            let set = SetPlan {
                operation: SetOperation::UnionAll,
                conversions: vec![conversions(&whole.types, &types)],
                sides: vec![whole],
                order,
                limit,
            };
            let correlated = set.sides[0].correlated;
            return Ok(QueryPlan {
                id: unique_id(),
                body: QueryBody::Set(Box::new(set)),
                columns,
                types,
                correlated,
            });
        }
        // A long chain of UNION does not become a deep tree: its parts are sides of one operation.
        let mut last: Option<SetOperation> = None;
        for (operation, mut part) in rest {
            keep_digits_of_text(&mut part, &types);
            let correlated = whole.correlated || part.correlated;
            let of_part = conversions(&part.types, &types);
            if let QueryBody::Set(set) = &mut whole.body
                && last.is_some_and(|last| continues(operation, last))
            {
                set.operation = operation;
                set.sides.push(part);
                set.conversions.push(of_part);
                whole.correlated = correlated;
                last = Some(operation);
                continue;
            }
            last = Some(operation);
            let conversions = vec![conversions(&whole.types, &types), of_part];
            let set = SetPlan {
                operation,
                sides: vec![whole, part],
                conversions,
                order: Vec::new(),
                limit: Limit::default(),
            };
            whole = QueryPlan {
                id: unique_id(),
                body: QueryBody::Set(Box::new(set)),
                columns: columns.clone(),
                types: types.clone(),
                correlated,
            };
        }
        if let QueryBody::Set(set) = &mut whole.body {
            (set.order, set.limit) = (order, limit);
        }
        Ok(whole)
    }

    /// Binds ORDER BY over the columns of a result.
    fn bind_result_order(
        &self,
        order_by: &[ast::OrderItem],
        columns: &[ResultColumn],
        types: &[ExprType],
    ) -> Result<Vec<SortItem>> {
        let mut block = Block::new(self, None);
        block.allocate(columns.len());
        let outputs: Vec<Output> = columns
            .iter()
            .zip(types)
            .enumerate()
            .map(|(number, (column, ty))| Output {
                expr: Expr::column(number, ty.clone()),
                result: column.clone(),
                named: true,
            })
            .collect();
        let mut items = Vec::with_capacity(order_by.len());
        for item in order_by {
            let descending = item.order == ast::SortOrder::Descending;
            let key = match self.position(&item.expr) {
                Some(place) => match column_at(place) {
                    Some(place) if place < columns.len() => SortKey::Output(place),
                    _ => return Err(Error::new(ER_BAD_FIELD_ERROR, &[&place, &"ORDER BY"])),
                },
                None => {
                    let bound = block.bind(&item.expr, BindMode::named("ORDER BY").with_aliases(&outputs))?;
                    match bound.kind {
                        ExprKind::Column(output) => SortKey::Output(output),
                        _ => SortKey::Expr(bound),
                    }
                }
            };
            items.push(SortItem { key, descending });
        }
        Ok(items)
    }

    fn plan_values(
        &self,
        values: &[Vec<ast::Expr>],
        order_by: &[ast::OrderItem],
        limit: Option<&ast::Limit>,
        parent: Option<&mut dyn OuterScope>,
        common: CommonTables,
    ) -> Result<QueryPlan> {
        self.next_select_number();
        let mut block = Block::new(self, parent).with_common(common);
        let mut rows: Vec<Vec<Expr>> = Vec::with_capacity(values.len());
        for (number, row) in values.iter().enumerate() {
            let mut bound = Vec::with_capacity(row.len());
            for expr in row {
                bound.push(block.bind(expr, BindMode::values())?);
            }
            if rows.first().is_some_and(|first| first.len() != bound.len()) {
                return Err(Error::new(ER_WRONG_VALUE_COUNT_ON_ROW, &[&(number + 1)]));
            }
            rows.push(bound);
        }
        let width = rows.first().map_or(0, Vec::len);
        let mut types = Vec::with_capacity(width);
        let mut columns = Vec::with_capacity(width);
        for column in 0..width {
            let all: Vec<&ExprType> = rows.iter().map(|row| &row[column].ty).collect();
            let ty = union_type(&all, self.session().settings.collation_connection)?;
            let name = match &values[0][column] {
                ast::Expr::Literal(ast::Literal::Text(text)) => text.clone(),
                other => other.to_string(),
            };
            columns.push(ResultColumn::of_expression(name, &ty));
            types.push(ty);
        }
        for row in &mut rows {
            for (value, ty) in row.iter_mut().zip(&types) {
                let taken = std::mem::replace(value, Expr::null());
                *value = cast_to(taken, ty);
            }
        }
        let order = self.bind_result_order(order_by, &columns, &types)?;
        let limit = block.bind_limit(limit)?;
        let correlated = block.correlated();
        let plan = ValuesPlan {
            rows,
            slot_count: block.slot_count,
            outer: std::mem::take(&mut block.outer),
            order,
            limit,
        };
        Ok(QueryPlan {
            id: unique_id(),
            body: QueryBody::Values(Box::new(plan)),
            columns,
            types,
            correlated,
        })
    }
}

/// Set operations that are executed from left to right. A part in parentheses, or one with a higher precedence on the
/// right side, is a separate query.
struct SetChain<'q> {
    first: &'q ast::QueryBody,
    rest: Vec<(SetOperation, &'q ast::QueryBody)>,
}

impl<'q> SetChain<'q> {
    fn of(mut body: &'q ast::QueryBody) -> Self {
        let mut rest = Vec::new();
        while let ast::QueryBody::SetOperation { left, op, all, right } = body {
            rest.push((set_operation(*op, *all), &**right));
            body = left;
        }
        rest.reverse();
        SetChain { first: body, rest }
    }
}

/// Returns whether the next part can be a side of the same operation. UNION removes duplicates of everything on its
/// left.
fn continues(operation: SetOperation, last: SetOperation) -> bool {
    match operation {
        SetOperation::Union => matches!(last, SetOperation::Union | SetOperation::UnionAll),
        SetOperation::UnionAll => last == SetOperation::UnionAll,
        _ => false,
    }
}

fn set_operation(op: ast::SetOperator, all: bool) -> SetOperation {
    match (op, all) {
        (ast::SetOperator::Union, true) => SetOperation::UnionAll,
        (ast::SetOperator::Union, false) => SetOperation::Union,
        (ast::SetOperator::Except, true) => SetOperation::ExceptAll,
        (ast::SetOperator::Except, false) => SetOperation::Except,
        (ast::SetOperator::Intersect, true) => SetOperation::IntersectAll,
        (ast::SetOperator::Intersect, false) => SetOperation::Intersect,
    }
}

/// Returns whether one of a query's own SELECTs has aggregates or window functions.
fn has_aggregation(plan: &QueryPlan) -> bool {
    match &plan.body {
        QueryBody::Select(select) => {
            let aggregation = select.aggregation.as_ref();
            select.windows.is_some()
                || aggregation.is_some_and(|aggregation| !aggregation.aggregates.is_empty())
        }
        QueryBody::Set(set) => set.sides.iter().any(has_aggregation),
        QueryBody::Values(_) | QueryBody::Recursive(_) => false,
    }
}

/// Returns the columns with the names of `name (a, b) AS`.
fn renamed(columns: &[ResultColumn], names: &[String]) -> Result<Vec<ResultColumn>> {
    if !names.is_empty() && names.len() != columns.len() {
        return Err(Error::new(ER_WITH_COL_WRONG_LIST, &[]));
    }
    let mut columns = columns.to_vec();
    for (column, name) in columns.iter_mut().zip(names) {
        column.name = name.as_str().into();
    }
    Ok(columns)
}

/// Returns whether a query's FROM names a table, at any depth.
fn mentions(body: &ast::QueryBody, name: &str) -> bool {
    fn in_tables(tables: &ast::JoinedTables, name: &str) -> bool {
        tables.factors().any(|factor| match factor {
            ast::TableFactor::Table { name: table, .. } => {
                table.database.is_none() && table.name.eq_ignore_ascii_case(name)
            }
            ast::TableFactor::Derived { query, .. } => mentions(&query.body, name),
            ast::TableFactor::JsonTable(_) => false,
            ast::TableFactor::Nested(tables) => in_tables(tables, name),
        })
    }
    match body {
        ast::QueryBody::Select(select) => select.from.iter().any(|tables| in_tables(tables, name)),
        ast::QueryBody::Query(query) => mentions(&query.body, name),
        ast::QueryBody::SetOperation { left, right, .. } => mentions(left, name) || mentions(right, name),
        ast::QueryBody::Values(_) => false,
    }
}

/// Makes a part's decimals keep all their digits if the columns become text, because the text has all of them.
fn keep_digits_of_text(part: &mut QueryPlan, to: &[ExprType]) {
    let mut decimals = part
        .types
        .iter()
        .zip(to)
        .filter(|(from, _)| from.class() == Class::Decimal);
    if decimals.all(|(_, to)| to.class() == Class::String)
        && let QueryBody::Select(select) = &mut part.body
    {
        keep_digits(select);
    }
}

/// Returns the expression of a column of a part that is a SELECT.
fn projected(part: &QueryPlan, column: usize) -> Option<&Expr> {
    match &part.body {
        QueryBody::Select(select) => select.projection.get(column),
        _ => None,
    }
}

/// Returns the conversions of rows from some types to others; `None` if none is necessary.
fn conversions(from: &[ExprType], to: &[ExprType]) -> Option<Vec<Expr>> {
    if from
        .iter()
        .zip(to)
        .all(|(from, to)| to.is_parameter() || same_values(&from.data_type, &to.data_type))
    {
        return None;
    }
    let columns = from
        .iter()
        .enumerate()
        .map(|(number, ty)| Expr::column(number, ty.clone()));
    Some(columns.zip(to).map(|(column, ty)| cast_to(column, ty)).collect())
}

/// Returns whether values of both types have the same form, so that no conversion is necessary.
fn same_values(from: &DataType, to: &DataType) -> bool {
    match (from, to) {
        (DataType::Integer(from), DataType::Integer(to)) => from.sign == to.sign,
        (DataType::Decimal(from), DataType::Decimal(to)) => from.scale == to.scale,
        (DataType::Float(_), DataType::Float(_)) | (DataType::Double(_), DataType::Double(_)) => true,
        (from, to) if from.is_text() && to.is_text() => true,
        (from, to) if from.is_binary_string() && to.is_binary_string() => true,
        (from, to) => from == to,
    }
}

/// Returns an expression converted to a type's kind of value.
pub(crate) fn cast_to(expr: Expr, ty: &ExprType) -> Expr {
    if same_values(&expr.ty.data_type, &ty.data_type) || expr.ty.is_null() {
        return expr;
    }
    convert_to_common_type(expr, ty)
}

/// Returns the places of the columns that `CYCLE` names.
///
/// # Errors
/// 1054 for a missing column, 1060 for one that is named twice.
fn cycle_columns(names: &[String], columns: &[ResultColumn]) -> Result<Vec<usize>> {
    let mut places = Vec::with_capacity(names.len());
    for name in names {
        let place = columns
            .iter()
            .position(|column| column.name.eq_ignore_ascii_case(name));
        let Some(place) = place else {
            return Err(Error::new(ER_BAD_FIELD_ERROR, &[name, &"CYCLE clause"]));
        };
        if places.contains(&place) {
            return Err(Error::new(ER_DUP_FIELDNAME, &[name]));
        }
        places.push(place);
    }
    Ok(places)
}
