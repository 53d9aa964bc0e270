//! Projects of the world builder: creating, reading, saving, deleting, previews, and who may do it.

use crate::support::{Api, is_code, json as body, refusal, setup, setup_in, start};
use chicane_testkit::http::HttpResponse;
use serde_json::{Value, json};

const BUILDER: &str = "/sim/api/builder";

/// A client of the world builder.
pub(crate) struct Builder(pub(crate) Api);

impl Builder {
    pub(crate) fn send(&mut self, method: &str, path: &str, content: &Value) -> HttpResponse {
        self.0.0.request(method, &format!("{BUILDER}{path}"), &[], content.to_string().as_bytes())
    }

    pub(crate) fn raw(&mut self, method: &str, path: &str, bytes: &[u8]) -> HttpResponse {
        let headers = [("content-type", "application/octet-stream")];
        self.0.0.request(method, &format!("{BUILDER}{path}"), &headers, bytes)
    }

    pub(crate) fn get(&mut self, path: &str) -> Value {
        let answer = self.0.0.get(&format!("{BUILDER}{path}"));
        assert_eq!(answer.status, 200, "GET {path}: {}", answer.text());
        body(&answer)
    }

    /// Makes a project and returns it.
    pub(crate) fn create(&mut self, source: Value) -> Value {
        let answer = self.send("POST", "/projects", &source);
        assert_eq!(answer.status, 201, "{source}: {}", answer.text());
        body(&answer)
    }

    /// Makes a project and returns its id.
    pub(crate) fn id(&mut self, source: Value) -> String {
        self.create(source)["id"].as_str().expect("an id").to_owned()
    }

    /// Sends a request that must succeed, and returns the response.
    pub(crate) fn done(&mut self, method: &str, path: &str, content: Value) -> Value {
        let answer = self.send(method, path, &content);
        assert_eq!(answer.status, 200, "{method} {path}: {}", answer.text());
        body(&answer)
    }

    /// Sends a request that must fail with this status and code. Returns the text.
    pub(crate) fn refused(
        &mut self,
        method: &str,
        path: &str,
        content: &Value,
        expected: (u16, &str),
    ) -> String {
        let answer = self.send(method, path, content);
        let (status, text) = refusal(&answer);
        assert_eq!(
            (status, body(&answer)["code"].as_str()),
            (expected.0, Some(expected.1)),
            "{method} {path}: {text}"
        );
        assert_eq!(text.lines().count(), 1, "{text}");
        text
    }

    pub(crate) fn document(&mut self, id: &str) -> Value {
        self.get(&format!("/projects/{id}"))["document"].clone()
    }

    /// Saves a document as the successor of the current revision.
    pub(crate) fn save(&mut self, id: &str, document: &Value) -> Value {
        let revision = self.get(&format!("/projects/{id}"))["revision"].clone();
        self.done("PUT", &format!("/projects/{id}"), json!({"revision": revision, "document": document}))
    }
}

pub(crate) fn builder(simulator: &crate::support::Simulator) -> Builder {
    Builder(simulator.api())
}

