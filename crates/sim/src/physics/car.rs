//! The car: one rigid chassis on four sprung wheels with our own tyre model.
//!
//! In every sub-step each wheel casts a ray down to find the surface below. At the point that the
//! ray hits, spring and damper push the chassis up, and the tyre exerts a force along the surface.
//! The motor is a PI speed controller with limited force. Its force is distributed to the wheels in
//! proportion to their load.
//!
//! The steering controller computes a yaw rate from the speed of the wheels and the steering angle.
//! It limits this yaw rate and the change of this yaw rate.

use super::engine::{ChassisForce, Engine, Footing, SUBSTEP_S, from_engine};
use super::model::CarModel;
use super::tyre::{Patch, TyreState};
use chicane_world::readings::{Drive, Wheels};
use glam::DVec3;
use serde::{Deserialize, Serialize};

/// A body under a wheel counts as standing still if it is slower than this, m/s.
const STILL_MPS: f64 = 0.01;
/// Time constant of the motor's proportional term, s.
const MOTOR_LAG_S: f64 = 0.015;
/// Time constant of the motor's integral term, s. This term compensates a constant load such as a
/// slope.
const MOTOR_LEARN_S: f64 = 0.1;

/// State of the car except the chassis. The chassis is a body of the engine.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Car {
    tyres: [TyreState; 4],
    /// Rotation angle of each wheel, rad. The angles are only used for drawing.
    pub(crate) angle: [f64; 4],
    pub(crate) steering: f64,
    pub(crate) pan: f64,
    pub(crate) tilt: f64,
    /// Integral term of the motor: the acceleration that balances the constant load, m/s².
    integral: f64,
    /// Yaw rate in the last sub-step, computed from the speed of the wheels and the steering angle,
    /// rad/s.
    yaw_rate: f64,
}

/// A wheel that carries a load.
#[derive(Clone, Copy)]
struct LoadedWheel {
    footing: Footing,
    point: DVec3,
    heading: DVec3,
    left: DVec3,
    forward_speed: f64,
    left_speed: f64,
    load: f64,
}

