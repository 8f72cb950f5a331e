//! Logs that a real MariaDB server wrote (tests/samples/make.sh) are decoded and encoded again, byte for byte.
#![allow(missing_docs)]

use paceline_binlog::event::{
    Event, EventFlags, EventStamp, EventType, FormatDescription, GtidFlags, IntvarKind, MAGIC,
    QueryCompression, RawEvent, RowsCompression, RowsKind, StatusVar, encode_event,
};
use paceline_binlog::group::{
    CommitGroup, EventGroupBuffer, GroupOptions, GroupSize, LoggedTable, StatementOptions,
};
use paceline_types::LogPosition;
use std::collections::BTreeMap;
use std::path::Path;

/// Visits every event of a sample.
fn for_each_event(name: &str, mut visit: impl FnMut(usize, RawEvent<'_>, &FormatDescription)) {
    let path = Path::new("tests/samples").join(name);
    let bytes = std::fs::read(path).unwrap();
    assert_eq!(bytes[..4], MAGIC);
    let mut format = FormatDescription::new("", 0);
    let mut at = 4;
    while at < bytes.len() {
        let length = u32::from_le_bytes(bytes[at + 9..at + 13].try_into().unwrap()) as usize;
        let event = RawEvent::new(&bytes[at..at + length], format.checksum).unwrap();
        if let Event::FormatDescription(found) = event.decode(&format).unwrap() {
            format = found;
        }
        visit(at, event, &format);
        at += length;
    }
}

const SAMPLES: [&str; 3] = ["mariadb.000001", "mariadb.000002", "mariadb.000003"];

#[test]
fn encoding_restores_every_byte() {
    let mut kinds = BTreeMap::new();
    for sample in SAMPLES {
        for_each_event(sample, |at, event, format| {
            *kinds.entry(event.event_type().name()).or_insert(0) += 1;
            let decoded = event.decode(format).unwrap();
            let header = event.header();
            let stamp = EventStamp {
                timestamp: header.timestamp,
                server_id: header.server_id,
                flags: header.flags,
            };
            let mut encoded = Vec::new();
            encode_event(&mut encoded, &stamp, at as u64, &decoded);
            let compressed = match &decoded {
                Event::Query(query) => query.compression == QueryCompression::Compressed,
                Event::Rows(rows) => rows.compression == RowsCompression::Compressed,
                _ => false,
            };
            if compressed {
                // Another zlib produces another stream: the content must be the same.
                let again = RawEvent::new(&encoded, format.checksum).unwrap();
                assert_eq!(again.decode(format).unwrap(), decoded);
                assert!(encoded.len() <= event.bytes().len() + 64);
            } else {
                assert_eq!(encoded, event.bytes(), "{sample} at {at}: {decoded:?}");
            }
        });
    }
    for expected in [
        "Format_desc",
        "Gtid_list",
        "Binlog_checkpoint",
        "Rotate",
        "Stop",
        "Gtid",
        "Query",
        "Intvar",
        "RAND",
        "User var",
        "Xid",
        "Table_map",
        "Annotate_rows",
        "Write_rows_v1",
        "Update_rows_v1",
        "Delete_rows_v1",
        "Write_rows_compressed_v1",
        "Update_rows_compressed_v1",
        "Delete_rows_compressed_v1",
        "Query_compressed",
        "XA_prepare",
        "Begin_load_query",
        "Execute_load_query",
    ] {
        assert!(
            kinds.contains_key(expected),
            "no {expected} event in the samples: {kinds:?}"
        );
    }
}

#[test]
fn mariadbs_format_description_equals_ours() {
    for_each_event(SAMPLES[0], |at, event, format| {
        if at == 4 {
            assert_eq!(event.header().flags, EventFlags::NONE);
            assert_eq!(
                *format,
                FormatDescription::new(format.server_version.clone(), format.created)
            );
            assert!(
                format.server_version.starts_with("10.11."),
                "{}",
                format.server_version
            );
        }
    });
}

#[test]
fn the_context_of_statements_is_decoded() {
    let mut seen = BTreeMap::new();
    let mut note = |what: &'static str| *seen.entry(what).or_insert(0) += 1;
    for sample in SAMPLES {
        for_each_event(sample, |_, event, format| match event.decode(format).unwrap() {
            Event::Query(query) => {
                let sql = String::from_utf8_lossy(&query.sql).into_owned();
                for var in &query.status_vars {
                    match var {
                        StatusVar::Flags2(flags) if sql.contains("'fk'") => {
                            assert_eq!(flags & (1 << 26 | 1 << 27), 1 << 26 | 1 << 27, "{sql}");
                            note("flags2");
                        }
                        StatusVar::SqlMode(_) => note("sql_mode"),
                        StatusVar::Catalog(catalog) => {
                            assert_eq!(*catalog, b"std");
                            note("catalog");
                        }
                        StatusVar::AutoIncrement { increment, offset } => {
                            assert_eq!((*increment, *offset), (3, 2), "{sql}");
                            note("auto_increment");
                        }
                        StatusVar::Charset { client, .. } if sql.contains("'latin1'") => {
                            assert_eq!(*client, 8);
                            note("charset");
                        }
                        StatusVar::TimeZone(zone) if sql.contains("now(6)") => {
                            assert_eq!(*zone, b"+05:30");
                            note("time_zone");
                        }
                        StatusVar::HrNow(_) => note("hrnow"),
                        StatusVar::LcTimeNames(_) => note("lc_time_names"),
                        StatusVar::TableMapForUpdate(_) => note("table_map_for_update"),
                        StatusVar::Invoker { user, host } => {
                            assert_eq!((*user, *host), (&b"root"[..], &b"localhost"[..]));
                            note("invoker");
                        }
                        StatusVar::Xid(_) => {
                            assert!(query.xid().is_some());
                            note("xid");
                        }
                        StatusVar::GtidFlags3 { .. } => note("gtid_flags3"),
                        StatusVar::Unknown(rest) => panic!("{rest:?} in {sql}"),
                        _ => {}
                    }
                }
            }
            Event::Intvar(intvar) => note(match intvar.kind {
                IntvarKind::InsertId => "insert_id",
                IntvarKind::LastInsertId => "last_insert_id",
            }),
            Event::UserVar(var) if var.name == b"n" => {
                assert_eq!(var.value, None);
                note("NULL");
            }
            Event::UserVar(var) if var.name == b"u" => {
                assert_eq!(var.value.unwrap().bytes, "héllo".as_bytes());
                note("text");
            }
            _ => {}
        });
    }
    for expected in [
        "flags2",
        "sql_mode",
        "catalog",
        "auto_increment",
        "charset",
        "time_zone",
        "hrnow",
        "lc_time_names",
        "table_map_for_update",
        "invoker",
        "xid",
        "gtid_flags3",
        "insert_id",
        "last_insert_id",
        "NULL",
        "text",
    ] {
        assert!(
            seen.contains_key(expected),
            "{expected} is not in the samples: {seen:?}"
        );
    }
}

#[test]
fn gtids_and_rows_match_what_the_server_executed() {
    let mut commit_ids = BTreeMap::new();
    let mut ddl = 0;
    let mut rows = BTreeMap::new();
    let mut skipped = 0;
    for sample in SAMPLES {
        for_each_event(sample, |_, event, format| match event.decode(format).unwrap() {
            Event::Gtid(gtid) => {
                if let Some(commit_id) = gtid.commit_id {
                    *commit_ids.entry(commit_id).or_insert(0) += 1;
                }
                ddl += u32::from(gtid.flags.contains(GtidFlags::DDL.with(GtidFlags::STANDALONE)));
                skipped += u32::from(event.header().flags.contains(EventFlags::SKIP_REPLICATION));
                let of_domain_5 = gtid.gtid.domain_id.0 == 5;
                assert_eq!(gtid.gtid.server_id.0, if of_domain_5 { 99 } else { 3 });
            }
            Event::Rows(event) => {
                let kind = match event.kind {
                    RowsKind::Write => "write",
                    RowsKind::Update => "update",
                    RowsKind::Delete => "delete",
                };
                *rows.entry(kind).or_insert(0) += 1;
                assert_eq!(
                    event.columns_present_after.is_empty(),
                    event.kind != RowsKind::Update
                );
            }
            Event::Unknown { event_type, .. } => panic!("{event_type:?}"),
            _ => {}
        });
    }
    assert!(commit_ids.values().any(|count| *count == 3), "{commit_ids:?}");
    assert!(ddl > 5 && skipped == 1, "{ddl} {skipped}");
    assert!(rows.len() == 3, "{rows:?}");
}

/// Returns the event groups of a sample, each with its start and its events.
fn groups(name: &str) -> Vec<(u64, Vec<Vec<u8>>)> {
    let mut groups: Vec<(u64, Vec<Vec<u8>>)> = Vec::new();
    for_each_event(name, |at, event, _| {
        if event.event_type() == EventType::GTID {
            groups.push((at as u64, Vec::new()));
        }
        if let Some((_, events)) = groups.last_mut()
            && !event.event_type().is_control()
        {
            events.push(event.bytes().to_vec());
        }
    });
    groups
}

/// Splits the images of a rows event of `t3 (a INT, b TEXT)`.
fn rows_of_t3(mut rows: &[u8]) -> Vec<&[u8]> {
    let mut found = Vec::new();
    while !rows.is_empty() {
        let length = 1 + 4 + 2 + usize::from(u16::from_le_bytes([rows[5], rows[6]]));
        let (row, rest) = rows.split_at(length);
        found.push(row);
        rows = rest;
    }
    found
}

/// A session of Paceline encodes a transaction of many rows exactly as the server did: split at the same rows, with
/// the same flags, bitmaps, positions and checksums.
#[test]
fn our_event_groups_equal_mariadbs() {
    let format = FormatDescription::new("", 0);
    let mut compared = 0;
    for (start, events) in groups(SAMPLES[0]) {
        let whole = events.concat();
        let raw = |bytes| RawEvent::new(bytes, format.checksum).unwrap();
        let decoded: Vec<Event<'_>> = events
            .iter()
            .map(|event| raw(event).decode(&format).unwrap())
            .collect();
        let (Event::Gtid(gtid), Some(Event::Xid(xid))) = (&decoded[0], decoded.last()) else {
            continue;
        };
        let header = *raw(&events[0]).header();
        let mut buffer = EventGroupBuffer::new(GroupOptions::new(header.server_id));
        buffer.set_gtid_flags(gtid.flags);
        let mut tables = BTreeMap::new();
        let mut annotation = None;
        let mut row_count = 0;
        let mut simple = true;
        for (event, bytes) in decoded.iter().zip(&events) {
            let timestamp = raw(bytes).header().timestamp;
            match event {
                Event::AnnotateRows(event) => annotation = Some(event.sql),
                Event::TableMap(map) => {
                    simple &= map.table == b"t3" && map.columns() == 2;
                    let statement = StatementOptions {
                        timestamp,
                        annotation: annotation.take(),
                        ..Default::default()
                    };
                    buffer.begin_statement(&statement);
                    tables.insert(map.table_id, LoggedTable::new(map));
                }
                Event::Rows(rows) if simple && rows.columns_present == [3] => {
                    let images = rows_of_t3(&rows.rows);
                    let table = &tables[&rows.table_id];
                    row_count += images.len();
                    match rows.kind {
                        RowsKind::Write => images.iter().for_each(|after| buffer.write_row(table, after)),
                        RowsKind::Update => images
                            .chunks(2)
                            .for_each(|pair| buffer.update_row(table, pair[0], pair[1])),
                        RowsKind::Delete => images.iter().for_each(|before| buffer.delete_row(table, before)),
                    }
                }
                Event::Gtid(_) | Event::Xid(_) => {}
                _ => simple = false,
            }
        }
        if !simple || row_count == 0 {
            continue;
        }
        buffer.commit(xid.xid);
        let mut group = CommitGroup::new();
        group.begin(LogPosition::new(1, start), GroupSize::Single);
        group.add(&mut buffer, gtid.gtid);
        let ours: Vec<u8> = group.slices().flat_map(|slice| slice.to_vec()).collect();
        let difference = ours.iter().zip(&whole).position(|(ours, theirs)| ours != theirs);
        let lengths = events.iter().map(Vec::len).collect::<Vec<_>>();
        assert!(
            ours == whole,
            "the group at {start} with {row_count} rows, at {difference:?}, events {lengths:?}"
        );
        compared += row_count;
    }
    assert!(compared > 300, "{compared}");
}
