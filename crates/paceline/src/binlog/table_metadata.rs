//! `--print-table-metadata`: prints the column information of a table map as a comment in the form of a definition.
//!
//! ```text
//!  # Columns(`id` INT UNSIGNED NOT NULL,
//!  #         `name` VARCHAR(20) CHARSET latin1 COLLATE latin1_swedish_ci)
//!  # Primary Key(id)
//! ```
//! Signs and character sets require `binlog_row_metadata=MINIMAL`, names, labels and keys require FULL. Without them
//! strings are shown as binary. The output is that of `mariadb-binlog`, including its mistake: it does not count a sign
//! for YEAR, although the log contains one. So after a YEAR column, each sign is that of the preceding column.

use super::column::{packed, take};
use paceline_binlog::event::TableMapEvent;
use paceline_types::Collation;
use paceline_types::data_type::FieldType;
use std::io::Write;

/// Field types of the optional metadata.
mod field {
    pub const SIGNEDNESS: u8 = 1;
    pub const DEFAULT_CHARSET: u8 = 2;
    pub const COLUMN_CHARSET: u8 = 3;
    pub const COLUMN_NAME: u8 = 4;
    pub const SET_LABELS: u8 = 5;
    pub const ENUM_LABELS: u8 = 6;
    pub const GEOMETRY_TYPE: u8 = 7;
    pub const SIMPLE_PRIMARY_KEY: u8 = 8;
    pub const PRIMARY_KEY_WITH_PREFIX: u8 = 9;
    pub const ENUM_AND_SET_DEFAULT_CHARSET: u8 = 10;
    pub const ENUM_AND_SET_COLUMN_CHARSET: u8 = 11;
}

const GEOMETRIES: [&str; 8] = [
    "GEOMETRY",
    "POINT",
    "LINESTRING",
    "POLYGON",
    "MULTIPOINT",
    "MULTILINESTRING",
    "MULTIPOLYGON",
    "GEOMETRYCOLLECTION",
];

/// Collations of the columns that have one, in order.
#[derive(Debug, Default)]
struct Collations {
    /// Collation of all columns without an exception.
    default: Option<u64>,
    /// Exceptions: number of the column among those with a collation, and collation id.
    exceptions: Vec<(u64, u64)>,
    /// Collation of each column, if there is no default.
    each: Vec<u64>,
    next: u64,
}

impl Collations {
    fn next(&mut self) -> Option<Collation> {
        let number = self.next;
        self.next += 1;
        let id = match self.default {
            Some(default) => {
                let exception = self.exceptions.iter().find(|(column, _)| *column == number);
                exception.map_or(default, |(_, id)| *id)
            }
            None => *self.each.get(usize::try_from(number).ok()?)?,
        };
        Collation::from_id(u16::try_from(id).ok()?)
    }
}

/// Contents of the optional metadata.
#[derive(Debug, Default)]
struct Fields<'a> {
    unsigned: Vec<bool>,
    strings: Collations,
    enums_and_sets: Collations,
    names: Vec<&'a [u8]>,
    set_labels: Vec<Vec<&'a [u8]>>,
    enum_labels: Vec<Vec<&'a [u8]>>,
    geometries: Vec<u64>,
    /// Column numbers and prefix lengths; 0 means the whole column.
    primary_key: Vec<(u64, u64)>,
}

fn number(rest: &mut &[u8]) -> Option<u64> {
    packed(rest).map(|number| number as u64)
}

fn numbers(mut value: &[u8]) -> Option<Vec<u64>> {
    let mut numbers = Vec::new();
    while !value.is_empty() {
        numbers.push(number(&mut value)?);
    }
    Some(numbers)
}

fn pairs(mut value: &[u8]) -> Option<Vec<(u64, u64)>> {
    let mut pairs = Vec::new();
    while !value.is_empty() {
        pairs.push((number(&mut value)?, number(&mut value)?));
    }
    Some(pairs)
}

fn string<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = packed(rest)?;
    take(rest, length)
}

