//! The constants of a car, computed once from its profile.

use super::engine::SUBSTEP_S;
use super::tyre::TyreModel;
use chicane_world::{Pose, Profile};
use glam::DVec3;

/// Radius of a wheel's collider as a fraction of the wheel's radius. The collider is smaller than
/// the wheel, because on the ground the tyre model carries the car. The collider acts at walls, and
/// when the car lies on its roof.
pub(super) const SOLID_WHEEL: f64 = 0.8;

/// The constants of a car, in SI units.
#[derive(Debug, Clone)]
pub(crate) struct CarModel {
    pub(super) wheelbase: f64,
    pub(super) track: f64,
    pub(super) mass: f64,
    /// The mount of each wheel: the origin of its ray, in the car's frame.
    pub(super) mounts: [DVec3; 4],
    /// Distance from a mount to the ground at rest, m.
    pub(super) rest: f64,
    pub(super) spring: f64,
    pub(super) damper: f64,
    /// Height of the axles above the ground, m.
    pub(super) axle: f64,
    /// Compression of each spring under the weight of the car at rest, m.
    pub(super) sag: [f64; 4],
    pub(super) bump: f64,
    pub(super) droop: f64,
    pub(super) tyres: [TyreModel; 2],
    pub(super) max_speed: f64,
    pub(super) max_force: f64,
    pub(super) max_steering: f64,
    pub(super) max_pan: f64,
    pub(super) max_tilt: f64,
    pub(super) servo_step: f64,
    /// Largest yaw rate that the controller steers for, rad/s. Infinite without a limit.
    pub(super) max_yaw_rate: f64,
    /// Largest change of the yaw rate in a sub-step that the controller steers for, rad/s. Infinite
    /// without a limit.
    pub(super) yaw_rate_step: f64,
    pub(super) ground_z: f64,
    /// Lower corners of the body, and lowest points of the wheel colliders, in the car's frame.
    pub(super) low_points: [DVec3; 8],
    /// Centre and half extents of a box around body and wheels, in the car's frame.
    pub(super) hull: (DVec3, DVec3),
}

impl CarModel {
    pub(crate) fn new(profile: &Profile, gravity: f64, ground_z: f64) -> CarModel {
        let quarter = 0.25 * profile.mass_kg;
        let omega = std::f64::consts::TAU * profile.suspension.frequency_hz;
        let spring = quarter * omega * omega;
        // The wheels nearer to the centre of mass carry a larger share of the weight.
        let [x, y, _] = profile.centre_of_mass_m;
        let share = |i: usize| {
            let [wx, wy] = profile.wheel_position(i);
            (0.5 + (x / profile.wheelbase_m).copysign(x * wx))
                * (0.5 + (y / profile.track_m).copysign(y * wy))
        };
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
            axle: profile.wheel_radius_m,
            sag: std::array::from_fn(|i| profile.mass_kg * gravity * share(i) / spring),
            bump: 0.3 * profile.wheel_radius_m,
            droop: profile.suspension.travel_m,
            tyres: profile.tyre.cornering_stiffness_per_rad.map(tyre),
            max_speed: profile.drive.max_speed_mps,
            max_force: profile.mass_kg * profile.drive.max_acceleration_mps2,
            max_steering: profile.drive.max_steering_rad,
            max_pan: profile.camera.max_pan_rad,
            max_tilt: profile.camera.max_tilt_rad,
            servo_step: profile.drive.steering_rate_radps * SUBSTEP_S,
            max_yaw_rate: profile.drive.yaw_rate_max.unwrap_or(f64::INFINITY),
            yaw_rate_step: profile.drive.yaw_acceleration_max.unwrap_or(f64::INFINITY) * SUBSTEP_S,
            ground_z,
            low_points: low_points(profile),
            hull: hull(profile),
        }
    }

    /// Height of the car's colliders above the ground, m. It is positive while the car stands on
    /// its tyres, because the colliders of the wheels are smaller than the tyres.
    pub(super) fn clearance(&self, pose: &Pose) -> f64 {
        let lowest = |low: f64, p: &DVec3| low.min(pose.point(*p).z);
        self.low_points.iter().fold(f64::INFINITY, lowest) - self.ground_z
    }

    /// Steering angle of wheel `i`, rad. The front wheels have Ackermann geometry.
    pub(crate) fn wheel_angle(&self, i: usize, steering: f64) -> f64 {
        if i >= 2 || steering == 0.0 {
            return 0.0;
        }
        let side = if i == 0 { 0.5 } else { -0.5 } * self.track;
        let t = libm::tan(steering);
        libm::atan(self.wheelbase * t / (self.wheelbase - side * t))
    }

    /// Yaw rate of a car whose wheels roll at this speed and steering angle without slipping,
    /// rad/s.
    pub(super) fn yaw_rate(&self, speed: f64, steering: f64) -> f64 {
        speed * libm::tan(steering) / self.wheelbase
    }

    /// Force of spring and damper, N. `compression` is relative to the rest position, m. `closing`
    /// is the speed of the compression, m/s.
    pub(super) fn suspension(&self, i: usize, compression: f64, closing: f64) -> f64 {
        let stop = 6.0 * self.spring * (compression - self.bump).max(0.0);
        let force = self.spring * (self.sag[i] + compression) + self.damper * closing + stop;
        // The force is clamped to eight times the car's weight on Earth. The hardest landings stay
        // below this limit, but a numerical error could exceed the limit.
        force.clamp(0.0, 8.0 * self.mass * 9.81)
    }
}

/// The points of the car that come nearest to the ground while the car is roughly upright.
fn low_points(profile: &Profile) -> [DVec3; 8] {
    let (half, centre) =
        (DVec3::from_array(profile.body.size_m) * 0.5, DVec3::from_array(profile.body.centre_m));
    let radius = SOLID_WHEEL * profile.wheel_radius_m;
    std::array::from_fn(|i| {
        let [x, y] = profile.wheel_position(i % 4);
        if i < 4 {
            // The outer edge of the wheel is used, because this edge touches the ground first when
            // the car leans.
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

/// Side damping of a tyre divided by its load, s/m. The damping is 0.3 of the critical damping for
/// a quarter of the car's mass on the side spring of the tread.
fn tyre_damping(profile: &Profile, stiffness: f64, gravity: f64) -> f64 {
    let load = 0.25 * profile.mass_kg * gravity.max(0.1);
    let spring = stiffness * load / profile.tyre.relaxation_m;
    0.6 * (spring * 0.25 * profile.mass_kg).sqrt() / load
}
