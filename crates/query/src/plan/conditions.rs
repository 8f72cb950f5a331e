//! Analysis of conditions: conjuncts, the tables that each reads, and whether they reject NULLs.

use paceline_expression::{CompareOp, Comparison, Expr, ExprKind, ExprType, Truth};

/// Set of a block's tables: bit n is table n.
pub(crate) type TableSet = u64;

/// Returns the set of a range of tables.
pub(crate) fn table_set(tables: std::ops::Range<usize>) -> TableSet {
    tables.fold(0, |set, table| set | 1 << table)
}

/// A conjunct and the tables that it reads.
#[derive(Debug, Clone)]
pub(crate) struct Condition {
    pub expr: Expr,
    pub tables: TableSet,
    /// Whether it has the same result for the same row at each evaluation. Otherwise it is evaluated after all tables,
    /// once for each joined row.
    pub stable: bool,
}

impl Condition {
    /// Returns whether a single evaluation is sufficient for the whole query.
    pub fn is_constant(&self) -> bool {
        self.tables == 0 && self.stable
    }
}

/// Table of each slot of a block.
#[derive(Debug, Default)]
pub(crate) struct SlotMap(Vec<Option<u8>>);

impl SlotMap {
    pub fn new(slot_count: usize, tables: impl Iterator<Item = std::ops::Range<usize>>) -> Self {
        let mut map = vec![None; slot_count];
        for (number, slots) in tables.enumerate() {
            for slot in slots {
                map[slot] = Some(number as u8);
            }
        }
        SlotMap(map)
    }

    /// Returns the tables that an expression reads.
    pub fn tables(&self, expr: &Expr) -> TableSet {
        let mut set = 0;
        for_each_slot(expr, &mut |slot| {
            if let Some(Some(table)) = self.0.get(slot) {
                set |= 1 << table;
            }
        });
        set
    }

    /// Returns whether an expression reads exactly these tables, and no column of an outer query.
    pub fn reads_only(&self, expr: &Expr, tables: TableSet) -> bool {
        let mut only = self.tables(expr) == tables;
        for_each_slot(expr, &mut |slot| only &= self.table_of(slot).is_some());
        only
    }

    pub fn condition(&self, expr: Expr) -> Condition {
        let tables = self.tables(&expr);
        let stable = expr.is_stable();
        Condition { expr, tables, stable }
    }

    pub fn table_of(&self, slot: usize) -> Option<usize> {
        self.0.get(slot).copied().flatten().map(usize::from)
    }
}

/// Calls `visit` for each slot that an expression reads, including those that its subqueries read.
pub(crate) fn for_each_slot(expr: &Expr, visit: &mut dyn FnMut(usize)) {
    expr.visit(&mut |node| match &node.kind {
        ExprKind::Column(slot) => visit(*slot),
        ExprKind::ScalarSubquery(subquery)
        | ExprKind::Exists { subquery, .. }
        | ExprKind::Quantified { subquery, .. } => {
            subquery.outer_slots.iter().for_each(|&slot| visit(slot));
        }
        _ => {}
    });
}

/// Splits a condition at AND. Common conjuncts of an OR's alternatives are moved out of it, and equalities of rows are
/// split into those of their elements.
pub(crate) fn split_and(expr: Expr, out: &mut Vec<Expr>) {
    match expr.kind {
        ExprKind::And(parts) => parts.into_iter().for_each(|part| split_and(part, out)),
        ExprKind::Or(alternatives) => split_or(alternatives, expr.ty, out),
        ExprKind::Compare {
            op: CompareOp::Eq,
            by: Comparison::Row(rules),
            operands,
        } => {
            let [left, right] = *operands;
            match (left.kind, right.kind) {
                (ExprKind::Row(left), ExprKind::Row(right))
                    if left.len() == right.len() && rules.len() == left.len() =>
                {
                    for ((left, right), by) in left.into_iter().zip(right).zip(rules) {
                        let nullable = left.ty.nullable || right.ty.nullable;
                        let kind = ExprKind::Compare {
                            op: CompareOp::Eq,
                            by,
                            operands: Box::new([left, right]),
                        };
                        split_and(
                            Expr {
                                kind,
                                ty: ExprType::boolean().with_nullable(nullable),
                            },
                            out,
                        );
                    }
                }
                (left_kind, right_kind) => out.push(Expr {
                    kind: ExprKind::Compare {
                        op: CompareOp::Eq,
                        by: Comparison::Row(rules),
                        operands: Box::new([
                            Expr {
                                kind: left_kind,
                                ty: left.ty,
                            },
                            Expr {
                                kind: right_kind,
                                ty: right.ty,
                            },
                        ]),
                    },
                    ty: expr.ty,
                }),
            }
        }
        kind => out.push(Expr { kind, ty: expr.ty }),
    }
}

