//! Decisions that depend on several types: the collation of combined texts, the rule of a comparison, the
//! common type of expressions.

use paceline_types::data_type::{DecimalType, IntegerType, IntegerWidth, Sign};
use paceline_types::error_code::{
    ER_CANT_AGGREGATE_2COLLATIONS, ER_CANT_AGGREGATE_3COLLATIONS, ER_CANT_AGGREGATE_NCOLLATIONS,
};
use paceline_types::{Charset, Collation, DataType, Value};

use crate::error::Result;
use crate::errors;
use crate::expr_type::{Class, Coercibility, ExprType, NOT_FIXED_DECIMALS, Repertoire, TypeNote};
use crate::tree::{ArithmeticOp, CastTarget, Comparison, Expr, ExprKind};

/// Collation of combined texts (MariaDB's `DTCollation::aggregate`).
pub struct CollationMix;

/// Collation, coercibility and repertoire of one or several texts.
type TextProperties = (Collation, Coercibility, Repertoire);

impl CollationMix {
    /// Returns the collation and coercibility of a type's values as text. Numbers and dates have the
    /// connection's collation.
    pub(crate) fn of_type(ty: &ExprType, connection: Collation) -> (Collation, Coercibility) {
        match ty.class() {
            _ if ty.is_parameter() => (connection, ty.coercibility),
            // Beside text a BIT column is a binary string; an expression computed from one is a number.
            _ if ty.is_bit_column() => (Collation::Binary, ty.coercibility),
            Class::String | Class::Null => (ty.collation(), ty.coercibility),
            _ => (connection, Coercibility::Numeric),
        }
    }

    /// Returns the collation of all types together.
    pub fn of(
        types: &[&ExprType],
        connection: Collation,
        operation: &str,
    ) -> Result<(Collation, Coercibility)> {
        let mut all = types.iter().map(|ty| {
            let (collation, coercibility) = Self::of_type(ty, connection);
            (collation, coercibility, ty.repertoire)
        });
        let Some(mut mixed) = all.next() else {
            return Ok((connection, Coercibility::Coercible));
        };
        for other in all {
            match Self::mix(mixed, other) {
                Some((collation, coercibility)) => {
                    mixed = (collation, coercibility, joined_repertoire(mixed.2, other.2));
                }
                None => return Err(Self::illegal(types, connection, operation)),
            }
        }
        Ok((mixed.0, mixed.1))
    }

    /// Like [`CollationMix::of`], but fails if the collations do not mix: a comparison needs one.
    pub(crate) fn for_comparison(
        types: &[&ExprType],
        connection: Collation,
        operation: &str,
    ) -> Result<Collation> {
        let (collation, coercibility) = Self::of(types, connection, operation)?;
        if coercibility == Coercibility::None {
            return Err(Self::illegal(types, connection, operation));
        }
        Ok(collation)
    }

    /// Checks that all operands can be converted to the common character set. If that is not Unicode, this
    /// holds for ASCII text and for literals whose characters it has.
    pub fn check_literals(
        operands: &[&Expr],
        collation: Collation,
        connection: Collation,
        operation: &str,
    ) -> Result<()> {
        let charset = collation.charset();
        let is_lost = |operand: &&Expr| match operand.as_literal() {
            _ if operand.ty.class() != Class::String || operand.ty.is_parameter() => false,
            Some(Value::Text(text)) => !charset.can_encode(text),
            Some(_) => false,
            // MariaDB checks whether the value of a constant can be converted.
            None if operand.is_constant_during_execution() => false,
            None => {
                let own = operand.ty.charset();
                own != charset && own != Charset::Binary && operand.ty.repertoire == Repertoire::Full
            }
        };
        if matches!(charset, Charset::Latin1 | Charset::Ascii) && operands.iter().any(is_lost) {
            let types: Vec<&ExprType> = operands.iter().map(|operand| &operand.ty).collect();
            return Err(Self::illegal(&types, connection, operation));
        }
        Ok(())
    }

