//! Errors and warnings, with the file, line and column that they refer to.

use std::collections::BTreeMap;
use std::fmt;

/// A position in a file of a bundle. Line 0 means the file as a whole.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceLocation {
    /// Path in the bundle.
    pub file: String,
    /// Line number. The first line is 1.
    pub line: u32,
    /// Column in characters. The first column is 1.
    pub column: u32,
}

impl SourceLocation {
    /// The location of a file as a whole.
    pub fn file(file: &str) -> SourceLocation {
        SourceLocation { file: file.to_owned(), line: 0, column: 0 }
    }

    /// The line and column of a byte offset in a text.
    pub fn at(file: &str, text: &[u8], offset: usize) -> SourceLocation {
        let (line, column) = advance((1, 1), &text[..offset.min(text.len())]);
        SourceLocation { file: file.to_owned(), line, column }
    }

    /// The location of a JSON error. The column is at least 1, because `serde_json` reports
    /// column 0 for an input that ends at the start of a line.
    pub fn of_json(file: &str, e: &serde_json::Error) -> SourceLocation {
        SourceLocation { file: file.to_owned(), line: e.line() as u32, column: (e.column() as u32).max(1) }
    }
}

/// The line and column at the end of `text`. The first argument is the line and column at the start
/// of `text`.
pub(crate) fn advance((line, column): (u32, u32), text: &[u8]) -> (u32, u32) {
    // Columns count characters, so UTF-8 continuation bytes are excluded.
    let columns = |text: &[u8]| count_bytes(text, |b| b & 0xC0 != 0x80) as u32;
    let lines = count_bytes(text, |b| b == b'\n') as u32;
    if lines == 0 {
        return (line, column.saturating_add(columns(text)));
    }
    let start = text.iter().rposition(|&b| b == b'\n').map_or(0, |i| i + 1);
    (line + lines, 1 + columns(&text[start..]))
}

/// Counts the bytes that `matches` accepts. The count of a chunk of 255 bytes fits in a `u8`, so
/// the compiler can vectorise the loop. The vectorised loop is ten times faster than
/// `filter().count()`. The speed matters because a mesh file of 64 MiB may produce 200 warnings,
/// each with a location.
fn count_bytes(bytes: &[u8], matches: impl Fn(u8) -> bool) -> usize {
    let count_chunk = |chunk: &[u8]| chunk.iter().fold(0u8, |sum, &b| sum.wrapping_add(u8::from(matches(b))));
    bytes.chunks(255).map(|chunk| usize::from(count_chunk(chunk))).sum()
}

impl fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 {
            write!(f, "{}", self.file)
        } else {
            write!(f, "{}:{}:{}", self.file, self.line, self.column)
        }
    }
}

/// The reason why a file or a world cannot be loaded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{location}: {message}")]
pub struct Error {
    /// Position of the invalid input.
    pub location: SourceLocation,
    /// What is wrong and what is expected, in one line.
    pub message: String,
}

impl Error {
    /// Creates an error at a location.
    pub fn at(location: SourceLocation, message: impl Into<String>) -> Error {
        Error { location, message: message.into() }
    }

    /// Creates an error about a file as a whole.
    pub fn file(file: &str, message: impl Into<String>) -> Error {
        Error::at(SourceLocation::file(file), message)
    }
}

/// A warning about input that the loader ignored or replaced. Equal messages are merged into one
/// warning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// Position of the first occurrence.
    pub location: SourceLocation,
    /// The affected input and the consequence, in one line.
    pub message: String,
    /// Number of occurrences.
    pub count: u32,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.location, self.message)?;
        if self.count > 1 {
            write!(f, " ({} times)", self.count)?;
        }
        Ok(())
    }
}

/// Collects warnings. There is one warning per distinct message, in the order of first occurrence.
#[derive(Debug, Clone, Default)]
pub struct Warnings {
    list: Vec<Warning>,
    index: BTreeMap<String, usize>,
    unlisted: u32,
}

impl Warnings {
    /// Maximum number of distinct messages. All further messages are counted but not listed.
    pub const MAX: usize = 200;

    /// Adds a warning. `location` is only called if the message is new, because the call can be
    /// slow.
    pub fn add(&mut self, message: impl Into<String>, location: impl FnOnce() -> SourceLocation) {
        let message = message.into();
        if let Some(&i) = self.index.get(&message) {
            self.list[i].count = self.list[i].count.saturating_add(1);
        } else if self.list.len() < Self::MAX {
            self.index.insert(message.clone(), self.list.len());
            self.list.push(Warning { location: location(), message, count: 1 });
        } else {
            self.unlisted = self.unlisted.saturating_add(1);
        }
    }

    /// Returns the collected warnings. If some warnings were not listed, the last warning gives
    /// their number.
    pub fn into_vec(mut self) -> Vec<Warning> {
        if self.unlisted > 0 {
            let message = format!("{} more warnings are not listed", self.unlisted);
            let location = SourceLocation::file(&self.list[0].location.file);
            self.list.push(Warning { location, message, count: 1 });
        }
        self.list
    }

    /// Whether there are no warnings.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Computes line and column in a simple and slow way. The test compares this result with the
    /// result of `SourceLocation::at`.
    fn line_and_column(text: &str, offset: usize) -> (u32, u32) {
        let before = &text[..offset];
        let start = before.rfind('\n').map_or(0, |i| i + 1);
        (before.matches('\n').count() as u32 + 1, before[start..].chars().count() as u32 + 1)
    }

    proptest! {
        #[test]
        fn a_location_counts_lines_and_characters(
            parts in proptest::collection::vec(("[aä→\n]{0,9}", 1..900usize), 1..6),
            at in 0.0..=1.0f64,
        ) {
            let text: String = parts.iter().map(|(s, n)| s.repeat(*n)).collect();
            let mut offset = (at * text.len() as f64) as usize;
            while !text.is_char_boundary(offset) {
                offset -= 1;
            }
            let location = SourceLocation::at("f", text.as_bytes(), offset);
            prop_assert_eq!((location.line, location.column), line_and_column(&text, offset));
        }
    }
}
