//! SHOW ENGINE.

use crate::information_schema::{Scope, has_engine};
use crate::lock_report;
use crate::metrics::status_variables;
use crate::registry::now_micros;
use crate::session::protocol::Output;
use crate::session::services::SessionServices;
use paceline_expression::session::Privilege;
use paceline_syntax::{Error, Result};
use paceline_types::Value;
use paceline_types::error_code::ER_UNKNOWN_STORAGE_ENGINE;
use std::fmt::Write;

/// Returns SHOW ENGINE … STATUS, MUTEX or LOGS.
///
/// # Errors
/// 1227; 1286 for an unknown engine.
pub fn status(engine: &str, what: &str, services: &SessionServices) -> Result<Output> {
    services.require_any(&[Privilege::Process])?;
    if !engine.eq_ignore_ascii_case("ALL") && !has_engine(engine) {
        return Err(Error::new(ER_UNKNOWN_STORAGE_ENGINE, &[&engine]));
    }
    let mut output = Output::new();
    output.text("Type", 10).text("Name", 512).text("Status", 65_535);
    // Its mutexes and its log have no data.
    let is_innodb = ["InnoDB", "ALL"]
        .iter()
        .any(|name| engine.eq_ignore_ascii_case(name));
    if is_innodb && what == "STATUS" {
        let text = monitor(services);
        output.row(vec![
            Value::Text("InnoDB".into()),
            Value::Text(String::new()),
            Value::Text(text),
        ]);
    }
    Ok(output)
}

/// Returns the text of InnoDB's monitor: those of its sections that have something to say here.
fn monitor(services: &SessionServices) -> String {
    let server = &services.server;
    let sample = services.sample(Scope::Global);
    let mut text = String::new();
    let title = format!("{} INNODB MONITOR OUTPUT", lock_report::moment(now_micros()));
    heading(&mut text, '=', &title);
    if let Some(deadlock) = &*server.latest_deadlock.lock() {
        heading(&mut text, '-', "LATEST DETECTED DEADLOCK");
        text.push_str(deadlock);
    }
    heading(&mut text, '-', "TRANSACTIONS");
    text.push_str(&lock_report::transactions(server));
    heading(&mut text, '-', "LOG");
    let positions = server.transactions.positions();
    let _ = writeln!(
        text,
        "Written up to      {}\nDurable up to      {}\nAcknowledged up to {}\nPublished up to    {}\nLast checkpoint at {}",
        positions.written,
        positions.durable,
        positions.acknowledged,
        positions.published,
        server.transactions.storage().position()
    );
    heading(&mut text, '-', "BUFFER POOL AND MEMORY");
    let _ = writeln!(
        text,
        "Block cache        {} bytes\nMemtables          {} bytes, {} wait for their flush\nTable files        {} bytes, {} to compact",
        sample.storage.block_cache_bytes,
        sample.storage.memtable_bytes,
        sample.storage.immutable_memtables,
        sample.storage.table_file_bytes,
        sample.storage.pending_compaction_bytes
    );
    heading(&mut text, '-', "ROW OPERATIONS");
    let _ = writeln!(
        text,
        "0 queries inside InnoDB, 0 queries in queue\n{} read views open inside InnoDB",
        sample.transactions.open_transactions
    );
    heading(&mut text, '-', "STATUS VARIABLES");
    for (name, value) in status_variables(&sample) {
        if name.starts_with("Paceline_") || name.starts_with("Innodb_") {
            let _ = writeln!(text, "{name} {value}");
        }
    }
    heading(&mut text, '-', "END OF INNODB MONITOR OUTPUT");
    text
}

/// Adds a heading between two lines of its length.
fn heading(text: &mut String, line: char, title: &str) {
    let line = line.to_string().repeat(title.len());
    let _ = write!(text, "{line}\n{title}\n{line}\n");
}
