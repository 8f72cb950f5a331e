//! The repeats of one figure.

/// Repeats of one figure. There is at least one.
#[derive(Debug, Clone)]
pub struct Sample {
    sorted: Vec<f64>,
}

impl Sample {
    /// Collects repeats.
    ///
    /// # Panics
    /// If there are none, or if one is not a number.
    pub fn new(mut values: Vec<f64>) -> Self {
        assert!(!values.is_empty(), "a figure without a measurement");
        assert!(
            values.iter().all(|value| value.is_finite()),
            "not a number: {values:?}"
        );
        values.sort_by(f64::total_cmp);
        Sample { sorted: values }
    }

    /// Returns the middle value; of an even number of values the mean of the two in the middle.
    pub fn median(&self) -> f64 {
        let half = self.sorted.len() / 2;
        match self.sorted.len() % 2 {
            1 => self.sorted[half],
            _ => (self.sorted[half - 1] + self.sorted[half]) / 2.0,
        }
    }

    pub fn lowest(&self) -> f64 {
        self.sorted[0]
    }

    pub fn highest(&self) -> f64 {
        self.sorted[self.sorted.len() - 1]
    }
}

/// Measures several subjects, and repeats all of them in turn: the load of a machine changes, and then for each alike.
/// Returns the repeats of each subject.
pub fn repeat_in_turn<S, T, E>(
    subjects: &[S],
    repeats: usize,
    mut measure: impl FnMut(&S) -> Result<T, E>,
) -> Result<Vec<Vec<T>>, E> {
    let mut results: Vec<Vec<T>> = subjects.iter().map(|_| Vec::with_capacity(repeats)).collect();
    for _ in 0..repeats {
        for (subject, results) in subjects.iter().zip(&mut results) {
            results.push(measure(subject)?);
        }
    }
    Ok(results)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        let odd = Sample::new(vec![3.0, 1.0, 9.0]);
        assert_eq!((odd.lowest(), odd.median(), odd.highest()), (1.0, 3.0, 9.0));
        assert_eq!(Sample::new(vec![4.0, 1.0, 2.0, 9.0]).median(), 3.0);
        assert_eq!(Sample::new(vec![7.0]).median(), 7.0);
    }

    #[test]
    fn repeats_take_turns() {
        let mut order = vec![];
        let results = repeat_in_turn(&["a", "b"], 2, |subject| -> Result<usize, ()> {
            order.push(*subject);
            Ok(order.len())
        });
        assert_eq!(results.unwrap(), [[1, 3], [2, 4]]);
        assert_eq!(order, ["a", "b", "a", "b"]);
    }

    #[test]
    #[should_panic(expected = "without a measurement")]
    fn no_repeats_are_no_figure() {
        Sample::new(vec![]);
    }
}
