//! Values of Python and of SQL.
//!
//! | SQL | to Python | from Python |
//! |---|---|---|
//! | NULL | None | None |
//! | integers, YEAR, BIT, BOOL | int | int, bool; beyond 64 bits error 1690 |
//! | FLOAT, DOUBLE | float | float; not infinity and NaN, which no column has: 1690 |
//! | DECIMAL | decimal.Decimal | decimal.Decimal |
//! | text, JSON, ENUM, SET, UUID, INET4, INET6 | str | str |
//! | BINARY, BLOB | bytes | bytes, bytearray, memoryview |
//! | DATE | datetime.date | datetime.date |
//! | DATETIME | datetime.datetime, naive | datetime.datetime, naive |
//! | TIMESTAMP | datetime.datetime in UTC | datetime.datetime with a time zone |
//! | TIME | datetime.timedelta | datetime.timedelta, naive datetime.time |
//!
//! Dates that Python does not have (`0000-00-00`, `2024-02-00`) are str, as in PyMySQL.

use crate::errors::out_of_range;
use paceline_embedded::{Date, DateTime, Decimal, Time, Timestamp, Value};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyDate, PyDateAccess, PyDateTime, PyDelta, PyDeltaAccess, PyFloat, PyInt,
    PyList, PyMemoryView, PyString, PyTime, PyTimeAccess, PyTuple, PyType, PyTzInfo, PyTzInfoAccess,
};

const MICROS_OF_SECOND: i64 = 1_000_000;
const SECONDS_OF_DAY: i64 = 86_400;

/// Returns the class `decimal.Decimal`.
fn decimal_class(python: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    CLASS.import(python, "decimal", "Decimal")
}

/// Returns the values of a row as a tuple.
pub fn row_to_python<'py>(python: Python<'py>, row: &[Value]) -> PyResult<Bound<'py, PyTuple>> {
    let values: PyResult<Vec<_>> = row.iter().map(|value| to_python(python, value)).collect();
    PyTuple::new(python, values?)
}

/// Returns a value as Python's.
pub fn to_python<'py>(python: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => python.None().into_bound(python),
        Value::Int(value) => value.into_pyobject(python)?.into_any(),
        Value::UInt(value) => value.into_pyobject(python)?.into_any(),
        Value::Float(value) => PyFloat::new(python, f64::from(*value)).into_any(),
        Value::Double(value) => PyFloat::new(python, *value).into_any(),
        Value::Decimal(value) => decimal_class(python)?.call1((value.to_string(),))?,
        Value::Text(text) => PyString::new(python, text).into_any(),
        Value::Bytes(bytes) => PyBytes::new(python, bytes).into_any(),
        Value::Date(value) => match PyDate::new(python, i32::from(value.year), value.month, value.day) {
            Ok(date) => date.into_any(),
            Err(_) => PyString::new(python, &value.to_string()).into_any(),
        },
        Value::Time(value) => {
            let (seconds, micros) = (
                value.micros().div_euclid(MICROS_OF_SECOND),
                value.micros().rem_euclid(MICROS_OF_SECOND),
            );
            let (days, seconds) = (
                seconds.div_euclid(SECONDS_OF_DAY),
                seconds.rem_euclid(SECONDS_OF_DAY),
            );
            PyDelta::new(python, days as i32, seconds as i32, micros as i32, false)?.into_any()
        }
        Value::DateTime(value) => match datetime(python, value, None) {
            Ok(datetime) => datetime.into_any(),
            Err(_) => PyString::new(python, &value.to_string()).into_any(),
        },
        Value::Timestamp(value) => timestamp(python, value)?,
        Value::Year(value) => value.into_pyobject(python)?.into_any(),
        Value::Bit(value) => value.bits.into_pyobject(python)?.into_any(),
        Value::Enum(value) => PyString::new(python, value.as_ref().label()).into_any(),
        Value::Set(value) => PyString::new(python, &value.as_ref().text()).into_any(),
        Value::FixedBinary(value) => PyString::new(python, &value.to_string()).into_any(),
    })
}

fn datetime<'py>(
    python: Python<'py>,
    value: &DateTime,
    zone: Option<&Bound<'py, PyTzInfo>>,
) -> PyResult<Bound<'py, PyDateTime>> {
    let date = value.date;
    PyDateTime::new(
        python,
        i32::from(date.year),
        date.month,
        date.day,
        value.hour,
        value.minute,
        value.second,
        value.micros,
        zone,
    )
}

fn timestamp<'py>(python: Python<'py>, value: &Timestamp) -> PyResult<Bound<'py, PyAny>> {
    if value.seconds == 0 && value.micros == 0 {
        return Ok(PyString::new(python, &DateTime::ZERO.to_string()).into_any());
    }
    let since = PyDelta::new(
        python,
        (i64::from(value.seconds) / SECONDS_OF_DAY) as i32,
        (i64::from(value.seconds) % SECONDS_OF_DAY) as i32,
        value.micros as i32,
        false,
    )?;
    epoch(python)?.call_method1("__add__", (since,))
}

/// Returns the beginning of 1970 in UTC.
fn epoch<'py>(python: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
    static EPOCH: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let epoch = EPOCH.get_or_try_init(python, || {
        let zone = PyTzInfo::utc(python)?.to_owned();
        let begin = DateTime::new(
            Date {
                year: 1970,
                month: 1,
                day: 1,
            },
            0,
            0,
            0,
        );
        datetime(python, &begin, Some(&zone)).map(|datetime| datetime.into_any().unbind())
    })?;
    Ok(epoch.bind(python).clone())
}

