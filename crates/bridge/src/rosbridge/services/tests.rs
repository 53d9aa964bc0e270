//! Tests of service calls and their responses.

use super::*;

fn response(name: &str, args: Value) -> Value {
    call(name, &args, 300).unwrap_or_else(|e| panic!("{name} {args}: {e}"))
}

#[test]
fn every_service_returns_the_fields_of_its_definition() {
    for service in &SERVICES {
        let args: Map<String, Value> = fields(service.request)
            .map(|field| {
                let value = match (field.name, service.name) {
                    ("type", "service_request_details" | "service_response_details") => "rosapi/Topics",
                    ("type", _) => "geometry_msgs/Twist",
                    _ => "x",
                };
                (field.name.to_owned(), value.into())
            })
            .collect();
        let answer = response(&service.full_name(), Value::Object(args));
        let mut given: Vec<&String> = answer.as_object().expect("an object").keys().collect();
        given.sort_unstable();
        let mut defined: Vec<&str> = fields(service.response).map(|f| f.name).collect();
        defined.sort_unstable();
        assert_eq!(given, defined, "{}", service.name);
        assert_eq!(
            response("rosapi/service_type", json!([service.full_name()])),
            json!({"type": service.full_kind()})
        );
        let kind = format!("rosapi/{}", service.kind);
        assert_eq!(
            response("/rosapi/services_for_type", json!({"type": kind})),
            json!({"services": [service.full_name()]})
        );
    }
}

#[test]
fn topics_and_types_are_found_by_all_forms_of_their_names() {
    let all = response("/rosapi/topics", json!({}));
    assert_eq!(all["topics"].as_array().map(Vec::len), Some(Topic::ALL.len()));
    for topic in ["/scan", "scan"] {
        let found = response("/rosapi/topic_type", json!({"topic": topic}));
        assert_eq!(found, json!({"type": "sensor_msgs/msg/LaserScan"}));
    }
    assert_eq!(response("/rosapi/topic_type", json!({"topic": "/nothing"})), json!({"type": ""}));
    for kind in ["sensor_msgs/LaserScan", "sensor_msgs/msg/LaserScan"] {
        let found = response("/rosapi/topics_for_type", json!([kind]));
        assert_eq!(found, json!({"topics": ["/scan", "/scan_filtered"]}));
    }
    let node = response("/rosapi/node_details", json!({"node": "/chicane"}));
    assert_eq!(
        node["subscribing"],
        json!(["/speed", "/steering", "/camera/pan", "/camera/tilt", "/cmd_vel"])
    );
    assert_eq!(response("/rosapi/publishers", json!({"topic": "/imu"})), json!({"publishers": ["/chicane"]}));
    assert_eq!(response("/rosapi/publishers", json!({"topic": "/cmd_vel"})), json!({"publishers": []}));
}

#[test]
fn time_is_simulated() {
    let time = &response("/rosapi/get_time", json!(null))["time"];
    assert_eq!((&time["sec"], &time["nanosec"]), (&json!(1), &json!(500_000_000)));
    assert_eq!((&time["secs"], &time["nsecs"]), (&json!(1), &json!(500_000_000)));
    for name in ["use_sim_time", "/use_sim_time", "/chicane:use_sim_time", "chicane:use_sim_time"] {
        assert_eq!(response("/rosapi/get_param", json!({"name": name}))["value"], "true", "{name}");
    }
    let none = response("/rosapi/get_param", json!({"name": "/robot_description"}));
    assert_eq!((&none["value"], &none["successful"]), (&json!("null"), &json!(false)));
    let default = response("/rosapi/get_param", json!({"name": "gain", "default_value": "2"}));
    assert_eq!((&default["value"], &default["successful"]), (&json!("2"), &json!(true)));
}

#[test]
fn invalid_calls_are_refused_with_the_reason() {
    for (name, args, word) in [
        ("/nothing", json!({}), "/rosapi/services lists"),
        ("/rosapi/nothing", json!({}), "unknown service"),
        ("/rosapi/topic_type", json!({"name": "/scan"}), "takes topic in args"),
        ("/rosapi/topic_type", json!({"topic": 3}), "topic must be a text"),
        ("/rosapi/topic_type", json!(["/scan", "/imu"]), "takes topic"),
        ("/rosapi/topics", json!("all"), "takes no args"),
        ("/rosapi/message_details", json!({"type": "std_msgs/String"}), "no topic has type"),
    ] {
        let error = call(name, &args, 0).expect_err(name);
        assert!(error.contains(word), "{name} {args}: {error}");
    }
}
