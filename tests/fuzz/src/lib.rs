//! Fuzz targets: everything that parses bytes from outside.
//!
//! ```text
//!   targets/*           one function each: bytes in, panics or not
//!      ▲          ▲
//!      │          └── fuzz/fuzz_targets/*    cargo-fuzz: guided by coverage, for hours (needs a nightly toolchain)
//!      └── main.rs, mutation                 a minute each in `make test`: samples changed at random, stable toolchain
//! ```
//!
//! Where possible, a target asserts more than the absence of panics: a decoded value can be encoded, and
//! decodes to the same value again.
#![forbid(unsafe_code)]

pub mod mutation;
mod sample_log;
pub mod targets;
