//! Values of system variables: conversion by `SET`, and display.

use super::definition::{Definition, Kind};
use super::table::Variable;
use paceline_expression::ExprType;
use paceline_expression::session::SqlMode;
use paceline_syntax::Error;
use paceline_types::error_code::{ER_UNKNOWN_LOCALE, ER_WRONG_TYPE_FOR_VAR, ER_WRONG_VALUE_FOR_VAR};
use paceline_types::{Charset, Collation, DataType, FixedPoint, FloatType, Locale, TimeZone, Value};
use std::sync::Arc;

/// A value of a system variable.
#[derive(Debug, Clone, PartialEq)]
pub enum VariableValue {
    /// NULL.
    Null,
    /// Value ON or OFF.
    Boolean(bool),
    /// A signed integer.
    Integer(i64),
    /// An unsigned integer; the index of an ENUM; the bits of a SET or of flags.
    Unsigned(u64),
    /// A number with a fraction.
    Double(f64),
    /// Text.
    Text(Arc<str>),
}

impl VariableValue {
    /// Returns the value of a Boolean.
    pub fn as_bool(&self) -> bool {
        match self {
            VariableValue::Boolean(value) => *value,
            VariableValue::Unsigned(value) => *value != 0,
            _ => false,
        }
    }

    /// Returns the value of a number, or the index of an ENUM; 0 for any other value.
    pub fn as_u64(&self) -> u64 {
        match self {
            VariableValue::Unsigned(value) => *value,
            VariableValue::Integer(value) => u64::try_from(*value).unwrap_or(0),
            VariableValue::Boolean(value) => u64::from(*value),
            VariableValue::Double(value) => *value as u64,
            _ => 0,
        }
    }

    /// Returns the value of a signed number; 0 for any other value.
    pub fn as_i64(&self) -> i64 {
        match self {
            VariableValue::Integer(value) => *value,
            _ => 0,
        }
    }

    /// Returns the value of a number with a fraction.
    pub fn as_f64(&self) -> f64 {
        match self {
            VariableValue::Double(value) => *value,
            other => other.as_u64() as f64,
        }
    }

    /// Returns the text; empty for any other value.
    pub fn as_str(&self) -> &str {
        match self {
            VariableValue::Text(text) => text,
            _ => "",
        }
    }
}

/// Whether a number was adjusted to a variable's range, which is a warning or, in strict mode, an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    /// It was not changed.
    Exact,
    /// It was adjusted.
    Cut,
}

impl Definition {
    /// Returns the default.
    pub fn default_setting(&self) -> VariableValue {
        match self.default {
            None => VariableValue::Null,
            Some(text) => {
                self.parse(text)
                    .unwrap_or_else(|error| panic!("default of {}: {error}", self.name))
                    .0
            }
        }
    }

    /// Parses an option's value from the command line or a file: everything is text, and numbers may end in K, M, G or
    /// T.
    ///
    /// # Errors
    /// 1231 and 1232, as for [`assign`](Definition::assign).
    pub fn parse(&self, text: &str) -> Result<(VariableValue, Fit), Error> {
        let number = |text: &str| -> Option<(i128, bool)> {
            let (digits, factor) = match text.as_bytes().last()?.to_ascii_uppercase() {
                b'K' => (&text[..text.len() - 1], 1i128 << 10),
                b'M' => (&text[..text.len() - 1], 1 << 20),
                b'G' => (&text[..text.len() - 1], 1 << 30),
                b'T' => (&text[..text.len() - 1], 1 << 40),
                _ => (text, 1),
            };
            Some((digits.parse::<i128>().ok()?.checked_mul(factor)?, true))
        };
        match self.kind {
            Kind::Integer { .. } | Kind::Unsigned { .. } => match number(text.trim()) {
                Some((value, _)) => Ok(self.cut(value)),
                None => Err(self.wrong_type()),
            },
            Kind::Double { .. } => match text.trim().parse::<f64>() {
                Ok(value) => self.assign(&Value::Double(value)),
                Err(_) => Err(self.wrong_type()),
            },
            Kind::Boolean | Kind::Enum(_) | Kind::Set(_) => match text.trim().parse::<i64>() {
                Ok(value) => self.assign(&Value::Int(value)),
                // In SET these are keywords, not texts.
                Err(_) if self.kind == Kind::Boolean && text.trim().eq_ignore_ascii_case("true") => {
                    self.assign(&Value::Int(1))
                }
                Err(_) if self.kind == Kind::Boolean && text.trim().eq_ignore_ascii_case("false") => {
                    self.assign(&Value::Int(0))
                }
                Err(_) => self.assign(&Value::Text(text.trim().to_owned())),
            },
            _ => self.assign(&Value::Text(text.to_owned())),
        }
    }

