//! Tests reading and writing of project documents.

use crate::support::{example_projects, read, ring};
use chicane_builder::Project;
use chicane_builder::project::FIELDS;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;

#[test]
fn the_examples_are_unchanged_after_writing_and_reading() {
    for (name, bytes) in example_projects() {
        let project = Project::read(&bytes).unwrap_or_else(|e| panic!("{name}: {e}"));
        let text = project.to_json();
        assert_eq!(Project::read(text.as_bytes()).as_ref(), Ok(&project), "{name}");
        assert_eq!(Project::read(text.as_bytes()).expect("again").to_json(), text);
    }
}

#[test]
fn missing_fields_have_their_default_values() {
    let mut value = ring();
    value["fence"] = json!({});
    value["objects"] = json!([
        { "kind": "box", "name": "a", "x": 1, "y": 1 },
        { "kind": "cylinder", "name": "b", "x": 1, "y": 2 },
        { "kind": "sphere", "name": "c", "x": 1, "y": 3 },
        { "kind": "cone", "name": "d", "x": 1, "y": 4 },
        { "kind": "light", "name": "e", "x": 1, "y": 5 },
    ]);
    let text: Value = serde_json::from_str(&read(&value).to_json()).expect("JSON");
    assert_eq!(text["fence"]["height"], 0.25);
    assert_eq!(text["objects"][0]["size"], json!([0.3, 0.2, 0.2]));
    let around = text["objects"][1]["radius"].as_f64().expect("a radius") * std::f64::consts::TAU;
    assert!((around - 0.297).abs() < 1e-9);
    assert_eq!(text["objects"][1]["height"], 0.21);
    assert_eq!(text["objects"][2]["radius"], 0.11);
    assert_eq!((&text["objects"][3]["base"], &text["objects"][3]["height"]), (&json!(0.135), &json!(0.23)));
    assert_eq!(text["objects"][4]["width"], 0.18);
    assert!((text["objects"][4]["tilt"].as_f64().expect("a tilt").to_degrees() - 15.0).abs() < 1e-9);
}

#[test]
fn groups_of_objects_are_kept_and_do_not_change_the_world() {
    let with = |groups: [Value; 2]| {
        let mut value = ring();
        value["objects"] = json!([
            { "kind": "box", "name": "a", "x": 1, "y": 1, "group": groups[0] },
            { "kind": "light", "name": "b", "x": 1, "y": 2, "group": groups[1] },
        ]);
        Project::read(value.to_string().as_bytes())
    };
    let (plain, grouped) = (with([Value::Null, Value::Null]), with([json!("g1"), json!("g1")]));
    let (plain, grouped) = (plain.expect("a project"), grouped.expect("a project"));
    assert_eq!(grouped.objects[1].group.as_deref(), Some("g1"));
    assert_eq!(Project::read(grouped.to_json().as_bytes()).as_ref(), Ok(&grouped));
    assert!(!plain.to_json().contains("group"), "an object without a group has no such field");
    let built = |project: &Project| chicane_builder::build(project, &chicane_world::MemoryBundle::default());
    assert_eq!(built(&grouped).map(|bundle| bundle.files), built(&plain).map(|bundle| bundle.files));
    for wrong in [json!(""), json!("a b"), json!("x".repeat(33)), json!(3)] {
        let error = with([wrong, Value::Null]).expect_err("refused").to_string();
        assert!(error.starts_with("objects[0].group must be a text of 1 to 32 characters"), "{error}");
    }
}

#[test]
fn the_groups_that_a_judged_program_may_use_are_kept() {
    let with = |allow: Value| {
        let mut value = ring();
        value["evaluation"] = json!({"config": {"allow": allow}, "script": {"template": "lap_time"}});
        Project::read(value.to_string().as_bytes())
    };
    let project = with(json!(["state", "world"])).expect("a project");
    let allow = project.evaluation.as_ref().and_then(|e| e.allow.clone());
    assert_eq!(allow, Some(vec!["state".to_owned(), "world".to_owned()]));
    assert_eq!(Project::read(project.to_json().as_bytes()).expect("a project"), project);
    assert_eq!(with(json!([])).expect("a project").evaluation.and_then(|e| e.allow), Some(Vec::new()));
    let error = with(json!(["pose"])).expect_err("an unknown group").to_string();
    assert!(error.contains("state") && error.contains("step"), "{error}");
}

