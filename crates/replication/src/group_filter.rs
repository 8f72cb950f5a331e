//! Application of the filters to event groups.
//!
//! Rows of filtered tables are removed from their group, with their table maps; a group without any remaining change is
//! skipped as a whole. Databases are renamed in the events, so later stages do not know filters.

use paceline_binlog::event::{
    ChecksumAlgorithm, Event, EventBody, EventHeader, EventStamp, EventType, ExecuteLoadQueryEvent,
    FormatDescription, QueryEvent, RawEvent, StatusVar, TableId, encode_event,
};
use paceline_binlog::mysql::PartialUpdateRowsEvent;
use paceline_binlog::{EventGroup, Result};
use paceline_expression::session::SqlMode;
use paceline_log_stream::source::filter::Filters;
use paceline_syntax::{ParseOptions, ProgramBodies, statement_objects};
use std::collections::HashSet;

/// Result of filtering a group.
pub(super) enum FilterResult {
    /// The whole group, unchanged.
    Whole,
    /// The remaining part of the group.
    Part(EventGroup),
    /// Nothing of the group.
    Nothing,
}

/// Filters a group.
///
/// # Errors
/// If its events cannot be decoded.
pub(super) fn filter_group(
    group: &EventGroup,
    format: &FormatDescription,
    filters: &Filters,
) -> Result<FilterResult> {
    if filters.is_empty() || group.epoch_mark().is_some() {
        return Ok(FilterResult::Whole);
    }
    let mut dropped: HashSet<TableId> = HashSet::new();
    let mut kept: Option<EventGroup> = None;
    let mut has_changes = false;
    let mut is_whole = true;
    let mut rebuilt = Vec::new();
    for event in group.events() {
        rebuilt.clear();
        let keep = match event.event_type() {
            EventType::TABLE_MAP => {
                let Event::TableMap(mut map) = event.decode(format)? else {
                    continue;
                };
                let database = String::from_utf8_lossy(map.database).into_owned();
                let table = String::from_utf8_lossy(map.table).into_owned();
                let here = filters.rewrite(&database);
                let wanted = filters.wants_rows(here, &table);
                match wanted {
                    true => dropped.remove(&map.table_id),
                    false => dropped.insert(map.table_id),
                };
                if wanted && here != database {
                    map.database = here.as_bytes();
                    reencode(event.header(), &map, &mut rebuilt);
                }
                has_changes |= wanted;
                wanted
            }
            event_type if event_type.is_rows() => {
                let Event::Rows(rows) = event.decode(format)? else {
                    continue;
                };
                !dropped.contains(&rows.table_id)
            }
            EventType::MYSQL_PARTIAL_UPDATE_ROWS => {
                let PartialUpdateRowsEvent(rows) = PartialUpdateRowsEvent::decode(event.body())?;
                !dropped.contains(&rows.table_id)
            }
            EventType::QUERY | EventType::QUERY_COMPRESSED => {
                let query = QueryEvent::decode(event.event_type(), event.body())?;
                if query.is_frame() {
                    true
                } else {
                    let wanted = wants_statement(&query, filters);
                    let here = renamed(query.database, filters);
                    if wanted && let Some(here) = &here {
                        let mut renamed = query.clone();
                        renamed.database = here.as_bytes();
                        reencode(event.header(), &renamed, &mut rebuilt);
                    }
                    has_changes |= wanted;
                    wanted
                }
            }
            // If the statement is filtered its file may stay: without the statement it has no effect.
            EventType::EXECUTE_LOAD_QUERY => {
                let mut load = ExecuteLoadQueryEvent::decode(event.body())?;
                let wanted = wants_statement(&load.query, filters);
                let here = renamed(load.query.database, filters);
                if wanted && let Some(here) = &here {
                    load.query.database = here.as_bytes();
                    reencode(event.header(), &load, &mut rebuilt);
                }
                has_changes |= wanted;
                wanted
            }
            EventType::XA_PREPARE => {
                has_changes = true;
                true
            }
            _ => true,
        };
        let is_rebuilt = !rebuilt.is_empty();
        is_whole &= keep && !is_rebuilt;
        if keep {
            let written;
            let event = match is_rebuilt {
                true => {
                    written = RawEvent::new(&rebuilt, ChecksumAlgorithm::Crc32)?;
                    &written
                }
                false => &event,
            };
            match &mut kept {
                Some(kept) => kept.push(event),
                None => {
                    let mut begun = EventGroup::begin(group.start(), event)?;
                    begun.spill_like(group);
                    kept = Some(begun);
                }
            }
        }
    }
    Ok(match kept {
        _ if is_whole => FilterResult::Whole,
        Some(kept) if has_changes => FilterResult::Part(kept),
        _ => FilterResult::Nothing,
    })
}

