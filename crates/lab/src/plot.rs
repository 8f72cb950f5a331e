//! Drawings in SVG: bars for figures side by side, panels of lines for a figure over a number of threads.

use crate::statistics::Sample;
use plotters::coord::Shift;
use plotters::prelude::*;
use std::io;
use std::path::Path;

/// A drawing.
pub enum Drawing {
    /// Horizontal bars.
    Bars(Bars),
    /// Lines in panels side by side.
    Panels(Panels),
}

/// Bars with the lowest and highest repeat, and a mark where the published figure is.
pub struct Bars {
    pub title: String,
    /// Unit of the figures.
    pub unit: &'static str,
    /// From top to bottom.
    pub bars: Vec<Bar>,
}

pub struct Bar {
    pub label: String,
    pub sample: Sample,
    /// The published figure.
    pub original: Option<f64>,
}

/// Panels in rows of so many columns, all with the same axes, both logarithmic.
pub struct Panels {
    pub title: String,
    pub columns: usize,
    pub panels: Vec<Panel>,
}

pub struct Panel {
    pub title: String,
    pub lines: Vec<Line>,
}

/// Positive points from left to right. The lines of all panels have the same labels in the same order.
pub struct Line {
    pub label: &'static str,
    pub points: Vec<(f64, f64)>,
}

const PANEL: (u32, u32) = (330, 260);
const TITLE_HEIGHT: u32 = 40;
const LEGEND_HEIGHT: u32 = 30;
const LINE_COLORS: [RGBColor; 8] = [
    RGBColor(200, 60, 50),
    RGBColor(230, 150, 30),
    RGBColor(120, 120, 120),
    RGBColor(150, 90, 50),
    RGBColor(60, 150, 80),
    RGBColor(40, 170, 180),
    RGBColor(60, 90, 190),
    RGBColor(150, 70, 170),
];

const BAR_HEIGHT: u32 = 28;
const WIDTH: u32 = 900;
const LABEL_WIDTH: u32 = 300;
const OURS: RGBColor = RGBColor(70, 110, 160);
const ORIGINAL: RGBColor = RGBColor(200, 90, 40);

impl Drawing {
    /// Writes the drawing to a file.
    ///
    /// # Errors
    /// Those of writing.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let size = match self {
            Drawing::Bars(bars) => (
                WIDTH,
                BAR_HEIGHT * u32::try_from(bars.bars.len()).unwrap_or(0) + 110,
            ),
            Drawing::Panels(panels) => panels.size(),
        };
        let area = SVGBackend::new(path, size).into_drawing_area();
        let drawn = area.fill(&WHITE).and_then(|()| match self {
            Drawing::Bars(bars) => bars.draw(&area),
            Drawing::Panels(panels) => panels.draw(&area),
        });
        drawn
            .and_then(|()| area.present())
            .map_err(|error| io::Error::other(format!("{}: {error}", path.display())))
    }
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn<'a> = Result<(), DrawingAreaErrorKind<<SVGBackend<'a> as DrawingBackend>::ErrorType>>;

impl Bars {
    fn draw<'a>(&self, area: &Area<'a>) -> Drawn<'a> {
        let most = self
            .bars
            .iter()
            .flat_map(|bar| [bar.sample.highest(), bar.original.unwrap_or(0.0)]);
        let most = most.fold(f64::MIN_POSITIVE, f64::max) * 1.05;
        let count = self.bars.len();
        let mut chart = ChartBuilder::on(area)
            .caption(&self.title, ("sans-serif", 18))
            .margin(12)
            .y_label_area_size(LABEL_WIDTH)
            .x_label_area_size(36)
            .build_cartesian_2d(0.0..most, 0.0..count as f64)?;
        // Labels are in the middle of each bar, where the axis of numbers has no mark.
        chart
            .configure_mesh()
            .disable_y_mesh()
            .light_line_style(WHITE)
            .disable_y_axis()
            .y_labels(0)
            .x_desc(self.unit)
            .label_style(("sans-serif", 13))
            .draw()?;
        for (place, bar) in self.bars.iter().enumerate() {
            let middle = (count - place) as f64 - 0.5;
            let (low, high) = (middle - 0.3, middle + 0.3);
            let sample = &bar.sample;
            chart.draw_series([Rectangle::new(
                [(0.0, low), (sample.median(), high)],
                OURS.mix(0.8).filled(),
            )])?;
            let range = [(sample.lowest(), middle), (sample.highest(), middle)];
            chart.draw_series([PathElement::new(range, BLACK)])?;
            if let Some(original) = bar.original {
                let mark = [(original, middle - 0.45), (original, middle + 0.45)];
                chart.draw_series([PathElement::new(mark, ORIGINAL.stroke_width(3))])?;
            }
            let (_, y) = chart.backend_coord(&(0.0, middle));
            let style = ("sans-serif", 13).into_text_style(area);
            area.draw(&Text::new(bar.label.clone(), (12, y - 8), style))?;
        }
        let legend = "bar: median; line: lowest to highest; mark: the published figure";
        let style = ("sans-serif", 12).into_text_style(area);
        let bottom = i32::try_from(area.dim_in_pixel().1).unwrap_or(0) - 16;
        area.draw(&Text::new(legend, (12, bottom), style))
    }
}