#[test]
fn what_a_seed_changes_is_kept_in_the_document() {
    let with = |vary: Value| {
        let mut value = ring();
        value["evaluation"] = json!({"config": {"vary": vary}, "script": {"template": "lap_time"}});
        Project::read(value.to_string().as_bytes())
    };
    let vary = json!({"start": {"along": [-0.5, 0]}, "objects": {"scatter": [1, 3]}, "surface": ["wet"]});
    let project = with(vary.clone()).expect("a project");
    let written: Value = serde_json::from_str(&project.to_json()).expect("JSON");
    assert_eq!(written["evaluation"]["config"]["vary"], vary);
    assert_eq!(Project::read(project.to_json().as_bytes()).expect("a project"), project);
    let plain: Value = serde_json::from_str(&with(json!({})).expect("a project").to_json()).expect("JSON");
    assert_eq!(plain["evaluation"]["config"].get("vary"), None, "an empty document is left out");
    for (vary, error) in [
        (json!({"start": {"x": 1}}), "evaluation.config.vary.start.x is not a known field"),
        (json!(3), "evaluation.config.vary must be an object"),
    ] {
        let found = with(vary).expect_err(error).to_string();
        assert!(found.starts_with(error), "{found}");
    }
}

#[test]
fn errors_name_the_location_and_the_expected_value() {
    let object = |field: &str, value: Value| {
        let mut p = ring();
        p["objects"] = json!([{ "kind": "box", "name": "a", "x": 1, "y": 1 }]);
        p["objects"][0][field] = value;
        p
    };
    let with = |change: &dyn Fn(&mut Value)| {
        let mut p = ring();
        change(&mut p);
        p
    };
    let cases = [
        (object("x", json!("left")), "objects[0].x must be a number from -200 to 200"),
        (object("x", json!(1e9)), "objects[0].x must be a number from -200 to 200"),
        (object("x", Value::Null), "objects[0].x is missing"),
        (object("kind", Value::Null), "objects[0].kind is missing: add \"kind\": \"box\" (or another kind)"),
        (with(&|p| p["version"] = Value::Null), "version is missing: add \"version\": 1"),
        (object("widht", json!(1)), "objects[0].widht is not a known field; the known fields are"),
        (object("masss", json!(1)), "objects[0].masss is not a known field; did you mean \"mass\"?"),
        (object("size", json!([1, 2])), "objects[0].size must be a list of 3 numbers"),
        (object("size", json!([1, 2, 0])), "objects[0].size[2] must be a number from 0.01 to 10"),
        (object("kind", json!("tree")), "objects[0].kind must be \"box\" or \"cylinder\" or"),
        (object("colour", json!("red")), "objects[0].colour must be a colour such as"),
        (object("name", json!("a\nb")), "objects[0].name must be a text of at most 64 characters"),
        (
            object("textures", json!({ "front": "../x" })),
            "objects[0].textures.front must be the name of a file",
        ),
        (object("textures", json!({ "side": "x" })), "objects[0].textures.side is not a known field"),
        (with(&|p| p["version"] = json!(2)), "version must be 1"),
        (with(&|p| p["name"] = json!("a b")), "name must be 1 to 64 letters"),
        (with(&|p| p["fence"] = json!({ "height": 2 })), "fence.height must be a number from 0.2 to 1"),
        (with(&|p| p["track"]["nodes"] = json!([])), "track.nodes must be a list of 3 to 500 elements"),
        (with(&|p| p["track"]["nodes"][4]["y"] = json!(true)), "track.nodes[4].y must be a number"),
        (with(&|p| p["field"]["ground"] = json!("mud")), "field.ground must be \"carpet\" or \"grass\""),
        (
            with(&|p| p["evaluation"] = json!({ "config": { "time_limit_s": 0 } })),
            "evaluation.config.time_limit_s",
        ),
        (json!([]), "the project must be an object"),
    ];
    for (value, expected) in cases {
        let error = Project::read(value.to_string().as_bytes()).expect_err(expected).to_string();
        assert!(error.starts_with(expected), "{error}\nnot {expected}");
    }
    let error = Project::read(b"{\n oops").expect_err("no JSON").to_string();
    assert!(error.starts_with("the project is not valid JSON") && error.contains("line 2"), "{error}");
    let nested = "[".repeat(100_000);
    assert!(Project::read(nested.as_bytes()).is_err());
}

