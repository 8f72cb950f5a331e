//! Difference of two lists of lines.

/// Returns the lines that are missing in another text. Equal lines count as often as they occur.
pub(super) fn difference<'l>(lines: &'l [String], others: &[String]) -> impl Iterator<Item = &'l String> {
    let mut others: Vec<&String> = others.iter().collect();
    lines
        .iter()
        .filter(move |line| match others.iter().position(|other| other == line) {
            Some(place) => {
                others.swap_remove(place);
                false
            }
            None => true,
        })
}
