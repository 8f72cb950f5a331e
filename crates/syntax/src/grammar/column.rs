//! Column definitions: type and attributes.

use crate::ast::{Expr, UnaryOp};
use paceline_types::error_code::{
    ER_CONFLICTING_DECLARATIONS, ER_OPERAND_COLUMNS, ER_UNKNOWN_COLLATION, ER_UNKNOWN_COMPRESSION_METHOD,
    ER_WRONG_FIELD_SPEC,
};
use paceline_types::{Charset, Collation, FixedBinaryType};

use super::parser::Parser;
use crate::error::{Error, Result};
use crate::lexer::Token;
use crate::statement::definition::*;
use paceline_types::SqlMode;

impl Parser<'_> {
    /// Parses a column's type and attributes, after its name.
    pub(super) fn column_spec(&mut self, name: String) -> Result<ColumnSpec> {
        let mut column = ColumnSpec {
            name,
            data_type: self.type_spec()?,
            nullable: None,
            default: None,
            on_update: None,
            auto_increment: false,
            primary_key: false,
            unique: false,
            comment: None,
            invisible: false,
            late_compression: false,
            check: None,
            generated: None,
            references: None,
        };
        if column.data_type.kind == TypeKind::Serial {
            column.data_type = TypeSpec {
                unsigned: true,
                ..TypeSpec::new(TypeKind::BigInt)
            };
            column.nullable = Some(false);
            column.auto_increment = true;
            column.unique = true;
        }
        let is_serial = column.auto_increment;
        loop {
            if is_serial && self.is_word("NULL") {
                return Err(self.error());
            }
            // A foreign key ends the column's definition.
            column.references = self.column_references(&column.name)?;
            if column.references.is_some() || !self.column_attribute(&mut column)? {
                return Ok(column);
            }
        }
    }

    fn column_attribute(&mut self, column: &mut ColumnSpec) -> Result<bool> {
        // Attributes that a generated column cannot have.
        const VALUE_ATTRIBUTES: &[&str] = &[
            "NULL",
            "NOT",
            "DEFAULT",
            "ON",
            "AUTO_INCREMENT",
            "SERIAL",
            "PRIMARY",
            "KEY",
            "COLLATE",
        ];
        if column.generated.is_some() && self.is_any_word(VALUE_ATTRIBUTES) {
            return Err(self.error());
        }
        if self.accept_word("NULL") {
            column.nullable = Some(true);
        } else if self.accept_phrase(&["NOT", "NULL"])? {
            column.nullable = Some(false);
        } else if self.accept_word("DEFAULT") {
            column.default = Some(self.default_spec()?);
        } else if self.accept_words(&["ON", "UPDATE"]) {
            column.on_update = Some(self.now_function()?.ok_or_else(|| self.error())?);
        } else if self.accept_word("AUTO_INCREMENT") {
            column.auto_increment = true;
            // Only a later NULL makes the column nullable.
            column.nullable = Some(false);
        } else if self.accept_words(&["SERIAL", "DEFAULT", "VALUE"]) {
            column.auto_increment = true;
            column.nullable = Some(false);
            column.unique = true;
        } else if self.accept_word("PRIMARY") {
            self.expect_word("KEY")?;
            column.primary_key = true;
        } else if self.accept_word("KEY") {
            column.primary_key = true;
        } else if self.accept_word("UNIQUE") {
            self.accept_word("KEY");
            column.unique = true;
        } else if self.accept_word("COMMENT") {
            column.comment = Some(self.text()?);
        } else if self.accept_word("COLLATE") {
            // DEFAULT is a collation only directly after the type.
            if self.is_word("DEFAULT") {
                return Err(self.error());
            }
            self.declared_collation(&mut column.data_type)?;
        } else if self.accept_any_word(&["COLUMN_FORMAT", "STORAGE"]).is_some() {
            self.option_word()?;
        } else if self.accept_word("INVISIBLE") {
            column.invisible = true;
        } else if column.check.is_none() && self.accept_word("CHECK") {
            let (expr, text) = self.parenthesized_text()?;
            column.check = Some(CheckSpec {
                name: None,
                if_not_exists: false,
                expr,
                text,
            });
        } else if column.check.is_none() && self.accept_word("CONSTRAINT") {
            let name = if self.is_identifier() {
                Some(self.checked_identifier()?)
            } else {
                None
            };
            self.expect_word("CHECK")?;
            let (expr, text) = self.parenthesized_text()?;
            column.check = Some(CheckSpec {
                name,
                if_not_exists: false,
                expr,
                text,
            });
        } else if column.generated.is_none()
            && (self.accept_words(&["GENERATED", "ALWAYS"]) || self.is_word("AS"))
        {
            let has_value = column.nullable.is_some() || column.default.is_some() || column.auto_increment;
            if has_value || column.primary_key {
                return Err(self.error());
            }
            self.expect_word("AS")?;
            if self.is_word("ROW") {
                return Err(Error::unsupported("SYSTEM VERSIONING"));
            }
            let (expr, text) = self.parenthesized_text()?;
            let stored = match self.accept_any_word(&["VIRTUAL", "PERSISTENT", "STORED"]) {
                Some("VIRTUAL") | None => false,
                Some(_) => true,
            };
            column.generated = Some(GeneratedSpec { expr, text, stored });
        } else if self.is_any_word(&["WITH", "WITHOUT"]) && self.is_word_at(1, "SYSTEM") {
            return Err(Error::unsupported("SYSTEM VERSIONING"));
        } else if self.is_word("COMPRESSED") {
            return self.late_compression(column).map(|()| true);
        } else {
            return self.engine_attribute();
        }
        Ok(true)
    }

    /// Parses `COMPRESSED` or `COMPRESSED=zlib` directly after a column's type, if it stands here.
    ///
    /// # Errors
    /// 4098 for another method.
    fn compression(&mut self, spec: &mut TypeSpec) -> Result<()> {
        if !self.accept_word("COMPRESSED") {
            return Ok(());
        }
        if self.accept(&Token::Equal) {
            let method = self.identifier()?;
            if method != "zlib" {
                return Err(Error::new(ER_UNKNOWN_COMPRESSION_METHOD, &[&method]));
            }
        }
        spec.compressed = true;
        Ok(())
    }

    /// Parses `COMPRESSED` among the attributes of a column, where it is deprecated.
    ///
    /// # Errors
    /// 1064 directly after a type that cannot be compressed, for a repetition, and for a generated column;
    /// 1063 for such a type if other attributes stand between.
    fn late_compression(&mut self, column: &mut ColumnSpec) -> Result<()> {
        use TypeKind::*;
        let may_be = matches!(
            column.data_type.kind,
            VarChar
                | VarBinary
                | TinyText
                | Text
                | MediumText
                | LongText
                | Json
                | TinyBlob
                | Blob
                | MediumBlob
                | LongBlob
        );
        let says_more = column.nullable.is_some() || column.default.is_some() || column.comment.is_some();
        if column.generated.is_some() || column.data_type.compressed || !may_be && !says_more {
            return Err(self.error());
        }
        self.compression(&mut column.data_type)?;
        if !may_be {
            return Err(Error::new(ER_WRONG_FIELD_SPEC, &[&column.name]));
        }
        column.late_compression = true;
        Ok(())
    }

    /// Parses the operand of DEFAULT.
    pub(super) fn default_spec(&mut self) -> Result<DefaultSpec> {
        if let Some(decimals) = self.now_function()? {
            return Ok(DefaultSpec::CurrentTimestamp(decimals));
        }
        let start = self.position();
        if self.is(&Token::LeftParen) && !self.is_subquery() {
            let (expr, text) = self.parenthesized_text()?;
            return Ok(DefaultSpec::Expr {
                expr: Expr::Nested(Box::new(expr)),
                text,
            });
        }
        let expr = self.default_operand()?;
        if let Expr::Row(_) = expr {
            return Err(Error::new(ER_OPERAND_COLUMNS, &[&1]));
        }
        Ok(DefaultSpec::Expr {
            expr,
            text: self.text_since(start),
        })
    }

    /// Parses an operand of DEFAULT without parentheses: a literal, a number with its sign, a function, a
    /// column. A COLLATE after it belongs to the column, not to the operand.
    fn default_operand(&mut self) -> Result<Expr> {
        let op = match self.peek() {
            Token::Plus => UnaryOp::Plus,
            Token::Minus => UnaryOp::Minus,
            Token::Tilde | Token::Exclamation => return Err(self.error()),
            _ if self.is_word("BINARY") => return Err(self.error()),
            _ => return self.operand_without_collation(),
        };
        self.advance();
        match self.peek() {
            Token::Integer | Token::Decimal | Token::Float => Ok(Expr::Unary {
                op,
                operand: Box::new(self.operand_without_collation()?),
            }),
            _ => Err(self.error()),
        }
    }

    /// Parses `CURRENT_TIMESTAMP[(n)]` or a synonym, and returns n.
    fn now_function(&mut self) -> Result<Option<u8>> {
        let word = self.is_any_word(&["CURRENT_TIMESTAMP", "LOCALTIME", "LOCALTIMESTAMP"]);
        let function = self.is_word("NOW") && self.is_at(1, &Token::LeftParen);
        if !word && !function {
            return Ok(None);
        }
        self.advance();
        let mut decimals = 0;
        if self.accept(&Token::LeftParen) {
            if !self.is(&Token::RightParen) {
                decimals = u8::try_from(self.number()?).unwrap_or(u8::MAX);
            }
            self.expect_token(&Token::RightParen)?;
        }
        Ok(Some(decimals))
    }

    // Types ------------------------------------------------------------------------------------------------------

    /// Parses a type.
    pub(super) fn type_spec(&mut self) -> Result<TypeSpec> {
        if !matches!(self.peek(), Token::Word { .. }) {
            return Err(self.error());
        }
        let word = String::from_utf8_lossy(self.current_text()).to_ascii_uppercase();
        let kind = match word.as_str() {
            "TINYINT" | "INT1" => TypeKind::TinyInt,
            "SMALLINT" | "INT2" => TypeKind::SmallInt,
            "MEDIUMINT" | "INT3" | "MIDDLEINT" => TypeKind::MediumInt,
            "INT" | "INTEGER" | "INT4" => TypeKind::Int,
            "BIGINT" | "INT8" => TypeKind::BigInt,
            "DECIMAL" | "DEC" | "NUMERIC" | "FIXED" | "NUMBER" => TypeKind::Decimal,
            "FLOAT" | "FLOAT4" => TypeKind::Float,
            "DOUBLE" | "FLOAT8" => TypeKind::Double,
            "REAL" if self.sql_mode().contains(SqlMode::REAL_AS_FLOAT) => TypeKind::Float,
            "REAL" => TypeKind::Double,
            "BIT" => TypeKind::Bit,
            "BOOL" | "BOOLEAN" => TypeKind::Bool,
            "CHAR" | "CHARACTER" | "NCHAR" | "VARCHAR" | "VARCHARACTER" | "VARCHAR2" | "NVARCHAR"
            | "NATIONAL" => {
                return self.character_type();
            }
            "BINARY" => TypeKind::Binary,
            "VARBINARY" | "RAW" => TypeKind::VarBinary,
            "TINYTEXT" => TypeKind::TinyText,
            "TEXT" => TypeKind::Text,
            "MEDIUMTEXT" => TypeKind::MediumText,
            "LONGTEXT" | "CLOB" => TypeKind::LongText,
            "TINYBLOB" => TypeKind::TinyBlob,
            "BLOB" => TypeKind::Blob,
            "MEDIUMBLOB" => TypeKind::MediumBlob,
            "LONGBLOB" => TypeKind::LongBlob,
            "LONG" => {
                self.advance();
                let kind = if self.accept_word("VARBINARY") {
                    TypeKind::MediumBlob
                } else {
                    let varying = self.accept_any_word(&["VARCHAR", "VARCHARACTER"]).is_some();
                    if !varying && self.accept_any_word(&["CHAR", "CHARACTER"]).is_some() {
                        self.expect_word("VARYING")?;
                    }
                    TypeKind::MediumText
                };
                let mut spec = TypeSpec::new(kind);
                self.compression(&mut spec)?;
                self.charset_attributes(&mut spec)?;
                return Ok(spec);
            }
            "DATE" => TypeKind::Date,
            "TIME" => TypeKind::Time,
            "DATETIME" => TypeKind::DateTime,
            "TIMESTAMP" => TypeKind::Timestamp,
            "YEAR" => TypeKind::Year,
            "ENUM" => TypeKind::Enum,
            "SET" => TypeKind::Set,
            "JSON" => TypeKind::Json,
            "SERIAL" => TypeKind::Serial,
            "UUID" => TypeKind::FixedBinary(FixedBinaryType::Uuid),
            "INET4" => TypeKind::FixedBinary(FixedBinaryType::Inet4),
            "INET6" => TypeKind::FixedBinary(FixedBinaryType::Inet6),
            "VECTOR" => TypeKind::Unsupported("VECTOR"),
            "GEOMETRY" | "POINT" | "LINESTRING" | "POLYGON" | "MULTIPOINT" | "MULTILINESTRING"
            | "MULTIPOLYGON" | "GEOMETRYCOLLECTION" => TypeKind::Unsupported("GEOMETRY"),
            _ => return Err(self.unknown_type()),
        };
        if let TypeKind::Unsupported(name) = kind {
            return Err(Error::unsupported(format_args!("the type {name}")));
        }
        self.advance();
        let mut spec = TypeSpec::new(kind);
        self.type_attributes(&mut spec)?;
        Ok(spec)
    }

    /// Returns 4161 for a word that could name a type, 1064 for anything else.
    pub(super) fn unknown_type(&self) -> Error {
        if !self.is_identifier() {
            return self.error();
        }
        let name = String::from_utf8_lossy(self.current_text()).into_owned();
        Error::new(paceline_types::error_code::ER_UNKNOWN_DATA_TYPE, &[&name])
    }

    fn type_attributes(&mut self, spec: &mut TypeSpec) -> Result<()> {
        use TypeKind::*;
        match spec.kind {
            TinyInt | SmallInt | MediumInt | Int | BigInt => {
                self.length(spec)?;
                self.sign(spec);
            }
            Decimal | Float | Double => {
                if spec.kind == Double {
                    self.accept_word("PRECISION");
                }
                self.precision(spec)?;
                self.sign(spec);
            }
            Bit | VarBinary | Binary | Year | Date | Time | DateTime | Timestamp | Blob => {
                if spec.kind != Date {
                    self.length(spec)?;
                }
                if spec.kind == VarBinary && spec.length.is_none() {
                    return Err(self.error());
                }
                if spec.kind == Year {
                    self.sign(spec);
                }
                if matches!(spec.kind, VarBinary | Blob) {
                    self.compression(spec)?;
                }
            }
            TinyBlob | MediumBlob | LongBlob => self.compression(spec)?,
            Text => {
                self.length(spec)?;
                self.compression(spec)?;
                self.charset_attributes(spec)?;
            }
            TinyText | MediumText | LongText | Json => {
                self.compression(spec)?;
                self.charset_attributes(spec)?;
            }
            Enum | Set => {
                spec.labels = self.parenthesized(|parser| match parser.peek() {
                    Token::Text(_) => parser.text(),
                    Token::Hex(_) => {
                        let bytes = parser.text_bytes()?;
                        String::from_utf8(bytes).map_err(|_| parser.error())
                    }
                    _ => Err(parser.error()),
                })?;
                self.charset_attributes(spec)?;
            }
            // A length or precision is read and ignored.
            FixedBinary(_) => {
                self.precision(spec)?;
                (spec.length, spec.decimals) = (None, None);
            }
            _ => {}
        }
        Ok(())
    }

    fn length(&mut self, spec: &mut TypeSpec) -> Result<()> {
        if self.accept(&Token::LeftParen) {
            // BLOB() and TIME() are accepted too.
            if !self.is(&Token::RightParen) {
                spec.length = Some(self.number()?);
            }
            self.expect_token(&Token::RightParen)?;
        }
        Ok(())
    }

    fn precision(&mut self, spec: &mut TypeSpec) -> Result<()> {
        if self.accept(&Token::LeftParen) {
            spec.length = Some(self.number()?);
            if self.accept(&Token::Comma) {
                spec.decimals = Some(u32::try_from(self.number()?).unwrap_or(u32::MAX));
            }
            self.expect_token(&Token::RightParen)?;
        }
        Ok(())
    }

    fn sign(&mut self, spec: &mut TypeSpec) {
        while let Some(word) = self.accept_any_word(&["SIGNED", "UNSIGNED", "ZEROFILL"]) {
            match word {
                "UNSIGNED" => spec.unsigned = true,
                "ZEROFILL" => {
                    spec.zerofill = true;
                    spec.unsigned = true;
                }
                _ => {}
            }
        }
    }

    fn character_type(&mut self) -> Result<TypeSpec> {
        let national = self.accept_word("NATIONAL") || self.is_any_word(&["NCHAR", "NVARCHAR"]);
        let Some(word) = self.accept_any_word(&[
            "CHAR",
            "CHARACTER",
            "NCHAR",
            "VARCHAR",
            "VARCHARACTER",
            "VARCHAR2",
            "NVARCHAR",
        ]) else {
            return Err(self.error());
        };
        let varying = match word {
            "CHAR" | "CHARACTER" | "NCHAR" => {
                self.accept_word("VARYING") || self.accept_any_word(&["VARCHAR", "VARCHARACTER"]).is_some()
            }
            _ => true,
        };
        let mut spec = TypeSpec::new(if varying {
            TypeKind::VarChar
        } else {
            TypeKind::Char
        });
        self.length(&mut spec)?;
        if varying && spec.length.is_none() {
            return Err(self.error());
        }
        if varying {
            self.compression(&mut spec)?;
        }
        if national {
            spec.charset = Some(CharsetName::Name("utf8mb3".to_owned()));
            spec.binary = self.accept_word("BINARY");
        } else {
            self.charset_attributes(&mut spec)?;
        }
        Ok(spec)
    }

    /// Parses `CHARACTER SET`, `ASCII`, `UNICODE`, `BYTE`, `BINARY`, `COLLATE`.
    fn charset_attributes(&mut self, spec: &mut TypeSpec) -> Result<()> {
        loop {
            if self.accept_words(&["CHARACTER", "SET"])
                || self.accept_words(&["CHAR", "SET"])
                || self.accept_word("CHARSET")
            {
                spec.charset = Some(self.charset_name()?);
            } else if self.accept_word("ASCII") {
                spec.charset = Some(CharsetName::Name("latin1".to_owned()));
            } else if self.accept_word("UNICODE") {
                spec.charset = Some(CharsetName::Name("ucs2".to_owned()));
            } else if self.accept_word("BYTE") {
                spec.charset = Some(CharsetName::Name("binary".to_owned()));
            } else if self.accept_word("BINARY") {
                spec.binary = true;
            } else if self.accept_word("COLLATE") {
                self.declared_collation(spec)?;
            } else {
                return Ok(());
            }
        }
    }

    /// Parses the name after COLLATE. It must not contradict an earlier part of the column's definition.
    pub(super) fn declared_collation(&mut self, spec: &mut TypeSpec) -> Result<()> {
        if spec.collation.is_some() && self.is_word("DEFAULT") {
            return Err(self.error());
        }
        let name = self.collation_or_default()?;
        if name == DEFAULT_COLLATION {
            let charset = match &spec.charset {
                Some(CharsetName::Name(name)) => Charset::from_name(name),
                _ => None,
            };
            spec.collation = Some(match charset {
                Some(charset) => charset.default_collation().name().to_owned(),
                None => name,
            });
            return Ok(());
        }
        let collation =
            Collation::from_name(&name).ok_or_else(|| Error::new(ER_UNKNOWN_COLLATION, &[&name]))?;
        let declared = match &spec.collation {
            Some(declared)
                if declared == DEFAULT_COLLATION && collation == collation.charset().default_collation() =>
            {
                None
            }
            Some(declared) if !declared.eq_ignore_ascii_case(collation.name()) => {
                Some(("COLLATE ", declared.as_str()))
            }
            None if spec.binary && !collation.is_bin() => Some(("BINARY", "")),
            _ => None,
        };
        if let Some((keyword, declared)) = declared {
            return Err(Error::new(
                ER_CONFLICTING_DECLARATIONS,
                &[&keyword, &declared, &"COLLATE ", &collation.name()],
            ));
        }
        spec.collation = Some(collation.name().to_owned());
        Ok(())
    }
}
