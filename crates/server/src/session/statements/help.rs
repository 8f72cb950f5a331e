//! HELP.

use crate::session::protocol::{Output, Reply};
use crate::status::Counters;

/// Executes HELP: there are no help tables.
pub fn execute(counters: &Counters) -> Reply {
    counters.com_help.add(1);
    let mut output = Output::new();
    output
        .text("name", 64)
        .text("description", 65_535)
        .text("example", 65_535);
    Reply::Rows(output)
}