    fn mix(first: TextProperties, second: TextProperties) -> Option<(Collation, Coercibility)> {
        let (a, b) = ((first.0, first.1), (second.0, second.1));
        if a.0.charset() != b.0.charset() {
            return match (a.0, b.0) {
                (Collation::Binary, _) => Some(if a.1 <= b.1 { a } else { b }),
                (_, Collation::Binary) => Some(if b.1 <= a.1 { b } else { a }),
                _ if is_superset(first, second) => Some(a),
                _ if is_superset(second, first) => Some(b),
                _ if a.1 < b.1 && b.1 >= Coercibility::SystemConstant => Some(a),
                _ if b.1 < a.1 && a.1 >= Coercibility::SystemConstant => Some(b),
                _ => None,
            };
        }
        if a.1 != b.1 {
            return Some(if a.1 < b.1 { a } else { b });
        }
        if a.0 == b.0 {
            return Some(a);
        }
        if a.1 == Coercibility::Explicit {
            return None;
        }
        if a.0.is_bin() {
            return Some(a);
        }
        if b.0.is_bin() {
            return Some(b);
        }
        Some((a.0.charset().bin_collation(), Coercibility::None))
    }

    #[cold]
    fn illegal(types: &[&ExprType], connection: Collation, operation: &str) -> crate::Error {
        let named: Vec<(&'static str, &'static str)> = types
            .iter()
            .map(|ty| Self::of_type(ty, connection))
            .map(|(collation, coercibility)| (collation.name(), coercibility_name(coercibility)))
            .collect();
        match named[..] {
            [a, b] => errors::error(
                ER_CANT_AGGREGATE_2COLLATIONS,
                &[&a.0, &a.1, &b.0, &b.1, &operation],
            ),
            [a, b, c] => errors::error(
                ER_CANT_AGGREGATE_3COLLATIONS,
                &[&a.0, &a.1, &b.0, &b.1, &c.0, &c.1, &operation],
            ),
            _ => errors::error(ER_CANT_AGGREGATE_NCOLLATIONS, &[&operation]),
        }
    }
}

/// Returns the name of a coercibility in error 1267.
fn coercibility_name(coercibility: Coercibility) -> &'static str {
    match coercibility {
        Coercibility::Explicit => "EXPLICIT",
        Coercibility::None => "NONE",
        Coercibility::Implicit => "IMPLICIT",
        Coercibility::SystemConstant => "SYSCONST",
        Coercibility::Coercible => "COERCIBLE",
        Coercibility::Numeric => "NUMERIC",
        Coercibility::Ignorable => "IGNORABLE",
    }
}

fn is_unicode(charset: Charset) -> bool {
    matches!(charset, Charset::Utf8mb4 | Charset::Utf8mb3)
}

/// Returns the repertoire of two texts together.
fn joined_repertoire(a: Repertoire, b: Repertoire) -> Repertoire {
    match (a, b) {
        (Repertoire::Ascii, Repertoire::Ascii) => Repertoire::Ascii,
        _ => Repertoire::Full,
    }
}

/// Returns the repertoire of several expressions together.
pub(crate) fn repertoire_of<'t>(types: impl Iterator<Item = &'t ExprType>) -> Repertoire {
    types
        .map(|ty| ty.repertoire)
        .fold(Repertoire::Ascii, joined_repertoire)
}

/// Returns whether `a`'s character set has all characters that `b`'s texts can contain, and `a` has at least
/// the same precedence.
fn is_superset(a: TextProperties, b: TextProperties) -> bool {
    let (ours, theirs) = (a.0.charset(), b.0.charset());
    let wider =
        is_unicode(ours) && (!is_unicode(theirs) || (ours == Charset::Utf8mb4 && theirs == Charset::Utf8mb3));
    if is_unicode(ours) && (a.1 < b.1 || (a.1 == b.1 && wider)) {
        return true;
    }
    b.2 == Repertoire::Ascii && (a.1 < b.1 || (a.1 == b.1 && a.2 == Repertoire::Full))
}

/// Returns the rule by which two values of these types are compared.
///
/// # Errors
/// 1267 if their collations do not mix.
pub fn comparison_rule(left: &ExprType, right: &ExprType, connection: Collation) -> Result<Comparison> {
    comparison_rule_for("=", left, right, connection)
}

