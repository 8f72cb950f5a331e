//! Description of a column in a result set: the contents of a column definition packet.

use std::sync::Arc;

use paceline_types::data_type::{FieldType, column_flags};
use paceline_types::{BlobSize, Charset, Collation, DataType};

use paceline_expression::{ExprType, NOT_FIXED_DECIMALS};

/// Column of a stored table that a result column shows.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnOrigin {
    /// Database of the table.
    pub database: Arc<str>,
    /// The table.
    pub table: Arc<str>,
    /// The column.
    pub column: Arc<str>,
    /// Kind of table through which the column is read.
    pub through: Through,
}

/// Kind of table through which a stored column is read. It decides what CREATE TABLE … SELECT keeps of the column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Through {
    /// The stored table itself.
    Nothing,
    /// A merged view or derived table: the default is not kept.
    Merged,
    /// A view or derived table whose rows are computed first.
    Materialized,
}

/// A column of a result.
#[derive(Debug, Clone, PartialEq)]
pub struct ResultColumn {
    /// Database; empty for an expression.
    pub database: Arc<str>,
    /// Alias of the table.
    pub table: Arc<str>,
    /// Name of the table.
    pub org_table: Arc<str>,
    /// Alias of the column.
    pub name: Arc<str>,
    /// Name of the column.
    pub org_name: Arc<str>,
    /// Type for encoding the values.
    pub data_type: DataType,
    /// The type number.
    pub field_type: FieldType,
    /// Collation; `Binary` (63) for numbers and dates.
    pub collation: Collation,
    /// Bits of [`column_flags`].
    pub flags: u16,
    /// Number of digits after the point; 31 or 39 if not fixed, 0 for integers.
    pub decimals: u8,
    /// The stored column, if it shows one.
    pub origin: Option<ColumnOrigin>,
    /// Format of the text (`json`), for clients that request extended metadata; empty for none.
    pub format: &'static str,
    /// Name of the type (`uuid`) if it has no type number, for the same clients; else empty.
    pub type_name: &'static str,
    /// Whether a DOUBLE is computed: it is announced with one more character than a column.
    pub is_computed: bool,
    /// Whether it shows a user variable, which is announced with another length.
    pub is_variable: bool,
    /// Whether it shows a column of a temporary table of the statement. In CREATE TABLE … SELECT such a column has the
    /// zero of its type as its default, unless it is nullable.
    pub is_temporary: bool,
    /// Whether it is computed by the query itself, and not the MIN or MAX of a column: CREATE TABLE … SELECT stores
    /// such a text of more than 512 characters as TEXT.
    pub is_stored_as_text: bool,
}

impl ResultColumn {
    /// Returns the column of a variable of a program, which is described like a column of a table.
    pub fn of_variable(name: impl Into<Arc<str>>, ty: &ExprType) -> Self {
        let column = Self::of_expression(name, ty);
        ResultColumn {
            decimals: match column.decimals {
                NOT_FIXED_DECIMALS => 0,
                decimals => decimals,
            },
            ..column
        }
    }

    /// Returns the column of an expression.
    pub fn of_expression(name: impl Into<Arc<str>>, ty: &ExprType) -> Self {
        let empty: Arc<str> = Arc::from("");
        // These flags are only for columns of tables.
        let of_columns = column_flags::NUM | column_flags::BLOB | column_flags::ENUM | column_flags::SET;
        let mut flags = ty.data_type.column_flags() & !of_columns;
        match ty.data_type {
            DataType::FixedBinary(_) => flags &= !column_flags::BINARY,
            _ if ty.data_type.is_text() => {}
            _ => flags |= column_flags::BINARY,
        }
        if !ty.nullable {
            flags |= column_flags::NOT_NULL;
        }
        let field_type = match &ty.data_type {
            _ if ty.is_null() => ty.field_type(),
            DataType::Text { size, .. } | DataType::Blob { size } => match size {
                BlobSize::Tiny => FieldType::TinyBlob,
                BlobSize::Normal => FieldType::Blob,
                BlobSize::Medium => FieldType::MediumBlob,
                BlobSize::Long => FieldType::LongBlob,
            },
            DataType::Json => FieldType::LongBlob,
            DataType::Enum { .. } | DataType::Set { .. } => FieldType::VarChar,
            _ => ty.field_type(),
        };
        let collation = match ty.data_type {
            DataType::FixedBinary(_) => Charset::Latin1.default_collation(),
            _ => ty.data_type.collation(),
        };
        ResultColumn {
            database: empty.clone(),
            table: empty.clone(),
            org_table: empty.clone(),
            name: name.into(),
            org_name: empty,
            field_type,
            collation,
            flags,
            decimals: match ty.decimals() {
                NOT_FIXED_DECIMALS if ty.is_null() => 0,
                NOT_FIXED_DECIMALS if matches!(ty.data_type, DataType::Float(_) | DataType::Double(_)) => 31,
                decimals => decimals,
            },
            data_type: ty.data_type.clone(),
            origin: None,
            format: match ty.is_json() {
                true => "json",
                false => "",
            },
            type_name: match &ty.data_type {
                DataType::FixedBinary(t) => t.name(),
                _ => "",
            },
            is_computed: !ty.is_column(),
            is_variable: false,
            is_temporary: false,
            is_stored_as_text: false,
        }
    }

