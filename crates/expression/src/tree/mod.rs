//! The bound expression: names are resolved, types and conversions decided, constants folded.
//!
//! The binder stores its decisions in the nodes (the rule of a comparison, the domain of an addition), so
//! that evaluation only executes them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use paceline_types::{Collation, FixedBinaryType, Value};

use super::expr_type::ExprType;

mod aggregate;
mod cast_target;
mod function;
mod in_set;
mod loadable;
pub(crate) mod window;

pub use aggregate::{Aggregate, AggregateFunction, Distinctness};
pub use cast_target::CastTarget;
pub(crate) use function::{Args, BindCall, BindFn, EvalFn, Frame, MANY, Reading, pure, steady, volatile};
pub use function::{Call, Function, Stability};
pub use in_set::InSet;
pub(crate) use in_set::SortedConstants;
pub use loadable::LoadableCall;

use crate::session::VariableScope;
use crate::subquery::Subquery;

/// A bound expression: immutable, and shared by all executions of a prepared plan.
#[derive(Clone, Debug)]
pub struct Expr {
    /// Operation of the node.
    pub kind: ExprKind,
    /// Type of the result.
    pub ty: ExprType,
}

/// Escape character of a pattern without ESCAPE. In MariaDB it holds even if a backslash is not an escape character
/// in literals.
pub(crate) const DEFAULT_ESCAPE: char = '\\';

/// Escape character of a pattern.
#[derive(Clone, Debug)]
pub enum Escape {
    /// Known when the statement is bound.
    Character(char),
    /// A parameter, a variable or another value that each execution has one of.
    Computed(Box<Expr>),
}

/// Operation of a node.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // A variant is documented by its SQL.
pub enum ExprKind {
    /// A constant.
    Literal(Value),
    /// Column `n` of the row given to `eval`.
    Column(usize),
    /// The value of the `n`th `?`.
    Parameter(usize),
    /// The `n`th aggregate of the query. Before evaluation the planner replaces it by an [`ExprKind::Column`]
    /// of the grouped row.
    Aggregate(usize),
    /// `@name`, in lower case.
    UserVariable(Box<str>),
    /// `@name := value`.
    AssignUserVariable {
        /// Name in lower case.
        name: Box<str>,
        value: Box<Expr>,
    },
    /// `@@name`, read at each evaluation.
    SystemVariable {
        /// Name in lower case.
        name: Box<str>,
        /// The value to read: the session's or the global one.
        scope: VariableScope,
    },
    /// `left op right`.
    Compare {
        op: CompareOp,
        /// Rule of the comparison.
        by: Comparison,
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
        test: Truth,
        /// IS NOT.
        negated: bool,
        operand: Box<Expr>,
    },
    /// `a BETWEEN low AND high`.
    Between {
        /// Rule for both bounds.
        by: Comparison,
        /// NOT BETWEEN.
        negated: bool,
        /// Value, low, high.
        operands: Box<[Expr; 3]>,
    },
    /// `needle IN (list)`.
    InList {
        /// Rule for each item.
        by: Vec<Comparison>,
        /// NOT IN.
        negated: bool,
        needle: Box<Expr>,
        list: Vec<Expr>,
        /// The list in a form for lookups.
        set: InSet,
    },
    /// `text LIKE pattern ESCAPE escape`.
    Like {
        /// NOT LIKE.
        negated: bool,
        /// Collation of the comparison.
        collation: Collation,
        /// After ESCAPE, or a backslash.
        escape: Escape,
        operands: Box<[Expr; 2]>,
    },
    /// `a + b` and the other arithmetic operators.
    Arithmetic {
        op: ArithmeticOp,
        /// Domain of the calculation.
        domain: Domain,
        operands: Box<[Expr; 2]>,
    },
    /// `-a`.
    Negate {
        /// Domain of the calculation.
        domain: Domain,
        operand: Box<Expr>,
    },
    /// `a | b` and the other binary bit operators, on BIGINT UNSIGNED.
    Bits {
        op: BitOp,
        operands: Box<[Expr; 2]>,
    },
    /// `~a`.
    BitNot(Box<Expr>),
    /// `CASE WHEN condition THEN result …`.
    Case {
        /// (condition, result).
        branches: Vec<(Expr, Expr)>,
        otherwise: Option<Box<Expr>>,
    },
    /// `CASE operand WHEN value THEN result …`.
    SimpleCase {
        operand: Box<Expr>,
        /// (rule, value, result).
        branches: Vec<(Comparison, Expr, Expr)>,
        otherwise: Option<Box<Expr>>,
    },
    /// CAST and CONVERT.
    Cast {
        target: CastTarget,
        operand: Box<Expr>,
    },
    /// `a COLLATE collation`: changes the type only.
    Collate(Box<Expr>),
    /// The operand's value rounded to the digits that its type shows, as `=` and similar operators compare a
    /// quotient.
    Rounded(Box<Expr>),
    Call(Box<Call>),
    /// `(a, b, …)`.
    Row(Vec<Expr>),
    /// `(SELECT …)` as a value. With several columns it is a row (only inside comparisons).
    ScalarSubquery(Arc<Subquery>),
    /// `EXISTS (SELECT …)`.
    Exists {
        subquery: Arc<Subquery>,
        /// NOT EXISTS.
        negated: bool,
    },
    /// `left op ANY|ALL (SELECT …)`; `IN` is `= ANY`, `NOT IN` is `<> ALL`.
    Quantified {
        /// The comparison; for rows only `=` or `<>`.
        op: CompareOp,
        /// Rule for each column.
        by: Vec<Comparison>,
        quantifier: Quantifier,
        /// Left side: a value, or a [`ExprKind::Row`].
        left: Box<Expr>,
        subquery: Arc<Subquery>,
    },
}

