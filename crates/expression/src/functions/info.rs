//! Information on the session and the server; waits and user locks.

use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use paceline_types::error_code::WARN_NO_MASTER_INFO;
use paceline_types::{Charset, Collation, Value};

use super::string::{overflows, too_long, within_packet};
use crate::context::EvalContext;
use crate::error::Result;
use crate::expr_type::{Coercibility, ExprType};
use crate::functions::arguments::some;
use crate::rules::CollationMix;
use crate::session::{PlaceWait, SequenceSet, SourceWaitOutcome, WaitOutcome};
use crate::tree::{Args, Function, pure, steady, volatile};

pub(super) static FUNCTIONS: &[Function] = &[
    // Its argument is the column that the planner keeps for it.
    volatile(
        "rownum",
        (1, 1),
        |_| Ok(ExprType::bigint_unsigned(21)),
        |args, context| args.value(0, context).map(std::borrow::Cow::into_owned),
    ),
    // Functions of sequences: database, name, and the arguments of SETVAL.
    volatile(
        "nextval",
        (2, 2),
        |_| Ok(ExprType::bigint(20).nullable()),
        |args, context| {
            let (database, name) = sequence_name(args, context)?;
            let functions = context.session.services.functions.clone();
            Ok(Value::Int(functions.next_value(
                context.session,
                &database,
                &name,
            )?))
        },
    ),
    volatile(
        "lastval",
        (2, 2),
        |_| Ok(ExprType::bigint(20).nullable()),
        |args, context| {
            let (database, name) = sequence_name(args, context)?;
            let functions = context.session.services.functions.clone();
            let last = functions.last_value(context.session, &database, &name)?;
            Ok(last.map_or(Value::Null, Value::Int))
        },
    ),
    volatile(
        "setval",
        (5, 5),
        |_| Ok(ExprType::bigint(20).nullable()),
        eval_setval,
    ),
    volatile(
        "load_file",
        (1, 1),
        |_| Ok(ExprType::bytes(u64::from(u32::MAX)).nullable()),
        eval_load_file,
    )
    .depending_on_server(),
    steady(
        "database",
        (0, 0),
        |_| Ok(system_text(64).nullable()),
        |_, context| Ok(context.session.database.clone().map_or(Value::Null, Value::Text)),
    )
    .without_own_text(),
    steady(
        "schema",
        (0, 0),
        |_| Ok(system_text(64).nullable()),
        |_, context| Ok(context.session.database.clone().map_or(Value::Null, Value::Text)),
    )
    .without_own_text(),
    steady("user", (0, 0), |_| Ok(system_text(384).nullable()), eval_user)
        .depending_on_server()
        .without_own_text(),
    steady(
        "session_user",
        (0, 0),
        |_| Ok(system_text(384).nullable()),
        eval_user,
    )
    .depending_on_server()
    .without_own_text(),
    steady(
        "system_user",
        (0, 0),
        |_| Ok(system_text(384).nullable()),
        eval_user,
    )
    .depending_on_server()
    .without_own_text(),
    steady(
        "current_user",
        (0, 0),
        |_| Ok(system_text(384).nullable()),
        |_, context| Ok(Value::Text(context.session.current_user.to_string())),
    )
    .depending_on_server()
    .without_own_text(),
    steady(
        "current_role",
        (0, 0),
        |_| Ok(system_text(128).nullable()),
        |_, context| {
            let role = context.session.current_role.clone();
            Ok(role.map_or(Value::Null, Value::Text))
        },
    )
    .depending_on_server()
    .without_own_text(),
    steady(
        "version",
        (0, 0),
        |_| Ok(system_text(60)),
        |_, context| Ok(Value::Text(context.session.services.functions.version())),
    )
    .depending_on_server()
    .without_own_text(),
    steady(
        "connection_id",
        (0, 0),
        |_| Ok(ExprType::int32(10)),
        |_, context| Ok(Value::Int(context.session.connection_id as i64)),
    ),
    steady(
        "last_insert_id",
        (0, 1),
        |call| Ok(call.with_nullability(ExprType::bigint_unsigned(20))),
        eval_last_insert_id,
    ),
    steady(
        "row_count",
        (0, 0),
        |_| Ok(ExprType::bigint(21)),
        |_, context| Ok(Value::Int(context.session.row_count)),
    )
    .depending_on_server(),
    steady(
        "found_rows",
        (0, 0),
        |_| Ok(ExprType::bigint(21)),
        |_, context| Ok(Value::Int(context.session.found_rows as i64)),
    )
    .depending_on_server(),
    volatile(
        "benchmark",
        (2, 2),
        |_| Ok(ExprType::int(1).nullable()),
        eval_benchmark,
    ),
    volatile("sleep", (1, 1), |_| Ok(ExprType::int(1)), eval_sleep).depending_on_server(),
    volatile(
        "get_lock",
        (2, 2),
        |_| Ok(ExprType::int(1).nullable()),
        eval_get_lock,
    )
    .depending_on_server(),
    volatile(
        "release_lock",
        (1, 1),
        |_| Ok(ExprType::int(1).nullable()),
        eval_release_lock,
    )
    .depending_on_server(),
    volatile(
        "release_all_locks",
        (0, 0),
        |_| Ok(ExprType::int(10)),
        |_, context| {
            let functions = context.session.services.functions.clone();
            Ok(Value::Int(functions.release_all_locks(context.session) as i64))
        },
    )
    .depending_on_server(),
    volatile(
        "is_free_lock",
        (1, 1),
        |_| Ok(ExprType::int(1).nullable()),
        |args, context| {
            let name = some!(args.text(0, context)?);
            let functions = context.session.services.functions.clone();
            Ok(Value::Int(i64::from(
                functions.lock_holder(context.session, &name).is_none(),
            )))
        },
    )
    .depending_on_server(),
    volatile(
        "is_used_lock",
        (1, 1),
        |_| Ok(ExprType::int(10).nullable()),
        |args, context| {
            let name = some!(args.text(0, context)?);
            let functions = context.session.services.functions.clone();
            Ok(functions
                .lock_holder(context.session, &name)
                .map_or(Value::Null, |id| Value::Int(id as i64)))
        },
    )
    .depending_on_server(),
    volatile(
        "binlog_gtid_pos",
        (2, 2),
        |call| Ok(call.connection_text(255).nullable()),
        eval_binlog_gtid_pos,
    )
    .depending_on_server(),
    volatile(
        "master_gtid_wait",
        (1, 2),
        |_| Ok(ExprType::int(2).nullable()),
        eval_master_gtid_wait,
    )
    .depending_on_server(),
    volatile(
        "master_pos_wait",
        (2, 4),
        |_| Ok(ExprType::int(21).nullable()),
        eval_master_pos_wait,
    )
    .depending_on_server(),
    pure(
        "charset",
        (1, 1),
        |_| Ok(system_text(64).nullable()),
        |args, context| {
            let _ = context;
            Ok(Value::Text(
                args.ty_of(0).shown_collation().charset().name().to_owned(),
            ))
        },
    )
    .without_own_text(),
    pure(
        "collation",
        (1, 1),
        |_| Ok(system_text(64).nullable()),
        |args, context| {
            let _ = context;
            Ok(Value::Text(args.ty_of(0).shown_collation().name().to_owned()))
        },
    )
    .without_own_text(),
    pure(
        "coercibility",
        (1, 1),
        |_| Ok(ExprType::int(10)),
        |args, context| Ok(Value::Int(argument_collation(args, context).1 as i64)),
    ),
];

