//! The list of engines that this process knows.
//!
//! A program registers its engines before it opens its first database; from then on the list is fixed, so that
//! a key's engine is found without a lock. The number is chosen by the program, because two crates with engines
//! cannot know of each other. It is part of the stored definitions: the same program must keep it.

use std::sync::OnceLock;

use parking_lot::Mutex;

use crate::engine::{EngineType, Retention};
use crate::key::{AddedEngine, EngineKind};
use crate::memory_engine::MemoryType;
use crate::rowless_engine::BlackholeType;

/// Names that mean an engine already.
const RESERVED_NAMES: [&str; 10] = [
    "InnoDB",
    "XtraDB",
    "RocksDB",
    "MyISAM",
    "Aria",
    "MEMORY",
    "HEAP",
    "BLACKHOLE",
    "SEQUENCE",
    "binlog",
];
/// Most bytes of a name.
const NAME_BYTES_MAX: usize = 64;

static ADDED: [OnceLock<&'static dyn EngineType>; AddedEngine::COUNT] =
    [const { OnceLock::new() }; AddedEngine::COUNT];
/// Held while an engine is registered.
static STATE: Mutex<RegistryState> = Mutex::new(RegistryState::Open);

#[derive(Clone, Copy, PartialEq, Eq)]
enum RegistryState {
    Open,
    /// A database has been opened.
    Closed,
}

/// Reason why an engine cannot be registered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegistrationError {
    /// The process has opened a database already.
    #[error("engine {0}: a database is or was open in this process; engines are registered before")]
    TooLate(String),
    /// The name is not one that SQL can use unquoted.
    #[error("'{0}' is not the name of an engine: a letter, then letters, digits and underscores, at most 64")]
    InvalidName(String),
    /// An engine of that name exists.
    #[error("an engine with the name {0} exists already")]
    NameTaken(String),
    /// There is no such number.
    #[error("engine {name}: the number {number} is above 15")]
    InvalidNumber {
        /// Name of the engine.
        name: String,
        /// The number.
        number: u8,
    },
    /// Another engine has the number.
    #[error("engine {name}: the engine {holder} has the number {number} already")]
    NumberTaken {
        /// Name of the engine.
        name: String,
        /// The number.
        number: u8,
        /// Name of the engine that has it.
        holder: String,
    },
}

/// Adds an engine to those that tables can name, for all databases of the process. The number, from 0 to 15, must
/// always be the same for this engine: it is stored with its tables.
///
/// # Errors
/// See [`RegistrationError`].
pub fn register_engine(number: u8, engine_type: &'static dyn EngineType) -> Result<(), RegistrationError> {
    let name = engine_type.name().to_owned();
    let state = STATE.lock();
    if *state == RegistryState::Closed {
        return Err(RegistrationError::TooLate(name));
    }
    if !is_valid(&name) {
        return Err(RegistrationError::InvalidName(name));
    }
    let Some(added) = AddedEngine::new(number) else {
        return Err(RegistrationError::InvalidNumber { name, number });
    };
    let is_reserved = RESERVED_NAMES
        .iter()
        .any(|known| known.eq_ignore_ascii_case(&name));
    if is_reserved || engine_types().any(|(_, known)| known.name().eq_ignore_ascii_case(&name)) {
        return Err(RegistrationError::NameTaken(name));
    }
    if let Some(holder) = added_type(added) {
        let holder = holder.name().to_owned();
        return Err(RegistrationError::NumberTaken { name, number, holder });
    }
    // The lock is held, so the place is still free.
    let _ = ADDED[number as usize].set(engine_type);
    Ok(())
}

fn is_valid(name: &str) -> bool {
    name.len() <= NAME_BYTES_MAX
        && name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Returns the engines behind the trait that tables can name: MEMORY, BLACKHOLE, the added ones.
pub fn engine_types() -> impl Iterator<Item = (EngineKind, &'static dyn EngineType)> {
    let added = (0..AddedEngine::COUNT as u8).filter_map(AddedEngine::new);
    [EngineKind::Memory, EngineKind::Blackhole]
        .into_iter()
        .chain(added.map(EngineKind::Added))
        .filter_map(|kind| Some((kind, kind.engine_type()?)))
}

/// Returns the added engine with that number.
fn added_type(engine: AddedEngine) -> Option<&'static dyn EngineType> {
    ADDED[usize::from(engine.number())].get().copied()
}

/// Ends registration: a database is being opened.
pub(super) fn close() {
    *STATE.lock() = RegistryState::Closed;
}

impl EngineKind {
    /// Returns the description of the engine; `None` for tables on disk and temporary tables, whose engines are not
    /// behind the trait, and for a number without an added engine.
    pub fn engine_type(self) -> Option<&'static dyn EngineType> {
        match self {
            EngineKind::RocksDb | EngineKind::Temporary => None,
            EngineKind::Memory => Some(&MemoryType),
            EngineKind::Blackhole => Some(&BlackholeType),
            EngineKind::Added(engine) => added_type(engine),
        }
    }

    /// Returns whether rows are stored, and not only logged.
    pub fn stores_rows(self) -> bool {
        self.retention() != Some(Retention::Nothing)
    }

    /// Returns whether a restart empties the tables.
    pub fn is_emptied_by_restart(self) -> bool {
        self.retention() == Some(Retention::UntilRestart)
    }

    fn retention(self) -> Option<Retention> {
        self.engine_type().map(|engine_type| engine_type.retention())
    }
}
