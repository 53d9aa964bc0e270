//! Numbers that are serialized with at most six decimals.

use serde::{Serialize, Serializer};
use utoipa::PartialSchema;
use utoipa::openapi::{ObjectBuilder, RefOr, Schema, Type};

/// A finite number, serialized with at most six decimals and never as −0.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default)]
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
}
