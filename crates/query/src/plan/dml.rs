//! INSERT, REPLACE, UPDATE and DELETE.
//!
//! UPDATE and DELETE are a SELECT of the rows to change, under exclusive locks, that keeps the location of each row.
//! INSERT builds its rows in slots `0..n` of one row buffer, where `n` is the number of the table's columns, so a value
//! may name an earlier column. For ON DUPLICATE KEY UPDATE these slots contain the existing row, and `n..2n` the new
//! one (`VALUES(c)`).

use std::cell::LazyCell;
use std::sync::Arc;

use paceline_storage::RowPlacement;
use paceline_types::error_code::{
    ER_BAD_FIELD_ERROR, ER_FIELD_SPECIFIED_TWICE, ER_ILLEGAL_HA, ER_MULTI_UPDATE_KEY_CONFLICT,
    ER_NO_DB_ERROR, ER_NO_DEFAULT_FOR_FIELD, ER_NONUNIQ_TABLE, ER_UNKNOWN_TABLE, ER_UPDATE_TABLE_USED,
    ER_UPDATED_COLUMN_ONLY_ONCE, ER_WRONG_VALUE_COUNT_ON_ROW,
};

use super::block::{BindMode, Block, VisibleColumn, find_assigned};
use super::change_plan::{AssignmentPlan, DeletePlan, InsertPlan, InsertRows, UpdatePlan, UpdateTarget};
use super::defaults::{check_plans, column_default, default_plans, generated_plans, on_update_plans};
use super::from::FromNode;
use super::item_slots::StoredExprs;
use super::select::BoundSelect;
use super::source_columns::SourceColumns;
use super::text_dependence::{UnsafeReason, numbers_within_key};
use super::tree::{
    GroupStrategy, Limit, LockPatience, LockStrength, QueryBody, ReadMode, SelectPlan, SortKey,
    TableInstance, TableSource,
};
use super::view_target::{DeleteSyntax, InsertNames, InsertTarget};
use super::{PlanKind, Planner, ResultColumn, TableUsage, TableUse};
use crate::error::{Error, Result};
use paceline_catalog::{ColumnDefault, TableDefinition};
use paceline_expression::session::SqlMode;
use paceline_expression::{Clause, CompareOp, Expr, ExprKind};
use paceline_syntax::ast;
use paceline_syntax::ast::visit::any_expr;
use paceline_syntax::{AssignedValue, InsertKind, InsertSource, parse_expression};

/// The slots of CHAR columns that are read with their trailing blanks, and their lengths.
fn padded_slots(select: &SelectPlan) -> Vec<(usize, usize)> {
    let of_table = |table: &TableInstance| {
        let start = table.slots.start;
        let places = table.padding.iter().copied();
        places
            .map(move |(column, length)| (start + column, length))
            .collect::<Vec<_>>()
    };
    select.tables.iter().flat_map(of_table).collect()
}

/// Returns the tables of a join in order, those in parentheses too.
fn factors(joined: &ast::JoinedTables) -> Vec<&ast::TableFactor> {
    let mut all = Vec::new();
    for factor in std::iter::once(&joined.first).chain(joined.joins.iter().map(|join| &join.table)) {
        match factor {
            ast::TableFactor::Nested(inner) => all.extend(factors(inner)),
            factor => all.push(factor),
        }
    }
    all
}

/// Makes quotients keep their digits, in the plan and in its alternative.
pub(super) fn keep_digits(select: &mut SelectPlan) {
    select.unrounded = !keeps_rows(select);
    if let Some(otherwise) = &mut select.otherwise {
        keep_digits(&mut otherwise.select);
    }
}

/// Returns whether MariaDB first stores a query's rows in a temporary table, whose columns have only those digits of a
/// quotient that its type shows. It also does so for an INSERT that reads its own table.
fn keeps_rows(select: &SelectPlan) -> bool {
    let groups = select
        .aggregation
        .as_ref()
        .map(|aggregation| &aggregation.strategy);
    select.distinct || select.windows.is_some() || matches!(groups, Some(GroupStrategy::Hash))
}