/// Returns the schema of project documents. Also returns the property names of each definition in
/// the schema.
fn schema() -> (Value, BTreeMap<String, Vec<String>>) {
    let text = include_str!("../../../../docs/project.schema.json");
    let schema: Value = serde_json::from_str(text).expect("JSON");
    let parts = schema["$defs"].as_object().expect("parts").iter().map(|(name, part)| {
        assert_eq!(part["additionalProperties"], false, "{name}");
        (name.clone(), part["properties"].as_object().expect("properties").keys().cloned().collect())
    });
    let parts = parts.collect();
    (schema, parts)
}

#[test]
fn the_schema_and_the_reader_have_the_same_fields() {
    let sorted = |names: &[&str]| {
        let mut names: Vec<String> = names.iter().map(|n| (*n).to_owned()).collect();
        names.sort();
        names
    };
    let mut in_schema = schema().1;
    in_schema.values_mut().for_each(|names| names.sort());
    let in_reader: BTreeMap<String, Vec<String>> =
        FIELDS.iter().map(|(part, names)| ((*part).to_owned(), sorted(names))).collect();
    assert_eq!(in_schema, in_reader);
}

/// Whether a value conforms to a rule of the schema. The function checks neither the lengths of
/// texts and lists nor the patterns of texts.
fn conforms(schema: &Value, rule: &Value, value: &Value) -> bool {
    if let Some(name) = rule["$ref"].as_str() {
        return conforms(schema, &schema["$defs"][name.trim_start_matches("#/$defs/")], value);
    }
    let any = |key: &str| rule[key].as_array().is_none_or(|l| l.iter().any(|r| conforms(schema, r, value)));
    let number = |key: &str, fits: fn(f64, f64) -> bool| {
        rule[key].as_f64().is_none_or(|limit| value.as_f64().is_none_or(|v| fits(v, limit)))
    };
    let is_type = rule["type"].as_str().is_none_or(|t| match t {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|v| v.fract() == 0.0),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("{other}"),
    });
    let of_list = value.as_array().is_none_or(|list| {
        list.iter().all(|v| rule["items"].is_null() || conforms(schema, &rule["items"], v))
    });
    let of_object = value.as_object().is_none_or(|map| {
        let known = |key: &String| rule["properties"].get(key);
        let required = rule["required"]
            .as_array()
            .is_none_or(|l| l.iter().all(|k| map.contains_key(k.as_str().expect("a name"))));
        let strict = rule["additionalProperties"] == false;
        required && map.iter().all(|(k, v)| known(k).map_or(!strict, |rule| conforms(schema, rule, v)))
    });
    let is_const =
        rule.get("const").is_none_or(|c| c == value || c.as_f64().is_some_and(|c| value.as_f64() == Some(c)));
    is_type
        && is_const
        && of_list
        && of_object
        && rule["enum"].as_array().is_none_or(|l| l.contains(value))
        && number("minimum", |v, limit| v >= limit)
        && number("maximum", |v, limit| v <= limit)
        && any("anyOf")
        && any("oneOf")
}

#[test]
fn the_examples_and_written_documents_conform_to_the_schema() {
    let (schema, _) = schema();
    for (name, bytes) in example_projects() {
        let value: Value = serde_json::from_slice(&bytes).expect("JSON");
        assert!(conforms(&schema, &schema, &value), "{name}");
        let written = Project::read(&bytes).expect("a project").to_json();
        assert!(conforms(&schema, &schema, &serde_json::from_str(&written).expect("JSON")), "{name}");
        let mut wrong = value;
        wrong["track"]["nodes"][0]["z"] = json!(1);
        assert!(!conforms(&schema, &schema, &wrong));
    }
}

proptest! {
    #[test]
    fn damaged_documents_are_refused_or_read(at in 0usize..3000, byte in any::<u8>()) {
        for (_, mut bytes) in example_projects() {
            let at = at % bytes.len();
            bytes[at] = byte;
            if let Ok(project) = Project::read(&bytes) {
                // The check must not panic for any readable document.
                let _ = chicane_builder::check(&project);
            }
        }
    }
}
