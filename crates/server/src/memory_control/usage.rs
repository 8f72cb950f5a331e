//! Memory of the process by purpose.
//!
//! ```text
//!   process (resident)
//!     ├── mapped files       program, libraries, files that are read in place      measured
//!     ├── outside the heap   stacks of threads, static data                        measured
//!     └── heap
//!           ├── overhead     gaps, free pages, data of the allocator               measured
//!           ├── block cache, memtables, readers of table files                     as RocksDB counts them
//!           ├── MEMORY tables, temporary tables, data of sessions, long packets    as their accounts count them
//!           ├── row locks, connections, definitions of tables                      number × size of one
//!           ├── changes of open transactions                                       as the transactions count them
//!           └── other                                                              the rest
//! ```
//!
//! The sum is the memory of the process as the system counts it. How much of it is `other` shows what nothing accounts
//! for; `tests/monitoring/test_memory.py` checks under several loads that it is less than a tenth.

use super::limit::memtables_max;
use crate::memory::{CONNECTION_BYTES, MemoryPart, Purpose, resident};
use crate::server::Server;
use crate::variables::Variable;
use paceline_catalog::{Catalog, Database, TableDefinition};
use paceline_txn::ROW_LOCK_BYTES;
use paceline_types::heap;
use std::sync::Arc;

/// Memory of a table's definition in bytes, without columns and indexes; that of a column, and of an index. Measured
/// with 2,000 tables of 1 and of 51 columns, and of 5 columns with an index each.
const TABLE_BYTES: u64 = 2 << 10;
const COLUMN_BYTES: u64 = 288;
const INDEX_BYTES: u64 = 256;
/// That of a column in a format of earlier rows: its type twice, its origin, its conversion.
const EARLIER_COLUMN_BYTES: u64 = 128;
/// That of a view or routine for each byte of its text, with its tree. Measured with the 100 views and 25 routines of
/// `sys`.
const TEXT_FACTOR: u64 = 9;

/// Returns the approximate memory of all definitions of tables, views and routines.
fn catalog_bytes(catalog: &Catalog) -> u64 {
    let of_table = |table: &Arc<TableDefinition>| {
        let earlier: usize = table.earlier_rows.iter().map(|rows| rows.columns.len()).sum();
        TABLE_BYTES
            + table.columns().len() as u64 * COLUMN_BYTES
            + table.indexes().len() as u64 * INDEX_BYTES
            + earlier as u64 * EARLIER_COLUMN_BYTES
    };
    let of_texts = |database: &Arc<Database>| {
        let views = database.views().map(|view| view.query.len());
        let routines = database.routines().map(|routine| routine.body.len());
        views.chain(routines).sum::<usize>() as u64 * TEXT_FACTOR
    };
    catalog.tables().map(of_table).sum::<u64>() + catalog.databases().map(of_texts).sum::<u64>()
}

/// Returns the memory of the changes of all open transactions.
fn change_bytes(server: &Server) -> u64 {
    let sessions = server.sessions.all();
    sessions.iter().map(|session| session.memory_use().changes).sum()
}

/// Measures the memory of the process by purpose. The sum is the process's own figure, unless parts are estimated too
/// high.
pub fn memory_usage(server: &Server) -> Vec<MemoryPart> {
    let resident = resident();
    let heap = heap::usage();
    let transactions = &server.transactions;
    let storage = transactions.storage();
    let used = storage.statistics();
    let division = &server.memory_division;
    let cache_limit = division.cache_capacity(server.globals.number(Variable::PacelineBlockCacheSize));
    let row_locks_limit = transactions.config().row_locks_max as u64;
    let connections_limit = server.globals.number(Variable::MaxConnections);
    let part = |purpose, bytes, limit| MemoryPart {
        purpose,
        bytes,
        limit,
    };
    let accounted = [
        part(Purpose::BlockCache, used.block_cache_bytes, Some(cache_limit)),
        part(
            Purpose::Memtables,
            used.memtable_memory_bytes,
            Some(memtables_max(&server.globals)),
        ),
        part(Purpose::TableReaders, used.table_reader_bytes, None),
        part(
            Purpose::MemoryTables,
            used.memory_engine_bytes,
            Some(storage.memory_bytes_max()),
        ),
        part(
            Purpose::TemporaryTables,
            used.temporary_bytes,
            Some(storage.temporary().bytes_max()),
        ),
        part(
            Purpose::SessionData,
            server.memory.used(),
            Some(server.memory.limit()),
        ),
        part(
            Purpose::RowLocks,
            transactions.row_lock_bytes(),
            Some(row_locks_limit.saturating_mul(ROW_LOCK_BYTES)),
        ),
        part(Purpose::TransactionChanges, change_bytes(server), None),
        part(
            Purpose::Connections,
            server.sessions.count() as u64 * CONNECTION_BYTES,
            Some(connections_limit * CONNECTION_BYTES),
        ),
        part(Purpose::Catalog, catalog_bytes(&server.catalog.load()), None),
        part(
            Purpose::LongPackets,
            paceline_wire::buffered_bytes(),
            Some(paceline_wire::buffered_bytes_max()),
        ),
    ];
    let known: u64 = accounted.iter().map(|part| part.bytes).sum();
    let rest = resident.anonymous.saturating_sub(known);
    // The allocator also counts pages that were never touched, so its figure can exceed the system's. In a program
    // whose allocator is not observed, both parts belong to the rest.
    let outside = heap.map_or(0, |heap| {
        resident.anonymous.saturating_sub(heap.resident).min(rest)
    });
    let overhead = heap.map_or(0, |heap| heap.overhead().min(rest - outside));
    let mut parts = vec![
        part(Purpose::MappedFiles, resident.mapped, None),
        part(Purpose::OutsideHeap, outside, None),
        part(Purpose::HeapOverhead, overhead, None),
    ];
    parts.extend(accounted);
    parts.push(part(Purpose::Other, rest - outside - overhead, None));
    parts
}
