//! Tests of a database within this process: its life, its rows, its examples.

mod changes;
mod examples;
mod lifecycle;
mod rows;