    /// Changes the description to that of a column of a view or derived table.
    pub fn seen_through(&mut self, through: Through) {
        self.is_temporary |= self.origin.is_none();
        if let Some(origin) = &mut self.origin
            && origin.through != Through::Merged
        {
            origin.through = through;
        }
    }

    /// Changes the description to that of a table's column, also of a temporary table of the statement: every BLOB and
    /// TEXT is reported as BLOB, and text has no decimals. Flags of keys and defaults are removed.
    pub fn become_field(&mut self) {
        if self.field_type != FieldType::Null {
            self.field_type = match self.data_type.field_type() {
                FieldType::TinyBlob | FieldType::MediumBlob | FieldType::LongBlob => FieldType::Blob,
                FieldType::Enum | FieldType::Set => FieldType::String,
                other => other,
            };
        }
        let kept = column_flags::NOT_NULL | column_flags::NO_DEFAULT_VALUE;
        self.flags = (self.flags & kept) | (self.data_type.column_flags() & !column_flags::NUM);
        let is_number = self.data_type.is_numeric();
        if !is_number && self.decimals == NOT_FIXED_DECIMALS {
            self.decimals = 0;
        }
    }

    /// Returns the maximum length of a value in bytes, for text with at most this number of bytes per character.
    pub fn length(&self, bytes_per_character: u32) -> u32 {
        if self.field_type == FieldType::Null {
            0
        } else {
            match &self.data_type {
                DataType::Text {
                    size: BlobSize::Long, ..
                }
                | DataType::Blob { size: BlobSize::Long }
                    if self.is_variable =>
                {
                    VARIABLE_LENGTH
                }
                DataType::Decimal(decimal) if self.is_variable && decimal.precision == 65 => {
                    DECIMAL_VARIABLE_LENGTH
                }
                // For TEXT the protocol counts the bytes as characters.
                DataType::Text { size, .. } => saturated(size.max_bytes(), bytes_per_character),
                DataType::Json => saturated(BlobSize::Long.max_bytes(), bytes_per_character),
                DataType::Double(double) if double.fixed.is_none() && self.is_computed => DOUBLE_LENGTH,
                other => other.display_length(bytes_per_character),
            }
        }
    }

    /// Returns the maximum length of a value in bytes for a client that takes texts as they are stored
    /// (`character_set_results` is NULL).
    pub fn stored_length(&self) -> u32 {
        match &self.data_type {
            DataType::Text { size, .. } if !self.is_computed && !self.is_variable => {
                saturated(size.max_bytes(), 1)
            }
            _ => self.length(self.collation.charset().max_bytes_per_character()),
        }
    }

    /// Returns whether it is never NULL.
    pub fn is_not_null(&self) -> bool {
        self.flags & column_flags::NOT_NULL != 0
    }
}

/// Length of a variable with text or bytes: MariaDB's `MAX_BLOB_WIDTH - 1`.
const VARIABLE_LENGTH: u32 = (1 << 24) - 1;
/// Length of a variable with a DECIMAL: MariaDB's `DECIMAL_MAX_STR_LENGTH`.
const DECIMAL_VARIABLE_LENGTH: u32 = 83;
/// Length of a computed DOUBLE.
const DOUBLE_LENGTH: u32 = 23;

fn saturated(characters: u64, bytes_per_character: u32) -> u32 {
    u32::try_from(characters * u64::from(bytes_per_character)).unwrap_or(u32::MAX)
}

/// Returns MariaDB's flags for a table's column.
pub(crate) fn flags_of_column(definition: &paceline_catalog::TableDefinition, number: usize) -> u16 {
    use paceline_catalog::{ColumnDefault, IndexKind};
    let column = &definition.columns()[number];
    let mut result = column.data_type.column_flags() & !column_flags::NUM;
    let is_timestamp = matches!(column.data_type, DataType::Timestamp { .. });
    if is_timestamp
        && (column.on_update.is_some() || matches!(column.default, ColumnDefault::CurrentTimestamp(_)))
    {
        result |= column_flags::TIMESTAMP;
    }
    if !column.nullable {
        result |= column_flags::NOT_NULL;
        if column.default == ColumnDefault::None && !column.auto_increment {
            result |= column_flags::NO_DEFAULT_VALUE;
        }
    }
    if column.auto_increment {
        result |= column_flags::AUTO_INCREMENT;
    }
    if column.on_update.is_some() {
        result |= column_flags::ON_UPDATE_NOW;
    }
    for index in definition.indexes() {
        let Some(place) = index.parts.iter().position(|part| part.column == number) else {
            continue;
        };
        result |= column_flags::PART_KEY;
        match index.kind {
            IndexKind::Primary => result |= column_flags::PRIMARY_KEY,
            IndexKind::Unique if place == 0 && index.parts.len() == 1 => result |= column_flags::UNIQUE_KEY,
            _ if place == 0 => result |= column_flags::MULTIPLE_KEY,
            _ => {}
        }
    }
    result
}
