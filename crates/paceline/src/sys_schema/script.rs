//! The statements that make up the database.
//!
//! The files hold one statement per paragraph, without a semicolon at its end, so a routine's body needs no delimiter.
//! Lines that begin with `--` are comments of the files. Views are written once where MariaDB has several of a form:
//!
//! | text | becomes |
//! |---|---|
//! | `{by}`, `{of}` | one view with `user` and `host`, and one with `host` and `user` |
//! | `sys.format_time(…)`, `format_bytes`, `format_path`, `format_statement` | this view, and a second one of the name `x$…` without the functions: numbers to calculate with |

const ROUTINES: &str = include_str!("routines.sql");
const VIEWS: &str = include_str!("views.sql");

/// Common beginning of the names of the functions that make texts for readers.
const FORMAT: &str = "sys.format_";

/// Returns the statements in an order in which they can be executed.
pub fn statements() -> Vec<String> {
    let views = paragraphs(VIEWS)
        .flat_map(|view| by_user_and_host(&view))
        .flat_map(pair);
    paragraphs(ROUTINES).chain(views).collect()
}

/// Returns the paragraphs of a file that are not only comments, without their comments.
fn paragraphs(file: &str) -> impl Iterator<Item = String> {
    let code = |paragraph: &str| {
        let lines: Vec<&str> = paragraph.lines().filter(|line| !line.starts_with("--")).collect();
        lines.join("\n").trim().to_owned()
    };
    file.split("\n\n").map(code).filter(|code| !code.is_empty())
}

fn by_user_and_host(view: &str) -> Vec<String> {
    let with = |by: &str, of: &str| view.replace("{by}", by).replace("{of}", of);
    match view.contains("{by}") {
        true => vec![with("user", "host"), with("host", "user")],
        false => vec![view.to_owned()],
    }
}

/// Returns a view, and if it calls functions that make texts, the one without.
fn pair(view: String) -> Vec<String> {
    if !view.contains(FORMAT) {
        return vec![view];
    }
    let mut raw = String::with_capacity(view.len());
    let mut parts = view.split(FORMAT);
    raw.extend(parts.next());
    for part in parts {
        let arguments = part.find('(').unwrap_or(0);
        raw.push_str(&part[arguments..]);
    }
    let raw = raw.replacen(" VIEW sys.", " VIEW sys.x$", 1);
    vec![view, raw]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_with_texts_gets_a_second_one_with_numbers() {
        let view = "CREATE VIEW sys.v AS SELECT sys.format_time(SUM(a)) AS a, b FROM t ORDER BY SUM(a)";
        assert_eq!(
            pair(view.to_owned()),
            [
                view,
                "CREATE VIEW sys.x$v AS SELECT (SUM(a)) AS a, b FROM t ORDER BY SUM(a)"
            ]
        );
        assert_eq!(pair("CREATE VIEW sys.w AS SELECT 1".to_owned()).len(), 1);
    }

    #[test]
    fn a_view_by_user_and_host_is_made_for_each() {
        assert_eq!(
            by_user_and_host("VIEW sys.{by}s AS SELECT {by}, COUNT({of})"),
            [
                "VIEW sys.users AS SELECT user, COUNT(host)",
                "VIEW sys.hosts AS SELECT host, COUNT(user)"
            ]
        );
    }

    #[test]
    fn statements_replace_or_keep_what_exists_and_have_no_placeholders() {
        let statements = statements();
        for statement in &statements {
            assert!(
                ["CREATE OR REPLACE ", "INSERT IGNORE "]
                    .iter()
                    .any(|begin| statement.starts_with(begin))
                    || statement.contains(" IF NOT EXISTS "),
                "{statement}"
            );
            assert!(
                !statement.contains(['{', '}']) && !statement.ends_with(';'),
                "{statement}"
            );
        }
        let views = statements
            .iter()
            .filter(|statement| statement.contains(" VIEW sys."));
        assert_eq!(views.count(), 100, "as many as MariaDB has");
    }
}
