use super::*;
use proptest::prelude::*;
use std::hash::{DefaultHasher, Hasher};

fn key(collation: Collation, text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    collation.append_sort_key(text, None, &mut out);
    out
}

fn hash(collation: Collation, text: &str) -> u64 {
    let mut state = DefaultHasher::new();
    collation.hash(text, &mut state);
    state.finish()
}

#[test]
fn names_and_ids_come_back() {
    for &collation in Collation::all() {
        assert_eq!(Collation::from_id(collation.id()), Some(collation));
        assert_eq!(
            Collation::from_name(&collation.name().to_uppercase()),
            Some(collation)
        );
        assert!(collation.name().starts_with(collation.charset().name()));
    }
    assert_eq!(
        Collation::from_name("utf8_general_ci"),
        Some(Collation::Utf8mb3GeneralCi)
    );
    assert_eq!(Collation::from_name("utf8mb4_klingon_ci"), None);
}

/// Checked with `SELECT STRCMP(a COLLATE …, b)` on MariaDB 10.11.
#[test]
fn compares_as_mariadb() {
    use Collation::*;
    use Ordering::*;
    for (collation, a, b, order) in [
        (Utf8mb4GeneralCi, "a", "A", Equal),
        (Utf8mb4GeneralCi, "a", "ä", Equal),
        (Utf8mb4GeneralCi, "ß", "s", Equal),
        (Utf8mb4GeneralCi, "ss", "ß", Greater),
        (Utf8mb4GeneralCi, "a", "a  ", Equal),
        (Utf8mb4GeneralCi, "a\t", "a", Less),
        (Utf8mb4GeneralCi, "a\t", "a ", Less),
        (Utf8mb4GeneralCi, "a!", "a", Greater),
        (Utf8mb4GeneralCi, "😀", "😁", Equal),
        (Utf8mb4GeneralCi, "µ", "μ", Equal),
        (Utf8mb4GeneralCi, "_", "a", Greater),
        (Utf8mb4Bin, "a", "A", Greater),
        (Utf8mb4Bin, "a", "a ", Equal),
        (Utf8mb4Bin, "a\t", "a", Less),
        (Utf8mb4Bin, "😀", "😁", Less),
        (Latin1SwedishCi, "å", "ä", Less),
        (Latin1SwedishCi, "é", "E", Equal),
        (Latin1SwedishCi, "ö", "z", Greater),
        (Utf8mb4GeneralNopadCi, "a", "A ", Less),
        (Binary, "a", "a ", Less),
        (Utf8mb4UnicodeCi, "ß", "ss", Equal),
        (Utf8mb4UnicodeCi, "a\u{301}", "á", Equal),
        (Utf8mb4UnicodeCi, "a\u{200d}b", "ab ", Equal),
        (Utf8mb4UnicodeCi, "a\t", "a", Less),
        (Utf8mb4UnicodeCi, "_", "a", Less),
        (Utf8mb4UnicodeCi, "😀", "😁", Equal),
        (Utf8mb4Unicode520Ci, "😀", "😁", Less),
        (Utf8mb4Unicode520Ci, "Œ", "oe", Equal),
    ] {
        assert_eq!(collation.compare(a, b), order, "{collation:?} {a:?} {b:?}");
        assert_eq!(
            collation.compare(b, a),
            order.reverse(),
            "{collation:?} {b:?} {a:?}"
        );
    }
}

/// Checked with `SELECT a COLLATE … LIKE b` on MariaDB 10.11.
#[test]
fn like_as_mariadb() {
    use Collation::*;
    for (collation, text, pattern, expected) in [
        (Utf8mb4GeneralCi, "David!", "david_", true),
        (Utf8mb4GeneralCi, "David!", "%D%v%", true),
        (Utf8mb4GeneralCi, "David_", "David\\_", true),
        (Utf8mb4GeneralCi, "David!", "David\\_", false),
        (Utf8mb4GeneralCi, "a", "a ", false),
        (Utf8mb4GeneralCi, "ä", "a", true),
        (Utf8mb4GeneralCi, "", "%", true),
        (Utf8mb4GeneralCi, "", "_", false),
        (Utf8mb4GeneralCi, "ab\\", "ab\\", true),
        (Utf8mb4GeneralCi, "mississippi", "%iss%ip%", true),
        (Utf8mb4GeneralCi, "mississippi", "%iss%ipx%", false),
        (Utf8mb4GeneralCi, "一二三", "一_三", true),
        (Utf8mb4Bin, "David", "david", false),
        (Utf8mb4Bin, "ab", "%b", true),
        (Utf8mb4Bin, "ab%", "ab\\%", true),
    ] {
        assert_eq!(
            collation.like(text, pattern, Some('\\')),
            expected,
            "{text:?} LIKE {pattern:?}"
        );
    }
    assert!(Utf8mb4Bin.like("a%", "a|%", Some('|')));
    assert!(Utf8mb4Bin.like("a\\b", "a\\b", None));
    assert!(like_bytes(b"a\xffb", b"a_b", None));
    let many = "a".repeat(5000);
    assert!(!Utf8mb4Bin.like(&many, &format!("{}b", "%a".repeat(200)), None));
}

