//! Errors and warnings that say where.

use std::collections::BTreeMap;
use std::fmt;

/// A place in a file of a bundle. Line and column count from 1; 0 means "the file as a whole".
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// Path in the bundle.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

impl Place {
    /// The file as a whole.
    pub fn file(file: &str) -> Place {
        Place { file: file.to_owned(), line: 0, column: 0 }
    }

    /// The place of a byte offset in a text.
    pub fn at(file: &str, text: &[u8], offset: usize) -> Place {
        let (line, column) = advance((1, 1), &text[..offset.min(text.len())]);
        Place { file: file.to_owned(), line, column }
    }

    /// Where a file is no good JSON. The parser counts columns from 0 where a line ends too soon.
    pub(crate) fn of_json(file: &str, e: &serde_json::Error) -> Place {
        Place { file: file.to_owned(), line: e.line() as u32, column: (e.column() as u32).max(1) }
    }
}

/// Line and column after a text that begins at a line and column.
pub(crate) fn advance((line, column): (u32, u32), text: &[u8]) -> (u32, u32) {
    // Bytes that continue a UTF-8 character don't count as columns.
    let columns = |text: &[u8]| count(text, |b| b & 0xC0 != 0x80) as u32;
    let lines = count(text, |b| b == b'\n') as u32;
    if lines == 0 {
        return (line, column.saturating_add(columns(text)));
    }
    let start = text.iter().rposition(|&b| b == b'\n').map_or(0, |i| i + 1);
    (line + lines, 1 + columns(&text[start..]))
}

/// How many bytes are of a kind. In short runs with a small sum: the compiler makes that ten
/// times faster than a plain count, and a mesh may have two hundred warnings in 64 MiB.
fn count(bytes: &[u8], is: impl Fn(u8) -> bool) -> usize {
    let run = |run: &[u8]| run.iter().fold(0u8, |sum, &b| sum.wrapping_add(u8::from(is(b))));
    bytes.chunks(255).map(|r| usize::from(run(r))).sum()
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 {
            write!(f, "{}", self.file)
        } else {
            write!(f, "{}:{}:{}", self.file, self.line, self.column)
        }
    }
}

/// Why a world can't be loaded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
pub struct Error {
    /// Where it went wrong.
    pub place: Place,
    /// What went wrong and what would be right, in one line.
    pub message: String,
}

impl Error {
    /// An error at a place.
    pub fn at(place: Place, message: impl Into<String>) -> Error {
        Error { place, message: message.into() }
    }

    /// An error about a whole file.
    pub fn file(file: &str, message: impl Into<String>) -> Error {
        Error::at(Place::file(file), message)
    }
}

/// Something that was passed over while loading. Equal messages are collected into one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// Where it was seen first.
    pub place: Place,
    /// What was passed over.
    pub message: String,
    /// How often it was seen.
    pub count: u32,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)?;
        if self.count > 1 {
            write!(f, " ({} times)", self.count)?;
        }
        Ok(())
    }
}

/// Collects warnings, one entry for each message, in the order of first sight.
#[derive(Debug, Clone, Default)]
pub struct Warnings {
    list: Vec<Warning>,
    index: BTreeMap<String, usize>,
    unlisted: u32,
}

impl Warnings {
    /// Distinct messages kept; past this they are only counted.
    pub const MAX: usize = 200;

    /// Adds one. `place` is only worked out for a message not seen before.
    pub fn add(&mut self, message: impl Into<String>, place: impl FnOnce() -> Place) {
        let message = message.into();
        if let Some(&i) = self.index.get(&message) {
            self.list[i].count = self.list[i].count.saturating_add(1);
        } else if self.list.len() < Self::MAX {
            self.index.insert(message.clone(), self.list.len());
            self.list.push(Warning { place: place(), message, count: 1 });
        } else {
            self.unlisted = self.unlisted.saturating_add(1);
        }
    }

    /// The collected list.
    pub fn into_vec(mut self) -> Vec<Warning> {
        if self.unlisted > 0 {
            let message = format!("{} more warnings are not listed", self.unlisted);
            let place = Place::file(&self.list[0].place.file);
            self.list.push(Warning { place, message, count: 1 });
        }
        self.list
    }

    /// Whether nothing was passed over.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The same, said plainly.
    fn plain(text: &str, offset: usize) -> (u32, u32) {
        let before = &text[..offset];
        let start = before.rfind('\n').map_or(0, |i| i + 1);
        (before.matches('\n').count() as u32 + 1, before[start..].chars().count() as u32 + 1)
    }

    proptest! {
        #[test]
        fn lines_and_columns(parts in proptest::collection::vec(("[aä→\n]{0,9}", 1..900usize), 1..6), at in 0.0..=1.0f64) {
            let text: String = parts.iter().map(|(s, n)| s.repeat(*n)).collect();
            let mut offset = (at * text.len() as f64) as usize;
            while !text.is_char_boundary(offset) {
                offset -= 1;
            }
            let place = Place::at("f", text.as_bytes(), offset);
            prop_assert_eq!((place.line, place.column), plain(&text, offset));
        }
    }
}
