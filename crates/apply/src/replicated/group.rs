//! Applies a whole transaction of a primary to a transaction of ours.

use super::change::RowChanger;
use super::events::{AfterImages, ReplicatedRows, RowMapping, all_columns};
use super::failure::Failure;
use super::firing_rows::FiringRows;
use super::partial_rows::PartialRowApplier;
use super::sequence::{SequenceChangeKind, sequence_rows};
use super::statement_counts::StatementCounts;
use super::table::MappedTable;
use super::{RowOptions, SkippedErrors};
use paceline_binlog::EventGroup;
use paceline_binlog::event::{
    Event, EventType, FormatDescription, GtidFlags, QueryEvent, RawEvent, RowsEvent, RowsFlags, RowsKind,
    TableId,
};
use paceline_binlog::group::{StatementForm, StatementOptions};
use paceline_binlog::mysql::PartialUpdateRowsEvent;
use paceline_catalog::IndexStatistics;
use paceline_catalog::foreign_key::{ForeignKeyRun, RunMode};
use paceline_txn::Transaction;
use smallvec::SmallVec;
use std::sync::Arc;

/// The work that an event group requires.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GroupKind {
    /// Only rows, or nothing. It can be prepared in parallel with other groups.
    Rows,
    /// The start of an epoch, which is logged as it is.
    EpochStart,
    /// Statements. They run through SQL, one group at a time.
    Statements,
}

/// Returns the kind of a group.
///
/// # Errors
/// Fails if an event cannot be decoded.
pub fn group_kind(group: &EventGroup, format: &FormatDescription) -> Result<GroupKind, Failure> {
    if group.epoch_mark().is_some() {
        return Ok(GroupKind::EpochStart);
    }
    for event in group.events().skip(1) {
        let event_type = event.event_type();
        if event_type == EventType::XID
            || event_type == EventType::TABLE_MAP
            || event_type == EventType::ANNOTATE_ROWS
            || event_type.has_rows()
        {
            continue;
        }
        match event.decode(format)? {
            Event::Query(query) if frame(&query).is_some() => {}
            Event::Ignorable(_) => {}
            _ => return Ok(GroupKind::Statements),
        }
    }
    Ok(GroupKind::Rows)
}

/// A statement that delimits row changes without changing rows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Frame {
    /// BEGIN or COMMIT.
    Edge,
    /// ROLLBACK: the primary undid everything before it.
    Rollback,
    /// SAVEPOINT, with its name.
    Savepoint(String),
    /// ROLLBACK TO, with the savepoint's name.
    RollbackTo(String),
}

/// Returns the frame that a Query event is; `None` for a statement with an effect of its own.
pub(crate) fn frame(query: &QueryEvent<'_>) -> Option<Frame> {
    let sql = query.sql.trim_ascii();
    let behind = |words: &[u8]| {
        let head = sql.get(..words.len())?;
        head.eq_ignore_ascii_case(words).then(|| {
            let name = String::from_utf8_lossy(sql[words.len()..].trim_ascii()).into_owned();
            match name.strip_prefix('`').and_then(|name| name.strip_suffix('`')) {
                Some(quoted) => quoted.replace("``", "`"),
                None => name,
            }
        })
    };
    if sql.eq_ignore_ascii_case(b"BEGIN") || sql.eq_ignore_ascii_case(b"COMMIT") {
        Some(Frame::Edge)
    } else if sql.eq_ignore_ascii_case(b"ROLLBACK") {
        Some(Frame::Rollback)
    } else {
        behind(b"SAVEPOINT ").map(Frame::Savepoint).or_else(|| {
            behind(b"ROLLBACK TO SAVEPOINT ")
                .or_else(|| behind(b"ROLLBACK TO "))
                .map(Frame::RollbackTo)
        })
    }
}

/// Result of applying a transaction's rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RowsOutcome {
    /// Number of changed rows.
    Changed(u64),
    /// The primary rolled everything back at the end. Only the GTID may be kept.
    RolledBack,
}

/// Result of applying an event.
#[must_use]
pub enum EventOutcome {
    /// Number of changed rows.
    Changed(u64),
    /// Nothing was changed: the rows fire triggers, so a session has to change them. Our statement has ended.
    Firing(FiringRows),
}

impl EventOutcome {
    /// Returns the number of changed rows, for a caller that has no session.
    ///
    /// # Errors
    /// 1593 for rows that fire triggers.
    pub fn changed(self) -> Result<u64, Failure> {
        match self {
            EventOutcome::Changed(changed) => Ok(changed),
            EventOutcome::Firing(rows) => Err(rows.at(Failure::fatal(format_args!(
                "only a session can fire the triggers of {}.{}",
                rows.definition().database(),
                rows.definition().name()
            )))),
        }
    }
}

/// Applies transactions one after the other. Reuses its buffers from one to the next.
pub struct RowApplier {
    changer: RowChanger,
    partial_rows: PartialRowApplier,
    skipped_errors: SkippedErrors,
    counts: Arc<StatementCounts>,
    /// Text of the primary's statement to which the next rows belong.
    annotation: Option<Vec<u8>>,
    /// Meaning of rows of sequences in this transaction.
    sequence_changes: SequenceChangeKind,
    /// Tables of the primary's statement to which the next rows belong.
    maps: SmallVec<[TableId; 4]>,
    /// Whether rows of this statement have been received.
    has_rows: bool,
}