impl Car {
    /// Simulates one sub-step of servos, motor, suspension and tyres. If `alone` is true, no object
    /// and no scenery is near, so the wheels can only stand on the ground. Applies the reaction of
    /// the wheels to the bodies under them, and marks the objects of these bodies as touched.
    /// Returns the force on the chassis. The caller has to apply this force.
    pub(crate) fn drive(
        &mut self,
        model: &CarModel,
        engine: &mut Engine,
        drive: Drive,
        alone: bool,
        touched: &mut [bool],
    ) -> ChassisForce {
        self.turn_servos(model, drive);
        let standing: [Option<LoadedWheel>; 4] =
            std::array::from_fn(|i| self.loaded_wheel(model, engine, i, alone));
        let carried: f64 = standing.iter().flatten().map(|s| s.load).sum();
        let target = drive.speed.clamp(-model.max_speed, model.max_speed);
        let force = self.motor(model, target, carried, &standing);
        let centre = engine.chassis().center_of_mass();
        let mut push = ChassisForce::default();
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
                engine.apply_reaction(body, -total, s.point);
            }
        }
        for (angle, tyre) in self.angle.iter_mut().zip(&self.tyres) {
            *angle = (*angle + tyre.spin * SUBSTEP_S).rem_euclid(std::f64::consts::TAU);
        }
        push
    }

    /// Simulates one sub-step while a motion carries the car. The wheels roll, but exert no force.
    pub(crate) fn roll_carried(&mut self, model: &CarModel, speed: f64, drive: Drive) {
        self.turn_servos(model, drive);
        self.integral = 0.0;
        for (i, tyre) in self.tyres.iter_mut().enumerate() {
            *tyre = TyreState { stretch: 0.0, spin: speed / model.tyres[0].radius };
            self.angle[i] = (self.angle[i] + tyre.spin * SUBSTEP_S).rem_euclid(std::f64::consts::TAU);
        }
    }

    /// Resets tyres and motor after the car was placed.
    pub(crate) fn reset_tyres_and_motor(&mut self) {
        self.tyres = Default::default();
        self.angle = self.angle.map(|a| if a.is_finite() { a } else { 0.0 });
        self.integral = 0.0;
        self.yaw_rate = 0.0;
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
            let difference = wanted.clamp(-most, most) - *angle;
            *angle += difference.clamp(-model.servo_step, model.servo_step);
        };
        let wanted = drive.steering.clamp(-model.max_steering, model.max_steering);
        let rolled = self.rolled_speed(model);
        let permitted = self.permitted_steering(model, rolled, wanted);
        turn(&mut self.steering, permitted, model.max_steering);
        turn(&mut self.pan, drive.pan, model.max_pan);
        turn(&mut self.tilt, drive.tilt, model.max_tilt);
        self.yaw_rate = model.yaw_rate(rolled, self.steering);
    }

    /// Mean speed of the wheels' treads, m/s. The steering controller uses this speed, because it
    /// does not know the true speed of the car.
    fn rolled_speed(&self, model: &CarModel) -> f64 {
        0.25 * (0..4).map(|i| self.tyres[i].spin * model.tyres[i / 2].radius).sum::<f64>()
    }

    /// The steering angle nearest to `wanted` that respects the limits of the yaw rate, rad.
    fn permitted_steering(&self, model: &CarModel, rolled: f64, wanted: f64) -> f64 {
        if model.max_yaw_rate.is_infinite() && model.yaw_rate_step.is_infinite() {
            return wanted;
        }
        // `held` is the yaw rate that the present steering angle gives at the present speed. If the
        // car has slowed down, `held` is smaller than the yaw rate of the last sub-step. The
        // permitted range is then centred on `held`. A range around the last yaw rate could exclude
        // the commanded angle, and the car would steer more than commanded.
        let held = model.yaw_rate(rolled, self.steering);
        let last = match self.yaw_rate * held > 0.0 {
            true if held.abs() < self.yaw_rate.abs() => held,
            true => self.yaw_rate,
            false => 0.0,
        };
        let (most, step) = (model.max_yaw_rate, model.yaw_rate_step);
        let last = last.clamp(-most, most);
        let yaw_rate = model.yaw_rate(rolled, wanted);
        let permitted = yaw_rate.clamp((last - step).max(-most), (last + step).min(most));
        // If `rolled` is zero, the yaw rate is zero at every steering angle and therefore
        // permitted. The division by `rolled` is then not reached.
        if permitted == yaw_rate { wanted } else { libm::atan(permitted * model.wheelbase / rolled) }
    }

    /// Total force that the motor requests from the tyres, N.
    fn motor(
        &mut self,
        model: &CarModel,
        target: f64,
        carried: f64,
        standing: &[Option<LoadedWheel>; 4],
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
        let wanted = model.mass * (error / MOTOR_LAG_S + self.integral);
        let force = wanted.clamp(-model.max_force, model.max_force);
        if error.abs() < 0.1 && force == wanted {
            let most = 0.9 * model.max_force / model.mass;
            let learn = error / (MOTOR_LAG_S * MOTOR_LEARN_S) * SUBSTEP_S;
            self.integral = (self.integral + learn).clamp(-most, most);
        } else if error.abs() >= 0.1 {
            // A large error comes from a jump of the requested speed, not from the load, so the
            // integral term decays.
            self.integral *= 1.0 - SUBSTEP_S / MOTOR_LEARN_S;
        }
        force
    }

    /// The surface under wheel `i`, the velocity of its contact patch and its load. `None` if the
    /// wheel carries no load.
    fn loaded_wheel(&self, model: &CarModel, engine: &Engine, i: usize, alone: bool) -> Option<LoadedWheel> {
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
        // The engine gives a loaded body at rest a small velocity. Without the threshold
        // [`STILL_MPS`], the tyre would follow that velocity.
        let under = if under.length_squared() < STILL_MPS * STILL_MPS { DVec3::ZERO } else { under };
        let velocity = body.velocity_at_point(point) - under;
        let normal = footing.normal;
        let load = model.suspension(i, model.rest - footing.distance, -velocity.dot(normal));
        let angle = model.wheel_angle(i, self.steering);
        let ahead = pose.rotation * DVec3::new(libm::cos(angle), libm::sin(angle), 0.0);
        let heading = (ahead - normal * ahead.dot(normal)).normalize_or(DVec3::X);
        let left = normal.cross(heading);
        (load > 0.0).then_some(LoadedWheel {
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

/// The surface under a wheel: an object, scenery or the ground, whichever is nearest; `None` if
/// none of them is within reach of the wheel.
fn footing(model: &CarModel, engine: &Engine, mount: DVec3, up: DVec3, alone: bool) -> Option<Footing> {
    let reach = model.rest + model.droop;
    let height = mount.z - model.ground_z;
    let ground = (up.z > 0.05 && height > 0.0).then(|| height / up.z).filter(|&d| d <= reach);
    let object = if alone { None } else { engine.footing(mount, -up, ground.unwrap_or(reach)) };
    // A surface that is higher than the axle belongs to an obstacle. The colliders of the car stop
    // at an obstacle, and the springs ignore it.
    let object = object.filter(|t| t.distance > model.rest - model.axle);
    object.or_else(|| ground.map(|distance| Footing { distance, normal: DVec3::Z, body: None, object: None }))
}
