//! Formats numbers as C's `%g`.

/// Formats a number with at most `digits` significant digits, without trailing zeros.
pub fn general(number: f64, digits: usize) -> String {
    if !number.is_finite() {
        return format!("{number}").to_lowercase();
    }
    if number == 0.0 {
        return if number.is_sign_negative() { "-0" } else { "0" }.to_owned();
    }
    let scientific = format!("{:.*e}", digits - 1, number);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if exponent < -4 || exponent >= digits as i32 {
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{}e{sign}{:02}", without_zeros(mantissa), exponent.abs())
    } else {
        let decimals = (digits as i32 - 1 - exponent) as usize;
        without_zeros(&format!("{number:.decimals$}")).to_owned()
    }
}

fn without_zeros(text: &str) -> &str {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_formatted_as_by_printf() {
        for (number, digits, expected) in [
            (0.1, 20, "0.10000000000000000555"),
            (-1.5, 6, "-1.5"),
            (1e300, 20, "1.0000000000000000525e+300"),
            (100000.0, 6, "100000"),
            (1000000.0, 6, "1e+06"),
            (0.0001, 6, "0.0001"),
            (0.00001, 6, "1e-05"),
            (999999.5, 6, "1e+06"),
            (0.0, 6, "0"),
            (-0.0, 6, "-0"),
        ] {
            assert_eq!(general(number, digits), expected);
        }
    }
}
