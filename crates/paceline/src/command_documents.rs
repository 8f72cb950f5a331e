//! Documents of the command line: completions for shells, and manual pages.
//!
//! `server` and `join` parse their options themselves, because MariaDB's options differ from clap's. Here the commands
//! that describe these options for the help replace them.

use clap::{Command, ValueHint};
use clap_complete::Shell;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Options of `paceline completions`.
#[derive(clap::Args, Debug)]
pub struct CompletionOptions {
    /// Shell that the completions are for.
    shell: Shell,
}

/// Options of `paceline man`.
#[derive(clap::Args, Debug)]
pub struct ManOptions {
    /// Existing directory for the pages.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    to: PathBuf,
}

/// Returns `program` with the options of `server` and `join`.
fn complete_command(program: Command) -> Command {
    let described = |shown: Command, described: Command| {
        let name = shown.get_name().to_owned();
        let about = shown.get_about().cloned().unwrap_or_default();
        described
            .name(name.clone())
            .display_name(format!("paceline-{name}"))
            .about(about)
    };
    program
        .mut_subcommand("server", |shown| {
            described(shown, paceline_server::options::command())
        })
        .mut_subcommand("join", |shown| described(shown, crate::join::command()))
}

/// Prints the completions of `program` for a shell.
///
/// # Errors
/// A message: they cannot be written.
pub fn print_completions(options: &CompletionOptions, program: Command) -> Result<(), String> {
    // The generator panics if it cannot write.
    let mut text = Vec::new();
    clap_complete::generate(
        options.shell,
        &mut complete_command(program),
        "paceline",
        &mut text,
    );
    let mut out = io::stdout().lock();
    out.write_all(&text)
        .and_then(|()| out.flush())
        .map_err(|error| format!("cannot write the completions: {error}"))
}

/// Writes a manual page for `program` and one for each of its commands.
///
/// # Errors
/// A message: the directory cannot be written.
pub fn write_manual(options: &ManOptions, program: Command) -> Result<(), String> {
    let directory: &Path = &options.to;
    clap_mangen::generate_to(complete_command(program), directory)
        .map_err(|error| format!("cannot write manual pages to {}: {error}", directory.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn completions_know_commands_system_variables_and_options() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let mut text = Vec::new();
            let mut program = complete_command(crate::CommandLine::command());
            clap_complete::generate(shell, &mut program, "paceline", &mut text);
            let text = String::from_utf8(text).unwrap();
            for word in [
                "server",
                "promote",
                "sync-binlog",
                "initialize-insecure",
                "leave-out",
                "old-primary",
                "workload",
                "threads",
                "top",
                "batch",
            ] {
                assert!(text.contains(word), "{shell}: {word}");
            }
        }
    }

    #[test]
    fn each_command_has_a_manual_page_with_its_options() {
        let directory = tempfile::tempdir().unwrap();
        let to = directory.path().to_owned();
        write_manual(&ManOptions { to }, crate::CommandLine::command()).unwrap();
        let page = |name: &str| std::fs::read_to_string(directory.path().join(name)).unwrap();
        assert!(page("paceline.1").contains("paceline\\-backup(1)"));
        assert!(page("paceline-server.1").contains("\\-\\-sync\\-binlog"));
        assert!(page("paceline-join.1").contains("\\-\\-leave\\-out"));
        assert!(page("paceline-workload.1").contains("\\-\\-threads"));
        assert!(page("paceline-top.1").contains("\\-\\-once"));
        let demo = page("paceline-demo.1");
        assert!(demo.contains("\\-\\-keep") && !demo.contains("clean"));
        assert!(page("paceline-archive.1").contains("\\-\\-max\\-binlog\\-size"));
        assert!(
            write_manual(
                &ManOptions {
                    to: directory.path().join("none")
                },
                crate::CommandLine::command()
            )
            .is_err()
        );
    }
}