    /// Converts a value from `SET`.
    ///
    /// # Errors
    /// 1232 for a value of the wrong type; 1231 for an invalid value.
    pub fn assign(&self, value: &Value) -> Result<(VariableValue, Fit), Error> {
        self.assign_over(value, None)
    }

    /// Converts a value from `SET`; flags that it does not name keep their `current` value, or else the default.
    ///
    /// # Errors
    /// Those of [`assign`](Self::assign).
    pub fn assign_over(
        &self,
        value: &Value,
        current: Option<&VariableValue>,
    ) -> Result<(VariableValue, Fit), Error> {
        if matches!(value, Value::Null) {
            return match self.default {
                None => Ok((VariableValue::Null, Fit::Exact)),
                Some(_) if self.kind == Kind::Charset && self.name == "character_set_results" => {
                    Ok((VariableValue::Null, Fit::Exact))
                }
                Some(_) if self.takes_null_as_empty() => Ok((VariableValue::Text("".into()), Fit::Exact)),
                Some(_) => match self.kind {
                    Kind::Integer { .. } | Kind::Unsigned { .. } | Kind::Double { .. } => {
                        Err(self.wrong_type())
                    }
                    _ => Err(self.wrong_value("NULL")),
                },
            };
        }
        let exact = |setting| Ok((setting, Fit::Exact));
        match self.kind {
            Kind::Boolean => self
                .boolean(value)
                .map(|on| (VariableValue::Boolean(on), Fit::Exact)),
            Kind::Integer { .. } | Kind::Unsigned { .. } => match integer(value) {
                Some(number) => Ok(self.cut(number)),
                None => Err(self.wrong_type()),
            },
            Kind::Double { min, max } => {
                let Some(number) = double(value) else {
                    return Err(self.wrong_type());
                };
                let cut = number.clamp(min, max);
                Ok((
                    VariableValue::Double(cut),
                    if cut == number { Fit::Exact } else { Fit::Cut },
                ))
            }
            Kind::Enum(words) => exact(VariableValue::Unsigned(self.word(words, value)?)),
            Kind::Set(words) => exact(VariableValue::Unsigned(self.words(words, value)?)),
            Kind::Flags(words) => exact(VariableValue::Unsigned(self.flags(words, value, current)?)),
            Kind::Text => match text(value) {
                Some(text) => exact(VariableValue::Text(text.into())),
                None => Err(self.wrong_type()),
            },
            Kind::Charset | Kind::Collation if integer(value).is_none() && text(value).is_none() => {
                Err(self.wrong_type())
            }
            Kind::Charset => {
                let charset = match integer(value) {
                    Some(id) => u16::try_from(id)
                        .ok()
                        .and_then(Collation::from_id)
                        .map(Collation::charset),
                    None => text(value).and_then(|name| Charset::from_name(&name)),
                };
                match charset {
                    Some(charset) => exact(VariableValue::Text(charset.name().into())),
                    None => Err(unknown_charset(value)),
                }
            }
            Kind::Collation => {
                let collation = match integer(value) {
                    Some(id) => u16::try_from(id).ok().and_then(Collation::from_id),
                    None => text(value).and_then(|name| Collation::from_name(&name.to_ascii_lowercase())),
                };
                match collation {
                    Some(collation) => exact(VariableValue::Text(collation.name().into())),
                    None => Err(unknown_collation(value)),
                }
            }
            Kind::Locale => match text(value) {
                Some(name) if name.eq_ignore_ascii_case("en_US") => {
                    exact(VariableValue::Text("en_US".into()))
                }
                Some(name) => Err(Error::new(ER_UNKNOWN_LOCALE, &[&name])),
                None => match integer(value) {
                    Some(0) => exact(VariableValue::Text("en_US".into())),
                    Some(number) => Err(Error::new(ER_UNKNOWN_LOCALE, &[&number])),
                    None => Err(self.wrong_type()),
                },
            },
            Kind::TimeLocale => {
                let (name, locale) = match integer(value) {
                    Some(number) => {
                        let locale = u16::try_from(number).ok().and_then(Locale::from_number);
                        (number.to_string(), locale)
                    }
                    None => {
                        let name = text(value).ok_or_else(|| self.wrong_type())?;
                        let locale = Locale::from_name(&name);
                        (name, locale)
                    }
                };
                let unknown = || Error::new(ER_UNKNOWN_LOCALE, &[&name]);
                exact(VariableValue::Text(locale.ok_or_else(unknown)?.name.into()))
            }
            Kind::SqlMode => {
                let mode = match integer(value) {
                    Some(bits) => u64::try_from(bits)
                        .ok()
                        .map(|bits| SqlMode::from_bits(bits).expanded())
                        .ok_or_else(|| self.wrong_value(&bits.to_string()))?,
                    None => match text(value) {
                        Some(text) => SqlMode::parse(&text).map_err(|word| self.wrong_value(&word))?,
                        None => return Err(self.wrong_type()),
                    },
                };
                exact(VariableValue::Text(mode.to_string().into()))
            }
            Kind::TimeZone => {
                let Some(name) = text(value) else {
                    return Err(self.wrong_type());
                };
                if name.eq_ignore_ascii_case("SYSTEM") {
                    return exact(VariableValue::Text("SYSTEM".into()));
                }
                TimeZone::parse(&name)?;
                exact(VariableValue::Text(name.into()))
            }
        }
    }

