//! Bound expressions as text, with the names of their columns, and with parentheses around every operation within
//! another one.

use super::super::range::{ColumnTest, RangeCondition};
use super::super::tree::{TableInstance, TableSource};
use paceline_expression::{BitOp, Expr, ExprKind, Quantifier, Truth};
use paceline_types::{TimeZone, Value, text};

/// Names of a block's slots and tables.
#[derive(Default)]
pub(in super::super) struct Names {
    slots: Vec<Option<String>>,
    tables: Vec<String>,
}

impl Names {
    /// Returns the names of a planned block's tables.
    pub fn of_instances(tables: &[TableInstance]) -> Self {
        let mut names = Names {
            slots: Vec::new(),
            tables: tables.iter().map(|table| table.alias.to_string()).collect(),
        };
        for table in tables {
            for (column, slot) in table.slots.clone().enumerate() {
                names.set(slot, format!("{}.{}", table.alias, column_name(table, column)));
            }
        }
        names
    }

    /// Adds a table.
    pub fn add_table(&mut self, alias: &str) {
        self.tables.push(alias.to_owned());
    }

    /// Sets the name of a slot.
    pub fn set(&mut self, slot: usize, name: String) {
        if self.slots.len() <= slot {
            self.slots.resize(slot + 1, None);
        }
        self.slots[slot] = Some(name);
    }

    /// Returns the name of a slot.
    pub fn slot(&self, slot: usize) -> Option<&str> {
        self.slots.get(slot)?.as_deref()
    }

    /// Returns the text of a term of a condition.
    pub fn term(&self, expr: &Expr) -> String {
        self.operand_of_list(expr)
    }

    /// Returns the name of a table.
    pub fn table(&self, number: usize) -> &str {
        &self.tables[number]
    }

    /// Returns the text of an expression.
    pub fn text(&self, expr: &Expr) -> String {
        match &expr.kind {
            ExprKind::Literal(value) => literal(value),
            ExprKind::Column(slot) => match self.slots.get(*slot) {
                Some(Some(name)) => name.clone(),
                _ => format!("slot {slot}"),
            },
            ExprKind::Parameter(_) => "?".to_owned(),
            ExprKind::Aggregate(number) => format!("aggregate {number}"),
            ExprKind::UserVariable(name) => format!("@{name}"),
            ExprKind::AssignUserVariable { name, value } => format!("@{name} := {}", self.operand(value)),
            ExprKind::SystemVariable { name, .. } => format!("@@{name}"),
            ExprKind::Compare { op, operands, .. } => self.binary(&operands[0], op.as_str(), &operands[1]),
            ExprKind::And(parts) => self.list(parts, " and "),
            ExprKind::Or(parts) => self.list(parts, " or "),
            ExprKind::Xor(operands) => self.binary(&operands[0], "xor", &operands[1]),
            ExprKind::Not(operand) => format!("not {}", self.operand(operand)),
            ExprKind::Is {
                test,
                negated,
                operand,
            } => {
                let test = match test {
                    Truth::True => "true",
                    Truth::False => "false",
                    Truth::Null => "null",
                };
                format!("{} is {}{test}", self.operand(operand), not(*negated))
            }
            ExprKind::Between {
                negated, operands, ..
            } => {
                let [value, low, high] = &**operands;
                let (value, low, high) = (self.operand(value), self.operand(low), self.operand(high));
                format!("{value} {}between {low} and {high}", not(*negated))
            }
            ExprKind::InList {
                negated,
                needle,
                list,
                ..
            } => format!(
                "{} {}in ({})",
                self.operand(needle),
                not(*negated),
                self.texts(list)
            ),
            ExprKind::Like {
                negated, operands, ..
            } => {
                let operator = format!("{}like", not(*negated));
                self.binary(&operands[0], &operator, &operands[1])
            }
            ExprKind::Arithmetic { op, operands, .. } => self.binary(&operands[0], op.as_str(), &operands[1]),
            ExprKind::Bits { op, operands } => {
                let operator = match op {
                    BitOp::Or => "|",
                    BitOp::And => "&",
                    BitOp::Xor => "^",
                    BitOp::ShiftLeft => "<<",
                    BitOp::ShiftRight => ">>",
                };
                self.binary(&operands[0], operator, &operands[1])
            }
            ExprKind::Negate { operand, .. } => format!("-{}", self.operand(operand)),
            ExprKind::BitNot(operand) => format!("~{}", self.operand(operand)),
            ExprKind::Cast { operand, .. } => format!("cast({})", self.text(operand)),
            ExprKind::Collate(operand) | ExprKind::Rounded(operand) => self.text(operand),
            ExprKind::Call(call) => format!("{}({})", call.function.name, self.texts(&call.args)),
            ExprKind::Row(parts) => format!("({})", self.texts(parts)),
            ExprKind::ScalarSubquery(_) => "(subquery)".to_owned(),
            ExprKind::Exists { negated, .. } => format!("{}exists (subquery)", not(*negated)),
            ExprKind::Quantified {
                op, quantifier, left, ..
            } => {
                let quantifier = match quantifier {
                    Quantifier::Any => "any",
                    Quantifier::All => "all",
                };
                format!("{} {} {quantifier} (subquery)", self.operand(left), op.as_str())
            }
            ExprKind::Case { .. } | ExprKind::SimpleCase { .. } => {
                let mut parts = Vec::new();
                expr.for_each_child(&mut |child| parts.push(self.text(child)));
                format!("case({})", parts.join(", "))
            }
        }
    }

