//! JSON text, MySQL's binary documents, and changes of documents. A document read from text is written, and
//! reads as the same document again.

use super::Target;
use paceline_json::Node;
use paceline_json::binary::append_json_text;
use paceline_json::diff::append_changed_json;

pub(super) const TARGET: Target = Target {
    name: "json",
    run,
    samples,
    words: &[
        b"{\"a\": 1}",
        b"[",
        b"]",
        b"\"",
        b"$.a",
        b"$[0]",
        b"null",
        b"\\u00e4",
    ],
};

fn run(input: &[u8]) {
    let mut text = Vec::new();
    if append_json_text(input, &mut text).is_ok() {
        assert!(std::str::from_utf8(&text).is_ok(), "JSON is UTF-8");
    }
    if let Ok(Ok(document)) = std::str::from_utf8(input).map(Node::parse) {
        let mut written = String::new();
        document.write_compact(&mut written);
        let again = Node::parse(&written).expect("what was written can be read");
        assert!(again.equals(&document), "{written}");
    }
    let Some((split, rest)) = input.split_first() else {
        return;
    };
    let (document, changes) = rest.split_at(usize::from(*split).min(rest.len()));
    let mut changed = Vec::new();
    let _ = append_changed_json(document, changes, &mut changed);
}

fn samples() -> Vec<Vec<u8>> {
    let document = br#"{"a": 1, "b": [1, 2, {"c": "text"}], "d": null}"#;
    let mut changed = vec![document.len() as u8];
    changed.extend_from_slice(document);
    // Replace `$.a` with the number 7.
    changed.extend_from_slice(&[0, 3, b'$', b'.', b'a', 3, 5, 7, 0]);
    vec![
        document.to_vec(),
        br#"[1.5e3, -0, "\u00e4\"", true, false, null, {}, []]"#.to_vec(),
        changed,
        // {"a": 1} and ["a", 1.5] as MySQL stores them.
        vec![0, 1, 0, 12, 0, 11, 0, 1, 0, 5, 1, 0, b'a'],
        vec![
            2, 2, 0, 18, 0, 12, 10, 0, 11, 12, 0, 1, b'a', 0, 0, 0, 0, 0, 0, 0xF8, 0x3F,
        ],
        vec![4, 0],
    ]
}
