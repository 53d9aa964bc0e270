//! Parsing of request bodies: a JSON object with optional fields. Most fields have a single error
//! text, which says which values are valid.

use serde_json::{Map, Value};

/// Error text for an invalid request, for the author of the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invalid(pub String);

impl Invalid {
    pub(crate) fn new(text: impl Into<String>) -> Invalid {
        Invalid(text.into())
    }
}

impl std::fmt::Display for Invalid {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// A request that is parsed from a JSON body. `parse` checks every limit, so later code need not
/// check again.
pub trait Body: Sized {
    /// Parses the fields that this request uses.
    fn parse(fields: &Fields) -> Result<Self, Invalid>;
}

/// A request without fields. Any fields that a client sends are ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, utoipa::ToSchema)]
pub struct NoFields {}

impl Body for NoFields {
    fn parse(_: &Fields) -> Result<NoFields, Invalid> {
        Ok(NoFields {})
    }
}

/// The fields of a request body. `null` counts as omitted, and unknown fields are ignored.
#[derive(Debug, Clone, Default)]
pub struct Fields(Map<String, Value>);

impl From<Map<String, Value>> for Fields {
    fn from(map: Map<String, Value>) -> Fields {
        Fields(map)
    }
}

impl Fields {
    /// Parses a body. A missing or empty body has no fields.
    pub fn read(body: &[u8]) -> Result<Fields, Invalid> {
        if body.iter().all(u8::is_ascii_whitespace) {
            return Ok(Fields::default());
        }
        match serde_json::from_slice(body) {
            Ok(Value::Object(map)) => Ok(Fields(map)),
            Ok(_) => Err(Invalid::new("the body must be a JSON object")),
            Err(e) => Err(Invalid(format!("the body is not JSON: {e}"))),
        }
    }