/// Returns 1031 for a sequence: its row is only inserted.
fn refuse_sequence(table: &TableDefinition) -> Result<()> {
    match table.is_sequence() {
        true => Err(Error::new(
            ER_ILLEGAL_HA,
            &[&"SEQUENCE", &table.database(), &table.name()],
        )),
        false => Ok(()),
    }
}

/// Returns whether the default of a column is a number of a sequence.
fn reads_sequence(table: &TableDefinition, column: usize) -> bool {
    match &table.columns()[column].default {
        ColumnDefault::Expression(text) => parse_expression(text)
            .is_ok_and(|expr| any_expr(&expr, &mut |part| matches!(part, ast::Expr::Sequence(_)))),
        _ => false,
    }
}

impl Planner<'_> {
    pub(super) fn plan_insert(
        &self,
        insert: &paceline_syntax::Insert,
    ) -> Result<(PlanKind, Vec<ResultColumn>)> {
        let replace = insert.kind == InsertKind::Replace;
        let names = InsertNames {
            columns: &insert.columns,
            values: match &insert.source {
                InsertSource::Values(rows) => rows.first().map(Vec::len),
                InsertSource::Query(_) => None,
            },
        };
        let InsertTarget {
            mut block,
            table: target,
            definition: table,
            columns,
            view,
        } = self.insert_target(&insert.table, &names)?;
        let usage = TableUsage {
            insert: true,
            delete: replace,
            update: !insert.on_duplicate.is_empty(),
            ..TableUsage::default()
        };
        block.note_write(target, usage);
        self.name_table(&table, table.name());
        let columns = match view {
            Some(_) => columns,
            None => insert_columns(&block, &table, insert)?,
        };
        block.note_inserted(target, &insert.columns, &columns, !insert.on_duplicate.is_empty())?;
        let mut read = SourceColumns::default();
        let source = match &insert.source {
            InsertSource::Values(rows) => {
                let mut bound = Vec::with_capacity(rows.len());
                for (number, row) in rows.iter().enumerate() {
                    bound.push(bind_values(&mut block, row, &columns, number, rows)?);
                }
                InsertRows::Values(bound)
            }
            InsertSource::Query(query) => {
                read = SourceColumns::of(&block, insert, query)?;
                let mut plan = self.plan_source(query, &read)?;
                if let QueryBody::Select(select) = &mut plan.body
                    && !self.reads_changed()
                {
                    keep_digits(select);
                }
                if query.query.limit.is_some() {
                    block.check_view_key(target, "INSERT")?;
                }
                if plan.columns.len() != columns.len() + read.len() {
                    return Err(Error::new(ER_WRONG_VALUE_COUNT_ON_ROW, &[&1]));
                }
                InsertRows::Query(Arc::new(plan))
            }
        };
        let mut updated = Vec::with_capacity(insert.on_duplicate.len());
        for assignment in &insert.on_duplicate {
            let found = find_assigned(&block, &assignment.column, "UPDATE")?;
            let (base, _) = block.updated_column(found)?;
            block.note_updated(found, base);
            block.check_single_tables(&[target, base.table])?;
            updated.push(base.column);
        }
        let (tables, names) = (block.tables.len(), block.visible.len());
        let source_slots = match &source {
            InsertRows::Query(plan) => read.bind(&mut block, plan)?,
            InsertRows::Values(_) | InsertRows::File => 0..0,
        };
        let mut on_duplicate = Vec::with_capacity(insert.on_duplicate.len());
        for (assignment, column) in insert.on_duplicate.iter().zip(updated) {
            let value = bind_assigned(&mut block, target, column, &assignment.value, "UPDATE")?;
            block.check_read_tables(target, &value)?;
            on_duplicate.push(AssignmentPlan { column, value });
        }
        // RETURNING reads only the row.
        block.tables.truncate(tables);
        block.visible.truncate(names);
        let mut on_update = Vec::new();
        if !on_duplicate.is_empty() {
            let assigned: Vec<usize> = on_duplicate.iter().map(|assignment| assignment.column).collect();
            on_update = on_update_plans(self, &table, &assigned)?;
            on_update.extend(generated_plans(self, &table, 0)?);
        }
        let reads_changed = self.reads_changed();
        let reads_target = self.reads(&table);
        let (returning, result) = bind_returning(&mut block, &insert.returning)?;
        if !reads_target && self.reads(&table) && matches!(source, InsertRows::Values(_)) {
            return Err(Error::new(ER_UPDATE_TABLE_USED, &[&insert.table.name, &"INSERT"]));
        }
        self.note_unsafe_insert(insert, &table, matches!(source, InsertRows::Query(_)));
        // Both read existing rows.
        if !insert.on_duplicate.is_empty() || !insert.returning.is_empty() {
            let usage = TableUsage {
                select: true,
                queried: !insert.on_duplicate.is_empty(),
                ..TableUsage::default()
            };
            block.note_write(target, usage);
        }
        let reads_row = match &source {
            InsertRows::Values(rows) => {
                let is_column = |expr: &Expr| expr.any(&mut |node| matches!(node.kind, ExprKind::Column(_)));
                rows.iter().flatten().flatten().any(is_column)
            }
            InsertRows::Query(_) | InsertRows::File => false,
        };
        let is_used = |column: usize| match (&source, columns.iter().position(|named| *named == column)) {
            (_, None) => true,
            (InsertRows::Values(rows), Some(place)) => {
                let reads_sequence = LazyCell::new(|| reads_sequence(&table, column));
                // A parameter may stand for the default, but that alone is no use of a sequence.
                let is_default = |row: &Vec<Option<Expr>>| match row.get(place) {
                    Some(Some(value)) => matches!(value.kind, ExprKind::Parameter(_)) && !*reads_sequence,
                    _ => true,
                };
                rows.iter().any(is_default)
            }
            (InsertRows::Query(_) | InsertRows::File, Some(_)) => false,
        };
        let defaults = default_plans(self, &table, is_used)?;
        let plan = InsertPlan {
            on_update,
            reads_changed,
            reads_row,
            replace,
            ignore: insert.ignore,
            defaults,
            generated: generated_plans(self, &table, 0)?,
            checks: check_plans(self, &table)?,
            columns,
            source,
            on_duplicate,
            source_slots,
            returning,
            slot_count: block.slot_count,
            view,
            table,
        };
        Ok((PlanKind::Insert(Box::new(plan)), result))
    }

    /// Records reasons why the text of an INSERT or REPLACE may have another effect elsewhere.
    fn note_unsafe_insert(&self, insert: &paceline_syntax::Insert, table: &TableDefinition, selects: bool) {
        let updates = !insert.on_duplicate.is_empty();
        let reasons = [
            (selects && insert.ignore, UnsafeReason::InsertIgnoreSelect),
            (selects && updates, UnsafeReason::InsertSelectUpdate),
            (
                selects && insert.kind == InsertKind::Replace,
                UnsafeReason::ReplaceSelect,
            ),
            (
                table.auto_increment_column().is_some() && self.reads_stored_table(),
                UnsafeReason::WriteAutoincSelect,
            ),
            (
                updates
                    && table
                        .indexes()
                        .iter()
                        .filter(|index| index.kind.is_unique())
                        .count()
                        > 1,
                UnsafeReason::InsertTwoKeys,
            ),
            (numbers_within_key(table), UnsafeReason::AutoincNotFirst),
        ];
        for (_, reason) in reasons.into_iter().filter(|(applies, _)| *applies) {
            self.dependences.note_unsafe(reason);
        }
    }

    /// Returns whether a query in the statement reads a stored table.
    fn reads_stored_table(&self) -> bool {
        let is_read = |table: &TableUse| table.usage.queried && table.definition.is_some();
        self.tables.borrow().iter().any(is_read)
    }

    /// Binds the assignments of an UPDATE, by table.
    fn bind_assignments(
        &self,
        block: &mut Block<'_, '_>,
        assignments: &[paceline_syntax::Assignment],
    ) -> Result<Vec<UpdateTarget>> {
        let mut targets: Vec<UpdateTarget> = Vec::new();
        for assignment in assignments {
            let found = find_assigned(block, &assignment.column, "SET")?;
            let (base, definition) = block.updated_column(found)?;
            refuse_sequence(&definition)?;
            block.note_updated(found, base);
            let VisibleColumn { table, column } = base;
            let value = bind_assigned(block, table, column, &assignment.value, "SET")?;
            let assignment = AssignmentPlan { column, value };
            match targets.iter_mut().find(|target| target.table == table) {
                Some(target) => target.assignments.push(assignment),
                None => {
                    let usage = TableUsage {
                        update: true,
                        ..TableUsage::default()
                    };
                    block.note_write(table, usage);
                    let checks = check_plans(self, &definition)?;
                    let base = block.tables[table].base;
                    targets.push(UpdateTarget {
                        table,
                        base,
                        definition,
                        assignments: vec![assignment],
                        on_update: Vec::new(),
                        checks,
                        view_check: block.view_check(table),
                        padding: Vec::new(),
                    });
                }
            }
        }
        Ok(targets)
    }

    pub(super) fn plan_update(
        &self,
        update: &paceline_syntax::Update,
    ) -> Result<(PlanKind, Vec<ResultColumn>)> {
        let number = self.next_select_number();
        let mut block = Block::new(self, None);
        let from = block.bind_changed_from(&update.tables)?;
        block.check_updated_view()?;
        let assigned = self.bind_assignments(&mut block, &update.assignments);
        let selection = update.selection.as_ref();
        let limit = update.limit.as_ref();
        // As in MariaDB, an unknown name in the clauses after SET comes first.
        if let Err(error) = &assigned
            && error.code() == ER_BAD_FIELD_ERROR
        {
            bind_clauses(&mut block, number, selection, &update.order_by, limit)?;
        }
        let mut targets = assigned?;
        let changed: Vec<usize> = targets.iter().map(|target| target.table).collect();
        block.check_single_tables(&changed)?;
        if update.limit.is_some() {
            (changed.iter()).try_for_each(|table| block.check_view_key(*table, "UPDATE"))?;
        }
        check_shared_keys(&block, &targets)?;
        if self
            .session()
            .settings
            .sql_mode
            .contains(SqlMode::SIMULTANEOUS_ASSIGNMENT)
        {
            check_assigned_once(&block, &targets)?;
        }
        for target in &mut targets {
            let assigned: Vec<usize> = target
                .assignments
                .iter()
                .map(|assignment| assignment.column)
                .collect();
            target.on_update = on_update_plans(self, &target.definition, &assigned)?;
            let generated = generated_plans(self, &target.definition, target.base)?;
            target.on_update.extend(generated);
        }
        let bound = bind_clauses(&mut block, number, selection, &update.order_by, limit)?;
        let is_ordered = bound
            .order
            .iter()
            .any(|item| matches!(&item.key, SortKey::Expr(key) if !is_fixed(key, &bound.conditions)));
        let reads_changed = self.reads_changed();
        if update.ignore {
            self.dependences.note_unsafe(UnsafeReason::UpdateIgnore);
        }
        block.note_read(&changed);
        use_all_columns(&mut block, &changed);
        let select = changing_select(block, from, bound)?;
        for target in &mut targets {
            target.padding = padded_slots(&select);
        }
        Ok((
            PlanKind::Update(Box::new(UpdatePlan {
                ignore: update.ignore,
                select,
                targets,
                reads_changed,
                is_ordered,
            })),
            Vec::new(),
        ))
    }

    /// Returns the database and the alias of the table of FROM that a DELETE from several tables names: by its alias,
    /// or by its name if it has none. The database is `None` for an alias.
    ///
    /// # Errors
    /// 1046 without a database; 1066 for a name of two tables.
    fn deleted_name(
        &self,
        target: &ast::TableName,
        from: &[ast::JoinedTables],
    ) -> Result<Option<(Option<String>, String)>> {
        let current = self.session().database.as_deref();
        let database_of = |name: &ast::TableName| match name.database.as_deref().or(current) {
            Some(database) => Ok(database.to_owned()),
            None => Err(Error::new(ER_NO_DB_ERROR, &[])),
        };
        let database = database_of(target)?;
        let mut found = None;
        for factor in from.iter().flat_map(factors) {
            let names = match factor {
                ast::TableFactor::Table {
                    alias: Some(alias), ..
                }
                | ast::TableFactor::Derived { alias, .. } => {
                    (target.database.is_none() && *alias == target.name).then(|| (None, alias.clone()))
                }
                ast::TableFactor::Table { name, .. } => (name.name == target.name
                    && database_of(name)? == database)
                    .then(|| (Some(database.clone()), name.name.clone())),
                ast::TableFactor::JsonTable(_) | ast::TableFactor::Nested(_) => None,
            };
            if let Some(names) = names
                && found.replace(names).is_some()
            {
                return Err(Error::new(ER_NONUNIQ_TABLE, &[&target.name]));
            }
        }
        Ok(found)
    }

    pub(super) fn plan_delete(
        &self,
        delete: &paceline_syntax::Delete,
    ) -> Result<(PlanKind, Vec<ResultColumn>)> {
        let number = self.next_select_number();
        let mut block = Block::new(self, None);
        // Names are resolved before the tables are opened.
        let mut named = Vec::with_capacity(delete.targets.len());
        for target in &delete.targets {
            let Some(names) = self.deleted_name(target, &delete.from)? else {
                return Err(Error::new(ER_UNKNOWN_TABLE, &[&target.name, &"MULTI DELETE"]));
            };
            named.push(names);
        }
        let from = block.bind_changed_from(&delete.from)?;
        let mut numbers = Vec::new();
        if delete.targets.is_empty() {
            numbers.extend((0..block.tables.len()).filter(|&table| block.tables[table].owner == 0));
        }
        for (target, (database, alias)) in delete.targets.iter().zip(named) {
            let found = block.tables.iter().position(|table| {
                table.owner == 0
                    && *table.alias == *alias
                    && database
                        .as_ref()
                        .is_none_or(|database| *table.database == **database)
            });
            let Some(table) = found else {
                return Err(Error::new(ER_UNKNOWN_TABLE, &[&target.name, &"MULTI DELETE"]));
            };
            numbers.push(table);
        }
        let mut targets = Vec::with_capacity(numbers.len());
        let syntax = match delete.targets.is_empty() {
            true => DeleteSyntax::OneTable,
            false => DeleteSyntax::SeveralTables,
        };
        for &named in &numbers {
            let (table, definition) = block.deleted_table(named, syntax)?;
            refuse_sequence(&definition)?;
            if delete.limit.is_some() {
                block.check_view_key(table, "DELETE")?;
            }
            let usage = TableUsage {
                delete: true,
                ..TableUsage::default()
            };
            block.note_write(table, usage);
            targets.push((table, definition));
        }
        let changed: Vec<usize> = targets.iter().map(|(table, _)| *table).collect();
        let (returning, result) = bind_returning(&mut block, &delete.returning)?;
        let selection = delete.selection.as_ref();
        let bound = bind_clauses(
            &mut block,
            number,
            selection,
            &delete.order_by,
            delete.limit.as_ref(),
        )?;
        let reads_changed = self.reads_changed();
        block.note_read(match delete.targets.is_empty() {
            true => &changed,
            // With several tables each one is read.
            false => &[],
        });
        let select = changing_select(block, from, bound)?;
        Ok((
            PlanKind::Delete(Box::new(DeletePlan {
                ignore: delete.ignore,
                has_where: delete.selection.is_some(),
                select,
                targets,
                reads_changed,
                returning,
            })),
            result,
        ))
    }
}

