//! The bound expression: names resolved, types and coercions decided, constants folded.
//!
//! The binder makes the decisions (by which rule two operands are compared, in which domain an addition is done) and
//! writes them into the node, so that evaluation only executes them.

use std::sync::Arc;

use paceline_types::{Collation, Value};

use super::cast::CastTarget;
use super::eval::in_set::InSet;
use super::expr_type::ExprType;
use super::functions::Call;
use super::scope::Subquery;
use crate::session::VariableScope;

/// A bound expression: immutable, shared by all executions of a prepared plan.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it does.
    pub kind: ExprKind,
    /// What it gives.
    pub ty: ExprType,
}

/// What a node does.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A constant.
    Literal(Value),
    /// Column `n` of the row given to `eval`.
    Column(usize),
    /// Column `column` of the row `depth` queries out (1 = nearest).
    OuterColumn {
        /// How many queries out; at least 1.
        depth: u16,
        /// The column's place in that row.
        column: usize,
    },
    /// The value of the `n`th `?`.
    Parameter(usize),
    /// The `n`th aggregate of the query: the planner rewrites it to a [`ExprKind::Column`] of the grouped row before
    /// evaluation.
    Aggregate(usize),
    /// `@name`, in lower case.
    UserVariable(Box<str>),
    /// `@name := value`.
    AssignUserVariable {
        /// The name in lower case.
        name: Box<str>,
        /// What is assigned.
        value: Box<Expr>,
    },
    /// `@@name`, read at each evaluation.
    SystemVariable {
        /// The name in lower case.
        name: Box<str>,
        /// Which of its values.
        scope: VariableScope,
    },
    /// `left op right`.
    Compare {
        /// Which comparison.
        op: CompareOp,
        /// By which rule.
        by: Comparison,
        /// Left and right.
        operands: Box<[Expr; 2]>,
    },
    /// `a AND b AND …`.
    And(Vec<Expr>),
    /// `a OR b OR …`.
    Or(Vec<Expr>),
    /// `a XOR b`.
    Xor(Box<[Expr; 2]>),
    /// `NOT a`.
    Not(Box<Expr>),
    /// `a IS [NOT] TRUE | FALSE | UNKNOWN | NULL`.
    Is {
        /// What is tested.
        test: Truth,
        /// Whether the result is negated.
        negated: bool,
        /// The operand.
        operand: Box<Expr>,
    },
    /// `a BETWEEN low AND high`.
    Between {
        /// By which rule, for both bounds.
        by: Comparison,
        /// NOT BETWEEN.
        negated: bool,
        /// Value, low, high.
        operands: Box<[Expr; 3]>,
    },
    /// `needle IN (list)`.
    InList {
        /// By which rule each is compared.
        by: Vec<Comparison>,
        /// NOT IN.
        negated: bool,
        /// What is searched.
        needle: Box<Expr>,
        /// Where.
        list: Vec<Expr>,
        /// The list for looking things up.
        set: InSet,
    },
    /// `text LIKE pattern ESCAPE escape`.
    Like {
        /// NOT LIKE.
        negated: bool,
        /// How characters compare.
        collation: Collation,
        /// The escape character.
        escape: char,
        /// Text and pattern.
        operands: Box<[Expr; 2]>,
    },
    /// `a + b` and its like.
    Arithmetic {
        /// Which.
        op: ArithmeticOp,
        /// In which numbers.
        domain: Domain,
        /// Left and right.
        operands: Box<[Expr; 2]>,
        /// Its text, for error 1690.
        source: Box<str>,
    },
    /// `-a`.
    Negate {
        /// In which numbers.
        domain: Domain,
        /// The operand.
        operand: Box<Expr>,
        /// Its text, for error 1690.
        source: Box<str>,
    },
    /// `a | b` and its like, on BIGINT UNSIGNED.
    Bits {
        /// Which.
        op: BitOp,
        /// Left and right.
        operands: Box<[Expr; 2]>,
    },
    /// `~a`.
    BitNot(Box<Expr>),
    /// `CASE …`: the operand, where there is one, is folded into the conditions' comparisons.
    Case {
        /// Searched: (condition, result).
        branches: Vec<(Expr, Expr)>,
        /// ELSE.
        otherwise: Option<Box<Expr>>,
    },
    /// `CASE operand WHEN value THEN result …`.
    SimpleCase {
        /// The operand.
        operand: Box<Expr>,
        /// (rule, value, result).
        branches: Vec<(Comparison, Expr, Expr)>,
        /// ELSE.
        otherwise: Option<Box<Expr>>,
    },
    /// CAST and CONVERT.
    Cast {
        /// To what.
        target: CastTarget,
        /// The operand.
        operand: Box<Expr>,
    },
    /// `a COLLATE collation`: changes the type only.
    Collate(Box<Expr>),
    /// The operand's value with the digits that its type shows: what `=` and its like compare of a quotient.
    Rounded(Box<Expr>),
    /// A function's call.
    Call(Box<Call>),
    /// `(a, b, …)`.
    Row(Vec<Expr>),
    /// `(SELECT …)` as a value; one column gives a value, several a row (only inside comparisons).
    ScalarSubquery(Arc<Subquery>),
    /// `EXISTS (SELECT …)`.
    Exists {
        /// The subquery.
        subquery: Arc<Subquery>,
        /// NOT EXISTS.
        negated: bool,
    },
    /// `left op ANY|ALL (SELECT …)`; `IN` is `= ANY`, `NOT IN` is `<> ALL`.
    Quantified {
        /// The comparison; only `=` and `<>` for rows.
        op: CompareOp,
        /// By which rule, one for each column.
        by: Vec<Comparison>,
        /// ANY or ALL.
        quantifier: Quantifier,
        /// The left side: a value, or a [`ExprKind::Row`].
        left: Box<Expr>,
        /// The subquery.
        subquery: Arc<Subquery>,
    },
}

