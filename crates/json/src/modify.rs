//! Changes of documents: JSON_SET and related functions, JSON_REMOVE, the merge functions.

use crate::escape::{escape, unescape};
use crate::node::{Kind, Node};
use crate::path::{Index, Path, Step, same_key};

/// Kind of a change: JSON_INSERT, JSON_REPLACE, JSON_SET.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Only adds new values.
    Insert,
    /// Only replaces existing values.
    Replace,
    /// Adds or replaces values.
    Set,
}

/// Returns the value at these steps below `node`.
pub fn descend_mut<'n, 't>(node: &'n mut Node<'t>, steps: &[Step]) -> Option<&'n mut Node<'t>> {
    let mut node = node;
    for step in steps {
        if !matches!(node.kind, Kind::Array(_))
            && matches!(step, Step::Index(Index::FromStart(0) | Index::FromEnd(0)))
        {
            continue;
        }
        node = match (step, &mut node.kind) {
            (Step::Key(wanted), Kind::Object(members)) => members
                .iter_mut()
                .find(|(key, _)| same_key(key, wanted))
                .map(|(_, value)| value)?,
            (Step::Index(index), Kind::Array(items)) => {
                let at = index.resolve(items.len())?;
                items.get_mut(at)?
            }
            _ => return None,
        };
    }
    Some(node)
}

/// Sets, inserts or replaces the value at a path.
pub fn change<'t>(root: &mut Node<'t>, path: &Path, value: Node<'t>, change: Change) {
    let Some((last, before)) = path.steps.split_last() else {
        if change != Change::Insert {
            *root = value;
        }
        return;
    };
    let Some(parent) = descend_mut(root, before) else {
        return;
    };
    match (last, &mut parent.kind) {
        (Step::Key(wanted), Kind::Object(members)) => {
            match members.iter_mut().find(|(key, _)| same_key(key, wanted)) {
                Some((_, slot)) if change != Change::Insert => *slot = value,
                None if change != Change::Replace => members.push((written_key(wanted), value)),
                _ => {}
            }
        }
        (Step::Index(index), Kind::Array(items)) => match index.resolve(items.len()) {
            Some(at) if at < items.len() && change != Change::Insert => {
                items[at] = value;
            }
            Some(_) if change != Change::Replace => items.push(value),
            _ => {}
        },
        (Step::Index(index), _) => match index {
            Index::FromStart(0) | Index::FromEnd(0) if change != Change::Insert => {
                *parent = value;
            }
            Index::FromStart(0) => {}
            Index::FromStart(_) | Index::FromEnd(0) if change != Change::Replace => {
                let first = std::mem::replace(parent, Node::new(Kind::Null));
                parent.kind = Kind::Array(vec![first, value]);
            }
            _ => {}
        },
        _ => {}
    }
}

/// Escapes a path's key for a document. In an unquoted key a quote needs no backslash.
fn written_key(key: &str) -> String {
    let mut is_escaped = false;
    let is_string = key.chars().all(|character| {
        let fits = is_escaped || (character != '"' && character >= ' ');
        is_escaped = character == '\\' && !is_escaped;
        fits
    });
    match is_string && !is_escaped {
        true => key.to_owned(),
        false => escape(&unescape(key)),
    }
}

/// Removes the value at a path. Returns false if there is none.
pub fn remove(root: &mut Node<'_>, path: &Path) -> bool {
    let Some((last, before)) = path.steps.split_last() else {
        return false;
    };
    let Some(parent) = descend_mut(root, before) else {
        return false;
    };
    match (last, &mut parent.kind) {
        (Step::Key(wanted), Kind::Object(members)) => {
            let at = members.iter().position(|(key, _)| same_key(key, wanted));
            at.map(|at| members.remove(at)).is_some()
        }
        (Step::Index(index), Kind::Array(items)) => match index.resolve(items.len()) {
            Some(at) if at < items.len() => {
                items.remove(at);
                true
            }
            _ => false,
        },
        _ => false,
    }
}

/// Computes JSON_MERGE_PATCH (RFC 7396).
pub fn merge_patch<'t>(target: Node<'t>, patch: Node<'t>) -> Node<'t> {
    let Kind::Object(patch) = patch.kind else {
        return patch;
    };
    let mut members = match target.kind {
        Kind::Object(members) => members,
        _ => Vec::new(),
    };
    for (key, value) in patch {
        let name = unescape(&key);
        let at = members.iter().position(|(known, _)| unescape(known) == name);
        if value.kind == Kind::Null {
            if let Some(at) = at {
                members.remove(at);
            }
            continue;
        }
        match at {
            Some(at) => {
                let old = std::mem::replace(&mut members[at].1, Node::new(Kind::Null));
                members[at].1 = merge_patch(old, value);
            }
            None => members.push((key, merge_patch(Node::new(Kind::Null), value))),
        }
    }
    Node::new(Kind::Object(members))
}

/// Computes JSON_MERGE_PRESERVE: arrays are concatenated, and the values of a common key become an array.
pub fn merge_preserve<'t>(left: Node<'t>, right: Node<'t>) -> Node<'t> {
    match (left.kind, right.kind) {
        (Kind::Object(mut members), Kind::Object(more)) => {
            for (key, value) in more {
                let name = unescape(&key);
                match members.iter().position(|(known, _)| unescape(known) == name) {
                    Some(at) => {
                        let old = std::mem::replace(&mut members[at].1, Node::new(Kind::Null));
                        members[at].1 = merge_preserve(old, value);
                    }
                    None => members.push((key, value)),
                }
            }
            Node::new(Kind::Object(members))
        }
        (left, right) => {
            let items = |kind| match kind {
                Kind::Array(items) => items,
                other => vec![Node::new(other)],
            };
            let mut all = items(left);
            all.extend(items(right));
            Node::new(Kind::Array(all))
        }
    }
}

/// Computes JSON_CONTAINS: whether `candidate` is contained in `target`.
pub fn contains(target: &Node<'_>, candidate: &Node<'_>) -> bool {
    match (&target.kind, &candidate.kind) {
        (Kind::Array(items), Kind::Array(wanted)) => wanted
            .iter()
            .all(|wanted| items.iter().any(|item| contains(item, wanted))),
        (Kind::Array(items), _) => items.iter().any(|item| contains(item, candidate)),
        (Kind::Object(members), Kind::Object(wanted)) => wanted.iter().all(|(key, value)| {
            let key = unescape(key);
            members
                .iter()
                .any(|(known, found)| unescape(known) == key && contains(found, value))
        }),
        _ => target.equals(candidate),
    }
}

/// Computes JSON_OVERLAPS.
pub fn overlaps(left: &Node<'_>, right: &Node<'_>) -> bool {
    match (&left.kind, &right.kind) {
        (Kind::Array(a), Kind::Array(b)) => a.iter().any(|a| b.iter().any(|b| a.equals(b))),
        (Kind::Array(items), _) => items.iter().any(|item| item.equals(right)),
        (_, Kind::Array(items)) => items.iter().any(|item| item.equals(left)),
        (Kind::Object(a), Kind::Object(b)) => a.iter().any(|(key, value)| {
            let key = unescape(key);
            b.iter()
                .any(|(other, found)| unescape(other) == key && value.equals(found))
        }),
        _ => left.equals(right),
    }
}
