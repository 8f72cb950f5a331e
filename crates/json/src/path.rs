//! Paths of SQL's JSON functions: `$.key[0].*`, `$**.key`, `$[last-1]`, `$[0 to 2]`.

use std::collections::HashSet;

use crate::escape::unescape;
use crate::node::{Kind, Node};

/// A parsed path.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// The steps from the document's root.
    pub steps: Vec<Step>,
}

/// One step of a path.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// `.key`, in its original spelling: a quote in it has its backslash.
    Key(String),
    /// `.*`
    AnyKey,
    /// `[3]`, `[last]`, `[-1]`
    Index(Index),
    /// `[1 to 3]`
    Range(Index, Index),
    /// `[*]`
    AnyIndex,
    /// `**`
    Descend,
}

/// Matching of a path's keys with those of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyMatch {
    /// By spelling: `\u0061` does not match `a`. Used by JSON_EXTRACT, JSON_CONTAINS_PATH and JSON_SEARCH.
    Written,
    /// By the decoded text.
    Decoded,
}

/// Returns whether a document's key and a path's key, both with escapes, represent the same text.
pub fn same_key(key: &str, wanted: &str) -> bool {
    key == wanted || unescape(key) == unescape(wanted)
}

/// Position in an array, counted from either end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Index {
    /// 0 is the first element.
    FromStart(usize),
    /// 0 is the last element.
    FromEnd(usize),
}

const PLACE_MAX: usize = u32::MAX as usize;

impl Index {
    /// Returns the distance from the start in an array of this length: perhaps beyond its end, but not before its
    /// start.
    pub fn resolve(self, length: usize) -> Option<usize> {
        match self {
            Index::FromStart(at) => Some(at),
            Index::FromEnd(back) => length.checked_sub(1)?.checked_sub(back),
        }
    }

    /// Returns the index of the existing element at this position.
    pub fn element(self, length: usize) -> Option<usize> {
        self.resolve(length).filter(|at| *at < length)
    }

    /// Returns the index for an insertion before this position: an end of the array, if the position is beyond it.
    pub fn gap(self, length: usize) -> usize {
        match self {
            Index::FromStart(at) => at.min(length),
            Index::FromEnd(back) => length.saturating_sub(1).saturating_sub(back),
        }
    }
}

/// Error in a path: its position, or the end of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathFault {
    /// 4041: the path ends too early.
    End,
    /// 4042: a character is invalid.
    Syntax(usize),
    /// 4043: a step too many.
    Depth(usize),
}

impl Path {
    /// Parses a path as MariaDB does.
    ///
    /// # Errors
    /// The position where the text stops being a path.
    pub fn parse(text: &str) -> Result<Path, PathFault> {
        let bytes = text.as_bytes();
        let mut at = bytes.iter().take_while(|byte| **byte == b' ').count();
        match bytes.get(at) {
            None => return Err(PathFault::End),
            Some(b'$') => at += 1,
            Some(_) => return Err(PathFault::Syntax(at)),
        }
        let mut steps = Vec::new();
        loop {
            if steps.len() == crate::DEPTH_MAX && at < bytes.len() {
                return Err(PathFault::Depth(at));
            }
            match bytes.get(at) {
                None => break,
                Some(b'.') => {
                    at += 1;
                    match bytes.get(at) {
                        None => return Err(PathFault::End),
                        Some(b'*') => {
                            at += 1;
                            steps.push(Step::AnyKey);
                        }
                        Some(b'"') => {
                            let start = at + 1;
                            at = end_of_key(bytes, start, |byte| byte == b'"');
                            if at >= bytes.len() {
                                return Err(PathFault::End);
                            }
                            steps.push(Step::Key(text[start..at].to_owned()));
                            at += 1;
                        }
                        Some(_) => {
                            let start = at;
                            let ends = |byte| matches!(byte, b'.' | b'[' | b'*');
                            at = end_of_key(bytes, start, ends);
                            if start == at {
                                return Err(PathFault::Syntax(at));
                            }
                            steps.push(Step::Key(text[start..at].to_owned()));
                        }
                    }
                }
                Some(b'[') => {
                    at += 1;
                    let end = text[at..].find(']').ok_or(PathFault::End)? + at;
                    steps.push(bracket(text[at..end].trim()).ok_or(PathFault::Syntax(at))?);
                    at = end + 1;
                }
                Some(b'*') if bytes.get(at + 1) == Some(&b'*') => {
                    at += 2;
                    steps.push(Step::Descend);
                    if at >= bytes.len() {
                        return Err(PathFault::End);
                    }
                }
                Some(_) => return Err(PathFault::Syntax(at)),
            }
        }
        Ok(Path { steps })
    }

