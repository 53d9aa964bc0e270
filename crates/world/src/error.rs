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
        let before = &text[..offset.min(text.len())];
        let line = before.iter().filter(|&&b| b == b'\n').count() + 1;
        let start = before.iter().rposition(|&b| b == b'\n').map_or(0, |i| i + 1);
        // Bytes that continue a UTF-8 character don't count as columns.
        let column = before[start..].iter().filter(|&&b| b & 0xC0 != 0x80).count() + 1;
        Place { file: file.to_owned(), line: line as u32, column: column as u32 }
    }
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