fn reencode(header: &EventHeader, body: &dyn EventBody, out: &mut Vec<u8>) {
    let stamp = EventStamp {
        timestamp: header.timestamp,
        server_id: header.server_id,
        flags: header.flags,
    };
    encode_event(out, &stamp, 0, body);
}

/// Returns a database's name on this server, if it is different.
fn renamed(database: &[u8], filters: &Filters) -> Option<String> {
    let database = String::from_utf8_lossy(database);
    let here = filters.rewrite(&database);
    (here != database).then(|| here.to_owned())
}

/// Returns whether a statement is replicated. Its current database decides, then the tables that it names; for a
/// statement on a database, the rules about databases.
fn wants_statement(query: &QueryEvent<'_>, filters: &Filters) -> bool {
    let current = String::from_utf8_lossy(query.database).into_owned();
    let current = filters.rewrite(&current);
    let sql_mode = query.status_vars.iter().find_map(|variable| match variable {
        StatusVar::SqlMode(bits) => Some(SqlMode::from_bits(*bits)),
        _ => None,
    });
    let options = ParseOptions {
        sql_mode: sql_mode.unwrap_or(SqlMode::DEFAULT),
        programs: ProgramBodies::Opaque,
        ..ParseOptions::default()
    };
    let objects = statement_objects(&query.sql, &options);
    if let Some(database) = &objects.database {
        return filters.wants_database(database) && filters.wants_whole_database(database);
    }
    if !current.is_empty() && !filters.wants_database(current) {
        return false;
    }
    if !filters.has_table_rules() || objects.tables.is_empty() {
        return true;
    }
    filters.wants_one_of(objects.tables.iter().map(|table| {
        let database = table.database.as_deref().unwrap_or(current);
        (database, &*table.name)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use paceline_binlog::EpochMark;
    use paceline_binlog::event::{
        BlockKind, EventFlags, FileBlockEvent, GtidEvent, GtidFlags, LoadDuplicates, XidEvent,
    };
    use paceline_log_stream::source::filter::FilterKind;
    use paceline_types::{LogPosition, ServerId};

    fn group(bodies: &[&dyn EventBody]) -> EventGroup {
        let stamp = EventStamp {
            timestamp: 1,
            server_id: ServerId(7),
            flags: EventFlags::NONE,
        };
        let mut group: Option<EventGroup> = None;
        for body in bodies {
            let mut bytes = Vec::new();
            encode_event(&mut bytes, &stamp, 0, *body);
            let event = RawEvent::new(&bytes, ChecksumAlgorithm::Crc32).unwrap();
            match &mut group {
                Some(group) => group.push(&event),
                None => group = Some(EventGroup::begin(LogPosition::ZERO, &event).unwrap()),
            }
        }
        group.unwrap()
    }

    fn statement(database: &[u8], sql: &[u8], filters: &Filters) -> &'static str {
        let gtid = GtidEvent::new("0-7-1".parse().unwrap(), GtidFlags::STANDALONE);
        let query = QueryEvent::new(database, sql);
        let format = FormatDescription::new("10.11", 0);
        match filter_group(&group(&[&gtid, &query]), &format, filters).unwrap() {
            FilterResult::Whole => "whole",
            FilterResult::Part(_) => "part",
            FilterResult::Nothing => "nothing",
        }
    }

    #[test]
    fn statements_are_filtered_as_in_mariadb() {
        let mut filters = Filters::default();
        filters.set(FilterKind::IgnoreDb, "x").unwrap();
        filters.set(FilterKind::WildIgnoreTable, "tmp.%").unwrap();
        assert_eq!(statement(b"d", b"CREATE TABLE t (a INT)", &filters), "whole");
        assert_eq!(statement(b"x", b"CREATE TABLE d.t (a INT)", &filters), "nothing");
        assert_eq!(statement(b"d", b"DROP TABLE tmp.t", &filters), "nothing");
        assert_eq!(statement(b"", b"CREATE DATABASE tmp", &filters), "nothing");
        assert_eq!(statement(b"", b"CREATE DATABASE x", &filters), "nothing");
        assert_eq!(
            statement(b"tmp", b"INSERT INTO d.t VALUES (1)", &filters),
            "whole"
        );
    }

    #[test]
    fn the_start_of_an_epoch_passes_every_filter() {
        let mut filters = Filters::default();
        filters.set(FilterKind::DoDb, "other").unwrap();
        filters.set(FilterKind::DoTable, "other.t").unwrap();
        filters.set(FilterKind::RewriteDb, "d->e").unwrap();
        let text = EpochMark { epoch: 5, primary: 3 }.to_string();
        assert_eq!(statement(b"", text.as_bytes(), &filters), "whole");
        assert_eq!(statement(b"d", text.as_bytes(), &filters), "whole");
        assert_eq!(statement(b"d", b"# another comment", &filters), "nothing");
    }

    #[test]
    fn databases_are_renamed_in_the_events() {
        let mut filters = Filters::default();
        filters.set(FilterKind::RewriteDb, "a->b").unwrap();
        let gtid = GtidEvent::new("0-7-1".parse().unwrap(), GtidFlags::STANDALONE);
        let query = QueryEvent::new(b"a", b"CREATE TABLE t (a INT)");
        let format = FormatDescription::new("10.11", 0);
        let FilterResult::Part(part) = filter_group(&group(&[&gtid, &query]), &format, &filters).unwrap()
        else {
            panic!("it is changed");
        };
        let renamed = part.decoded(&format).next().unwrap().unwrap();
        let Event::Query(renamed) = renamed else {
            panic!("{renamed:?}");
        };
        assert_eq!(renamed.database, b"b");
        // A transaction without any change.
        let frame = GtidEvent::new("0-7-1".parse().unwrap(), GtidFlags::TRANSACTIONAL);
        let empty = group(&[&frame, &XidEvent { xid: 1 }]);
        assert!(matches!(
            filter_group(&empty, &format, &filters).unwrap(),
            FilterResult::Whole
        ));
    }

    #[test]
    fn the_first_table_named_by_a_rule_decides() {
        let mut filters = Filters::default();
        filters.set(FilterKind::IgnoreTable, "d.b").unwrap();
        filters.set(FilterKind::DoTable, "d.c").unwrap();
        assert_eq!(statement(b"d", b"DROP TABLE a, b", &filters), "nothing");
        assert_eq!(statement(b"d", b"DROP TABLE a, b, c", &filters), "nothing");
        assert_eq!(statement(b"d", b"DROP TABLE a, c, b", &filters), "whole");
        assert_eq!(statement(b"d", b"DROP TABLE a", &filters), "nothing");
    }

    #[test]
    fn names_are_read_in_the_statements_own_mode() {
        let mut filters = Filters::default();
        filters.set(FilterKind::IgnoreTable, "d.b").unwrap();
        let gtid = GtidEvent::new("0-7-1".parse().unwrap(), GtidFlags::STANDALONE);
        let mut query = QueryEvent::new(b"d", b"DROP TABLE \"b\"");
        query.status_vars = vec![StatusVar::SqlMode(SqlMode::ANSI_QUOTES.bits())];
        let format = FormatDescription::new("10.11", 0);
        let filtered = filter_group(&group(&[&gtid, &query]), &format, &filters).unwrap();
        assert!(matches!(filtered, FilterResult::Nothing));
    }

    #[test]
    fn load_data_is_filtered_by_its_table() {
        let judged = |filters: &Filters| {
            let text = b"LOAD DATA INFILE 'x' INTO TABLE `t`";
            let load = ExecuteLoadQueryEvent {
                query: QueryEvent::new(b"d", text),
                file_id: 1,
                file_start: 9,
                file_end: 25,
                duplicates: LoadDuplicates::Error,
            };
            let block = FileBlockEvent {
                kind: BlockKind::First,
                file_id: 1,
                bytes: b"1\n",
            };
            let gtid = GtidEvent::new("0-7-1".parse().unwrap(), GtidFlags::TRANSACTIONAL);
            let group = group(&[&gtid, &block, &load, &XidEvent { xid: 1 }]);
            let format = FormatDescription::new("10.11", 0);
            match filter_group(&group, &format, filters).unwrap() {
                FilterResult::Whole => "whole".to_owned(),
                FilterResult::Nothing => "nothing".to_owned(),
                FilterResult::Part(part) => {
                    let events = part.decoded(&format).map(Result::unwrap);
                    let databases = events.filter_map(|event| match event {
                        Event::ExecuteLoadQuery(load) => Some(load.query.database.to_vec()),
                        _ => None,
                    });
                    String::from_utf8(databases.collect::<Vec<_>>().concat()).unwrap()
                }
            }
        };
        for (kind, value, expected) in [
            (FilterKind::IgnoreDb, "d", "nothing"),
            (FilterKind::IgnoreDb, "e", "whole"),
            (FilterKind::DoTable, "d.u", "nothing"),
            (FilterKind::DoTable, "d.t", "whole"),
            (FilterKind::IgnoreTable, "d.t", "nothing"),
            (FilterKind::WildIgnoreTable, "d.%", "nothing"),
            (FilterKind::WildDoTable, "d.t%", "whole"),
            (FilterKind::RewriteDb, "d->e", "e"),
        ] {
            let mut filters = Filters::default();
            filters.set(kind, value).unwrap();
            assert_eq!(judged(&filters), expected, "{kind:?} {value}");
        }
    }
}
