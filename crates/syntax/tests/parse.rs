//! Statements that the parser accepts and rejects, compared with the answers of MariaDB 10.11.

use paceline_golden_script::{Answers, Command, Context, Runner, Script};
use paceline_syntax::ast::{Expr, ItemName, QueryBody, SelectItem, TruthTest};
use paceline_syntax::{ParseOptions, Statement, parse, parse_first};

/// Beginning of every message of 1064.
const MESSAGE_START: &str = "You have an error in your SQL syntax; check the manual that corresponds to your MariaDB server \
                             version for the right syntax to use ";

/// Parses each statement of a script. Its answers are errors: the number, and the place in the statement.
struct ParseRunner;

impl Runner for ParseRunner {
    type Command = Command;

    fn run(
        &mut self,
        command: &Command,
        _: &Context,
    ) -> std::result::Result<String, Box<dyn std::error::Error>> {
        Ok(match parse(command.name.as_bytes(), &ParseOptions::default()) {
            Ok(_) => String::new(),
            Err(error) => {
                let message = error.message();
                let place = message.strip_prefix(MESSAGE_START).unwrap_or(message);
                format!("error {}: {place}", error.code())
            }
        })
    }
}

#[test]
fn statements_that_mariadb_accepts_are_accepted() {
    paceline_golden_script::run(&mut ParseRunner, "testscripts/accepted", Answers::MariaDb);
}

#[test]
fn statements_that_mariadb_rejects_are_rejected_with_its_message() {
    paceline_golden_script::run(&mut ParseRunner, "testscripts/rejected", Answers::MariaDb);
}

#[test]
fn stored_programs_are_accepted_and_refused_as_in_mariadb() {
    paceline_golden_script::run(&mut ParseRunner, "testscripts/programs", Answers::MariaDb);
}

/// Returns the statements that MariaDB accepts.
fn accepted() -> Vec<String> {
    let script = Script::read("testscripts/accepted");
    script.statements().map(str::to_owned).collect()
}

/// Returns the first expression of a SELECT.
fn first_expression(text: &str) -> Expr {
    match first_item(text) {
        SelectItem::Expr { expr, .. } => expr,
        other => panic!("{other:?}"),
    }
}

fn first_item(text: &str) -> SelectItem {
    let parsed = parse_first(format!("SELECT {text}").as_bytes(), &ParseOptions::default()).unwrap();
    let Statement::Query(query) = parsed.statement else {
        panic!("no query")
    };
    let QueryBody::Select(select) = query.query.body else {
        panic!("no select")
    };
    select.items.into_iter().next().unwrap()
}

/// Writes an expression with parentheses around every operation, to show what binds to what.
fn grouped(expr: &Expr) -> String {
    match expr {
        Expr::Binary { left, op, right } => format!("({} {op} {})", grouped(left), grouped(right)),
        Expr::Unary { op, operand } => format!("({} {})", op.to_string().trim_end(), grouped(operand)),
        Expr::Is {
            operand,
            test: TruthTest::Null,
            negated: false,
        } => format!("({} IS NULL)", grouped(operand)),
        Expr::InList { operand, list, .. } => {
            format!(
                "({} IN {})",
                grouped(operand),
                list.iter().map(grouped).collect::<Vec<_>>().join(",")
            )
        }
        Expr::Between {
            operand, low, high, ..
        } => {
            format!(
                "({} BETWEEN {} AND {})",
                grouped(operand),
                grouped(low),
                grouped(high)
            )
        }
        Expr::Nested(inner) => grouped(inner),
        other => other.to_string(),
    }
}

#[test]
fn operators_bind_as_in_mariadb() {
    for (text, expected) in [
        ("a OR b AND c", "(a OR (b AND c))"),
        ("a OR b XOR c AND d", "(a OR (b XOR (c AND d)))"),
        ("NOT a = b", "(NOT (a = b))"),
        ("NOT a AND b", "((NOT a) AND b)"),
        ("! a = b", "((NOT a) = b)"),
        ("a + b * c", "(a + (b * c))"),
        ("a - b - c", "((a - b) - c)"),
        (
            "a | b & c << d + e * f ^ g",
            "(a | (b & (c << (d + (e * (f ^ g))))))",
        ),
        ("- a ^ b", "((- a) ^ b)"),
        ("a = b IS NULL", "((a = b) IS NULL)"),
        ("a IN (1) = b", "((a IN 1) = b)"),
        ("a BETWEEN 1 + 1 AND 2 AND b", "((a BETWEEN (1 + 1) AND 2) AND b)"),
        ("a || b", "(a OR b)"),
        ("a && b OR c", "((a AND b) OR c)"),
        ("a = b = c", "((a = b) = c)"),
    ] {
        assert_eq!(grouped(&first_expression(text)), expected, "{text}");
    }
}

