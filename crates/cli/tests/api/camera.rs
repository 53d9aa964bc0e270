//! `GET /camera` and the camera in `POST /step`.

use crate::support::{Api, LoadGate, json as parsed, number, plain, setup, start_paused};
use chicane_testkit::http::{HttpResponse, raw_until};
use serde_json::{Value, json};

/// Sends `POST /step` and returns the camera frame in the binary response: its entry in the JSON
/// header, and its pixels.
fn frame_of(api: &mut Api, body: Value) -> (Value, Vec<u8>) {
    let answer = api.0.request(
        "POST",
        "/sim/api/step",
        &[("Accept", "application/octet-stream")],
        body.to_string().as_bytes(),
    );
    assert_eq!(answer.status, 200, "{}", answer.text());
    let end = answer.body.iter().position(|b| *b == b'\n').expect("a header line");
    let header: Value = serde_json::from_slice(&answer.body[..end]).expect("json");
    let list = header["observations"].as_array().expect("a list");
    let info = list.iter().find(|o| o["name"] == "camera").expect("the camera").clone();
    let shape: Vec<usize> =
        info["shape"].as_array().expect("a shape").iter().map(|n| number(n) as usize).collect();
    let first = end + 1 + number(&info["offset"]) as usize;
    let pixels = answer.body[first..first + shape.iter().product::<usize>()].to_vec();
    (info, pixels)
}

fn picture(answer: &HttpResponse) -> image::RgbImage {
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("image/jpeg")));
    image::load_from_memory_with_format(&answer.body, image::ImageFormat::Jpeg).expect("a JPEG").into_rgb8()
}

/// Mean of each colour channel.
fn mean(pixels: &[u8]) -> [f64; 3] {
    let sum = |c: usize| pixels.iter().skip(c).step_by(3).map(|v| f64::from(*v)).sum::<f64>();
    [0, 1, 2].map(|c| sum(c) / (pixels.len() / 3) as f64)
}

#[test]
fn a_frame_is_returned_at_once_with_its_time_even_while_paused() {
    let (simulator, mut api) = start_paused();
    api.step(20);
    let mut client = simulator.client();
    let first = client.get("/camera");
    // The camera takes frames on ticks 0, 14, 27, … So at tick 20, the newest frame is the one of
    // tick 14.
    assert_eq!(first.header("x-sim-time"), Some("0.070"));
    assert_eq!(picture(&first).dimensions(), (480, 360));
    assert_eq!(client.get("/camera").body, first.body, "two requests for one frame differ");
    api.step(7);
    assert_eq!(client.get("/camera").header("x-sim-time"), Some("0.135"));
}

#[test]
fn a_frame_keeps_its_aspect_ratio_and_is_never_enlarged() {
    let (simulator, _) = start_paused();
    let mut client = simulator.client();
    for (query, size) in [
        ("width=160", (160, 120)),
        ("height=120", (160, 120)),
        ("width=1920&height=1080", (480, 360)),
        ("width=480&height=90&unknown=1", (120, 90)),
    ] {
        assert_eq!(picture(&client.get(&format!("/camera?{query}"))).dimensions(), size, "{query}");
    }
    for query in ["width=15", "width=1921", "height=1081", "width=wide", "stream=perhaps"] {
        let refused = client.get(&format!("/camera?{query}"));
        assert_eq!(refused.status, 422, "{query}");
        assert!(parsed(&refused)["detail"].is_string(), "{query}");
    }
}

#[test]
fn before_the_first_world_there_is_no_frame() {
    let gate = LoadGate::default();
    let simulator = setup().with_world("slow", gate.wrap(plain("slow"))).world("slow").start_unready();
    let answer = simulator.client().get("/camera");
    gate.open();
    assert_eq!(answer.status, 503);
    assert_eq!(
        parsed(&answer),
        json!({"error": "No camera data", "status": "waiting", "code": "no_reading"})
    );
}

#[test]
fn equal_steps_after_a_respawn_give_equal_pixels() {
    let (_simulator, mut api) = start_paused();
    let body =
        json!({"steps": 90, "speed": 1.5, "steering": 0.2, "observe": ["camera"], "camera_width": 160});
    let mut run = || {
        api.post("/respawn", json!({}));
        [frame_of(&mut api, body.clone()), frame_of(&mut api, body.clone())]
    };
    let (first, second) = (run(), run());
    assert!(first == second, "the frames of two equal runs differ");
    assert_eq!(first[0].0["shape"], json!([120, 160, 3]));
    assert_eq!(first[0].0["type"], "|u1");
    assert_eq!(number(&first[0].0["time"]), 0.4, "frame 6 is taken on tick 80");
    assert_ne!(first[0].1, first[1].1, "the frame did not change with the pose");
}

