//! The write load of mariadb-slap.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

pub const SLAP: &str = "mariadb-slap";

/// A load that was done.
#[derive(Debug, PartialEq)]
pub struct Done {
    /// Queries of all clients. Each does the same number, so they may be a few less than were wanted.
    pub queries: f64,
    pub seconds: f64,
}

/// Lets clients insert rows, each query in a transaction of its own, into a table that is made before and dropped
/// after.
///
/// # Errors
/// If mariadb-slap cannot be started, or fails: with what it said.
pub fn run(socket: &Path, queries: usize, clients: usize) -> io::Result<Done> {
    let mut command = Command::new(SLAP);
    command.args(["--no-defaults", "--user=root", "--csv", "--auto-generate-sql"]);
    // This server offers TLS, a new MariaDB does not. And a handshake takes longer than many syncs.
    command.arg("--skip-ssl");
    // The rows that are inserted before are no part of the load, but would be counted.
    command.args([
        "--auto-generate-sql-load-type=write",
        "--auto-generate-sql-write-number=1",
    ]);
    command.arg(format!("--number-of-queries={}", queries.max(clients)));
    command.arg(format!("--concurrency={clients}"));
    command.arg("--socket").arg(socket).stdin(Stdio::null());
    let output = command
        .output()
        .map_err(|error| io::Error::new(error.kind(), format!("{SLAP}: {error}")))?;
    let said = String::from_utf8_lossy(&output.stdout);
    match done(&said) {
        Some(done) if output.status.success() => Ok(done),
        _ => Err(io::Error::other(format!(
            "{SLAP}: {}\n{said}{}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        ))),
    }
}

/// Reads the line of figures: engine, kind of load, seconds (mean, lowest and highest), clients, queries of each.
fn done(line: &str) -> Option<Done> {
    let fields: Vec<&str> = line.trim().split(',').collect();
    let [_, _, seconds, _, _, clients, queries] = fields[..] else {
        return None;
    };
    let number = |field: &str| field.parse::<f64>().ok().filter(|number| *number > 0.0);
    Some(Done {
        queries: number(clients)? * number(queries)?,
        seconds: number(seconds)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_figures_is_read() {
        let expected = Done {
            queries: 2_000.0,
            seconds: 1.857,
        };
        assert_eq!(done(",write,1.857,1.857,1.857,10,200\n"), Some(expected));
        // It was too short to be timed.
        assert_eq!(done(",write,0.000,0.000,0.000,10,1\n"), None);
        assert_eq!(done(""), None);
    }
}
