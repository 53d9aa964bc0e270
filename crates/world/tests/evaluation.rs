//! Tests the reader of the two evaluation files: accepted values, defaults, and errors with a
//! location.

use chicane_world::evaluation::{Better, Evaluation};
use proptest::prelude::*;

fn read(json: &str) -> Result<Evaluation, String> {
    Evaluation::from_files(
        "evaluations/e.json",
        json.as_bytes(),
        "evaluations/e.py",
        b"def evaluate(sim): ...\n",
    )
    .map_err(|e| e.to_string())
}

const FULL: &str = r#"{
  "version": 1,
  "config": {
    "zeta": [1, 2.50, {"b": 1, "a": 2}],
    "description": "A \"lap\" \\ in { time }",
    "better": "higher",
    "time_limit_s": 60.5,
    "robot": "gen2",
    "run_command": "python3 run.py"
  },
  "note": "ignored"
}"#;

#[test]
fn all_values_are_read() {
    let e = read(FULL).expect("full");
    assert_eq!((e.version, e.better, e.time_limit_s, e.robot.as_str()), (1, Better::Higher, 60.5, "gen2"));
    assert_eq!(e.description, r#"A "lap" \ in { time }"#);
    assert_eq!(
        e.config_json,
        r#"{"zeta":[1,2.50,{"b":1,"a":2}],"description":"A \"lap\" \\ in { time }","better":"higher","time_limit_s":60.5,"robot":"gen2","run_command":"python3 run.py"}"#
    );
    assert_eq!(e.script, "def evaluate(sim): ...\n");
}

#[test]
fn missing_values_have_defaults() {
    for json in [r#"{"version": 1, "config": {}}"#, r#"{"version": 1}"#, "\u{feff}{\"version\": 1}"] {
        let e = read(json).expect(json);
        assert_eq!((e.description.as_str(), e.better, e.time_limit_s), ("", Better::Lower, 180.0));
        assert_eq!((e.robot.as_str(), e.config_json.as_str()), ("gen1", "{}"));
    }
}

#[test]
fn what_a_seed_changes_is_read_and_checked() {
    let with = |vary: &str| {
        let json = format!("{{\"version\": 1,\n\"config\": {{\"x\": 1,\n  \"vary\": {vary}}}}}");
        read(&json)
    };
    let e = with(r#"{"friction": [0.5, 1]}"#).expect("valid");
    assert_eq!(e.vary.lines(), ["grip of the tyres: 0.5 to 1 times"]);
    assert_eq!(e.config_json, r#"{"x":1,"vary":{"friction":[0.5,1]}}"#, "the config is kept as text");
    assert!(with("null").expect("omitted").vary.is_empty() && with("{}").expect("nothing").vary.is_empty());
    for (vary, error) in [
        ("3", "evaluations/e.json:3:11: vary must be an object with start, objects"),
        (r#"{"frictoin": [1, 1]}"#, "evaluations/e.json:3:11: vary.frictoin is not a known field"),
        (r#"{"mass": [1]}"#, "e.json:3:11: vary.mass must be [least, most] with numbers from 0.5 to 2"),
    ] {
        let found = with(vary).expect_err(vary);
        assert!(found.contains(error), "{found}");
    }
}

#[test]
fn an_unknown_version_is_kept() {
    assert_eq!(read(r#"{"version": 7}"#).expect("seven").version, 7);
}

#[test]
fn errors_have_a_location_and_the_expected_value() {
    let cases = [
        ("", "e.json:1:1: not JSON"),
        ("{\n \"version\": 1,\n}", "e.json:3:1: not JSON"),
        ("[1]", "e.json:1:1: the document must be an object"),
        ("{}", "\"version\" is missing"),
        ("{\"version\": \"1\"}", "e.json:1:13: \"version\" must be an integer"),
        ("{\"version\": 1.5}", "\"version\" must be an integer"),
        ("{\"version\": 1,\n \"config\": []}", "e.json:2:12: \"config\" must be an object"),
        ("{\"version\": 1,\n \"config\":\n  null}", "e.json:3:3: \"config\" must be an object"),
        ("{\"version\":1,\"config\":{\"description\":1}}", "\"description\" must be a string"),
        ("{\"version\":1,\"config\":{\"better\":1}}", "\"better\" must be a string"),
        (
            "{\"version\":1,\"config\":{\n\"better\": \"more\"}}",
            "e.json:2:11: \"better\" must be \"lower\" or",
        ),
        ("{\"version\":1,\"config\":{\"time_limit_s\":\"9\"}}", "must be a number from 1 to 3600"),
        ("{\"version\":1,\"config\":{\"time_limit_s\":0.5}}", "must be a number from 1 to 3600"),
        ("{\"version\":1,\"config\":{\"time_limit_s\":3601}}", "must be a number from 1 to 3600"),
        ("{\"version\":1,\"config\":{\"time_limit_s\":true}}", "must be a number from 1 to 3600"),
        ("{\"version\":1,\"config\":{\"time_limit_s\":1e999}}", "e.json:1:"),
        ("{\"version\":1,\"config\":{\"robot\":null}}", "\"robot\" must be a string"),
        ("{\"version\":1,\"config\":{\"x\":\"\\ud800\"}}", "not JSON"),
    ];
    for (json, part) in cases {
        let message = read(json).expect_err(json);
        assert!(message.contains(part), "{json}: {message}");
        assert!(message.starts_with("evaluations/e.json"), "{message}");
    }
}

#[test]
fn a_deep_document_is_refused_and_does_not_overflow() {
    for depth in [129, 200_000] {
        let json =
            format!("{{\"version\":1,\"config\":{{\"x\":{}{}}}}}", "[".repeat(depth), "]".repeat(depth));
        assert!(read(&json).expect_err("deep").contains("recursion limit"), "{depth}");
    }
}

#[test]
fn size_and_encoding_of_both_files_are_checked() {
    let ok = b"{\"version\": 1}";
    let long = vec![b' '; (1 << 20) + 1];
    let error = |json: &[u8], script: &[u8]| {
        Evaluation::from_files("e.json", json, "e.py", script).expect_err("bad").to_string()
    };
    assert_eq!(error(&long, b""), "e.json: file is larger than 1 MiB");
    assert_eq!(error(ok, &long), "e.py: file is larger than 1 MiB");
    assert_eq!(error(ok, b"a\nb\xff"), "e.py:2:2: not UTF-8 text");
    assert_eq!(error(b"{\xff", b""), "e.json:1:2: not UTF-8 text");
    assert_eq!(error(ok, b"a\n\0"), "e.py:2:1: the script contains a NUL byte; remove it");
    let e = Evaluation::from_files("e.json", ok, "e.py", "\u{feff}pass".as_bytes()).expect("mark");
    assert_eq!(e.script, "pass");
}

#[test]
fn a_document_truncated_at_any_byte_is_an_error() {
    for end in 0..FULL.len() {
        assert!(read(&FULL[..end]).is_err(), "{end}");
    }
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(json in proptest::collection::vec(any::<u8>(), 0..200), script in any::<Vec<u8>>()) {
        let _ = Evaluation::from_files("e.json", &json, "e.py", &script);
    }

    #[test]
    fn a_changed_byte_never_panics(at in 0..FULL.len(), byte in 0u8..128) {
        let mut json = FULL.as_bytes().to_vec();
        json[at] = byte;
        if let Ok(e) = Evaluation::from_files("e.json", &json, "e.py", b"") {
            prop_assert!(e.time_limit_s >= 1.0 && e.time_limit_s <= 3600.0);
            let _: serde_json::Value = serde_json::from_str(&e.config_json).expect("still JSON");
        }
    }

    #[test]
    fn the_compact_config_has_the_same_values(text in ".{0,20}", number in any::<f64>().prop_filter("finite", |n| n.is_finite())) {
        let config = serde_json::json!({"description": text, "x": {"y": [text, number, null]}, "empty": {}});
        let json = serde_json::to_string_pretty(&serde_json::json!({"version": 1, "config": config})).expect("json");
        let e = read(&json).expect("valid");
        prop_assert_eq!(&e.config_json, &config.to_string());
        prop_assert_eq!(e.description, text);
    }
}
