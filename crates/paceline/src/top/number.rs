//! Numbers as people read them, in few characters.

use std::time::Duration;

/// Returns a number without a unit: `7`, `7.2`, `1234`, `12.3k`, `4.5M`.
pub fn count(value: f64) -> String {
    let magnitude = value.abs();
    match magnitude {
        _ if !value.is_finite() => "-".to_owned(),
        _ if magnitude < 10.0 && value.fract() != 0.0 => format!("{value:.1}"),
        _ if magnitude < 10_000.0 => format!("{value:.0}"),
        _ if magnitude < 1e6 => format!("{:.1}k", value / 1e3),
        _ if magnitude < 1e9 => format!("{:.1}M", value / 1e6),
        _ if magnitude < 1e12 => format!("{:.1}G", value / 1e9),
        _ => format!("{:.1}T", value / 1e12),
    }
}

/// Returns a number of bytes: `512 B`, `1.5 KiB`, `20 MiB`.
pub fn bytes(value: f64) -> String {
    const UNITS: [&str; 6] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let mut value = value.max(0.0);
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    match unit > 0 && value < 10.0 {
        true => format!("{value:.1} {}", UNITS[unit]),
        false => format!("{value:.0} {}", UNITS[unit]),
    }
}

/// Returns a duration: `250 µs`, `1.5 ms`, `3.2 s`, `5:07`, `2:05:07`, `3 d 04:05`.
pub fn duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match duration.as_secs_f64() {
        exact if exact < 0.001 => format!("{} µs", duration.as_micros()),
        exact if exact < 0.01 => format!("{:.1} ms", exact * 1e3),
        exact if exact < 1.0 => format!("{:.0} ms", exact * 1e3),
        exact if exact < 60.0 => format!("{exact:.1} s"),
        _ if seconds < 3600 => format!("{}:{:02}", seconds / 60, seconds % 60),
        _ if seconds < 86_400 => format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60),
        _ => format!(
            "{} d {:02}:{:02}",
            seconds / 86_400,
            seconds / 3600 % 24,
            seconds / 60 % 60
        ),
    }
}

/// Returns a duration in microseconds.
pub fn microseconds(value: f64) -> String {
    duration(Duration::from_micros(value.max(0.0) as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let counts = [0.0, 7.0, 7.25, 99.5, 1234.0, 12_345.0, 4_500_000.0, f64::NAN];
        let shown = counts.map(count);
        assert_eq!(shown, ["0", "7", "7.2", "100", "1234", "12.3k", "4.5M", "-"]);
        let sizes = [0.0, 512.0, 1536.0, 20.0 * 1024.0 * 1024.0, -1.0];
        assert_eq!(sizes.map(bytes), ["0 B", "512 B", "1.5 KiB", "20 MiB", "0 B"]);
        let durations = [
            250_i64,
            1500,
            150_000,
            3_200_000,
            307_000_000,
            7_507_000_000,
            273_900_000_000_i64,
        ];
        let shown = durations.map(|value| microseconds(value as f64));
        assert_eq!(
            shown,
            [
                "250 µs",
                "1.5 ms",
                "150 ms",
                "3.2 s",
                "5:07",
                "2:05:07",
                "3 d 04:05"
            ]
        );
    }
}
