//! The live state as a JSON schema, for viewers and recordings.
//!
//! Programs that show recordings can't read every schema of an OpenAPI document. They follow no
//! references, and they need exactly one type for each field. Therefore every reference is replaced
//! by its schema, and null is removed from the types of a field.

use crate::state::State;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use utoipa::{PartialSchema, ToSchema};

/// Prefix of the references in the schemas of an OpenAPI document.
const REFERENCE: &str = "#/components/schemas/";

/// The JSON schema of [`State`].
pub fn state_schema() -> Value {
    let mut used = Vec::new();
    State::schemas(&mut used);
    let used: BTreeMap<String, Value> = used
        .into_iter()
        .map(|(name, schema)| (name, serde_json::to_value(schema).unwrap_or_default()))
        .collect();
    let mut schema = simplified(&serde_json::to_value(State::schema()).unwrap_or_default(), &used);
    schema["title"] = "chicane.State".into();
    schema
}

/// Returns `schema` without references and without null. `used` contains the schemas that `schema`
/// refers to, by name.
fn simplified(schema: &Value, used: &BTreeMap<String, Value>) -> Value {
    let Value::Object(fields) = schema else { return schema.clone() };
    let reference = fields.get("$ref").and_then(Value::as_str).and_then(|name| name.strip_prefix(REFERENCE));
    if let Some(target) = reference.and_then(|name| used.get(name)) {
        return simplified(target, used);
    }
    for list in ["oneOf", "anyOf", "allOf"] {
        if let Some(Value::Array(variants)) = fields.get(list) {
            let variants: Vec<Value> =
                variants.iter().filter(|v| v["type"] != "null").map(|v| simplified(v, used)).collect();
            return joined(&variants);
        }
    }
    let simple = |(name, value): (&String, &Value)| {
        let value = match (name.as_str(), value) {
            ("type", Value::Array(types)) => types.iter().find(|t| *t != "null").cloned().unwrap_or_default(),
            ("properties", Value::Object(properties)) => {
                properties.iter().map(|(name, schema)| (name.clone(), simplified(schema, used))).collect()
            }
            ("items" | "additionalProperties", schema) => simplified(schema, used),
            _ => value.clone(),
        };
        (name.clone(), value)
    };
    Value::Object(fields.iter().map(simple).collect())
}

/// Merges the variants of `oneOf`, `anyOf` or `allOf` into one schema. A single variant stays as it
/// is, and objects become one object with the fields of all variants. Other variants are reduced to
/// the type of the first one.
fn joined(variants: &[Value]) -> Value {
    if let [only] = variants {
        return only.clone();
    }
    if let Some(first) = variants.first().filter(|first| first["type"] != "object") {
        return serde_json::json!({"type": first["type"]});
    }
    let properties: Map<String, Value> = variants
        .iter()
        .filter_map(|variant| variant["properties"].as_object())
        .flatten()
        .map(|(name, schema)| (name.clone(), schema.clone()))
        .collect();
    serde_json::json!({"type": "object", "properties": properties})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_has_one_type_and_no_reference() {
        fn check(schema: &Value, place: &str) {
            assert!(schema["type"].is_string(), "{place}: {schema}");
            for key in ["$ref", "oneOf", "anyOf", "allOf"] {
                assert_eq!(schema[key], Value::Null, "{place}: {schema}");
            }
            for (name, field) in schema["properties"].as_object().into_iter().flatten() {
                check(field, &format!("{place}.{name}"));
            }
            if schema["type"] == "array" {
                check(&schema["items"], &format!("{place}[]"));
            }
        }
        let schema = state_schema();
        check(&schema, "state");
        let vehicle = &schema["properties"]["vehicle"]["properties"];
        for name in ["x", "yaw", "speed", "steering"] {
            assert_eq!(vehicle[name]["type"], "number", "{name} of {vehicle}");
        }
        assert_eq!(schema["properties"]["evaluation"]["properties"]["phase"]["type"], "string");
    }
}