/// Returns 1706 if a table is updated under two names, and the change under one of them would move rows that are found
/// under the other.
fn check_shared_keys(block: &Block<'_, '_>, targets: &[UpdateTarget]) -> Result<()> {
    for one in targets {
        let same = |other: &&UpdateTarget| {
            other.table > one.table && Arc::ptr_eq(&other.definition, &one.definition)
        };
        let RowPlacement::Key(index) = one.definition.schema().clustered() else {
            continue;
        };
        for other in targets.iter().filter(same) {
            let parts = &one.definition.indexes()[index].parts;
            if parts
                .iter()
                .any(|part| one.assigns(part.column) || other.assigns(part.column))
            {
                let alias =
                    |target: &UpdateTarget| block.tables[block.named_table(target.table)].alias.clone();
                return Err(Error::new(
                    ER_MULTI_UPDATE_KEY_CONFLICT,
                    &[&alias(one), &alias(other)],
                ));
            }
        }
    }
    Ok(())
}

/// Returns 4140 for a column that is assigned twice.
fn check_assigned_once(block: &Block<'_, '_>, targets: &[UpdateTarget]) -> Result<()> {
    for target in targets {
        let columns = target.assignments.iter().map(|assignment| assignment.column);
        for (number, column) in columns.clone().enumerate() {
            if columns.clone().take(number).any(|other| other == column) {
                let name = &target.definition.columns()[column].name;
                let alias = &block.tables[target.table].alias;
                return Err(Error::new(ER_UPDATED_COLUMN_ONLY_ONCE, &[alias, name]));
            }
        }
    }
    Ok(())
}