    /// Returns whether NULL is treated as the empty text.
    fn takes_null_as_empty(&self) -> bool {
        matches!(
            self.variable,
            Variable::InitConnect
                | Variable::InitSlave
                | Variable::ReplicateDoDb
                | Variable::ReplicateDoTable
                | Variable::ReplicateIgnoreDb
                | Variable::ReplicateIgnoreTable
                | Variable::ReplicateRewriteDb
                | Variable::ReplicateWildDoTable
                | Variable::ReplicateWildIgnoreTable
                | Variable::ProxyProtocolNetworks
        )
    }

    /// Adjusts a number to the range.
    fn cut(&self, number: i128) -> (VariableValue, Fit) {
        let (setting, cut) = match self.kind {
            Kind::Integer { min, max } => {
                let cut = number.clamp(i128::from(min), i128::from(max));
                (VariableValue::Integer(cut as i64), cut)
            }
            Kind::Unsigned { min, max, block } => {
                let mut cut = number.clamp(i128::from(min), i128::from(max)) as u64;
                cut -= cut % block;
                let cut = cut.max(min);
                (VariableValue::Unsigned(cut), i128::from(cut))
            }
            _ => unreachable!("only integers are cut"),
        };
        (setting, if cut == number { Fit::Exact } else { Fit::Cut })
    }

    fn boolean(&self, value: &Value) -> Result<bool, Error> {
        match value {
            Value::Text(word) if word.eq_ignore_ascii_case("on") => Ok(true),
            Value::Text(word) if word.eq_ignore_ascii_case("off") => Ok(false),
            Value::Text(word) => match word.as_str() {
                "1" => Ok(true),
                "0" => Ok(false),
                _ => Err(self.wrong_value(word)),
            },
            _ => match integer(value) {
                Some(0) => Ok(false),
                Some(1) => Ok(true),
                Some(other) => Err(self.wrong_value(&other.to_string())),
                None => Err(self.wrong_type()),
            },
        }
    }

