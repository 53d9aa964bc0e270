//! Reads values from a JSON document and tracks their paths, so that every error names its
//! location.

use super::fields::FieldGroup;
use chicane_vary::Vary;
use serde_json::{Map, Value};

/// The reason why a document was refused: a location in the document, and what the reader expects
/// there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path} {message}")]
pub struct ReadError {
    /// Path of the value, such as `objects[3].x`; `the project` for the document itself.
    pub path: String,
    /// What the reader expects, such as `must be a number from 0 to 1`.
    pub message: String,
}

/// A JSON value and its path in the document.
pub(super) struct PathValue<'a> {
    value: &'a Value,
    path: String,
}

/// The fields of a JSON object, and the path of the object in the document.
pub(super) struct Fields<'a> {
    map: &'a Map<String, Value>,
    path: String,
}

impl<'a> PathValue<'a> {
    /// The document itself, with an empty path.
    pub(super) fn root(value: &'a Value) -> PathValue<'a> {
        PathValue { value, path: String::new() }
    }

    pub(super) fn error(&self, message: impl Into<String>) -> ReadError {
        error_at(&self.path, message)
    }

    fn must_be(&self, what: &str) -> ReadError {
        self.error(format!("must be {what}"))
    }

    /// Returns the fields of a JSON object. A field name that is not in the group is an error.
    pub(super) fn fields(&self, (_, known): FieldGroup) -> Result<Fields<'a>, ReadError> {
        let map = self.value.as_object().ok_or_else(|| self.must_be("an object"))?;
        if let Some(key) = map.keys().find(|k| !known.contains(&k.as_str())) {
            let shown: String = key.chars().take(40).collect();
            let message = match nearest(key, known) {
                Some(name) => format!("is not a known field; did you mean \"{name}\"?"),
                None => format!("is not a known field; the known fields are {}", known.join(", ")),
            };
            return Err(error_at(&join(&self.path, &shown), message));
        }
        Ok(Fields { map, path: self.path.clone() })
    }

    /// Returns one field of a JSON object without a check of the other fields. If the field is
    /// missing, the error message suggests `example` as its value.
    pub(super) fn peek(&self, key: &str, example: &str) -> Result<PathValue<'a>, ReadError> {
        let map = self.value.as_object().ok_or_else(|| self.must_be("an object"))?;
        let found = Fields { map, path: self.path.clone() }.get(key);
        found.ok_or_else(|| error_at(&join(&self.path, key), format!("is missing: add \"{key}\": {example}")))
    }

    pub(super) fn number(&self, low: f64, high: f64) -> Result<f64, ReadError> {
        let number = self.value.as_f64().filter(|v| v.is_finite() && (low..=high).contains(v));
        // Adding 0 converts −0 to 0. Otherwise −0 would be written with its sign.
        number.map(|v| v + 0.0).ok_or_else(|| self.must_be(&format!("a number from {low} to {high}")))
    }

    pub(super) fn flag(&self) -> Result<bool, ReadError> {
        self.value.as_bool().ok_or_else(|| self.must_be("true or false"))
    }

    /// Returns a text of one line, with at most `longest` characters.
    pub(super) fn text(&self, longest: usize) -> Result<&'a str, ReadError> {
        self.checked(longest, ", on one line", |c| !is_unprintable(c))
    }

    /// Returns a text that can have several lines, with at most `longest` characters.
    pub(super) fn paragraphs(&self, longest: usize) -> Result<&'a str, ReadError> {
        self.checked(longest, "", |c| c == '\n' || !is_unprintable(c))
    }

    fn checked(&self, longest: usize, more: &str, fits: fn(char) -> bool) -> Result<&'a str, ReadError> {
        let text = self.value.as_str().filter(|t| t.chars().count() <= longest && t.chars().all(fits));
        text.ok_or_else(|| self.must_be(&format!("a text of at most {longest} characters{more}")))
    }

    /// Parses a text. `rule` describes a valid text in the error message.
    pub(super) fn parse<T>(&self, rule: &str, parse: fn(&str) -> Option<T>) -> Result<T, ReadError> {
        self.value.as_str().and_then(parse).ok_or_else(|| self.must_be(rule))
    }

    /// Returns the meaning of a keyword. Any other text is an error.
    pub(super) fn word<T: Copy>(&self, words: &[(&str, T)]) -> Result<T, ReadError> {
        let found = words.iter().find(|(word, _)| self.value.as_str() == Some(word));
        found.map(|(_, meaning)| *meaning).ok_or_else(|| {
            let words: Vec<String> = words.iter().map(|(word, _)| format!("\"{word}\"")).collect();
            self.must_be(&words.join(" or "))
        })
    }

    /// Parses the field `vary`, which says what a seed changes.
    pub(super) fn vary(&self) -> Result<Vary, ReadError> {
        Vary::parse(self.value).map_err(|error| {
            let path = if error.path.is_empty() { self.path.clone() } else { join(&self.path, &error.path) };
            error_at(&path, error.message)
        })
    }

    pub(super) fn is_text(&self) -> bool {
        self.value.is_string()
    }

    pub(super) fn list(&self, least: usize, most: usize) -> Result<Vec<PathValue<'a>>, ReadError> {
        let list = self.value.as_array().filter(|l| (least..=most).contains(&l.len()));
        let list = list.ok_or_else(|| self.must_be(&format!("a list of {least} to {most} elements")))?;
        let at = |(i, value)| PathValue { value, path: format!("{}[{i}]", self.path) };
        Ok(list.iter().enumerate().map(at).collect())
    }

    /// Returns a list of exactly `N` numbers, each from `low` to `high`.
    pub(super) fn numbers<const N: usize>(&self, low: f64, high: f64) -> Result<[f64; N], ReadError> {
        let what = || self.must_be(&format!("a list of {N} numbers"));
        let list = self.list(0, usize::MAX).ok().filter(|l| l.len() == N).ok_or_else(what)?;
        let mut numbers = [0.0; N];
        for (number, at) in numbers.iter_mut().zip(&list) {
            *number = at.number(low, high)?;
        }
        Ok(numbers)
    }
}