pub(crate) fn comparison_rule_for(
    operation: &str,
    left: &ExprType,
    right: &ExprType,
    connection: Collation,
) -> Result<Comparison> {
    if left.is_parameter() || right.is_parameter() {
        // Whatever the parameter is, it is compared with a date as a date.
        if matches!(
            (left.class(), right.class()),
            (Class::Date | Class::DateTime, _) | (_, Class::Date | Class::DateTime)
        ) {
            return Ok(Comparison::DateTime);
        }
        let collation = match (left.is_parameter(), right.is_parameter()) {
            (true, true) => connection,
            (true, false) => CollationMix::of_type(right, connection).0,
            _ => CollationMix::of_type(left, connection).0,
        };
        return Ok(Comparison::Dynamic {
            collation,
            exact: false,
        });
    }
    if let Some(rule) = fixed_binary_rule(operation, left, right)? {
        return Ok(rule);
    }
    match (numeric_class(left, right), numeric_class(right, left)) {
        (Class::String | Class::Null, Class::String | Class::Null) => {
            let collation = CollationMix::for_comparison(&[left, right], connection, operation)?;
            Ok(Comparison::of_texts(collation))
        }
        (a, b) => Ok(rule_of_classes(a, b).unwrap_or(Comparison::Double)),
    }
}

/// Returns the rule by which a UUID or an address is compared, if one of the operands is one. `operation` is for the
/// error.
///
/// # Errors
/// 4078 if the other operand is neither of the same type nor a string.
pub(crate) fn fixed_binary_rule(
    operation: &str,
    left: &ExprType,
    right: &ExprType,
) -> Result<Option<Comparison>> {
    match (left.class(), right.class()) {
        (Class::FixedBinary(a), Class::FixedBinary(b)) if a == b => Ok(Some(Comparison::FixedBinary(a))),
        (Class::FixedBinary(t), Class::String | Class::Null)
        | (Class::String | Class::Null, Class::FixedBinary(t)) => Ok(Some(Comparison::FixedBinary(t))),
        (Class::FixedBinary(_), _) | (_, Class::FixedBinary(_)) => Err(errors::illegal_types(
            left.type_name(),
            right.type_name(),
            operation,
        )),
        _ => Ok(None),
    }
}

/// Returns the rule by which a column of a row is compared with the same column of several other rows.
pub(crate) fn rule_of_column(
    operation: &str,
    needle: &ExprType,
    listed: &[&ExprType],
    connection: Collation,
) -> Result<Comparison> {
    let mut rules = listed
        .iter()
        .map(|ty| comparison_rule_for(operation, needle, ty, connection))
        .collect::<Result<Vec<_>>>()?;
    let known: Vec<Class> = std::iter::once(&needle)
        .chain(listed)
        .filter(|ty| !ty.is_null())
        .map(|ty| ty.class())
        .collect();
    let is_dynamic = |rule: &Comparison| matches!(rule, Comparison::Dynamic { .. });
    if rules.iter().any(is_dynamic) || rules.windows(2).all(|pair| pair[0] == pair[1]) || known.len() < 2 {
        return Ok(rules.swap_remove(0));
    }
    let class = known[1..]
        .iter()
        .fold(known[0], |class, other| compared_class(class, *other));
    if class == Class::String {
        let all: Vec<&ExprType> = std::iter::once(needle).chain(listed.iter().copied()).collect();
        return CollationMix::for_comparison(&all, connection, operation).map(Comparison::of_texts);
    }
    Ok(rule_of_classes(class, class).unwrap_or(Comparison::Double))
}

/// Returns the class in which values of two classes are compared.
fn compared_class(a: Class, b: Class) -> Class {
    use Class::{DateTime, Decimal, Double, Int};
    match (a, b) {
        (a, b) if a == b => a,
        (a, b) if a.is_temporal() && b.is_temporal() => DateTime,
        (a, _) if a.is_temporal() => a,
        (_, b) if b.is_temporal() => b,
        (Int | Decimal, Int | Decimal) => Decimal,
        _ => Double,
    }
}

