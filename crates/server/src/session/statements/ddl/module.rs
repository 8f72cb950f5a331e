//! Modules of functions in WebAssembly (`LANGUAGE WASM AS …`) when they are created.
//!
//! A file is read here, and the statement that is logged and stored has its content: replicas have no such file, and a
//! later change of it must not change the function.

use crate::modules::MODULE_BYTES_MAX;
use crate::session::files::{FileProblem, named_file};
use crate::session::state::SessionState;
use paceline_catalog::{ProgramEnvironment, RoutineDefinition, RoutineDescription, ViewSecurity};
use paceline_expression::session::Privilege;
use paceline_syntax::{DdlStatement, Error, ModuleSource, Result, Routine, RoutineKind};
use paceline_types::Version;
use paceline_types::error_code::ER_CANT_INITIALIZE_UDF;
use std::fmt::Write;
use std::io::Read;

/// Maximum number of bytes of a module's file.
const FILE_BYTES_MAX: u64 = MODULE_BYTES_MAX as u64;

/// Returns the statement with the content of the file that it names. `None` if it names none.
///
/// # Errors
/// 1227 without FILE; 1290 for a file that statements must not read; 29 and others if it cannot be read.
pub fn read_module(ddl: &DdlStatement, state: &SessionState) -> Result<Option<DdlStatement>> {
    let DdlStatement::CreateRoutine(routine) = ddl else {
        return Ok(None);
    };
    let Some(ModuleSource::File(name)) = &routine.module else {
        return Ok(None);
    };
    state.services.require_any(&[Privilege::File])?;
    let path = named_file(name, state.context.database.as_deref(), &state.server.globals)?;
    let bytes = tokio::task::block_in_place(|| {
        let file = std::fs::File::open(&path).map_err(|error| FileProblem::Open.error(&path, &error))?;
        let mut bytes = Vec::new();
        file.take(FILE_BYTES_MAX + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| FileProblem::Read.error(&path, &error))?;
        Ok::<_, Error>(bytes)
    })?;
    let mut routine = routine.clone();
    routine.body_text = "LANGUAGE WASM AS x'".to_owned();
    for byte in &bytes {
        let _ = write!(routine.body_text, "{byte:02x}");
    }
    routine.body_text.push('\'');
    routine.module = Some(ModuleSource::Bytes(bytes));
    Ok(Some(DdlStatement::CreateRoutine(routine)))
}

/// Checks the module of a new function. A replica and recovery take what the primary has checked: they may have another
/// limit, or no compiler.
///
/// # Errors
/// 1123 with the reason; 1289 without a compiler.
pub fn check_module(routine: &Routine, state: &SessionState) -> Result<()> {
    let RoutineKind::Function { returns_text, .. } = &routine.kind else {
        return Ok(());
    };
    if routine.module.is_none() || state.services.transaction.lock().replicated.is_some() {
        return Ok(());
    }
    let context = &state.context;
    let database = routine.name.database.as_deref().or(context.database.as_deref());
    let collation = context.settings.collation_database.name();
    let description = RoutineDescription {
        database: database.unwrap_or_default().to_owned(),
        name: routine.name.name.clone(),
        kind: routine.kind.routine_type(),
        parameters: routine.parameters_text.clone(),
        returns: returns_text.clone(),
        body: routine.body_text.clone(),
        comment: String::new(),
        deterministic: false,
        data_access: Default::default(),
        aggregation: Default::default(),
        security: ViewSecurity::default(),
        definer: Default::default(),
        environment: ProgramEnvironment::of(context, collation),
        created_seconds: 0,
        modified_seconds: 0,
    };
    let definition = RoutineDefinition::new(description, Version::ZERO);
    let compiled = definition.compiled()?;
    let Some(module) = &compiled.module else {
        return Err(Error::new(
            ER_CANT_INITIALIZE_UDF,
            &[&routine.name.name, &"the module cannot be read again"],
        ));
    };
    let modules = &state.server.modules;
    tokio::task::block_in_place(|| modules.check(&definition, module, &state.server.globals))
}
