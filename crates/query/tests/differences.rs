//! docs/differences.md names every list of recorded differences, with the number of its entries: who adds one says
//! there what it is.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const DOCUMENT: &str = "../../docs/differences.md";

/// Entries by the name that the document has for their list: the files of the corpus, and each group of
/// `deviations.txt` by its comment.
fn recorded() -> BTreeMap<String, usize> {
    let mut lists = BTreeMap::new();
    for entry in fs::read_dir("tests/corpus").unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "differs") {
            let text = fs::read_to_string(&path).unwrap();
            let statements = text
                .split("\n\n")
                .filter(|block| block.trim_start().starts_with("> "))
                .count();
            lists.insert(
                format!("`corpus/{}`", path.file_name().unwrap().display()),
                statements,
            );
        }
    }
    let deviations = fs::read_to_string("../expression/tests/expressions/deviations.txt").unwrap();
    let mut reason = "";
    for line in deviations.lines() {
        if let Some(comment) = line.strip_prefix("# ") {
            reason = comment;
        } else if line.contains(" > ") {
            *lists.entry(reason.to_owned()).or_default() += 1;
        }
    }
    lists
}

#[test]
fn every_recorded_difference_stands_in_the_document() {
    assert!(Path::new(DOCUMENT).exists());
    let document = fs::read_to_string(DOCUMENT).unwrap();
    let table = document.split("## Recorded in tests").nth(1).unwrap();
    let mut told = BTreeMap::new();
    for line in table.lines() {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        if let [list, count, ..] = cells[..]
            && let Ok(count) = count.parse::<usize>()
        {
            told.insert(list.to_owned(), count);
        }
    }
    assert_eq!(told, recorded());
}