/// Returns the class of a type. A hexadecimal literal is an integer if the other operand is a number.
fn numeric_class(ty: &ExprType, other: &ExprType) -> Class {
    let other = other.class();
    if ty.note == TypeNote::HexLiteral && other != Class::String && other != Class::Null {
        return Class::Int;
    }
    ty.class()
}

/// Returns the rule for two classes that are not both strings.
pub(crate) fn rule_of_classes(a: Class, b: Class) -> Option<Comparison> {
    use Class::{Date, DateTime, Decimal, Double, FixedBinary, Int, Null, String, Time};
    Some(match (a, b) {
        (String, String) => return None,
        // Other types beside these have been refused.
        (FixedBinary(t), _) | (_, FixedBinary(t)) => Comparison::FixedBinary(t),
        (Null, Null) => Comparison::Int,
        (Null, other) | (other, Null) => match other {
            Int | Null => Comparison::Int,
            Decimal => Comparison::Decimal,
            Double => Comparison::Double,
            String => Comparison::Bytes,
            Date | DateTime => Comparison::DateTime,
            Time => Comparison::Time,
            FixedBinary(t) => Comparison::FixedBinary(t),
        },
        (Time, Time) => Comparison::Time,
        (Date | DateTime | Time, Date | DateTime | Time) => Comparison::DateTime,
        (Date | DateTime, _) | (_, Date | DateTime) => Comparison::DateTime,
        (Time, _) | (_, Time) => Comparison::Time,
        (Int, Int) => Comparison::Int,
        (Int | Decimal, Int | Decimal) | (Int, String) | (String, Int) => Comparison::Decimal,
        (Double | String, _) | (_, Double | String) => Comparison::Double,
    })
}

/// Returns the type of a column of a UNION or another set operation, whose values must have a single
/// collation.
///
/// # Errors
/// 1267, 1270, 1271.
pub fn union_type(types: &[&ExprType], connection: Collation) -> Result<ExprType> {
    if let Some(ty) = union_with_bits(types) {
        return Ok(ty);
    }
    let mut ty = common_type_in(types, connection, "UNION")?;
    // A text that is no UUID becomes NULL.
    if matches!(ty.class(), Class::FixedBinary(_)) {
        ty.nullable |= types.iter().any(|own| own.class() != ty.class());
    }
    if ty.class() == Class::String && ty.coercibility == Coercibility::None {
        return Err(errors::error(ER_CANT_AGGREGATE_NCOLLATIONS, &[&"UNION"]));
    }
    Ok(ty)
}

/// Returns the type of BIT and other numbers in a UNION: a binary string of their digits.
fn union_with_bits(types: &[&ExprType]) -> Option<ExprType> {
    let known = || types.iter().filter(|ty| !ty.is_null());
    let is_bit = |ty: &&&ExprType| matches!(ty.data_type, DataType::Bit { .. });
    let are_numbers = known()
        .all(|ty| !ty.is_parameter() && matches!(ty.class(), Class::Int | Class::Decimal | Class::Double));
    if !are_numbers || !known().any(|ty| is_bit(&ty)) || known().all(|ty| is_bit(&ty)) {
        return None;
    }
    let length = known().map(|ty| ty.max_characters()).max().unwrap_or(0);
    Some(ExprType::bytes(length).with_nullable(types.iter().any(|ty| ty.nullable)))
}

