//! ROUTINES, PARAMETERS and TRIGGERS; `mysql.proc`.

use std::sync::Arc;

use paceline_catalog::{RoutineDefinition, TriggerDefinition};
use paceline_expression::session::{SessionContext, WantedRows};
use paceline_query::program::VariableTypes;
use paceline_syntax::{Aggregation, RoutineParameter, RoutineType, TriggerEvent, TriggerTime};
use paceline_types::{Collation, DataType, Timestamp, Value};

use super::database::CATALOG;
use super::privileges::RoutineAccess;
use super::session_time;
use super::shown_column::{Measures, bare_name};
use super::sources::Sources;
use crate::cells::{Row, number, number_or_null, text, text_or_null};

/// Columns that contain the name of a routine's database, its name, and its type.
const DATABASE_COLUMNS: [&str; 3] = ["ROUTINE_SCHEMA", "SPECIFIC_SCHEMA", "db"];
const NAME_COLUMNS: [&str; 3] = ["ROUTINE_NAME", "SPECIFIC_NAME", "name"];
const TYPE_COLUMNS: [&str; 2] = ["ROUTINE_TYPE", "type"];

/// Returns the wanted routines that the session may see, by database and name as MariaDB's `mysql.proc` is ordered.
fn routines_seen(sources: &dyn Sources, wanted: &WantedRows) -> Vec<(Arc<RoutineDefinition>, RoutineAccess)> {
    let mut seen = Vec::new();
    for database in sources.catalog().databases() {
        if !wanted.admits(&DATABASE_COLUMNS, database.name()) {
            continue;
        }
        let first = seen.len();
        let of_names = database.routines().filter(|routine| {
            wanted.admits(&NAME_COLUMNS, &routine.name) && wanted.admits(&TYPE_COLUMNS, routine.kind.name())
        });
        seen.extend(
            of_names.filter_map(|routine| match sources.routine_access(routine) {
                RoutineAccess::Hidden => None,
                access => Some((Arc::clone(routine), access)),
            }),
        );
        // FUNCTION comes before PROCEDURE in MariaDB.
        seen[first..].sort_by_cached_key(|(routine, _)| {
            let is_procedure = routine.kind == RoutineType::Procedure;
            let mut name = Vec::new();
            Collation::Utf8mb3GeneralCi.append_sort_key(&routine.name, None, &mut name);
            (name, is_procedure)
        });
    }
    seen
}

fn definer((user, host): &(String, String)) -> Value {
    text(format!("{user}@{host}"))
}

/// Returns the definer of a routine. MariaDB shows a role without `@` here.
fn routine_definer(of: &(String, String)) -> Value {
    match of.1.is_empty() {
        true => text(&*of.0),
        false => definer(of),
    }
}

/// Returns the columns DATA_TYPE to DTD_IDENTIFIER, of which the lengths are of 32 bits.
fn type_columns(data_type: Option<&DataType>) -> [Value; 9] {
    let Some(data_type) = data_type else {
        let mut columns = [const { Value::Null }; 9];
        columns[0] = text("");
        return columns;
    };
    let measures = Measures::of(data_type);
    let length = |value: Option<u64>| number_or_null(value.map(|value| value.min(i32::MAX as u64)));
    let has_text = data_type.is_text() || matches!(data_type, DataType::Enum { .. } | DataType::Set { .. });
    let collation = has_text.then(|| data_type.collation());
    [
        text(bare_name(data_type)),
        length(measures.characters),
        length(measures.bytes),
        length(measures.precision),
        length(measures.scale),
        number_or_null(measures.fraction),
        text_or_null(collation.map(|collation| collation.charset().name())),
        text_or_null(collation.map(Collation::name)),
        text(data_type.to_string()),
    ]
}

/// Types of a routine's parameters and of its value.
struct RoutineTypes {
    parameters: Vec<(RoutineParameter, String, DataType)>,
    returns: Option<DataType>,
}

