//! Conditions that follow from others: `a = b AND b = 5` implies `a = 5`, and an OR implies a condition on each of its
//! tables.
//!
//! Implied conditions do not change the result. They give the optimizer more usable indexes and more join orders, and
//! they drop rows early.
//!
//! ```text
//!   a = b, b = c          a = c                     columns that are equal by one rule are a class; each pair of tables gets its condition
//!   a = b, b = 5          a = 5                     a class with a constant needs no pairs
//!   (a = 1 AND b = 2)     a = 1 OR a = 3            where each alternative says something about one table
//!     OR (a = 3 AND b = 4), b = 2 OR b = 4
//! ```

use paceline_types::{Collation, DataType, FixedBinaryType};

use super::conditions::{Condition, SlotMap, TableSet};
use paceline_expression::{CompareOp, Comparison, Expr, ExprKind, ExprType};

/// Maximum number of columns of a class: each pair of tables becomes a condition.
const CLASS_MAX: usize = 12;

/// Kind of comparison. Values that are equal by one rule of a kind are equal by all rules of this kind.
#[derive(Clone, Copy, PartialEq)]
enum Domain {
    Integer,
    Decimal,
    Date,
    DateTime,
    Text(Collation),
    FixedBinary(FixedBinaryType),
}

/// A class of columns that are equal to each other.
struct Class {
    domain: Domain,
    by: Comparison,
    /// Slots and types of the columns.
    columns: Vec<(usize, ExprType)>,
    /// Constant that they are equal to, with the rule of the comparison.
    constant: Option<(Expr, Comparison)>,
}

/// `left = right` of two columns, or of a column and a constant.
struct Equality<'c> {
    left: (usize, &'c ExprType),
    right: &'c Expr,
    domain: Domain,
    by: &'c Comparison,
}

/// Adds the equalities on these tables that follow from the given ones.
pub(super) fn add_equalities(conditions: &mut Vec<Condition>, slots: &SlotMap, tables: TableSet) {
    let mut classes: Vec<Class> = Vec::new();
    let (mut pairs, mut constants) = (Vec::new(), Vec::new());
    for condition in conditions.iter() {
        if let Some(equality) = equality_of(condition, slots) {
            match equality.right.kind {
                ExprKind::Column(slot) if slots.table_of(slot).is_some() => pairs.push((equality, slot)),
                _ => constants.push(equality),
            }
        }
    }
    for (equality, right) in &pairs {
        if domain(&equality.right.ty, equality.by) == Some(equality.domain) {
            unite(&mut classes, equality, *right);
        }
    }
    for equality in &constants {
        let class = classes
            .iter_mut()
            .find(|class| class.domain == equality.domain && class.has(equality.left.0));
        if let Some(class) = class
            && class.constant.is_none()
        {
            class.constant = Some((equality.right.clone(), equality.by.clone()));
        }
    }
    let has_constant = |slot: usize| constants.iter().any(|equality| equality.left.0 == slot);
    let has_pair = |left: usize, right: usize| {
        pairs.iter().any(|(equality, slot)| {
            (equality.left.0, *slot) == (left, right) || (equality.left.0, *slot) == (right, left)
        })
    };
    let mut implied = Vec::new();
    for class in &classes {
        if let Some((constant, by)) = &class.constant {
            for (slot, ty) in &class.columns {
                if !has_constant(*slot) {
                    implied.push(equality(
                        Expr::column(*slot, ty.clone()),
                        constant.clone(),
                        by.clone(),
                    ));
                }
            }
        } else if class.columns.len() <= CLASS_MAX {
            for (number, (left, left_type)) in class.columns.iter().enumerate() {
                for (right, right_type) in &class.columns[number + 1..] {
                    if slots.table_of(*left) != slots.table_of(*right) && !has_pair(*left, *right) {
                        let sides = (
                            Expr::column(*left, left_type.clone()),
                            Expr::column(*right, right_type.clone()),
                        );
                        implied.push(equality(sides.0, sides.1, class.by.clone()));
                    }
                }
            }
        }
    }
    let implied = implied.into_iter().map(|expr| slots.condition(expr));
    conditions.extend(implied.filter(|condition| condition.tables & tables != 0));
}

impl Class {
    fn has(&self, slot: usize) -> bool {
        self.columns.iter().any(|(known, _)| *known == slot)
    }
}

