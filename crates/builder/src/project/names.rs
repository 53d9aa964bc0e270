//! Types for names and colours. Their constructors accept only valid values.

use std::fmt;

/// Name of a world: 1 to 64 characters of `A-Za-z0-9_`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorldName(String);

impl WorldName {
    /// The rule for world names, as error messages show it.
    pub const RULE: &str = "1 to 64 letters, digits and underscores (A-Z a-z 0-9 _)";

    /// Parses a name. Returns `None` if the name is not valid.
    pub fn parse(text: &str) -> Option<WorldName> {
        (text.len() <= 64 && is_plain(text)).then(|| WorldName(text.to_owned()))
    }

    /// Makes a name from a word, an underscore and a number.
    pub(crate) fn numbered(word: &'static str, number: u64) -> WorldName {
        WorldName(format!("{word}_{number}"))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for WorldName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether a text consists of one or more characters of `A-Za-z0-9_`.
pub(crate) fn is_plain(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// Relative path of a file next to the project, such as `pictures/floor.png`. The path stays within
/// the project's folder, and no part of the path is the name of a hidden file or folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileName(String);

impl FileName {
    /// The rule for file names, as error messages show it.
    pub const RULE: &str =
        "the name of a file next to the project, such as pictures/floor.png, of at most 200 characters";

    /// Parses a file name. Returns `None` if the name is not valid.
    pub fn parse(text: &str) -> Option<FileName> {
        let fits = |part: &str| {
            !part.starts_with(['.', ' '])
                && !part.is_empty()
                && !part.chars().any(|c| c.is_control() || "\\:*?\"<>|".contains(c))
        };
        (text.len() <= 200 && text.split('/').all(fits)).then(|| FileName(text.to_owned()))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for FileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A colour, written `#rrggbb`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Colour(pub [u8; 3]);

impl Colour {
    /// The rule for colours, as error messages show it.
    pub const RULE: &str = "a colour such as \"#2a548c\"";

    /// Parses a colour. Returns `None` if the text is not valid.
    pub fn parse(text: &str) -> Option<Colour> {
        let digits = text.strip_prefix('#').filter(|d| d.len() == 6)?;
        if !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            return None;
        }
        let value = u32::from_str_radix(digits, 16).ok()?;
        let [_, r, g, b] = value.to_be_bytes();
        Some(Colour([r, g, b]))
    }

    /// The colour as RGBA, 0..1.
    pub(crate) fn rgba(self) -> [f32; 4] {
        let [r, g, b] = self.0.map(|v| f32::from(v) / 255.0);
        [r, g, b, 1.0]
    }

    /// The colour as RGB, 0..1, rounded to three decimals.
    pub(crate) fn rgb(self) -> [f64; 3] {
        self.0.map(|v| (f64::from(v) / 0.255).round() / 1000.0)
    }
}

impl fmt::Display for Colour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [r, g, b] = self.0;
        write!(f, "#{r:02x}{g:02x}{b:02x}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_stay_within_the_project_folder() {
        for good in ["a.png", "pictures/a b.jpg", "x/y/z", "größe.png"] {
            assert!(FileName::parse(good).is_some(), "{good}");
        }
        for bad in ["", "/a", "../a", "a/../b", "a//b", "a/", ".hidden", "c:/a", "a\\b", "a\nb", "./a"] {
            assert!(FileName::parse(bad).is_none(), "{bad:?}");
        }
    }

    #[test]
    fn colours_are_parsed_and_written() {
        assert_eq!(Colour::parse("#2A548c").map(|c| c.to_string()).as_deref(), Some("#2a548c"));
        for bad in ["2a548c", "#fff", "#+12345", "#gggggg", "#1234567"] {
            assert_eq!(Colour::parse(bad), None, "{bad}");
        }
    }
}
