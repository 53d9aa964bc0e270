//! The car: one rigid chassis on four sprung wheels with tyres of our own.
//!
//! In every sub-step each wheel looks down for what it stands on, its spring and damper press
//! on the chassis there, and its tyre pushes along the surface. The motor is a speed controller
//! with limited force; the force is split by load, as a good all-wheel drive would.

use super::engine::{Engine, Footing, SUBSTEP_S, from_engine};
use super::tyre::{Patch, TyreModel, TyreState};
use crate::readings::{Drive, Wheels};
use chicane_world::{Pose, Profile};
use glam::DVec3;
use serde::{Deserialize, Serialize};

/// Radius of a wheel as a solid, of its real one. On the ground the tyre carries; at a wall or on
/// the roof the solid does.
pub(super) const SOLID_WHEEL: f64 = 0.8;
/// How fast the motor closes a speed error, s.
const MOTOR_LAG_S: f64 = 0.015;
/// How fast it learns a standing load, such as a slope, s.
const MOTOR_LEARN_S: f64 = 0.1;

/// Constants of a profile.
#[derive(Debug, Clone)]
pub(crate) struct CarModel {
    wheelbase: f64,
    track: f64,
    mass: f64,
    /// Where each wheel's ray starts, in the car's frame.
    mounts: [DVec3; 4],
    /// Distance from mount to ground at rest.
    rest: f64,
    spring: f64,
    damper: f64,
    /// Compression that carries the car at rest, for front and rear.
    sag: [f64; 2],
    bump: f64,
    droop: f64,
    tyres: [TyreModel; 2],
    max_speed: f64,
    max_force: f64,
    max_steering: f64,
    max_pan: f64,
    max_tilt: f64,
    servo_step: f64,
    ground_z: f64,
    /// Corners of the body and lowest points of the wheels as solids, in the car's frame.
    low_points: [DVec3; 8],
    /// Centre and half extents of a box around body and wheels.
    pub(super) hull: (DVec3, DVec3),
}

/// Force and torque of the tyres on the chassis, about its centre of mass.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Push {
    pub(super) force: DVec3,
    pub(super) torque: DVec3,
}

/// What the car remembers beside its chassis.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Car {
    tyres: [TyreState; 4],
    /// Turned angle of each wheel, for those who draw it.
    pub(crate) angle: [f64; 4],
    pub(crate) steering: f64,
    pub(crate) pan: f64,
    pub(crate) tilt: f64,
    /// What the motor learnt of the standing load, m/s².
    learnt: f64,
}

impl CarModel {
    pub(crate) fn new(profile: &Profile, gravity: f64, ground_z: f64) -> CarModel {
        let quarter = 0.25 * profile.mass_kg;
        let omega = std::f64::consts::TAU * profile.suspension.frequency_hz;
        let spring = quarter * omega * omega;
        // The axle nearer to the centre of mass carries more.
        let lean = profile.centre_of_mass_m[0] / profile.wheelbase_m;
        let load = |share: f64| 0.5 * profile.mass_kg * gravity * share / spring;
        let rise = 0.5 * profile.wheel_radius_m;
        let tyre = |stiffness: f64| TyreModel {
            friction: profile.tyre.friction,
            cornering_stiffness: stiffness,
            slip_stiffness: profile.tyre.slip_stiffness,
            relaxation: profile.tyre.relaxation_m,
            radius: profile.wheel_radius_m,
            spin_mass: 0.5 * profile.wheel_mass_kg,
            damping: tyre_damping(profile, stiffness, gravity),
        };
        CarModel {
            wheelbase: profile.wheelbase_m,
            track: profile.track_m,
            mass: profile.mass_kg,
            mounts: std::array::from_fn(|i| {
                let [x, y] = profile.wheel_position(i);
                DVec3::new(x, y, profile.wheel_radius_m + rise)
            }),
            rest: profile.wheel_radius_m + rise,
            spring,
            damper: 2.0 * profile.suspension.damping_ratio * quarter * omega,
            sag: [load(0.5 + lean), load(0.5 - lean)],
            bump: 0.3 * profile.wheel_radius_m,
            droop: profile.suspension.travel_m,
            tyres: profile.tyre.cornering_stiffness_per_rad.map(tyre),
            max_speed: profile.drive.max_speed_mps,
            max_force: profile.mass_kg * profile.drive.max_acceleration_mps2,
            max_steering: profile.drive.max_steering_rad,
            max_pan: profile.camera.max_pan_rad,
            max_tilt: profile.camera.max_tilt_rad,
            servo_step: profile.drive.steering_rate_radps * SUBSTEP_S,
            ground_z,
            low_points: low_points(profile),
            hull: hull(profile),
        }
    }

    /// Height of the car's solids (not the tyres) above the ground.
    pub(super) fn clearance(&self, pose: &Pose) -> f64 {
        let lowest = |low: f64, p: &DVec3| low.min(pose.point(*p).z);
        self.low_points.iter().fold(f64::INFINITY, lowest) - self.ground_z
    }

