//! Entry of the slow query log, in MariaDB's format.

use super::file::EntryHead;
use super::settings::Operations;
use paceline_expression::session::{Condition, StatementCounts};
use paceline_types::Value;
use std::fmt::Write;

/// A statement for the slow query log.
#[derive(Debug)]
pub struct SlowStatement<'a> {
    /// User and host: `user[user] @ host [address]`.
    pub account: &'a str,
    /// Id of the connection.
    pub connection_id: u64,
    /// The current database.
    pub database: &'a str,
    /// Duration of the statement.
    pub duration_micros: i64,
    /// Number of rows in its result sets.
    pub rows_sent: u64,
    /// Number of rows that it fetched from tables.
    pub rows_examined: u64,
    /// Number of rows that it changed.
    pub rows_affected: u64,
    /// Size of its reply.
    pub bytes_sent: u64,
    /// Start of the statement in microseconds since 1970.
    pub start_micros: i64,
    /// Its other work.
    pub counts: &'a StatementCounts,
    /// Costly operations, if `log_slow_verbosity` asks for them.
    pub operations: Option<Operations>,
    /// The plan in the columns of ANALYZE, if `log_slow_verbosity` asks for it.
    pub plan: Option<&'a [Vec<Value>]>,
    /// Conditions to be shown.
    pub warnings: &'a [Condition],
    /// The client's text, without passwords.
    pub text: &'a [u8],
}

const PLAN_COLUMNS: &str = "id\tselect_type\ttable\ttype\tpossible_keys\tkey\tkey_len\tref\trows\tr_rows\tfiltered\tr_filtered\tExtra";

impl SlowStatement<'_> {
    /// Appends the entry.
    pub fn write(&self, head: &EntryHead, out: &mut Vec<u8>) {
        let mut lines = String::with_capacity(512);
        // Writing to a string cannot fail.
        let _ = self.write_head(head, &mut lines);
        out.extend_from_slice(lines.as_bytes());
        out.extend_from_slice(self.text);
        out.extend_from_slice(b";\n");
    }

    fn write_head(&self, head: &EntryHead, out: &mut String) -> std::fmt::Result {
        if let Some(time) = &head.time {
            writeln!(out, "# Time: {time}")?;
        }
        writeln!(out, "# User@Host: {}", self.account)?;
        writeln!(
            out,
            "# Thread_id: {}  Schema: {}  QC_hit: No",
            self.connection_id, self.database
        )?;
        writeln!(
            out,
            "# Query_time: {:.6}  Lock_time: 0.000000  Rows_sent: {}  Rows_examined: {}",
            self.duration_micros as f64 / 1e6,
            self.rows_sent,
            self.rows_examined
        )?;
        writeln!(
            out,
            "# Rows_affected: {}  Bytes_sent: {}",
            self.rows_affected, self.bytes_sent
        )?;
        let counts = self.counts;
        // MariaDB shows the sizes as well.
        if self.operations.is_some() && counts.created_tmp_tables > 0 {
            writeln!(
                out,
                "# Tmp_tables: {}  Tmp_disk_tables: {}",
                counts.created_tmp_tables, counts.created_tmp_disk_tables
            )?;
        }
        if let Some(operations) = self.operations.filter(|operations| operations.are_costly()) {
            let yes = |is_so| if is_so { "Yes" } else { "No" };
            let word = |operation| yes(operations.contains(operation));
            writeln!(
                out,
                "# Full_scan: {}  Full_join: {}  Tmp_table: {}  Tmp_table_on_disk: {}",
                word(Operations::FULL_SCAN),
                word(Operations::FULL_JOIN),
                word(Operations::TEMPORARY_TABLE),
                yes(counts.created_tmp_disk_tables > 0)
            )?;
            writeln!(
                out,
                "# Filesort: {}  Filesort_on_disk: {}  Merge_passes: {}  Priority_queue: {}",
                word(Operations::SORT),
                yes(counts.sort_merge_passes > 0),
                counts.sort_merge_passes,
                yes(counts.sort_priority_queue_sorts > 0)
            )?;
        }
        if let Some(plan) = self.plan {
            writeln!(out, "#\n# explain: {PLAN_COLUMNS}")?;
            for row in plan {
                let cells: Vec<String> = row.iter().map(cell).collect();
                writeln!(out, "# explain: {}", cells.join("\t"))?;
            }
            writeln!(out, "#")?;
        }
        if !self.warnings.is_empty() {
            writeln!(out, "# Warnings")?;
        }
        for condition in self.warnings {
            // A message must not begin a line that reads as a statement.
            let message = condition.message.replace('\n', " ");
            writeln!(
                out,
                "# {} {} {message}",
                condition.level.as_str(),
                condition.code.number()
            )?;
        }
        if head.has_other_database {
            writeln!(out, "use `{}`;", self.database.replace('`', "``"))?;
        }
        let seconds = self.start_micros.div_euclid(1_000_000);
        writeln!(out, "SET timestamp={seconds};")
    }
}

/// Returns a value of the plan, in one line.
fn cell(value: &Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Int(number) => number.to_string(),
        Value::Double(number) => format!("{number:.2}"),
        Value::Text(text) => text.replace(['\n', '\t'], " "),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use paceline_expression::session::Level;
    use paceline_types::error_code::ER_DIVISION_BY_ZERO;

    #[test]
    fn an_entry_has_mariadbs_form() {
        let warning = Condition {
            level: Level::Warning,
            code: ER_DIVISION_BY_ZERO,
            message: "Division by 0\nselect 'not a statement';".into(),
            signalled: None,
        };
        let plan = [vec![
            Value::Int(1),
            Value::Text("SIMPLE".into()),
            Value::Null,
            Value::Double(100.0),
        ]];
        let statement = SlowStatement {
            account: "a[a] @ localhost []",
            connection_id: 3,
            database: "d`",
            duration_micros: 1_500_000,
            rows_sent: 1,
            rows_examined: 2,
            rows_affected: 0,
            bytes_sent: 58,
            start_micros: 1_795_695_223_000_000,
            counts: &StatementCounts {
                created_tmp_tables: 2,
                sort_priority_queue_sorts: 1,
                ..StatementCounts::default()
            },
            operations: Some(Operations::FULL_SCAN),
            plan: Some(&plan),
            warnings: &[warning],
            text: b"select 1",
        };
        let head = EntryHead {
            time: Some("261126 12:13:43".into()),
            has_other_database: true,
        };
        let mut out = vec![];
        statement.write(&head, &mut out);
        let expected = "# Time: 261126 12:13:43\n\
            # User@Host: a[a] @ localhost []\n\
            # Thread_id: 3  Schema: d`  QC_hit: No\n\
            # Query_time: 1.500000  Lock_time: 0.000000  Rows_sent: 1  Rows_examined: 2\n\
            # Rows_affected: 0  Bytes_sent: 58\n\
            # Tmp_tables: 2  Tmp_disk_tables: 0\n\
            # Full_scan: Yes  Full_join: No  Tmp_table: No  Tmp_table_on_disk: No\n\
            # Filesort: No  Filesort_on_disk: No  Merge_passes: 0  Priority_queue: Yes\n\
            #\n\
            # explain: id\tselect_type\ttable\ttype\tpossible_keys\tkey\tkey_len\tref\trows\tr_rows\tfiltered\tr_filtered\tExtra\n\
            # explain: 1\tSIMPLE\tNULL\t100.00\n\
            #\n\
            # Warnings\n\
            # Warning 1365 Division by 0 select 'not a statement';\n\
            use `d```;\n\
            SET timestamp=1795695223;\n\
            select 1;\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