/// Comparison operators.
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
    /// Returns the operator for swapped operands: `<` becomes `>`.
    pub const fn flipped(self) -> Self {
        match self {
            CompareOp::Lt => CompareOp::Gt,
            CompareOp::Le => CompareOp::Ge,
            CompareOp::Gt => CompareOp::Lt,
            CompareOp::Ge => CompareOp::Le,
            same => same,
        }
    }

    /// Returns the operator as written in SQL.
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

    /// Returns whether an ordering satisfies the operator.
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

/// Rule by which two values are compared (MariaDB's `Type_handler::comparison`).
#[derive(Clone, Debug, PartialEq)]
pub enum Comparison {
    /// As 64-bit integers. Signed and unsigned ones are compared correctly.
    Int,
    /// As exact decimals.
    Decimal,
    /// As doubles, also for a string and a number.
    Double,
    /// As doubles that both have fixed decimals, at most this many. They are equal if they differ by less
    /// than half of the last digit.
    FixedDouble(u8),
    /// As text by a collation.
    Text(Collation),
    /// As bytes.
    Bytes,
    /// As DATETIME values.
    DateTime,
    /// As TIME values.
    Time,
    /// As values of this type, to which strings are converted.
    FixedBinary(FixedBinaryType),
    /// Decided by the values: an operand is a parameter of unknown type.
    Dynamic {
        /// Collation of texts.
        collation: Collation,
        /// Whether a text is compared with a decimal as a decimal, because the decimal is no constant.
        exact: bool,
    },
    /// Element by element of two rows, each by its own rule.
    Row(Vec<Comparison>),
}

impl Comparison {
    /// Returns the rule for texts in a collation.
    pub(crate) fn of_texts(collation: Collation) -> Self {
        match collation {
            Collation::Binary => Comparison::Bytes,
            collation => Comparison::Text(collation),
        }
    }

    /// Returns whether the operands are compared as numbers.
    pub(crate) fn is_numeric(&self) -> bool {
        matches!(
            self,
            Comparison::Int | Comparison::Decimal | Comparison::Double | Comparison::FixedDouble(_)
        )
    }
}

/// Tests of `IS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truth {
    /// IS TRUE.
    True,
    /// IS FALSE.
    False,
    /// IS NULL, IS UNKNOWN.
    Null,
}

/// Quantifier of a comparison with a subquery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantifier {
    /// ANY (SOME): one row suffices.
    Any,
    /// ALL: every row must match.
    All,
}

/// Arithmetic operators.
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
    /// Returns the operator as error 1690 prints it.
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

/// Numbers in which arithmetic is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    /// 64-bit integers; the node's type says whether the result is unsigned.
    Int,
    /// Exact decimals.
    Decimal,
    /// Doubles.
    Double,
    /// Decided by the values: an operand is a parameter of unknown type.
    Dynamic,
}

/// Binary bit operators.
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

/// The direct children of a node, for [`Expr::for_each_child`] and its variant that changes them.
macro_rules! children {
    ($kind:expr, $visit:expr, $iter:ident) => {
        match $kind {
            ExprKind::Literal(_)
            | ExprKind::Column(_)
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
            | ExprKind::Quantified { left: operand, .. } => $visit(operand),
            ExprKind::Compare { operands, .. }
            | ExprKind::Xor(operands)
            | ExprKind::Arithmetic { operands, .. }
            | ExprKind::Bits { operands, .. } => operands.$iter().for_each($visit),
            ExprKind::Like { operands, escape, .. } => {
                operands.$iter().for_each($visit);
                if let Escape::Computed(escape) = escape {
                    $visit(escape);
                }
            }
            ExprKind::Between { operands, .. } => operands.$iter().for_each($visit),
            ExprKind::And(operands) | ExprKind::Or(operands) | ExprKind::Row(operands) => {
                operands.$iter().for_each($visit)
            }
            ExprKind::InList { needle, list, .. } => {
                $visit(needle);
                list.$iter().for_each($visit);
            }
            ExprKind::Case { branches, otherwise } => {
                for (condition, result) in branches {
                    $visit(condition);
                    $visit(result);
                }
                otherwise.$iter().for_each(|otherwise| $visit(otherwise));
            }
            ExprKind::SimpleCase {
                operand,
                branches,
                otherwise,
            } => {
                $visit(operand);
                for (_, value, result) in branches {
                    $visit(value);
                    $visit(result);
                }
                otherwise.$iter().for_each(|otherwise| $visit(otherwise));
            }
            ExprKind::Call(call) => call.args.$iter().for_each($visit),
        }
    };
}

