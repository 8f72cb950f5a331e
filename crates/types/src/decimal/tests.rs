use super::*;
use proptest::prelude::*;
use std::hash::DefaultHasher;

fn d(text: &str) -> Decimal {
    text.parse().unwrap()
}

#[test]
fn text_comes_back() {
    for text in [
        "0",
        "1",
        "-1",
        "0.5",
        "-0.50",
        "999999999",
        "1000000000",
        "123456789012345678901234567890.123456789012345",
        "0.00000000000000000000000000000000000001",
        "99999999999999999999999999999999999999999999999999999999999999999",
    ] {
        assert_eq!(d(text).to_string(), text);
    }
    assert_eq!(d("-0").to_string(), "0");
    assert_eq!(d("  +12.e1 ").to_string(), "120");
    assert_eq!(d(".5").to_string(), "0.5");
    assert_eq!(d("0001.10").to_string(), "1.10");
    assert_eq!(d("1.5e3").to_string(), "1500");
    assert_eq!(d("1.5e-3").to_string(), "0.0015");
    assert_eq!(d("0.000e5").to_string(), "0");
    let read = Decimal::parse_prefix("12abc").unwrap();
    assert_eq!((read.value, read.length), (d("12"), 2));
    assert!(Decimal::parse_prefix("abc").is_none());
    assert!(Decimal::parse_prefix("-.").is_none());
    assert_eq!(
        Decimal::parse_prefix(&"9".repeat(82)).unwrap().loss,
        Loss::Overflow
    );
    assert_eq!(Decimal::parse_prefix("1e400").unwrap().loss, Loss::Overflow);
    assert_eq!(Decimal::parse_prefix("1e").unwrap().length, 1);
}

/// Results of MariaDB 10.11 (`SELECT 1/3` and so on; `(1/3)*1e20` and the like show the digits that it keeps
/// internally).
#[test]
fn arithmetic_as_mariadb() {
    assert_eq!(d("1.1").add(&d("2.22")).unwrap().to_string(), "3.32");
    assert_eq!(
        d("999999999.9").add(&d("0.1")).unwrap().to_string(),
        "1000000000.0"
    );
    assert_eq!(d("1.1").sub(&d("2.22")).unwrap().to_string(), "-1.12");
    assert_eq!(d("1.0").sub(&d("1.00")).unwrap().to_string(), "0.00");
    assert_eq!(d("-1.5").mul(&d("1.50")).unwrap().to_string(), "-2.250");
    assert_eq!(
        d("1").div(&d("3"), 4).unwrap().unwrap().to_string(),
        "0.333333333"
    );
    assert_eq!(
        d("2")
            .div(&d("3"), 4)
            .unwrap()
            .unwrap()
            .round(4, Rounding::HalfUp)
            .to_string(),
        "0.6667"
    );
    assert_eq!(
        d("1.00000").div(&d("3.0"), 4).unwrap().unwrap().to_string(),
        "0.333333333333333333"
    );
    assert_eq!(
        d("100").div(&d("7"), 4).unwrap().unwrap().to_string(),
        "14.285714285"
    );
    assert!(d("1").div(&d("0.00"), 4).unwrap().is_none());
    assert_eq!(d("-7.5").rem(&d("2")).unwrap().unwrap().to_string(), "-1.5");
    assert_eq!(d("7").rem(&d("-2.25")).unwrap().unwrap().to_string(), "0.25");
    assert_eq!(d("7").div_integer(&d("2")).unwrap().unwrap().to_string(), "3");
}

#[test]
fn numbers_round_by_each_mode() {
    use Rounding::*;
    for (number, scale, rounding, result) in [
        ("2.5", 0, HalfUp, "3"),
        ("-2.5", 0, HalfUp, "-3"),
        ("2.4999", 0, HalfUp, "2"),
        ("999999999.95", 1, HalfUp, "1000000000.0"),
        ("1.2345678985", 9, HalfUp, "1.234567899"),
        ("1234.5", -2, HalfUp, "1200"),
        ("55", -2, HalfUp, "100"),
        ("5", -1, HalfUp, "10"),
        ("5", -20, HalfUp, "0"),
        ("999999999999", -9, HalfUp, "1000000000000"),
        ("2.9", 0, Truncate, "2"),
        ("2.1", 0, Ceiling, "3"),
        ("-2.9", 0, Ceiling, "-2"),
        ("2.9", 0, Floor, "2"),
        ("-2.1", 0, Floor, "-3"),
        ("-0.4", 0, HalfUp, "0"),
        ("1.5", 3, HalfUp, "1.500"),
    ] {
        assert_eq!(
            d(number).round(scale, rounding).to_string(),
            result,
            "{number} {scale} {rounding:?}"
        );
    }
}

/// The packed forms are from rows events written by MariaDB 10.11.
#[test]
fn packs_as_mariadb() {
    let packed = |number: &str, precision, scale| {
        let mut out = Vec::new();
        d(number).append_binary(precision, scale, &mut out);
        assert_eq!(out.len(), Decimal::binary_length(precision, scale));
        out
    };
    assert_eq!(
        packed("1234567890.1234", 14, 4),
        [0x81, 0x0d, 0xfb, 0x38, 0xd2, 0x04, 0xd2]
    );
    assert_eq!(
        packed("-1234567890.1234", 14, 4),
        [0x7e, 0xf2, 0x04, 0xc7, 0x2d, 0xfb, 0x2d]
    );
    assert_eq!(packed("0", 5, 2), [0x80, 0, 0]);
    assert_eq!(packed("1000", 5, 2), packed("999.99", 5, 2));
}