/// Returns a text type with the character set of system constants.
fn system_text(characters: u64) -> ExprType {
    ExprType::text(characters, Charset::Utf8mb3.default_collation())
        .with_coercibility(Coercibility::SystemConstant)
}

fn argument_collation(args: &Args<'_>, context: &EvalContext<'_>) -> (Collation, Coercibility) {
    CollationMix::of_type(args.ty_of(0), context.session.settings.collation_connection)
}

fn eval_user(_args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    Ok(Value::Text(context.session.user.to_string()))
}

/// Returns the first two arguments: database and name of a sequence.
fn sequence_name(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<(String, String)> {
    let mut text = |index: usize| {
        Ok::<_, crate::Error>(match args.value(index, context)?.into_owned() {
            Value::Text(text) => text,
            _ => String::new(),
        })
    };
    Ok((text(0)?, text(1)?))
}

fn eval_setval(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let (database, name) = sequence_name(args, context)?;
    let mut number = |index: usize| {
        Ok::<_, crate::Error>(match args.value(index, context)?.into_owned() {
            Value::Int(number) => number,
            // The same 64 bits.
            Value::UInt(number) => number as i64,
            _ => 0,
        })
    };
    let (value, is_used, round) = (number(2)?, number(3)? != 0, number(4)? as u64);
    let functions = context.session.services.functions.clone();
    let set = functions.set_value(
        context.session,
        &database,
        &name,
        SequenceSet {
            value,
            is_used,
            round,
        },
    )?;
    Ok(match set {
        true => Value::Int(value),
        false => Value::Null,
    })
}

fn eval_last_insert_id(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    if args.len() == 0 {
        return Ok(Value::UInt(context.session.last_insert_id));
    }
    let value = args.wide_int(0, context)?;
    let id = value.map_or(0, |value| value as u64);
    context.session.last_insert_id = id;
    context.session.statement.explicit_last_insert_id = Some(id);
    Ok(value.map_or(Value::Null, |_| Value::UInt(id)))
}

fn eval_benchmark(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let count = some!(args.int(0, context)?);
    if count < 0 {
        return Ok(Value::Null);
    }
    let functions = context.session.services.functions.clone();
    for round in 0..count {
        args.value(1, context)?;
        if round % 1024 == 0 {
            functions.check_interrupt(context.session)?;
        }
    }
    Ok(Value::Int(0))
}

fn eval_sleep(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let seconds = args.double(0, context)?.unwrap_or(0.0).max(0.0);
    if seconds < 0.00001 {
        return Ok(Value::Int(0));
    }
    let functions = context.session.services.functions.clone();
    let duration = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
    let interrupted = functions.sleep(context.session, duration) == WaitOutcome::Interrupted;
    functions.check_interrupt(context.session)?;
    Ok(Value::Int(i64::from(interrupted)))
}

fn eval_get_lock(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let name = some!(args.text(0, context)?);
    let timeout = some!(args.double(1, context)?);
    let functions = context.session.services.functions.clone();
    Ok(match functions.get_lock(context.session, &name, timeout)? {
        WaitOutcome::Done => Value::Int(1),
        WaitOutcome::Elapsed => Value::Int(0),
        WaitOutcome::Interrupted => Value::Null,
    })
}

fn eval_release_lock(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let name = some!(args.text(0, context)?);
    let functions = context.session.services.functions.clone();
    Ok(functions
        .release_lock(context.session, &name)
        .map_or(Value::Null, |held| Value::Int(i64::from(held))))
}

fn eval_binlog_gtid_pos(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let file = some!(args.text(0, context)?);
    let offset = some!(args.int(1, context)?);
    let functions = context.session.services.functions.clone();
    let position = functions.binlog_gtid_pos(context.session, &file, offset.max(0) as u64)?;
    Ok(position.map_or(Value::Null, Value::Text))
}

fn eval_master_pos_wait(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let file = some!(args.text(0, context)?);
    let offset = args.int(1, context)?.unwrap_or(0);
    let timeout = match args.len() > 2 {
        true => args.int(2, context)?.unwrap_or(0),
        false => 0,
    };
    let connection = match args.len() > 3 {
        true => Some(some!(args.text(3, context)?)),
        false => None,
    };
    if file.is_empty() || offset < 0 {
        return Ok(Value::Null);
    }
    let functions = context.session.services.functions.clone();
    let wait = PlaceWait {
        file: &file,
        offset: offset as u64,
        timeout: u64::try_from(timeout)
            .ok()
            .filter(|seconds| *seconds > 0)
            .map(Duration::from_secs),
        connection: connection.as_deref(),
    };
    match functions.master_pos_wait(context.session, &wait)? {
        SourceWaitOutcome::Done(moves) => Ok(Value::Int(moves)),
        SourceWaitOutcome::InVain => Ok(Value::Null),
        SourceWaitOutcome::NoConnection(name) => {
            let message = format!("There is no master connection '{name}'");
            context.warn(WARN_NO_MASTER_INFO, message)?;
            Ok(Value::Null)
        }
    }
}

fn eval_master_gtid_wait(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let position = some!(args.text(0, context)?);
    let timeout = if args.len() > 1 {
        args.double(1, context)?.filter(|seconds| *seconds >= 0.0)
    } else {
        None
    };
    let functions = context.session.services.functions.clone();
    functions
        .master_gtid_wait(context.session, &position, timeout)
        .map(Value::Int)
}

/// Reads a file. Whatever is in the way, the account's privileges included, the result is NULL, as in MariaDB.
fn eval_load_file(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let name = some!(args.text(0, context)?);
    let functions = context.session.services.functions.clone();
    let path = some!(functions.readable_file(context.session, &name));
    let Ok(metadata) = std::fs::metadata(&path) else {
        return Ok(Value::Null);
    };
    if !metadata.is_file() || metadata.permissions().mode() & OTHERS_READ == 0 {
        return Ok(Value::Null);
    }
    if overflows(usize::try_from(metadata.len()).unwrap_or(usize::MAX), context) {
        return too_long(args, context);
    }
    match std::fs::read(&path) {
        Ok(bytes) => within_packet(Value::Bytes(bytes), args, context),
        Err(_) => Ok(Value::Null),
    }
}

/// Permission that makes a file readable by all users: MariaDB reads no other files.
const OTHERS_READ: u32 = 0o004;
