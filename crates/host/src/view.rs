//! Converts types of the simulation to types of the wire format.
//!
//! [`place_command`] converts in the other direction, for HTTP handlers and judging scripts.

use chicane_sim::{Command, How, Lamp, TICK_S, VehicleState, Who, YELLOW_S, sample_tick};
use chicane_store::LibraryEntry;
use chicane_wire as wire;
use chicane_wire::{FlatPose, Named, Num, Rect, RouteLines, Size};
use chicane_world::world::{Object, ObjectKind, ObjectType, Panel};
use chicane_world::{Bounds, Pose, Profile, Route, World};
use glam::{DVec2, DVec3};
use std::sync::Arc;

/// A pose with its rotation as roll, pitch and yaw, and as a quaternion.
pub fn pose(pose: &Pose) -> wire::Pose {
    let [roll, pitch, yaw] = pose.rpy().map(Num);
    let DVec3 { x, y, z } = pose.position;
    wire::Pose { x: Num(x), y: Num(y), z: Num(z), roll, pitch, yaw, q: pose.rotation.to_array().map(Num) }
}

/// A pose on the ground: position and yaw.
pub fn flat_pose(pose: &Pose) -> FlatPose {
    let DVec3 { x, y, z } = pose.position;
    FlatPose { x: Num(x), y: Num(y), z: Num(z), yaw: Num(pose.yaw()) }
}

/// The state of the car.
pub(crate) fn vehicle(car: &VehicleState) -> wire::VehiclePose {
    let [speed, steering, pan, tilt] = [car.speed, car.steering, car.pan, car.tilt].map(Num);
    wire::VehiclePose { pose: pose(&car.pose), speed, steering, pan, tilt }
}

/// Extent of a box, m.
pub(crate) fn size(v: DVec3) -> Size {
    Size { x: Num(v.x), y: Num(v.y), z: Num(v.z) }
}

/// A rectangle on the ground, m.
pub(crate) fn rect(bounds: &Bounds) -> Rect {
    let Bounds { min, max } = bounds;
    Rect { min_x: Num(min.x), max_x: Num(max.x), min_y: Num(min.y), max_y: Num(max.y) }
}

/// The lines of a route. Clients expect closed lines, so the first point of an open line is
/// repeated at its end.
pub(crate) fn route_lines(route: &Route) -> RouteLines {
    let closed = route.is_closed();
    let points = |line: &[DVec2]| -> Vec<[Num; 2]> {
        let repeated = line.first().filter(|_| !closed);
        line.iter().chain(repeated).map(|p| [Num(p.x), Num(p.y)]).collect()
    };
    RouteLines {
        waypoints: points(&route.centre),
        inner: route.borders.as_ref().map(|b| points(&b.inner)),
        outer: route.borders.as_ref().map(|b| points(&b.outer)),
        closed,
    }
}

/// The description of a world, `GET /world`.
pub(crate) fn world(
    entry: &LibraryEntry,
    world: &World,
    route: Option<RouteLines>,
    bounds: Option<Rect>,
) -> wire::World {
    let objects = world.objects.iter().map(|o| (o.name.clone(), catalogue_entry(o)));
    wire::World {
        world: world.name.clone(),
        world_id: entry.world_id.clone(),
        rev: entry.rev.clone(),
        display: entry.display.clone(),
        track: wire::Track { route, bounds },
        objects: Named(objects.collect()),
        evaluation: world.evaluation.is_some(),
        yellow_s: Num(YELLOW_S),
    }
}

/// The properties of an object that do not change.
pub(crate) fn catalogue_entry(object: &Object) -> wire::CatalogueEntry {
    wire::CatalogueEntry {
        r#type: object_type(object.object_type),
        kind: object_kind(object.kind),
        r#static: object.is_static,
        movable: object.movable,
        origin: flat_pose(&object.origin),
        size: size(object.size),
    }
}

/// An object with its current pose.
pub fn object(name: Arc<str>, object: &Object, current: &Pose) -> wire::Object {
    wire::Object {
        name,
        r#type: object_type(object.object_type),
        kind: object_kind(object.kind),
        r#static: object.is_static,
        movable: object.movable,
        origin: pose(&object.origin),
        current: pose(current),
        size: size(object.size),
    }
}

/// The type of an object.
pub fn object_type(object_type: ObjectType) -> wire::ObjectType {
    match object_type {
        ObjectType::Object => wire::ObjectType::Object,
        ObjectType::Wall => wire::ObjectType::Wall,
        ObjectType::Light => wire::ObjectType::Light,
    }
}

/// The kind of an object: its shape, a light or a wall.
fn object_kind(kind: ObjectKind) -> wire::ObjectKind {
    match kind {
        ObjectKind::Box => wire::ObjectKind::Box,
        ObjectKind::Cylinder => wire::ObjectKind::Cylinder,
        ObjectKind::Sphere => wire::ObjectKind::Sphere,
        ObjectKind::Cone => wire::ObjectKind::Cone,
        ObjectKind::Light => wire::ObjectKind::Light,
        ObjectKind::Wall => wire::ObjectKind::Wall,
    }
}

