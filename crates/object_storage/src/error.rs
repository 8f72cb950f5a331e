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
    /// The bucket does not exist.
    #[error("{place}: there is no such bucket")]
    NoBucket {
        /// The place.
        place: String,
    },
    /// The directory or the service failed.
    #[error("{place}: cannot {operation} '{name}': {}", cause(source))]
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

/// What a service has said, or what stood in the way of it, in one line.
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

/// Whether a service says that there is no bucket, where it might be the object that is missing.
pub(crate) fn is_about_bucket(error: &object_store::Error) -> bool {
    element(&error.to_string(), "Code") == Some("NoSuchBucket")
}

/// What stands in the first element of that name.
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
    fn what_a_service_says_is_told_in_one_line() {
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
