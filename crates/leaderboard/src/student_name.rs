//! Checks the names of students. Anyone with the students' token can choose any name, and the name
//! is shown on a projector, in tables and in spreadsheets.

use icu_normalizer::ComposingNormalizerBorrowed;

/// Longest name, in characters.
pub const MAX_NAME: usize = 60;

/// The name of a student.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StudentName {
    /// The name as it is shown: in the normal form NFC and with single blanks.
    pub(crate) shown: String,
    /// Identifies the student. Names have the same key if they differ only in case, extra blanks
    /// and variants of the same letters (NFKC): `Ada`, `ADA` and ` ada ` are one student.
    pub(crate) key: String,
}

impl StudentName {
    /// Reads a name. `None` if it has a character that is not allowed, is empty or too long.
    ///
    /// Characters of markup, control characters and invisible characters are refused. The first
    /// character must be a letter, a digit or a character outside of ASCII, so that no spreadsheet
    /// evaluates the name as a formula. The same rule applies to the first character of the key,
    /// because some spreadsheets evaluate a text that begins with a variant of an ASCII character,
    /// such as `＝`.
    pub(crate) fn parse(text: &str) -> Option<StudentName> {
        // The normal form can be longer than the text, but not many times as long. A very long text
        // is refused here, before it is normalised.
        if text.len() > MAX_NAME * 8 || text.chars().any(|c| c.is_control() || is_invisible(c)) {
            return None;
        }
        let composed = ComposingNormalizerBorrowed::new_nfc().normalize(text);
        let shown = composed.split_whitespace().collect::<Vec<_>>().join(" ");
        let begins_well =
            |name: &str| name.chars().next().is_some_and(|c| c.is_alphanumeric() || !c.is_ascii());
        if !begins_well(&shown) || shown.chars().count() > MAX_NAME || !shown.chars().all(is_allowed) {
            return None;
        }
        let lower = shown.to_lowercase();
        let key = ComposingNormalizerBorrowed::new_nfkc().normalize(&lower).to_lowercase();
        // The compatibility form NFKC can contain new blanks.
        let key = key.split_whitespace().collect::<Vec<_>>().join(" ");
        begins_well(&key).then_some(StudentName { shown, key })
    }
}

fn is_allowed(c: char) -> bool {
    c.is_alphanumeric() || !c.is_ascii() || " .,'-_()#".contains(c)
}

/// Whether a character can't be seen, changes the direction of the text around it, or is for
/// private use.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{ffff}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e000}'..='\u{f8ff}' | '\u{e0000}'..='\u{10ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> Option<String> {
        StudentName::parse(text).map(|name| name.key)
    }

    #[test]
    fn names_of_many_languages_are_shown_as_written() {
        for name in ["Ada Lovelace", "Zoë", "李雷", "Ólafur Þór", "अदिति", "O'Neill, J.", "Team #1 (b)", "é"]
        {
            assert_eq!(StudentName::parse(name).map(|name| name.shown).as_deref(), Some(name));
        }
        let name = StudentName::parse("  Zoe\u{308}  M ").expect("a name");
        assert_eq!((name.shown.as_str(), name.key.as_str()), ("Zoë M", "zoë m"));
    }

    #[test]
    fn names_that_look_the_same_are_one_student() {
        let all = ["Zoë", "ZOË", "zoe\u{308}", "ＺＯË", " zoë "];
        for name in all {
            assert_eq!(key(name), key("zoë"), "{name}");
        }
        assert_ne!(key("Zoë"), key("Zoe"));
    }

    #[test]
    fn names_that_harm_others_are_refused() {
        let long = "x".repeat(MAX_NAME + 1);
        for name in [
            "",
            "   ",
            "=1+1",
            "+49",
            "-2",
            "@SUM(A1)",
            "<b>Ada</b>",
            "Ada & Bob",
            "a\"b",
            "a\nb",
            "a\u{7}b",
            "a\u{0}",
            "a\u{202e}b",
            "a\u{200b}b",
            "\u{feff}a",
            "a/../b",
            "a\\b",
            "{{a}}",
            "`a`",
            "a|b",
            "a;b",
            long.as_str(),
        ] {
            assert_eq!(key(name), None, "{name:?}");
        }
    }

    #[test]
    fn a_name_with_a_fullwidth_first_character_was_a_formula() {
        for name in ["＝1+1", "＋49", "－2", "＠SUM(A1)", "﹦1"] {
            assert_eq!(key(name), None, "{name:?}");
        }
        assert_eq!(key("Ａｄａ ＝ Ada").as_deref(), Some("ada = ada"));
    }
}
