//! Golden scripts, for tests only: what is done and what comes of it, in one text.
//!
//! The format is that of the crate [`goldenscript`]. A script is a list of blocks, separated by blank lines: commands,
//! `---`, and what they answered.
//!
//! ```text
//!   # What the block shows.                           comment
//!   > SELECT 7 / 0                                    command: a statement after "> " …
//!   ---
//!   7 / 0                                             answer
//!   NULL
//!   warning 1365: Division by 0
//!
//!   a: set x=1                                        … or a word with arguments; "a: " is the one that acts
//!   b: set x=2
//!   ---
//!   a: ok
//!   b: waits
//!
//!   > SELECT 3 IN ('-5', 'x')
//!   ---
//!   warning 1292: Truncated incorrect DOUBLE value: '-5'
//!   --- here: IN stops at the first match             answer of this server where MariaDB's is another, with the reason
//!   ok
//! ```
//!
//! The answers of a script are either [this server's own](Answers::Own), or [MariaDB's](Answers::MariaDb):
//! `tools/record_scripts.py` asks a MariaDB 10.11 for the latter. `UPDATE_GOLDENFILES=1` writes what the commands
//! answer today into the scripts. It never touches an answer of MariaDB, only the part after `--- here`.
//! `GOLDEN_SCRIPT=name` runs the scripts of that name alone.
#![forbid(unsafe_code)]

mod run;
mod script;

pub use goldenscript::{ArgumentConsumer, Block, Command, Context, Runner};
pub use run::{Answers, run, run_folder};
pub use script::{OwnAnswer, Script, ScriptBlock, script_files};
