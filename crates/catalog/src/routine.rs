//! Stored procedures and functions.
//!
//! A routine is stored as the parts of its text. The text is parsed and compiled at the first call, not when the
//! catalog is read: a body that this version cannot parse fails its calls (1457) and not the start of the server.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use paceline_program::Code;
use paceline_types::error_code::{ER_SP_PROC_TABLE_CORRUPT, ER_SP_WRONG_NO_OF_ARGS};
use paceline_types::{Charset, Collation, DataType, Version};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use paceline_expression::session::{Services, SessionContext, SqlMode};
use paceline_syntax::definition::{DdlStatement, TypeSpec, ViewSecurity};
use paceline_syntax::{
    Aggregation, DataAccess, ModuleSource, ParseOptions, Routine, RoutineKind, RoutineParameter, RoutineType,
    Statement, VariableKind, parse_first,
};

/// Settings of the session that created a stored program, under which it is parsed and executed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)] // A field whose name says all needs no comment.
pub struct ProgramEnvironment {
    /// Bits of the SQL mode.
    pub sql_mode: u64,
    pub character_set_client: String,
    pub collation_connection: String,
    /// Collation of the program's database at its creation: of texts that name none.
    pub collation_database: String,
}

impl ProgramEnvironment {
    /// Returns the settings of a session, for a program in a database with this collation.
    pub fn of(session: &SessionContext, collation_database: &str) -> Self {
        let settings = &session.settings;
        ProgramEnvironment {
            sql_mode: settings.sql_mode.bits(),
            character_set_client: settings.character_set_client.name().to_owned(),
            collation_connection: settings.collation_connection.name().to_owned(),
            collation_database: collation_database.to_owned(),
        }
    }

    /// Returns the settings by value. A name that this version does not know leaves the setting of the caller.
    pub fn settings(&self) -> ProgramSettings {
        ProgramSettings {
            sql_mode: self.sql_mode(),
            character_set_client: Charset::from_name(&self.character_set_client),
            collation_connection: Collation::from_name(&self.collation_connection),
            collation_database: Collation::from_name(&self.collation_database),
        }
    }

    /// Returns the SQL mode.
    pub fn sql_mode(&self) -> SqlMode {
        SqlMode::from_bits(self.sql_mode)
    }

    /// Returns the options for parsing the program.
    pub(crate) fn parse_options(&self) -> ParseOptions {
        ParseOptions {
            sql_mode: self.sql_mode(),
            ..ParseOptions::of_stored()
        }
    }
}

/// A [`ProgramEnvironment`] by value.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)] // A field whose name says all needs no comment.
pub struct ProgramSettings {
    pub sql_mode: SqlMode,
    pub character_set_client: Option<Charset>,
    pub collation_connection: Option<Collation>,
    pub collation_database: Option<Collation>,
}

/// A procedure or function in the form of its catalog record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)] // A field whose name says all needs no comment.
pub struct RoutineDescription {
    pub database: String,
    pub name: String,
    pub kind: RoutineType,
    /// Text of the parameters, without the parentheses.
    pub parameters: String,
    /// Type of a function's value, in the form that MariaDB shows; empty for a procedure.
    pub returns: String,
    /// Text of the body.
    pub body: String,
    pub comment: String,
    pub deterministic: bool,
    pub data_access: DataAccess,
    /// Of a function: whether it is called for groups.
    #[serde(default)]
    pub aggregation: Aggregation,
    pub security: ViewSecurity,
    /// `DEFINER`: user and host.
    pub definer: (String, String),
    pub environment: ProgramEnvironment,
    /// Time of creation in seconds since 1970.
    pub created_seconds: i64,
    /// Time of the last change in seconds since 1970.
    pub modified_seconds: i64,
}

/// Definition of a routine as the rest of the server uses it. Immutable; dereferences to its [`RoutineDescription`].
pub struct RoutineDefinition {
    description: RoutineDescription,
    version: Version,
    full_name: String,
    call_name: Arc<str>,
    compiled: OnceLock<Result<Arc<CompiledRoutine>>>,
}

/// A routine that is ready to be called.
#[derive(Debug)]
#[allow(missing_docs)] // A field whose name says all needs no comment.
pub struct CompiledRoutine {
    pub code: Arc<Code>,
    pub settings: ProgramSettings,
    pub parameters: Vec<RoutineParameter>,
    /// Type of a function's value.
    pub returns: Option<DataType>,
    /// Code of a function that is not SQL.
    pub module: Option<RoutineModule>,
}

/// A function's code in WebAssembly.
#[derive(Debug)]
pub struct RoutineModule {
    /// The module, in the binary format or as text.
    pub bytes: Vec<u8>,
    /// Types of the parameters.
    pub parameters: Vec<DataType>,
}

