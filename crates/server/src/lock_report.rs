//! Transactions, their waits and deadlocks as texts in the form of InnoDB's monitor.
//!
//! Programs that look for deadlocks read this text, so its lines are InnoDB's where they have something to say here. A
//! lock is shown with its table, index and key; the key is that of the engine, in hexadecimal digits.
//!
//! A deadlock is described while its members still wait ([`Deadlock`]): later their statements would be over. The last
//! description is kept (`Server::latest_deadlock`); with `innodb_print_all_deadlocks` each goes to the error log.

use crate::information_schema::{KeyPlace, LOCK_BYTES, OpenTransaction, operation};
use crate::open_transactions::{open_transactions, open_transactions_of};
use crate::registry::now_micros;
use crate::server::Server;
use crate::variables::Variable;
use paceline_catalog::Catalog;
use paceline_storage::IndexId;
use paceline_txn::{Deadlock, LockMode, RowLock, RowLockWait};
use paceline_types::temporal::{TimeZone, Timestamp};
use std::fmt::Write;
use std::sync::{Arc, Weak};

/// Maximum number of bytes of a key that are shown.
const KEY_SHOWN_MAX: usize = 64;

/// Describes all deadlocks from now on.
pub fn watch_deadlocks(server: &Arc<Server>) {
    let weak: Weak<Server> = Arc::downgrade(server);
    server.transactions.on_deadlock(Box::new(move |deadlock| {
        let Some(server) = weak.upgrade() else {
            return;
        };
        let report = describe(&server, deadlock);
        if server.globals.is_on(Variable::InnodbPrintAllDeadlocks) {
            tracing::info!("a deadlock was found:");
            for line in report.lines() {
                tracing::info!("{line}");
            }
        }
        server.latest_deadlock.lock().replace(report);
    }));
}

/// Returns the time as InnoDB's monitor shows it.
pub fn moment(micros: i64) -> String {
    let seconds = u32::try_from(micros / 1_000_000).unwrap_or(0);
    Timestamp::new(seconds, 0, 0)
        .to_datetime(&TimeZone::system())
        .to_string()
}

fn describe(server: &Server, deadlock: &Deadlock) -> String {
    let is_member = |session| deadlock.members.iter().any(|member| member.session_id == session);
    let transactions = open_transactions_of(server, is_member);
    let catalog = server.catalog.load();
    let places = Places {
        catalog: &catalog,
        transactions: &transactions,
    };
    let mut report = moment(now_micros());
    report.push('\n');
    for (number, member) in (1..).zip(&deadlock.members) {
        let _ = writeln!(report, "*** ({number}) TRANSACTION:");
        match transactions
            .iter()
            .find(|one| one.session_id == member.session_id)
        {
            Some(transaction) => write_transaction(&mut report, transaction, member.wait.is_some()),
            None => report.push_str("a definition, or an applied transaction\n"),
        }
        report.push_str("*** WAITING FOR THIS LOCK TO BE GRANTED:\n");
        match &member.wait {
            Some(wait) => {
                places.write_lock(&mut report, wait, wait.wanted, " waiting");
                for blocker in &wait.blockers {
                    report.push_str("\n*** CONFLICTING WITH:\n");
                    places.write_lock(&mut report, wait, *blocker, "");
                }
            }
            None => report.push_str("METADATA LOCK\n"),
        }
        report.push('\n');
    }
    let _ = writeln!(report, "*** WE ROLL BACK TRANSACTION ({})", deadlock.victim + 1);
    report
}

/// Returns the transactions with their waits: the section TRANSACTIONS of InnoDB's monitor.
pub fn transactions(server: &Server) -> String {
    let transactions = open_transactions(server);
    let waits = server.transactions.row_lock_waits();
    let catalog = server.catalog.load();
    let places = Places {
        catalog: &catalog,
        transactions: &transactions,
    };
    let now = now_micros();
    let next = transactions.iter().map(|one| one.id + 1).max().unwrap_or(1);
    let mut report =
        format!("Trx id counter {next}\nHistory list length 0\nLIST OF TRANSACTIONS FOR EACH SESSION:\n");
    for transaction in &transactions {
        report.push_str("---");
        let session = transaction.session_id;
        let wait = waits.iter().find(|wait| wait.wanted.session_id == session);
        write_transaction(&mut report, transaction, wait.is_some());
        let Some(wait) = wait else {
            continue;
        };
        let waited = transaction.waits_since_micros.map_or(0, |since| now - since);
        let _ = writeln!(
            report,
            "------- TRX HAS BEEN WAITING {waited} us FOR THIS LOCK TO BE GRANTED:"
        );
        places.write_lock(&mut report, wait, wait.wanted, " waiting");
        report.push_str("------------------\n");
    }
    report
}

/// Writes a transaction in InnoDB's lines.
fn write_transaction(report: &mut String, transaction: &OpenTransaction, waits: bool) {
    let active = (now_micros() - transaction.started_micros).max(0) / 1_000_000;
    let doing = match waits {
        true => format!(" {}", operation(transaction.query.as_deref())),
        false => String::new(),
    };
    let _ = writeln!(
        report,
        "TRANSACTION {}, ACTIVE {active} sec{doing}",
        transaction.id
    );
    if transaction.query.is_some() {
        report.push_str("mysql tables in use 1, locked 1\n");
    }
    let locks = transaction.locks;
    let _ = write!(
        report,
        "{}{locks} lock struct(s), heap size {}, {locks} row lock(s)",
        if waits { "LOCK WAIT " } else { "" },
        locks * LOCK_BYTES
    );
    if transaction.rows_changed > 0 {
        let _ = write!(report, ", undo log entries {}", transaction.rows_changed);
    }
    let _ = writeln!(
        report,
        "\nMariaDB thread id {}, OS thread handle 0, query id {} {} {} {}",
        transaction.connection_id,
        transaction.query_id,
        transaction.host.split(':').next().unwrap_or_default(),
        transaction.user,
        transaction.state
    );
    if let Some(query) = &transaction.query {
        let _ = writeln!(report, "{query}");
    }
}

/// Names of tables and transactions for the lines of locks.
struct Places<'a> {
    catalog: &'a Catalog,
    transactions: &'a [OpenTransaction],
}

impl Places<'_> {
    /// Writes a lock in InnoDB's lines, and its key.
    fn write_lock(&self, report: &mut String, wait: &RowLockWait, lock: RowLock, ending: &str) {
        let unknown = || KeyPlace {
            table: "?".to_owned(),
            index: "?".to_owned(),
            values: "?".to_owned(),
        };
        let KeyPlace { table, index, values } = KeyPlace::of(self.catalog, &wait.key).unwrap_or_else(unknown);
        let space = IndexId::of_key(&wait.key).map_or(0, IndexId::as_u32);
        let mut transactions = self.transactions.iter();
        let transaction = transactions.find(|one| one.session_id == lock.session_id);
        let id = transaction.map_or(0, |transaction| transaction.id);
        let mode = match lock.mode {
            LockMode::Shared => "S",
            LockMode::Exclusive => "X",
        };
        let shown = &wait.key[..wait.key.len().min(KEY_SHOWN_MAX)];
        let hex: String = shown.iter().map(|byte| format!("{byte:02x}")).collect();
        let _ = writeln!(
            report,
            "RECORD LOCKS space id {space} page no 0 n bits 0 index {index} of table {table} trx id {id} lock_mode {mode} locks rec \
             but not gap{ending}\nKey {values}, {} bytes: hex {hex}",
            wait.key.len()
        );
    }
}
