use paceline_embedded::{Database, Options};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let database = Database::open("music", Options::new())?;
    let mut session = database.session()?;
    session.execute("CREATE DATABASE IF NOT EXISTS music", ())?;
    session.execute(
        "CREATE TABLE IF NOT EXISTS music.songs (id INT PRIMARY KEY, title TEXT)",
        (),
    )?;
    let songs = session.table("music.songs")?;
    session.replace(&songs, (1, "Blue in Green"))?;
    let title: Option<String> = session.get(&songs, (1,), |row| row.get_named("title"))?;
    println!("{}", title.unwrap_or_default());
    Ok(())
}
