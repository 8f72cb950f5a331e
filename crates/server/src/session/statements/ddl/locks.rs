//! Metadata locks of DDL.

use crate::errors::of_transaction;
use crate::session::state::SessionState;
use paceline_catalog::ddl::{
    DdlNeed, DdlObject, ProgramName, ProgramNameKind, ddl_objects, foreign_key_names, program_names,
    read_ddl_objects, related_ddl_objects,
};
use paceline_syntax::{DdlStatement, Result};
use paceline_txn::{MetadataGuard, MetadataMode, MetadataObject};

/// Returns the objects that a statement defines, those related to them by foreign keys, and those that it reads. They
/// are sorted and without duplicates.
pub fn objects_to_lock(ddl: &DdlStatement, state: &SessionState) -> Result<Vec<DdlObject>> {
    let (catalog, database) = (state.catalog(), state.context.database.as_deref());
    let mut objects = ddl_objects(ddl, &catalog, database)?;
    objects.extend(related_ddl_objects(ddl, &objects, &catalog, database));
    objects.extend(read_ddl_objects(ddl, &catalog, database));
    objects.sort();
    // A defined object precedes the same object that is read.
    objects.dedup_by(|later, first| (&later.database, &later.table) == (&first.database, &first.table));
    Ok(objects)
}

/// Takes the metadata locks: exclusive locks on the defined objects, and the lock that conflicts with FLUSH TABLES WITH
/// READ LOCK.
pub fn lock_objects(objects: &[DdlObject], state: &SessionState) -> Result<Vec<MetadataGuard>> {
    let timeout = state.context.settings.metadata_lock_wait_timeout;
    let lock = |object: MetadataObject<'_>, mode: MetadataMode| {
        state
            .services
            .locks
            .lock_metadata(object, mode, timeout)
            .map_err(|error| of_transaction(&error))
    };
    let mut guards = vec![lock(MetadataObject::Global, MetadataMode::Write)?];
    for object in objects {
        let Some(table) = &object.table else {
            let mode = match object.need {
                DdlNeed::Defined => MetadataMode::Exclusive,
                DdlNeed::Read => MetadataMode::Read,
            };
            guards.push(lock(MetadataObject::Database(&object.database), mode)?);
            continue;
        };
        guards.push(lock(
            MetadataObject::Database(&object.database),
            MetadataMode::Read,
        )?);
        guards.push(lock(
            MetadataObject::Table {
                database: &object.database,
                table,
            },
            match object.need {
                DdlNeed::Defined => MetadataMode::Exclusive,
                DdlNeed::Read => MetadataMode::Read,
            },
        )?);
    }
    Ok(guards)
}

/// Locks the names of new foreign keys, of routines and of events until the statement is published.
pub fn lock_names(ddl: &DdlStatement, state: &SessionState) -> Result<Vec<MetadataGuard>> {
    let timeout = state.context.settings.metadata_lock_wait_timeout;
    let names = foreign_key_names(ddl, &state.catalog(), state.context.database.as_deref());
    let lock = |(database, name): &(String, String)| {
        let object = MetadataObject::ForeignKeyName { database, name };
        let locked = state
            .services
            .locks
            .lock_metadata(object, MetadataMode::Exclusive, timeout);
        locked.map_err(|error| of_transaction(&error))
    };
    let mut guards: Vec<MetadataGuard> = names.iter().map(lock).collect::<Result<_>>()?;
    for ProgramName { database, name, kind } in program_names(ddl, state.context.database.as_deref()) {
        let (database, name) = (&*database, &*name);
        let object = match kind {
            ProgramNameKind::Routine => MetadataObject::Routine { database, name },
            ProgramNameKind::Event => MetadataObject::Event { database, name },
        };
        let locked = state
            .services
            .locks
            .lock_metadata(object, MetadataMode::Exclusive, timeout);
        guards.push(locked.map_err(|error| of_transaction(&error))?);
    }
    Ok(guards)
}
