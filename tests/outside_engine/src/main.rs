//! A program with the engine, for tests of databases that another program opens: `outside_engine DIRECTORY NUMBER HOW`
//! opens a database with the engine under that number, creates a table if there is none, and ends: `close`, or `abort`
//! without closing it.

use std::error::Error;

use outside_engine::TreeType;
use paceline_embedded::{Database, Options, register_engine};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, directory, number, how] = &arguments[..] else {
        return Err("outside_engine DIRECTORY NUMBER close|abort".into());
    };
    register_engine(number.parse()?, &TreeType)?;
    let database = Database::open(directory, Options::new())?;
    let mut session = database.session()?;
    session.execute("CREATE DATABASE IF NOT EXISTS d", ())?;
    session.execute(
        "CREATE TABLE IF NOT EXISTS d.t (a INT PRIMARY KEY) ENGINE=TREE",
        (),
    )?;
    session.execute("INSERT INTO d.t VALUES (1)", ())?;
    if how == "abort" {
        std::process::abort();
    }
    drop(session);
    database.close()?;
    Ok(())
}