pub(crate) fn common_type_in(
    types: &[&ExprType],
    connection: Collation,
    operation: &str,
) -> Result<ExprType> {
    let nullable = types.iter().any(|ty| ty.nullable);
    let known: Vec<&ExprType> = types.iter().copied().filter(|ty| !ty.is_null()).collect();
    let Some(first) = known.first() else {
        return Ok(types.first().map_or_else(ExprType::null, |ty| (*ty).clone()));
    };
    if known.iter().any(|ty| ty.is_parameter()) {
        return Ok(ExprType::parameter());
    }
    // NULL is signed. IF alone does not ask it.
    if known.len() < types.len() && operation != "if" && are_unsigned_integers(&known) {
        let digits = known.iter().map(|ty| ty.integer_digits()).max().unwrap_or(20);
        return Ok(ExprType::decimal(digits, 0).nullable());
    }
    if known
        .iter()
        .all(|ty| ty.data_type == first.data_type && ty.coercibility == first.coercibility)
    {
        let note = if known.len() == 1 || known.iter().all(|ty| ty.note == first.note) {
            first.note
        } else {
            TypeNote::Plain
        };
        let note = if note == TypeNote::HexLiteral {
            TypeNote::Plain
        } else {
            note
        };
        let data_type = match &first.data_type {
            DataType::Text { collation, .. } => {
                ExprType::long_text(first.max_characters(), *collation).data_type
            }
            // One of several ENUM or SET values is text.
            DataType::Enum { collation, .. } | DataType::Set { collation, .. } => {
                ExprType::text(first.max_characters(), *collation).data_type
            }
            // An integer has as many digits as the longest one, and a sign.
            DataType::Integer(integer) => DataType::Integer(IntegerType {
                display_width: width_of_digits(&known, integer.sign),
                ..*integer
            }),
            same => same.clone(),
        };
        let note = if note == TypeNote::Digits {
            TypeNote::Plain
        } else {
            note
        };
        let coercibility = match data_type {
            DataType::Bit { .. } | DataType::Year | DataType::Float(_) | DataType::Double(_) => {
                Coercibility::Numeric
            }
            _ => first.coercibility,
        };
        return Ok(ExprType {
            data_type,
            nullable,
            coercibility,
            repertoire: repertoire_of(known.iter().copied()),
            note,
        });
    }
    check_fixed_binary(&known, connection, operation)?;
    let class = known
        .iter()
        .skip(1)
        .fold(first.class(), |class, ty| common_class(class, ty.class()));
    let decimals = known.iter().map(|ty| ty.decimals()).max().unwrap_or(0);
    let fraction = if decimals == NOT_FIXED_DECIMALS {
        6
    } else {
        decimals.min(6)
    };
    let ty = match class {
        Class::Int => common_integer(&known),
        Class::Decimal => common_decimal(&known),
        Class::Double => common_double(&known),
        Class::Date => ExprType::date(),
        Class::Time => ExprType::time(fraction),
        Class::DateTime => ExprType::datetime(fraction),
        Class::FixedBinary(t) => ExprType::new(DataType::FixedBinary(t)),
        Class::String | Class::Null => {
            let (collation, coercibility) = CollationMix::of(&known, connection, operation)?;
            let length = known.iter().map(|ty| ty.max_characters()).max().unwrap_or(0);
            // TEXT beside any other type stays TEXT.
            let ty = match known.iter().any(|ty| ty.is_long_text()) {
                true => ExprType::long_text(length, collation),
                false => ExprType::text(length, collation),
            };
            let repertoire = match collation {
                Collation::Binary => Repertoire::Full,
                _ => repertoire_of(known.iter().copied()),
            };
            ty.with_coercibility(coercibility).with_repertoire(repertoire)
        }
    };
    Ok(ty.with_nullable(nullable))
}

/// Returns 4078 for a UUID or an address that has no common type with the types before or after it.
fn check_fixed_binary(types: &[&ExprType], connection: Collation, operation: &str) -> Result<()> {
    let mut found: Option<&ExprType> = None;
    for (place, ty) in types.iter().enumerate() {
        let is_fixed_binary = matches!(ty.class(), Class::FixedBinary(_));
        let illegal = |other: &ExprType| errors::illegal_types(other.type_name(), ty.type_name(), operation);
        match found {
            Some(found) if ty.class() != found.class() && ty.class() != Class::String => {
                return Err(illegal(found));
            }
            None if is_fixed_binary && place > 0 => {
                let before = common_type_in(&types[..place], connection, operation)?;
                if before.class() != Class::String {
                    return Err(illegal(&before));
                }
            }
            _ => {}
        }
        if is_fixed_binary {
            found = Some(ty);
        }
    }
    Ok(())
}