/// A comparison operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CompareOp {
    /// `=`
    Eq,
    /// `<=>`
    NullSafeEq,
    /// `<>`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
}

impl CompareOp {
    /// The operator with its sides swapped: `<` becomes `>`.
    pub const fn flipped(self) -> Self {
        match self {
            CompareOp::Lt => CompareOp::Gt,
            CompareOp::Le => CompareOp::Ge,
            CompareOp::Gt => CompareOp::Lt,
            CompareOp::Ge => CompareOp::Le,
            same => same,
        }
    }

    /// As SQL writes it.
    pub const fn as_str(self) -> &'static str {
        match self {
            CompareOp::Eq => "=",
            CompareOp::NullSafeEq => "<=>",
            CompareOp::Ne => "<>",
            CompareOp::Lt => "<",
            CompareOp::Le => "<=",
            CompareOp::Gt => ">",
            CompareOp::Ge => ">=",
        }
    }

    /// Whether an ordering satisfies it.
    pub const fn holds(self, ordering: std::cmp::Ordering) -> bool {
        use std::cmp::Ordering::{Equal, Greater, Less};
        match self {
            CompareOp::Eq | CompareOp::NullSafeEq => matches!(ordering, Equal),
            CompareOp::Ne => !matches!(ordering, Equal),
            CompareOp::Lt => matches!(ordering, Less),
            CompareOp::Le => matches!(ordering, Less | Equal),
            CompareOp::Gt => matches!(ordering, Greater),
            CompareOp::Ge => matches!(ordering, Greater | Equal),
        }
    }
}

/// By which rule two values are compared (MariaDB's `Type_handler::comparison`).
#[derive(Clone, Debug, PartialEq)]
pub enum Comparison {
    /// Signed and unsigned 64-bit integers, mixed correctly.
    Int,
    /// Exact decimals.
    Decimal,
    /// Doubles: also for a string against a number.
    Double,
    /// Doubles of which both have fixed decimals, at most this many: they are equal if they differ by less than half of
    /// the last digit.
    FixedDouble(u8),
    /// Text by a collation.
    Text(Collation),
    /// Bytes.
    Bytes,
    /// Dates and times, as DATETIME values.
    DateTime,
    /// TIME values.
    Time,
    /// By the values, text in this collation: an operand is a parameter whose type is not known yet.
    Dynamic(Collation),
    /// Each element of two rows by its own rule.
    Row(Vec<Comparison>),
}

impl Comparison {
    /// How texts are compared in a collation.
    pub(crate) fn of_texts(collation: Collation) -> Self {
        match collation {
            Collation::Binary => Comparison::Bytes,
            collation => Comparison::Text(collation),
        }
    }

    /// Whether what is compared are numbers.
    pub(crate) fn is_numeric(&self) -> bool {
        matches!(
            self,
            Comparison::Int | Comparison::Decimal | Comparison::Double | Comparison::FixedDouble(_)
        )
    }
}

/// What `IS` tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truth {
    /// IS TRUE.
    True,
    /// IS FALSE.
    False,
    /// IS NULL, IS UNKNOWN.
    Null,
}

/// ANY (SOME) or ALL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantifier {
    /// One row suffices.
    Any,
    /// Every row must.
    All,
}

/// An arithmetic operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArithmeticOp {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `DIV`
    IntDivide,
    /// `%`, `MOD`
    Modulo,
}

