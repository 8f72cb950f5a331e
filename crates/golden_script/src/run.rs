//! Runs scripts and compares what their commands answer.

use crate::script::{OwnAnswer, Script, ScriptBlock, script_files};
use goldenscript::Runner;
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// Environment variable that lets the scripts be written.
const UPDATE: &str = "UPDATE_GOLDENFILES";
/// Environment variable that chooses scripts by name.
const CHOOSE: &str = "GOLDEN_SCRIPT";
/// Reason of a difference that has not been explained yet.
const UNEXPLAINED: &str = "not explained yet";

/// Server that a script's answers come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answers {
    /// This server's.
    Own,
    /// MariaDB's, with this server's where they differ.
    MariaDb,
}

/// Runs a script. Returns how many answers were compared.
///
/// # Panics
/// If an answer is not as expected, or the script cannot be run.
pub fn run<R: Runner>(runner: &mut R, path: impl AsRef<Path>, answers: Answers) -> usize {
    let mut report = String::new();
    let count = compare(runner, path.as_ref(), answers, &mut report);
    assert!(report.is_empty(), "{report}");
    count
}

/// Runs all scripts of a folder, each with a runner of its own. Returns how many answers were compared.
///
/// # Panics
/// If an answer is not as expected, or a script cannot be run.
pub fn run_folder<R: Runner>(
    folder: impl AsRef<Path>,
    answers: Answers,
    mut runner: impl FnMut() -> R,
) -> usize {
    let chosen = std::env::var_os(CHOOSE);
    let mut report = String::new();
    let mut count = 0;
    for path in script_files(folder) {
        if chosen
            .as_deref()
            .is_none_or(|name| path.file_name() == Some(name))
        {
            count += compare(&mut runner(), &path, answers, &mut report);
        }
    }
    assert!(report.is_empty(), "{report}");
    count
}

/// Runs a script and reports what differs; writes it into the script instead if that was asked for.
fn compare<R: Runner>(runner: &mut R, path: &Path, answers: Answers, report: &mut String) -> usize {
    let mut script = Script::read(path);
    let given = goldenscript::generate(runner, &script.questions())
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let given = Script::parse(&given);
    assert_eq!(given.blocks.len(), script.blocks.len(), "{}", path.display());
    let is_update = std::env::var(UPDATE).is_ok_and(|value| value == "1");
    for (block, given) in script.blocks.iter_mut().zip(given.blocks) {
        if is_update {
            update(block, given.answer, answers);
        } else if block.expected() != given.answer {
            describe(path, block, &given.answer, report);
        }
    }
    if is_update {
        fs::write(path, script.to_string()).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
    script.blocks.len()
}

fn update(block: &mut ScriptBlock, given: String, answers: Answers) {
    match answers {
        Answers::Own => block.answer = given,
        Answers::MariaDb if given == block.answer => block.here = None,
        Answers::MariaDb => {
            let known = block.here.take().map(|here| here.reason);
            block.here = Some(OwnAnswer {
                reason: known.unwrap_or_else(|| UNEXPLAINED.to_owned()),
                answer: given,
            });
        }
    }
}

fn describe(path: &Path, block: &ScriptBlock, given: &str, report: &mut String) {
    let _ = write!(
        report,
        "\n{}:{}\n{}--- expected\n{}--- given\n{given}",
        path.display(),
        block.line,
        block.head,
        block.expected(),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers a statement in capitals.
    struct Capitals;

    impl Runner for Capitals {
        type Command = goldenscript::Command;

        fn run(
            &mut self,
            command: &goldenscript::Command,
            _: &goldenscript::Context,
        ) -> Result<String, Box<dyn std::error::Error>> {
            Ok(command.name.to_uppercase())
        }
    }

    #[test]
    fn a_difference_is_reported_with_its_place() {
        let path = std::env::temp_dir().join(format!("golden_script_{}", std::process::id()));
        let text = "> one\n---\nONE\n\n# Comment.\n> two\n---\nanother\n--- here: a reason\nTWO\n\n> three\n---\n3\n";
        fs::write(&path, text).unwrap();
        let mut report = String::new();
        let count = compare(&mut Capitals, &path, Answers::MariaDb, &mut report);
        fs::remove_file(&path).unwrap();
        assert_eq!(count, 3);
        let expected = format!(
            "\n{}:12\n> three\n--- expected\n3\n--- given\nTHREE\n",
            path.display()
        );
        assert_eq!(report, expected);
    }

    fn block(answer: &str, here: Option<(&str, &str)>) -> ScriptBlock {
        ScriptBlock {
            answer: answer.to_owned(),
            here: here.map(|(reason, answer)| OwnAnswer {
                reason: reason.to_owned(),
                answer: answer.to_owned(),
            }),
            ..ScriptBlock::default()
        }
    }

    #[test]
    fn an_update_replaces_an_own_answer_and_keeps_mariadbs() {
        let updated = |mut block: ScriptBlock, given: &str, answers| {
            update(&mut block, given.to_owned(), answers);
            block
        };
        assert_eq!(updated(block("1", None), "2", Answers::Own), block("2", None));
        assert_eq!(
            updated(block("1", None), "2", Answers::MariaDb),
            block("1", Some((UNEXPLAINED, "2")))
        );
        assert_eq!(
            updated(block("1", Some(("why", "2"))), "3", Answers::MariaDb),
            block("1", Some(("why", "3")))
        );
        assert_eq!(
            updated(block("1", Some(("why", "2"))), "1", Answers::MariaDb),
            block("1", None)
        );
    }
}