fn labels(mut value: &[u8]) -> Option<Vec<Vec<&[u8]>>> {
    let mut all = Vec::new();
    while !value.is_empty() {
        let count = number(&mut value)?;
        let labels = (0..count).map(|_| string(&mut value));
        all.push(labels.collect::<Option<_>>()?);
    }
    Some(all)
}

impl<'a> Fields<'a> {
    /// Decodes the fields up to the first malformed one.
    fn read(optional: &'a [u8]) -> Self {
        let mut fields = Fields::default();
        let mut rest = optional;
        while let Some((kind, behind)) = rest.split_first() {
            rest = behind;
            if string(&mut rest)
                .and_then(|value| fields.add(*kind, value))
                .is_none()
            {
                break;
            }
        }
        fields
    }

    fn add(&mut self, kind: u8, mut value: &'a [u8]) -> Option<()> {
        match kind {
            field::SIGNEDNESS => {
                let bits = value
                    .iter()
                    .flat_map(|byte| (0..8).map(move |bit| byte >> (7 - bit) & 1 == 1));
                self.unsigned = bits.collect();
            }
            field::DEFAULT_CHARSET | field::ENUM_AND_SET_DEFAULT_CHARSET => {
                let default = number(&mut value)?;
                let collations = self.collations(kind);
                collations.default = Some(default);
                collations.exceptions = pairs(value)?;
            }
            field::COLUMN_CHARSET | field::ENUM_AND_SET_COLUMN_CHARSET => {
                self.collations(kind).each = numbers(value)?;
            }
            field::COLUMN_NAME => {
                while !value.is_empty() {
                    self.names.push(string(&mut value)?);
                }
            }
            field::SET_LABELS => self.set_labels = labels(value)?,
            field::ENUM_LABELS => self.enum_labels = labels(value)?,
            field::GEOMETRY_TYPE => self.geometries = numbers(value)?,
            field::SIMPLE_PRIMARY_KEY => {
                self.primary_key = numbers(value)?.into_iter().map(|column| (column, 0)).collect();
            }
            field::PRIMARY_KEY_WITH_PREFIX => self.primary_key = pairs(value)?,
            // A field type of a later version.
            _ => {}
        }
        Some(())
    }

    fn collations(&mut self, kind: u8) -> &mut Collations {
        match kind {
            field::DEFAULT_CHARSET | field::COLUMN_CHARSET => &mut self.strings,
            _ => &mut self.enums_and_sets,
        }
    }
}

/// Appends the comment.
pub fn append_table_metadata(map: &TableMapEvent<'_>, out: &mut Vec<u8>) {
    let mut fields = Fields::read(map.optional_metadata);
    append_columns(map, &mut fields, out);
    if fields.primary_key.is_empty() {
        return;
    }
    out.extend_from_slice(b"# Primary Key(");
    for (part, (column, prefix)) in fields.primary_key.iter().enumerate() {
        if part > 0 {
            out.extend_from_slice(b", ");
        }
        let name = usize::try_from(*column)
            .ok()
            .and_then(|column| fields.names.get(column));
        match name {
            Some(name) => out.extend_from_slice(name),
            None => out.extend_from_slice(column.to_string().as_bytes()),
        }
        if *prefix > 0 {
            let _ = write!(out, "({prefix})");
        }
    }
    out.extend_from_slice(b")\n");
}

