//! Loose scan: reads some entries of each group of an index and skips the others ([`LooseScan`]).
//!
//! The scan first walks through the group, because advancing by one entry is much cheaper than a seek. If the group is
//! larger, it seeks to the wanted entries and to the next group.

use std::ops::ControlFlow;

use paceline_storage::{Direction, IndexId, KeyRange, prefix_end};
use paceline_types::Value;
use paceline_types::key_reader::KeyReader;
use paceline_types::sort_key::{Nullability, VALUE_MARKER};

use super::base_table::BaseReader;
use crate::error::Result;
use crate::execute::context::{Execution, Visit};
use crate::plan::tree::{GroupEnds, LooseScan};

/// Number of entries of a group to read before seeking.
const WALKED_ENTRIES: usize = 8;

/// Shared columns of a group's entries, and the column after them.
struct GroupKey {
    shared: Vec<(paceline_types::DataType, Nullability)>,
    next_is_nullable: bool,
}

impl GroupKey {
    fn new(reader: &BaseReader<'_>, index: usize, loose: LooseScan) -> Self {
        let schema = reader.schema;
        let row_key = schema.row_key_parts();
        let mut parts = schema.indexes()[index].parts.iter().chain(row_key);
        let mut column = || parts.next().map(|part| &schema.columns()[part.column]);
        let shared = (0..loose.parts).filter_map(|_| column());
        let shared = shared
            .map(|column| (column.data_type.clone(), column.nullability))
            .collect();
        GroupKey {
            shared,
            next_is_nullable: column().is_some_and(|column| column.nullability == Nullability::Nullable),
        }
    }

    /// Returns the length of the part of a key that the group shares, in bytes.
    fn length(&self, key: &[u8]) -> Result<usize> {
        let mut reader = KeyReader::new(key.get(IndexId::LENGTH..).unwrap_or_default());
        for (data_type, nullability) in &self.shared {
            reader.skip(data_type, *nullability, None)?;
        }
        Ok(key.len() - reader.rest().len())
    }
}

impl BaseReader<'_> {
    /// Passes the wanted entries of each group within a range of an index to `visit`.
    pub(super) fn skip_through(
        &self,
        exec: &mut Execution<'_, '_>,
        secondary: Option<usize>,
        (range, loose): (&KeyRange, LooseScan),
        row: &mut [Value],
        visit: Visit<'_>,
        rows: &mut u64,
    ) -> Result<ControlFlow<()>> {
        let Some(index) = self.access.path.index() else {
            unreachable!("only indexes are skipped through")
        };
        let group = GroupKey::new(self, index, loose);
        let open = |exec: &mut Execution<'_, '_>, direction| {
            let scan = exec.state.transaction.scan(range.clone(), direction);
            scan.map_err(|error| self.definition.transaction_error(error))
        };
        let mut scan = open(exec, Direction::Forward)?;
        let mut backward = None;
        let mut row_key = Vec::new();
        let mut prefix = Vec::new();
        let mut found = scan.advance()?;
        while found {
            let Some(entry) = scan.entry() else { break };
            prefix.clear();
            prefix.extend_from_slice(&entry.key[..group.length(entry.key)?]);
            let mut walked = 0;
            // Entries at the start of the group.
            loop {
                exec.row_fetched()?;
                let Some(entry) = scan.entry() else { break };
                if !entry.key.starts_with(&prefix) {
                    break;
                }
                *rows += 1;
                if (walked == 0 || loose.ends != GroupEnds::One)
                    && self
                        .give_entry(exec, secondary, &entry, &mut row_key, row, visit)?
                        .is_break()
                {
                    return Ok(ControlFlow::Break(()));
                }
                walked += 1;
                if walked == WALKED_ENTRIES {
                    break;
                }
                found = scan.advance()?;
                if !found {
                    break;
                }
            }
            if walked < WALKED_ENTRIES {
                continue;
            }
            let length = prefix.len();
            if matches!(loose.ends, GroupEnds::Least | GroupEnds::Both) && group.next_is_nullable {
                prefix.push(VALUE_MARKER);
                exec.session.counts.handler_read_key += 1;
                scan.seek(&prefix);
                prefix.truncate(length);
                if scan.advance()?
                    && let Some(entry) = scan.entry()
                    && entry.key.starts_with(&prefix)
                {
                    *rows += 1;
                    let flow = self.give_entry(exec, secondary, &entry, &mut row_key, row, visit)?;
                    if flow.is_break() {
                        return Ok(flow);
                    }
                }
            }
            let end = prefix_end(&prefix);
            if matches!(loose.ends, GroupEnds::Greatest | GroupEnds::Both) {
                let last = match &mut backward {
                    Some(scan) => scan,
                    None => backward.insert(open(exec, Direction::Backward)?),
                };
                exec.session.counts.handler_read_key += 1;
                last.seek(&end);
                let mut more = last.advance()?;
                // A key that equals the upper bound does not belong to the group.
                if more && last.entry().is_some_and(|entry| !entry.key.starts_with(&prefix)) {
                    more = last.advance()?;
                }
                if more
                    && let Some(entry) = last.entry()
                    && entry.key.starts_with(&prefix)
                {
                    *rows += 1;
                    let flow = self.give_entry(exec, secondary, &entry, &mut row_key, row, visit)?;
                    if flow.is_break() {
                        return Ok(flow);
                    }
                }
            }
            exec.session.counts.handler_read_key += 1;
            scan.seek(&end);
            found = scan.advance()?;
        }
        Ok(ControlFlow::Continue(()))
    }
}