#[test]
fn a_project_is_made_from_each_source() {
    let simulator = start();
    let mut builder = builder(&simulator);
    let empty = builder.create(json!({"from": "empty", "name": "my_world"}));
    assert_eq!(empty["document"]["name"], "my_world");
    assert_eq!((empty["revision"].clone(), empty["files"].clone()), (json!(1), json!([])));
    assert!(empty["id"].as_str().is_some_and(|id| id.len() == 16));
    let town = builder.create(json!({"from": "world", "world": "town"}));
    let files = town["files"].as_array().expect("a list");
    assert!(
        files.iter().any(|file| file["name"] == "pictures/zebra.png" && file["width"].is_u64()),
        "{town}"
    );
    let random =
        builder.create(json!({"from": "random", "seed": 7, "options": {"field": [10, 8], "tightness": 0.8}}));
    assert_eq!(random["document"]["field"]["size"], json!([10.0, 8.0]));
    let again =
        builder.create(json!({"from": "random", "seed": 7, "options": {"field": [10, 8], "tightness": 0.8}}));
    assert_eq!(random["document"], again["document"]);
    let own = builder.create(json!({"from": "document", "document": empty["document"]}));
    assert_eq!(own["document"], empty["document"]);
    let copy = builder.create(json!({"from": "project", "project": town["id"]}));
    assert_eq!(copy["files"], town["files"]);
    assert_eq!(copy["document"]["name"], "town_copy");

    let list = builder.get("/projects");
    assert_eq!(list["projects"].as_array().map(Vec::len), Some(6));
    let entry = |id: &Value| {
        let all = list["projects"].as_array().expect("a list");
        all.iter().find(|project| project["id"] == *id).cloned().unwrap_or_default()
    };
    let listed = entry(&town["id"]);
    assert_eq!(
        (&listed["name"], &listed["width"], &listed["height"]),
        (&json!("town"), &json!(10.0), &json!(8.0))
    );
    assert_eq!(
        (&listed["errors"], &listed["nodes"]),
        (&json!(0), &json!(town["document"]["track"]["nodes"].as_array().map(Vec::len)))
    );
    assert_eq!(entry(&empty["id"])["warnings"], 0);

    for (source, expected) in [
        (json!({"from": "world", "world": "nowhere"}), (404, "no_such_world")),
        (json!({"from": "world"}), (400, "invalid_request")),
        (json!({"from": "empty", "name": "../etc"}), (400, "invalid_request")),
        (json!({"from": "empty", "name": "<b>x</b>"}), (400, "invalid_request")),
        (json!({"from": "random", "options": {"field": [1, 1]}}), (400, "invalid_request")),
        (json!({"from": "random", "options": {"width": 3, "field": [2, 2]}}), (400, "invalid_request")),
        (json!({"from": "project", "project": "0123456789abcdef"}), (404, "no_such_project")),
        (json!({"from": "document", "document": {"version": 1}}), (422, "bad_project")),
        (json!({}), (400, "invalid_request")),
    ] {
        builder.refused("POST", "/projects", &source, expected);
    }
    assert_eq!(builder.get("/projects")["projects"].as_array().map(Vec::len), Some(6));
}

#[test]
fn a_save_of_an_old_revision_gets_the_current_document() {
    let simulator = start();
    let mut builder = builder(&simulator);
    let project = builder.create(json!({"from": "empty"}));
    let path = format!("/projects/{}", project["id"].as_str().expect("an id"));
    let mut mine = project["document"].clone();
    mine["display_name"] = json!("Mine");
    let saved = builder.done("PUT", &path, json!({"revision": 1, "document": mine, "editor": "left"}));
    assert_eq!((&saved["revision"], &saved["errors"], &saved["warnings"]), (&json!(2), &json!(0), &json!(0)));

    let mut theirs = project["document"].clone();
    theirs["track"]["width"] = json!(0.5);
    let conflict = builder.send("PUT", &path, &json!({"revision": 1, "document": theirs}));
    assert_eq!(conflict.status, 409);
    let conflict = body(&conflict);
    assert_eq!((&conflict["code"], &conflict["revision"]), (&json!("revision_conflict"), &json!(2)));
    assert_eq!(conflict["document"], mine);
    // The second editor merges both changes and saves again.
    theirs["display_name"] = conflict["document"]["display_name"].clone();
    let merged = builder.done("PUT", &path, json!({"revision": 2, "document": theirs}));
    assert_eq!(merged["revision"], 3);
    let read = builder.get(&path);
    assert_eq!((&read["document"], &read["revision"]), (&theirs, &json!(3)));
    assert_eq!(read["updated"], merged["updated"]);
}

