//! A database that was made with an engine, in a program that does not have it. This process registers none.

use std::path::Path;
use std::process::{Command, Output};

use paceline_embedded::{Database, Options};

fn with_the_engine(directory: &Path, number: &str, how: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_outside_engine"))
        .arg(directory)
        .args([number, how])
        .output()
        .unwrap()
}

/// Returns why this process cannot open it.
fn refusal(directory: &Path) -> String {
    let opened = Database::open(directory, Options::new());
    opened.err().expect("the engine is missing").to_string()
}

#[test]
fn a_table_of_an_absent_engine_refuses_the_start() {
    let directory = tempfile::tempdir().unwrap();
    let made = with_the_engine(directory.path(), "3", "close");
    assert!(made.status.success(), "{made:?}");
    let refused = refusal(directory.path());
    let reason = "table `d`.`t` has the engine TREE, which this program does not have";
    assert!(refused.contains(reason), "{refused}");

    // The number is part of the keys.
    let other_number = with_the_engine(directory.path(), "4", "close");
    let refused = String::from_utf8_lossy(&other_number.stderr).into_owned();
    let reason = "table `d`.`t` has index engine3:";
    assert!(
        refused.contains(reason) && refused.contains("under another number"),
        "{refused}"
    );

    // Nothing has changed for the program that has it.
    let again = with_the_engine(directory.path(), "3", "close");
    assert!(again.status.success(), "{again:?}");
}

#[test]
fn a_log_that_creates_such_a_table_refuses_the_start() {
    let directory = tempfile::tempdir().unwrap();
    let made = with_the_engine(directory.path(), "3", "abort");
    assert!(!made.status.success());
    let refused = refusal(directory.path());
    assert!(refused.contains("Unknown storage engine 'TREE'"), "{refused}");
    let again = with_the_engine(directory.path(), "3", "close");
    assert!(again.status.success(), "{again:?}");
}
