//! Runs the scripts of `tests/corpus` through this crate, from text to rows, and compares with what a real MariaDB
//! answered (`tests/corpus/record.py` recorded it). No server, no sockets: a transaction manager on temporary files.
//!
//! A script's differences that are known and meant are listed in `NAME.differs` beside it: the expected answer of this
//! server, for whole statements. `CORPUS_UPDATE=1` prints what differs without failing, `CORPUS_ONLY=name` runs one
//! script, and `CORPUS_ACCEPT=1` writes what differs into those files, to be looked at line by line.

mod harness;

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use harness::Server;

/// A statement of a script with what its comment lines ask for.
struct Step {
    text: String,
    sorted: bool,
    meta: bool,
}

fn steps(script: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let (mut lines, mut sorted, mut meta) = (Vec::new(), false, false);
    for line in script.lines() {
        let trimmed = line.trim();
        if lines.is_empty() {
            if let Some(flag) = trimmed.strip_prefix("--") {
                sorted |= flag.trim() == "sort";
                meta |= flag.trim() == "meta";
                continue;
            }
            if trimmed.is_empty() || trimmed.starts_with('#') {
                continue;
            }
        }
        lines.push(line);
        if trimmed.ends_with(';') {
            let text = lines.join("\n").trim().trim_end_matches(';').to_owned();
            steps.push(Step { text, sorted, meta });
            (lines, sorted, meta) = (Vec::new(), false, false);
        }
    }
    steps
}

/// What a script gives, one string for each statement.
fn run(script: &str) -> Vec<String> {
    let mut server = Server::new();
    server
        .run("CREATE DATABASE test CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci")
        .result
        .expect("a database");
    server.use_database("test");
    steps(script)
        .iter()
        .map(|step| {
            let mut out = format!("> {}\n", step.text.replace('\n', "\n> "));
            let answer = server.run(&step.text);
            match answer.result {
                Err(error) => {
                    let _ = writeln!(out, "error {}: {}", error.code(), error.message());
                }
                Ok(_) if answer.columns.is_some() => {
                    let columns = answer.columns.unwrap_or_default();
                    let names: Vec<&str> = columns.iter().map(|column| &*column.name).collect();
                    let _ = writeln!(out, "{}", names.join("\t"));
                    let mut rows = answer.rows;
                    if step.sorted {
                        rows.sort();
                    }
                    for row in rows {
                        let _ = writeln!(out, "{}", if row.is_empty() { "''" } else { &row });
                    }
                    if step.meta {
                        for c in &columns {
                            let _ = writeln!(
                                out,
                                "meta: {}.{}({}).{}({}) type={} charset={} length={} flags={} decimals={}",
                                c.database,
                                c.table,
                                c.org_table,
                                c.name,
                                c.org_name,
                                c.field_type.code(),
                                if c.data_type.is_text() {
                                    45
                                } else {
                                    c.collation.id()
                                },
                                c.length(4),
                                c.flags,
                                c.decimals
                            );
                        }
                    }
                }
                Ok(outcome) => {
                    let _ = write!(out, "ok: {} affected", outcome.affected_rows);
                    if outcome.last_insert_id != 0 {
                        let _ = write!(out, ", insert id {}", outcome.last_insert_id);
                    }
                    if !outcome.info.is_empty() {
                        let _ = write!(out, ", info: {}", outcome.info);
                    }
                    out.push('\n');
                }
            }
            for (level, code, message) in answer.warnings {
                let _ = writeln!(out, "{level} {code}: {message}");
            }
            out
        })
        .collect()
}

fn blocks(text: &str) -> Vec<String> {
    let mut blocks: Vec<String> = Vec::new();
    let mut begins = true;
    for line in text.lines() {
        if line.is_empty() {
            begins = true;
            continue;
        }
        if line.starts_with("> ") && begins {
            blocks.push(String::new());
        }
        begins = false;
        let block = blocks.last_mut().expect("an answer follows its statement");
        block.push_str(line);
        block.push('\n');
    }
    blocks
}

fn corpus() -> PathBuf {
    PathBuf::from("tests/corpus")
}

#[test]
fn answers_are_mariadbs() {
    let only = std::env::var("CORPUS_ONLY").ok();
    let mut scripts: Vec<PathBuf> = fs::read_dir(corpus())
        .expect("the corpus is there")
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "sql"))
        .collect();
    scripts.sort();
    let (mut statements, mut different) = (0, 0);
    let mut report = String::new();
    for path in scripts {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        if only.as_ref().is_some_and(|only| *only != name) {
            continue;
        }
        let script = fs::read_to_string(&path).expect("readable");
        let expected = blocks(&fs::read_to_string(path.with_extension("result")).expect("recorded"));
        let known = fs::read_to_string(path.with_extension("differs"))
            .map(|text| blocks(&text))
            .unwrap_or_default();
        let got = run(&script);
        assert_eq!(got.len(), expected.len(), "{name}: as many answers as statements");
        let mut accepted = String::new();
        for (got, expected) in got.iter().zip(&expected) {
            if got != expected {
                let _ = writeln!(accepted, "{got}");
            }
            statements += 1;
            let statement = expected.lines().next().unwrap_or_default();
            let mine = known.iter().find(|block| block.lines().next() == Some(statement));
            let wanted = mine.unwrap_or(expected);
            if got != wanted {
                different += 1;
                let _ = writeln!(report, "== {name}\n-- expected\n{wanted}-- got\n{got}");
            }
        }
        if std::env::var("CORPUS_ACCEPT").is_ok() {
            let differs = path.with_extension("differs");
            match accepted.is_empty() {
                true => drop(fs::remove_file(differs)),
                false => fs::write(differs, accepted).expect("writable"),
            }
        }
    }
    println!("{statements} statements, {different} different");
    if different > 0 {
        println!("{report}");
        assert!(
            std::env::var("CORPUS_UPDATE").is_ok(),
            "{different} of {statements} answers differ from MariaDB's"
        );
    }
}
