//! The open transactions, and who waits for whom: for rows and for metadata locks.
//!
//! A session waits for those that hold the object in a mode that conflicts with its own; if there are none, for those
//! that have asked for it before in such a mode. Sessions that wait or block without a transaction are listed as well.

use crate::information_schema::KeyPlace;
use crate::open_transactions::open_transactions;
use crate::registry::SessionHandle;
use crate::server::Server;
use paceline_txn::{MetadataKind, MetadataLock, MetadataMode};
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// Maximum length of a statement's text, in characters.
const TEXT_MAX: usize = 1024;

/// Returns whether two owners cannot have an object in these modes at the same time.
fn conflict(one: MetadataMode, other: MetadataMode) -> bool {
    use MetadataMode::{Exclusive, ReadOnly, Write};
    matches!(
        (one, other),
        (Exclusive, _) | (_, Exclusive) | (ReadOnly, Write) | (Write, ReadOnly)
    )
}

/// Returns the name of a locked object, for users.
fn object(lock: &MetadataLock) -> String {
    match lock.kind {
        MetadataKind::Global => "the global read lock".to_owned(),
        MetadataKind::Commit => "the global read lock, at its commit".to_owned(),
        MetadataKind::Database => format!("the database `{}`", lock.database),
        MetadataKind::Table => format!("the definition of `{}`.`{}`", lock.database, lock.name),
        MetadataKind::ForeignKeyName => format!("the foreign key `{}`.`{}`", lock.database, lock.name),
        MetadataKind::Routine => format!("the routine `{}`.`{}`", lock.database, lock.name),
        MetadataKind::Event => format!("the event `{}`.`{}`", lock.database, lock.name),
        MetadataKind::UserLevel => format!("the name '{}'", lock.name),
    }
}

/// A session that waits for a metadata lock.
#[derive(Debug, PartialEq, Eq)]
struct MetadataWait {
    waiting: u64,
    blocking: Vec<u64>,
    object: String,
}

/// Returns the waits among these locks. Sessions are those of the lock tables.
fn metadata_waits(locks: &[MetadataLock]) -> Vec<MetadataWait> {
    let is_same = |one: &MetadataLock, other: &MetadataLock| {
        one.kind == other.kind && one.database == other.database && one.name == other.name
    };
    let blockers = |place: usize| {
        let wanted = &locks[place];
        let others = locks.iter().enumerate().filter(move |(_, other)| {
            other.session_id != wanted.session_id
                && is_same(other, wanted)
                && conflict(other.mode, wanted.mode)
        });
        let holders: BTreeSet<u64> = others
            .clone()
            .filter(|(_, other)| other.is_held)
            .map(|(_, other)| other.session_id)
            .collect();
        match holders.is_empty() {
            false => holders,
            true => others
                .filter(|(at, _)| *at < place)
                .map(|(_, other)| other.session_id)
                .collect(),
        }
    };
    let wanted = locks.iter().enumerate().filter(|(_, lock)| !lock.is_held);
    wanted
        .map(|(place, lock)| MetadataWait {
            waiting: lock.session_id,
            blocking: blockers(place).into_iter().collect(),
            object: object(lock),
        })
        .filter(|wait| !wait.blocking.is_empty())
        .collect()
}

/// Returns the open transactions, which sessions wait for which, and the sessions of those waits.
pub(in crate::http) fn transactions(server: &Arc<Server>) -> Value {
    let open = open_transactions(server);
    let sessions: HashMap<u64, Arc<SessionHandle>> = server
        .sessions
        .all()
        .into_iter()
        .filter_map(|session| Some((session.locks.get()?.id(), session)))
        .collect();
    let connection = |session_id: &u64| sessions.get(session_id).map(|session| u64::from(session.id));
    let now_micros = crate::registry::now_micros();
    let catalog = server.catalog.load();
    let row_waits = server.transactions.row_lock_waits();
    let row_waits = row_waits.iter().filter_map(|wait| {
        let waiting = connection(&wait.wanted.session_id)?;
        let blockers = wait
            .blockers
            .iter()
            .filter_map(|blocker| connection(&blocker.session_id));
        let place = KeyPlace::of(&catalog, &wait.key).unwrap_or_default();
        Some(json!({
            "waiting": waiting,
            "blocking": blockers.collect::<Vec<_>>(),
            "kind": "row",
            "object": place.table,
            "index": place.index,
        }))
    });
    let metadata_waits = metadata_waits(&server.transactions.metadata_locks());
    let metadata_waits = metadata_waits.iter().filter_map(|wait| {
        let blockers = wait.blocking.iter().filter_map(connection);
        Some(json!({
            "waiting": connection(&wait.waiting)?,
            "blocking": blockers.collect::<Vec<_>>(),
            "kind": "metadata",
            "object": wait.object,
        }))
    });
    let waits: Vec<Value> = row_waits.chain(metadata_waits).collect();
    let involved: BTreeSet<u64> = waits
        .iter()
        .flat_map(|wait| {
            let blocking = wait["blocking"].as_array().into_iter().flatten();
            blocking.chain([&wait["waiting"]]).filter_map(Value::as_u64)
        })
        .collect();
    let session = |id: &u64| {
        let session = server.sessions.get(u32::try_from(*id).ok()?)?;
        let activity = session.activity();
        let text = String::from_utf8_lossy(&activity.text);
        let text: String = text.chars().take(TEXT_MAX).collect();
        Some(json!({
            "connection": id,
            "user": activity.user,
            "host": activity.host,
            "statement": (activity.command != "Sleep").then_some(text),
        }))
    };
    let transaction = |one: &crate::information_schema::OpenTransaction| {
        json!({
            "connection": one.connection_id,
            "user": one.user,
            "host": one.host,
            "age_usec": (now_micros - one.started_micros).max(0),
            "locks": one.locks,
            "rows_changed": one.rows_changed,
            "statement": one.query,
            "state": one.state,
        })
    };
    json!({
        "transactions": open.iter().map(transaction).collect::<Vec<_>>(),
        "waits": waits,
        "sessions": involved.iter().filter_map(session).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lock(session_id: u64, mode: MetadataMode, is_held: bool) -> MetadataLock {
        MetadataLock {
            session_id,
            kind: MetadataKind::Table,
            database: "d".into(),
            name: "t".into(),
            mode,
            is_held,
        }
    }

    #[test]
    fn who_waits_for_a_metadata_lock_waits_for_holders_and_then_for_those_before_it() {
        let locks = [
            lock(1, MetadataMode::Write, true),
            lock(2, MetadataMode::Read, true),
            lock(3, MetadataMode::Exclusive, false),
            lock(4, MetadataMode::Read, false),
        ];
        let waits = metadata_waits(&locks);
        let found: Vec<_> = waits
            .iter()
            .map(|wait| (wait.waiting, &wait.blocking[..]))
            .collect();
        assert_eq!(found, [(3, &[1, 2][..]), (4, &[3][..])]);
        assert_eq!(waits[0].object, "the definition of `d`.`t`");
        let other = MetadataLock {
            name: "other".into(),
            ..lock(3, MetadataMode::Exclusive, false)
        };
        assert_eq!(metadata_waits(&[lock(1, MetadataMode::Write, true), other]), []);
    }
}