    fn word(&self, words: &[&str], value: &Value) -> Result<u64, Error> {
        if let Some(index) = integer(value) {
            return match usize::try_from(index) {
                Ok(index) if index < words.len() => Ok(index as u64),
                _ => Err(self.wrong_value(&index.to_string())),
            };
        }
        let Some(word) = text(value) else {
            return Err(self.wrong_type());
        };
        match words.iter().position(|known| known.eq_ignore_ascii_case(&word)) {
            Some(index) => Ok(index as u64),
            None => Err(self.wrong_value(&word)),
        }
    }

    fn words(&self, words: &[&str], value: &Value) -> Result<u64, Error> {
        if let Some(bits) = integer(value) {
            return match u64::try_from(bits) {
                Ok(bits) if bits >> words.len() == 0 => Ok(bits),
                _ => Err(self.wrong_value(&bits.to_string())),
            };
        }
        let Some(list) = text(value) else {
            return Err(self.wrong_type());
        };
        // Variables of MariaDB's plugins do not have this word.
        let is_of_plugin = ["server_audit_", "aria_"]
            .iter()
            .any(|prefix| self.name.starts_with(prefix));
        if list.eq_ignore_ascii_case("all") && !is_of_plugin {
            return Ok((1 << words.len()) - 1);
        }
        let mut bits = 0;
        // Only blanks at the end do not count.
        for word in list.trim_end().split(',').filter(|word| !word.is_empty()) {
            bits |= 1 << self.word(words, &Value::Text(word.to_owned()))?;
        }
        Ok(bits)
    }

    /// Parses `name=on,name=off,name=default,default`, starting from the current value; with `default` from the
    /// defaults.
    fn flags(&self, words: &[&str], value: &Value, current: Option<&VariableValue>) -> Result<u64, Error> {
        if let Some(bits) = integer(value) {
            return match u64::try_from(bits) {
                Ok(bits) if bits >> words.len() == 0 => Ok(bits),
                _ => Err(self.wrong_value(&bits.to_string())),
            };
        }
        let Some(list) = text(value) else {
            return Err(self.wrong_type());
        };
        let defaults = match self.default {
            Some(text) if text != list => self.flags(words, &Value::Text(text.to_owned()), None)?,
            _ => 0,
        };
        let (mut on, mut given, mut has_default) = (0_u64, 0, false);
        let end = list.trim_end().len();
        let mut rest = &list[..end];
        while !rest.is_empty() {
            // An error shows the list from the wrong part on.
            let wrong = || Err(self.wrong_value(rest));
            let (part, next) = rest.split_once(',').unwrap_or((rest, ""));
            if part.eq_ignore_ascii_case("default") && !has_default {
                has_default = true;
            } else if !part.is_empty() {
                let Some((name, state)) = part.split_once('=') else {
                    return wrong();
                };
                let index = words.iter().position(|known| known.eq_ignore_ascii_case(name));
                let Some(bit) = index.map(|index| 1 << index).filter(|bit| given & bit == 0) else {
                    return wrong();
                };
                given |= bit;
                match state.to_ascii_lowercase().as_str() {
                    "on" => on |= bit,
                    "off" => {}
                    "default" => on |= defaults & bit,
                    _ => return wrong(),
                }
            }
            rest = next;
        }
        let others = match current {
            Some(current) if !has_default => current.as_u64(),
            _ => defaults,
        };
        Ok(others & !given | on)
    }

