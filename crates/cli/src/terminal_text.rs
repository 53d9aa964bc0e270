//! Makes text of other people safe to print on a terminal.
//!
//! A judging script or a student's program may print escape sequences. A terminal would execute
//! these sequences. They can clear the screen, replace lines that were printed before, or write to
//! the clipboard.

use std::borrow::Cow;
use std::fmt::Write;

/// Replaces each character that a terminal might execute or not show. The replacement is an escape,
/// for instance `\x1b` or `\u{202e}`. A tab stays, because it only moves the next character to the
/// right.
///
/// The replaced characters are control characters (C0, delete, C1), line and paragraph separators,
/// characters that change the direction of text, and most characters without width. All of them can
/// make a line look different from its content. The joiners U+200C and U+200D and combining marks
/// stay, because emoji and many languages need them.
pub(crate) fn printable(line: &str) -> Cow<'_, str> {
    if !line.contains(is_obeyed) {
        return Cow::Borrowed(line);
    }
    let mut text = String::with_capacity(line.len() + 16);
    for c in line.chars() {
        let code = u32::from(c);
        // Writing to a `String` cannot fail.
        let _ = match c {
            c if !is_obeyed(c) => text.write_char(c),
            _ if code < 0x100 => write!(text, "\\x{code:02x}"),
            _ => write!(text, "\\u{{{code:x}}}"),
        };
    }
    Cow::Owned(text)
}

/// Whether a terminal might execute a character, or not show it.
fn is_obeyed(c: char) -> bool {
    match c {
        '\t' => false,
        // Line and paragraph separators, soft hyphen, Arabic letter mark, Mongolian vowel
        // separator, byte order mark.
        '\u{2028}' | '\u{2029}' | '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}' => true,
        // Zero-width space, marks and overrides of the direction, invisible operators, annotations,
        // tags.
        '\u{200b}' | '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' => true,
        '\u{2060}'..='\u{206f}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' => true,
        c => c.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn escape_sequences_of_a_script_reached_the_terminal() {
        for (line, shown) in [
            ("\u{1b}[2J\u{1b}[31mred", r"\x1b[2J\x1b[31mred"),
            ("\u{1b}]52;c;ZXZpbA==\u{7}", r"\x1b]52;c;ZXZpbA==\x07"),
            ("done\rfinished", r"done\x0dfinished"),
            ("two\nlines\u{b}\u{c}", r"two\x0alines\x0b\x0c"),
            ("\u{9b}2J \u{90}q\u{9c}", r"\x9b2J \x90q\x9c"),
            ("\u{0}\u{8}\u{7f}", r"\x00\x08\x7f"),
            ("a\u{202e}b\u{2066}c\u{2069}\u{200f}", r"a\u{202e}b\u{2066}c\u{2069}\u{200f}"),
            ("x\u{200b}\u{feff}\u{2028}\u{e0041}", r"x\u{200b}\u{feff}\u{2028}\u{e0041}"),
        ] {
            assert_eq!(printable(line), shown);
        }
    }

    #[test]
    fn ordinary_text_stays_as_it_is() {
        for line in ["", "a\tb", "Größe 3 m², 日本語, שלום, 👩‍🚀, e\u{301}", r"C:\x1b", "│ 1.5 │"]
        {
            assert!(matches!(printable(line), std::borrow::Cow::Borrowed(same) if same == line), "{line}");
        }
    }
}
