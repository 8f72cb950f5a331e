//! CREATE VIEW, ALTER VIEW, DROP VIEW.

use std::ops::Range;

use super::parser::Parser;
use super::program::CreateOptions;
use crate::error::{Error, Result};
use crate::lexer::{Lexer, Token};
use crate::statement::definition::{CreateView, DdlStatement, ViewMode};
use crate::statement::definition::{ViewAlgorithm, ViewCheck, ViewSecurity};
use crate::statement::{AccountName, Statement};
use paceline_types::error_code::{ER_VIEW_SELECT_CLAUSE, ER_VIEW_SELECT_VARIABLE, ER_WRONG_USAGE};

/// Options between CREATE or ALTER and VIEW.
#[derive(Default)]
struct ViewOptions {
    algorithm: Option<ViewAlgorithm>,
    definer: Option<AccountName>,
    security: Option<ViewSecurity>,
}

impl Parser<'_> {
    /// Parses a view after CREATE, CREATE OR REPLACE or ALTER; or another object that can have a definer. `None` if
    /// none follows; the cursor is then after the definer.
    pub(super) fn view(&mut self, mode: ViewMode) -> Result<Option<Statement>> {
        let options = self.view_options()?;
        if !self.accept_word("VIEW") {
            let named = options.algorithm.is_some() || options.security.is_some();
            return match named || mode == ViewMode::Alter {
                true if named => Err(self.error()),
                true if self.is_word("EVENT") && !self.has_opaque_programs() => {
                    self.advance();
                    self.alter_event(options.definer).map(Some)
                }
                true => Ok(None),
                false => self.create_program(CreateOptions {
                    or_replace: mode == ViewMode::CreateOrReplace,
                    definer: options.definer,
                }),
            };
        }
        let if_not_exists = mode != ViewMode::Alter && self.accept_phrase(&["IF", "NOT", "EXISTS"])?;
        if if_not_exists && mode == ViewMode::CreateOrReplace {
            return Err(Error::new(ER_WRONG_USAGE, &[&"OR REPLACE", &"IF NOT EXISTS"]));
        }
        let name = self.table_name()?;
        let columns = match self.is(&Token::LeftParen) {
            true => self.parenthesized(Self::identifier)?,
            false => Vec::new(),
        };
        self.expect_word("AS")?;
        let start = self.position();
        let values = self.parameters + self.variable_uses();
        let query = self.query_statement()?;
        if self.parameters + self.variable_uses() > values {
            return Err(Error::new(ER_VIEW_SELECT_VARIABLE, &[]));
        }
        if query.into.is_some() {
            return Err(Error::new(ER_VIEW_SELECT_CLAUSE, &[&"INTO"]));
        }
        let check = self.check_option()?;
        let select_text = self.without_comments(start..self.previous_end());
        Ok(Some(Statement::Ddl(DdlStatement::CreateView(Box::new(
            CreateView {
                mode,
                if_not_exists,
                algorithm: options.algorithm,
                definer: options.definer,
                security: options.security,
                name,
                columns,
                query,
                check,
                select_text,
            },
        )))))
    }

    fn view_options(&mut self) -> Result<ViewOptions> {
        let mut options = ViewOptions::default();
        if self.accept_word("ALGORITHM") {
            self.expect_token(&Token::Equal)?;
            let word = self.accept_any_word(&["UNDEFINED", "MERGE", "TEMPTABLE"]);
            options.algorithm = Some(match word {
                Some("MERGE") => ViewAlgorithm::Merge,
                Some("TEMPTABLE") => ViewAlgorithm::TempTable,
                Some(_) => ViewAlgorithm::Undefined,
                None => return Err(self.error()),
            });
        }
        if self.accept_word("DEFINER") {
            self.expect_token(&Token::Equal)?;
            options.definer = Some(self.grantee()?);
        }
        if self.accept_words(&["SQL", "SECURITY"]) {
            options.security = Some(match self.accept_any_word(&["DEFINER", "INVOKER"]) {
                Some("INVOKER") => ViewSecurity::Invoker,
                Some(_) => ViewSecurity::Definer,
                None => return Err(self.error()),
            });
        }
        Ok(options)
    }

    /// Parses `WITH [CASCADED | LOCAL] CHECK OPTION`.
    fn check_option(&mut self) -> Result<ViewCheck> {
        if !self.accept_word("WITH") {
            return Ok(ViewCheck::None);
        }
        let check = match self.accept_any_word(&["CASCADED", "LOCAL"]) {
            Some("LOCAL") => ViewCheck::Local,
            _ => ViewCheck::Cascaded,
        };
        self.expect_word("CHECK")?;
        self.expect_word("OPTION")?;
        Ok(check)
    }

    /// Returns a part of the text, from one token to another, without comments. The contents of executed
    /// comments stay.
    fn without_comments(&self, range: Range<usize>) -> String {
        let mut lexer = Lexer::new(self.source(), self.sql_mode());
        let mut out = Vec::with_capacity(range.len());
        let mut copied = range.start;
        loop {
            let token = lexer.next();
            if token.start >= range.end || matches!(token.token, Token::End | Token::Invalid) {
                return String::from_utf8_lossy(&out).into_owned();
            }
            if token.start >= range.start {
                out.extend(space_of(&self.source()[copied..token.start]));
                out.extend(&self.source()[token.start..token.end]);
                copied = token.end;
            }
        }
    }

    /// Parses the names of DROP VIEW.
    pub(super) fn drop_views(&mut self) -> Result<Statement> {
        let if_exists = self.accept_phrase(&["IF", "EXISTS"])?;
        let views = self.comma_separated(Self::table_name)?;
        let _ = self.accept_any_word(&["RESTRICT", "CASCADE"]);
        Ok(Statement::Ddl(DdlStatement::DropViews { if_exists, views }))
    }
}

