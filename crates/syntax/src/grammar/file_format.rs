//! FIELDS and LINES of LOAD DATA and SELECT … INTO OUTFILE.

use super::parser::Parser;
use crate::error::Result;
use crate::lexer::Token;
use crate::statement::FileFormat;

impl Parser<'_> {
    /// Parses `[CHARACTER SET …] [FIELDS …] [LINES …]`.
    pub(super) fn file_format(&mut self) -> Result<FileFormat> {
        let mut format = FileFormat::default();
        if self.accept_words(&["CHARACTER", "SET"]) || self.accept_word("CHARSET") {
            format.charset = Some(self.collation_name()?);
        }
        if self.accept_any_word(&["COLUMNS", "FIELDS"]).is_some() {
            let mut any = false;
            while self.fields_option(&mut format)? {
                any = true;
            }
            if !any {
                return Err(self.error());
            }
        }
        if self.accept_word("LINES") {
            let mut any = false;
            while let Some(word) = self.accept_any_word(&["TERMINATED", "STARTING"]) {
                any = true;
                self.expect_word("BY")?;
                let text = self.text_bytes()?;
                if word == "TERMINATED" {
                    format.lines_terminated_by = text;
                } else {
                    format.lines_starting_by = text;
                }
            }
            if !any {
                return Err(self.error());
            }
        }
        Ok(format)
    }

    fn fields_option(&mut self, format: &mut FileFormat) -> Result<bool> {
        if self.is_word("OPTIONALLY") && !self.is_at(1, &Token::End) {
            self.advance();
            if !self.is_word("ENCLOSED") {
                return Err(self.error());
            }
            format.optionally_enclosed = true;
        }
        let Some(word) = self.accept_any_word(&["TERMINATED", "ENCLOSED", "ESCAPED"]) else {
            return Ok(false);
        };
        self.expect_word("BY")?;
        let text = self.text_bytes()?;
        match word {
            "TERMINATED" => format.fields_terminated_by = text,
            "ENCLOSED" => format.fields_enclosed_by = text,
            _ => format.fields_escaped_by = Some(text),
        }
        Ok(true)
    }
}