/// Returns the types, or `None` if this version cannot compile the routine.
fn types(sources: &dyn Sources, routine: &RoutineDefinition) -> Option<RoutineTypes> {
    let compiled = routine.compiled().ok()?;
    let mut session = SessionContext::new(0, Default::default());
    session.settings.sql_mode = routine.environment.sql_mode();
    let collation = Collation::from_name(&routine.environment.collation_database)?;
    session.settings.collation_database = collation;
    session.database = Some(routine.database.clone());
    let own = &compiled.code.variables()[..compiled.code.parameters()];
    let resolved = VariableTypes::resolve(own, None, &sources.catalog(), &mut session).ok()?;
    let types = resolved.of_expressions();
    let named = compiled.parameters.iter().zip(own).enumerate();
    let parameters = named.map(|(number, (mode, variable))| {
        let data_type = types.get(number)?.data_type.clone();
        Some((*mode, variable.name.clone(), data_type))
    });
    Some(RoutineTypes {
        parameters: parameters.collect::<Option<_>>()?,
        returns: compiled.returns.clone(),
    })
}

pub(super) fn routines(sources: &dyn Sources, wanted: &WantedRows) -> Vec<Row> {
    const OF_TYPE: [&str; 9] = [
        "DATA_TYPE",
        "CHARACTER_MAXIMUM_LENGTH",
        "CHARACTER_OCTET_LENGTH",
        "NUMERIC_PRECISION",
        "NUMERIC_SCALE",
        "DATETIME_PRECISION",
        "CHARACTER_SET_NAME",
        "COLLATION_NAME",
        "DTD_IDENTIFIER",
    ];
    let reads_type = wanted.reads(&OF_TYPE);
    let seen = routines_seen(sources, wanted).into_iter();
    seen.map(|(routine, access)| {
        let returns = match routine.kind {
            RoutineType::Function if reads_type => types(sources, &routine).and_then(|types| types.returns),
            _ => None,
        };
        let mut row = vec![
            text(&*routine.name),
            text(CATALOG),
            text(&*routine.database),
            text(&*routine.name),
            text(routine.kind.name()),
        ];
        row.extend(type_columns(returns.as_ref()));
        row.extend([
            text("SQL"),
            text_or_null((access == RoutineAccess::Whole).then(|| &*routine.body)),
            Value::Null,
            Value::Null,
            text("SQL"),
            text(if routine.deterministic { "YES" } else { "NO" }),
            text(routine.data_access.name()),
            Value::Null,
            text(routine.security.name()),
            session_time::of_seconds(sources, routine.created_seconds),
            session_time::of_seconds(sources, routine.modified_seconds),
            text(routine.environment.sql_mode().to_string()),
            text(&*routine.comment),
            routine_definer(&routine.definer),
            text(&*routine.environment.character_set_client),
            text(&*routine.environment.collation_connection),
            text(&*routine.environment.collation_database),
        ]);
        row
    })
    .collect()
}

/// Returns a row for each parameter, and one with the number 0 for a function's value.
pub(super) fn parameters(sources: &dyn Sources, wanted: &WantedRows) -> Vec<Row> {
    let mut rows = Vec::new();
    for (routine, _) in routines_seen(sources, wanted) {
        let Some(types) = types(sources, &routine) else {
            continue;
        };
        let mut push = |position: usize, mode: Value, name: Value, data_type: &DataType| {
            let mut row = vec![
                text(CATALOG),
                text(&*routine.database),
                text(&*routine.name),
                number(position as u64),
                mode,
                name,
            ];
            row.extend(type_columns(Some(data_type)));
            row.push(text(routine.kind.name()));
            rows.push(row);
        };
        if let Some(returns) = &types.returns {
            push(0, Value::Null, Value::Null, returns);
        }
        for (position, (mode, name, data_type)) in (1..).zip(&types.parameters) {
            let mode = match mode {
                RoutineParameter::In => "IN",
                RoutineParameter::Out => "OUT",
                RoutineParameter::InOut => "INOUT",
            };
            push(position, text(mode), text(name), data_type);
        }
    }
    rows
}