impl ArithmeticOp {
    /// As error 1690 prints it.
    pub const fn as_str(self) -> &'static str {
        match self {
            ArithmeticOp::Add => "+",
            ArithmeticOp::Subtract => "-",
            ArithmeticOp::Multiply => "*",
            ArithmeticOp::Divide => "/",
            ArithmeticOp::IntDivide => "DIV",
            ArithmeticOp::Modulo => "MOD",
        }
    }
}

/// The numbers in which arithmetic is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    /// 64-bit integers; the node's type says whether the result is unsigned.
    Int,
    /// Exact decimals.
    Decimal,
    /// Doubles.
    Double,
    /// By the values: an operand is a parameter whose type is not known yet.
    Dynamic,
}

/// A bit operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BitOp {
    /// `|`
    Or,
    /// `&`
    And,
    /// `^`
    Xor,
    /// `<<`
    ShiftLeft,
    /// `>>`
    ShiftRight,
}

impl Expr {
    /// A constant.
    pub fn literal(value: Value, ty: ExprType) -> Expr {
        Expr {
            kind: ExprKind::Literal(value),
            ty,
        }
    }

    /// NULL.
    pub fn null() -> Expr {
        Expr::literal(Value::Null, ExprType::null())
    }

    /// Column `index` of the rows given to `eval`.
    pub fn column(index: usize, ty: ExprType) -> Expr {
        Expr {
            kind: ExprKind::Column(index),
            ty,
        }
    }

    /// Column `column` of the row `depth` queries out (1 = nearest).
    pub fn outer_column(depth: u16, column: usize, ty: ExprType) -> Expr {
        debug_assert!(depth > 0);
        Expr {
            kind: ExprKind::OuterColumn { depth, column },
            ty,
        }
    }

    /// The query's `index`th aggregate.
    pub fn aggregate(index: usize, ty: ExprType) -> Expr {
        Expr {
            kind: ExprKind::Aggregate(index),
            ty,
        }
    }

    /// The same node under another type; for columns whose nullability changes (outer joins).
    #[must_use]
    pub fn with_type(mut self, ty: ExprType) -> Expr {
        self.ty = ty;
        self
    }

    /// The constant's value, if it is one.
    pub fn as_literal(&self) -> Option<&Value> {
        match &self.kind {
            ExprKind::Literal(value) => Some(value),
            ExprKind::Collate(inner) => inner.as_literal(),
            _ => None,
        }
    }

    /// Whether it gives the same value for every row of one execution: no columns of this query's rows, no aggregates,
    /// nothing random. Such an expression can be a bound of an index range.
    pub fn is_constant_during_execution(&self) -> bool {
        let mut constant = true;
        self.visit(&mut |node| {
            constant &= match &node.kind {
                ExprKind::Column(_) | ExprKind::Aggregate(_) | ExprKind::AssignUserVariable { .. } => false,
                ExprKind::UserVariable(_) => true,
                ExprKind::ScalarSubquery(subquery)
                | ExprKind::Exists { subquery, .. }
                | ExprKind::Quantified { subquery, .. } => {
                    subquery.correlation == super::scope::Correlation::Uncorrelated
                }
                ExprKind::Call(call) => call.function.stability.is_constant_during_execution(),
                _ => true,
            };
        });
        constant
    }

    /// Whether it may be evaluated more or less often than once a row: nothing random, no assignments.
    pub fn is_stable(&self) -> bool {
        !self.any(&mut |node| match &node.kind {
            ExprKind::AssignUserVariable { .. } | ExprKind::Aggregate(_) => true,
            ExprKind::ScalarSubquery(subquery)
            | ExprKind::Exists { subquery, .. }
            | ExprKind::Quantified { subquery, .. } => {
                subquery.correlation == super::scope::Correlation::Volatile
            }
            ExprKind::Call(call) => !call.function.stability.is_constant_during_execution(),
            _ => false,
        })
    }

    /// Whether there is a subquery in it.
    pub fn has_subquery(&self) -> bool {
        self.any(&mut |node| {
            matches!(
                node.kind,
                ExprKind::ScalarSubquery(_) | ExprKind::Exists { .. } | ExprKind::Quantified { .. }
            )
        })
    }

    /// Calls `visit` for this node and every node below it. Subqueries' plans are not entered.
    pub fn visit<'e>(&'e self, visit: &mut dyn FnMut(&'e Expr)) {
        visit(self);
        self.for_each_child(&mut |child| child.visit(visit));
    }

    /// Calls `visit` for every node, children first.
    pub fn visit_mut(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        self.for_each_child_mut(&mut |child| child.visit_mut(visit));
        visit(self);
    }

