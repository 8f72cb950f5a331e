//! Functions of the server that a module can import.

use crate::call_state::{CallState, Ended};
use crate::error::CallError;
use crate::tables::{CursorId, Direction, KEY_VALUES_MAX, KeyValue};
use wasmtime::{Caller, Linker};

/// Name of the module that the server is to a module.
pub(crate) const MODULE: &str = "paceline";

/// Names of the imports.
pub(crate) const NAMES: &[&str] = &[
    "argument_is_null",
    "return_null",
    "fail",
    "table",
    "column",
    "index",
    "key_integer",
    "key_real",
    "key_text",
    "key_null",
    "get",
    "scan",
    "next",
    "is_null",
    "integer",
    "real",
    "text",
    "close",
];

/// Maximum number of bytes of a name, a message or a key's text.
const TEXT_BYTES_MAX: u32 = 64 << 10;

type Host<'c> = Caller<'c, CallState>;
type Result<T> = wasmtime::Result<T>;

/// Returns bytes of the module's memory.
fn bytes<'c>(caller: &'c mut Host<'_>, address: u32, length: u32) -> Result<(&'c [u8], &'c mut CallState)> {
    let Some(memory) = caller.data().memory else {
        return Err(misuse(caller.data_mut(), "the module does not export memory"));
    };
    let (all, state) = memory.data_and_store_mut(caller);
    if length > TEXT_BYTES_MAX {
        return Err(misuse(state, "a text is longer than 64 KiB"));
    }
    let begin = address as usize;
    match all.get(begin..begin + length as usize) {
        Some(bytes) => Ok((bytes, state)),
        None => Err(misuse(state, "an address is beyond the memory")),
    }
}

fn text(caller: &mut Host<'_>, address: u32, length: u32) -> Result<String> {
    let (bytes, _) = bytes(caller, address, length)?;
    Ok(String::from_utf8_lossy(bytes).into_owned())
}

fn misuse(state: &mut CallState, reason: &'static str) -> wasmtime::Error {
    state.fail(CallError::Misuse(reason)).into()
}

fn ended<T>(result: std::result::Result<T, Ended>) -> Result<T> {
    result.map_err(wasmtime::Error::from)
}

fn push_key(state: &mut CallState, value: KeyValue) -> Result<()> {
    if state.key.len() >= KEY_VALUES_MAX {
        return Err(misuse(state, "a key has too many values"));
    }
    state.key.push(value);
    Ok(())
}

/// Defines all imports.
pub(crate) fn define(linker: &mut Linker<CallState>) -> Result<()> {
    define_values(linker)?;
    define_keys(linker)?;
    define_reads(linker)
}

fn define_values(linker: &mut Linker<CallState>) -> Result<()> {
    linker.func_wrap(MODULE, "argument_is_null", |mut caller: Host<'_>, number: u32| {
        let state = caller.data_mut();
        match state.nulls.get(number as usize) {
            Some(is_null) => Ok(u32::from(*is_null)),
            None => Err(misuse(state, "there is no argument with this number")),
        }
    })?;
    linker.func_wrap(MODULE, "return_null", |mut caller: Host<'_>| {
        caller.data_mut().is_result_null = true;
    })?;
    linker.func_wrap(
        MODULE,
        "fail",
        |mut caller: Host<'_>, address: u32, length: u32| -> Result<()> {
            let message = text(&mut caller, address, length)?;
            Err(caller.data_mut().fail(CallError::Failed(message)).into())
        },
    )?;
    linker.func_wrap(
        MODULE,
        "table",
        |mut caller: Host<'_>, address: u32, length: u32| {
            let name = text(&mut caller, address, length)?;
            ended(caller.data_mut().with_tables(|tables| tables.table(&name)))
        },
    )?;
    linker.func_wrap(
        MODULE,
        "column",
        |mut caller: Host<'_>, table: u32, address: u32, length: u32| {
            let name = text(&mut caller, address, length)?;
            ended(
                caller
                    .data_mut()
                    .with_tables(|tables| tables.column(table, &name)),
            )
        },
    )?;
    linker.func_wrap(
        MODULE,
        "index",
        |mut caller: Host<'_>, table: u32, address: u32, length: u32| {
            let name = text(&mut caller, address, length)?;
            ended(caller.data_mut().with_tables(|tables| tables.index(table, &name)))
        },
    )?;
    Ok(())
}