/// Maximum number of an OR's alternatives, and of the conjuncts of one, that are compared with each other.
const ALTERNATIVES_MAX: usize = 64;

/// Splits an OR into the common conjuncts of all alternatives and the OR of the rest: `(a AND b) OR (a AND c)` becomes
/// `a AND (b OR c)`.
fn split_or(alternatives: Vec<Expr>, ty: ExprType, out: &mut Vec<Expr>) {
    let whole = |alternatives, ty| Expr {
        kind: ExprKind::Or(alternatives),
        ty,
    };
    let may_share = (2..=ALTERNATIVES_MAX).contains(&alternatives.len())
        && matches!(&alternatives[0].kind, ExprKind::And(_) | ExprKind::Compare { .. })
        && alternatives.iter().all(Expr::is_stable);
    if !may_share {
        return out.push(whole(alternatives, ty));
    }
    let conjuncts: Vec<Vec<Expr>> = alternatives
        .iter()
        .map(|alternative| {
            let mut parts = Vec::new();
            split_and(alternative.clone(), &mut parts);
            parts
        })
        .collect();
    if conjuncts.iter().any(|parts| parts.len() > ALTERNATIVES_MAX) {
        return out.push(whole(alternatives, ty));
    }
    let (mut common, mut rest) = (Vec::new(), conjuncts);
    let mut number = 0;
    while let Some(candidate) = rest[0].get(number) {
        let places: Option<Vec<usize>> = rest
            .iter()
            .map(|parts| {
                let mut parts = parts.iter();
                parts.position(|part| super::same_expr::same_expr(part, candidate))
            })
            .collect();
        let Some(places) = places else {
            number += 1;
            continue;
        };
        let mut taken = None;
        for (parts, place) in rest.iter_mut().zip(places) {
            taken = Some(parts.remove(place));
        }
        common.extend(taken);
    }
    if common.is_empty() {
        return out.push(whole(alternatives, ty));
    }
    out.extend(common);
    // An alternative without other conjuncts holds whenever the common part does.
    if rest.iter().all(|parts| !parts.is_empty()) {
        let rest = rest.into_iter().map(|mut parts| match parts.len() {
            1 => parts.remove(0),
            _ => Expr {
                kind: ExprKind::And(parts),
                ty: ty.clone(),
            },
        });
        let rest = rest.collect();
        out.push(whole(rest, ty));
    }
}

/// Returns whether a condition cannot be true on a row in which all columns of these tables are NULL. Then an outer
/// join with these tables on its inner side has the result of an inner join.
pub(crate) fn rejects_nulls(expr: &Expr, slots: &SlotMap, tables: TableSet) -> bool {
    match &expr.kind {
        ExprKind::And(parts) => parts.iter().any(|part| rejects_nulls(part, slots, tables)),
        ExprKind::Or(parts) => parts.iter().all(|part| rejects_nulls(part, slots, tables)),
        ExprKind::Is {
            test: Truth::Null,
            negated: true,
            operand,
        } => null_if_nulls(operand, slots, tables),
        ExprKind::Is {
            test: Truth::True,
            negated: false,
            operand,
        } => rejects_nulls(operand, slots, tables),
        _ => null_if_nulls(expr, slots, tables),
    }
}

/// Returns whether an expression is NULL if all columns of these tables are.
fn null_if_nulls(expr: &Expr, slots: &SlotMap, tables: TableSet) -> bool {
    let all = |expr: &Expr| null_if_nulls(expr, slots, tables);
    match &expr.kind {
        ExprKind::Column(slot) => slots
            .table_of(*slot)
            .is_some_and(|table| tables & (1 << table) != 0),
        ExprKind::Compare {
            op: CompareOp::NullSafeEq,
            ..
        }
        | ExprKind::Compare {
            by: Comparison::Row(_),
            ..
        } => false,
        ExprKind::Compare { operands, .. }
        | ExprKind::Arithmetic { operands, .. }
        | ExprKind::Bits { operands, .. } => operands.iter().any(all),
        ExprKind::Like { operands, .. } => operands.iter().any(all),
        ExprKind::Between {
            operands, negated, ..
        } => all(&operands[0]) || (!negated && operands[1..].iter().any(all)),
        ExprKind::InList { needle, .. } => all(needle),
        ExprKind::Negate { operand, .. }
        | ExprKind::Not(operand)
        | ExprKind::Collate(operand)
        | ExprKind::Rounded(operand) => all(operand),
        _ => false,
    }
}

/// Returns the truth of a literal condition, where NULL counts as false; `None` for any other expression.
pub(crate) fn literal_truth(expr: &Expr) -> Option<bool> {
    use paceline_types::Value;
    match expr.as_literal()? {
        Value::Null => Some(false),
        Value::Int(number) => Some(*number != 0),
        Value::UInt(number) => Some(*number != 0),
        _ => None,
    }
}
