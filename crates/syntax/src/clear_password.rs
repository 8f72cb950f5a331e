//! Passwords that a statement contains in clear text.

use std::ops::Range;

/// A password that a statement contains in clear text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClearPassword {
    /// The bytes of the text that the hash replaces.
    pub text: Range<usize>,
    /// The password itself, with the string's escapes resolved.
    pub password: String,
    /// Name of the authentication plugin whose hash replaces it; empty for the default one.
    pub plugin: String,
    /// The notation of the hash that replaces it.
    pub hash_form: HashForm,
}

/// Notation of a password's hash in the place of the password.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HashForm {
    /// `PASSWORD '*hash'`, after IDENTIFIED BY.
    WordAndString,
    /// `'*hash'`, instead of `PASSWORD('secret')`.
    String,
    /// Nothing: the statement needs the password itself, and its hash is stored nowhere (MASTER_PASSWORD).
    Hidden,
}
