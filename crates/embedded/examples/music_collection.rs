//! A desktop program's music collection: a directory of its own, no server to install, and SQL for what is not a step
//! by a key.

use paceline_embedded::{Database, Error, ErrorKind, Options, Result, Scan, Session, TransactionOptions};
use std::path::Path;

/// Creates the tables, if they do not exist.
fn create_tables(session: &mut Session) -> Result<()> {
    for statement in [
        "CREATE DATABASE IF NOT EXISTS music",
        "CREATE TABLE IF NOT EXISTS music.albums (
            id INT UNSIGNED AUTO_INCREMENT PRIMARY KEY, artist VARCHAR(100) NOT NULL, title VARCHAR(100) NOT NULL,
            year SMALLINT NOT NULL, UNIQUE KEY by_title (artist, title), CHECK (year >= 1860))",
        "CREATE TABLE IF NOT EXISTS music.tracks (
            album INT UNSIGNED NOT NULL, number SMALLINT UNSIGNED NOT NULL, title VARCHAR(100) NOT NULL,
            seconds SMALLINT UNSIGNED NOT NULL, played INT UNSIGNED NOT NULL DEFAULT 0,
            PRIMARY KEY (album, number), FOREIGN KEY (album) REFERENCES albums (id) ON DELETE CASCADE)",
    ] {
        session.execute(statement, ())?;
    }
    Ok(())
}

/// Adds an album with its tracks: all of it, or nothing.
fn add_album(
    session: &mut Session,
    artist: &str,
    title: &str,
    year: i16,
    tracks: &[(&str, u16)],
) -> Result<u64> {
    let albums = session.table_columns("music.albums", &["artist", "title", "year"])?;
    let of_album = session.table_columns("music.tracks", &["album", "number", "title", "seconds"])?;
    let mut transaction = session.begin(TransactionOptions::new())?;
    let album = transaction.insert(&albums, (artist, title, year))?.last_insert_id;
    for (number, (title, seconds)) in (1_u16..).zip(tracks) {
        transaction.insert(&of_album, (album, number, *title, *seconds))?;
    }
    transaction.commit()?;
    Ok(album)
}

/// Counts a track as played.
fn play(session: &mut Session, album: u64, number: u16) -> Result<u32> {
    let played = session.table_columns("music.tracks", &["played"])?;
    session.transact(TransactionOptions::new(), 10, |transaction| {
        let count: u32 = match transaction.get(&played, (album, number))? {
            Some(row) => row.get(0)?,
            None => return Ok(0),
        };
        transaction.update(&played, (album, number), (count + 1,))?;
        Ok(count + 1)
    })
}

/// Runs the example in a directory. Returns what it would show.
pub fn run(directory: &Path) -> Result<Vec<String>> {
    let database = Database::open(directory, Options::new())?;
    let mut session = database.session()?;
    create_tables(&mut session)?;
    let mut shown = Vec::new();
    let album = add_album(
        &mut session,
        "Miles Davis",
        "Kind of Blue",
        1959,
        &[
            ("So What", 562),
            ("Freddie Freeloader", 589),
            ("Blue in Green", 337),
        ],
    )?;
    // The same album again: nothing of it is added.
    match add_album(&mut session, "Miles Davis", "Kind of Blue", 1959, &[]) {
        Err(error) if error.kind() == ErrorKind::DuplicateKey => shown.push("it is there already".to_owned()),
        Err(error) => return Err(error),
        Ok(_) => shown.push("twice".to_owned()),
    }
    // Nobody recorded music then.
    if let Err(error) = add_album(&mut session, "Nobody", "Silence", 1850, &[]) {
        shown.push(format!("{:?}", error.kind()));
    }
    play(&mut session, album, 3)?;
    play(&mut session, album, 3)?;
    let tracks = session.table_columns("music.tracks", &["number", "title", "played"])?;
    session.scan(&tracks, &Scan::rows().prefix((album,)), |row| {
        let (number, title, played): (u16, &str, u32) = row.read()?;
        shown.push(format!("{number} {title} {played}"));
        Ok(true)
    })?;
    let total = session.query("SELECT SUM(seconds) FROM music.tracks WHERE album = ?", (album,))?;
    shown.push(format!("{:?} seconds", total.rows[0][0].as_ref()));
    let albums = session.table("music.albums")?;
    session.delete(&albums, (album,))?;
    let left = session.query("SELECT COUNT(*) FROM music.tracks", ())?;
    shown.push(format!("{:?} tracks", left.rows[0][0]));
    drop(session);
    database.close().map_err(|error| match error {
        Error::InUse => Error::Open("a session was forgotten".to_owned()),
        error => error,
    })?;
    Ok(shown)
}

#[allow(dead_code)] // the tests call `run`
fn main() -> Result<()> {
    for line in run(Path::new("music-collection"))? {
        println!("{line}");
    }
    Ok(())
}