/// Returns the values of a row, or of the parameters of a statement: those of a tuple or list.
pub fn from_sequence(values: &Bound<'_, PyAny>) -> PyResult<Vec<Value>> {
    if let Ok(values) = values.cast::<PyTuple>() {
        values.iter().map(|value| from_python(&value)).collect()
    } else if let Ok(values) = values.cast::<PyList>() {
        values.iter().map(|value| from_python(&value)).collect()
    } else {
        let kind = values.get_type().name()?;
        Err(PyTypeError::new_err(format!(
            "values are a tuple or a list, not {kind}"
        )))
    }
}

/// Returns the values of a key: those of a tuple or list, or a single value.
pub fn from_key(key: &Bound<'_, PyAny>) -> PyResult<Vec<Value>> {
    match key.is_instance_of::<PyTuple>() || key.is_instance_of::<PyList>() {
        true => from_sequence(key),
        false => Ok(vec![from_python(key)?]),
    }
}

/// Returns a value of Python as one of SQL.
fn from_python(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    let python = value.py();
    if value.is_none() {
        return Ok(Value::Null);
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Value::Text(text.to_str()?.to_owned()));
    }
    if let Ok(truth) = value.cast::<PyBool>() {
        return Ok(Value::Int(i64::from(truth.is_true())));
    }
    if value.is_instance_of::<PyInt>() {
        return match value.extract::<i64>() {
            Ok(integer) => Ok(Value::Int(integer)),
            Err(_) => match value.extract::<u64>() {
                Ok(integer) => Ok(Value::UInt(integer)),
                Err(_) => Err(out_of_range(python, "BIGINT", value)),
            },
        };
    }
    if let Ok(number) = value.cast::<PyFloat>() {
        return match number.value() {
            number if number.is_finite() => Ok(Value::Double(number)),
            _ => Err(out_of_range(python, "DOUBLE", value)),
        };
    }
    if let Ok(bytes) = value.cast::<PyBytes>() {
        return Ok(Value::Bytes(bytes.as_bytes().to_vec()));
    }
    if let Ok(bytes) = value.cast::<PyByteArray>() {
        return Ok(Value::Bytes(bytes.to_vec()));
    }
    if let Ok(view) = value.cast::<PyMemoryView>() {
        let bytes = view.call_method0("tobytes")?;
        return Ok(Value::Bytes(bytes.cast::<PyBytes>()?.as_bytes().to_vec()));
    }
    // A datetime is a date, too.
    if let Ok(datetime) = value.cast::<PyDateTime>() {
        return from_datetime(datetime);
    }
    if let Ok(date) = value.cast::<PyDate>() {
        return Ok(Value::Date(date_of(date)));
    }
    if let Ok(delta) = value.cast::<PyDelta>() {
        let seconds = i64::from(delta.get_days()) * SECONDS_OF_DAY + i64::from(delta.get_seconds());
        return time(value, seconds, delta.get_microseconds());
    }
    if let Ok(of_day) = value.cast::<PyTime>() {
        if of_day.get_tzinfo().is_some() {
            return Err(PyValueError::new_err("a TIME has no time zone"));
        }
        let minutes = i64::from(of_day.get_hour()) * 60 + i64::from(of_day.get_minute());
        let seconds = minutes * 60 + i64::from(of_day.get_second());
        return time(value, seconds, of_day.get_microsecond() as i32);
    }
    if value.is_instance(decimal_class(python)?)? {
        let text = value.str()?;
        return match text.to_str()?.parse::<Decimal>() {
            Ok(decimal) => Ok(Value::Decimal(decimal)),
            Err(_) => Err(out_of_range(python, "DECIMAL", value)),
        };
    }
    let kind = value.get_type().fully_qualified_name()?;
    Err(PyTypeError::new_err(format!("no SQL type for a value of {kind}")))
}

fn date_of(date: &impl PyDateAccess) -> Date {
    Date {
        year: date.get_year() as u16,
        month: date.get_month(),
        day: date.get_day(),
    }
}

/// Returns the number of fraction digits to show.
fn decimals_of(micros: u32) -> u8 {
    if micros == 0 { 0 } else { 6 }
}

fn from_datetime(datetime: &Bound<'_, PyDateTime>) -> PyResult<Value> {
    let micros = datetime.get_microsecond();
    let decimals = decimals_of(micros);
    if datetime.get_tzinfo().is_none() {
        let value = DateTime::new(
            date_of(datetime),
            datetime.get_hour(),
            datetime.get_minute(),
            datetime.get_second(),
        );
        return Ok(Value::DateTime(value.with_micros(micros, decimals)));
    }
    let since = datetime.call_method1("__sub__", (epoch(datetime.py())?,))?;
    let since = since.cast::<PyDelta>()?;
    let seconds = i64::from(since.get_days()) * SECONDS_OF_DAY + i64::from(since.get_seconds());
    match u32::try_from(seconds) {
        Ok(seconds) if (1..=i32::MAX as u32).contains(&seconds) => Ok(Value::Timestamp(Timestamp {
            seconds,
            micros,
            decimals,
        })),
        _ => Err(out_of_range(datetime.py(), "TIMESTAMP", datetime)),
    }
}

fn time(value: &Bound<'_, PyAny>, seconds: i64, micros: i32) -> PyResult<Value> {
    let all = seconds * MICROS_OF_SECOND + i64::from(micros);
    match all.abs() <= Time::MICROS_MAX {
        true => Ok(Value::Time(Time::from_micros(all, decimals_of(micros as u32)))),
        false => Err(out_of_range(value.py(), "TIME", value)),
    }
}
