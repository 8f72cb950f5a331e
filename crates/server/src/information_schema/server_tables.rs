//! Tables about the server: engines, character sets, sessions, variables, privileges.

use crate::memory::MemoryPart;
use crate::statement_digests::DigestSummary;
use crate::statistic::ShownStatistic;
use paceline_storage::engine_types;
use paceline_types::temporal::TimeZone;
use paceline_types::{Charset, Collation, Decimal, Value};

use super::privileges::{ApplicableRole, GrantedObject, GrantedPrivilege};
use super::process::Process;
use super::sources::Sources;
use crate::cells::{Row, moment, number, text, text_or_null, yes_no};

/// Name and comment of a storage engine.
type EngineText = (&'static str, &'static str);

const DISK: EngineText = (
    "InnoDB",
    "Transactional tables on disk (RocksDB), recovered from the binary log",
);
const SEQUENCE: EngineText = ("SEQUENCE", "Generated tables filled with sequential values");

/// Returns the storage engines: the tables on disk, MEMORY, SEQUENCE, BLACKHOLE, those that the program has added.
fn storage_engines() -> Vec<EngineText> {
    let mut all: Vec<EngineText> = engine_types()
        .map(|(_, engine_type)| (engine_type.name(), engine_type.comment()))
        .collect();
    all.insert(0, DISK);
    all.insert(2, SEQUENCE);
    all
}

/// Returns whether an engine has this name, in any case.
pub fn has_engine(name: &str) -> bool {
    storage_engines()
        .iter()
        .any(|(known, _)| known.eq_ignore_ascii_case(name))
}

/// Each engine takes part in transactions with savepoints; none in XA.
pub(super) fn engines() -> Vec<Row> {
    let row = |(name, comment): EngineText| {
        let support = if name == DISK.0 { "DEFAULT" } else { "YES" };
        Vec::from([name, support, comment, "YES", "NO", "YES"].map(text))
    };
    storage_engines().into_iter().map(row).collect()
}

/// Returns all collations in MariaDB's order: grouped by character set, the sets in the order of their default
/// collations' ids.
fn all_collations() -> Vec<Collation> {
    let mut all = Collation::all().to_vec();
    all.sort_by_key(|collation| (collation.charset().default_collation().id(), collation.id()));
    all
}

fn charsets() -> Vec<Charset> {
    let mut charsets: Vec<Charset> = Vec::new();
    for collation in all_collations() {
        if !charsets.contains(&collation.charset()) {
            charsets.push(collation.charset());
        }
    }
    charsets
}

fn description(charset: Charset) -> &'static str {
    match charset.name() {
        "utf8mb4" | "utf8mb3" => "UTF-8 Unicode",
        "latin1" => "cp1252 West European",
        "ascii" => "US ASCII",
        _ => "Binary pseudo charset",
    }
}

pub(super) fn character_sets() -> Vec<Row> {
    let row = |charset: Charset| {
        vec![
            text(charset.name()),
            text(charset.default_collation().name()),
            text(description(charset)),
            Value::Int(charset.max_bytes_per_character().into()),
        ]
    };
    charsets().into_iter().map(row).collect()
}

fn is_default(collation: Collation) -> bool {
    collation.charset().default_collation() == collation
}

pub(super) fn collations() -> Vec<Row> {
    let row = |collation: &Collation| {
        vec![
            text(collation.name()),
            text(collation.charset().name()),
            Value::Int(collation.id().into()),
            text(if is_default(*collation) { "Yes" } else { "" }),
            text("Yes"),
            Value::Int(collation.sort_length().into()),
        ]
    };
    all_collations().iter().map(row).collect()
}

pub(super) fn collation_applicability() -> Vec<Row> {
    let row = |collation: &Collation| {
        vec![
            text(collation.name()),
            text(collation.charset().name()),
            text(collation.name()),
            Value::Int(collation.id().into()),
            text(if is_default(*collation) { "Yes" } else { "" }),
        ]
    };
    all_collations().iter().map(row).collect()
}