    /// Value of a field, or `None` if the field is missing or `null`.
    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|v| !v.is_null())
    }

    /// The number in a field, or `None` if the field is missing or `null`. Any other value gives
    /// the error `wrong`.
    pub(crate) fn number(&self, name: &str, wrong: &str) -> Result<Option<f64>, Invalid> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::Number(n)) => match n.as_f64() {
                Some(v) if v.is_finite() => Ok(Some(v)),
                _ => Err(Invalid::new(wrong)),
            },
            Some(_) => Err(Invalid::new(wrong)),
        }
    }

    /// The number in a field, or `None` if the field is missing or `null`. The number may also be
    /// written as a text such as `"1.5"`. The robot's API accepts such texts, as the software of
    /// other cars does.
    pub(crate) fn number_or_text(&self, name: &str, wrong: &str) -> Result<Option<f64>, Invalid> {
        let Some(Value::String(text)) = self.get(name) else { return self.number(name, wrong) };
        let value = text.trim().parse::<f64>().ok().filter(|v| v.is_finite());
        value.map(Some).ok_or_else(|| Invalid::new(wrong))
    }

    /// The number in a field, or `None` if the field is missing or `null`. A number that is not
    /// from `low` to `high` is an error.
    pub(crate) fn number_within(&self, name: &str, low: f64, high: f64) -> Result<Option<f64>, Invalid> {
        let wrong = format!("{name} must be a number from {low} to {high}");
        match self.number(name, &wrong)? {
            Some(v) if !(low..=high).contains(&v) => Err(Invalid(wrong)),
            other => Ok(other),
        }
    }

    /// The whole number in a field, or `None` if the field is missing or `null`. A number that is
    /// not from `low` to `high` is an error. A float without fraction, such as 3.0, is accepted.
    pub(crate) fn whole_within(&self, name: &str, low: u64, high: u64) -> Result<Option<u64>, Invalid> {
        let wrong = || Invalid(format!("{name} must be a whole number from {low} to {high}"));
        let value = match self.get(name) {
            None => return Ok(None),
            Some(Value::Number(n)) => {
                // From 2^53 on, a float may differ from the whole number that the client wrote.
                const EXACT: f64 = (1u64 << 53) as f64;
                let from_float = || n.as_f64().filter(|v| v.fract() == 0.0 && (0.0..EXACT).contains(v));
                n.as_u64().or_else(|| from_float().map(|v| v as u64)).ok_or_else(wrong)?
            }
            Some(_) => return Err(wrong()),
        };
        if (low..=high).contains(&value) { Ok(Some(value)) } else { Err(wrong()) }
    }

    /// The boolean in a field, or `None` if the field is missing or `null`.
    pub(crate) fn flag(&self, name: &str) -> Result<Option<bool>, Invalid> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::Bool(b)) => Ok(Some(*b)),
            Some(_) => Err(Invalid(format!("{name} must be true or false"))),
        }
    }

    /// The string in a field, or `None` if the field is missing or `null`. Any other value gives
    /// the error `wrong`.
    pub(crate) fn text(&self, name: &str, wrong: &str) -> Result<Option<&str>, Invalid> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::String(s)) => Ok(Some(s)),
            Some(_) => Err(Invalid::new(wrong)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(body: &str) -> Fields {
        Fields::read(body.as_bytes()).expect("an object")
    }

    #[test]
    fn an_empty_body_has_no_fields() {
        for body in ["", " \r\n\t", "{}"] {
            assert!(fields(body).0.is_empty(), "{body:?}");
        }
    }

    #[test]
    fn a_body_that_is_not_an_object_is_refused_with_the_reason() {
        for body in ["[]", "null", "3", "\"x\""] {
            let error = Fields::read(body.as_bytes()).expect_err("refused");
            assert_eq!(error.0, "the body must be a JSON object", "{body}");
        }
        for body in ["{", "{\"x\": NaN}", "{\"x\": 1e999}", "{x: 1}", "\u{feff}{}"] {
            let error = Fields::read(body.as_bytes()).expect_err("refused");
            assert!(error.0.starts_with("the body is not JSON: "), "{body}: {error}");
        }
        assert!(Fields::read(b"{\"x\": \"\xff\"}").is_err());
        let deep = "[".repeat(100_000);
        assert!(Fields::read(format!("{{\"x\": {deep}").as_bytes()).is_err());
    }

    #[test]
    fn null_counts_as_omitted_and_types_are_not_converted() {
        let f = fields(r#"{"a": null, "b": "1.0", "c": 2, "d": 2.5, "e": 3.0, "f": -1, "g": 1e300}"#);
        assert_eq!(f.number("a", "wrong"), Ok(None));
        assert_eq!(f.number("b", "wrong"), Err(Invalid::new("wrong")));
        assert_eq!(f.number("c", "wrong"), Ok(Some(2.0)));
        assert_eq!(f.whole_within("e", 1, 5), Ok(Some(3)));
        let seed = fields(r#"{"seed": 5e15}"#).whole_within("seed", 0, (1 << 53) - 1);
        assert_eq!(seed, Ok(Some(5_000_000_000_000_000)));
        for name in ["b", "d", "f", "g"] {
            let error = f.whole_within(name, 1, 5).expect_err("refused");
            assert_eq!(error.0, format!("{name} must be a whole number from 1 to 5"));
        }
        assert_eq!(f.number_or_text("b", "wrong"), Ok(Some(1.0)));
        assert_eq!(f.number_or_text("d", "wrong"), Ok(Some(2.5)));
        let f2 = fields(
            r#"{"a": "", "b": "nan", "c": "1e999", "d": "1,5", "e": "0x10", "f": true, "g": " -.5 "}"#,
        );
        for name in ["a", "b", "c", "d", "e", "f"] {
            assert_eq!(f2.number_or_text(name, "wrong"), Err(Invalid::new("wrong")), "{name}");
        }
        assert_eq!(f2.number_or_text("g", "wrong"), Ok(Some(-0.5)));
        assert_eq!(f.flag("c"), Err(Invalid::new("c must be true or false")));
    }
}