fn define_keys(linker: &mut Linker<CallState>) -> Result<()> {
    linker.func_wrap(MODULE, "key_integer", |mut caller: Host<'_>, value: i64| {
        push_key(caller.data_mut(), KeyValue::Integer(value))
    })?;
    linker.func_wrap(MODULE, "key_real", |mut caller: Host<'_>, value: f64| {
        push_key(caller.data_mut(), KeyValue::Real(value))
    })?;
    linker.func_wrap(
        MODULE,
        "key_text",
        |mut caller: Host<'_>, address: u32, length: u32| {
            let value = bytes(&mut caller, address, length)?.0.to_vec();
            push_key(caller.data_mut(), KeyValue::Text(value))
        },
    )?;
    linker.func_wrap(MODULE, "key_null", |mut caller: Host<'_>| {
        push_key(caller.data_mut(), KeyValue::Null)
    })?;
    Ok(())
}

fn define_reads(linker: &mut Linker<CallState>) -> Result<()> {
    linker.func_wrap(MODULE, "get", |mut caller: Host<'_>, table: u32, index: u32| {
        let state = caller.data_mut();
        let key = std::mem::take(&mut state.key);
        let found = ended(state.with_tables(|tables| tables.get(table, index, &key)))?;
        Ok(found.map_or(-1, |cursor| cursor.0 as i32))
    })?;
    linker.func_wrap(
        MODULE,
        "scan",
        |mut caller: Host<'_>, table: u32, index: u32, backward: u32| {
            let direction = match backward {
                0 => Direction::Forward,
                _ => Direction::Backward,
            };
            let state = caller.data_mut();
            let key = std::mem::take(&mut state.key);
            let scan = state.with_tables(|tables| tables.scan(table, index, &key, direction));
            Ok(ended(scan)?.0)
        },
    )?;
    linker.func_wrap(MODULE, "next", |mut caller: Host<'_>, cursor: u32| {
        let state = caller.data_mut();
        let moved = state.with_tables(|tables| tables.next(CursorId(cursor)));
        Ok(u32::from(ended(moved)?))
    })?;
    linker.func_wrap(
        MODULE,
        "is_null",
        |mut caller: Host<'_>, cursor: u32, column: u32| {
            let state = caller.data_mut();
            let is_null = state.with_tables(|tables| tables.is_null(CursorId(cursor), column));
            Ok(u32::from(ended(is_null)?))
        },
    )?;
    linker.func_wrap(
        MODULE,
        "integer",
        |mut caller: Host<'_>, cursor: u32, column: u32| {
            let state = caller.data_mut();
            ended(state.with_tables(|tables| tables.integer(CursorId(cursor), column)))
        },
    )?;
    linker.func_wrap(
        MODULE,
        "real",
        |mut caller: Host<'_>, cursor: u32, column: u32| {
            let state = caller.data_mut();
            ended(state.with_tables(|tables| tables.real(CursorId(cursor), column)))
        },
    )?;
    linker.func_wrap(MODULE, "text", read_text)?;
    linker.func_wrap(MODULE, "close", |mut caller: Host<'_>, cursor: u32| {
        let state = caller.data_mut();
        ended(state.with_tables(|tables| {
            tables.close(CursorId(cursor));
            Ok(())
        }))
    })?;
    Ok(())
}

fn read_text(mut caller: Host<'_>, cursor: u32, column: u32, address: u32, capacity: u32) -> Result<u32> {
    let Some(memory) = caller.data().memory else {
        return Err(misuse(caller.data_mut(), "the module does not export memory"));
    };
    let (all, state) = memory.data_and_store_mut(&mut caller);
    let begin = address as usize;
    let Some(place) = all.get_mut(begin..begin + capacity as usize) else {
        return Err(misuse(state, "an address is beyond the memory"));
    };
    let mut length = 0;
    let read = state.with_tables(|tables| {
        tables.text(CursorId(cursor), column, &mut |text| {
            let copied = text.len().min(place.len());
            place[..copied].copy_from_slice(&text[..copied]);
            length = text.len();
        })
    });
    ended(read)?;
    // No value of a column is longer than 4 GiB.
    Ok(length as u32)
}