pub(super) fn processlist(sources: &dyn Sources) -> Vec<Row> {
    let with_three_decimals =
        |number: u64| Value::Decimal(Decimal::from_scaled(i128::from(number) * 1000, 3));
    let row = |process: Process| {
        vec![
            number(process.id),
            text(process.user),
            text(process.host),
            text_or_null(process.database),
            text(process.command),
            Value::Int((process.time_ms / 1000) as i64),
            text(process.state.unwrap_or_default()),
            text_or_null(process.info.clone()),
            with_three_decimals(process.time_ms),
            Value::Int(process.progress.stage.into()),
            Value::Int(process.progress.stages.into()),
            Value::Decimal(Decimal::from_scaled(process.progress.thousandths.into(), 3)),
            number(process.memory.total()),
            number(process.memory_max),
            number(process.progress.examined_rows),
            number(process.query_id),
            process
                .info
                .map_or(Value::Null, |info| Value::Bytes(info.into_bytes())),
            number(process.id),
        ]
    };
    sources.processes().into_iter().map(row).collect()
}

/// Converts pairs to rows, with the names in upper case.
pub(super) fn pairs(pairs: Vec<(String, String)>) -> Vec<Row> {
    pairs
        .into_iter()
        .map(|(name, value)| vec![text(name.to_uppercase()), text(value)])
        .collect()
}

/// Returns the rows of PACELINE_MEMORY.
pub(super) fn memory(sources: &dyn Sources) -> Vec<Row> {
    let row = |part: MemoryPart| {
        vec![
            text(part.purpose.name()),
            number(part.bytes),
            part.limit.map_or(Value::Null, number),
            text(part.purpose.description()),
        ]
    };
    sources.memory_usage().into_iter().map(row).collect()
}

/// Returns the rows of PACELINE_METRICS.
pub(super) fn metrics(sources: &dyn Sources) -> Vec<Row> {
    let row = |shown: ShownStatistic| {
        vec![
            text(shown.name),
            text(shown.value),
            text(shown.statistic.kind.name()),
            text(shown.statistic.unit.name()),
            text(shown.statistic.help),
        ]
    };
    sources.metrics().into_iter().map(row).collect()
}

/// Returns the rows of PACELINE_STATEMENTS.
pub(super) fn statements(sources: &dyn Sources) -> Vec<Row> {
    let row = |digest: DigestSummary| {
        let counted = &digest.statistics;
        let sums = &counted.sums;
        let micros = |nanos: u64| number(nanos / 1000);
        vec![
            text_or_null(digest.statement.database.clone()),
            text_or_null(digest.statement.name()),
            text_or_null(digest.statement.text.clone()),
            number(sums.count),
            number(sums.errors),
            number(sums.warnings),
            number(sums.rows_affected),
            number(sums.rows_sent),
            micros(sums.nanos),
            micros(sums.nanos / sums.count.max(1)),
            micros(sums.nanos_min),
            micros(sums.nanos_max),
            micros(counted.percentile(50)),
            micros(counted.percentile(95)),
            micros(counted.percentile(99)),
            moment(counted.first_seen),
            moment(counted.last_seen),
        ]
    };
    sources.digests().into_iter().map(row).collect()
}

/// Returns a row for each privilege on objects of one level: grantee, names of the object, privilege.
fn granted(sources: &dyn Sources, names: impl Fn(GrantedObject) -> Option<Vec<String>>) -> Vec<Row> {
    let row = |granted: GrantedPrivilege| {
        let names = names(granted.object)?;
        let mut row = vec![text(granted.grantee), text("def")];
        row.extend(names.into_iter().map(text));
        row.extend([text(granted.privilege), yes_no(granted.grantable)]);
        Some(row)
    };
    sources.privileges().into_iter().filter_map(row).collect()
}

pub(super) fn user_privileges(sources: &dyn Sources) -> Vec<Row> {
    granted(sources, |object| match object {
        GrantedObject::Global => Some(vec![]),
        _ => None,
    })
}

