//! Writes the input of `web/second-opinion`, a program that compares our renderer with another
//! renderer. The input is our pictures of some views, and the data that the other renderer needs to
//! draw the same views.
//!
//! `second-opinion <folder>` writes `car.glb`, and `<world>.glb` for every world. For every view it
//! writes the colours (`<view>.rgb`, three bytes per pixel) and the labels (`<view>.labels`, two
//! bytes per pixel). `views.json` holds the camera pose and the poses of all moving parts for each
//! view.
#![allow(clippy::disallowed_methods)]

mod fixture;
mod views;

use chicane_bench::{BenchError, exit_code};
use chicane_render::{Camera, Layers, Moment, Optics, Renderer, Stage, glb, looks};
use chicane_world::world::{Object, ObjectType};
use chicane_world::{Pose, Profile, World};
use serde_json::{Value, json};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use views::View;

const WIDTH: usize = 480;
const HEIGHT: usize = 360;

fn main() -> ExitCode {
    exit_code("second-opinion", run())
}

fn run() -> Result<(), BenchError> {
    let folder =
        std::env::args().nth(1).ok_or("usage: second-opinion <folder>, such as target/second-opinion")?;
    Ok(write(Path::new(&folder)).map_err(|e| format!("{folder}: {e}"))?)
}

fn write(folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let profile = Arc::new(Profile::gen1());
    std::fs::write(folder.join("car.glb"), glb::car(&profile))?;
    let mut listed = Vec::new();
    for (name, world) in views::worlds() {
        std::fs::write(folder.join(format!("{name}.glb")), glb::world(&world))?;
        let mut renderer = Renderer::new(Arc::new(Stage::new(&world, Arc::clone(&profile))));
        for view in views::of(name, &world, &profile) {
            let optics = Optics::pinhole(WIDTH, HEIGHT, view.fov_rad);
            let drawn = renderer.layers(&Camera { pose: view.camera, optics }, &view.moment);
            let path = |kind: &str| folder.join(format!("{name}-{}.{kind}", view.name));
            std::fs::write(path("rgb"), colours(&drawn))?;
            std::fs::write(path("labels"), labels(&drawn))?;
            listed.push(described(name, &world, &profile, &view, &optics));
        }
    }
    let all = json!({ "width": WIDTH, "height": HEIGHT, "views": listed });
    std::fs::write(folder.join("views.json"), all.to_string())
}

fn colours(drawn: &Layers) -> Vec<u8> {
    drawn.colour.pixels.iter().flat_map(|p| [p[0], p[1], p[2]]).collect()
}

fn labels(drawn: &Layers) -> Vec<u8> {
    drawn.labels.iter().flat_map(|l| l.to_le_bytes()).collect()
}

/// Describes a view for the other renderer, in our axes: z is up, and a camera looks along its x
/// axis.
fn described(name: &str, world: &World, profile: &Profile, view: &View, optics: &Optics) -> Value {
    let Moment { car, objects, lamps } = &view.moment;
    let things: Vec<Value> = world
        .objects
        .iter()
        .zip(objects)
        .map(|(o, now)| json!({ "name": o.name, "pose": pose(now), "shadow": shadow(o) }))
        .collect();
    let lit = |i: usize, lamp: looks::Lamp| lamps.contains(&(i, lamp));
    let lights: Vec<Value> = world
        .objects
        .iter()
        .enumerate()
        .filter(|(i, _)| lamps.iter().any(|(l, _)| l == i))
        .map(|(i, o)| {
            let colours = |lamp| {
                let of = looks::lamp_colours(lamp);
                json!({ "colour": of.unlit, "emissive": if lit(i, lamp) { of.lit } else { [0.0; 3] } })
            };
            json!({
                "name": o.name,
                "lamp_red": colours(looks::Lamp::Red),
                "lamp_green": colours(looks::Lamp::Green),
            })
        })
        .collect();
    let [length, _, _] = profile.body.size_m;
    let below = json!({
        "foot": [profile.body.centre_m[0], 0.0, 0.0],
        "size": [length, profile.track_m + profile.wheel_width_m],
    });
    json!({
        "name": format!("{name}-{}", view.name),
        "world": name,
        "camera": pose(&view.camera),
        "vertical_fov": 2.0 * libm::atan(0.5 * HEIGHT as f64 / optics.focal),
        "near": view.near,
        "ground_z": world.ground.z,
        "objects": things,
        "lights": lights,
        "car": {
            "pose": pose(&car.pose),
            "steering": car.front_wheels,
            "spin": car.wheel_angles,
            "pan": car.pan,
            "tilt": car.tilt,
            "shadow": below,
        },
    })
}

fn pose(pose: &Pose) -> Value {
    json!({ "position": pose.position.to_array(), "rotation": pose.rotation.to_array() })
}

/// Position and size of an object's shadow, in the frame of the object. Walls have no shadow.
fn shadow(object: &Object) -> Value {
    if object.object_type == ObjectType::Wall {
        return Value::Null;
    }
    let [x, y, z] = object.centre.to_array();
    json!({ "foot": [x, y, z - 0.5 * object.size.z], "size": [object.size.x, object.size.y] })
}