#[test]
fn integers_and_doubles() {
    assert_eq!(Decimal::from(i64::MIN).to_string(), "-9223372036854775808");
    assert_eq!(Decimal::from(u64::MAX).to_string(), "18446744073709551615");
    assert_eq!(Decimal::from(i64::MIN).to_i64(), Ok(i64::MIN));
    assert_eq!(d("18446744073709551615.4").to_u64(), Ok(u64::MAX));
    assert!(d("18446744073709551615.5").to_u64().is_err());
    assert!(d("-0.5").to_u64().is_err());
    assert_eq!(d("-0.4").to_u64(), Ok(0));
    assert_eq!(d("9223372036854775807.5").to_i64().ok(), None);
    assert_eq!(d("0.1").to_f64(), 0.1);
    assert_eq!(Decimal::from_f64(0.1).unwrap().to_string(), "0.1");
    assert_eq!(
        Decimal::from_f64(1e20).unwrap().to_string(),
        "100000000000000000000"
    );
    assert!(Decimal::from_f64(f64::NAN).is_err());
    assert!(Decimal::from_f64(1e300).is_err());
    assert_eq!(Decimal::from_scaled(-12345, 2).to_string(), "-123.45");
    assert_eq!(Decimal::from_scaled(5, 12).to_string(), "0.000000000005");
    assert_eq!(Decimal::max_value(65, 30).to_string().len(), 66);
    assert_eq!(Decimal::max_value(3, 1).to_string(), "99.9");
}

/// Returns a strategy for decimals of up to 65 digits.
fn decimals() -> impl Strategy<Value = Decimal> {
    (
        "-?",
        "[0-9]{0,27}",
        prop_oneof!["[0-9]{0,27}", "0{0,9}", "9{0,9}0{0,3}"],
    )
        .prop_map(|(sign, integer, fraction)| format!("{sign}0{integer}.{fraction}").parse().unwrap())
}

/// Returns the number in another representation, to check the arithmetic.
fn big(number: &Decimal) -> bigdecimal::BigDecimal {
    number.to_string().parse().unwrap()
}

proptest! {
    #[test]
    fn agrees_with_bigdecimal(a in decimals(), b in decimals()) {
        prop_assert_eq!(big(&a.add(&b).unwrap()), big(&a) + big(&b));
        prop_assert_eq!(big(&a.sub(&b).unwrap()), big(&a) - big(&b));
        prop_assert_eq!(a.cmp(&b), big(&a).cmp(&big(&b)));
        let product = big(&a) * big(&b);
        let have = a.mul(&b).unwrap();
        let rounded = product.with_scale_round(i64::from(have.scale()), bigdecimal::RoundingMode::HalfUp);
        let cut = product.with_scale_round(i64::from(have.scale()), bigdecimal::RoundingMode::Down);
        prop_assert!(big(&have) == rounded || big(&have) == cut);
        if let Some(quotient) = a.div(&b, 4).unwrap() {
            // The error is less than one unit of the last digit.
            let back = big(&quotient) * big(&b);
            let unit = bigdecimal::BigDecimal::new(1.into(), i64::from(quotient.scale()));
            prop_assert!((big(&a) - back).abs() < unit * big(&b).abs());
            let rest = a.rem(&b).unwrap().unwrap();
            prop_assert_eq!(big(&rest), big(&a) % big(&b));
        }
    }

    #[test]
    fn rounding_agrees_with_bigdecimal(a in decimals(), scale in -30i32..30) {
        use bigdecimal::RoundingMode;
        for (ours, theirs) in [
            (Rounding::HalfUp, RoundingMode::HalfUp),
            (Rounding::Truncate, RoundingMode::Down),
            (Rounding::Floor, RoundingMode::Floor),
            (Rounding::Ceiling, RoundingMode::Ceiling),
        ] {
            if scale < 0 && matches!(ours, Rounding::Floor | Rounding::Ceiling) {
                continue;
            }
            prop_assert_eq!(big(&a.round(scale, ours)), big(&a).with_scale_round(i64::from(scale), theirs), "{:?}", ours);
        }
    }

    #[test]
    fn packed_form_round_trips_and_sorts(a in decimals(), b in decimals()) {
        let pack = |number: &Decimal| {
            let mut out = Vec::new();
            number.append_binary(54, 27, &mut out);
            out
        };
        prop_assert_eq!(Decimal::from_binary(&pack(&a), 54, 27), Some(a));
        prop_assert_eq!(pack(&a).cmp(&pack(&b)), a.cmp(&b));
    }

    #[test]
    fn equal_numbers_hash_alike(a in decimals(), scale in 0i32..40) {
        let hash = |number: &Decimal| {
            let mut state = DefaultHasher::new();
            number.hash(&mut state);
            state.finish()
        };
        let longer = a.round(scale.max(i32::from(a.scale())), Rounding::HalfUp);
        prop_assert_eq!(a, longer);
        prop_assert_eq!(hash(&a), hash(&longer));
    }

    #[test]
    fn doubles_come_back(number in any::<f64>()) {
        if let Ok(decimal) = Decimal::from_f64(number) && number.abs() > 1e-20 {
            prop_assert_eq!(decimal.to_f64(), number);
        }
    }

    #[test]
    fn to_f64_is_the_nearest(a in decimals()) {
        prop_assert_eq!(a.to_f64(), a.to_string().parse::<f64>().unwrap());
    }
}