#[test]
fn sql_modes_change_the_meaning() {
    use paceline_types::SqlMode;
    let parse_in = |mode: SqlMode, text: &str| {
        let options = ParseOptions {
            sql_mode: mode,
            ..ParseOptions::default()
        };
        let parsed = parse_first(format!("SELECT {text}").as_bytes(), &options).unwrap();
        let Statement::Query(query) = parsed.statement else {
            panic!("no query")
        };
        let QueryBody::Select(select) = query.query.body else {
            panic!("no select")
        };
        match select.items.into_iter().next().unwrap() {
            SelectItem::Expr { expr, .. } => expr,
            other => panic!("{other:?}"),
        }
    };
    let concat = parse_in(SqlMode::PIPES_AS_CONCAT, "a || b");
    assert_eq!(concat.to_string().to_lowercase(), "concat(a, b)");
    assert!(matches!(parse_in(SqlMode::ANSI_QUOTES, "\"a\""), Expr::Column(_)));
    assert_eq!(
        grouped(&parse_in(SqlMode::HIGH_NOT_PRECEDENCE, "NOT a = b")),
        "((NOT a) = b)"
    );
    assert_eq!(
        parse_in(SqlMode::NO_BACKSLASH_ESCAPES, r"'a\'").to_string(),
        r"'a\'"
    );
}

#[test]
fn select_items_are_named_as_by_mariadb() {
    for (text, expected) in [
        ("'abc'", "abc"),
        ("('abc')", "abc"),
        ("'a' 'b'", "ab"),
        ("_utf8mb3'abc'", "abc"),
        ("- 1", "- 1"),
        ("true", "TRUE"),
        ("null", "NULL"),
        ("( 1 )", "1"),
        ("((1+1))", "((1+1))"),
        ("1  +   1 ", "1  +   1"),
        ("@a", "@a"),
        ("@@global.port", "@@global.port"),
        ("@b := 1", "@b := 1"),
        ("count( * )", "count( * )"),
        ("current_user", "current_user"),
        ("'  ab'", "ab"),
        ("x'41'", "x'41'"),
        ("0x41", "0x41"),
        ("concat('a',\"b\") ", "concat('a',\"b\")"),
        ("(select 1)", "(select 1)"),
    ] {
        match first_item(text) {
            SelectItem::Expr { name, .. } => assert_eq!(name, ItemName::Text(expected.to_owned()), "{text}"),
            other => panic!("{text}: {other:?}"),
        }
    }
    assert!(matches!(
        first_item("(t.a)"),
        SelectItem::Expr {
            name: ItemName::Column,
            ..
        }
    ));
}

#[test]
fn parameters_are_numbered_in_the_order_of_the_text() {
    let parsed = parse_first(b"SELECT ? FROM t WHERE a = ? LIMIT ?", &ParseOptions::default()).unwrap();
    assert_eq!(parsed.parameters, 3);
    assert_eq!(first_expression("?"), Expr::Parameter(0));
}

#[test]
fn several_statements_are_found_one_by_one() {
    let text = b" SELECT 1 ; /* c */ SELECT 2;; ";
    let first = parse_first(text, &ParseOptions::default()).unwrap();
    assert_eq!(&text[first.text.clone()], b"SELECT 1");
    let all = parse(text, &ParseOptions::default()).unwrap();
    assert_eq!(
        all.iter()
            .map(|parsed| &text[parsed.text.clone()])
            .collect::<Vec<_>>(),
        [b"SELECT 1", b"SELECT 2"]
    );
    // The first statement runs even if the second is invalid.
    assert!(parse_first(b"SELECT 1; FOO", &ParseOptions::default()).is_ok());
}