/// Returns the white space of the text between two tokens, which consists of space, comments, and the marks
/// of executed comments.
fn space_of(mut gap: &[u8]) -> Vec<u8> {
    let mut space = Vec::new();
    while let Some((&first, rest)) = gap.split_first() {
        gap = if gap.starts_with(b"/*") {
            match memchr::memmem::find(gap, b"*/") {
                Some(end) => &gap[end + 2..],
                // The mark of an executed comment, with its version.
                None => {
                    let mark = gap
                        .iter()
                        .position(|&byte| byte == b'!')
                        .map_or(gap.len(), |at| at + 1);
                    let digits = gap[mark..]
                        .iter()
                        .take_while(|byte| byte.is_ascii_digit())
                        .count();
                    &gap[mark + digits..]
                }
            }
        } else if gap.starts_with(b"*/") {
            &gap[2..]
        } else if first == b'#' || first == b'-' {
            &gap[memchr::memchr(b'\n', gap).unwrap_or(gap.len())..]
        } else {
            space.push(first);
            rest
        };
    }
    space
}

#[cfg(test)]
mod tests {
    use crate::statement::definition::DdlStatement;
    use crate::{ParseOptions, Statement, parse_first};

    fn select_text(text: &str) -> String {
        match parse_first(text.as_bytes(), &ParseOptions::default())
            .unwrap()
            .statement
        {
            Statement::Ddl(DdlStatement::CreateView(view)) => view.select_text,
            other => panic!("{other:?}"),
        }
    }

    /// The expected texts are those that MariaDB 10.11 logs.
    #[test]
    fn a_views_text_is_logged_without_comments() {
        for (text, expected) in [
            ("create view v as   select  1 ; select 2", "select  1"),
            ("create view v as select 1 /* all */", "select 1"),
            (
                "create view v as select '/* a */' -- b\n, 2 # c\n",
                "select '/* a */' \n, 2",
            ),
            (
                "/*!50001 CREATE ALGORITHM=UNDEFINED */ /*!50013 DEFINER=a@b SQL SECURITY INVOKER */\n/*!50001 VIEW `k` AS select 1 AS `a` */\n\
                 /*!50002 WITH CASCADED CHECK OPTION */",
                "select 1 AS `a` \n WITH CASCADED CHECK OPTION",
            ),
        ] {
            assert_eq!(select_text(text), expected, "{text}");
        }
        for wrong in [
            "create view v select 1",
            "create or replace view if not exists v as select 1",
            "create sql security invoker definer=a view v as select 1",
            "create view v () as select 1",
            "create view v as select 1 with option",
            "create view v as select 1 into @a",
            "create view v as select ?",
        ] {
            assert!(
                parse_first(wrong.as_bytes(), &ParseOptions::default()).is_err(),
                "{wrong}"
            );
        }
    }
}
