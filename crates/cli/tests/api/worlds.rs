//! The list of worlds, publication, installation, deletion and downloads.

use crate::support::{open_route, plain, pretty, refusal, setup, start, start_paused, truncated, until};
use serde_json::{Value, json};

#[test]
fn the_built_in_worlds() {
    let (_simulator, mut api) = start_paused();
    // The server waits at most one second for the sizes of all worlds before it responds. In the
    // response, a world whose size is not known yet has the size 0.
    let listed = until("the sizes of all worlds", || {
        let listed = api.get("/worlds");
        let all = listed["worlds"].as_array().expect("a list");
        all.iter().all(|world| world["size"] != json!([0.0, 0.0])).then_some(listed)
    });
    insta::assert_snapshot!(pretty(&listed));
}

#[test]
fn an_invalid_world_does_not_affect_the_list() {
    let simulator = setup()
        .with_world("torn", truncated("torn"))
        .with_world("plain", plain("plain"))
        .with_world("a_road", open_route("a_road"))
        .start();
    let listed = simulator.api().get("/worlds");
    let all = listed["worlds"].as_array().expect("a list");
    let names: Vec<&Value> = all.iter().map(|w| &w["name"]).collect();
    let expected =
        ["a_road", "field", "oval", "plain", "riverside", "slalom", "speedway", "technical", "torn", "town"];
    assert_eq!(names, expected);
    let of = |name: &str| all.iter().find(|w| w["name"] == name).expect("listed");
    assert_eq!(of("torn")["evaluation"], false);
    assert_eq!(of("plain")["evaluation"], false);
    assert_eq!(of("plain")["file"], "plain.world");
    assert!(all.iter().all(|w| w["size"].as_array().is_some_and(|s| s.len() == 2)), "{listed}");
}

#[test]
fn the_publication_of_a_built_in_world() {
    let (simulator, mut api) = start_paused();
    let publication = api.get("/worldpub");
    assert_eq!(publication["world"], "oval");
    assert!(publication["world_id"].is_null() && publication["rev"].is_null());
    assert!(publication["assets_rev"].as_str().is_some_and(|r| !r.is_empty()));
    let cdn = publication["cdn"].as_str().expect("an address");
    assert_eq!(cdn, format!("http://{}/cdn", simulator.address));
}

#[test]
fn an_invalid_id_is_refused_before_any_download() {
    let (_simulator, mut api) = start_paused();
    for wrong in [
        json!({}),
        json!({"world_id": null}),
        json!({"world_id": 5}),
        json!({"world_id": "0123"}),
        json!({"world_id": "../../../../../../../../../../etc"}),
        json!({"world_id": "g".repeat(32)}),
    ] {
        let refused = api.refused("/worlds/install", wrong.clone());
        assert_eq!(refused, (400, "invalid world_id".to_owned()), "{wrong}");
    }
    // This id was never published. The status is 502 if the CDN cannot be reached.
    let (status, text) = api.refused("/worlds/install", json!({"world_id": "0".repeat(32)}));
    assert!(status == 404 || status == 502, "{status} {text}");
}

#[test]
fn built_in_worlds_cannot_be_deleted() {
    let simulator = start();
    let mut client = simulator.client();
    for name in ["field", "technical"] {
        let refused = refusal(&client.delete(&format!("/sim/api/worlds/{name}")));
        assert_eq!(refused, (403, format!("cannot delete protected world: {name}")));
    }
    let current = refusal(&client.delete("/sim/api/worlds/oval"));
    assert!(current.0 == 403 || current.0 == 409, "{current:?}");
    assert_eq!(refusal(&client.delete("/sim/api/worlds/nowhere")).0, 404);
    let names = simulator.api().get("/worlds")["worlds"].as_array().map(Vec::len);
    assert_eq!(names, Some(7));
}

