//! Escapes untrusted text for HTML.

use crate::formula::{number, rounded};
use std::fmt::Write;

/// Escapes a text for HTML, also inside attributes. Characters that are invisible or change the
/// direction of text are shown as escapes, because they could make a line look different from its
/// content.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            '\t' => out.push('\t'),
            c if c.is_control() || is_invisible(c) => {
                // Writing to a `String` cannot fail.
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out
}

fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// A word with its number: `1 run`, `2 runs`.
pub(super) fn counted(number: usize, word: &str) -> String {
    format!("{number} {word}{}", if number == 1 { "" } else { "s" })
}

/// Points or a grade as text, rounded to two decimals as a grade is.
pub(super) fn points(value: f64) -> String {
    number(rounded(value, 2))
}

#[cfg(test)]
mod tests {
    use super::{escape, points};

    #[test]
    fn no_text_becomes_markup() {
        let hostile = "<script>alert('x')</script>&\"\u{202e}\u{1b}[2J\u{0}";
        let shown = escape(hostile);
        assert!(!shown.contains(['<', '>', '"', '\'', '\u{202e}', '\u{1b}', '\u{0}']), "{shown}");
        assert_eq!(escape("Größe 李雷 👩‍🚀"), "Größe 李雷 👩‍🚀");
    }

    #[test]
    fn points_have_two_decimals_at_most() {
        assert_eq!([74.0909, 88.506, 83.3, 100.0].map(points), ["74.09", "88.51", "83.3", "100"]);
    }
}
