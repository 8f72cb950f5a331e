//! The latest message of each friend: one step backwards in an index for each of them.
//!
//! In SQL this is a query over groups; here it says what it does.

use paceline_embedded::{Database, Options, Result, Scan, Session, Table};
use std::path::Path;

/// A friend's latest message.
pub struct Message {
    /// Number of the friend.
    pub author: u32,
    /// Time.
    pub sent: u64,
    /// Text.
    pub text: String,
}

/// Creates the table, if it does not exist.
pub fn messages(session: &mut Session) -> Result<Table> {
    session.execute("CREATE DATABASE IF NOT EXISTS chat", ())?;
    session.execute(
        "CREATE TABLE IF NOT EXISTS chat.messages (
            id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, author INT UNSIGNED NOT NULL, sent BIGINT UNSIGNED NOT NULL,
            text VARCHAR(200) NOT NULL, KEY by_author (author, sent))",
        (),
    )?;
    session.table_columns("chat.messages", &["author", "sent", "text"])
}

/// Returns the latest message of each of these authors.
pub fn latest(session: &mut Session, messages: &Table, friends: &[u32]) -> Result<Vec<Message>> {
    let mut found = Vec::with_capacity(friends.len());
    let latest = Scan::index("by_author").backward().limit(1);
    session.scan_each(
        messages,
        &latest,
        friends.iter().map(|&friend| (friend,)),
        |row| {
            let (author, sent, text): (u32, u64, &str) = row.read()?;
            let text = text.to_owned();
            found.push(Message { author, sent, text });
            Ok(true)
        },
    )?;
    Ok(found)
}

/// Runs the example in a directory.
pub fn run(directory: &Path) -> Result<Vec<Message>> {
    let database = Database::open(directory, Options::new())?;
    let mut session = database.session()?;
    let messages = messages(&mut session)?;
    let rows = (0..1000_u64).map(|number| (number % 10, number, format!("message {number}")));
    session.insert_all(&messages, rows)?;
    latest(&mut session, &messages, &[3, 7, 99])
}

#[allow(dead_code)] // the tests call `run`
fn main() -> Result<()> {
    for message in run(Path::new("latest-messages"))? {
        println!("{} at {}: {}", message.author, message.sent, message.text);
    }
    Ok(())
}
