//! The server.

pub mod information_schema;
