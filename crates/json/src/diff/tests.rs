//! Tests of changes written by hand, with MySQL's results, and of random changes.

use super::*;
use proptest::prelude::*;

const REPLACE: u8 = 0;
const INSERT: u8 = 1;
const REMOVE: u8 = 2;

/// Encodes changes: operation, path, and the value in its binary form.
fn diffs(list: &[(u8, &str, &[u8])]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (operation, path, value) in list {
        bytes.push(*operation);
        put_counted(path.as_bytes(), &mut bytes);
        if *operation != REMOVE {
            put_counted(value, &mut bytes);
        }
    }
    bytes
}

fn put_counted(data: &[u8], out: &mut Vec<u8>) {
    match data.len() {
        length @ 0..=250 => out.push(length as u8),
        length => {
            out.push(252);
            out.extend_from_slice(&(length as u16).to_le_bytes());
        }
    }
    out.extend_from_slice(data);
}

fn changed(document: &str, list: &[(u8, &str, &[u8])]) -> Result<String> {
    let mut out = b"before ".to_vec();
    append_changed_json(document.as_bytes(), &diffs(list), &mut out)?;
    Ok(String::from_utf8(out.split_off(7)).unwrap())
}

const NULL: &[u8] = &[4, 0];
const TRUE: &[u8] = &[4, 1];
const SEVEN: &[u8] = &[5, 7, 0];
const X: &[u8] = &[12, 1, b'x'];
/// `[1, null]`
const PAIR: &[u8] = &[2, 2, 0, 10, 0, 5, 1, 0, 4, 0, 0];

#[test]
fn no_changes_leave_the_text_as_it_is() {
    // The text is not touched, even if it is not a document.
    for text in ["{\"a\":1}", "", "no JSON"] {
        assert_eq!(changed(text, &[]).unwrap(), text);
    }
}

#[test]
fn each_operation_on_objects_and_arrays() {
    let document = r#"{"a": 1, "bb": [1, 2.50, "3"], "cc": {"d": {"e": null}}}"#;
    for (diff, wanted) in [
        (
            (REPLACE, "$.a", X),
            r#"{"a": "x", "bb": [1, 2.50, "3"], "cc": {"d": {"e": null}}}"#,
        ),
        (
            (REPLACE, "$.bb[1]", PAIR),
            r#"{"a": 1, "bb": [1, [1, null], "3"], "cc": {"d": {"e": null}}}"#,
        ),
        (
            (REPLACE, "$.bb[last-2]", TRUE),
            r#"{"a": 1, "bb": [true, 2.50, "3"], "cc": {"d": {"e": null}}}"#,
        ),
        (
            (REPLACE, " $ . cc . d .e", SEVEN),
            r#"{"a": 1, "bb": [1, 2.50, "3"], "cc": {"d": {"e": 7}}}"#,
        ),
        (
            (INSERT, "$.b", NULL),
            r#"{"a": 1, "b": null, "bb": [1, 2.50, "3"], "cc": {"d": {"e": null}}}"#,
        ),
        (
            (INSERT, "$.\"\"", NULL),
            r#"{"": null, "a": 1, "bb": [1, 2.50, "3"], "cc": {"d": {"e": null}}}"#,
        ),
        (
            (INSERT, "$.bb[0]", X),
            r#"{"a": 1, "bb": ["x", 1, 2.50, "3"], "cc": {"d": {"e": null}}}"#,
        ),
        (
            (INSERT, "$.bb[ last ]", X),
            r#"{"a": 1, "bb": [1, 2.50, "x", "3"], "cc": {"d": {"e": null}}}"#,
        ),
        (
            (INSERT, "$.bb[last-9]", X),
            r#"{"a": 1, "bb": ["x", 1, 2.50, "3"], "cc": {"d": {"e": null}}}"#,
        ),
        (
            (INSERT, "$.bb[4294967295]", X),
            r#"{"a": 1, "bb": [1, 2.50, "3", "x"], "cc": {"d": {"e": null}}}"#,
        ),
        (
            (INSERT, "$.cc.d.\"\\u0065\\\"\"", X),
            r#"{"a": 1, "bb": [1, 2.50, "3"], "cc": {"d": {"e": null, "e\"": "x"}}}"#,
        ),
        (
            (REMOVE, "$.a", NULL),
            r#"{"bb": [1, 2.50, "3"], "cc": {"d": {"e": null}}}"#,
        ),
        (
            (REMOVE, "$.bb[last]", NULL),
            r#"{"a": 1, "bb": [1, 2.50], "cc": {"d": {"e": null}}}"#,
        ),
        (
            (REMOVE, "$.cc.d", NULL),
            r#"{"a": 1, "bb": [1, 2.50, "3"], "cc": {}}"#,
        ),
    ] {
        assert_eq!(changed(document, &[diff]).unwrap(), wanted, "{diff:?}");
    }
}

