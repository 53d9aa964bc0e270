//! The example `lap_by_lidar.py`, which needs only Python and the robot's API.

use crate::support::setup;
use chicane_testkit::http::RESPONSE_TIMEOUT;
use chicane_testkit::shipped_world;
use serde_json::json;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

/// A running example. It is killed on drop.
struct Example(Child);

impl Example {
    fn start(name: &str, address: &str) -> Example {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
        let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".to_owned());
        let mut command = Command::new(python);
        command.arg(file).arg(format!("http://{address}")).stdout(Stdio::piped()).stderr(Stdio::piped());
        Example(command.spawn().expect("python3 is needed"))
    }
}

impl Drop for Example {
    fn drop(&mut self) {
        // Errors are ignored, because the example may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn the_example_lap_by_lidar_drives_a_lap_without_contact() {
    let simulator = setup().world("oval").start();
    let mut api = simulator.api();
    // The example controls the car in real time. Simulated time runs at half speed, so that the car
    // stays on the road if a busy machine delays the example.
    api.post("/clock", json!({"speed": 0.5}));
    let route = shipped_world("oval").route.expect("a route");
    let length = route.length();
    let mut example = Example::start("lap_by_lidar.py", &simulator.address.to_string());
    let (begun, mut done, mut last) = (Instant::now(), 0.0, 0.0);
    let status = loop {
        let state = api.get("/state");
        assert_eq!(state["contacts"], json!([]), "the car touched something");
        let number = |name: &str| state["vehicle"][name].as_f64().expect("a number");
        let here = route.project([number("x"), number("y")].into());
        let half = route.half_width_at(here.distance_along).expect("borders");
        assert!(here.offset.abs() < half, "the car left the road: {} m from its centre line", here.offset);
        done += (here.distance_along - last + 1.5 * length).rem_euclid(length) - 0.5 * length;
        last = here.distance_along;
        if let Some(status) = example.0.try_wait().expect("the state of the example") {
            break status;
        }
        assert!(
            begun.elapsed() < 10 * RESPONSE_TIMEOUT,
            "a lap should take 40 s; after a timeout {done} of {length} m"
        );
    };
    assert!(status.success(), "{status}");
    assert!(done >= 0.98 * length, "{done} of {length} m");
}
