//! How MariaDB prints FLOAT and DOUBLE: the shortest digits that read back as the same number, at most 17 (FLOAT: 6), with
//! an exponent where that is shorter than the zeros would be.

/// Appends a DOUBLE.
pub fn append_double(_number: f64, _out: &mut Vec<u8>) {
    todo!()
}

/// Appends a FLOAT: 6 significant digits.
pub fn append_float(_number: f32, _out: &mut Vec<u8>) {
    todo!()
}

/// Appends a number with a fixed count of decimals (`DOUBLE(10,2)`, ROUND).
pub fn append_fixed(_number: f64, _decimals: u8, _out: &mut Vec<u8>) {
    todo!()
}
