//! Names and strings in quotes.

/// Appends a name in backticks.
pub fn quote_identifier(name: &str, out: &mut String) {
    out.push('`');
    for character in name.chars() {
        if character == '`' {
            out.push('`');
        }
        out.push(character);
    }
    out.push('`');
}

/// Appends `DEFINER=` with user and host, or with a role.
pub fn write_definer((user, host): &(String, String), out: &mut String) {
    out.push_str("DEFINER=");
    quote_identifier(user, out);
    if !host.is_empty() {
        out.push('@');
        quote_identifier(host, out);
    }
}

/// Appends a string in quotes, with MariaDB's escapes.
pub fn quote_text(text: &str, out: &mut String) {
    out.push('\'');
    for character in text.chars() {
        match character {
            '\'' => out.push_str("''"),
            '\\' => out.push_str("\\\\"),
            other => push_escaped(other, out),
        }
    }
    out.push('\'');
}

/// Appends a character of a text in quotes; of the control characters those with an escape of MariaDB by it. Quotes and
/// the backslash are the caller's.
pub fn push_escaped(character: char, out: &mut String) {
    match character {
        '\0' => out.push_str("\\0"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\u{1a}' => out.push_str("\\Z"),
        other => out.push(other),
    }
}
