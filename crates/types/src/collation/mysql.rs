//! Substitutes for MySQL's collations.
//!
//! MySQL 8 has collations of Unicode 9.0 that MariaDB does not have. One of them is `utf8mb4_0900_ai_ci`, MySQL's
//! default. A replica of a MySQL server uses these instead:
//!
//! | MySQL's collation | substitute | reason |
//! |---|---|---|
//! | `utf8mb4_0900_ai_ci` | `utf8mb4_unicode_520_nopad_ci` | the newest Unicode version here; treats accents, case and padding alike |
//! | any other `utf8mb4_…0900_…` | `utf8mb4_nopad_bin` | values that are distinct there must be distinct here (unique keys) |
//!
//! The second one sorts and compares differently from MySQL, but never rejects a row.

use super::Collation;

/// MySQL's id of `utf8mb4_0900_ai_ci`.
const UTF8MB4_0900_AI_CI: u16 = 255;

impl Collation {
    /// Returns the substitute for the MySQL collation with this id, or `None` if no collation is similar to it.
    pub fn of_mysql_id(id: u16) -> Option<Collation> {
        match id {
            UTF8MB4_0900_AI_CI => Some(Collation::Utf8mb4Unicode520NopadCi),
            256..=323 => Some(Collation::Utf8mb4NopadBin),
            _ => Collation::from_id(id),
        }
    }

    /// Returns the substitute for a MySQL collation by its name, if MariaDB does not have the collation.
    pub fn instead_of_mysql(name: &str) -> Option<Collation> {
        let name = name.to_ascii_lowercase();
        match name.as_str() {
            "utf8mb4_0900_ai_ci" => Some(Collation::Utf8mb4Unicode520NopadCi),
            other if other.starts_with("utf8mb4_") && other.contains("_0900_") => {
                Some(Collation::Utf8mb4NopadBin)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_names_agree() {
        let pairs = [
            (255, "utf8mb4_0900_ai_ci"),
            (264, "utf8mb4_sv_0900_ai_ci"),
            (278, "utf8mb4_0900_as_cs"),
            (309, "utf8mb4_0900_bin"),
            (323, "utf8mb4_mn_cyrl_0900_as_cs"),
        ];
        for (id, name) in pairs {
            assert!(Collation::of_mysql_id(id).is_some());
            assert_eq!(
                Collation::of_mysql_id(id),
                Collation::instead_of_mysql(name),
                "{name}"
            );
        }
        assert_eq!(Collation::of_mysql_id(46), Some(Collation::Utf8mb4Bin));
        assert_eq!(Collation::of_mysql_id(232), Some(Collation::Utf8mb4SwedishCi));
        assert_eq!(Collation::of_mysql_id(610), None);
        assert_eq!(Collation::instead_of_mysql("utf8mb4_bin"), None);
    }
}