fn append_columns(map: &TableMapEvent<'_>, fields: &mut Fields<'_>, out: &mut Vec<u8>) {
    let mut metadata = map.metadata;
    let (mut numerics, mut sets, mut enums, mut geometries) = (0, 0, 0, 0);
    out.extend_from_slice(b"# Columns(");
    for (at, code) in map.column_types.iter().enumerate() {
        let mut code = *code;
        let is_marked = |kind: FieldType| metadata.first() == Some(&kind.code());
        if code == FieldType::String.code() && (is_marked(FieldType::Enum) || is_marked(FieldType::Set)) {
            code = metadata[0];
        }
        let kind = FieldType::from_code(code);
        let collation = match kind {
            Some(
                FieldType::String
                | FieldType::VarString
                | FieldType::VarChar
                | FieldType::Blob
                | FieldType::Geometry,
            ) => fields.strings.next(),
            Some(FieldType::Enum | FieldType::Set) => fields.enums_and_sets.next(),
            _ => None,
        };
        if let Some(name) = fields.names.get(at) {
            append_between(b'`', name, out);
            out.push(b' ');
        }
        let geometry = match kind {
            Some(FieldType::Geometry) => {
                geometries += 1;
                fields.geometries.get(geometries - 1).copied().unwrap_or(0)
            }
            _ => 0,
        };
        let Some(name) = kind.and_then(|kind| type_name(kind, &mut metadata, collation, geometry)) else {
            // As in `mariadb-binlog`: no separator, and the column's metadata is not skipped.
            let _ = write!(out, "INVALID_TYPE({code})");
            continue;
        };
        out.extend_from_slice(name.as_bytes());
        if kind.is_some_and(has_sign) {
            if fields.unsigned.get(numerics) == Some(&true) {
                out.extend_from_slice(b" UNSIGNED");
            }
            numerics += 1;
        }
        if map
            .nullable
            .get(at / 8)
            .is_none_or(|bits| bits >> (at % 8) & 1 == 0)
        {
            out.extend_from_slice(b" NOT NULL");
        }
        let labels = match kind {
            Some(FieldType::Enum) => {
                enums += 1;
                fields.enum_labels.get(enums - 1)
            }
            Some(FieldType::Set) => {
                sets += 1;
                fields.set_labels.get(sets - 1)
            }
            _ => None,
        };
        if let Some(labels) = labels {
            for (number, label) in labels.iter().enumerate() {
                out.push(if number == 0 { b'(' } else { b',' });
                append_between(b'\'', label, out);
            }
            out.push(b')');
        }
        let is_labelled = matches!(kind, Some(FieldType::Enum | FieldType::Set));
        if let Some(collation) = collation.filter(|collation| is_labelled || *collation != Collation::Binary)
        {
            let _ = write!(
                out,
                " CHARSET {} COLLATE {}",
                collation.charset().name(),
                collation.name()
            );
        }
        if at + 1 < map.column_types.len() {
            out.extend_from_slice(b",\n#         ");
        }
    }
    out.extend_from_slice(b")\n");
}

/// Returns whether `mariadb-binlog` counts a sign for a type. It does not for YEAR.
fn has_sign(kind: FieldType) -> bool {
    use FieldType::*;
    matches!(
        kind,
        Tiny | Short | Int24 | Long | LongLong | NewDecimal | Float | Double
    )
}

/// Returns a column's type and removes its metadata; `None` for an unknown type or missing metadata.
fn type_name(
    kind: FieldType,
    metadata: &mut &[u8],
    collation: Option<Collation>,
    geometry: u64,
) -> Option<String> {
    use FieldType::*;
    let text = collation.filter(|collation| *collation != Collation::Binary);
    let mut byte = || take(metadata, 1).map(|bytes| u32::from(bytes[0]));
    let mut with_decimals = |name: &str| {
        Some(match byte()? {
            0 => name.to_owned(),
            decimals => format!("{name}({decimals})"),
        })
    };
    let of_length = |text_name: &str, binary_name: &str, bytes: u32| match text {
        Some(collation) => {
            let characters = bytes / collation.charset().max_bytes_per_character();
            format!("{text_name}({characters})")
        }
        None => format!("{binary_name}({bytes})"),
    };
    Some(match kind {
        Tiny => "TINYINT".into(),
        Short => "SMALLINT".into(),
        Int24 => "MEDIUMINT".into(),
        Long => "INT".into(),
        LongLong => "BIGINT".into(),
        NewDecimal => format!("DECIMAL({},{})", byte()?, byte()?),
        Float => byte().map(|_| "FLOAT".into())?,
        Double => byte().map(|_| "DOUBLE".into())?,
        Bit => format!("BIT({})", byte()? + byte()? * 8),
        Timestamp2 => with_decimals("TIMESTAMP")?,
        DateTime2 => with_decimals("DATETIME")?,
        Time2 => with_decimals("TIME")?,
        NewDate | Date => "DATE".into(),
        Year => "YEAR".into(),
        Enum => take(metadata, 2).map(|_| "ENUM".into())?,
        Set => take(metadata, 2).map(|_| "SET".into())?,
        Blob => {
            let name = if text.is_some() { "TEXT" } else { "BLOB" };
            match byte()? {
                1 => format!("TINY{name}"),
                2 => name.into(),
                3 => format!("MEDIUM{name}"),
                4 => format!("LONG{name}"),
                size => format!("INVALID_{name}({size})"),
            }
        }
        VarChar | VarString => of_length("VARCHAR", "VARBINARY", byte()? | byte()? << 8),
        String => {
            let (high, low) = (byte()?, byte()?);
            of_length("CHAR", "BINARY", ((high & 0x30) ^ 0x30) << 4 | low)
        }
        Geometry => {
            byte()?;
            match usize::try_from(geometry)
                .ok()
                .and_then(|kind| GEOMETRIES.get(kind))
            {
                Some(name) => (*name).into(),
                None => format!("INVALID_GEOMETRY_TYPE({geometry})"),
            }
        }
        _ => return None,
    })
}