#[test]
fn a_document_that_is_not_a_project_is_refused_and_nothing_is_lost() {
    let simulator = start();
    let mut builder = builder(&simulator);
    let project = builder.create(json!({"from": "empty"}));
    let path = format!("/projects/{}", project["id"].as_str().expect("an id"));
    let with = |change: &dyn Fn(&mut Value)| {
        let mut document = project["document"].clone();
        change(&mut document);
        document
    };
    let node = json!({"x": 1, "y": 1});
    let object = json!({"kind": "box", "name": "b", "x": 1, "y": 1});
    for (document, place) in [
        (with(&|d| d["track"]["nodes"] = Value::Array(vec![node.clone(); 100_000])), "track.nodes"),
        (with(&|d| d["objects"] = Value::Array(vec![object.clone(); 1001])), "objects"),
        (with(&|d| d["name"] = json!("../../etc/passwd")), "name"),
        (with(&|d| d["name"] = json!("<script>")), "name"),
        (with(&|d| d["track"]["width"] = json!(1e300)), "track.width"),
        (with(&|d| d["track"]["nodes"][0]["x"] = json!("1")), "track.nodes[0].x"),
        (with(&|d| d["field"]["ground"] = json!({"picture": "../secret.png"})), "field.ground.picture"),
        (with(&|d| d["colour"] = json!("red")), "colour"),
        (with(&|d| d["version"] = json!(2)), "version"),
        (with(&|d| d["display_name"] = json!("two\nlines")), "display_name"),
    ] {
        let save = json!({"revision": 1, "document": document});
        let text = builder.refused("PUT", &path, &save, (422, "bad_project"));
        assert!(text.starts_with(place), "{text}");
        let text = builder.refused("POST", "/preview", &json!({"document": document}), (422, "bad_project"));
        assert!(text.starts_with(place), "{text}");
    }
    for bad in [
        json!({"document": project["document"]}),
        json!({"revision": 0, "document": project["document"]}),
        json!({"revision": 1}),
        json!({"revision": 1, "document": []}),
        json!({"revision": 1, "document": project["document"], "editor": "x".repeat(65)}),
    ] {
        builder.refused("PUT", &path, &bad, (400, "invalid_request"));
    }
    let huge = format!("{{\"revision\": 1, \"document\": {{\"x\": \"{}\"}}}}", "x".repeat(5 << 20));
    let answer = builder.0.0.request("PUT", &format!("{BUILDER}{path}"), &[], huge.as_bytes());
    assert_eq!(refusal(&answer).0, 413);
    let deep = format!("{{\"revision\": 1, \"document\": {}", "[".repeat(50_000));
    let answer = builder.0.0.request("PUT", &format!("{BUILDER}{path}"), &[], deep.as_bytes());
    assert_eq!(refusal(&answer).0, 400);
    let read = builder.get(&path);
    assert_eq!((&read["document"], &read["revision"]), (&project["document"], &json!(1)));
}

