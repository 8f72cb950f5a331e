//! Differences of counters between two runs.

use super::module::{Kind, Reading};
use std::collections::HashMap;

/// The last values of counters.
#[derive(Default)]
pub struct Deltas {
    last: HashMap<String, f64>,
}

impl Deltas {
    /// Returns the value to send: nothing for a counter that is read for the first time, or after a restart of its
    /// source.
    pub fn value(&mut self, reading: &Reading) -> Option<f64> {
        match reading.kind {
            Kind::Gauge => Some(reading.value),
            Kind::Counter => {
                let last = self.last.insert(reading.name.clone(), reading.value)?;
                (reading.value >= last).then_some(reading.value - last)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_differences_and_gauges_are_themselves() {
        let mut deltas = Deltas::default();
        let mut value = |kind, value| {
            deltas.value(&Reading {
                name: format!("{kind:?}"),
                kind,
                unit: String::new(),
                group: "m",
                value,
            })
        };
        let values = [10.0, 15.0, 15.0, 3.0, 4.0];
        let counted: Vec<_> = values
            .iter()
            .map(|number| value(Kind::Counter, *number))
            .collect();
        assert_eq!(counted, [None, Some(5.0), Some(0.0), None, Some(1.0)]);
        assert_eq!(value(Kind::Gauge, 10.0), Some(10.0));
        assert_eq!(value(Kind::Gauge, 3.0), Some(3.0));
    }
}
