//! A queue of jobs: several workers claim the oldest job that nobody else has claimed. A job whose worker dies is free
//! again at once, because its lock ends with its transaction.

use paceline_embedded::{
    Database, LockMode, LockWait, Options, ReadMode, Result, Scan, Session, Table, TransactionOptions,
};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

const CLAIM: ReadMode = ReadMode::Locked {
    mode: LockMode::Exclusive,
    wait: LockWait::SkipLocked,
};

/// Creates the queue, if it does not exist.
pub fn jobs(session: &mut Session) -> Result<Table> {
    session.execute("CREATE DATABASE IF NOT EXISTS queue", ())?;
    session.execute(
        "CREATE TABLE IF NOT EXISTS queue.jobs (id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, work TEXT NOT NULL)",
        (),
    )?;
    session.table("queue.jobs")
}

/// Takes the oldest free job, does it, and removes it. Returns false if there is none.
pub fn work(session: &mut Session, jobs: &Table, job: impl FnOnce(u64, &str)) -> Result<bool> {
    let mut transaction = session.begin(TransactionOptions::new())?;
    let mut claimed = None;
    transaction.scan(jobs, &Scan::rows().locking(CLAIM).limit(1), |row| {
        claimed = Some(row.read::<(u64, String)>()?);
        Ok(false)
    })?;
    let Some((id, work)) = claimed else {
        return Ok(false);
    };
    job(id, &work);
    transaction.delete(jobs, (id,))?;
    transaction.commit()?;
    Ok(true)
}

/// Runs the example in a directory: four workers, and this number of jobs. Returns how many were done.
pub fn run(directory: &Path, count: u64) -> Result<usize> {
    let database = Database::open(directory, Options::new())?;
    let mut session = database.session()?;
    let jobs = jobs(&mut session)?;
    let new_jobs = session.table_columns("queue.jobs", &["work"])?;
    session.insert_all(&new_jobs, (0..count).map(|number| (format!("work {number}"),)))?;
    let done = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| -> Result<()> {
                    let mut session = database.session()?;
                    while work(&mut session, &jobs, |_, _| {
                        done.fetch_add(1, Ordering::Relaxed);
                    })? {}
                    Ok(())
                })
            })
            .collect();
        workers
            .into_iter()
            .try_for_each(|worker| worker.join().expect("a worker does not panic"))
    })?;
    // A worker that finds only claimed jobs goes home; what is left at the end is done here.
    while work(&mut session, &jobs, |_, _| {
        done.fetch_add(1, Ordering::Relaxed);
    })? {}
    Ok(done.into_inner())
}

#[allow(dead_code)] // the tests call `run`
fn main() -> Result<()> {
    println!("{} jobs done", run(Path::new("queue"), 100)?);
    Ok(())
}
