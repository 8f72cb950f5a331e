//! A table of ways to do the same, with the processor time and the cycles of each.

use crate::cycles::{Cost, CycleClock, median_cycles};
use crate::plot::Bar;
use crate::statistics::Sample;
use crate::table::{Table, figure, figure_or_blank, spread};

/// The table, and its bars for a drawing. Seconds are stated for a fixed number of operations, cycles for one.
pub struct CostTable {
    /// Number of operations that a measured cost is of.
    measured: f64,
    /// Number of operations that the seconds are stated for.
    stated: f64,
    table: Table,
    bars: Vec<Bar>,
}

impl CostTable {
    /// Creates an empty table. `seconds` is the heading of the column of seconds, `way` that of the first.
    pub fn new(way: &str, seconds: &str, clock: &CycleClock, measured: f64, stated: f64) -> Self {
        let table = Table::new([
            way.to_owned(),
            seconds.to_owned(),
            "lowest … highest".to_owned(),
            format!("{} each", clock.unit()),
            "published, s".to_owned(),
            "published, cycles".to_owned(),
        ]);
        CostTable {
            measured,
            stated,
            table,
            bars: vec![],
        }
    }

    /// Adds a way with the costs of its repeats, and the published seconds and cycles.
    pub fn row(&mut self, way: &str, costs: &[Cost], original: Option<(f64, f64)>) {
        let seconds = costs
            .iter()
            .map(|cost| cost.seconds / self.measured * self.stated);
        let seconds = Sample::new(seconds.collect());
        let original_seconds = original.map(|(seconds, _)| seconds);
        self.table.row([
            way.to_owned(),
            figure(seconds.median()),
            spread(&seconds),
            figure_or_blank(median_cycles(costs).map(|cycles| cycles / self.measured)),
            figure_or_blank(original_seconds),
            figure_or_blank(original.map(|(_, cycles)| cycles)),
        ]);
        self.bars.push(Bar {
            label: way.to_owned(),
            sample: seconds,
            original: original_seconds,
        });
    }

    /// Returns the table and the bars.
    pub fn finish(self) -> (Table, Vec<Bar>) {
        (self.table, self.bars)
    }
}