/// Returns whether one of the conditions requires that an expression equals a constant.
fn is_fixed(key: &Expr, conditions: &[Expr]) -> bool {
    conditions.iter().any(|condition| match &condition.kind {
        ExprKind::Compare {
            op: CompareOp::Eq,
            operands,
            ..
        } => {
            let [left, right] = &**operands;
            (super::same_expr::same_expr(left, key) && right.is_constant_during_execution())
                || (super::same_expr::same_expr(right, key) && left.is_constant_during_execution())
        }
        _ => false,
    })
}

/// Binds the clauses of an UPDATE or DELETE that select rows.
fn bind_clauses(
    block: &mut Block<'_, '_>,
    number: u32,
    selection: Option<&ast::Expr>,
    order_by: &[ast::OrderItem],
    limit: Option<&ast::Expr>,
) -> Result<BoundSelect> {
    let mut conditions = Vec::new();
    if let Some(selection) = selection {
        super::conditions::split_and(
            block.bind_condition(selection, BindMode::condition(Clause::Where))?,
            &mut conditions,
        );
    }
    let order = block.bind_order_by(order_by, &[])?;
    let count = limit
        .map(|limit| block.bind(limit, BindMode::named("LIMIT")))
        .transpose()?;
    block.planner.dependences.note_limit(count.as_ref());
    Ok(BoundSelect {
        number,
        outputs: Vec::new(),
        conditions,
        groups: Vec::new(),
        explicit: false,
        rollup: None,
        stored: StoredExprs::default(),
        having: Vec::new(),
        windows: Vec::new(),
        order,
        limit: Limit {
            count,
            ..Limit::default()
        },
        straight: false,
        distinct: false,
        count_found_rows: false,
        read: ReadMode::Locking {
            strength: LockStrength::Exclusive,
            wait: LockPatience::Default,
        },
    })
}

