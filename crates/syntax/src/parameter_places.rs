//! Places of the parameters in a statement's text.

use super::ParseOptions;
use super::lexer::{Lexer, Token};

/// Returns the offset of each `?` of a text that was parsed with these options, in order.
pub fn parameter_places(text: &[u8], options: &ParseOptions) -> Vec<usize> {
    let mut lexer = Lexer::new(text, options.sql_mode);
    let mut places = Vec::new();
    loop {
        let next = lexer.next();
        match next.token {
            Token::End => return places,
            Token::Parameter => places.push(next.start),
            _ if next.end <= next.start => return places,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn question_marks_in_strings_names_and_comments_are_not_parameters() {
        let text = b"select ?, '?', `?`, \"?\" /* ? */ from t where a=? -- ?";
        assert_eq!(parameter_places(text, &ParseOptions::default()), [7, 47]);
    }
}