/// Merges the classes of two columns.
fn unite(classes: &mut Vec<Class>, equality: &Equality<'_>, right: usize) {
    let find = |classes: &[Class], slot: usize| {
        classes
            .iter()
            .position(|class| class.domain == equality.domain && class.has(slot))
    };
    let left = (equality.left.0, equality.left.1.clone());
    let right = (right, equality.right.ty.clone());
    match (find(classes, left.0), find(classes, right.0)) {
        (Some(one), Some(other)) if one == other => {}
        (Some(one), Some(other)) => {
            let merged = classes.swap_remove(one.max(other));
            classes[one.min(other)].columns.extend(merged.columns);
        }
        (Some(class), None) => classes[class].columns.push(right),
        (None, Some(class)) => classes[class].columns.push(left),
        (None, None) => classes.push(Class {
            domain: equality.domain,
            by: equality.by.clone(),
            columns: vec![left, right],
            constant: None,
        }),
    }
}

/// Returns the equality of a condition, with a column on the left.
fn equality_of<'c>(condition: &'c Condition, slots: &SlotMap) -> Option<Equality<'c>> {
    let ExprKind::Compare {
        op: CompareOp::Eq,
        by,
        operands,
    } = &condition.expr.kind
    else {
        return None;
    };
    let [left, right] = &**operands;
    let own = |expr: &Expr| match expr.kind {
        ExprKind::Column(slot) => slots.table_of(slot).map(|_| slot),
        _ => None,
    };
    let (column, slot, other) = match (own(left), own(right)) {
        (Some(slot), _) => (left, slot, right),
        (None, Some(slot)) => (right, slot, left),
        (None, None) => return None,
    };
    if own(other).is_none() && (slots.tables(other) != 0 || !other.is_stable()) {
        return None;
    }
    Some(Equality {
        left: (slot, &column.ty),
        right: other,
        domain: domain(&column.ty, by)?,
        by,
    })
}

fn domain(ty: &ExprType, by: &Comparison) -> Option<Domain> {
    match (&ty.data_type, by) {
        (DataType::Integer(_), Comparison::Int) => Some(Domain::Integer),
        (DataType::Decimal(_), Comparison::Decimal) => Some(Domain::Decimal),
        (DataType::Date, Comparison::DateTime) => Some(Domain::Date),
        (DataType::DateTime { .. }, Comparison::DateTime) => Some(Domain::DateTime),
        (
            DataType::Char { collation, .. }
            | DataType::VarChar { collation, .. }
            | DataType::Text { collation, .. },
            Comparison::Text(rule),
        ) if collation == rule => Some(Domain::Text(*collation)),
        (DataType::FixedBinary(t), Comparison::FixedBinary(_)) => Some(Domain::FixedBinary(*t)),
        _ => None,
    }
}

fn equality(left: Expr, right: Expr, by: Comparison) -> Expr {
    let ty = ExprType::boolean().with_nullable(left.ty.nullable || right.ty.nullable);
    let kind = ExprKind::Compare {
        op: CompareOp::Eq,
        by,
        operands: Box::new([left, right]),
    };
    Expr { kind, ty }
}

/// Adds the conditions on single tables that an OR over several tables implies.
pub(super) fn add_parts_of_alternatives(conditions: &mut Vec<Condition>, slots: &SlotMap, tables: TableSet) {
    let mut implied = Vec::new();
    for condition in conditions.iter() {
        let ExprKind::Or(alternatives) = &condition.expr.kind else {
            continue;
        };
        if !condition.stable || condition.tables.count_ones() < 2 {
            continue;
        }
        for table in 0..64 {
            let own: TableSet = 1 << table;
            if condition.tables & tables & own == 0 {
                continue;
            }
            let parts: Option<Vec<Expr>> = alternatives
                .iter()
                .map(|alternative| part_of(alternative, own, slots))
                .collect();
            if let Some(parts) = parts {
                let ty = condition.expr.ty.clone();
                let kind = ExprKind::Or(parts);
                implied.push(slots.condition(Expr { kind, ty }));
            }
        }
    }
    conditions.extend(implied);
}

/// Returns the conjuncts of an expression that read only this table.
fn part_of(expr: &Expr, own: TableSet, slots: &SlotMap) -> Option<Expr> {
    if slots.tables(expr) == own {
        return Some(expr.clone());
    }
    let ExprKind::And(parts) = &expr.kind else {
        return None;
    };
    let mut found: Vec<Expr> = parts
        .iter()
        .filter_map(|part| part_of(part, own, slots))
        .collect();
    match found.len() {
        0 => None,
        1 => found.pop(),
        _ => Some(Expr {
            kind: ExprKind::And(found),
            ty: expr.ty.clone(),
        }),
    }
}