/// Returns the SELECT of the rows that an UPDATE or DELETE changes.
fn changing_select(
    block: Block<'_, '_>,
    from: Option<FromNode>,
    bound: BoundSelect,
) -> Result<Box<SelectPlan>> {
    match block.finish(from, bound)?.body {
        QueryBody::Select(mut select) => {
            select.keep_row_handles = true;
            if let Some(otherwise) = &mut select.otherwise {
                otherwise.select.keep_row_handles = true;
            }
            Ok(select)
        }
        _ => unreachable!("a SELECT was planned"),
    }
}

impl Block<'_, '_> {
    /// Records the tables that an UPDATE or DELETE reads: those with a named column, and those that it does not change.
    /// This is done later than for a SELECT, so that the tables read by subqueries are known separately.
    fn note_read(&self, changed: &[usize]) {
        for (number, table) in self.tables.iter().enumerate() {
            let is_changed = match &table.merged {
                None => changed.contains(&number),
                Some(merged) => changed.iter().any(|table| merged.tables.contains(table)),
            };
            let usage = TableUsage {
                select: true,
                queried: !is_changed,
                ..TableUsage::default()
            };
            if !table.used.contains(&true) && is_changed {
                continue;
            }
            let access = &table.access;
            match (&table.source, &table.view) {
                (TableSource::Base(definition), _) => {
                    let (database, name) = (definition.database(), definition.name());
                    (self.planner).use_table_as(access, database, name, Some(definition), usage);
                }
                (TableSource::Virtual { database, table }, _) => {
                    self.planner.use_table_as(access, database, table, None, usage);
                }
                (_, Some(view)) => {
                    self.planner.use_view(view, usage, access);
                }
                _ => {}
            }
        }
    }
}

