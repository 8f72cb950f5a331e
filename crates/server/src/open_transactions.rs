//! The open transactions of all sessions.

use crate::information_schema::OpenTransaction;
use crate::registry::now_micros;
use crate::server::Server;

/// Maximum length of a statement's text, in characters.
const TEXT_MAX: usize = 1024;

/// Returns the transactions that have accessed a table or wait for a row.
pub fn open_transactions(server: &Server) -> Vec<OpenTransaction> {
    open_transactions_of(server, |_| true)
}

/// Returns those of the sessions whose ids in the lock tables `admits` accepts. The activities of others are not read.
pub fn open_transactions_of(server: &Server, admits: impl Fn(u64) -> bool) -> Vec<OpenTransaction> {
    let now = now_micros();
    let mut transactions = vec![];
    for session in server.sessions.all() {
        let (Some(locks), Some(marked)) = (session.locks.get(), session.transaction.get()) else {
            continue;
        };
        if !admits(locks.id()) {
            continue;
        }
        let progress = locks.progress();
        let activity = session.activity();
        let is_busy = activity.command != "Sleep";
        let waits_since = progress
            .waits_since
            .map(|since| now.saturating_sub(i64::try_from(since.elapsed().as_micros()).unwrap_or(i64::MAX)));
        let text = String::from_utf8_lossy(&activity.text);
        transactions.push(OpenTransaction {
            session_id: locks.id(),
            id: (locks.id() << 32) + progress.number,
            connection_id: u64::from(session.id),
            started_micros: marked.started_micros,
            waits_since_micros: waits_since,
            weight: progress.weight,
            locks: progress.locks,
            rows_changed: progress.rows_changed,
            query: is_busy.then(|| text.chars().take(TEXT_MAX).collect()),
            user: activity.user,
            host: activity.host,
            state: activity.state,
            query_id: session.query_id.load(std::sync::atomic::Ordering::Relaxed),
            isolation: marked.isolation,
            unique_checks: marked.unique_checks,
            foreign_key_checks: marked.foreign_key_checks,
            read_only: marked.read_only,
            is_single_statement: marked.is_single_statement,
        });
    }
    transactions
}