impl<'a> Fields<'a> {
    /// Returns a field, or `None` if the field is missing or `null`.
    pub(super) fn get(&self, key: &str) -> Option<PathValue<'a>> {
        let value = self.map.get(key).filter(|v| !v.is_null())?;
        Some(PathValue { value, path: join(&self.path, key) })
    }

    pub(super) fn need(&self, key: &str) -> Result<PathValue<'a>, ReadError> {
        self.get(key).ok_or_else(|| error_at(&join(&self.path, key), "is missing"))
    }

    pub(super) fn number(&self, key: &str, low: f64, high: f64) -> Result<f64, ReadError> {
        self.need(key)?.number(low, high)
    }

    /// The number in a field, or `usual` if the field is missing.
    pub(super) fn number_or(&self, key: &str, usual: f64, low: f64, high: f64) -> Result<f64, ReadError> {
        self.get(key).map_or(Ok(usual), |at| at.number(low, high))
    }

    pub(super) fn flag_or(&self, key: &str, usual: bool) -> Result<bool, ReadError> {
        self.get(key).map_or(Ok(usual), |at| at.flag())
    }

    /// Parses an optional text. Returns `None` if the field is missing.
    pub(super) fn parse<T>(
        &self,
        key: &str,
        rule: &str,
        parse: fn(&str) -> Option<T>,
    ) -> Result<Option<T>, ReadError> {
        self.get(key).map(|at| at.parse(rule, parse)).transpose()
    }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

fn error_at(path: &str, message: impl Into<String>) -> ReadError {
    let path = if path.is_empty() { "the project" } else { path };
    ReadError { path: path.to_owned(), message: message.into() }
}

/// Whether a character is forbidden in texts, because XML files cannot contain it or because it is
/// a control character.
fn is_unprintable(c: char) -> bool {
    c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}')
}

/// The known name with the smallest edit distance to a misspelt name. Returns `None` if all known
/// names are too different.
fn nearest<'k>(key: &str, known: &[&'k str]) -> Option<&'k str> {
    let key: Vec<char> = key.chars().take(40).flat_map(char::to_lowercase).collect();
    let by_distance = known.iter().map(|name| (distance(&key, name), *name)).min()?;
    (by_distance.0 <= key.len().max(2) / 2).then_some(by_distance.1)
}

/// Edit distance: the number of letters to change, add or remove.
fn distance(a: &[char], b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let changed = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_found() {
        assert_eq!(nearest("widht", &["height", "width", "x"]), Some("width"));
        assert_eq!(nearest("color", &["name", "colour"]), Some("colour"));
        assert_eq!(nearest("Name", &["name", "x"]), Some("name"));
        assert_eq!(nearest("quaternion", &["name", "x"]), None);
    }
}