fn use_all_columns(block: &mut Block<'_, '_>, tables: &[usize]) {
    for &table in tables {
        block.tables[table].used.fill(true);
    }
}

fn insert_columns(
    block: &Block<'_, '_>,
    table: &TableDefinition,
    insert: &paceline_syntax::Insert,
) -> Result<Vec<usize>> {
    if insert.columns.is_empty() {
        let only_empty =
            matches!(&insert.source, InsertSource::Values(rows) if rows.iter().all(Vec::is_empty));
        if only_empty {
            return Ok(Vec::new());
        }
        return Ok((0..table.columns().len())
            .filter(|&column| !table.columns()[column].invisible)
            .collect());
    }
    let mut columns = Vec::with_capacity(insert.columns.len());
    for name in &insert.columns {
        let VisibleColumn { column, .. } = find_assigned(block, name, "INSERT INTO")?;
        if columns.contains(&column) {
            return Err(Error::new(ER_FIELD_SPECIFIED_TWICE, &[&name.name]));
        }
        columns.push(column);
    }
    Ok(columns)
}

fn bind_values(
    block: &mut Block<'_, '_>,
    row: &[AssignedValue],
    columns: &[usize],
    number: usize,
    rows: &[Vec<AssignedValue>],
) -> Result<Vec<Option<Expr>>> {
    // `VALUES ()` means defaults for all columns, in the first row or in every row.
    if row.len() != columns.len() && !(row.is_empty() && rows.iter().all(Vec::is_empty)) {
        return Err(Error::new(ER_WRONG_VALUE_COUNT_ON_ROW, &[&(number + 1)]));
    }
    let mut bound = Vec::with_capacity(row.len());
    for value in row {
        bound.push(match value {
            AssignedValue::Default => None,
            AssignedValue::Expr(expr) => Some(block.bind(expr, BindMode::named("VALUES"))?),
        });
    }
    Ok(bound)
}

