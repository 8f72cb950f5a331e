//! Hides passwords on the command line from other users.
//!
//! Every user of a machine can read the arguments of running processes: `ps`, `/proc/PID/cmdline`. MariaDB's programs
//! overwrite theirs, which requires unsafe code. This program instead executes itself again in the same process. The
//! passwords are masked in the new arguments and passed in the environment, which only the process's own user can read.
//! They are visible for some milliseconds. A password that is given in the environment or in a file is never visible.
//!
//! ```text
//!   paceline archive --password=secret …   ──exec──▶   paceline archive --password=x …
//!                                                      PACELINE_HIDDEN_ARGUMENTS=PID;2=2d2d70617373776f72643d736563726574
//! ```

use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Environment variable with the process id and the masked arguments: index and hexadecimal digits of each. Other
/// processes ignore it.
const VARIABLE: &str = "PACELINE_HIDDEN_ARGUMENTS";
/// Text shown instead of a password.
const MASK: &str = "x";

/// Returns the arguments as given. If they contain a password, the program first executes itself again, and then
/// returns here.
pub fn reveal_or_hide(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let process = std::process::id();
    if let Some(hidden) = std::env::var_os(VARIABLE)
        && reveal(&mut arguments, &hidden.to_string_lossy(), process)
    {
        return arguments;
    }
    let masked = mask(&arguments);
    if masked.is_empty() {
        return arguments;
    }
    let mut hidden = process.to_string();
    let mut shown = arguments.clone();
    for (at, mask) in masked {
        let digits = hexadecimal(&arguments[at]);
        let _ = write!(hidden, ";{at}={digits}");
        shown[at] = mask;
    }
    let error = match std::env::current_exe() {
        Ok(program) => Command::new(program)
            .arg0(&arguments[0])
            .args(&shown[1..])
            .env(VARIABLE, hidden)
            .exec(),
        Err(error) => error,
    };
    eprintln!(
        "warning: other users of this machine can read the password in this command's arguments ({error}); give it in the environment instead"
    );
    arguments
}

/// Restores the masked arguments if they belong to this process. Returns whether they do.
fn reveal(arguments: &mut [OsString], hidden: &str, process: u32) -> bool {
    let mut parts = hidden.split(';');
    if parts.next() != Some(process.to_string().as_str()) {
        return false;
    }
    for part in parts {
        let original = part.split_once('=').and_then(|(at, digits)| {
            let argument = arguments.get_mut(at.parse::<usize>().ok()?)?;
            *argument = from_hexadecimal(digits)?;
            Some(())
        });
        if original.is_none() {
            return false;
        }
    }
    true
}

/// Returns the indexes of the arguments that contain a password, and the text to show instead of each.
fn mask(arguments: &[OsString]) -> Vec<(usize, OsString)> {
    let command = arguments
        .get(1)
        .map(|command| command.as_bytes())
        .unwrap_or_default();
    // For other commands, -p is a port or does not exist. For `binlog`, --password and -p without a value ask for it.
    let (has_short, asks) = match command {
        b"archive" => (true, false),
        b"binlog" => (true, true),
        _ => (false, false),
    };
    let mut masked = vec![];
    let mut value_follows = false;
    for (at, argument) in arguments.iter().enumerate().skip(2) {
        let bytes = argument.as_bytes();
        if std::mem::take(&mut value_follows) {
            masked.push((at, MASK.into()));
            continue;
        }
        if bytes == b"--" {
            break;
        }
        let (name, value) = match bytes.iter().position(|byte| *byte == b'=') {
            Some(equals) => (&bytes[..equals], Some(&bytes[equals + 1..])),
            None => (bytes, None),
        };
        if name.starts_with(b"--") && name.to_ascii_lowercase().ends_with(b"password") {
            match value {
                Some(b"") => {}
                Some(_) => masked.push((at, joined(&[name, b"=", MASK.as_bytes()]))),
                None => value_follows = !asks,
            }
        } else if has_short && bytes.starts_with(b"-p") {
            match bytes.len() {
                2 => value_follows = !asks,
                _ => masked.push((at, joined(&[b"-p", MASK.as_bytes()]))),
            }
        }
    }
    masked
}

fn joined(parts: &[&[u8]]) -> OsString {
    OsString::from_vec(parts.concat())
}

fn hexadecimal(argument: &OsStr) -> String {
    argument
        .as_bytes()
        .iter()
        .fold(String::new(), |mut digits, byte| {
            let _ = write!(digits, "{byte:02x}");
            digits
        })
}

fn from_hexadecimal(digits: &str) -> Option<OsString> {
    let pairs = digits.as_bytes().chunks(2);
    let bytes: Option<Vec<u8>> = pairs
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
        .collect();
    bytes.map(OsString::from_vec)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &str) -> String {
        let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let mut all = arguments.clone();
        for (at, mask) in mask(&arguments) {
            all[at] = mask;
        }
        let words: Vec<String> = all
            .iter()
            .map(|word| word.to_string_lossy().into_owned())
            .collect();
        words.join(" ")
    }

    #[test]
    fn passwords_are_masked_and_nothing_else() {
        for (line, expected) in [
            ("p archive -psecret --user=u", "p archive -px --user=u"),
            ("p archive -p secret -P 7", "p archive -p x -P 7"),
            (
                "p promote a --password s --replication-password=t=u",
                "p promote a --password x --replication-password=x",
            ),
            (
                "p promote a --archive_password=s",
                "p promote a --archive_password=x",
            ),
            ("p binlog --password file", "p binlog --password file"),
            ("p binlog -p file -pfile", "p binlog -p file -px"),
            ("p binlog -- -pfile", "p binlog -- -pfile"),
            (
                "p server --report-password=s --port=1",
                "p server --report-password=x --port=1",
            ),
            ("p backup --password= -px", "p backup --password= -px"),
            (
                "p server --max-password-errors=3",
                "p server --max-password-errors=3",
            ),
        ] {
            assert_eq!(shown(line), expected);
        }
    }

    #[test]
    fn masked_arguments_are_restored_in_the_same_process_only() {
        let original = OsString::from_vec(b"--password=\xff;=x".to_vec());
        let hidden = format!("7;2={}", hexadecimal(&original));
        let masked: Vec<OsString> = ["p", "archive", "--password=x"].map(OsString::from).to_vec();
        let mut arguments = masked.clone();
        assert!(reveal(&mut arguments, &hidden, 7));
        assert_eq!(arguments[2], original);
        // For another process: a child inherits the environment.
        let mut arguments = masked.clone();
        assert!(!reveal(&mut arguments, &hidden, 8));
        assert_eq!(arguments, masked);
        assert!(!reveal(&mut arguments, "7;9=2d", 7));
        assert!(!reveal(&mut arguments, "7;2=zz", 7));
    }
}
