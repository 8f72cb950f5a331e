//! Fuzz targets: everything that parses bytes from outside.
//!
//! ```text
//!   targets/*           one function each: bytes in, panics or not
//!      ▲          ▲
//!      │          └── fuzz/fuzz_targets/*    cargo-fuzz: guided by coverage, for hours (needs a nightly toolchain)
//!      └── main.rs, mutation                 a minute each in `make test`: samples changed at random, stable toolchain
//! ```
//!
//! A target asserts more than "does not panic" where it can: what is decoded can be encoded and decoded to the same
//! again.
#![forbid(unsafe_code)]

pub mod mutation;
mod sample_log;
pub mod targets;