/// The command that carries out a request to move the car or an object.
pub fn place_command(who: Who, request: wire::ModelRequest) -> Command {
    let wire::ModelRequest { x, y, z, yaw, motion } = request;
    let how = match motion {
        wire::Motion::AtOnce => How::AtOnce,
        wire::Motion::Over(duration_s) => How::Over { duration_s },
        wire::Motion::Along { path, speed, repeat } => How::Along { path, speed, repeat },
    };
    Command::Place { who, x, y, z, yaw, how }
}

/// The colour of a light.
pub(crate) fn light_state(lamp: Lamp) -> wire::LightState {
    match lamp {
        Lamp::Green => wire::LightState::Green,
        Lamp::Red => wire::LightState::Red,
        Lamp::Yellow { .. } => wire::LightState::Yellow,
    }
}

/// A traffic light. `at` is its current pose.
pub(crate) fn light(name: Arc<str>, at: &Pose, lamp: Lamp, panel: Option<&Panel>) -> wire::Light {
    let state = light_state(lamp);
    let yellow_left = match lamp {
        Lamp::Yellow { ticks_left } => Some(Num(f64::from(ticks_left) * TICK_S)),
        Lamp::Green | Lamp::Red => None,
    };
    let panel = panel.map(|p| wire::Panel {
        px: Num(p.pose.position.x),
        pz: Num(p.pose.position.z),
        pitch: Num(p.pose.rpy()[1]),
        lamp_r: Num(p.lamp_radius),
    });
    let (x, y, yaw) = (Num(at.position.x), Num(at.position.y), Num(at.yaw()));
    wire::Light { name, x, y, yaw, state, builtin: true, panel, yellow_left }
}

/// The evaluation of a world; `None` if the world has none. Fails if the configuration of the
/// evaluation is not valid JSON.
pub(crate) fn evaluation(world: &World) -> Result<Option<wire::EvaluationDocument>, serde_json::Error> {
    let Some(e) = &world.evaluation else { return Ok(None) };
    let config = serde_json::value::RawValue::from_string(e.config_json.clone())?;
    Ok(Some(wire::EvaluationDocument { version: e.version, config, script: e.script.clone() }))
}

/// The profile of a car, in SI units.
pub fn profile(p: &Profile) -> wire::Profile {
    wire::Profile {
        generation: p.generation.clone(),
        aliases: p.aliases.clone(),
        model_name: p.model_name.clone(),
        wheelbase: Num(p.wheelbase_m),
        track: Num(p.track_m),
        wheel_radius: Num(p.wheel_radius_m),
        wheel_width: Num(p.wheel_width_m),
        mass: Num(p.mass_kg),
        centre_of_mass: p.centre_of_mass_m.map(Num),
        body: wire::BodyBox {
            size: size(DVec3::from_array(p.body.size_m)),
            centre: p.body.centre_m.map(Num),
        },
        limits: wire::Limits {
            speed: Num(p.drive.max_speed_mps),
            acceleration: Num(p.drive.max_acceleration_mps2),
            steering: Num(p.drive.max_steering_rad),
            steering_rate: Num(p.drive.steering_rate_radps),
            yaw_rate: p.drive.yaw_rate_max.map(Num),
            yaw_acceleration: p.drive.yaw_acceleration_max.map(Num),
            pan: Num(p.camera.max_pan_rad),
            tilt: Num(p.camera.max_tilt_rad),
        },
        camera: wire::CameraProfile {
            width: p.camera.width_px,
            height: p.camera.height_px,
            rate: p.camera.rate_hz,
            horizontal_fov: Num(p.camera.horizontal_fov_rad),
            position: p.camera.position_m.map(Num),
            noise_sd: Num(p.camera.noise_sd),
            distortion: [Num(p.camera.distortion_k1), Num(p.camera.distortion_k2)],
        },
        lidar: wire::LidarProfile {
            beams: p.lidar.beams,
            rate: p.lidar.rate_hz,
            range_min: Num(p.lidar.range_min_m),
            range_max: Num(p.lidar.range_max_m),
            noise_sd: Num(p.lidar.noise_sd_m),
            position: p.lidar.position_m.map(Num),
        },
        imu: wire::ImuProfile {
            rate: p.imu.rate_hz,
            gyro_sd: Num(p.imu.gyro_sd_radps),
            accelerometer_sd: Num(p.imu.accelerometer_sd_mps2),
            position: p.imu.position_m.map(Num),
        },
    }
}

/// A vector.
pub fn xyz(v: DVec3) -> wire::Xyz {
    wire::Xyz { x: Num(v.x), y: Num(v.y), z: Num(v.z) }
}

/// Simulated time of sample number `k` of a sensor, s.
pub fn sample_time(k: u64, rate_hz: u32) -> f64 {
    sample_tick(k, rate_hz) as f64 * TICK_S
}

/// The id of a sound in responses and in the API of judging scripts.
pub fn sound_id(number: u64) -> String {
    format!("a{number}")
}

/// Odometry, as in the response to a step.
pub fn odom_observation(odom: &chicane_robot::Odom) -> wire::OdomObservation {
    wire::OdomObservation {
        time: Num(odom.tick as f64 * TICK_S),
        x: Num(odom.x),
        y: Num(odom.y),
        yaw: Num(odom.yaw),
        forward: Num(odom.forward),
        sideways: Num(odom.sideways),
        turning: Num(odom.turning),
    }
}
