//! The report of an experiment that measures the rate of statements in several ways.

use super::options::RateOptions;
use crate::machine;
use crate::plot::{Bar, Bars, Drawing};
use crate::report::Report;
use crate::scale::Scale;
use crate::statistics::Sample;
use crate::table::{Table, figure, figure_or_blank, spread};

/// The report: a row and a bar for each way and number of clients.
pub struct RateReport {
    pub name: &'static str,
    pub title: String,
    /// Heading of the first column, which names the ways.
    pub way: &'static str,
    pub rows: Vec<RateRow>,
    pub notes: Vec<String>,
}

pub struct RateRow {
    pub way: String,
    pub clients: usize,
    /// Repeats of the rate a second.
    pub rates: Vec<f64>,
    /// The published rate.
    pub original: Option<f64>,
}

impl RateReport {
    /// Returns the report. Without any published rate the table has no column for them.
    pub fn finish(self, options: &RateOptions, scale: Scale) -> Report {
        let is_published = self.rows.iter().any(|row| row.original.is_some());
        let published = is_published.then_some("published");
        let headings = [self.way, "clients", "a second", "lowest … highest"];
        let mut table = Table::new(headings.into_iter().chain(published));
        let mut bars = vec![];
        for row in self.rows {
            let sample = Sample::new(row.rates);
            let label = format!("{}, {} clients", row.way, row.clients);
            let cells = [
                row.way,
                row.clients.to_string(),
                figure(sample.median()),
                spread(&sample),
            ];
            let published = is_published.then(|| figure_or_blank(row.original));
            table.row(cells.into_iter().chain(published));
            bars.push(Bar {
                label,
                sample,
                original: row.original,
            });
        }
        Report {
            name: self.name,
            question: format!(
                "{}; median of {} repeats of {} ms. {} processors, clients on the same.",
                self.title,
                options.repeats(scale),
                options.window(scale).as_millis(),
                machine::processors()
            ),
            tables: vec![(String::new(), table)],
            notes: self.notes,
            drawing: Drawing::Bars(Bars {
                title: self.title,
                unit: "a second",
                bars,
            }),
            details: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the first line of the table.
    fn headings(original: Option<f64>) -> String {
        let report = RateReport {
            name: "rates",
            title: "Rates".to_owned(),
            way: "way",
            rows: vec![RateRow {
                way: "one".to_owned(),
                clients: 2,
                rates: vec![3.0],
                original,
            }],
            notes: vec![],
        };
        let report = report.finish(&RateOptions::default(), Scale::Quick);
        report.tables[0].1.to_string().lines().next().unwrap().to_owned()
    }

    #[test]
    fn published_rates_have_a_column_if_there_are_any() {
        assert!(headings(Some(4.0)).ends_with(" published |"));
        assert!(headings(None).ends_with(" lowest … highest |"));
    }
}
