//! The two files of a world's evaluation: a JSON document and a judging script.
//!
//! The config object of the document is checked but kept as JSON text. The judge therefore gets
//! unknown keys too, and all keys in their original order and spelling. The script is not parsed.

use crate::error::{Error, SourceLocation};
use chicane_vary::Vary;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// Maximum size of the JSON file, in bytes.
pub const MAX_JSON: usize = 1 << 20;
/// Maximum size of the script, in bytes.
pub const MAX_SCRIPT: usize = 1 << 20;

/// The evaluation of a world.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// Version of the document. Every version can be loaded, but a session only runs version 1.
    pub version: i64,
    /// The config object of the document as compact JSON text. Unknown keys are kept. Missing keys
    /// are not filled in with default values.
    pub config_json: String,
    /// Description of the task. Users see this text.
    pub description: String,
    /// Whether a lower or a higher record is better.
    pub better: Better,
    /// Time limit of a run, in simulated seconds.
    pub time_limit_s: f64,
    /// Name of the robot generation that the evaluation is made for.
    pub robot: String,
    /// Names of the groups of HTTP paths that the judged program may use besides the robot's own
    /// paths. `None` if the config does not list them; a default list then applies.
    pub allow: Option<Vec<String>>,
    /// What a seed changes in the world. Empty if the config does not say.
    pub vary: Vary,
    /// Source text of the judging script. The script is a Python program.
    pub script: String,
}

/// Which of two records is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// A lower record is better, as for lap times.
    Lower,
    /// A higher record is better, as for points.
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
        let source = JsonSource { file: json_file, text: utf8_text(json_file, json, MAX_JSON)? };
        let script = utf8_text(script_file, script, MAX_SCRIPT)?;
        if let Some(i) = script.find('\0') {
            let location = SourceLocation::at(script_file, script.as_bytes(), i);
            return Err(Error::at(location, "the script contains a NUL byte; remove it"));
        }

        // Parse the whole document first. This step detects deep nesting and invalid escapes, which
        // `RawValue` does not check.
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
                _ => return Err(source.invalid(raw, "better", "\"lower\" or \"higher\"")),
            },
        };
        let time_limit_s = match config.get("time_limit_s") {
            None => 180.0,
            Some(raw) => {
                let expected = "a number from 1 to 3600";
                let seconds = source.get::<f64>(raw, "time_limit_s", expected)?;
                if !(1.0..=3600.0).contains(&seconds) {
                    return Err(source.invalid(raw, "time_limit_s", expected));
                }
                seconds
            }
        };
        let allow = match config.get("allow") {
            None => None,
            Some(raw) => Some(source.get::<Vec<String>>(raw, "allow", "a list of names of groups")?),
        };
        let vary = match config.get("vary") {
            None => Vary::default(),
            Some(raw) => source.vary(raw)?,
        };
        Ok(Evaluation {
            version,
            allow,
            vary,
            config_json: compact(config_text),
            description: string("description", "")?,
            better,
            time_limit_s,
            robot: string("robot", "gen1")?,
            script: script.to_owned(),
        })
    }
}

/// The text of the JSON file. The file name is used in error messages.
struct JsonSource<'a> {
    file: &'a str,
    text: &'a str,
}

impl<'a> JsonSource<'a> {
    /// The members of a JSON object. `text` is the whole text of the file or a slice of it.
    fn object(&self, text: &'a str, what: &str) -> Result<BTreeMap<String, &'a RawValue>, Error> {
        serde_json::from_str(text)
            .map_err(|_| Error::at(self.location(text), format!("{what} must be an object")))
    }

    fn get<T: serde::de::DeserializeOwned>(
        &self,
        raw: &RawValue,
        key: &str,
        expected: &str,
    ) -> Result<T, Error> {
        serde_json::from_str(raw.get()).map_err(|_| self.invalid(raw, key, expected))
    }

    /// Parses the field `vary`, which says what a seed changes. `null` counts as omitted.
    fn vary(&self, raw: &RawValue) -> Result<Vary, Error> {
        let value = self.get::<Option<Value>>(raw, "vary", "an object")?;
        let Some(value) = value else { return Ok(Vary::default()) };
        Vary::parse(&value).map_err(|e| Error::at(self.location(raw.get()), e.to_string()))
    }

    fn invalid(&self, raw: &RawValue, key: &str, expected: &str) -> Error {
        Error::at(self.location(raw.get()), format!("\"{key}\" must be {expected}"))
    }

    /// The location of `slice` in the file. If `slice` is a default value, it is not part of the
    /// file's text, and the location is the start of the file.
    fn location(&self, slice: &str) -> SourceLocation {
        let offset = (slice.as_ptr() as usize).wrapping_sub(self.text.as_ptr() as usize);
        let offset = if offset <= self.text.len() { offset } else { 0 };
        let blanks = self.text[offset..].len() - self.text[offset..].trim_start().len();
        SourceLocation::at(self.file, self.text.as_bytes(), offset + blanks)
    }

    fn json_error(&self, e: &serde_json::Error) -> Error {
        // Remove the location that `serde_json` appends to its message, because `Error` has its own
        // location.
        let message = e.to_string();
        let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(m, _)| m);
        Error::at(SourceLocation::of_json(self.file, e), format!("not JSON: {message}"))
    }
}

/// Converts the bytes of a file to text and removes a byte order mark. The result is an error if
/// the file is too large or is not UTF-8.
fn utf8_text<'a>(file: &str, bytes: &'a [u8], limit: usize) -> Result<&'a str, Error> {
    if bytes.len() > limit {
        return Err(Error::file(file, format!("file is larger than {} MiB", limit >> 20)));
    }
    let text = std::str::from_utf8(bytes)
        .map_err(|e| Error::at(SourceLocation::at(file, bytes, e.valid_up_to()), "not UTF-8 text"))?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// Removes the whitespace between the tokens of a valid JSON text.
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