impl RoutineDefinition {
    /// Creates a definition. `version` is the log position of the description.
    pub fn new(description: RoutineDescription, version: Version) -> Self {
        let RoutineDescription {
            database, name, kind, ..
        } = &description;
        RoutineDefinition {
            full_name: format!("{database}.{name}"),
            call_name: format!("{} {database}.{}", kind.name(), name.to_lowercase()).into(),
            description,
            version,
            compiled: OnceLock::new(),
        }
    }

    /// Returns the description in the catalog record.
    pub fn description(&self) -> &RoutineDescription {
        &self.description
    }

    /// Returns the log position of its current definition.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Returns database and name, for messages.
    pub fn full_name(&self) -> &str {
        &self.full_name
    }

    /// Returns what identifies the routine among those that a session is executing.
    pub fn call_name(&self) -> &Arc<str> {
        &self.call_name
    }

    /// Returns the compiled routine.
    ///
    /// # Errors
    /// 1457 if this version cannot parse the text.
    pub fn compiled(&self) -> Result<Arc<CompiledRoutine>> {
        self.compiled.get_or_init(|| self.compile()).clone()
    }

    /// # Errors
    /// 1318 for another number of arguments than parameters.
    pub fn check_arguments(&self, compiled: &CompiledRoutine, arguments: usize) -> Result<()> {
        let parameters = compiled.parameters.len();
        match arguments == parameters {
            true => Ok(()),
            false => Err(Error::new(
                ER_SP_WRONG_NO_OF_ARGS,
                &[&self.kind.name(), &self.full_name, &parameters, &arguments],
            )),
        }
    }

    fn compile(&self) -> Result<Arc<CompiledRoutine>> {
        let text = self.parsed_text();
        let options = self.environment.parse_options();
        match parse_first(text.as_bytes(), &options).map(|parsed| parsed.statement) {
            Ok(Statement::Ddl(DdlStatement::CreateRoutine(routine))) => Ok(Arc::new(CompiledRoutine {
                module: self.module(&routine)?,
                code: Arc::new(Code::compile(&routine.program)),
                settings: self.environment.settings(),
                parameters: routine.parameters,
                returns: match routine.kind {
                    RoutineKind::Procedure => None,
                    RoutineKind::Function { returns, .. } => Some(self.returned_type(&returns)?),
                },
            })),
            _ => Err(Error::new(ER_SP_PROC_TABLE_CORRUPT, &[&self.full_name, &-6])),
        }
    }

    fn module(&self, routine: &Routine) -> Result<Option<RoutineModule>> {
        let bytes = match &routine.module {
            None => return Ok(None),
            Some(ModuleSource::Bytes(bytes)) => bytes.clone(),
            // A file is read when the function is created.
            Some(ModuleSource::File(_)) => {
                return Err(Error::new(ER_SP_PROC_TABLE_CORRUPT, &[&self.full_name, &-6]));
            }
        };
        let parameters = routine.program.variables.iter();
        let parameters = parameters.map(|parameter| match &parameter.kind {
            VariableKind::Typed(spec) => self.returned_type(spec),
            _ => Err(Error::unsupported("TYPE OF in a function that is not SQL")),
        });
        Ok(Some(RoutineModule {
            bytes,
            parameters: parameters.collect::<Result<_>>()?,
        }))
    }

    fn returned_type(&self, spec: &TypeSpec) -> Result<DataType> {
        let mut session = SessionContext::new(0, Services::default());
        session.settings.sql_mode = self.environment.sql_mode();
        let collation = Collation::from_name(&self.environment.collation_database);
        let collation = collation.unwrap_or(session.settings.collation_database);
        crate::column_type::resolve_type("", spec, collation, &mut session)
    }

    /// Returns a statement that creates the routine, for the parser. Its body begins in the same line as in SHOW
    /// CREATE, which has one for each characteristic: messages name lines.
    fn parsed_text(&self) -> String {
        let RoutineDescription {
            kind,
            parameters,
            returns,
            body,
            ..
        } = &self.description;
        let characteristics = [
            self.data_access != DataAccess::ContainsSql,
            self.deterministic,
            self.security == ViewSecurity::Invoker,
            !self.comment.is_empty(),
        ];
        let lines = "\n".repeat(1 + characteristics.iter().filter(|shown| **shown).count());
        match kind {
            RoutineType::Procedure => format!("CREATE PROCEDURE x({parameters}){lines}{body}"),
            RoutineType::Function => {
                let aggregate = match self.aggregation {
                    Aggregation::None => "",
                    Aggregation::Group => "AGGREGATE ",
                };
                format!("CREATE {aggregate}FUNCTION x({parameters}) RETURNS {returns}{lines}{body}")
            }
        }
    }
}

impl Deref for RoutineDefinition {
    type Target = RoutineDescription;

    fn deref(&self) -> &RoutineDescription {
        &self.description
    }
}

impl fmt::Debug for RoutineDefinition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RoutineDefinition")
            .field("description", &self.description)
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}