/// Returns the rows of `mysql.proc`.
pub(crate) fn proc(sources: &dyn Sources, wanted: &WantedRows) -> Vec<Row> {
    let timestamp =
        |seconds: i64| Value::Timestamp(Timestamp::new(u32::try_from(seconds).unwrap_or(0), 0, 0));
    let blob = |value: &str| Value::Bytes(value.as_bytes().to_vec());
    let seen = routines_seen(sources, wanted).into_iter();
    seen.map(|(routine, _)| {
        vec![
            text(&*routine.database),
            text(&*routine.name),
            text(routine.kind.name()),
            text(&*routine.name),
            text("SQL"),
            text(routine.data_access.name().replace(' ', "_")),
            text(if routine.deterministic { "YES" } else { "NO" }),
            text(routine.security.name()),
            blob(&routine.parameters),
            blob(&routine.returns),
            blob(&routine.body),
            routine_definer(&routine.definer),
            timestamp(routine.created_seconds),
            timestamp(routine.modified_seconds),
            text(routine.environment.sql_mode().to_string()),
            text(&*routine.comment),
            text(&*routine.environment.character_set_client),
            text(&*routine.environment.collation_connection),
            text(&*routine.environment.collation_database),
            blob(&routine.body),
            text(match routine.aggregation {
                Aggregation::None => "NONE",
                Aggregation::Group => "GROUP",
            }),
        ]
    })
    .collect()
}

/// Returns the time of a trigger's creation in the session's zone, in hundredths of a second.
pub(crate) fn trigger_time(trigger: &TriggerDefinition, zone: &paceline_types::temporal::TimeZone) -> Value {
    let (seconds, micros) = (
        trigger.created_micros.div_euclid(1_000_000),
        trigger.created_micros.rem_euclid(1_000_000),
    );
    u32::try_from(seconds).map_or(Value::Null, |seconds| {
        let hundredths = micros as u32 / 10_000 * 10_000;
        Value::DateTime(Timestamp::new(seconds, hundredths, 2).to_datetime(zone))
    })
}

/// Returns the triggers, by table, event and time as in MariaDB.
pub(super) fn triggers(sources: &dyn Sources, wanted: &WantedRows) -> Vec<Row> {
    const DATABASES: [&str; 2] = ["TRIGGER_SCHEMA", "EVENT_OBJECT_SCHEMA"];
    let zone = sources.time_zone();
    let mut rows = Vec::new();
    for database in sources.catalog().databases() {
        if !wanted.admits(&DATABASES, database.name()) {
            continue;
        }
        let tables = database.tables();
        for table in tables.filter(|table| wanted.admits(&["EVENT_OBJECT_TABLE"], table.name())) {
            if table.triggers().all().is_empty() || !sources.may_see_triggers(database.name(), table.name()) {
                continue;
            }
            for event in [TriggerEvent::Insert, TriggerEvent::Update, TriggerEvent::Delete] {
                let times = [TriggerTime::Before, TriggerTime::After];
                let own = times.iter().flat_map(|time| table.triggers().of(*time, event));
                let own = own.filter(|trigger| wanted.admits(&["TRIGGER_NAME"], &trigger.name));
                rows.extend(own.map(|trigger| {
                    vec![
                        text(CATALOG),
                        text(&*trigger.database),
                        text(&*trigger.name),
                        text(trigger.event.name()),
                        text(CATALOG),
                        text(&*trigger.database),
                        text(&*trigger.table),
                        number(trigger.order.into()),
                        Value::Null,
                        text(&*trigger.body),
                        text("ROW"),
                        text(trigger.time.name()),
                        Value::Null,
                        Value::Null,
                        text("OLD"),
                        text("NEW"),
                        trigger_time(trigger, &zone),
                        text(trigger.environment.sql_mode().to_string()),
                        definer(&trigger.definer),
                        text(&*trigger.environment.character_set_client),
                        text(&*trigger.environment.collation_connection),
                        text(&*trigger.environment.collation_database),
                    ]
                }));
            }
        }
    }
    rows
}
