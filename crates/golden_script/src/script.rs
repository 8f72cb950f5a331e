//! The text of a script: blocks of commands and answers.

use std::fs;
use std::path::{Path, PathBuf};

/// Line between commands and their answer.
const SEPARATOR: &str = "---";
/// Line between MariaDB's answer and this server's; a reason may follow.
const HERE: &str = "--- here";

/// A golden script.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Script {
    /// Its blocks.
    pub blocks: Vec<ScriptBlock>,
    /// Comments after the last block.
    pub tail: String,
}

/// Commands and their answer.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct ScriptBlock {
    /// Number of its first line, from 1.
    pub line: usize,
    /// Commands and comments, as they are written.
    pub head: String,
    /// The answer: complete lines. Empty if it was not recorded yet.
    pub answer: String,
    /// Answer of this server where that of MariaDB is another.
    pub here: Option<OwnAnswer>,
}

/// Answer of this server that differs from MariaDB's.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct OwnAnswer {
    /// Reason of the difference.
    pub reason: String,
    /// The answer: complete lines.
    pub answer: String,
}

impl Script {
    /// Reads a file.
    ///
    /// # Panics
    /// If it cannot be read.
    pub fn read(path: impl AsRef<Path>) -> Self {
        let path = path.as_ref();
        let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Self::parse(&text)
    }

    /// Splits a text into blocks.
    pub fn parse(text: &str) -> Self {
        let mut script = Self::default();
        let mut block = ScriptBlock::default();
        let mut is_answer = false;
        for (number, line) in text.lines().enumerate() {
            if block.head.is_empty() && !is_answer {
                block.line = number + 1;
            }
            if !is_answer {
                match line {
                    SEPARATOR => is_answer = true,
                    _ => push_line(&mut block.head, line),
                }
                continue;
            }
            if line.is_empty() {
                script.blocks.push(std::mem::take(&mut block));
                is_answer = false;
            } else if let Some(reason) = line.strip_prefix(HERE) {
                block.here = Some(OwnAnswer {
                    reason: reason.trim_start_matches(':').trim().to_owned(),
                    answer: String::new(),
                });
            } else {
                let answer = match &mut block.here {
                    Some(here) => &mut here.answer,
                    None => &mut block.answer,
                };
                push_line(answer, line);
            }
        }
        match is_answer {
            true => script.blocks.push(block),
            false => script.tail = block.head,
        }
        script
    }

    /// Returns all commands that are statements, without `> ` and the tags before it.
    pub fn statements(&self) -> impl Iterator<Item = &str> {
        self.blocks.iter().flat_map(ScriptBlock::statements)
    }

    /// Returns the text of the script without its answers.
    pub(crate) fn questions(&self) -> String {
        let mut text = String::new();
        for block in &self.blocks {
            text += &block.head;
            text += SEPARATOR;
            text += "\n\n";
        }
        text + &self.tail
    }
}

impl ScriptBlock {
    /// Returns the commands that are statements, without `> ` and the tags before it.
    pub fn statements(&self) -> impl Iterator<Item = &str> {
        self.head
            .lines()
            .filter_map(|line| match line.as_bytes().first() {
                None | Some(b'#') => None,
                Some(b'>') => Some(line[1..].trim_start()),
                // Tags: `[sort] > SELECT …`.
                Some(b'[') => line
                    .split_once("] >")
                    .map(|(_, statement)| statement.trim_start()),
                Some(_) => None,
            })
    }

    /// Returns the answer that this server is to give.
    pub fn expected(&self) -> &str {
        match &self.here {
            Some(here) => &here.answer,
            None => &self.answer,
        }
    }
}

impl std::fmt::Display for Script {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (number, block) in self.blocks.iter().enumerate() {
            if number > 0 {
                writeln!(f)?;
            }
            write!(f, "{}{SEPARATOR}\n{}", block.head, block.answer)?;
            if let Some(OwnAnswer { reason, answer }) = &block.here {
                write!(f, "{HERE}: {reason}\n{answer}")?;
            }
        }
        match (self.blocks.is_empty(), self.tail.is_empty()) {
            (_, true) => Ok(()),
            (true, false) => write!(f, "{}", self.tail),
            (false, false) => write!(f, "\n{}", self.tail),
        }
    }
}

fn push_line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

/// Returns the scripts of a folder, in the order of their names. Files with an extension are not scripts.
///
/// # Panics
/// If the folder cannot be read, or has no script.
pub fn script_files(folder: impl AsRef<Path>) -> Vec<PathBuf> {
    let folder = folder.as_ref();
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry of the folder").path())
        .filter(|path| path.is_file() && path.extension().is_none())
        .collect();
    files.sort();
    assert!(!files.is_empty(), "{} has no script", folder.display());
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
# A comment.

> SELECT 1
[sort] > SELECT 2
word argument
---
1
--- is no separator here

> SELECT 3
---
3
--- here: a reason
4

> SELECT 5
---

# The end.
";

    #[test]
    fn a_text_is_split_into_blocks_and_put_together_again() {
        let script = Script::parse(TEXT);
        assert_eq!(script.to_string(), TEXT);
        let lines: Vec<usize> = script.blocks.iter().map(|block| block.line).collect();
        assert_eq!(lines, [1, 10, 16]);
        assert_eq!(
            script.statements().collect::<Vec<_>>(),
            ["SELECT 1", "SELECT 2", "SELECT 3", "SELECT 5"]
        );
        assert_eq!(script.blocks[0].expected(), "1\n--- is no separator here\n");
        assert_eq!(script.blocks[1].answer, "3\n");
        assert_eq!(script.blocks[1].expected(), "4\n");
        let here = script.blocks[1].here.as_ref().map(|here| &*here.reason);
        assert_eq!(here, Some("a reason"));
        assert_eq!(script.blocks[2].expected(), "");
        assert_eq!(script.tail, "# The end.\n");
    }

    #[test]
    fn questions_have_no_answers() {
        let questions = Script::parse(TEXT).questions();
        assert!(questions.contains("SELECT 3\n---\n\n> SELECT 5"), "{questions}");
    }
}
