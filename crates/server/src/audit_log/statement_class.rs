//! Class of a statement by its first words, as MariaDB's plugin `server_audit` finds it.

/// Classes that a statement belongs to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StatementClasses {
    /// It defines tables or programs.
    pub is_definition: bool,
    /// It reads or changes rows.
    pub is_manipulation: bool,
    /// It is a SELECT.
    pub is_select: bool,
    /// It is about accounts and privileges.
    pub is_control: bool,
}

impl StatementClasses {
    /// Returns the classes of a text.
    pub fn of(text: &[u8]) -> StatementClasses {
        let rest = without_leading_comments(text);
        let mut words = rest
            .split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_')
            .filter(|word| !word.is_empty())
            .map(|word| String::from_utf8_lossy(&word[..word.len().min(16)]).to_uppercase());
        let first = words.next().unwrap_or_default();
        // CREATE OR REPLACE USER.
        let second = words.find(|word| !matches!(word.as_str(), "OR" | "REPLACE"));
        let is_account = matches!(second.as_deref(), Some("USER" | "ROLE"));
        let second_is_password = second.as_deref() == Some("PASSWORD");
        let mut classes = StatementClasses::default();
        match first.as_str() {
            "CREATE" | "ALTER" | "DROP" | "RENAME" if is_account => classes.is_control = true,
            "CREATE" | "ALTER" | "DROP" | "RENAME" | "TRUNCATE" => classes.is_definition = true,
            "GRANT" | "REVOKE" => classes.is_control = true,
            "SET" if second_is_password => classes.is_control = true,
            "SELECT" | "WITH" | "TABLE" | "VALUES" => {
                classes.is_manipulation = true;
                classes.is_select = true;
            }
            "INSERT" | "UPDATE" | "DELETE" | "REPLACE" | "LOAD" | "CALL" | "DO" | "HANDLER" => {
                classes.is_manipulation = true;
            }
            _ => {}
        }
        classes
    }
}

fn without_leading_comments(mut text: &[u8]) -> &[u8] {
    loop {
        text = text.trim_ascii_start();
        let end = match text {
            [b'/', b'*', b'!', ..] => return &text[3..],
            [b'/', b'*', ..] => text
                .windows(2)
                .skip(2)
                .position(|pair| pair == b"*/")
                .map(|at| at + 4),
            [b'#', ..] | [b'-', b'-', ..] => text.iter().position(|byte| *byte == b'\n').map(|at| at + 1),
            [b'(', ..] => Some(1),
            _ => return text,
        };
        match end {
            Some(end) => text = &text[end..],
            None => return &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_words_decide() {
        let of = |text: &str| StatementClasses::of(text.as_bytes());
        assert!(of("/* a */ -- b\n (select 1)").is_select);
        assert!(of("create or replace user a").is_control);
        assert!(of("create table user_t (a int)").is_definition);
        assert!(of("set password = ''").is_control);
        assert_eq!(of("set a = 1"), StatementClasses::default());
        assert_eq!(of("/* open"), StatementClasses::default());
        assert!(of("/**/insert into t values (1)").is_manipulation);
    }
}