    /// Returns the value as `SHOW VARIABLES` prints it. `None` is NULL, which it prints as the empty text.
    pub fn show(&self, setting: &VariableValue) -> Option<String> {
        Some(match (setting, self.kind) {
            (VariableValue::Null, _) => return None,
            (VariableValue::Boolean(on), _) => if *on { "ON" } else { "OFF" }.to_owned(),
            (VariableValue::Unsigned(index), Kind::Enum(words)) => {
                words.get(*index as usize).copied().unwrap_or("").to_owned()
            }
            (VariableValue::Unsigned(bits), Kind::Set(words)) => {
                let set = words
                    .iter()
                    .enumerate()
                    .filter(|(index, _)| bits >> index & 1 == 1);
                set.map(|(_, word)| *word).collect::<Vec<_>>().join(",")
            }
            (VariableValue::Unsigned(bits), Kind::Flags(words)) => {
                let state = |index: usize| if bits >> index & 1 == 1 { "on" } else { "off" };
                words
                    .iter()
                    .enumerate()
                    .map(|(index, word)| format!("{word}={}", state(index)))
                    .collect::<Vec<_>>()
                    .join(",")
            }
            (VariableValue::Integer(number), _) => number.to_string(),
            (VariableValue::Unsigned(number), _) => number.to_string(),
            (VariableValue::Double(number), _) => format!("{number:.6}"),
            (VariableValue::Text(text), _) => text.to_string(),
        })
    }

    /// Returns the value of `@@name`.
    pub fn value(&self, setting: &VariableValue) -> Value {
        match (setting, self.kind) {
            (VariableValue::Null, _) => Value::Null,
            (VariableValue::Boolean(on), _) => Value::Int(i64::from(*on)),
            (VariableValue::Integer(number), _) => Value::Int(*number),
            (VariableValue::Unsigned(number), Kind::Unsigned { .. }) => Value::UInt(*number),
            (VariableValue::Double(number), _) => Value::Double((number * 1e6).round() / 1e6),
            _ => Value::Text(self.show(setting).unwrap_or_default()),
        }
    }

    /// Returns the type of `@@name`.
    pub fn value_type(&self) -> ExprType {
        match self.kind {
            Kind::Boolean => ExprType::bigint(1),
            Kind::Integer { .. } => ExprType::bigint(21),
            Kind::Unsigned { .. } => ExprType::bigint_unsigned(21),
            Kind::Double { .. } => ExprType::new(DataType::Double(FloatType {
                fixed: Some(FixedPoint {
                    precision: 21,
                    scale: 6,
                }),
                ..FloatType::default()
            })),
            _ => super::text_type(),
        }
    }

    /// Returns error 1231.
    pub fn wrong_value(&self, value: &str) -> Error {
        Error::new(ER_WRONG_VALUE_FOR_VAR, &[&self.name, &value])
    }

    /// Returns error 1232.
    pub fn wrong_type(&self) -> Error {
        Error::new(ER_WRONG_TYPE_FOR_VAR, &[&self.name])
    }
}

fn unknown_charset(value: &Value) -> Error {
    Error::new(
        paceline_types::error_code::ER_UNKNOWN_CHARACTER_SET,
        &[&described(value)],
    )
}

fn unknown_collation(value: &Value) -> Error {
    Error::new(
        paceline_types::error_code::ER_UNKNOWN_COLLATION,
        &[&described(value)],
    )
}

fn described(value: &Value) -> String {
    match integer(value) {
        Some(number) => number.to_string(),
        None => text(value).unwrap_or_default(),
    }
}

/// Returns the integer value, if the value is an integer.
fn integer(value: &Value) -> Option<i128> {
    match value {
        Value::Int(number) => Some(i128::from(*number)),
        Value::UInt(number) => Some(i128::from(*number)),
        Value::Year(number) => Some(i128::from(*number)),
        _ => None,
    }
}

/// Converts a decimal without fraction to the nearest BIGINT. Integer literals out of range are such decimals.
pub fn overflowed(value: &Value) -> Option<Value> {
    let Value::Decimal(number) = value else {
        return None;
    };
    (number.scale() == 0).then(|| {
        Value::Int(number.to_i64().unwrap_or(match number.is_negative() {
            true => i64::MIN,
            false => i64::MAX,
        }))
    })
}