fn common_class(a: Class, b: Class) -> Class {
    use Class::{Date, DateTime, Decimal, Double, Int, Null, Time};
    match (a, b) {
        (Null, other) | (other, Null) => other,
        (a, b) if a == b => a,
        // Anything but a string beside them has been refused.
        (Class::FixedBinary(_), _) => a,
        (_, Class::FixedBinary(_)) => b,
        (Int | Decimal, Int | Decimal) => Decimal,
        (Int | Decimal | Double, Int | Decimal | Double) => Double,
        (Date | Time | DateTime, Date | Time | DateTime) => DateTime,
        _ => Class::String,
    }
}

/// Whether the type of all is an unsigned integer.
fn are_unsigned_integers(types: &[&ExprType]) -> bool {
    let are_same = |is: fn(&DataType) -> bool| types.iter().all(|ty| is(&ty.data_type));
    types
        .iter()
        .all(|ty| ty.class() == Class::Int && ty.is_unsigned())
        && !are_same(|ty| matches!(ty, DataType::Bit { .. }))
        && !are_same(|ty| matches!(ty, DataType::Year))
}

/// Returns the display width of an integer that can be any of these.
fn width_of_digits(types: &[&ExprType], sign: Sign) -> u8 {
    let digits = types.iter().map(|ty| ty.integer_digits()).max().unwrap_or(1);
    let width = digits + u32::from(sign == Sign::Signed);
    u8::try_from(width).unwrap_or(u8::MAX)
}

fn common_integer(types: &[&ExprType]) -> ExprType {
    let bits = |ty: &&ExprType| match ty.data_type {
        DataType::Bit { length } => Some(length),
        _ => None,
    };
    if let Some(lengths) = types.iter().map(bits).collect::<Option<Vec<u8>>>() {
        let length = lengths.into_iter().max().unwrap_or(1);
        return ExprType::new(DataType::Bit { length });
    }
    let unsigned = types.iter().filter(|ty| ty.is_unsigned()).count();
    let own_width = |ty: &&ExprType| match &ty.data_type {
        DataType::Integer(integer) => integer.width,
        DataType::Year => IntegerWidth::Small,
        _ => IntegerWidth::Big,
    };
    let width = types.iter().map(own_width).max().unwrap_or(IntegerWidth::Big);
    let sign = if unsigned == types.len() {
        Sign::Unsigned
    } else {
        Sign::Signed
    };
    if unsigned > 0 && sign == Sign::Signed {
        // MariaDB has no integer type that is wide enough for both, and uses DECIMAL whatever the width.
        let digits = types.iter().map(|ty| ty.integer_digits()).max().unwrap_or(20);
        return ExprType::decimal(digits, 0);
    }
    ExprType::new(DataType::Integer(IntegerType {
        width,
        sign,
        zerofill: false,
        display_width: width_of_digits(types, sign),
    }))
}

fn common_decimal(types: &[&ExprType]) -> ExprType {
    let integers = types.iter().map(|ty| ty.integer_digits()).max().unwrap_or(1);
    let scale = types
        .iter()
        .map(|ty| u32::from(ty.decimals()))
        .max()
        .unwrap_or(0)
        .min(38);
    let all_unsigned = types.iter().all(|ty| ty.is_unsigned());
    let precision = (integers + scale).clamp(1, 65) as u8;
    let sign = if all_unsigned {
        Sign::Unsigned
    } else {
        Sign::Signed
    };
    ExprType::new(DataType::Decimal(DecimalType {
        sign,
        ..DecimalType::new(precision, scale.min(u32::from(precision)) as u8)
    }))
}

fn common_double(types: &[&ExprType]) -> ExprType {
    // FLOAT stays beside integers whose digits it has.
    let is_short = |ty: &&ExprType| match &ty.data_type {
        DataType::Integer(integer) => integer.width < IntegerWidth::Int,
        DataType::Float(_) | DataType::Year => true,
        _ => false,
    };
    if types.iter().all(is_short) {
        return ExprType::new(DataType::Float(paceline_types::FloatType::default()));
    }
    let decimals = types.iter().map(|ty| ty.decimals()).max();
    ExprType::double_with(decimals.unwrap_or(NOT_FIXED_DECIMALS))
}