pub(super) fn bind_assigned(
    block: &mut Block<'_, '_>,
    table: usize,
    column: usize,
    value: &AssignedValue,
    clause: &str,
) -> Result<Expr> {
    match value {
        AssignedValue::Default => {
            let TableSource::Base(definition) = &block.tables[table].source else {
                unreachable!("only stored tables are assigned to")
            };
            let definition = definition.clone();
            let base = block.tables[table].base;
            match column_default(block.planner, &definition, column)? {
                Some(mut expr) => {
                    expr.map_columns(&mut |slot| slot + base);
                    Ok(expr)
                }
                None => Err(Error::new(
                    ER_NO_DEFAULT_FOR_FIELD,
                    &[&definition.columns()[column].name],
                )),
            }
        }
        AssignedValue::Expr(expr) => block.bind(expr, BindMode::named(clause)),
    }
}

fn bind_returning(
    block: &mut Block<'_, '_>,
    items: &[ast::SelectItem],
) -> Result<(Option<Vec<Expr>>, Vec<ResultColumn>)> {
    if items.is_empty() {
        return Ok((None, Vec::new()));
    }
    let outputs = block.bind_returning(items)?;
    if !block.aggregates.is_empty() {
        return Err(Error::new(
            paceline_types::error_code::ER_INVALID_GROUP_FUNC_USE,
            &[],
        ));
    }
    let columns = outputs.iter().map(|output| output.result.clone()).collect();
    Ok((
        Some(outputs.into_iter().map(|output| output.expr).collect()),
        columns,
    ))
}
