//! Prometheus' text format, version 0.0.4.
//!
//! Source: <https://prometheus.io/docs/instrumenting/exposition_formats/>.

use crate::process_usage;
use std::collections::BTreeMap;
use std::fmt::{Display, Write};

/// Media type of the format.
pub const MEDIA_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Kind of the samples of one name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SampleKind {
    /// It only increases.
    Counter,
    /// It goes up and down.
    Gauge,
    /// A distribution of values.
    Histogram,
}

impl SampleKind {
    fn name(self) -> &'static str {
        match self {
            SampleKind::Counter => "counter",
            SampleKind::Gauge => "gauge",
            SampleKind::Histogram => "histogram",
        }
    }
}

/// Samples of one name.
struct Family {
    kind: SampleKind,
    help: String,
    lines: String,
}

/// Text of an exposition while it is built. Samples of a family must stand together, whatever order they come in.
///
/// ```
/// use paceline_http_endpoint::{Exposition, SampleKind};
/// let mut exposition = Exposition::default();
/// exposition.add("up", SampleKind::Gauge, "Whether it is up.", &[("name", "db1")], 1);
/// assert_eq!(exposition.text(), "# HELP up Whether it is up.\n# TYPE up gauge\nup{name=\"db1\"} 1\n");
/// ```
#[derive(Default)]
pub struct Exposition {
    families: BTreeMap<String, Family>,
}

/// Labels of a sample: names and values.
pub type Labels<'a> = &'a [(&'a str, &'a str)];

impl Exposition {
    fn family(&mut self, name: &str, kind: SampleKind, help: &str) -> &mut String {
        let family = self.families.entry(name.to_owned()).or_insert_with(|| Family {
            kind,
            help: help.to_owned(),
            lines: String::new(),
        });
        &mut family.lines
    }

    /// Adds a sample.
    pub fn add(&mut self, name: &str, kind: SampleKind, help: &str, labels: Labels<'_>, value: impl Display) {
        let lines = self.family(name, kind, help);
        line(lines, name, labels, value);
    }

    /// Adds a histogram. Bucket `n` has the number of values from 2^(n-1) to 2^n - 1, bucket 0 that of zeros; `scale`
    /// is the factor from their unit to that of the name.
    pub fn add_histogram(
        &mut self,
        name: &str,
        help: &str,
        labels: Labels<'_>,
        (buckets, sum_of_values): (&[u64], u64),
        scale: f64,
    ) {
        let lines = self.family(name, SampleKind::Histogram, help);
        let bucket_name = format!("{name}_bucket");
        let mut add_bucket = |bound: &str, count: u64| {
            let mut all = labels.to_vec();
            all.push(("le", bound));
            line(lines, &bucket_name, &all, count);
        };
        let mut sum = 0;
        let last = buckets.iter().rposition(|count| *count > 0).unwrap_or(0);
        for (bucket, count) in buckets.iter().enumerate().take(last + 1) {
            sum += count;
            let bound = ((1_u64 << bucket) - 1) as f64 * scale;
            add_bucket(&bound.to_string(), sum);
        }
        add_bucket("+Inf", sum);
        line(
            lines,
            &format!("{name}_sum"),
            labels,
            sum_of_values as f64 * scale,
        );
        line(lines, &format!("{name}_count"), labels, sum);
    }

    /// Adds the process' own figures under their usual names.
    pub fn add_process(&mut self) {
        let usage = process_usage::read();
        let mut add =
            |name: &str, kind: SampleKind, help: &str, value: f64| self.add(name, kind, help, &[], value);
        let (counter, gauge) = (SampleKind::Counter, SampleKind::Gauge);
        add(
            "process_cpu_seconds_total",
            counter,
            "Processor time of the process.",
            usage.cpu_seconds,
        );
        add(
            "process_resident_memory_bytes",
            gauge,
            "Memory of the process.",
            usage.resident_bytes as f64,
        );
        add(
            "process_virtual_memory_bytes",
            gauge,
            "Address space of the process.",
            usage.virtual_bytes as f64,
        );
        add(
            "process_open_fds",
            gauge,
            "Open file descriptors.",
            usage.open_files as f64,
        );
        add(
            "process_threads",
            gauge,
            "Threads of the process.",
            usage.threads as f64,
        );
    }

    /// Returns the text.
    pub fn text(self) -> String {
        let mut text = String::new();
        for (name, family) in self.families {
            let _ = writeln!(text, "# HELP {name} {}", family.help.replace('\\', "\\\\"));
            let _ = writeln!(text, "# TYPE {name} {}", family.kind.name());
            text.push_str(&family.lines);
        }
        text
    }
}

/// Adds a line with one value.
fn line(lines: &mut String, name: &str, labels: Labels<'_>, value: impl Display) {
    lines.push_str(name);
    for (number, (label, text)) in labels.iter().enumerate() {
        let text = text
            .replace('\\', "\\\\")
            .replace('"', "\\\"")
            .replace('\n', "\\n");
        let open = if number == 0 { '{' } else { ',' };
        let _ = write!(lines, "{open}{label}=\"{text}\"");
    }
    if !labels.is_empty() {
        lines.push('}');
    }
    let _ = writeln!(lines, " {value}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_escaped_and_families_stand_together() {
        let mut exposition = Exposition::default();
        exposition.add("b", SampleKind::Gauge, "B.", &[("name", "a\"b\\c\nd")], 1);
        exposition.add("a", SampleKind::Counter, "A.", &[], 2);
        exposition.add("b", SampleKind::Gauge, "B.", &[], 3);
        assert_eq!(
            exposition.text(),
            "# HELP a A.\n# TYPE a counter\na 2\n# HELP b B.\n# TYPE b gauge\nb{name=\"a\\\"b\\\\c\\nd\"} 1\nb 3\n"
        );
    }

    #[test]
    fn buckets_are_cumulative_and_in_seconds() {
        let mut exposition = Exposition::default();
        exposition.add_histogram("x_seconds", "X.", &[("class", "c")], (&[0, 2, 1, 0], 4), 1e-6);
        let text = exposition.text();
        for expected in [
            "x_seconds_bucket{class=\"c\",le=\"0\"} 0\n",
            "x_seconds_bucket{class=\"c\",le=\"0.000001\"} 2\n",
            "x_seconds_bucket{class=\"c\",le=\"+Inf\"} 3\n",
            "x_seconds_sum{class=\"c\"} 0.000004\n",
            "x_seconds_count{class=\"c\"} 3\n",
        ] {
            assert!(text.contains(expected), "{expected}{text}");
        }
    }
}
