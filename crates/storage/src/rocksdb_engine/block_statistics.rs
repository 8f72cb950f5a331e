//! Counters of the work with blocks. RocksDB counts them for each processor, without a lock.

use rocksdb::Options;
use rocksdb::statistics::Ticker;

/// Work with the blocks of table files since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockStatistics {
    /// Look-ups of blocks that were in the cache.
    pub cache_hits: u64,
    /// Look-ups of blocks that had to be read from a file.
    pub cache_misses: u64,
    /// Reads from table files, also those of compactions.
    pub file_reads: u64,
    /// Bytes that they have read.
    pub file_read_bytes: u64,
    /// Bytes that flushes and compactions have written.
    pub file_written_bytes: u64,
}

impl BlockStatistics {
    /// Reads the counters of the database that was opened with these options.
    pub(super) fn of(options: &Options) -> Self {
        let count = |ticker| options.get_ticker_count(ticker);
        BlockStatistics {
            cache_hits: count(Ticker::BlockCacheHit),
            cache_misses: count(Ticker::BlockCacheMiss),
            file_reads: count(Ticker::LastLevelReadCount) + count(Ticker::NonLastLevelReadCount),
            file_read_bytes: count(Ticker::LastLevelReadBytes) + count(Ticker::NonLastLevelReadBytes),
            file_written_bytes: count(Ticker::FlushWriteBytes) + count(Ticker::CompactWriteBytes),
        }
    }
}