/// Appends a name or a label in quotes, escaped as in a string literal whatever the quote is.
fn append_between(quote: u8, text: &[u8], out: &mut Vec<u8>) {
    out.push(quote);
    for byte in text {
        let escaped: &[u8] = match byte {
            b'\n' => b"\\n",
            b'\r' => b"\\r",
            b'\\' => b"\\\\",
            0x08 => b"\\b",
            b'\t' => b"\\t",
            b'\'' => b"\\'",
            0 => b"\\0",
            other => std::slice::from_ref(other),
        };
        out.extend_from_slice(escaped);
    }
    out.push(quote);
}

#[cfg(test)]
mod tests {
    use super::*;
    use paceline_binlog::event::TableId;

    fn text(types: &[u8], metadata: &[u8], optional: &[u8]) -> String {
        let map = TableMapEvent {
            table_id: TableId(1),
            flags: 1,
            database: b"d",
            table: b"t",
            column_types: types,
            metadata,
            nullable: &[0b10],
            optional_metadata: optional,
        };
        let mut out = Vec::new();
        append_table_metadata(&map, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn names_signs_and_keys_are_printed() {
        let optional = b"\x01\x01\x80\x04\x05\x01i\x02v'\x08\x01\x00";
        assert_eq!(
            text(&[3, 15], &[30, 0], optional),
            "# Columns(`i` INT UNSIGNED NOT NULL,\n#         `v\\'` VARBINARY(30))\n# Primary Key(i)\n"
        );
        let key = b"\x09\x04\x01\x05\x00\x00";
        assert_eq!(
            text(&[3, 15], &[30, 0], key),
            "# Columns(INT NOT NULL,\n#         VARBINARY(30))\n# Primary Key(1(5), 0)\n"
        );
    }

    #[test]
    fn malformed_metadata_and_unknown_types_are_printed_without_a_panic() {
        assert_eq!(
            text(&[3, 99, 2], &[], &[]),
            "# Columns(INT NOT NULL,\n#         INVALID_TYPE(99)SMALLINT NOT NULL)\n"
        );
        // A type without its metadata; lengths that exceed the data.
        assert_eq!(
            text(&[15, 3], &[30], &[4, 9, 1]),
            "# Columns(INVALID_TYPE(15)INT)\n"
        );
        for kind in 0..=12 {
            for value in [
                &[1, 255][..],
                &[2, 250, 1],
                &[3, 0xfd, 0xff, 0xff],
                &[9, 0xfe, 1, 2, 3, 4, 5, 6, 7, 0xff],
            ] {
                text(&[3, 15], &[30, 0], &[&[kind], value].concat());
            }
        }
    }
}