impl Expr {
    /// Returns a constant.
    pub fn literal(value: Value, ty: ExprType) -> Expr {
        Expr {
            kind: ExprKind::Literal(value),
            ty,
        }
    }

    /// Returns NULL.
    pub fn null() -> Expr {
        Expr::literal(Value::Null, ExprType::null())
    }

    /// Returns column `index` of the rows passed to `eval`.
    pub fn column(index: usize, ty: ExprType) -> Expr {
        Expr {
            kind: ExprKind::Column(index),
            ty,
        }
    }

    /// Returns the query's `index`th aggregate.
    pub fn aggregate(index: usize, ty: ExprType) -> Expr {
        Expr {
            kind: ExprKind::Aggregate(index),
            ty,
        }
    }

    /// Returns the same node with another type, for columns whose nullability changes (outer joins).
    #[must_use]
    pub(crate) fn with_type(mut self, ty: ExprType) -> Expr {
        self.ty = ty;
        self
    }

    /// Returns the value of a constant.
    pub fn as_literal(&self) -> Option<&Value> {
        match &self.kind {
            ExprKind::Literal(value) => Some(value),
            ExprKind::Collate(inner) => inner.as_literal(),
            _ => None,
        }
    }

    /// Returns whether the value is the same for every row of one execution: no columns of this query's rows,
    /// no aggregates, nothing random. Such an expression can be a bound of an index range.
    pub fn is_constant_during_execution(&self) -> bool {
        let mut constant = true;
        self.visit(&mut |node| {
            constant &= match &node.kind {
                ExprKind::Column(_) | ExprKind::Aggregate(_) | ExprKind::AssignUserVariable { .. } => false,
                ExprKind::UserVariable(_) => true,
                ExprKind::ScalarSubquery(subquery)
                | ExprKind::Exists { subquery, .. }
                | ExprKind::Quantified { subquery, .. } => {
                    subquery.correlation == crate::subquery::Correlation::Uncorrelated
                }
                ExprKind::Call(call) => call.function.stability.is_constant_during_execution(),
                _ => true,
            };
        });
        constant
    }

    /// Returns whether the expression can be evaluated more or less often than once per row: nothing random,
    /// no assignments.
    pub fn is_stable(&self) -> bool {
        !self.any(&mut |node| match &node.kind {
            ExprKind::AssignUserVariable { .. } | ExprKind::Aggregate(_) => true,
            ExprKind::ScalarSubquery(subquery)
            | ExprKind::Exists { subquery, .. }
            | ExprKind::Quantified { subquery, .. } => {
                subquery.correlation == crate::subquery::Correlation::Volatile
            }
            ExprKind::Call(call) => !call.function.stability.is_constant_during_execution(),
            _ => false,
        })
    }

    /// Returns whether the expression contains a subquery.
    pub fn has_subquery(&self) -> bool {
        self.any(&mut |node| node.subquery().is_some())
    }

    /// Returns the subquery of this node itself.
    pub fn subquery(&self) -> Option<&Subquery> {
        match &self.kind {
            ExprKind::ScalarSubquery(subquery)
            | ExprKind::Exists { subquery, .. }
            | ExprKind::Quantified { subquery, .. } => Some(subquery),
            _ => None,
        }
    }

    /// Calls `visit` for this node and every node below it. Plans of subqueries are not entered.
    pub fn visit<'e>(&'e self, visit: &mut dyn FnMut(&'e Expr)) {
        visit(self);
        self.for_each_child(&mut |child| child.visit(visit));
    }

    /// Calls `visit` for every node, children first.
    pub fn visit_mut(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        self.for_each_child_mut(&mut |child| child.visit_mut(visit));
        visit(self);
    }

    /// Calls `visit` for each direct child of this node.
    pub fn for_each_child<'e>(&'e self, visit: &mut dyn FnMut(&'e Expr)) {
        children!(&self.kind, &mut *visit, iter);
    }

    /// Calls `visit` for each direct child of this node.
    pub(crate) fn for_each_child_mut(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        children!(&mut self.kind, &mut *visit, iter_mut);
    }

    /// Returns whether `wanted` holds for any node of the expression.
    pub fn any(&self, wanted: &mut dyn FnMut(&Expr) -> bool) -> bool {
        let mut found = false;
        self.visit(&mut |node| found = found || wanted(node));
        found
    }

    /// Renumbers the columns of this query.
    pub fn map_columns(&mut self, map: &mut dyn FnMut(usize) -> usize) {
        self.visit_mut(&mut |node| {
            if let ExprKind::Column(index) = &mut node.kind {
                *index = map(*index);
            }
        });
    }
}

/// Returns a number that no other expression node of this process has. It is the key of the node's state
/// during an execution.
pub(crate) fn unique_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}
