//! SQL text of a client: parsing ends in a tree or an error. The first byte selects the SQL mode.

use super::Target;
use paceline_golden_script::Script;
use paceline_syntax::ast::SelectItem;
use paceline_syntax::ast::visit::{for_each_expr, for_each_table};
use paceline_syntax::{
    MySqlSession, ParseOptions, Statement, parse_first, statement_objects, translate_mysql,
};
use paceline_types::{Collation, SqlMode};

pub(super) const TARGET: Target = Target {
    name: "sql_text",
    run,
    samples,
    words: &[
        b"SELECT ",
        b" FROM ",
        b" WHERE ",
        b"(",
        b")",
        b",",
        b"'",
        b"\"",
        b"`",
        b"/*!",
        b"*/",
        b"--",
        b"@",
        b"@@",
        b"?",
        b".",
        b" UNION ",
        b" CASE ",
        b" INTERVAL ",
        b" OVER ",
        b"0x",
        b"b'",
        b"_utf8",
        b" COLLATE ",
        b" IN (",
        b" NOT ",
        b"\\",
        b"\0",
    ],
};

const MODES: [SqlMode; 5] = [
    SqlMode::DEFAULT,
    SqlMode::ANSI_QUOTES,
    SqlMode::PIPES_AS_CONCAT,
    SqlMode::NO_BACKSLASH_ESCAPES,
    SqlMode::HIGH_NOT_PRECEDENCE,
];

fn run(input: &[u8]) {
    let Some((choice, text)) = input.split_first() else {
        return;
    };
    let options = ParseOptions {
        sql_mode: MODES[usize::from(*choice) % MODES.len()],
        ..ParseOptions::default()
    };
    let _ = statement_objects(text, &options);
    let session = MySqlSession {
        sql_mode: options.sql_mode,
        utf8mb4_collation: Collation::Utf8mb4GeneralCi,
    };
    let _ = translate_mysql(text, &session);
    let mut offset = 0;
    while let Ok(parsed) = parse_first(&text[offset..], &options) {
        assert!(
            parsed.text.end <= text.len() - offset,
            "the statement is within the text"
        );
        for password in &parsed.clear_passwords {
            assert!(
                password.text.end <= text.len() - offset,
                "and so are its passwords"
            );
        }
        if let Statement::Query(statement) = &parsed.statement {
            for_each_table(&statement.query, |name| drop(name.to_string()));
            if let paceline_syntax::ast::QueryBody::Select(select) = &statement.query.body {
                for expr in select.items.iter().filter_map(SelectItem::expr) {
                    drop(expr.to_string());
                    for_each_expr(expr, |part| drop(part.clone()));
                }
            }
        }
        match parsed.next {
            Some(next) if next > 0 => offset += next,
            _ => return,
        }
    }
}

fn samples() -> Vec<Vec<u8>> {
    let accepted = Script::parse(include_str!("../../../../crates/syntax/testscripts/accepted"));
    let statements = accepted.statements();
    statements
        .map(|statement| [b"\0", statement.as_bytes()].concat())
        .collect()
}