#[test]
fn the_camera_observation_in_json_is_a_jpeg() {
    use base64::Engine;
    let (_simulator, mut api) = start_paused();
    let answer = api.post("/step", json!({"observe": ["camera", "imu"], "camera_height": 60}));
    let camera = &answer["observations"]["camera"];
    assert_eq!((&camera["width"], &camera["height"]), (&json!(80), &json!(60)));
    assert_eq!((&camera["frame"], &camera["encoding"]), (&json!(0), &json!("jpeg")));
    let data = camera["data"].as_str().expect("base64");
    let jpeg = base64::engine::general_purpose::STANDARD.decode(data).expect("base64");
    assert_eq!(image::load_from_memory(&jpeg).expect("a picture").into_rgb8().dimensions(), (80, 60));
    assert!(answer["observations"]["imu"].is_object());
    for body in [json!({"camera_width": 15}), json!({"camera_height": "60"})] {
        assert_eq!(api.refused("/step", body).0, 400);
    }
}

#[test]
fn a_frame_shows_the_colour_of_a_light_at_its_tick() {
    let (_simulator, mut api) = start_paused();
    // The car stands half a metre in front of the light.
    api.post("/pose", json!({"x": 4.75, "y": 0.42, "yaw": 0}));
    let body = |steps: u64| json!({"steps": steps, "observe": ["camera"]});
    let centre = |(_, pixels): (Value, Vec<u8>)| {
        // Only the pixels in the middle of the image are used. They show the lamps of the light.
        let rows = (100..200).flat_map(|y| (180..300).map(move |x| (y * 480 + x) * 3));
        let pixels: Vec<u8> = rows.flat_map(|i| pixels[i..i + 3].to_vec()).collect();
        mean(&pixels)
    };
    let green = centre(frame_of(&mut api, body(14)));
    api.post("/traffic_lights/signal1", json!({"state": "red"}));
    let yellow = centre(frame_of(&mut api, body(14)));
    let red = centre(frame_of(&mut api, body(600)));
    assert!(green[1] > yellow[1].min(red[1]) && green[1] > green[0], "{green:?}");
    assert!(yellow[0] > green[0] + 10.0 && yellow[1] > red[1] + 10.0, "{yellow:?} {green:?} {red:?}");
    assert!(red[0] > green[0] + 5.0 && red[0] > red[1], "{red:?}");
}

#[test]
fn brightness_multiplies_every_channel() {
    let (_simulator, mut api) = start_paused();
    let body = json!({"steps": 1, "observe": ["camera"], "camera_width": 160});
    let (_, plain) = frame_of(&mut api, body.clone());
    for value in [0.5, 1.7] {
        api.post("/brightness", json!({"value": value}));
        let (_, bright) = frame_of(&mut api, body.clone());
        let expected: Vec<u8> =
            plain.iter().map(|v| (f64::from(*v) * value).round().min(255.0) as u8).collect();
        assert!(bright == expected, "{value}");
    }
}

#[test]
fn a_stream_sends_the_newest_frames() {
    let (simulator, mut api) = start_paused();
    let address = simulator.client().address();
    let request = format!("GET /camera?stream=true&width=64 HTTP/1.1\r\nHost: {address}\r\n\r\n");
    // Tick 560, at 2.8 s, is the last tick of this test. The camera takes frame 42 at that tick.
    let last = |received: &str| received.contains("X-Sim-Time: 2.800\r\n");
    let reader = std::thread::spawn(move || raw_until(address, request.as_bytes(), last));
    for _ in 0..40 {
        api.step(14);
    }
    let text = reader.join().expect("the reader");
    assert!(text.contains("multipart/x-mixed-replace; boundary=frame"), "{}", &text[..200]);
    let times: Vec<f64> = text
        .lines()
        .filter_map(|l| l.strip_prefix("X-Sim-Time: "))
        .map(|t| t.trim().parse().expect("a time"))
        .collect();
    assert!(times.windows(2).all(|w| w[0] < w[1]), "{times:?}");
    assert_eq!(times.last(), Some(&2.8), "{times:?}");
    assert!(text.matches("--frame\r\nContent-Type: image/jpeg").count() == times.len());
}
