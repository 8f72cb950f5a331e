//! Sequences: tables with one row of eight columns, and values handed out from memory.
//!
//! ```text
//!   row in the engine, under a fixed key         in memory, one for each definition
//!   next_not_cached_value … cycle_count ──load──▶ SequenceCache: next free value … next_not_cached_value
//!            ▲                                          │ take: a value, without a lock in the engine
//!            └── a reservation: its own transaction ◀── used up
//! ```
//!
//! * **Reservation.** NEXTVAL takes values from memory. When they are used up, it writes the row with a
//!   `next_not_cached_value` that is CACHE values higher, in a transaction of its own, and waits until that is
//!   published. Only then are the values given out. So a crash, a rollback or a promotion loses values and never
//!   repeats one: each value that was given out is below the `next_not_cached_value` of an acknowledged transaction.
//!   The user's transaction has no part in it; as in MariaDB nothing is undone by its rollback.
//! * **Order.** One session at a time changes a sequence ([`SequenceChange`]); others wait for it, and can be killed
//!   meanwhile. It then locks the row's key, reads the newest row and compares it with the row in memory. If a
//!   replicated transaction has changed the row, the values in memory are forgotten. A replicated change forgets them
//!   too, under the same lock ([`SequenceCache::forget`]), because the primary may have given out the same values.
//! * **Log.** As in MariaDB each new row is a Write_rows event of the whole row, in an event group that is not
//!   transactional; an INSERT into the sequence has the flag of DDL in addition. The row has a fixed key
//!   ([`RowPlacement::Single`](paceline_storage::RowPlacement)), so an insert replaces the row that is there. Recovery,
//!   backup and rewind need to know nothing about sequences: they replay inserts. CREATE and ALTER SEQUENCE are logged
//!   as statements; a replay computes the same row from the row at its position.
//! * **Replicas.** A row of NEXTVAL or SETVAL only raises the replica's row ([`raised`]), because a session of the
//!   replica may have taken values itself. A row with the flag of DDL replaces it. Both are logged as whole rows.
//! * **Reads.** SELECT from a sequence reads the newest published row in every isolation level: no snapshot hides that
//!   values are gone.
//!
//! Limits: one row of 58 bytes and one cache in memory for each sequence; a session remembers the last values of at
//! most 4,096 sequences.
//!
//! # Rejected
//! * Values in the user's transaction: a rollback would give them out again, and NEXTVAL would lock the row until
//!   COMMIT.
//! * A counter only in memory that is derived from the log at start-up, as AUTO_INCREMENT has: no table contains the
//!   values of a sequence.
//! * Update events: MariaDB's replicas take only inserts for sequences.

mod cache;
mod position;
mod row;

pub use cache::{SequenceCache, SequenceChange};
pub use position::{NextValue, SequencePosition, SetOutcome, Steps, raised};
pub use row::SequenceRow;