#[test]
fn each_change_applies_to_the_result_of_the_previous_ones() {
    let list = [
        (REPLACE, "$[0]", PAIR),
        (INSERT, "$[0][2]", X),
        (REMOVE, "$[0][0]", NULL),
        (INSERT, "$[1].k", SEVEN),
        (REPLACE, "$[1].k", TRUE),
    ];
    assert_eq!(
        changed("[0, {}]", &list).unwrap(),
        r#"[[null, "x"], {"k": true}]"#
    );
}

#[test]
fn a_path_longer_than_250_bytes() {
    let key = "k".repeat(300);
    let path = format!("$.{key}");
    assert_eq!(
        changed("{}", &[(INSERT, &path, TRUE)]).unwrap(),
        format!("{{\"{key}\": true}}")
    );
}

#[test]
fn rejects_changes_that_do_not_fit_the_document() {
    for (document, diff) in [
        ("{}", (REPLACE, "$.a", NULL)),
        ("{}", (REMOVE, "$.a", NULL)),
        ("{\"a\": 1}", (INSERT, "$.a", NULL)),
        ("{\"a\": 1}", (INSERT, "$.b.c", NULL)),
        ("{\"a\": 1}", (REPLACE, "$[0]", NULL)),
        ("[1]", (REPLACE, "$[1]", NULL)),
        ("[1]", (REMOVE, "$[last-1]", NULL)),
        ("[1]", (REMOVE, "$.a", NULL)),
        ("[1]", (INSERT, "$.a", NULL)),
        ("[]", (REPLACE, "$[last]", NULL)),
        // A scalar is not an array of itself.
        ("1", (REPLACE, "$[0]", NULL)),
        ("1", (INSERT, "$[1]", NULL)),
        ("[1]", (REPLACE, "$[0][0]", NULL)),
        ("", (REPLACE, "$.a", NULL)),
        ("[1", (INSERT, "$[0]", NULL)),
    ] {
        assert_eq!(
            changed(document, &[diff]),
            Err(Error::DiffNotApplied),
            "{document} {diff:?}"
        );
    }
}

#[test]
fn rejects_malformed_changes() {
    let long = format!("${}", "[0]".repeat(LEGS_MAX + 1));
    for path in [
        "",
        "$",
        "a",
        "$a",
        "$.",
        "$..a",
        "$.*",
        "$[*]",
        "$**.a",
        "$[",
        "$[]",
        "$[-1]",
        "$[+1]",
        "$[1 to 2]",
        "$[last-]",
        "$[lastly]",
        "$[4294967296]",
        "$.\"a",
        "$.\"\\x\"",
        "$.a\\",
        "$.a$.b[",
        &long,
    ] {
        for operation in [REPLACE, INSERT, REMOVE] {
            let done = changed("{\"a\": 1}", &[(operation, path, NULL)]);
            assert_eq!(done, Err(Error::MalformedDiff), "{path}");
        }
    }
    let whole = diffs(&[(REPLACE, "$.a", PAIR)]);
    let mut out = Vec::new();
    for length in 1..whole.len() {
        let done = append_changed_json(b"{\"a\": 1}", &whole[..length], &mut out);
        assert_eq!(done, Err(Error::MalformedDiff), "{length} bytes");
    }
    for bytes in [
        &b"\x03\x03$.a\x02\x04\x00"[..],
        b"\x00\xfb\x03$.a",
        b"\x00\xff",
        b"\x00\xfe\xff\xff\xff\xff\xff\xff\xff\xff",
        b"\x00\x03$.\xff\x02\x04\x00",
    ] {
        assert_eq!(
            append_changed_json(b"{\"a\": 1}", bytes, &mut out),
            Err(Error::MalformedDiff)
        );
    }
    assert!(out.is_empty(), "nothing is written of what is not done");
}

/// A document as plain values.
#[derive(Clone, Debug, PartialEq)]
enum Model {
    Number(i16),
    Array(Vec<Model>),
    Object(Vec<(String, Model)>),
}

impl Model {
    fn text(&self) -> String {
        match self {
            Model::Number(number) => number.to_string(),
            Model::Array(elements) => {
                let elements: Vec<String> = elements.iter().map(Model::text).collect();
                format!("[{}]", elements.join(", "))
            }
            Model::Object(members) => {
                let mut members: Vec<_> = members.iter().collect();
                members.sort_by_key(|(key, _)| (key.len(), key.clone()));
                let members: Vec<String> = members
                    .iter()
                    .map(|(key, value)| format!("\"{key}\": {}", value.text()))
                    .collect();
                format!("{{{}}}", members.join(", "))
            }
        }
    }

