//! Numbers that are serialized with at most six decimals.

use serde::{Deserialize, Serialize, Serializer};
use utoipa::PartialSchema;
use utoipa::openapi::{ObjectBuilder, RefOr, Schema, Type};

/// A number, serialized with at most six decimals and never as −0. It must be finite, because JSON
/// has no other numbers.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default, Deserialize)]
pub struct Num(pub f64);

impl Num {
    /// The value as it is serialized.
    pub fn rounded(self) -> f64 {
        // Adding 0 turns −0 into 0.
        (self.0 * 1e6).round() / 1e6 + 0.0
    }
}

impl Serialize for Num {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.rounded())
    }
}

/// Rounds every floating-point number in a JSON value to six decimals. Whole numbers stay as they
/// are.
pub fn rounded(value: serde_json::Value) -> serde_json::Value {
    use serde_json::Value;
    match value {
        Value::Number(number) if number.is_f64() => {
            let number = number.as_f64().unwrap_or_default();
            // Numbers of this size have at most three decimals, so rounding would not change them.
            // For the largest numbers, the product below would overflow.
            let large = number.abs() >= 1e15;
            Value::from(if large { number } else { (number * 1e6).round() / 1e6 + 0.0 })
        }
        Value::Array(items) => items.into_iter().map(rounded).collect(),
        Value::Object(fields) => fields.into_iter().map(|(name, value)| (name, rounded(value))).collect(),
        other => other,
    }
}

impl From<f64> for Num {
    fn from(value: f64) -> Num {
        Num(value)
    }
}

impl PartialSchema for Num {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new().schema_type(Type::Number).into()
    }
}

impl utoipa::ToSchema for Num {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_decimals_and_no_minus_zero() {
        let text = |v: f64| serde_json::to_string(&Num(v)).expect("json");
        assert_eq!(text(0.1 + 0.2), "0.3");
        assert_eq!(text(-1e-9), "0.0");
        assert_eq!(text(-2.0 / 3.0), "-0.666667");
        assert_eq!(text(123.405), "123.405");
    }

    #[test]
    fn every_number_of_a_value_is_rounded() {
        let value = serde_json::json!({"lap": 23.580000000000002, "laps": [0.1 + 0.2, 7, 1e300], "n": null});
        assert_eq!(rounded(value).to_string(), r#"{"lap":23.58,"laps":[0.3,7,1e+300],"n":null}"#);
    }
}