impl Panels {
    fn rows(&self) -> usize {
        self.panels.len().div_ceil(self.columns.max(1)).max(1)
    }

    fn size(&self) -> (u32, u32) {
        let pixels = |count: usize, size: u32| u32::try_from(count).unwrap_or(1).max(1) * size;
        // The legend needs some width, however few panels there are.
        let width = pixels(self.columns, PANEL.0).max(1000);
        (width, pixels(self.rows(), PANEL.1) + TITLE_HEIGHT + LEGEND_HEIGHT)
    }

    fn draw<'a>(&self, area: &Area<'a>) -> Drawn<'a> {
        let area = area.titled(&self.title, ("sans-serif", 18))?;
        let height = area.dim_in_pixel().1.saturating_sub(LEGEND_HEIGHT);
        let (panels, legend) = area.split_vertically(height);
        let points = || {
            self.panels
                .iter()
                .flat_map(|panel| &panel.lines)
                .flat_map(|line| &line.points)
        };
        let x = range_of(points().map(|(x, _)| *x));
        let y = range_of(points().map(|(_, y)| *y));
        for (area, panel) in panels
            .split_evenly((self.rows(), self.columns.max(1)))
            .iter()
            .zip(&self.panels)
        {
            let mut chart = ChartBuilder::on(area)
                .caption(&panel.title, ("sans-serif", 14))
                .margin(8)
                .y_label_area_size(58)
                .x_label_area_size(24)
                .build_cartesian_2d((x.0..x.1).log_scale(), (y.0..y.1).log_scale())?;
            chart
                .configure_mesh()
                .light_line_style(WHITE)
                .label_style(("sans-serif", 11))
                .x_label_formatter(&|x| figure_of_axis(*x))
                .y_label_formatter(&|y| figure_of_axis(*y))
                .draw()?;
            for (line, color) in panel.lines.iter().zip(LINE_COLORS.iter().cycle()) {
                chart.draw_series(LineSeries::new(
                    line.points.iter().copied(),
                    color.stroke_width(2),
                ))?;
            }
        }
        let lines = self
            .panels
            .first()
            .map(|panel| panel.lines.as_slice())
            .unwrap_or_default();
        let step = legend.dim_in_pixel().0 / u32::try_from(lines.len()).unwrap_or(1).max(1);
        let places = (0..).step_by(step.max(1) as usize);
        for ((line, color), left) in lines.iter().zip(LINE_COLORS.iter().cycle()).zip(places) {
            legend.draw(&Rectangle::new([(left + 8, 8), (left + 22, 14)], color.filled()))?;
            let style = ("sans-serif", 12).into_text_style(&legend);
            legend.draw(&Text::new(line.label, (left + 28, 4), style))?;
        }
        Ok(())
    }
}

/// Returns a range for positive values on a logarithmic axis, a little wider than they are.
fn range_of(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = values.fold((f64::MAX, 0.0), |(low, high): (f64, f64), value| {
        (low.min(value), high.max(value))
    });
    match high > 0.0 {
        true => (low * 0.9, high * 1.2),
        false => (1.0, 10.0),
    }
}

fn figure_of_axis(value: f64) -> String {
    match value {
        1e6.. => format!("{:.0}M", value / 1e6),
        1e3.. => format!("{:.0}k", value / 1e3),
        1.0.. => format!("{value:.0}"),
        _ => format!("{value}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_have_their_labels() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("bars.svg");
        let bar = |label: &str, original| Bar {
            label: label.to_owned(),
            sample: Sample::new(vec![1.0, 2.0, 3.0]),
            original,
        };
        let bars = Bars {
            title: "Wakes".to_owned(),
            unit: "ms",
            bars: vec![bar("futex", None), bar("eventfd", Some(7.0))],
        };
        Drawing::Bars(bars).write(&path).unwrap();
        let text = std::fs::read_to_string(path).unwrap();
        for label in ["<svg", "Wakes", "futex", "eventfd", "</svg>"] {
            assert!(text.contains(label), "{label}: {text}");
        }
    }

    #[test]
    fn panels_have_titles_and_a_legend() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("panels.svg");
        let panel = |title: &str| Panel {
            title: title.to_owned(),
            lines: vec![Line {
                label: "std",
                points: vec![(1.0, 20.0), (1024.0, 30_000.0)],
            }],
        };
        let panels = Panels {
            title: "Mutexes".to_owned(),
            columns: 2,
            panels: vec![panel("1 mutex"), panel("2 mutexes"), panel("4 mutexes")],
        };
        Drawing::Panels(panels).write(&path).unwrap();
        let text = std::fs::read_to_string(path).unwrap();
        for label in ["Mutexes", "1 mutex", "4 mutexes", "std", "</svg>"] {
            assert!(text.contains(label), "{label}: {text}");
        }
    }

    #[test]
    fn nothing_measured_is_drawn_too() {
        let directory = tempfile::tempdir().unwrap();
        let panels = Panels {
            title: String::new(),
            columns: 0,
            panels: vec![],
        };
        Drawing::Panels(panels)
            .write(&directory.path().join("panels.svg"))
            .unwrap();
    }
}
