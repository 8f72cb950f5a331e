//! Each experiment runs in its short form, prints its table and writes its drawing.

use std::fs;
use std::path::Path;
use std::process::Command;

/// Runs an experiment and returns what it prints.
fn run(arguments: &[&str], directory: &Path) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_paceline-lab"))
        .args(["--quick", "--output"])
        .arg(directory)
        .args(arguments)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {text}{errors}");
    text
}

/// Checks that an experiment prints these rows and writes its drawing.
fn check(experiment: &str, rows: &[&str]) {
    let directory = tempfile::tempdir().unwrap();
    let text = run(&[experiment], directory.path());
    for row in rows {
        assert!(text.contains(&format!("| {row} ")), "{row}: {text}");
    }
    let drawing = fs::read_to_string(directory.path().join(format!("{experiment}.svg"))).unwrap();
    assert!(
        drawing.starts_with("<svg") && drawing.trim_end().ends_with("</svg>"),
        "{drawing}"
    );
}

#[test]
fn wakeup_prints_its_table() {
    let rows = [
        "pthread condition variable",
        "futex",
        "std condition variable",
        "parking_lot condition variable",
        "std park and unpark",
        "eventfd",
        "tokio notification of tasks",
    ];
    check("wakeup", &rows);
}

#[test]
fn thread_state_prints_its_tables() {
    let rows = [
        "two compare-exchanges",
        "pthread mutex",
        "write barrier",
        "no barrier",
        "one aligned pointer",
        "lock and copy, as today; 32 bytes",
    ];
    check("thread-state", &rows);
}

#[test]
fn linking_prints_its_table() {
    check(
        "linking",
        &[
            "static",
            "dynamic",
            "dynamic, -fno-plt",
            "dynamic, through a pointer",
        ],
    );
}

#[test]
fn mutex_prints_its_tables_and_writes_all_figures() {
    let kinds = [
        "sync-array",
        "test-and-set, futex",
        "pthread default",
        "pthread adaptive",
        "spin, global limit",
        "spin, limit per mutex",
        "std",
        "parking_lot",
    ];
    check("mutex", &kinds);
    let directory = tempfile::tempdir().unwrap();
    run(
        &["mutex", "--threads", "1,2", "--mutexes", "1,2"],
        directory.path(),
    );
    let figures = fs::read_to_string(directory.path().join("mutex.csv")).unwrap();
    // A heading, and each kind with two numbers of threads and of mutexes.
    assert_eq!(figures.lines().count(), 1 + kinds.len() * 4, "{figures}");
}

#[test]
fn experiments_with_servers_name_the_programs_they_lack() {
    for experiment in ["scheduling", "fsyncs", "hot-row"] {
        let output = Command::new(env!("CARGO_BIN_EXE_paceline-lab"))
            .args(["--quick", experiment, "--server", "/nonexistent/paceline"])
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success());
        assert!(errors.contains("there is no /nonexistent/paceline"), "{errors}");
    }
}
