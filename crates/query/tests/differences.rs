//! docs/differences.md names every difference from MariaDB in a golden script, with the number of its answers.

use std::collections::BTreeMap;
use std::fs;

use paceline_golden_script::{Script, script_files};

const DOCUMENT: &str = "../../docs/differences.md";
/// Folders of scripts with MariaDB's answers.
const FOLDERS: [&str; 4] = [
    "testscripts/answers",
    "../expression/testscripts",
    "../catalog/testscripts/ddl",
    "../syntax/testscripts",
];

/// Returns the reasons for different answers, with the number of answers for each.
fn recorded() -> BTreeMap<String, usize> {
    let mut reasons = BTreeMap::new();
    for path in FOLDERS.into_iter().flat_map(script_files) {
        for here in Script::read(&path)
            .blocks
            .into_iter()
            .filter_map(|block| block.here)
        {
            *reasons.entry(here.reason).or_default() += 1;
        }
    }
    reasons
}

#[test]
fn every_recorded_difference_is_documented() {
    let document = fs::read_to_string(DOCUMENT).unwrap();
    let table = document.split("## Recorded in tests").nth(1).unwrap();
    let mut described = BTreeMap::new();
    for line in table.lines() {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        if let [reason, count, ..] = cells[..]
            && let Ok(count) = count.parse::<usize>()
        {
            described.insert(reason.to_owned(), count);
        }
    }
    assert_eq!(described, recorded());
}
