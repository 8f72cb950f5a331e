//! No code: this package asks for the features which dependencies have in tests and would not have in programs.
//!
//! A build of the workspace gives each dependency the features that anyone asks for. Without this package, a build of
//! the tests asks for more than one of the programs, and compiles `wire` and everything above it a second time.
