//! Names and colours that can't be wrong once they exist.

use std::fmt;

/// Name of a world: 1 to 64 of `A-Za-z0-9_`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorldName(String);

impl WorldName {
    /// What a name must be, for messages.
    pub const RULE: &str = "1 to 64 letters, digits and underscores (A-Z a-z 0-9 _)";

    /// A name, if it is one.
    pub fn parse(text: &str) -> Option<WorldName> {
        (text.len() <= 64 && is_plain(text)).then(|| WorldName(text.to_owned()))
    }

    /// A word, an underscore and a number.
    pub(crate) fn numbered(word: &'static str, number: u64) -> WorldName {
        WorldName(format!("{word}_{number}"))
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for WorldName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether a text is one or more of `A-Za-z0-9_`.
pub(crate) fn is_plain(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// Name of a file beside the project, such as `pictures/floor.png`. It never leads out of the
/// project's folder, and no part of it is hidden.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileName(String);

impl FileName {
    /// What a name must be, for messages.
    pub const RULE: &str =
        "the name of a file beside the project, such as pictures/floor.png, of at most 200 characters";

    /// A name, if it is one.
    pub fn parse(text: &str) -> Option<FileName> {
        let fits = |part: &str| {
            !part.starts_with(['.', ' '])
                && !part.is_empty()
                && !part.chars().any(|c| c.is_control() || "\\:*?\"<>|".contains(c))
        };
        (text.len() <= 200 && text.split('/').all(fits)).then(|| FileName(text.to_owned()))
    }

    /// As text.
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
    /// What a colour must be, for messages.
    pub const RULE: &str = "a colour such as \"#2a548c\"";

    /// A colour, if it is one.
    pub fn parse(text: &str) -> Option<Colour> {
        let digits = text.strip_prefix('#').filter(|d| d.len() == 6)?;
        if !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            return None;
        }
        let value = u32::from_str_radix(digits, 16).ok()?;
        let [_, r, g, b] = value.to_be_bytes();
        Some(Colour([r, g, b]))
    }

    /// RGBA, 0..1.
    pub(crate) fn rgba(self) -> [f32; 4] {
        let [r, g, b] = self.0.map(|v| f32::from(v) / 255.0);
        [r, g, b, 1.0]
    }

    /// RGB, 0..1, to three digits.
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
    fn file_names_stay_beside_the_project() {
        for good in ["a.png", "pictures/a b.jpg", "x/y/z", "größe.png"] {
            assert!(FileName::parse(good).is_some(), "{good}");
        }
        for bad in ["", "/a", "../a", "a/../b", "a//b", "a/", ".hidden", "c:/a", "a\\b", "a\nb", "./a"] {
            assert!(FileName::parse(bad).is_none(), "{bad:?}");
        }
    }

    #[test]
    fn colours_and_back() {
        assert_eq!(Colour::parse("#2A548c").map(|c| c.to_string()).as_deref(), Some("#2a548c"));
        for bad in ["2a548c", "#fff", "#+12345", "#gggggg", "#1234567"] {
            assert_eq!(Colour::parse(bad), None, "{bad}");
        }
    }
}