#[test]
fn a_like_pattern_has_the_prefix_before_its_first_wildcard() {
    assert_eq!(
        Collation::like_prefix("abc%", Some('\\')),
        LikePrefix::AllBeginningWith("abc".into())
    );
    assert_eq!(
        Collation::like_prefix("a\\%c", Some('\\')),
        LikePrefix::Exact("a%c".into())
    );
    assert_eq!(
        Collation::like_prefix("a_c%", Some('\\')),
        LikePrefix::SomeBeginningWith("a".into())
    );
    assert_eq!(
        Collation::like_prefix("%", Some('\\')),
        LikePrefix::AllBeginningWith(String::new())
    );
}

#[test]
fn keys_of_english_text_are_short() {
    assert_eq!(key(Collation::Utf8mb4GeneralCi, "hello  ").len(), 6);
    assert_eq!(
        key(Collation::Utf8mb4GeneralCi, "a"),
        key(Collation::Utf8mb4GeneralCi, "A ")
    );
    let mut cut = Vec::new();
    Collation::Utf8mb4GeneralCi.append_sort_key("äbcd", Some(2), &mut cut);
    assert_eq!(cut, key(Collation::Utf8mb4GeneralCi, "ab"));
}

/// Returns a strategy for texts of characters with close weights and with many spaces and control characters.
fn texts() -> impl Strategy<Value = String> {
    let characters = prop_oneof![
        4 => prop::sample::select(vec![' ', '\t', '\u{0}', '\u{1f}', '!', 'a', 'A', 'b', 'z', '{', '~', 'ä', '\u{7f}', '\u{80}']),
        1 => any::<char>(),
        1 => prop::sample::select(vec!['\u{7f7d}', '\u{7f7e}', '\u{7f80}', '\u{ffff}', '\u{fffd}', '😀', 'ÿ', 'þ', '€']),
    ];
    prop::collection::vec(characters, 0..8).prop_map(String::from_iter)
}

proptest! {
    #[test]
    fn keys_sort_as_texts_compare(a in texts(), b in texts(), tail in any::<[u8; 3]>(), tail2 in any::<[u8; 3]>()) {
        for &collation in Collation::all() {
            let order = collation.compare(&a, &b);
            let (x, y) = (key(collation, &a), key(collation, &b));
            prop_assert_eq!(x.cmp(&y), order, "{:?}", collation);
            // Keys are self-delimiting: bytes after them decide only between equal texts.
            let (x, y) = ([&x[..], &tail].concat(), [&y[..], &tail2].concat());
            prop_assert_eq!(x.cmp(&y), order.then(tail.cmp(&tail2)), "{:?}", collation);
            if order.is_eq() {
                prop_assert_eq!(hash(collation, &a), hash(collation, &b), "{:?}", collation);
            }
        }
    }

    #[test]
    fn keys_start_as_the_keys_of_their_beginnings(a in texts(), b in texts()) {
        for &collation in Collation::all() {
            let mut open = Vec::new();
            collation.append_open_sort_key(&a, &mut open);
            prop_assert!(key(collation, &format!("{a}{b}")).starts_with(&open), "{:?}", collation);
        }
    }

    #[test]
    fn comparison_is_transitive(a in texts(), b in texts(), c in texts()) {
        for &collation in Collation::all() {
            if collation.compare(&a, &b).is_le() && collation.compare(&b, &c).is_le() {
                prop_assert!(collation.compare(&a, &c).is_le(), "{:?}", collation);
            }
        }
    }

    #[test]
    fn a_text_is_like_itself(text in "[ab_%]{0,8}", pattern in "[ab_%]{0,6}") {
        let escaped: String = text.chars().flat_map(|c| ['|', c]).collect();
        prop_assert!(Collation::Utf8mb4GeneralCi.like(&text, &escaped, Some('|')));
        // Compare with a simple recursive matcher.
        fn slow(t: &[char], p: &[char]) -> bool {
            match (p.first(), t.first()) {
                (None, None) => true,
                (Some('%'), _) => slow(t, &p[1..]) || (!t.is_empty() && slow(&t[1..], p)),
                (Some('_'), Some(_)) => slow(&t[1..], &p[1..]),
                (Some(x), Some(y)) if x == y => slow(&t[1..], &p[1..]),
                _ => false,
            }
        }
        let (t, p): (Vec<char>, Vec<char>) = (text.chars().collect(), pattern.chars().collect());
        prop_assert_eq!(Collation::Utf8mb4Bin.like(&text, &pattern, None), slow(&t, &p));
    }
}