    fn texts(&self, exprs: &[Expr]) -> String {
        let texts: Vec<String> = exprs.iter().map(|expr| self.text(expr)).collect();
        texts.join(", ")
    }

    fn list(&self, parts: &[Expr], separator: &str) -> String {
        let parts: Vec<String> = parts.iter().map(|part| self.operand_of_list(part)).collect();
        parts.join(separator)
    }

    fn binary(&self, left: &Expr, operator: &str, right: &Expr) -> String {
        format!("{} {operator} {}", self.operand(left), self.operand(right))
    }

    /// Returns the text of an operand of an operator.
    fn operand(&self, expr: &Expr) -> String {
        let is_operation = matches!(
            expr.kind,
            ExprKind::Compare { .. }
                | ExprKind::And(_)
                | ExprKind::Or(_)
                | ExprKind::Xor(_)
                | ExprKind::Is { .. }
                | ExprKind::Between { .. }
                | ExprKind::InList { .. }
                | ExprKind::Like { .. }
                | ExprKind::Arithmetic { .. }
                | ExprKind::Bits { .. }
                | ExprKind::Quantified { .. }
        );
        match is_operation {
            true => format!("({})", self.text(expr)),
            false => self.text(expr),
        }
    }

    /// Returns the text of a term of AND or OR. Only a term with the other operator needs parentheses.
    fn operand_of_list(&self, expr: &Expr) -> String {
        match expr.kind {
            ExprKind::And(_) | ExprKind::Or(_) | ExprKind::Xor(_) => format!("({})", self.text(expr)),
            _ => self.text(expr),
        }
    }

    /// Returns the names of an index's columns.
    pub fn index_columns(&self, table: &TableInstance, index: usize) -> Vec<String> {
        let TableSource::Base(definition) = &table.source else {
            return Vec::new();
        };
        let parts = definition.indexes()[index].parts.iter();
        parts.map(|part| column_name(table, part.column)).collect()
    }

    /// Returns the text of a restriction of a table's columns.
    pub fn range(&self, condition: &RangeCondition, table: &TableInstance) -> String {
        let list = |parts: &[RangeCondition], separator: &str| {
            let parts: Vec<String> = parts
                .iter()
                .map(|part| match part {
                    RangeCondition::Column { .. } => self.range(part, table),
                    _ => format!("({})", self.range(part, table)),
                })
                .collect();
            parts.join(separator)
        };
        match condition {
            RangeCondition::And(parts) => list(parts, " and "),
            RangeCondition::Or(parts) => list(parts, " or "),
            RangeCondition::Column { column, test } => {
                let column = column_name(table, *column);
                match test {
                    ColumnTest::Compare { op, value, .. } => {
                        format!("{column} {} {}", op.as_str(), self.operand(value))
                    }
                    ColumnTest::In(values) => {
                        let values: Vec<String> = values.iter().map(|(_, value)| self.text(value)).collect();
                        format!("{column} in ({})", values.join(", "))
                    }
                    ColumnTest::Between { bounds, .. } => {
                        let [low, high] = &**bounds;
                        format!(
                            "{column} between {} and {}",
                            self.operand(low),
                            self.operand(high)
                        )
                    }
                    ColumnTest::Null => format!("{column} is null"),
                    ColumnTest::NotNull => format!("{column} is not null"),
                    ColumnTest::Like { pattern, .. } => format!("{column} like {}", self.operand(pattern)),
                }
            }
        }
    }
}

/// Returns the name of a table's column.
pub(super) fn column_name(table: &TableInstance, column: usize) -> String {
    match &table.source {
        TableSource::Base(definition) => definition.columns()[column].name.clone(),
        TableSource::Derived(plan) => plan.columns[column].name.to_string(),
        TableSource::Json(json) => json.column_name(column).to_owned(),
        _ => format!("column {column}"),
    }
}

fn not(negated: bool) -> &'static str {
    if negated { "not " } else { "" }
}

fn literal(value: &Value) -> String {
    let mut bytes = Vec::new();
    match value {
        Value::Null => return "null".to_owned(),
        Value::Bytes(value) => bytes.extend_from_slice(value),
        value => text::append_value(&value.as_ref(), &TimeZone::UTC, &mut bytes),
    }
    let text = String::from_utf8_lossy(&bytes);
    match value {
        Value::Int(_) | Value::UInt(_) | Value::Decimal(_) | Value::Float(_) | Value::Double(_) => {
            text.into_owned()
        }
        _ => format!("'{text}'"),
    }
}