pub(super) fn schema_privileges(sources: &dyn Sources) -> Vec<Row> {
    granted(sources, |object| match object {
        GrantedObject::Database(database) => Some(vec![database]),
        _ => None,
    })
}

pub(super) fn table_privileges(sources: &dyn Sources) -> Vec<Row> {
    granted(sources, |object| match object {
        GrantedObject::Table(database, table) => Some(vec![database, table]),
        _ => None,
    })
}

pub(super) fn column_privileges(sources: &dyn Sources) -> Vec<Row> {
    granted(sources, |object| match object {
        GrantedObject::Column(database, table, column) => Some(vec![database, table, column]),
        _ => None,
    })
}

pub(super) fn applicable_roles(sources: &dyn Sources) -> Vec<Row> {
    let row = |role: ApplicableRole| {
        vec![
            text(role.grantee),
            text(role.role),
            yes_no(role.grantable),
            role.is_default.map_or(Value::Null, yes_no),
        ]
    };
    sources.applicable_roles().into_iter().map(row).collect()
}

/// Returns the enabled roles; one row with NULL without any.
pub(super) fn enabled_roles(sources: &dyn Sources) -> Vec<Row> {
    let roles = sources.enabled_roles();
    match roles.is_empty() {
        true => vec![vec![Value::Null]],
        false => roles.into_iter().map(|role| vec![text(role)]).collect(),
    }
}

/// Returns whether a plugin of this name is here.
pub fn is_plugin(name: &str) -> bool {
    let mut rows = plugins().into_iter();
    rows.any(|row| matches!(&row[0], Value::Text(known) if known.eq_ignore_ascii_case(name)))
}

/// Returns the rows of `user_variables`: those of the session.
pub(super) fn user_variables(sources: &dyn Sources) -> Vec<Row> {
    let variables = sources.user_variables().into_iter();
    variables
        .map(|(name, variable)| {
            let collation = variable.ty.collation();
            // As in MariaDB, a number as text is in latin1.
            let (kind, character_set) = match &variable.value {
                Value::Null => ("VARCHAR", "binary"),
                Value::Int(_) => ("INT", "latin1"),
                Value::UInt(_) => ("INT UNSIGNED", "latin1"),
                Value::Double(_) => ("DOUBLE", "latin1"),
                Value::Decimal(_) => ("DECIMAL", "latin1"),
                Value::Bytes(_) => ("VARCHAR", "binary"),
                _ => ("VARCHAR", collation.charset().name()),
            };
            let shown = match &variable.value {
                Value::Null => Value::Null,
                value => text(paceline_types::text::to_string(&value.as_ref(), &TimeZone::UTC)),
            };
            vec![text(name), shown, text(kind), text(character_set)]
        })
        .collect()
}

pub(super) fn plugins() -> Vec<Row> {
    let row = |name: &str, kind: &str, description: &str| {
        vec![
            text(name),
            text("1.0"),
            text("ACTIVE"),
            text(kind),
            text("101100.0"),
            Value::Null,
            Value::Null,
            text("Paceline"),
            text(description),
            text("BSD"),
            text("FORCE"),
            text("Stable"),
            text("1.0"),
        ]
    };
    let mut rows = vec![
        row("binlog", "STORAGE ENGINE", "The binary log, the only log"),
        row(
            "mysql_native_password",
            "AUTHENTICATION",
            "Native MySQL authentication",
        ),
        row(
            "unix_socket",
            "AUTHENTICATION",
            "Unix Socket based authentication",
        ),
        row(
            "ed25519",
            "AUTHENTICATION",
            "Elliptic curve ED25519 based authentication",
        ),
        row(
            "caching_sha2_password",
            "AUTHENTICATION",
            "Caching SHA2 authentication",
        ),
    ];
    rows.extend(
        storage_engines()
            .into_iter()
            .map(|(name, comment)| row(name, "STORAGE ENGINE", comment)),
    );
    rows
}
