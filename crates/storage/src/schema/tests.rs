use super::*;

fn int() -> DataType {
    use paceline_types::{IntegerType, IntegerWidth, Sign};
    DataType::Integer(IntegerType {
        width: IntegerWidth::Int,
        sign: Sign::Signed,
        zerofill: false,
        display_width: 11,
    })
}

const HIDDEN: HiddenIndexes = HiddenIndexes {
    rows: IndexId::new(2000),
    hash: IndexId::new(2001),
};

#[test]
fn rows_are_stored_under_the_first_key_without_nulls() {
    let columns = vec![
        ColumnSchema {
            data_type: int(),
            nullability: Nullability::Nullable,
        },
        ColumnSchema {
            data_type: int(),
            nullability: Nullability::NotNull,
        },
    ];
    let index = |id, kind, column| IndexSchema {
        id: IndexId::new(id),
        kind,
        parts: vec![KeyPart { column, prefix: None }],
    };
    let unique = |indexes: &[IndexSchema]| TableSchema::choose_clustered(&columns, indexes);
    assert_eq!(unique(&[index(1024, IndexKind::Unique, 0)]), None);
    assert_eq!(
        unique(&[
            index(1024, IndexKind::Unique, 0),
            index(1025, IndexKind::Unique, 1)
        ]),
        Some(1)
    );
    assert_eq!(
        unique(&[
            index(1024, IndexKind::Unique, 1),
            index(1025, IndexKind::Primary, 1)
        ]),
        Some(1)
    );
    let schema = TableSchema::new(
        columns.clone(),
        vec![index(1024, IndexKind::Secondary, 1)],
        HIDDEN,
    )
    .unwrap();
    assert_eq!(schema.clustered(), RowPlacement::RowId(HIDDEN));
    assert_eq!(
        schema.index_ids().map(IndexId::as_u32).collect::<Vec<_>>(),
        [1024, 2000, 2001]
    );
    let two = vec![
        index(1024, IndexKind::Primary, 1),
        index(1025, IndexKind::Primary, 1),
    ];
    assert!(TableSchema::new(columns, two, HIDDEN).is_err());
}
