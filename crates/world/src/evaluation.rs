//! How a run is judged: the two evaluation files of a bundle, as they are.
//!
//! The JSON is checked and kept as text, so that keys nobody here knows reach the judge in the
//! order and spelling of their author. The script is not looked into.

use crate::error::{Error, Place};
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// Bytes of the JSON file.
pub const MAX_JSON: usize = 1 << 20;
/// Bytes of the script.
pub const MAX_SCRIPT: usize = 1 << 20;

/// The evaluation of a world.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// Version of the document. Only 1 can be run; others are kept, for the session to refuse.
    pub version: i64,
    /// The config object as JSON text, unknown keys included, compact. Defaults are not filled in.
    pub config_json: String,
    /// What a run is about.
    pub description: String,
    /// Which records are better.
    pub better: Better,
    /// Simulated seconds.
    pub time_limit_s: f64,
    /// Robot generation it is made for.
    pub robot: String,
    /// The judging script, Python.
    pub script: String,
}

/// Which records are better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// Lap times.
    Lower,
    /// Points.
    Higher,
}

impl Evaluation {
    /// Reads the two files of an evaluation.
    pub fn from_files(
        json_file: &str,
        json: &[u8],
        script_file: &str,
        script: &[u8],
    ) -> Result<Evaluation, Error> {
        let source = Source { file: json_file, text: text(json_file, json, MAX_JSON)? };
        let script = text(script_file, script, MAX_SCRIPT)?;
        if let Some(i) = script.find('\0') {
            return Err(Error::at(Place::at(script_file, script.as_bytes(), i), "script holds a NUL byte"));
        }

        // Raw values are cut out without a look at depth or escapes: a full parse comes first.
        serde_json::from_str::<Value>(source.text).map_err(|e| source.json_error(&e))?;
        let document = source.object(source.text, "the document")?;
        let version = match document.get("version") {
            Some(raw) => source.get::<i64>(raw, "version", "an integer")?,
            None => return Err(Error::file(json_file, "\"version\" is missing; it must be an integer")),
        };
        let config_text = document.get("config").map_or("{}", |raw| raw.get());
        let config = source.object(config_text, "\"config\"")?;
        let string = |key: &str, default: &str| match config.get(key) {
            Some(raw) => source.get::<String>(raw, key, "a string"),
            None => Ok(default.to_owned()),
        };
        let better = match config.get("better") {
            None => Better::Lower,
            Some(raw) => match string("better", "")?.as_str() {
                "lower" => Better::Lower,
                "higher" => Better::Higher,
                _ => return Err(source.wrong(raw, "better", "\"lower\" or \"higher\"")),
            },
        };
        let time_limit_s = match config.get("time_limit_s") {
            None => 180.0,
            Some(raw) => {
                let right = "a number from 1 to 3600";
                let seconds = source.get::<f64>(raw, "time_limit_s", right)?;
                if !(1.0..=3600.0).contains(&seconds) {
                    return Err(source.wrong(raw, "time_limit_s", right));
                }
                seconds
            }
        };
        Ok(Evaluation {
            version,
            config_json: compact(config_text),
            description: string("description", "")?,
            better,
            time_limit_s,
            robot: string("robot", "gen1")?,
            script: script.to_owned(),
        })
    }
}

/// The JSON file, for places in messages.
struct Source<'a> {
    file: &'a str,
    text: &'a str,
}

impl<'a> Source<'a> {
    /// An object taken apart; `text` is the file's text or a piece of it.
    fn object(&self, text: &'a str, what: &str) -> Result<BTreeMap<String, &'a RawValue>, Error> {
        serde_json::from_str(text)
            .map_err(|_| Error::at(self.place(text), format!("{what} must be an object")))
    }

    fn get<T: serde::de::DeserializeOwned>(
        &self,
        raw: &RawValue,
        key: &str,
        right: &str,
    ) -> Result<T, Error> {
        serde_json::from_str(raw.get()).map_err(|_| self.wrong(raw, key, right))
    }

    fn wrong(&self, raw: &RawValue, key: &str, right: &str) -> Error {
        Error::at(self.place(raw.get()), format!("\"{key}\" must be {right}"))
    }

    /// Where a borrowed piece of the text starts. A piece from elsewhere counts as the beginning.
    fn place(&self, piece: &str) -> Place {
        let offset = (piece.as_ptr() as usize).wrapping_sub(self.text.as_ptr() as usize);
        let offset = if offset <= self.text.len() { offset } else { 0 };
        let blanks = self.text[offset..].len() - self.text[offset..].trim_start().len();
        Place::at(self.file, self.text.as_bytes(), offset + blanks)
    }

    fn json_error(&self, e: &serde_json::Error) -> Error {
        // serde_json repeats the place at the end of its message.
        let message = e.to_string();
        let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(m, _)| m);
        Error::at(Place::of_json(self.file, e), format!("not JSON: {message}"))
    }
}

/// UTF-8 text within a size; a byte order mark is taken off.
fn text<'a>(file: &str, bytes: &'a [u8], limit: usize) -> Result<&'a str, Error> {
    if bytes.len() > limit {
        return Err(Error::file(file, format!("file is larger than {} MiB", limit >> 20)));
    }
    let text = std::str::from_utf8(bytes)
        .map_err(|e| Error::at(Place::at(file, bytes, e.valid_up_to()), "not UTF-8 text"))?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// Drops the blanks between the tokens of a valid JSON text.
fn compact(json: &str) -> String {
    let (mut in_string, mut escaped) = (false, false);
    json.chars()
        .filter(|&c| {
            if !in_string {
                in_string = c == '"';
                return !matches!(c, ' ' | '\t' | '\n' | '\r');
            }
            in_string = escaped || c != '"';
            escaped = !escaped && c == '\\';
            true
        })
        .collect()
}