impl RowApplier {
    /// Creates an applier that counts what it applies. `statistics` help to choose an index for partial images.
    pub fn new(
        options: &RowOptions,
        statistics: Arc<dyn IndexStatistics>,
        counts: Arc<StatementCounts>,
    ) -> Self {
        RowApplier {
            changer: RowChanger::default(),
            partial_rows: PartialRowApplier::new(statistics),
            skipped_errors: options.skipped_errors.clone(),
            counts,
            annotation: None,
            sequence_changes: SequenceChangeKind::Values,
            maps: SmallVec::new(),
            has_rows: false,
        }
    }

    /// Starts a new transaction: forgets the state of the one before.
    pub fn begin(&mut self) {
        self.sequence_changes = SequenceChangeKind::Values;
        self.forget_statement();
    }

    fn forget_statement(&mut self) {
        self.annotation = None;
        self.maps.clear();
        self.has_rows = false;
    }

    /// Applies a transaction's rows to a transaction of ours that has changed nothing so far. None of them may fire
    /// triggers.
    ///
    /// # Errors
    /// The reason why it cannot be applied. Then nothing of it may be committed.
    pub fn apply(
        &mut self,
        rows: &ReplicatedRows<'_>,
        transaction: &mut Transaction,
    ) -> Result<RowsOutcome, Failure> {
        let flags = rows.group.gtid_event()?.flags;
        // Of a group of rows, DDL means that it replaces the row of a sequence.
        let kept = GtidFlags::WAITED
            .with(GtidFlags::ALLOW_PARALLEL)
            .with(GtidFlags::DDL);
        transaction.set_gtid_flags(GtidFlags(flags.0 & kept.0).with(GtidFlags::TRANSACTIONAL));
        self.begin();
        if flags.contains(GtidFlags::DDL) {
            self.sequence_changes = SequenceChangeKind::Definition;
        }
        let mut changed = 0;
        for event in rows.group.events().skip(1) {
            changed += self.event(&event, rows.mapping(), transaction)?.changed()?;
            if event.event_type() == EventType::QUERY
                && let Event::Query(query) = event.decode(rows.format)?
                && frame(&query) == Some(Frame::Rollback)
            {
                return Ok(RowsOutcome::RolledBack);
            }
        }
        self.counts.count_commit();
        Ok(RowsOutcome::Changed(changed))
    }

    /// Applies one event of a transaction: an annotation, table map, rows event or savepoint.
    ///
    /// # Errors
    /// The reason why it cannot be applied.
    pub fn event(
        &mut self,
        event: &RawEvent<'_>,
        mapping: RowMapping<'_>,
        transaction: &mut Transaction,
    ) -> Result<EventOutcome, Failure> {
        self.decoded(event, mapping, transaction)
            .map_err(|failure| Failure {
                end_log_pos: event.header().end_position,
                ..failure
            })
    }

    fn decoded(
        &mut self,
        event: &RawEvent<'_>,
        mapping: RowMapping<'_>,
        transaction: &mut Transaction,
    ) -> Result<EventOutcome, Failure> {
        match event.decode(mapping.format)? {
            Event::AnnotateRows(annotate) => {
                self.end_open_statement(transaction)?;
                self.annotation = Some(annotate.sql.to_vec());
            }
            Event::TableMap(map) => {
                self.end_open_statement(transaction)?;
                self.maps.push(map.table_id);
            }
            Event::Rows(decoded) => {
                return self.rows(event, &decoded, AfterImages::Values, mapping, transaction);
            }
            Event::Unknown {
                event_type: EventType::MYSQL_PARTIAL_UPDATE_ROWS,
                body,
            } => {
                let PartialUpdateRowsEvent(decoded) = PartialUpdateRowsEvent::decode(body)?;
                return self.rows(event, &decoded, AfterImages::Changes, mapping, transaction);
            }
            Event::Query(query) => match frame(&query) {
                Some(Frame::Edge | Frame::Rollback) => {}
                Some(Frame::Savepoint(name)) => {
                    transaction.end_statement()?;
                    transaction.savepoint(&name);
                }
                Some(Frame::RollbackTo(name)) => {
                    transaction.end_statement()?;
                    transaction.rollback_to_savepoint(&name)?;
                }
                None => {
                    return Err(Failure::fatal(format_args!(
                        "a statement among rows: {}",
                        String::from_utf8_lossy(&query.sql)
                    )));
                }
            },
            Event::Xid(_) | Event::Ignorable(_) => {}
            _ => {
                return Err(Failure::fatal(format_args!(
                    "a {} event in a transaction",
                    event.event_type().name()
                )));
            }
        }
        Ok(EventOutcome::Changed(0))
    }

