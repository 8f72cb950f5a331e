//! What can go wrong with objects.

/// What functions of this crate return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What can go wrong with objects.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The place is neither a directory nor a URL that can be used.
    #[error("'{place}' is no place to keep objects in: {problem}")]
    Place {
        /// What was given.
        place: String,
        /// What is wrong with it.
        problem: String,
    },
    /// There is no such object.
    #[error("{place}: there is no '{name}'")]
    NotFound {
        /// The place.
        place: String,
        /// The object.
        name: String,
    },
    /// There is such an object already, and it was not to be replaced.
    #[error("{place}: '{name}' is there already")]
    AlreadyThere {
        /// The place.
        place: String,
        /// The object.
        name: String,
    },
    /// The object is not as long as was asked for.
    #[error("{place}: '{name}' ends at {end}, before {wanted}")]
    Short {
        /// The place.
        place: String,
        /// The object.
        name: String,
        /// Its length, in bytes.
        end: u64,
        /// How far was to be read, in bytes.
        wanted: u64,
    },
    /// The directory or the service failed.
    #[error("{place}: cannot {operation} '{name}': {source}")]
    Storage {
        /// The place.
        place: String,
        /// What was tried.
        operation: &'static str,
        /// The object, or the beginning of several objects' names.
        name: String,
        /// Why it failed.
        source: Box<object_store::Error>,
    },
}
