//! Column definitions of result sets.

use std::borrow::Cow;

use paceline_query::plan::{Plan, ResultColumn};
use paceline_types::Charset;
use paceline_types::data_type::FieldType;
use paceline_wire::column::ColumnDefinition;
use paceline_wire::{Capabilities, PacketWriter};
use std::sync::Arc;

/// Encoded columns of a prepared statement, as they were sent to the client.
#[derive(Debug)]
pub struct KnownColumns {
    /// Keeps the columns at the address by which they are recognized.
    plan: Arc<Plan>,
    charset: Option<Charset>,
    encoded: EncodedColumns,
    field_types: Vec<FieldType>,
}

impl KnownColumns {
    /// Encodes the columns of a plan with a result.
    pub fn new(plan: Arc<Plan>, charset: Option<Charset>, capabilities: Capabilities) -> Self {
        let encoded = EncodedColumns::new(plan.columns(), charset, capabilities);
        let field_types = plan.columns().iter().map(|column| column.field_type).collect();
        KnownColumns {
            plan,
            charset,
            encoded,
            field_types,
        }
    }

    /// Returns the encoded columns.
    pub fn encoded(&self) -> &EncodedColumns {
        &self.encoded
    }

    /// Returns whether this describes these columns.
    pub fn describes(&self, columns: &[ResultColumn]) -> bool {
        self.plan.columns() == columns
    }

    /// Returns the field types.
    pub fn field_types(&self) -> &[FieldType] {
        &self.field_types
    }

    /// Returns whether these columns and this character set are the same.
    pub fn are(&self, columns: &[ResultColumn], charset: Option<Charset>) -> bool {
        std::ptr::eq(self.plan.columns(), columns) && self.charset == charset
    }
}

/// Column definitions, framed for their place in every result set: after the packet with the number of columns.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EncodedColumns {
    /// Packets in a simplified framing: length (4 bytes, little endian) and payload of each.
    bytes: Vec<u8>,
}

impl EncodedColumns {
    /// Encodes column definitions.
    pub fn new(columns: &[ResultColumn], charset: Option<Charset>, capabilities: Capabilities) -> Self {
        let mut bytes = Vec::with_capacity(columns.len() * 64);
        for column in columns {
            let start = bytes.len();
            bytes.extend_from_slice(&[0; 4]);
            definition(column, charset)
                .encode_in(&mut bytes, capabilities, &|name| in_results(name, charset));
            let length = (bytes.len() - start - 4) as u32;
            bytes[start..start + 4].copy_from_slice(&length.to_le_bytes());
        }
        EncodedColumns { bytes }
    }

    /// Writes the packets.
    pub fn write(&self, writer: &mut PacketWriter) {
        let mut rest = &self.bytes[..];
        while let Some((length, tail)) = rest.split_first_chunk::<4>() {
            let (payload, tail) = tail.split_at(u32::from_le_bytes(*length) as usize);
            writer.packet(payload);
            rest = tail;
        }
    }
}

/// Returns a name in the character set of the results. A character that it lacks becomes `?`.
fn in_results(name: &str, charset: Option<Charset>) -> Cow<'_, [u8]> {
    match charset {
        Some(charset) if !name.is_ascii() && charset != Charset::Binary => {
            let mut encoded = Vec::with_capacity(name.len());
            charset.encode(name, &mut encoded);
            Cow::Owned(encoded)
        }
        _ => Cow::Borrowed(name.as_bytes()),
    }
}

/// Returns an error's message in the character set of the results. A character that it lacks, and a control character,
/// becomes `\` and its number.
pub fn message_in_results(message: &str, charset: Option<Charset>) -> Cow<'_, [u8]> {
    let is_shown = |character: char| !character.is_ascii_control() || "\t\n\r".contains(character);
    let needs_numbers = |charset: &Charset| !charset.can_encode(message) || !message.chars().all(is_shown);
    let Some(charset) = charset.filter(|charset| *charset != Charset::Binary && needs_numbers(charset))
    else {
        return in_results(message, charset);
    };
    let mut encoded = Vec::with_capacity(message.len());
    let mut buffer = [0; 4];
    for character in message.chars() {
        let text = character.encode_utf8(&mut buffer);
        match charset.can_encode(text) && is_shown(character) {
            true => charset.encode(text, &mut encoded),
            false => encoded.extend_from_slice(format!("\\{:04X}", u32::from(character)).as_bytes()),
        }
    }
    Cow::Owned(encoded)
}

/// Returns the protocol's description of a column, with text in the character set of the results.
pub fn definition(column: &ResultColumn, charset: Option<Charset>) -> ColumnDefinition<'_> {
    let own = column.collation;
    let is_text = own.charset() != Charset::Binary;
    let collation = match charset {
        // The collation of the result's character set, not the one by which the column sorts.
        Some(charset) if is_text && charset != Charset::Binary => charset.default_collation(),
        _ => own,
    };
    ColumnDefinition {
        schema: &column.database,
        table: &column.table,
        original_table: &column.org_table,
        name: &column.name,
        original_name: &column.org_name,
        collation: collation.id(),
        length: match charset {
            // Texts are sent as they are stored: their size in bytes is the column's own.
            None => column.stored_length(),
            Some(_) => column.length(collation.charset().max_bytes_per_character()),
        },
        field_type: wire_type(column.field_type),
        flags: column.flags,
        decimals: column.decimals,
        format: column.format,
        type_name: column.type_name,
    }
}

/// Returns the type on the wire: ENUM and SET are sent as strings.
fn wire_type(field_type: FieldType) -> u8 {
    match field_type {
        FieldType::Enum | FieldType::Set => FieldType::String.code(),
        FieldType::VarChar => FieldType::VarString.code(),
        other => other.code(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use paceline_expression::ExprType;
    use paceline_types::Collation;

    fn column(ty: &ExprType) -> ResultColumn {
        ResultColumn::of_expression("c", ty)
    }

    #[test]
    fn text_is_described_in_the_character_set_of_the_results() {
        let text = column(&ExprType::text(10, Collation::Latin1SwedishCi));
        let of = |charset| {
            let definition = definition(&text, charset);
            (definition.collation, definition.length)
        };
        assert_eq!(of(None), (Collation::Latin1SwedishCi.id(), 10));
        assert_eq!(
            of(Some(Charset::Utf8mb4)),
            (Charset::Utf8mb4.default_collation().id(), 40)
        );
        assert_eq!(of(Some(Charset::Binary)), (Collation::Latin1SwedishCi.id(), 10));
        let number = column(&ExprType::bigint(20));
        let binary = definition(&number, Some(Charset::Utf8mb4)).collation;
        assert_eq!(binary, Collation::Binary.id());
    }

    #[test]
    fn encoded_columns_are_the_packets_of_their_definitions() {
        let columns = [column(&ExprType::bigint(20)), column(&ExprType::double())];
        let capabilities = Capabilities::SERVER;
        let mut encoded = PacketWriter::new();
        EncodedColumns::new(&columns, None, capabilities).write(&mut encoded);
        let mut direct = PacketWriter::new();
        for column in &columns {
            definition(column, None).write(&mut direct, capabilities);
        }
        assert_eq!(encoded.bytes(), direct.bytes());
    }
}