#[test]
fn an_executed_comment_belongs_to_its_statement() {
    let options = ParseOptions::default();
    let text = b"/* a */ /*!40000 ALTER TABLE `t` DISABLE KEYS */;\n/*!50000 DROP TABLE a*/ /* b */;\n\
                 /* c */ CREATE TABLE /*!32312 IF NOT EXISTS*/ b (a int); /*!999999 x */ DROP TABLE c /*! , d */ ";
    let all: Vec<_> = parse(text, &options)
        .unwrap()
        .into_iter()
        .map(|parsed| String::from_utf8_lossy(&text[parsed.text]).into_owned())
        .collect();
    assert_eq!(
        all,
        [
            "/*!40000 ALTER TABLE `t` DISABLE KEYS */",
            "/*!50000 DROP TABLE a*/ /* b */",
            "CREATE TABLE /*!32312 IF NOT EXISTS*/ b (a int)",
            "DROP TABLE c /*! , d */"
        ]
    );
    // A logged statement can be parsed again.
    for text in all {
        assert_eq!(parse(text.as_bytes(), &options).unwrap()[0].text, 0..text.len());
    }
}

#[test]
fn an_empty_text_is_1065_and_a_comment_an_empty_statement() {
    let number =
        |text: &[u8]| parse_first(text, &ParseOptions::default()).map_err(|error| error.code().number());
    assert_eq!(number(b"").unwrap_err(), 1065);
    assert_eq!(number(b"  ").unwrap_err(), 1065);
    assert_eq!(number(b";").unwrap_err(), 1065);
    assert_eq!(number(b"-- x").unwrap().statement, Statement::Empty);
    assert_eq!(number(b"/*!99999 x */").unwrap().statement, Statement::Empty);
}

#[test]
fn text_that_is_not_utf8_is_a_binary_string() {
    let parsed = parse_first(
        b"INSERT INTO t VALUES (_binary'\xff\\'', '\xfe')",
        &ParseOptions::default(),
    )
    .unwrap();
    let Statement::Insert(insert) = parsed.statement else {
        panic!("no insert")
    };
    let text = format!("{:?}", insert.source);
    assert!(text.contains("FF27") && text.contains("FE"), "{text}");
    assert_eq!(
        parse_first(b"SELECT \xff", &ParseOptions::default())
            .unwrap_err()
            .code()
            .number(),
        1064
    );
}

#[test]
fn depth_has_a_limit() {
    // Run in a thread with the stack size of a server's worker.
    let deep = |open: &str, close: &str, levels: usize| {
        let text = format!("SELECT {}1{}", open.repeat(levels), close.repeat(levels));
        parse_first(text.as_bytes(), &ParseOptions::default())
            .map(drop)
            .map_err(|error| error.code().number())
    };
    std::thread::Builder::new()
        .stack_size(2 << 20)
        .spawn(move || {
            assert_eq!(deep("(", ")", 50), Ok(()));
            // Redundant parentheses are not levels, nor is a pair that only groups a subquery.
            assert_eq!(deep("(", ")", 100_000), Ok(()));
            assert_eq!(deep("(SELECT ", ")", 64), Err(1473));
            assert_eq!(deep("(SELECT ", ")", 100_000), Err(1473));
            assert_eq!(deep("- ", "", 100_000), Err(1436));
            assert_eq!(deep("NOT ", "", 100_000), Err(1436));
            assert_eq!(deep("CASE WHEN ", " THEN 1 END", 100_000), Err(1436));
            assert_eq!(deep("f(", ")", 100_000), Err(1436));
            assert_eq!(deep("", " + 1", 100_000), Err(1436));
            assert_eq!(deep("", " UNION SELECT 1", 100_000), Err(1436));
            // The number of terms of AND and OR is not limited.
            assert_eq!(deep("", " OR a = 1", 100_000), Ok(()));
            assert_eq!(deep("", ", 1", 100_000), Ok(()));
        })
        .unwrap()
        .join()
        .unwrap();
}

#[test]
fn a_comment_without_an_end_ends_every_statement() {
    // The token of such a comment remains, and code that skips words must stop at it.
    for statement in accepted() {
        let _ = parse(format!("{statement} /*!").as_bytes(), &ParseOptions::default());
    }
}

#[test]
fn damaged_statements_never_crash() {
    // Parse every prefix of a statement, and statements with one byte changed. The parser must always return.
    let mut seed = 0x2545_F491_4F6C_DD1D_u64;
    let mut random = move || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed
    };
    for statement in accepted() {
        let bytes = statement.as_bytes();
        for end in 0..bytes.len() {
            let _ = parse(&bytes[..end], &ParseOptions::default());
        }
        for _ in 0..40 {
            let mut damaged = bytes.to_vec();
            let place = random() as usize % damaged.len();
            let bytes = b"'\"`()/*;,.@?\\-\0 a1\xff";
            damaged[place] = bytes[random() as usize % bytes.len()];
            let _ = parse(&damaged, &ParseOptions::default());
        }
    }
}