/// Rounds a quotient to the digits that it shows, for `=` and similar operators; BETWEEN, IN and CASE compare
/// all its digits. Returns whether `operand` contains a quotient.
pub(crate) fn round_quotient(by: &Comparison, operand: &mut Expr) -> bool {
    if !is_exact_quotient(by, operand) {
        return false;
    }
    let ty = operand.ty.clone();
    let inner = std::mem::replace(operand, Expr::null());
    *operand = Expr {
        kind: ExprKind::Rounded(Box::new(inner)),
        ty,
    };
    true
}

/// Returns whether an operand of this comparison can have more digits than it shows.
pub(crate) fn is_exact_quotient(by: &Comparison, operand: &Expr) -> bool {
    let exact = matches!(by, Comparison::Decimal | Comparison::Dynamic { .. });
    let divides = |node: &Expr| {
        matches!(
            node.kind,
            ExprKind::Arithmetic {
                op: ArithmeticOp::Divide,
                ..
            }
        )
    };
    exact && operand.ty.class() == Class::Decimal && operand.any(&mut { divides })
}

/// Returns the conversion by which a text of this type gets the character set of the collation, if there is one.
pub(crate) fn common_charset(ty: &ExprType, collation: Collation) -> Option<CastTarget> {
    if ty.class() != Class::String || ty.is_parameter() {
        return None;
    }
    match (ty.charset(), collation.charset()) {
        (Charset::Latin1, Charset::Binary) => Some(CastTarget::Binary { length: None }),
        (Charset::Binary, Charset::Latin1) => Some(CastTarget::Char {
            length: None,
            collation,
        }),
        _ => None,
    }
}

/// Returns the conversion that an operand of this type needs for a comparison.
pub(crate) fn compared_charset(ty: &ExprType, by: &Comparison) -> Option<CastTarget> {
    match by {
        Comparison::Bytes => common_charset(ty, Collation::Binary),
        Comparison::Text(collation) => common_charset(ty, *collation),
        _ => None,
    }
}

/// Returns the rule by which a value is compared with both bounds.
pub(crate) fn between_rule(
    value: &ExprType,
    low: &ExprType,
    high: &ExprType,
    connection: Collation,
) -> Result<Comparison> {
    let all = [value, low, high];
    if all.iter().any(|ty| matches!(ty.class(), Class::FixedBinary(_))) {
        return between_fixed_binary(value, low, high);
    }
    let is_text = |ty: &&ExprType| matches!(ty.class(), Class::String | Class::Null) && !ty.is_parameter();
    if all.iter().all(is_text) && all.iter().any(|ty| ty.class() == Class::String) {
        return CollationMix::for_comparison(&all, connection, "between").map(Comparison::of_texts);
    }
    let from = comparison_rule_for("between", value, low, connection)?;
    let to = comparison_rule_for("between", value, high, connection)?;
    Ok(match (&from, &to) {
        (Comparison::DateTime, _) | (_, Comparison::DateTime) => Comparison::DateTime,
        (Comparison::Dynamic { .. }, _) => from,
        (_, Comparison::Dynamic { .. }) => to,
        (Comparison::Time, _) | (_, Comparison::Time) => Comparison::Time,
        // A number between two texts is compared as a double, like a decimal and a text.
        (Comparison::Decimal, Comparison::Decimal)
            if all.iter().filter(|ty| ty.class() == Class::String).count() > 1 =>
        {
            Comparison::Double
        }
        (a, b) if a == b => from,
        (Comparison::Double, _) | (_, Comparison::Double) => Comparison::Double,
        _ => Comparison::Decimal,
    })
}

/// Returns the rule of a BETWEEN with a UUID or an address: 4078 for the first operand that does not fit those before.
fn between_fixed_binary(value: &ExprType, low: &ExprType, high: &ExprType) -> Result<Comparison> {
    let (mut before, mut rule) = (value, None);
    for next in [low, high] {
        if let Some(found) = fixed_binary_rule("between", before, next)? {
            rule = Some(found);
            if matches!(next.class(), Class::FixedBinary(_)) {
                before = next;
            }
        }
    }
    Ok(rule.unwrap_or(Comparison::Bytes))
}