#[test]
fn markup_in_texts_is_only_text() {
    let simulator = start();
    let mut builder = builder(&simulator);
    let project = builder.create(json!({"from": "empty"}));
    let id = project["id"].as_str().expect("an id").to_owned();
    let mut document = project["document"].clone();
    document["display_name"] = json!("<script>alert(1)</script> & \"quotes\" ../..");
    builder.save(&id, &document);
    assert_eq!(builder.document(&id)["display_name"], document["display_name"]);
    let export = builder.0.0.get(&format!("{BUILDER}/projects/{id}/export"));
    assert_eq!(export.header("content-type"), Some("application/json"));
    assert_eq!(export.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(export.header("content-disposition"), Some("attachment; filename=\"new_world.json\""));
}

#[test]
fn a_deleted_project_can_be_restored() {
    let simulator = start();
    let mut builder = builder(&simulator);
    let project = builder.create(json!({"from": "world", "world": "speedway"}));
    let id = project["id"].as_str().expect("an id").to_owned();
    let path = format!("/projects/{id}");
    assert_eq!(builder.done("DELETE", &path, json!({})), json!({"deleted": id}));
    builder.refused("GET", &path, &json!({}), (404, "no_such_project"));
    builder.refused("DELETE", &path, &json!({}), (404, "no_such_project"));
    let save = json!({"revision": 1, "document": project["document"]});
    builder.refused("PUT", &path, &save, (404, "no_such_project"));
    let list = builder.get("/projects");
    assert_eq!((&list["projects"], &list["deleted"][0]["id"]), (&json!([]), &project["id"]));
    let restored = builder.done("POST", &format!("{path}/restore"), json!({}));
    assert_eq!(restored, project);
    builder.refused("POST", &format!("{path}/restore"), &json!({}), (404, "no_such_project"));
    assert_eq!(builder.get("/projects")["deleted"], json!([]));
}

#[test]
fn an_unknown_project_is_refused_on_every_path() {
    let simulator = start();
    let mut builder = builder(&simulator);
    let save = json!({"revision": 1, "document": {"version": 1}});
    for id in ["0123456789abcdef", "x", "0123456789ABCDEF", "%ff", "0123456789abcdef0"] {
        for rest in [
            "",
            "/events",
            "/export",
            "/thumbnail",
            "/scene",
            "/scene/x.glb",
            "/waypoints.npy",
            "/print",
            "/files/a.png",
        ] {
            builder.refused("GET", &format!("/projects/{id}{rest}"), &json!({}), (404, "no_such_project"));
        }
        for rest in ["/restore", "/drive", "/publish", "/print/size"] {
            builder.refused("POST", &format!("/projects/{id}{rest}"), &json!({}), (404, "no_such_project"));
        }
        let status = builder.send("PUT", &format!("/projects/{id}"), &save).status;
        assert!(status == 404 || status == 422, "{status}");
        builder.refused("DELETE", &format!("/projects/{id}"), &json!({}), (404, "no_such_project"));
        builder.refused(
            "DELETE",
            &format!("/projects/{id}/files/a.png"),
            &json!({}),
            (404, "no_such_project"),
        );
        let picture = builder.raw("PUT", &format!("/projects/{id}/files/a.png"), b"x");
        assert_eq!(refusal(&picture).0, 404);
    }
    for path in ["/projects/../../etc/passwd", "/projects/%2e%2e/x"] {
        assert_eq!(refusal(&builder.send("GET", path, &json!({}))).0, 400, "{path}");
    }
}

#[test]
fn a_preview_shows_the_road_and_places_the_findings() {
    let simulator = start();
    let mut builder = builder(&simulator);
    let project = builder.create(json!({"from": "world", "world": "oval"}));
    let preview = builder.done("POST", "/preview", json!({"document": project["document"]}));
    let road = &preview["road"];
    let length = road["length"].as_f64().expect("a length");
    let samples = road["centre"].as_array().expect("a list").len();
    assert!((length / 0.05 - samples as f64).abs() <= 1.0, "{samples} samples of {length} m");
    assert_eq!(road["left"].as_array().map(Vec::len), Some(samples));
    assert_eq!(road["right"].as_array().map(Vec::len), Some(samples));
    assert_eq!(road["overlaps"], json!([]));
    let nodes = road["nodes_s"].as_array().expect("a list");
    assert_eq!(nodes.len(), project["document"]["track"]["nodes"].as_array().expect("nodes").len());
    assert!(nodes.iter().all(|s| s.as_f64().is_some_and(|s| (0.0..length).contains(&s))), "{nodes:?}");
    assert_eq!((&road["start"]["x"], &road["start"]["y"]), (&road["centre"][0][0], &road["centre"][0][1]));
    assert!(road["tightest"]["radius"].as_f64().is_some_and(|radius| radius > 0.49));
    let objects = preview["objects"].as_array().expect("a list");
    assert_eq!(objects.len(), project["document"]["objects"].as_array().map_or(0, Vec::len));

    // The broken document has an object and a node of the road outside of the field, and a picture
    // that does not exist.
    let mut broken = project["document"].clone();
    broken["objects"] = json!([{"kind": "sphere", "name": "ball", "x": 50, "y": 3}]);
    broken["track"]["nodes"][0] = json!({"x": 30, "y": 3});
    broken["decals"] = json!([{"picture": "none.png", "x": 2, "y": 2, "width": 1, "height": 1}]);
    let id = project["id"].clone();
    let preview = builder.done("POST", "/preview", json!({"document": broken, "project": id}));
    let found = preview["findings"].as_array().expect("a list").clone();
    let finding = |rule: &str| found.iter().find(|f| f["rule"] == rule).cloned().unwrap_or_default();
    let outside = finding("object-outside");
    assert_eq!(outside["severity"], "error");
    assert_eq!(
        outside["location"],
        json!({"kind": "object", "index": 0, "name": "ball", "x": 50.0, "y": 3.0})
    );
    let is_far_right = |f: &Value| {
        f["rule"] == "road-outside"
            && f["location"]["kind"] == "node"
            && f["location"]["x"].as_f64().is_some_and(|x| x > 8.0)
    };
    assert!(found.iter().any(is_far_right), "{found:?}");
    let missing = finding("picture-missing");
    assert_eq!(missing["location"], json!({"kind": "decal", "index": 0, "name": null, "x": 2.0, "y": 2.0}));
    assert_eq!(preview["objects"][0]["footprint"].as_array().map(Vec::len), Some(24));
    // If the request does not name the project, the files are not checked.
    let alone = builder.done("POST", "/preview", json!({"document": broken}));
    let rules: Vec<&Value> =
        alone["findings"].as_array().expect("a list").iter().map(|f| &f["rule"]).collect();
    assert!(!rules.contains(&&json!("picture-missing")), "{rules:?}");
    let unknown = json!({"document": broken, "project": "0123456789abcdef"});
    builder.refused("POST", "/preview", &unknown, (404, "no_such_project"));

    // If all nodes are at the same place, there is no road.
    let mut point = project["document"].clone();
    point["track"]["nodes"] = json!([{"x": 1, "y": 1}, {"x": 1, "y": 1}, {"x": 1, "y": 1}]);
    let preview = builder.done("POST", "/preview", json!({"document": point}));
    assert_eq!(preview["road"], Value::Null);
}

#[test]
fn thumbnail_and_waypoints_belong_to_a_revision() {
    let simulator = start();
    let mut builder = builder(&simulator);
    let project = builder.create(json!({"from": "world", "world": "technical"}));
    let id = project["id"].as_str().expect("an id").to_owned();
    let address = format!("{BUILDER}/projects/{id}/thumbnail");
    let first = builder.0.0.get(&address);
    assert_eq!((first.status, first.header("content-type")), (200, Some("image/jpeg")));
    let picture = image::load_from_memory(&first.body).expect("a picture");
    assert_eq!((picture.width(), picture.height()), (320, 240));
    let tag = first.header("etag").expect("a tag").to_owned();
    let known = builder.0.0.request("GET", &address, &[("if-none-match", &tag)], b"");
    assert_eq!((known.status, known.body.len()), (304, 0));
    let mut document = project["document"].clone();
    // A project with errors has a thumbnail and waypoints too.
    document["track"]["nodes"][0]["x"] = json!(-20);
    builder.save(&id, &document);
    let second = builder.0.0.request("GET", &address, &[("if-none-match", &tag)], b"");
    assert_eq!(second.status, 200);
    assert!(second.body != first.body && second.header("etag") != Some(&tag));
    let npy = builder.0.0.get(&format!("{BUILDER}/projects/{id}/waypoints.npy"));
    assert_eq!(npy.status, 200);
    assert!(npy.body.starts_with(b"\x93NUMPY"));
    assert_eq!(npy.header("content-disposition"), Some("attachment; filename=\"technical.npy\""));
}

#[test]
fn projects_are_kept_when_the_simulator_starts_again() {
    let simulator = start();
    let mut first = builder(&simulator);
    let project = first.create(json!({"from": "world", "world": "riverside"}));
    let gone = first.id(json!({"from": "empty"}));
    first.done("DELETE", &format!("/projects/{gone}"), json!({}));
    let data = simulator.stop_and_keep();
    let simulator = setup_in(&data).start();
    let mut second = builder(&simulator);
    let id = project["id"].as_str().expect("an id");
    assert_eq!(second.get(&format!("/projects/{id}")), project);
    assert_eq!(second.get("/projects")["deleted"][0]["id"], gone);
}

#[test]
fn changes_need_the_teachers_token_and_judged_programs_see_nothing() {
    let setup = setup().token("the-teachers-token").spectator_token("the-spectators-token");
    let simulator = setup.start();
    let client = |token: &str| simulator.client().with_header("authorization", format!("Bearer {token}"));
    let mut teacher = Builder(Api(client("the-teachers-token")));
    let id = teacher.id(json!({"from": "empty"}));
    let mut spectator = client("the-spectators-token");
    for path in ["/projects", &format!("/projects/{id}"), "/templates", &format!("/projects/{id}/thumbnail")]
    {
        assert_eq!(spectator.get(&format!("{BUILDER}{path}")).status, 200, "{path}");
    }
    let refused = |answer: &HttpResponse| {
        assert_eq!(refusal(answer).0, 403);
        assert!(is_code(&body(answer)["code"]));
    };
    refused(&spectator.get(&format!("{BUILDER}/published")));
    for (method, path) in [
        ("POST", "/projects".to_owned()),
        ("POST", "/projects/import".to_owned()),
        ("PUT", format!("/projects/{id}")),
        ("DELETE", format!("/projects/{id}")),
        ("PUT", format!("/projects/{id}/files/a.png")),
        ("POST", format!("/projects/{id}/drive")),
        ("POST", format!("/projects/{id}/publish")),
        ("POST", "/script/check".to_owned()),
    ] {
        refused(&spectator.request(method, &format!("{BUILDER}{path}"), &[], b"{}"));
    }
    // A form on a page of another site can't create a project.
    let headers = [("origin", "http://evil.example"), ("content-type", "text/plain")];
    let foreign = client("the-teachers-token").request(
        "POST",
        &format!("{BUILDER}/projects"),
        &headers,
        b"{\"from\": \"empty\"}",
    );
    refused(&foreign);
    assert_eq!(teacher.get("/projects")["projects"].as_array().map(Vec::len), Some(1));
}

#[test]
fn the_number_of_projects_is_limited() {
    let simulator = start();
    let mut builder = builder(&simulator);
    let first = builder.id(json!({"from": "empty"}));
    for _ in 1..200 {
        builder.id(json!({"from": "empty"}));
    }
    builder.refused("POST", "/projects", &json!({"from": "empty"}), (409, "too_many_projects"));
    builder.done("DELETE", &format!("/projects/{first}"), json!({}));
    builder.id(json!({"from": "empty"}));
    builder.refused("POST", &format!("/projects/{first}/restore"), &json!({}), (409, "too_many_projects"));
    assert_eq!(builder.get("/projects")["projects"].as_array().map(Vec::len), Some(200));
}
