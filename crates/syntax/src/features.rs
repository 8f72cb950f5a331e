//! Features that a statement uses, counted while it is parsed, as MariaDB counts them: `Feature_…`.

/// Number of uses of each feature in a statement.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Features {
    /// Subqueries in expressions.
    pub subqueries: u32,
    /// Functions of JSON.
    pub json: u32,
    /// Functions of XML.
    pub xml: u32,
    /// Dynamic columns that are created.
    pub dynamic_columns: u32,
}

impl Features {
    /// Returns whether the statement uses any.
    pub fn are_used(&self) -> bool {
        *self != Features::default()
    }

    /// Counts a function.
    pub(crate) fn note_function(&mut self, name: &str) {
        let is_json = |name: &[u8]| name.eq_ignore_ascii_case(b"JSON_");
        if name.as_bytes().get(..5).is_some_and(is_json) {
            self.json += 1;
        } else if name.eq_ignore_ascii_case("EXTRACTVALUE") || name.eq_ignore_ascii_case("UPDATEXML") {
            self.xml += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{ParseOptions, parse_first};

    #[test]
    fn features_are_counted_by_their_uses() {
        let text = b"select json_extract(a, '$'), JSON_TYPE(a), extractvalue(a, '/b'), column_create('c', 1) from t \
            where a in (select 1) and exists (select 2) and b = (select 3 from (select 4) x)";
        let features = parse_first(text, &ParseOptions::default()).unwrap().features;
        assert_eq!((features.json, features.xml, features.dynamic_columns), (2, 1, 1));
        assert_eq!(features.subqueries, 3);
        let stored = parse_first(
            b"select d.json_extract(a), d.updatexml(b) from t",
            &ParseOptions::default(),
        );
        assert!(!stored.unwrap().features.are_used());
        let plain = parse_first(b"select a from t", &ParseOptions::default()).unwrap();
        assert!(!plain.features.are_used());
    }
}
