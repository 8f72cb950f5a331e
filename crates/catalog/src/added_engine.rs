//! Engines that the program has added, in the catalog's records: by name, which the program must know.

use paceline_storage::{AddedEngine, EngineKind, engine_types};
use paceline_types::error_code::ER_UNKNOWN_STORAGE_ENGINE;
use serde::{Deserialize, Deserializer, Serializer, de};

use crate::error::{Error, Result};
use crate::{TableDefinition, TableEngine};

/// Writes the name.
pub(crate) fn serialize<S: Serializer>(engine: &AddedEngine, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(TableEngine::Added(*engine).name())
}

/// Reads the name.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<AddedEngine, D::Error> {
    let name = String::deserialize(deserializer)?;
    let found = engine_types().find_map(|(kind, engine_type)| match kind {
        EngineKind::Added(engine) if engine_type.name() == name => Some(engine),
        _ => None,
    });
    found.ok_or_else(|| de::Error::custom(format!("there is no engine {name}")))
}

/// Returns the error for a table's record that names an engine that the program does not have; `None` if the record is
/// unreadable for another reason.
pub(crate) fn absent_engine(record: &[u8]) -> Option<Error> {
    #[derive(Deserialize)]
    struct Named {
        database: String,
        name: String,
        engine: NamedEngine,
    }
    #[derive(Deserialize)]
    enum NamedEngine {
        Added(String),
    }
    let table: Named = serde_json::from_slice(record).ok()?;
    let NamedEngine::Added(engine) = table.engine;
    let is_known = engine_types().any(|(_, known)| known.name() == engine);
    (!is_known).then(|| {
        Error::with_message(
            ER_UNKNOWN_STORAGE_ENGINE,
            format!(
                "table `{}`.`{}` has the engine {engine}, which this program does not have",
                table.database, table.name
            ),
        )
    })
}

/// Checks that the keys of a table belong to its engine: the program must add it under the number that it had when the
/// table was made.
///
/// # Errors
/// 1286.
pub(crate) fn check_number(table: &TableDefinition) -> Result<()> {
    let TableEngine::Added(_) = table.engine else {
        return Ok(());
    };
    match table
        .schema()
        .index_ids()
        .find(|id| id.engine() != table.engine.kind())
    {
        None => Ok(()),
        Some(id) => Err(Error::with_message(
            ER_UNKNOWN_STORAGE_ENGINE,
            format!(
                "table `{}`.`{}` has index {id}: the program has added the engine {} under another number",
                table.database(),
                table.name(),
                table.engine.name()
            ),
        )),
    }
}