    /// Makes a change somewhere in the document, as the numbers choose, and returns the path, operation and value of
    /// the same change. `None` if nothing can be changed.
    fn change(&mut self, choices: &mut dyn Iterator<Item = u16>, path: &mut String) -> Option<(u8, i16)> {
        let mut choose = |count: usize| choices.next().map(|choice| usize::from(choice) % count.max(1));
        let (descend, operation, value) = (choose(2)? == 1, choose(3)?, choose(1000)? as i16);
        match self {
            Model::Number(_) => None,
            Model::Array(elements) => {
                let at = choose(elements.len() + usize::from(operation == 1))?;
                path.push_str(&format!("[{at}]"));
                if descend && matches!(elements.get(at), Some(Model::Array(_) | Model::Object(_))) {
                    return elements[at].change(choices, path);
                }
                match operation {
                    0 => *elements.get_mut(at)? = Model::Number(value),
                    1 => elements.insert(at, Model::Number(value)),
                    _ if elements.is_empty() => return None,
                    _ => drop(elements.remove(at)),
                }
                Some((operation as u8, value))
            }
            Model::Object(members) => {
                let at = choose(members.len())?;
                if operation == 1 && !descend {
                    let key = format!("key {value}");
                    path.push_str(&format!(".\"{key}\""));
                    if members.iter().any(|(known, _)| *known == key) {
                        return None;
                    }
                    members.push((key, Model::Number(value)));
                    return Some((INSERT, value));
                }
                let (key, member) = members.get_mut(at)?;
                path.push_str(&format!(".\"{key}\""));
                if descend && !matches!(member, Model::Number(_)) {
                    return member.change(choices, path);
                }
                match operation {
                    0 | 1 => *member = Model::Number(value),
                    _ => drop(members.remove(at)),
                }
                Some((if operation == 2 { REMOVE } else { REPLACE }, value))
            }
        }
    }
}

fn model() -> impl Strategy<Value = Model> {
    any::<i16>()
        .prop_map(Model::Number)
        .prop_recursive(4, 40, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Model::Array),
                prop::collection::btree_map("[a-zé\\]},]{0,4}", inner, 0..5)
                    .prop_map(|members| Model::Object(members.into_iter().collect())),
            ]
        })
}

proptest! {
    /// Random changes at random places.
    #[test]
    fn changes_have_the_same_effect_as_on_the_model(mut model in model(), rounds in prop::collection::vec(prop::collection::vec(any::<u16>(), 24), 1..8)) {
        let before = model.text();
        let mut made = Vec::new();
        for choices in rounds {
            let mut path = "$".to_owned();
            let mut after = model.clone();
            if let Some((operation, value)) = after.change(&mut choices.into_iter(), &mut path) {
                let [low, high] = value.to_le_bytes();
                made.extend(diffs(&[(operation, &path, &[5, low, high])]));
                model = after;
            }
        }
        let mut out = Vec::new();
        append_changed_json(before.as_bytes(), &made, &mut out).unwrap();
        prop_assert_eq!(String::from_utf8(out).unwrap(), model.text());
    }

    /// Arbitrary bytes produce an error or a text, in limited time.
    #[test]
    fn no_bytes_make_it_panic(document in prop::collection::vec(any::<u8>(), 0..40), bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        let _ = append_changed_json(&document, &bytes, &mut Vec::new());
    }

    /// The same for bytes that resemble changes.
    #[test]
    fn no_damage_makes_it_panic(
        document in "[\\[\\]{}\",:0-9a-z\\\\ ]{0,30}",
        list in prop::collection::vec((0u8..4, "\\$([.\\[\\]\"\\\\a-c0-3 ]|last|u0){0,12}", prop::collection::vec(any::<u8>(), 0..12)), 0..4),
        damage in prop::option::of((any::<prop::sample::Index>(), any::<u8>())),
    ) {
        let list: Vec<_> = list.iter().map(|(operation, path, value)| (*operation, path.as_str(), value.as_slice())).collect();
        let mut bytes = diffs(&list);
        if let (Some((at, byte)), false) = (damage, bytes.is_empty()) {
            *at.get_mut(&mut bytes) = byte;
        }
        let mut out = Vec::new();
        if append_changed_json(document.as_bytes(), &bytes, &mut out).is_err() {
            prop_assert!(out.is_empty());
        }
    }
}