    /// Calls `visit` for the nodes directly below this one.
    pub fn for_each_child<'e>(&'e self, visit: &mut dyn FnMut(&'e Expr)) {
        match &self.kind {
            ExprKind::Literal(_)
            | ExprKind::Column(_)
            | ExprKind::OuterColumn { .. }
            | ExprKind::Parameter(_)
            | ExprKind::Aggregate(_)
            | ExprKind::UserVariable(_)
            | ExprKind::SystemVariable { .. }
            | ExprKind::ScalarSubquery(_)
            | ExprKind::Exists { .. } => {}
            ExprKind::AssignUserVariable { value: operand, .. }
            | ExprKind::Not(operand)
            | ExprKind::Is { operand, .. }
            | ExprKind::Negate { operand, .. }
            | ExprKind::BitNot(operand)
            | ExprKind::Cast { operand, .. }
            | ExprKind::Collate(operand)
            | ExprKind::Rounded(operand)
            | ExprKind::Quantified { left: operand, .. } => visit(operand),
            ExprKind::Compare { operands, .. }
            | ExprKind::Xor(operands)
            | ExprKind::Like { operands, .. }
            | ExprKind::Arithmetic { operands, .. }
            | ExprKind::Bits { operands, .. } => operands.iter().for_each(visit),
            ExprKind::Between { operands, .. } => operands.iter().for_each(visit),
            ExprKind::And(operands) | ExprKind::Or(operands) | ExprKind::Row(operands) => {
                operands.iter().for_each(visit)
            }
            ExprKind::InList { needle, list, .. } => {
                visit(needle);
                list.iter().for_each(visit);
            }
            ExprKind::Case { branches, otherwise } => {
                for (condition, result) in branches {
                    visit(condition);
                    visit(result);
                }
                otherwise.iter().for_each(|otherwise| visit(otherwise));
            }
            ExprKind::SimpleCase {
                operand,
                branches,
                otherwise,
            } => {
                visit(operand);
                for (_, value, result) in branches {
                    visit(value);
                    visit(result);
                }
                otherwise.iter().for_each(|otherwise| visit(otherwise));
            }
            ExprKind::Call(call) => call.args.iter().for_each(visit),
        }
    }

    /// Calls `visit` for the nodes directly below this one.
    pub fn for_each_child_mut(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        match &mut self.kind {
            ExprKind::Literal(_)
            | ExprKind::Column(_)
            | ExprKind::OuterColumn { .. }
            | ExprKind::Parameter(_)
            | ExprKind::Aggregate(_)
            | ExprKind::UserVariable(_)
            | ExprKind::SystemVariable { .. }
            | ExprKind::ScalarSubquery(_)
            | ExprKind::Exists { .. } => {}
            ExprKind::AssignUserVariable { value: operand, .. }
            | ExprKind::Not(operand)
            | ExprKind::Is { operand, .. }
            | ExprKind::Negate { operand, .. }
            | ExprKind::BitNot(operand)
            | ExprKind::Cast { operand, .. }
            | ExprKind::Collate(operand)
            | ExprKind::Rounded(operand)
            | ExprKind::Quantified { left: operand, .. } => visit(operand),
            ExprKind::Compare { operands, .. }
            | ExprKind::Xor(operands)
            | ExprKind::Like { operands, .. }
            | ExprKind::Arithmetic { operands, .. }
            | ExprKind::Bits { operands, .. } => operands.iter_mut().for_each(visit),
            ExprKind::Between { operands, .. } => operands.iter_mut().for_each(visit),
            ExprKind::And(operands) | ExprKind::Or(operands) | ExprKind::Row(operands) => {
                operands.iter_mut().for_each(visit);
            }
            ExprKind::InList { needle, list, .. } => {
                visit(needle);
                list.iter_mut().for_each(visit);
            }
            ExprKind::Case { branches, otherwise } => {
                for (condition, result) in branches {
                    visit(condition);
                    visit(result);
                }
                otherwise.iter_mut().for_each(|otherwise| visit(otherwise));
            }
            ExprKind::SimpleCase {
                operand,
                branches,
                otherwise,
            } => {
                visit(operand);
                for (_, value, result) in branches {
                    visit(value);
                    visit(result);
                }
                otherwise.iter_mut().for_each(|otherwise| visit(otherwise));
            }
            ExprKind::Call(call) => call.args.iter_mut().for_each(visit),
        }
    }

    /// Whether a node for which `wanted` holds occurs in it.
    pub fn any(&self, wanted: &mut dyn FnMut(&Expr) -> bool) -> bool {
        let mut found = false;
        self.visit(&mut |node| found = found || wanted(node));
        found
    }

    /// Renumbers this query's columns.
    pub fn map_columns(&mut self, map: &mut dyn FnMut(usize) -> usize) {
        self.visit_mut(&mut |node| {
            if let ExprKind::Column(index) = &mut node.kind {
                *index = map(*index);
            }
        });
    }
}
