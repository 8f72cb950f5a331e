//! Purposes of memory.

/// Purpose of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
    /// Files that are mapped into memory: the program, libraries, temporary files that are read in place.
    MappedFiles,
    /// Stacks of threads and static data.
    OutsideHeap,
    /// Free pages, gaps and data of the allocator.
    HeapOverhead,
    /// Blocks of table files, with their indexes and filters.
    BlockCache,
    /// The newest rows, before they are written to table files.
    Memtables,
    /// Descriptions of the open table files.
    TableReaders,
    /// MEMORY tables.
    MemoryTables,
    /// Temporary tables.
    TemporaryTables,
    /// Data that sessions collect.
    SessionData,
    /// Row locks.
    RowLocks,
    /// Changes of open transactions.
    TransactionChanges,
    /// State of connections.
    Connections,
    /// Definitions of tables.
    Catalog,
    /// Buffers that have grown for long packets.
    LongPackets,
    /// The rest of the heap.
    Other,
}

impl Purpose {
    /// Returns the name for users.
    pub fn name(self) -> &'static str {
        match self {
            Purpose::MappedFiles => "mapped_files",
            Purpose::OutsideHeap => "outside_heap",
            Purpose::HeapOverhead => "heap_overhead",
            Purpose::BlockCache => "block_cache",
            Purpose::Memtables => "memtables",
            Purpose::TableReaders => "table_readers",
            Purpose::MemoryTables => "memory_tables",
            Purpose::TemporaryTables => "temporary_tables",
            Purpose::SessionData => "session_data",
            Purpose::RowLocks => "row_locks",
            Purpose::TransactionChanges => "transaction_changes",
            Purpose::Connections => "connections",
            Purpose::Catalog => "catalog",
            Purpose::LongPackets => "long_packets",
            Purpose::Other => "other",
        }
    }

    /// Returns what it is, and what happens at its limit.
    pub fn description(self) -> &'static str {
        match self {
            Purpose::MappedFiles => {
                "the program, libraries, temporary files that are read in place; the system takes pages back"
            }
            Purpose::OutsideHeap => "stacks of threads, static data",
            Purpose::HeapOverhead => {
                "free pages, gaps and data of the allocator; near the limit free pages go back to the system"
            }
            Purpose::BlockCache => "blocks of table files; the least used give way",
            Purpose::Memtables => "the newest rows; a full one is written to a table file, and writers wait",
            Purpose::TableReaders => "descriptions of open table files",
            Purpose::MemoryTables => "MEMORY tables and those of added engines; error 1114",
            Purpose::TemporaryTables => "temporary tables; error 1114",
            Purpose::SessionData => {
                "sorts, groups, joins, prepared statements, user variables; files where possible, else error 1041"
            }
            Purpose::RowLocks => "row locks; error 1206",
            Purpose::TransactionChanges => "changes of open transactions; those of large ones go to files",
            Purpose::Connections => "state of connections; error 1040",
            Purpose::Catalog => "definitions of tables",
            Purpose::LongPackets => {
                "buffers that have grown for long packets; error 1041, the connection ends"
            }
            Purpose::Other => "the rest: plans, statistics, queues, smaller caches",
        }
    }
}

/// Memory that is used for one purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryPart {
    /// The purpose.
    pub purpose: Purpose,
    /// Memory in bytes.
    pub bytes: u64,
    /// Limit in bytes, if it has one of its own.
    pub limit: Option<u64>,
}
