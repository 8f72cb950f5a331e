//! Which programs an experiment needs, and whether they are there.

use std::env;
use std::io;
use std::path::{Path, PathBuf};

/// Returns the programs that do not exist. One without a directory is looked for where the shell looks.
pub fn missing_programs(programs: &[PathBuf]) -> Vec<String> {
    let missing = programs.iter().filter(|program| !exists(program));
    missing.map(|program| program.display().to_string()).collect()
}

/// Checks that the programs exist.
///
/// # Errors
/// With the names of those that do not.
pub fn require_programs(programs: &[PathBuf]) -> io::Result<()> {
    let missing = missing_programs(programs);
    match missing.is_empty() {
        true => Ok(()),
        false => Err(io::Error::new(
            io::ErrorKind::NotFound,
            format!(
                "there is no {} (`tools/install.sh lab` installs all but the server)",
                missing.join(" and no ")
            ),
        )),
    }
}

fn exists(program: &Path) -> bool {
    if program.components().count() > 1 {
        return program.is_file();
    }
    let directories = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&directories).any(|directory| directory.join(program).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_programs_are_named() {
        let programs = ["sh", "/bin/sh", "/nonexistent/paceline", "no-such-program"].map(PathBuf::from);
        require_programs(&programs[..2]).unwrap();
        let error = require_programs(&programs).unwrap_err().to_string();
        let start = "there is no /nonexistent/paceline and no no-such-program ";
        assert!(error.starts_with(start), "{error}");
    }
}
