//! See `tests/fuzz/src/targets`.
#![no_main]

use paceline_fuzz_targets::targets::target;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    (target("memcached_requests").expect("a target of that name").run)(bytes);
});
