//! Errors of this crate.

/// Result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Error of a place or of an object in it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The place is neither a directory nor a usable URL.
    #[error("'{place}' is not a place for objects: {problem}")]
    Place {
        /// The place as given.
        place: String,
        /// Reason why it cannot be used.
        problem: String,
    },
    /// The object does not exist.
    #[error("{place}: there is no '{name}'")]
    NotFound {
        /// The place as given.
        place: String,
        /// Name of the object.
        name: String,
    },
    /// The object exists already and must not be replaced.
    #[error("{place}: '{name}' is there already")]
    AlreadyThere {
        /// The place as given.
        place: String,
        /// Name of the object.
        name: String,
    },
    /// The object is shorter than the requested range.
    #[error("{place}: '{name}' ends at {end}, before {wanted}")]
    Short {
        /// The place as given.
        place: String,
        /// Name of the object.
        name: String,
        /// Length of the object in bytes.
        end: u64,
        /// Required length in bytes: the end of the requested range.
        wanted: u64,
    },
    /// The bucket does not exist.
    #[error("{place}: there is no such bucket")]
    NoBucket {
        /// The place as given.
        place: String,
    },
    /// The directory or the service failed.
    #[error("{place}: cannot {operation} '{name}': {}", cause(source))]
    Storage {
        /// The place as given.
        place: String,
        /// The operation that failed.
        operation: &'static str,
        /// Name of the object, or common prefix of several objects' names.
        name: String,
        /// Cause.
        source: Box<object_store::Error>,
    },
}

impl Error {
    /// Returns the error for a failed operation of a store. `place` and `name` are those of the object.
    pub(crate) fn of_store(
        place: &str,
        operation: &'static str,
        name: &str,
        source: object_store::Error,
    ) -> Self {
        let (place, name) = (place.to_owned(), name.to_owned());
        match source {
            source if is_about_bucket(&source) => Error::NoBucket { place },
            object_store::Error::NotFound { .. } => Error::NotFound { place, name },
            object_store::Error::AlreadyExists { .. } | object_store::Error::Precondition { .. } => {
                Error::AlreadyThere { place, name }
            }
            source => Error::Storage {
                place,
                operation,
                name,
                source: Box::new(source),
            },
        }
    }
}

/// Returns the service's message, or the innermost cause of the failure, in one line.
fn cause(error: &object_store::Error) -> String {
    let text = error.to_string();
    if let Some(code) = element(&text, "Code") {
        return match element(&text, "Message") {
            Some(message) if !message.is_empty() => format!("{code}: {message}"),
            _ => code.to_owned(),
        };
    }
    let mut innermost: &dyn std::error::Error = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    let innermost = innermost.to_string();
    let whole = match text.contains(&innermost) {
        true => text,
        false => format!("{text}: {innermost}"),
    };
    whole.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns whether the service reports a missing bucket. `NotFound` alone may also mean a missing object.
pub(crate) fn is_about_bucket(error: &object_store::Error) -> bool {
    element(&error.to_string(), "Code") == Some("NoSuchBucket")
}

/// Returns the text of the first XML element of that name.
fn element<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let (_, behind) = text.split_once(&format!("<{name}>"))?;
    let (within, _) = behind.split_once(&format!("</{name}>"))?;
    Some(within.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generic(text: &str) -> object_store::Error {
        object_store::Error::Generic {
            store: "S3",
            source: text.to_owned().into(),
        }
    }

    #[test]
    fn the_message_of_a_service_becomes_one_line() {
        let said = generic(
            "Error performing GET http://s3/b/n in 2ms - Server returned non-2xx status code: 403 Forbidden: <?xml version=\"1.0\"?>\n\
             <Error><Code>SignatureDoesNotMatch</Code><Message>Check your key.</Message><Key>n</Key></Error>",
        );
        assert_eq!(cause(&said), "SignatureDoesNotMatch: Check your key.");
        assert_eq!(
            cause(&generic("<Error><Code>SlowDown</Code></Error>")),
            "SlowDown"
        );
        assert_eq!(
            cause(&generic("no\nanswer  at all")),
            "Generic S3 error: no answer at all"
        );
        assert!(is_about_bucket(&generic(
            "404: <Error><Code>NoSuchBucket</Code></Error>"
        )));
        assert!(!is_about_bucket(&generic(
            "404: <Error><Code>NoSuchKey</Code></Error>"
        )));
    }
}
