//! What the list of engines refuses.

use std::sync::Arc;

use outside_engine::TreeType;
use paceline_embedded::engine::{Engine, EngineType, RegistrationError};
use paceline_embedded::{Database, Options, register_engine};

struct Named(&'static str);

impl EngineType for Named {
    fn name(&self) -> &str {
        self.0
    }

    fn comment(&self) -> &str {
        ""
    }

    fn create(&self) -> Arc<dyn Engine> {
        TreeType.create()
    }
}

/// The list is the process's, so this is one test.
#[test]
fn engines_are_registered_once_under_valid_names_before_a_database_is_opened() {
    register_engine(15, &TreeType).unwrap();
    assert_eq!(
        register_engine(1, &Named("Tree")),
        Err(RegistrationError::NameTaken("Tree".into()))
    );
    assert_eq!(
        register_engine(15, &Named("OTHER")),
        Err(RegistrationError::NumberTaken {
            name: "OTHER".into(),
            number: 15,
            holder: "TREE".into()
        })
    );
    assert_eq!(
        register_engine(16, &Named("OTHER")),
        Err(RegistrationError::InvalidNumber {
            name: "OTHER".into(),
            number: 16
        })
    );
    for taken in [
        "InnoDB",
        "xtradb",
        "RocksDB",
        "memory",
        "HEAP",
        "Blackhole",
        "MyISAM",
        "aria",
        "SEQUENCE",
        "binlog",
    ] {
        let refused = register_engine(1, Box::leak(Box::new(Named(taken))));
        assert_eq!(refused, Err(RegistrationError::NameTaken(taken.into())));
    }
    const LONG: &str = "A2345678901234567890123456789012345678901234567890123456789012345";
    for invalid in ["", "1A", "A B", "Ä", "a'", LONG] {
        let refused = register_engine(1, Box::leak(Box::new(Named(invalid))));
        assert_eq!(refused, Err(RegistrationError::InvalidName(invalid.into())));
    }
    let directory = tempfile::tempdir().unwrap();
    let database = Database::open(directory.path(), Options::new()).unwrap();
    assert_eq!(
        register_engine(1, &Named("LATE")),
        Err(RegistrationError::TooLate("LATE".into()))
    );
    database.close().unwrap();
    assert_eq!(
        register_engine(1, &Named("LATE")),
        Err(RegistrationError::TooLate("LATE".into()))
    );
}