    /// Returns whether the path may match several values.
    pub fn has_wildcard(&self) -> bool {
        self.steps.iter().any(|step| {
            matches!(
                step,
                Step::AnyKey | Step::AnyIndex | Step::Descend | Step::Range(..)
            )
        })
    }

    /// Returns all matching values, in the order of the document.
    pub fn find<'n, 't>(&self, root: &'n Node<'t>, keys: KeyMatch) -> Vec<&'n Node<'t>> {
        let mut found = vec![root];
        let mut descended = false;
        for step in &self.steps {
            let mut next = Vec::new();
            for node in found {
                step.apply(node, keys, &mut next);
            }
            // A value can be below several, and be treated as the array that it is in.
            if descended {
                let mut seen = HashSet::new();
                next.retain(|node| seen.insert(std::ptr::from_ref::<Node<'t>>(node)));
            }
            descended |= *step == Step::Descend;
            found = next;
        }
        found
    }
}

impl Step {
    fn apply<'n, 't>(&self, node: &'n Node<'t>, keys: KeyMatch, out: &mut Vec<&'n Node<'t>>) {
        match (self, &node.kind) {
            (Step::Key(wanted), Kind::Object(members)) => {
                out.extend(
                    members
                        .iter()
                        .filter(|(key, _)| match keys {
                            KeyMatch::Written => key == wanted,
                            KeyMatch::Decoded => same_key(key, wanted),
                        })
                        .map(|(_, value)| value),
                );
            }
            (Step::AnyKey, Kind::Object(members)) => out.extend(members.iter().map(|(_, value)| value)),
            (Step::Index(index), Kind::Array(items)) => {
                out.extend(index.resolve(items.len()).and_then(|at| items.get(at)));
            }
            (Step::Range(from, to), Kind::Array(items)) => {
                let (Some(from), Some(to)) = (from.resolve(items.len()), to.resolve(items.len())) else {
                    return;
                };
                out.extend(items.iter().skip(from).take((to + 1).saturating_sub(from)));
            }
            (Step::AnyIndex, Kind::Array(items)) => out.extend(items),
            // A value that is not an array is treated as an array of itself.
            (Step::Index(index), _) if index.resolve(1) == Some(0) => out.push(node),
            (Step::Descend, _) => descend(node, out),
            _ => {}
        }
    }
}

/// Returns the end of the key that starts at `start`: the first byte for which `ends` is true and which has no
/// backslash before it, or the end of the path.
fn end_of_key(bytes: &[u8], start: usize, ends: impl Fn(u8) -> bool) -> usize {
    let mut at = start;
    while at < bytes.len() && !ends(bytes[at]) {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    at.min(bytes.len())
}

fn descend<'n, 't>(node: &'n Node<'t>, out: &mut Vec<&'n Node<'t>>) {
    out.push(node);
    match &node.kind {
        Kind::Array(items) => items.iter().for_each(|item| descend(item, out)),
        Kind::Object(members) => members.iter().for_each(|(_, value)| descend(value, out)),
        _ => {}
    }
}

fn bracket(text: &str) -> Option<Step> {
    if text == "*" {
        return Some(Step::AnyIndex);
    }
    if let Some((from, to)) = text.split_once(" to ") {
        return Some(Step::Range(index(from.trim())?, index(to.trim())?));
    }
    index(text).map(Step::Index)
}

fn index(text: &str) -> Option<Index> {
    if let Some(rest) = text.strip_prefix("last") {
        let rest = rest.trim();
        if rest.is_empty() {
            return Some(Index::FromEnd(0));
        }
        return place(rest.strip_prefix('-')?.trim()).map(Index::FromEnd);
    }
    if let Some(back) = text.strip_prefix('-') {
        return place(back.trim())?.checked_sub(1).map(Index::FromEnd);
    }
    place(text).map(Index::FromStart)
}

/// Parses a number in a path. All numbers beyond the length of any array are equivalent.
fn place(text: &str) -> Option<usize> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().map_or(PLACE_MAX, |at: usize| at.min(PLACE_MAX)))
}