    /// Ends a statement whose last event was not received, because the next one begins.
    fn end_open_statement(&mut self, transaction: &mut Transaction) -> Result<(), Failure> {
        if transaction.is_in_statement() {
            transaction.end_statement()?;
        }
        if self.has_rows {
            self.forget_statement();
        }
        Ok(())
    }

    /// Applies a rows event. The first one of a statement begins ours. Rows that fire triggers end it: what follows
    /// them belongs to another statement of ours, with the same annotation and the same tables.
    fn rows(
        &mut self,
        event: &RawEvent<'_>,
        decoded: &RowsEvent<'_>,
        after: AfterImages,
        mapping: RowMapping<'_>,
        transaction: &mut Transaction,
    ) -> Result<EventOutcome, Failure> {
        self.has_rows = true;
        let table = match decoded.rows.is_empty() {
            true => None,
            false => mapping.shared_table(decoded.table_id)?,
        };
        if let Some(table) = table.filter(|table| table.fires_triggers()) {
            let firing = FiringRows::new(event, decoded, after, table, self.annotation.as_deref())?;
            if transaction.is_in_statement() {
                transaction.end_statement()?;
            }
            if decoded.flags.ends_statement() {
                self.forget_statement();
            }
            return Ok(EventOutcome::Firing(firing));
        }
        let runs_actions = decoded.flags.0 & RowsFlags::NO_FOREIGN_KEY_CHECKS == 0;
        self.changer.set_does_actions(runs_actions);
        if !transaction.is_in_statement() {
            transaction.begin_replicated_statement(&StatementOptions {
                timestamp: event.header().timestamp,
                annotation: self.annotation.as_deref(),
                row_flags: RowsFlags(decoded.flags.0 & !RowsFlags::STATEMENT_END),
                form: StatementForm::Rows,
            })?;
            let mut acting: SmallVec<[&MappedTable; 2]> = SmallVec::new();
            for id in &self.maps {
                if let Some(table) = mapping.table(*id)? {
                    transaction.map_table(table.logged());
                    if runs_actions && table.foreign_keys().is_some() {
                        acting.push(table);
                    }
                }
            }
            for table in acting {
                if let Some(keys) = table.foreign_keys() {
                    // Our events contain the rows that the actions change.
                    transaction.set_no_foreign_key_checks();
                    ForeignKeyRun::new(keys, RunMode::ActionsOnly, table.metadata()).announce(transaction);
                }
            }
        }
        let mut changed = 0;
        if let Some(table) = table {
            changed = self
                .rows_event(decoded, after, table, transaction)
                .map_err(|failure| failure.on_rows(event.event_type(), table.definition()))?;
        }
        if decoded.flags.ends_statement() {
            self.counts.count_rows(decoded.kind);
            transaction.end_statement()?;
            self.forget_statement();
        }
        Ok(EventOutcome::Changed(changed))
    }

    /// Applies the rows of one event. Returns the number of changed rows.
    fn rows_event(
        &mut self,
        event: &RowsEvent<'_>,
        after: AfterImages,
        table: &MappedTable,
        transaction: &mut Transaction,
    ) -> Result<u64, Failure> {
        let mut changed = 0;
        if table.definition().is_sequence() {
            sequence_rows(event, table, self.sequence_changes, transaction, &mut changed)?;
            return Ok(changed);
        }
        let is_partial =
            after == AfterImages::Changes || table.conversions().is_some() || !all_columns(event);
        let done = match is_partial {
            true => self
                .partial_rows
                .rows(event, after, table, &mut self.changer, transaction, &mut changed),
            false => own_rows(event, table, &mut self.changer, transaction, &mut changed),
        };
        match done {
            Err(failure) if self.skipped_errors.contains(failure.code) && is_of_row(&failure) => {
                tracing::warn!(
                    "{} on {}.{} is passed over (slave_skip_errors), with the rest of its event",
                    failure.message,
                    table.definition().database(),
                    table.definition().name()
                );
                self.counts.count_skipped_error();
                Ok(changed)
            }
            Err(failure) => Err(failure),
            Ok(()) => Ok(changed),
        }
    }
}

/// Returns whether an error concerns a single row. Then the rows before it are completely applied.
fn is_of_row(failure: &Failure) -> bool {
    failure.handler_error.is_some()
}

/// Applies rows whose images are laid out as ours.
fn own_rows(
    event: &RowsEvent<'_>,
    table: &MappedTable,
    changer: &mut RowChanger,
    transaction: &mut Transaction,
    changed: &mut u64,
) -> Result<(), Failure> {
    let layout = table.definition().schema().layout();
    let mut rest: &[u8] = &event.rows;
    while !rest.is_empty() {
        let (first, behind) = layout.split(rest)?;
        rest = behind;
        let first = first.bytes();
        *changed += u64::from(match event.kind {
            RowsKind::Write => changer.insert(table, first, transaction)?,
            RowsKind::Delete => changer.delete(table, first, transaction)?,
            RowsKind::Update => {
                let (after, behind) = layout.split(rest)?;
                rest = behind;
                changer.update(table, first, after.bytes(), transaction)?
            }
        });
    }
    Ok(())
}
