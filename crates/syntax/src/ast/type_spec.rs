//! Types of columns as written.

use paceline_types::FixedBinaryType;

/// A type as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeSpec {
    pub kind: TypeKind,
    /// First number in parentheses: display width, length, precision, or number of fractional digits.
    pub length: Option<u64>,
    /// Second number in parentheses: the scale.
    pub decimals: Option<u32>,
    /// `UNSIGNED`; implied by `ZEROFILL`.
    pub unsigned: bool,
    pub zerofill: bool,
    /// `CHARACTER SET`; also set by `ASCII`, `UNICODE` and `NCHAR`.
    pub charset: Option<CharsetName>,
    pub collation: Option<String>,
    /// `BINARY`: the character set's `_bin` collation.
    pub binary: bool,
    pub compressed: bool,
    /// Labels of an ENUM or SET.
    pub labels: Vec<String>,
}

impl TypeSpec {
    /// Returns a type without attributes.
    pub fn new(kind: TypeKind) -> Self {
        Self {
            kind,
            length: None,
            decimals: None,
            unsigned: false,
            zerofill: false,
            charset: None,
            collation: None,
            binary: false,
            compressed: false,
            labels: Vec::new(),
        }
    }
}

/// Types by their names in the grammar. Synonyms are resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TypeKind {
    TinyInt,
    SmallInt,
    MediumInt,
    Int,
    BigInt,
    Decimal,
    Float,
    Double,
    Bit,
    Bool,
    Char,
    VarChar,
    TinyText,
    Text,
    MediumText,
    LongText,
    Binary,
    VarBinary,
    TinyBlob,
    Blob,
    MediumBlob,
    LongBlob,
    Date,
    Time,
    DateTime,
    Timestamp,
    Year,
    Enum,
    Set,
    Json,
    /// `SERIAL`: BIGINT UNSIGNED NOT NULL AUTO_INCREMENT UNIQUE.
    Serial,
    /// `UUID`, `INET6`, `INET4`.
    FixedBinary(FixedBinaryType),
    /// `VECTOR`, `GEOMETRY` and its subtypes: error 1235 with this name.
    Unsupported(&'static str),
}

/// `CHARACTER SET name` or `CHARACTER SET DEFAULT`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CharsetName {
    /// `DEFAULT`: inherited from the enclosing object.
    Default,
    Name(String),
    /// Two clauses, one of them with `DEFAULT`: both must mean the same.
    NameAndDefault {
        /// The name.
        name: String,
        /// Whether `DEFAULT` came first.
        default_first: bool,
    },
}
