//! The limit of the process's memory (`paceline_memory_limit`).
//!
//! ```text
//!   limit ≥ what nobody can take back: connections, row locks, the catalog, gaps of the allocator   measured
//!         + memtables at their most                      at most a quarter, chosen at start-up
//!         + block cache at its capacity                  at most half; lowered when the rest needs its room
//!         + data of sessions                             files where the work can continue in one, else 1041
//!         + MEMORY tables, temporary tables              1114
//!         + buffers that grow for a long packet          1041, and the connection ends
//!         + reserve                                      what may grow between two measurements
//! ```
//!
//! Memory that belongs to no file is bounded. Pages of mapped files are not: the system takes them back when it needs
//! them, as it does with its own cache of files.
//!
//! Every [`INTERVAL`] the whole is measured, and what nobody uses and nobody was promised is divided: it is the room by
//! which sessions may grow, and half of it that of each other part. So a part never has to ask, and all of them
//! together can exceed the limit only by what they take from the same room within one interval. Memory is promised to
//! memtables and block cache, which fill up by themselves.
//!
//! If there is no room:
//! 1. free pages of the allocator go back to the system, at most once a second;
//! 2. the capacity of the block cache is lowered, to an eighth of what was configured at the least. It gives blocks up
//!    as others come in, about twice the size of a new one;
//! 3. new connections get 1041, except those of accounts with CONNECTION ADMIN.
//!
//! When there is room again, the cache's capacity is raised.
//!
//! | alternative | why not |
//! |---|---|
//! | a cache that shrinks at once for a session's sort | RocksDB's clock cache evicts only when something is inserted, and its LRU cache, which can, takes a lock for each block that is read |
//! | one account that every part asks | MEMORY tables and buffers would take a common lock, and most of the rest cannot ask: the allocator's gaps, the catalog, stacks |
//! | `setrlimit`, a control group's limit | an allocation that fails ends the process |

use crate::memory::{Shares, Sizes, resident};
use crate::server::Server;
use crate::variables::{Globals, Variable, VariableValue, memory_limit, session_memory_max};
use std::sync::Arc;
use std::time::Duration;

/// Time between two measurements.
const INTERVAL: Duration = Duration::from_millis(100);
/// Most memtables that exist at a time.
const MEMTABLES_MAX: u64 = 3;

/// Returns the memory of all memtables at their most, in bytes.
pub(super) fn memtables_max(globals: &Globals) -> u64 {
    globals
        .number(Variable::PacelineMemtableSize)
        .saturating_mul(MEMTABLES_MAX)
}

/// Lowers the variables for block cache and memtables to what the limit allows, before the tables are opened. Returns a
/// warning for each that was lowered.
pub fn fit_to_limit(globals: &Globals) -> Vec<String> {
    let limit = memory_limit(globals);
    let parts = [
        (Variable::PacelineBlockCacheSize, limit / 2),
        (Variable::PacelineMemtableSize, limit / 4 / MEMTABLES_MAX),
    ];
    let mut warnings = Vec::new();
    for (variable, most) in parts {
        let most = (most >> 20).max(1) << 20;
        let wanted = globals.number(variable);
        if wanted > most {
            globals.set(variable, VariableValue::Unsigned(most));
            warnings.push(format!(
                "{}: {wanted} is lowered to {most}, its share of paceline_memory_limit ({limit})",
                variable.definition().name
            ));
        }
    }
    warnings
}

/// Measures, and divides the limit anew.
pub fn divide_memory(server: &Server) {
    let globals = &server.globals;
    let limit = memory_limit(globals);
    let most = Shares {
        cache: globals.number(Variable::PacelineBlockCacheSize),
        sessions: session_memory_max(globals),
        memory_tables: paceline_storage::MemoryConfig::default().bytes_max,
        temporary_tables: globals.number(Variable::PacelineTemporaryTablesMax),
        buffers: u64::MAX,
        is_full: false,
    };
    let storage = server.transactions.storage();
    let apply = |shares: &Shares, cache_before: Option<u64>| {
        if cache_before != Some(shares.cache) {
            storage.set_block_cache_capacity(shares.cache);
        }
        server.memory.set_limit(shares.sessions);
        storage.set_memory_bytes_max(shares.memory_tables);
        storage.temporary().set_bytes_max(shares.temporary_tables);
        paceline_wire::set_buffered_bytes_max(shares.buffers);
    };
    let division = &server.memory_division;
    let full_with = division.divide(limit, &most, memtables_max(globals), || measure(server), apply);
    if let Some(bytes) = full_with {
        tracing::warn!(
            "the process has {} MiB of memory, and paceline_memory_limit is {} MiB: new connections are refused",
            bytes >> 20,
            limit >> 20
        );
    }
}

fn measure(server: &Server) -> Sizes {
    let storage = server.transactions.storage().memory_sizes();
    Sizes {
        process: resident().anonymous,
        cached: storage.block_cache,
        memtables: storage.memtables,
        sessions: server.memory.used(),
        memory_tables: storage.memory_tables,
        temporary_tables: storage.temporary_tables,
        buffers: paceline_wire::buffered_bytes(),
    }
}

/// Divides the memory until the server is shut down.
pub fn keep_within_limit(server: &Arc<Server>) {
    divide_memory(server);
    let server = server.clone();
    tokio::spawn(async move {
        let mut tick = tokio::time::interval(INTERVAL);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                _ = tick.tick() => {
                    // Giving back free pages may take a while.
                    let server = server.clone();
                    let _ = tokio::task::spawn_blocking(move || divide_memory(&server)).await;
                }
                () = server.shutdown_requested() => return,
            }
        }
    });
}