    /// Angle of wheel `i` by Ackermann's rule.
    pub(crate) fn wheel_angle(&self, i: usize, steering: f64) -> f64 {
        if i >= 2 || steering == 0.0 {
            return 0.0;
        }
        let side = if i == 0 { 0.5 } else { -0.5 } * self.track;
        let t = libm::tan(steering);
        libm::atan(self.wheelbase * t / (self.wheelbase - side * t))
    }

    /// Force of spring and damper; compression beyond rest, closing speed.
    fn suspension(&self, i: usize, compression: f64, closing: f64) -> f64 {
        let stop = 6.0 * self.spring * (compression - self.bump).max(0.0);
        let force = self.spring * (self.sag[i / 2] + compression) + self.damper * closing + stop;
        force.clamp(0.0, 8.0 * self.mass * 9.81)
    }
}

/// What comes nearest to the ground while the car is roughly upright.
fn low_points(profile: &Profile) -> [DVec3; 8] {
    let (half, centre) =
        (DVec3::from_array(profile.body.size_m) * 0.5, DVec3::from_array(profile.body.centre_m));
    let radius = SOLID_WHEEL * profile.wheel_radius_m;
    std::array::from_fn(|i| {
        let [x, y] = profile.wheel_position(i % 4);
        if i < 4 {
            // The wheel's outer edge: that is where it touches first when the car leans.
            let y = y + (0.5 * profile.wheel_width_m).copysign(y);
            DVec3::new(x, y, profile.wheel_radius_m - radius)
        } else {
            centre + half * DVec3::new(1f64.copysign(x), 1f64.copysign(y), -1.0)
        }
    })
}

fn hull(profile: &Profile) -> (DVec3, DVec3) {
    let (half, centre) =
        (DVec3::from_array(profile.body.size_m) * 0.5, DVec3::from_array(profile.body.centre_m));
    let wheels = DVec3::new(
        0.5 * profile.wheelbase_m + profile.wheel_radius_m,
        0.5 * (profile.track_m + profile.wheel_width_m),
        0.0,
    );
    let low = (centre - half).min(-wheels);
    let high = (centre + half).max(wheels + DVec3::new(0.0, 0.0, 2.0 * profile.wheel_radius_m));
    (0.5 * (low + high), 0.5 * (high - low))
}

/// A third of critical for the tread's side spring and a quarter of the car, by load.
fn tyre_damping(profile: &Profile, stiffness: f64, gravity: f64) -> f64 {
    let load = 0.25 * profile.mass_kg * gravity.max(0.1);
    let spring = stiffness * load / profile.tyre.relaxation_m;
    0.6 * (spring * 0.25 * profile.mass_kg).sqrt() / load
}

/// A wheel that stands on something.
#[derive(Clone, Copy)]
struct Standing {
    footing: Footing,
    point: DVec3,
    heading: DVec3,
    left: DVec3,
    forward_speed: f64,
    left_speed: f64,
    load: f64,
}

impl Car {
    /// One sub-step of servos, motor, suspension and tyres. `alone`: there is nothing but
    /// ground. Pushes what the wheels stand on and marks it; the chassis is left to the caller.
    pub(crate) fn drive(
        &mut self,
        model: &CarModel,
        engine: &mut Engine,
        drive: Drive,
        alone: bool,
        touched: &mut [bool],
    ) -> Push {
        self.turn_servos(model, drive);
        let standing: [Option<Standing>; 4] = std::array::from_fn(|i| self.stand(model, engine, i, alone));
        let carried: f64 = standing.iter().flatten().map(|s| s.load).sum();
        let target = drive.speed.clamp(-model.max_speed, model.max_speed);
        let force = self.motor(model, target, carried, &standing);
        let centre = engine.chassis().center_of_mass();
        let mut push = Push::default();
        for (i, wheel) in standing.iter().enumerate() {
            let tyre = &model.tyres[i / 2];
            let Some(s) = wheel else {
                tyre.force(&mut self.tyres[i], Patch::airborne(target), SUBSTEP_S);
                continue;
            };
            let patch = Patch {
                forward: s.forward_speed,
                left: s.left_speed,
                load: s.load,
                drive: force * s.load / carried.max(1e-9),
                target,
            };
            let [along, aside] = tyre.force(&mut self.tyres[i], patch, SUBSTEP_S);
            let total = s.footing.normal * s.load + s.heading * along + s.left * aside;
            push.force += total;
            push.torque += (s.point - centre).cross(total);
            if let Some(object) = s.footing.object {
                touched[object] = true;
            }
            if let Some(body) = s.footing.body {
                engine.push_back(body, -total, s.point);
            }
        }
        for (angle, tyre) in self.angle.iter_mut().zip(&self.tyres) {
            *angle = (*angle + tyre.spin * SUBSTEP_S).rem_euclid(std::f64::consts::TAU);
        }
        push
    }