fn double(value: &Value) -> Option<f64> {
    match value {
        Value::Double(number) => Some(*number),
        Value::Float(number) => Some(f64::from(*number)),
        Value::Decimal(number) => Some(number.to_f64()),
        _ => integer(value).map(|number| number as f64),
    }
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) => Some(text.clone()),
        Value::Bytes(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        Value::Enum(value) => Some(value.label().to_owned()),
        Value::Set(value) => Some(value.text()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::variables::Variable;

    fn set(variable: Variable, value: Value) -> String {
        match variable.definition().assign(&value) {
            Ok((setting, fit)) => {
                let shown = variable.definition().show(&setting).unwrap_or("NULL".into());
                if fit == Fit::Cut {
                    format!("{shown} cut")
                } else {
                    shown
                }
            }
            Err(error) => format!("{} {error}", error.code().number()),
        }
    }

    fn word(text: &str) -> Value {
        Value::Text(text.into())
    }

    /// MariaDB 10.11's results of the same assignments.
    #[test]
    fn assigned_values_are_converted_or_refused_as_in_mariadb() {
        use Variable::*;
        assert_eq!(set(Autocommit, word("off")), "OFF");
        assert_eq!(set(Autocommit, Value::Int(1)), "ON");
        assert_eq!(
            set(Autocommit, Value::Int(2)),
            "1231 Variable 'autocommit' can't be set to the value of '2'"
        );
        assert_eq!(
            set(Autocommit, word("x")),
            "1231 Variable 'autocommit' can't be set to the value of 'x'"
        );
        assert_eq!(
            set(Autocommit, Value::Double(1.5)),
            "1232 Incorrect argument type to variable 'autocommit'"
        );
        assert_eq!(set(MaxSortLength, Value::Int(1)), "64 cut");
        assert_eq!(
            set(MaxSortLength, word("100")),
            "1232 Incorrect argument type to variable 'max_sort_length'"
        );
        assert_eq!(set(TxIsolation, word("read-committed")), "READ-COMMITTED");
        assert_eq!(
            set(TxIsolation, word("none")),
            "1231 Variable 'tx_isolation' can't be set to the value of 'none'"
        );
        assert_eq!(set(LongQueryTime, Value::Int(2)), "2.000000");
        assert_eq!(set(MaxAllowedPacket, Value::Int(2000)), "1024 cut");
        assert_eq!(
            set(WaitTimeout, Value::Null),
            "1232 Incorrect argument type to variable 'wait_timeout'"
        );
        assert_eq!(set(LogOutput, word("file,TABLE")), "FILE,TABLE");
        assert!(set(OptimizerSwitch, word("mrr=on")).contains("mrr=on,mrr_cost_based=off"));
        assert_eq!(
            set(SqlMode, word("bad")),
            "1231 Variable 'sql_mode' can't be set to the value of 'bad'"
        );
    }

    /// Transactions in this domain are not sent to replicas and are in no GTID state.
    #[test]
    fn no_session_can_choose_the_local_domain() {
        let local = u64::from(paceline_binlog::LOCAL_DOMAIN.0);
        let last = (local - 1).to_string();
        assert_eq!(
            set(Variable::GtidDomainId, Value::UInt(local)),
            format!("{last} cut")
        );
        assert_eq!(set(Variable::GtidDomainId, Value::UInt(local - 1)), last);
    }

    #[test]
    fn option_values_may_have_size_suffixes_and_switches_may_be_numbers() {
        let parse = |variable: Variable, text: &str| {
            variable
                .definition()
                .parse(text)
                .map(|(setting, _)| variable.definition().show(&setting))
        };
        assert_eq!(
            parse(Variable::MaxAllowedPacket, "64M").unwrap().unwrap(),
            "67108864"
        );
        assert_eq!(parse(Variable::Autocommit, "0").unwrap().unwrap(), "OFF");
        assert!(parse(Variable::MaxAllowedPacket, "lots").is_err());
    }

    #[test]
    fn every_default_is_a_value() {
        for row in super::super::TABLE {
            row.default_setting();
        }
    }
}
