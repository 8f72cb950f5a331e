//! From a definition statement to what has to change.