/// Reads a NumPy file of doubles. Returns the number of rows, the number of columns and the values.
fn read_npy(bytes: &[u8]) -> (usize, usize, Vec<f64>) {
    assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00");
    let length = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let header = std::str::from_utf8(&bytes[10..10 + length]).expect("text");
    assert!(header.contains("'descr': '<f8'") && header.contains("'fortran_order': False"), "{header}");
    let shape = header.split('(').nth(1).and_then(|s| s.split(')').next()).expect("a shape");
    let shape: Vec<usize> = shape.split(',').map(|n| n.trim().parse().expect("a length")).collect();
    let values = bytes[10 + length..].chunks(8);
    (shape[0], shape[1], values.map(|b| f64::from_le_bytes(b.try_into().expect("eight"))).collect())
}

#[test]
fn waypoints_are_served_as_a_numpy_file() {
    let (simulator, mut api) = start_paused();
    let mut client = simulator.client();
    // `oval` is the current world, and `technical` is not running.
    for name in ["oval", "technical"] {
        let answer = client.get(&format!("/sim/api/worlds/{name}/waypoints.npy"));
        assert_eq!(answer.status, 200);
        let (rows, columns, values) = read_npy(&answer.body);
        assert_eq!(columns, 6);
        assert_eq!(values.len(), rows * columns);
        assert!(rows > 100);
    }
    let answer = client.get("/sim/api/worlds/oval/waypoints.npy");
    let (rows, _, values) = read_npy(&answer.body);
    let route = api.get("/route");
    assert_eq!(route["waypoints"].as_array().map(Vec::len), Some(rows));
    for (line, column) in [("waypoints", 0), ("inner", 2), ("outer", 4)] {
        for row in [0, 1, rows / 2, rows - 1] {
            for k in [0, 1] {
                let listed = &route[line][row][k];
                assert!(crate::support::near(listed, values[row * 6 + column + k]), "{line} {row}");
            }
        }
    }
}

#[test]
fn missing_downloads_are_refused() {
    let simulator = setup().with_world("torn", truncated("torn")).with_world("plain", plain("plain")).start();
    let mut api = simulator.api();
    assert_eq!(api.get_refused("/worlds/nowhere/waypoints.npy").0, 404);
    assert_eq!(api.get_refused("/worlds/plain/waypoints.npy").0, 404);
    assert_eq!(api.get_refused("/worlds/torn/waypoints.npy").0, 422);
    assert_eq!(api.get_refused("/worlds/nowhere/print.jpg").0, 404);
    assert_eq!(api.get_refused("/worlds/nowhere/thumbnail.png").0, 404);
    assert_eq!(api.get_refused("/worlds/torn/thumbnail.png").0, 422);
}

#[test]
fn every_world_has_a_thumbnail() {
    let mut published = open_route("published");
    let mine = b"\x89PNG of its publisher".to_vec();
    published.insert("track_iconography/published.png", mine.clone());
    let mut odd = plain("odd");
    odd.insert("track_iconography/odd.png", b"not a picture".to_vec());
    let simulator = setup().with_world("published", published).with_world("odd", odd).start();
    let mut client = simulator.client();
    let answer = client.get("/sim/api/worlds/published/thumbnail.png");
    assert_eq!((answer.status, answer.body), (200, mine));
    let mut pictures = Vec::new();
    for name in ["oval", "technical", "odd", "oval"] {
        let answer = client.get(&format!("/sim/api/worlds/{name}/thumbnail.png"));
        assert_eq!((answer.status, answer.header("content-type")), (200, Some("image/png")), "{name}");
        let picture = image::load_from_memory(&answer.body).expect("a picture").into_rgb8();
        assert_eq!(picture.dimensions(), (640, 480), "{name}");
        pictures.push(picture);
    }
    assert!(pictures[0] == pictures[3], "two thumbnails of the same world differ");
    assert!(pictures[0] != pictures[1] && pictures[1] != pictures[2]);
}