    /// The car is carried by a motion: wheels roll along, nothing pushes.
    pub(crate) fn be_carried(&mut self, model: &CarModel, speed: f64, drive: Drive) {
        self.turn_servos(model, drive);
        self.learnt = 0.0;
        for (i, tyre) in self.tyres.iter_mut().enumerate() {
            *tyre = TyreState { stretch: 0.0, spin: speed / model.tyres[0].radius };
            self.angle[i] = (self.angle[i] + tyre.spin * SUBSTEP_S).rem_euclid(std::f64::consts::TAU);
        }
    }

    /// The car was put somewhere: tyres and motor forget.
    pub(crate) fn settle(&mut self) {
        self.tyres = Default::default();
        self.angle = self.angle.map(|a| if a.is_finite() { a } else { 0.0 });
        self.learnt = 0.0;
    }

    pub(crate) fn wheels(&self) -> Wheels {
        Wheels {
            spin: std::array::from_fn(|i| self.tyres[i].spin),
            steering: self.steering,
            pan: self.pan,
            tilt: self.tilt,
        }
    }

    fn turn_servos(&mut self, model: &CarModel, drive: Drive) {
        let turn = |angle: &mut f64, wanted: f64, most: f64| {
            let way = wanted.clamp(-most, most) - *angle;
            *angle += way.clamp(-model.servo_step, model.servo_step);
        };
        turn(&mut self.steering, drive.steering, model.max_steering);
        turn(&mut self.pan, drive.pan, model.max_pan);
        turn(&mut self.tilt, drive.tilt, model.max_tilt);
    }

    /// Force that the motor asks of all tyres together.
    fn motor(
        &mut self,
        model: &CarModel,
        target: f64,
        carried: f64,
        standing: &[Option<Standing>; 4],
    ) -> f64 {
        if carried <= 0.0 {
            return 0.0;
        }
        let mut speed = 0.0;
        for (i, wheel) in standing.iter().enumerate() {
            if let Some(s) = wheel {
                speed += self.tyres[i].spin * model.tyres[i / 2].radius * s.load / carried;
            }
        }
        let error = target - speed;
        let wanted = model.mass * (error / MOTOR_LAG_S + self.learnt);
        let force = wanted.clamp(-model.max_force, model.max_force);
        if error.abs() < 0.1 && force == wanted {
            let most = 0.9 * model.max_force / model.mass;
            let learn = error / (MOTOR_LAG_S * MOTOR_LEARN_S) * SUBSTEP_S;
            self.learnt = (self.learnt + learn).clamp(-most, most);
        } else if error.abs() >= 0.1 {
            // A jump of the speed asked for says nothing about the load.
            self.learnt *= 1.0 - SUBSTEP_S / MOTOR_LEARN_S;
        }
        force
    }

    /// What wheel `i` stands on, how its patch moves and how hard it presses.
    fn stand(&self, model: &CarModel, engine: &Engine, i: usize, alone: bool) -> Option<Standing> {
        let body = engine.chassis();
        let pose = from_engine(body.position());
        let up = pose.rotation * DVec3::Z;
        let mount = pose.point(model.mounts[i]);
        let footing = footing(model, engine, mount, up, alone)?;
        if footing.normal.dot(up) < 0.2 {
            return None;
        }
        let point = mount - up * footing.distance;
        let under = footing.body.map_or(DVec3::ZERO, |h| engine.bodies[h].velocity_at_point(point));
        let velocity = body.velocity_at_point(point) - under;
        let normal = footing.normal;
        let load = model.suspension(i, model.rest - footing.distance, -velocity.dot(normal));
        let angle = model.wheel_angle(i, self.steering);
        let ahead = pose.rotation * DVec3::new(libm::cos(angle), libm::sin(angle), 0.0);
        let heading = (ahead - normal * ahead.dot(normal)).normalize_or(DVec3::X);
        let left = normal.cross(heading);
        (load > 0.0).then_some(Standing {
            footing,
            point,
            heading,
            left,
            forward_speed: velocity.dot(heading),
            left_speed: velocity.dot(left),
            load,
        })
    }
}

/// The nearer of ground and objects below a wheel.
fn footing(model: &CarModel, engine: &Engine, mount: DVec3, up: DVec3, alone: bool) -> Option<Footing> {
    let reach = model.rest + model.droop;
    let height = mount.z - model.ground_z;
    let ground = (up.z > 0.05 && height > 0.0).then(|| height / up.z).filter(|&d| d <= reach);
    let thing = if alone { None } else { engine.footing(mount, -up, ground.unwrap_or(reach)) };
    thing.or_else(|| ground.map(|distance| Footing { distance, normal: DVec3::Z, body: None, object: None }))
}
