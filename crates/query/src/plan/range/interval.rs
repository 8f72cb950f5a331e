//! Sets of keys of one column.

/// A set of keys of one column: ascending, disjoint, half-open byte ranges.
pub(super) type Intervals = Vec<Interval>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Interval {
    pub start: Vec<u8>,
    /// Exclusive end; `None` for no end.
    pub end: Option<Vec<u8>>,
    /// Whether it is a single value with the key `start`.
    pub point: bool,
}

fn earlier_end<'a>(left: &'a Option<Vec<u8>>, right: &'a Option<Vec<u8>>) -> &'a Option<Vec<u8>> {
    match (left, right) {
        (Some(a), Some(b)) => {
            if a <= b {
                left
            } else {
                right
            }
        }
        (Some(_), None) => left,
        _ => right,
    }
}

/// Returns the intersection of two sets.
pub(super) fn intersect(left: &[Interval], right: &[Interval]) -> Intervals {
    let mut result = Vec::new();
    let (mut i, mut j) = (0, 0);
    while i < left.len() && j < right.len() {
        let (a, b) = (&left[i], &right[j]);
        let start = (&a.start).max(&b.start);
        let end = earlier_end(&a.end, &b.end);
        if end.as_ref().is_none_or(|end| start < end) {
            let point = (a.point && a.start == *start) || (b.point && b.start == *start);
            result.push(Interval {
                start: start.clone(),
                end: end.clone(),
                point,
            });
        }
        if std::ptr::eq(end, &a.end) { i += 1 } else { j += 1 }
    }
    result
}

/// Returns the union of two sets.
pub(super) fn unite(mut intervals: Intervals) -> Intervals {
    intervals.sort_by(|a, b| a.start.cmp(&b.start));
    let mut result: Intervals = Vec::with_capacity(intervals.len());
    for interval in intervals {
        match result.last_mut() {
            Some(last) if last.end.as_ref().is_none_or(|end| *end > interval.start) => {
                if last.point && interval.point && last.start == interval.start {
                    continue;
                }
                last.point = false;
                if earlier_end(&last.end, &interval.end) == &last.end {
                    last.end = interval.end;
                }
            }
            _ => result.push(interval),
        }
    }
    result
}
