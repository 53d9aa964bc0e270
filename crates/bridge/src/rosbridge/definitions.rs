//! The definitions of message types as JSON. Services return these definitions, and the bridge
//! checks the messages of clients with them.

use super::protocol::{StatusMessage, quoted};
use chicane_ros::definitions::{Field, fields, lines, short_type, with_field_types};
use serde_json::{Value, json};

/// The definitions of a type and of all types of its fields, as JSON of `rosapi_msgs/TypeDef`. Each
/// type appears once. `None` if a type is unknown.
pub(super) fn type_definitions(kind: &str) -> Option<Vec<Value>> {
    let kind = short_type(kind);
    with_field_types(&kind, lines(&kind)?)
        .map(|all| all.iter().map(|(kind, lines)| type_definition(kind, lines)).collect())
}

/// Same as [`type_definitions`], for the request or response of a service. `own` is the definition
/// of that request or response.
pub(super) fn definitions_of(kind: &str, own: &'static str) -> Vec<Value> {
    let all = with_field_types(kind, own).unwrap_or_default();
    all.iter().map(|(kind, lines)| type_definition(kind, lines)).collect()
}

fn type_definition(kind: &str, lines: &str) -> Value {
    let all: Vec<Field<'_>> = fields(lines).collect();
    let column = |of: fn(&Field<'_>) -> Value| Value::Array(all.iter().map(of).collect());
    json!({
        "type": kind,
        "fieldnames": column(|f| f.name.into()),
        "fieldtypes": column(|f| f.kind.into()),
        "fieldarraylen": column(|f| f.length.into()),
        "examples": column(|f| example(f).into()),
        "constnames": [],
        "constvalues": [],
    })
}

fn example(field: &Field<'_>) -> &'static str {
    match field.kind {
        _ if field.length >= 0 => "[]",
        kind if kind.contains('/') => "{}",
        "string" => "",
        "bool" => "False",
        "float32" | "float64" => "0.0",
        _ => "0",
    }
}

/// Checks that a message has only fields of its type, with values of the right types. Commands
/// consist of floating-point numbers, so other scalar types are refused.
pub(super) fn check(kind: &str, message: &Value) -> Result<(), StatusMessage> {
    check_at(&short_type(kind), message, "msg")
}

fn check_at(kind: &str, value: &Value, place: &str) -> Result<(), StatusMessage> {
    let Some(lines) = lines(kind) else {
        let is_number = value.is_number() && kind.starts_with("float");
        return is_number
            .then_some(())
            .ok_or_else(|| StatusMessage::error(format!("{place} must be a number")));
    };
    let Value::Object(given) = value else {
        return Err(StatusMessage::error(format!("{place} must be an object of type {kind}")));
    };
    for (name, value) in given {
        let Some(field) = fields(lines).find(|field| field.name == name) else {
            let known: Vec<&str> = fields(lines).map(|field| field.name).collect();
            let text = format!("{kind} has no field {}; it has {}", quoted(name), known.join(", "));
            return Err(StatusMessage::error(text));
        };
        check_at(field.kind, value, &format!("{place}.{name}"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_includes_the_types_of_its_fields() {
        let all = type_definitions("geometry_msgs/msg/Twist").expect("known");
        assert_eq!(all.len(), 2);
        assert_eq!(all[0]["type"], "geometry_msgs/Twist");
        assert_eq!(all[0]["fieldtypes"], json!(["geometry_msgs/Vector3", "geometry_msgs/Vector3"]));
        assert_eq!(all[1]["fieldnames"], json!(["x", "y", "z"]));
        let scan = type_definitions("sensor_msgs/LaserScan").expect("known");
        assert_eq!(scan[0]["fieldarraylen"], json!([-1, -1, -1, -1, -1, -1, -1, -1, 0, 0]));
        assert_eq!(type_definitions("std_msgs/String"), None);
    }

    #[test]
    fn invalid_messages_are_refused() {
        let twist = |message: Value| check("geometry_msgs/msg/Twist", &message).map_err(|t| t.text);
        assert_eq!(twist(json!({})), Ok(()));
        assert_eq!(twist(json!({"linear": {"x": 1}, "angular": {"z": -0.5}})), Ok(()));
        let unknown = twist(json!({"linear": {"v": 1}})).expect_err("unknown");
        assert_eq!(unknown, "geometry_msgs/Vector3 has no field \"v\"; it has x, y, z");
        assert_eq!(twist(json!({"linear": {"x": "1"}})), Err("msg.linear.x must be a number".to_owned()));
        assert_eq!(twist(json!({"linear": {"x": null}})), Err("msg.linear.x must be a number".to_owned()));
        assert!(twist(json!({"linear": [1, 2, 3]})).is_err_and(|e| e.contains("must be an object")));
    }
}
