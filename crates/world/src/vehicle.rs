//! The vehicle profile: all parameters of a vehicle generation, from `vehicles/<generation>.json`.

use crate::error::{Error, SourceLocation};
use serde::{Deserialize, Serialize};

/// The profile of the generation `gen1` as JSON text, embedded in the binary.
const GEN1: &str = include_str!("../../../vehicles/gen1.json");

/// Maximum number of aliases of a car.
const MAX_ALIASES: usize = 32;

/// All parameters of a vehicle generation. Positions are relative to the car's origin, which is on
/// the ground midway between the axles. The x axis points forwards, y to the left and z up.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct Profile {
    /// Name of the generation, such as `gen1`.
    pub generation: String,
    /// Other names of the same car. An evaluation that requires one of these names can be judged
    /// with this car.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// Display name.
    pub model_name: String,
    /// Distance between the axles.
    pub wheelbase_m: f64,
    /// Distance between left and right wheels.
    pub track_m: f64,
    /// Radius of a wheel.
    pub wheel_radius_m: f64,
    /// Width of a wheel.
    pub wheel_width_m: f64,
    /// Mass of one wheel. This mass is part of `mass_kg`. The moment of inertia of the wheel is
    /// computed from this mass.
    pub wheel_mass_kg: f64,
    /// Mass of the whole car, including its wheels.
    pub mass_kg: f64,
    /// Position of the centre of mass.
    pub centre_of_mass_m: [f64; 3],
    /// Box that approximates the car body.
    pub body: BodyBox,
    /// Limits of motor and steering servo.
    pub drive: DriveLimits,
    /// Tyres.
    pub tyre: Tyre,
    /// Suspension.
    pub suspension: Suspension,
    /// Camera.
    pub camera: Camera,
    /// Lidar.
    pub lidar: Lidar,
    /// Inertial measurement unit.
    pub imu: Imu,
    /// Battery.
    pub battery: Battery,
}

/// Box that approximates the car body.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct BodyBox {
    /// Full edge lengths.
    pub size_m: [f64; 3],
    /// Position of the centre of the box.
    pub centre_m: [f64; 3],
}

/// Limits of motor and steering servo.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct DriveLimits {
    /// Maximum speed, both forwards and backwards.
    pub max_speed_mps: f64,
    /// Maximum acceleration and deceleration.
    pub max_acceleration_mps2: f64,
    /// Maximum steering angle of the virtual centre wheel, both to the left and to the right.
    pub max_steering_rad: f64,
    /// Maximum angular speed of the steering servo.
    pub steering_rate_radps: f64,
    /// Maximum yaw rate that the car's controller steers for, rad/s. No limit if omitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub yaw_rate_max: Option<f64>,
    /// Maximum rate of change of the yaw rate that the car's controller steers for, rad/s². No
    /// limit if omitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub yaw_acceleration_max: Option<f64>,
}

/// Tyres.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct Tyre {
    /// Friction coefficient: the maximum tyre force divided by the load.
    pub friction: f64,
    /// Side force divided by load and by slip angle, for small slip angles. The first value is for
    /// the front tyres, the second for the rear tyres. If the first value is lower, the car
    /// understeers.
    pub cornering_stiffness_per_rad: [f64; 2],
    /// Drive force divided by load and by slip ratio, for small slip ratios.
    pub slip_stiffness: f64,
    /// Relaxation length: the distance that a tyre rolls while its side force builds up.
    pub relaxation_m: f64,
}

/// Suspension.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct Suspension {
    /// Natural frequency of the car's vertical oscillation.
    pub frequency_hz: f64,
    /// Damping, as a fraction of the critical damping.
    pub damping_ratio: f64,
    /// Maximum distance of a wheel below its rest position.
    pub travel_m: f64,
}

/// Camera.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct Camera {
    /// Width of the picture.
    pub width_px: u32,
    /// Height of the picture.
    pub height_px: u32,
    /// Frames per simulated second.
    pub rate_hz: u32,
    /// Horizontal field of view.
    pub horizontal_fov_rad: f64,
    /// Position of the camera.
    pub position_m: [f64; 3],
    /// Maximum pan angle, both to the left and to the right.
    pub max_pan_rad: f64,
    /// Maximum tilt angle, both up and down.
    pub max_tilt_rad: f64,
    /// Standard deviation of the pixel noise, as a fraction of the largest pixel value.
    pub noise_sd: f64,
    /// Coefficient of the second-order radial distortion.
    pub distortion_k1: f64,
    /// Coefficient of the fourth-order radial distortion.
    pub distortion_k2: f64,
}

/// Lidar.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct Lidar {
    /// Number of beams in the full circle.
    pub beams: u32,
    /// Scans per simulated second.
    pub rate_hz: u32,
    /// Minimum range.
    pub range_min_m: f64,
    /// Maximum range.
    pub range_max_m: f64,
    /// Standard deviation of the range noise.
    pub noise_sd_m: f64,
    /// Position of the lidar.
    pub position_m: [f64; 3],
}

/// Inertial measurement unit.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct Imu {
    /// Samples per simulated second.
    pub rate_hz: u32,
    /// Standard deviation of the gyro noise.
    pub gyro_sd_radps: f64,
    /// Standard deviation of the accelerometer noise.
    pub accelerometer_sd_mps2: f64,
    /// Position of the inertial measurement unit.
    pub position_m: [f64; 3],
}

/// Battery. Its state does not change during a simulation.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct Battery {
    /// Voltage.
    pub voltage_v: f64,
    /// Charge in percent.
    pub percentage: f64,
    /// Current, which is negative while the battery discharges.
    pub current_a: f64,
    /// Samples per simulated second.
    pub rate_hz: u32,
}

impl Profile {
    /// The built-in profile of the generation `gen1`.
    #[allow(clippy::expect_used, clippy::missing_panics_doc)]
    pub fn gen1() -> Profile {
        Profile::from_json("vehicles/gen1.json", GEN1.as_bytes()).expect("the built-in profile is valid")
    }

    /// Reads a profile and checks the range of every number.
    pub fn from_json(file: &str, bytes: &[u8]) -> Result<Profile, Error> {
        if bytes.len() > 64 << 10 {
            return Err(Error::file(file, "the profile is larger than 64 KiB"));
        }
        let profile: Profile = serde_json::from_slice(bytes)
            .map_err(|e| Error::at(SourceLocation::of_json(file, &e), e.to_string()))?;
        profile.check().map_err(|message| Error::file(file, message))?;
        Ok(profile)
    }

    /// Whether `name` is the generation of this car or one of its aliases.
    pub fn is_named(&self, name: &str) -> bool {
        self.generation == name || self.aliases.iter().any(|alias| alias == name)
    }

    /// The x and y of the point where wheel `i` touches the ground at rest. The order of the wheels
    /// is front left, front right, rear left, rear right.
    pub fn wheel_position(&self, i: usize) -> [f64; 2] {
        let x = if i < 2 { 0.5 } else { -0.5 } * self.wheelbase_m;
        let y = if i.is_multiple_of(2) { 0.5 } else { -0.5 } * self.track_m;
        [x, y]
    }

    /// Moments of inertia about the x, y and z axes through the centre of mass. The computation
    /// approximates the car by a solid box and four point masses at the wheels.
    pub fn inertia_kgm2(&self) -> [f64; 3] {
        let wheels = 4.0 * self.wheel_mass_kg;
        let mass = self.mass_kg - wheels;
        let [x, y, z] = self.body.size_m.map(|v| v * v / 12.0);
        let square = |a: f64, b: f64| (a - b) * (a - b);
        let off: [f64; 3] = std::array::from_fn(|i| square(self.body.centre_m[i], self.centre_of_mass_m[i]));
        let (half_base, half_track) = (0.5 * self.wheelbase_m, 0.5 * self.track_m);
        let (bb, tt) = (half_base * half_base, half_track * half_track);
        let dd = square(self.wheel_radius_m, self.centre_of_mass_m[2]);
        [
            mass * (y + z + off[1] + off[2]) + wheels * (tt + dd),
            mass * (x + z + off[0] + off[2]) + wheels * (bb + dd),
            mass * (x + y + off[0] + off[1]) + wheels * (bb + tt),
        ]
    }

    fn check(&self) -> Result<(), String> {
        if !is_name(&self.generation) {
            return Err("generation must be a name of letters, digits and _".to_owned());
        }
        if self.aliases.len() > MAX_ALIASES || !self.aliases.iter().all(|alias| is_name(alias)) {
            return Err(format!("aliases must be at most {MAX_ALIASES} names of letters, digits and _"));
        }
        self.check_chassis()?;
        self.check_sensors()?;
        self.check_steering()?;
        self.check_stiffness()
    }

    fn check_chassis(&self) -> Result<(), String> {
        within("wheelbase_m", self.wheelbase_m, 0.02, 2.0)?;
        within("track_m", self.track_m, 0.02, 2.0)?;
        within("wheel_radius_m", self.wheel_radius_m, 0.005, 0.5)?;
        within("wheel_width_m", self.wheel_width_m, 0.001, 0.5)?;
        within("mass_kg", self.mass_kg, 0.1, 200.0)?;
        within("wheel_mass_kg", self.wheel_mass_kg, 1e-4, self.mass_kg / 8.0)?;
        point("centre_of_mass_m", self.centre_of_mass_m)?;
        within("centre_of_mass_m[2]", self.centre_of_mass_m[2], 0.001, 2.0)?;
        within("centre_of_mass_m[1]", self.centre_of_mass_m[1], -0.3 * self.track_m, 0.3 * self.track_m)?;
        within(
            "centre_of_mass_m[0]",
            self.centre_of_mass_m[0],
            -0.45 * self.wheelbase_m,
            0.45 * self.wheelbase_m,
        )?;
        self.body.size_m.iter().try_for_each(|&v| within("body.size_m", v, 0.01, 3.0))?;
        point("body.centre_m", self.body.centre_m)?;
        within("drive.max_speed_mps", self.drive.max_speed_mps, 0.1, 20.0)?;
        within("drive.max_acceleration_mps2", self.drive.max_acceleration_mps2, 0.1, 100.0)?;
        within("drive.max_steering_rad", self.drive.max_steering_rad, 0.01, 1.2)?;
        within("drive.steering_rate_radps", self.drive.steering_rate_radps, 0.1, 100.0)?;
        within("drive.yaw_rate_max", self.drive.yaw_rate_max.unwrap_or(1.0), 0.1, 100.0)?;
        within("drive.yaw_acceleration_max", self.drive.yaw_acceleration_max.unwrap_or(1.0), 0.1, 1000.0)?;
        within("tyre.friction", self.tyre.friction, 0.05, 3.0)?;
        for stiffness in self.tyre.cornering_stiffness_per_rad {
            within("tyre.cornering_stiffness_per_rad", stiffness, 1.0, 50.0)?;
        }
        within("tyre.relaxation_m", self.tyre.relaxation_m, 0.01, 0.5)?;
        within("tyre.slip_stiffness", self.tyre.slip_stiffness, 1.0, 200.0)?;
        within("suspension.frequency_hz", self.suspension.frequency_hz, 0.5, 12.0)?;
        within("suspension.damping_ratio", self.suspension.damping_ratio, 0.05, 2.0)?;
        within("suspension.travel_m", self.suspension.travel_m, 0.001, 0.5)
    }

    fn check_sensors(&self) -> Result<(), String> {
        within("camera.width_px", f64::from(self.camera.width_px), 16.0, 1920.0)?;
        within("camera.height_px", f64::from(self.camera.height_px), 16.0, 1080.0)?;
        within("camera.rate_hz", f64::from(self.camera.rate_hz), 1.0, 200.0)?;
        within("camera.horizontal_fov_rad", self.camera.horizontal_fov_rad, 0.1, 2.6)?;
        point("camera.position_m", self.camera.position_m)?;
        within("camera.max_pan_rad", self.camera.max_pan_rad, 0.0, 1.6)?;
        within("camera.max_tilt_rad", self.camera.max_tilt_rad, 0.0, 1.6)?;
        within("camera.noise_sd", self.camera.noise_sd, 0.0, 0.5)?;
        within("camera.distortion_k1", self.camera.distortion_k1, -0.5, 0.5)?;
        within("camera.distortion_k2", self.camera.distortion_k2, -0.5, 0.5)?;
        within("lidar.beams", f64::from(self.lidar.beams), 1.0, 7200.0)?;
        within("lidar.rate_hz", f64::from(self.lidar.rate_hz), 1.0, 200.0)?;
        within("lidar.range_min_m", self.lidar.range_min_m, 0.0, 10.0)?;
        within("lidar.range_max_m", self.lidar.range_max_m, self.lidar.range_min_m + 0.1, 200.0)?;
        within("lidar.noise_sd_m", self.lidar.noise_sd_m, 0.0, 1.0)?;
        point("lidar.position_m", self.lidar.position_m)?;
        within("imu.rate_hz", f64::from(self.imu.rate_hz), 1.0, 200.0)?;
        within("imu.gyro_sd_radps", self.imu.gyro_sd_radps, 0.0, 1.0)?;
        within("imu.accelerometer_sd_mps2", self.imu.accelerometer_sd_mps2, 0.0, 10.0)?;
        point("imu.position_m", self.imu.position_m)?;
        within("battery.voltage_v", self.battery.voltage_v, 0.0, 100.0)?;
        within("battery.percentage", self.battery.percentage, 0.0, 100.0)?;
        within("battery.current_a", self.battery.current_a, -100.0, 100.0)?;
        within("battery.rate_hz", f64::from(self.battery.rate_hz), 1.0, 200.0)
    }

    /// Checks that the steering angle is not too large. With Ackermann steering, the wheel on the
    /// inside of a curve turns further than the virtual centre wheel. The angle of the inside wheel
    /// must stay below 90°.
    fn check_steering(&self) -> Result<(), String> {
        let max = libm::atan(1.8 * self.wheelbase_m / self.track_m);
        if self.drive.max_steering_rad <= max {
            return Ok(());
        }
        Err(format!("drive.max_steering_rad must be at most {max:.3} with this wheelbase and track"))
    }

    /// Checks that springs, dampers and tyres are not too stiff for the car's mass and size.
    /// Stiffer values would be numerically unstable at the simulator's 400 sub-steps per second.
    fn check_stiffness(&self) -> Result<(), String> {
        const SUBSTEP_S: f64 = 0.0025;
        let omega = std::f64::consts::TAU * self.suspension.frequency_hz;
        let (half_base, half_track) = (0.5 * self.wheelbase_m, 0.5 * self.track_m);
        let [roll, pitch, yaw] = self.inertia_kgm2();
        // The car's mass divided by the effective mass that a force at a wheel accelerates. The
        // force turns the car, so the effective mass is the moment of inertia divided by the square
        // of the lever arm.
        let mass_ratio = |arm: f64, inertia: f64| self.mass_kg * arm * arm / inertia;
        let vertical = 1f64.max(mass_ratio(half_track, roll)).max(mass_ratio(half_base, pitch));
        let lateral = 1f64.max(mass_ratio(half_base, yaw));
        let (spring, damper) = (omega * SUBSTEP_S, 2.0 * self.suspension.damping_ratio * omega * SUBSTEP_S);
        if vertical * spring * spring > 0.5 || vertical * damper > 1.2 {
            return Err(
                "suspension.frequency_hz or damping_ratio is too high for this mass and size".to_owned()
            );
        }
        let stiffest = self.tyre.cornering_stiffness_per_rad.into_iter().fold(0.0, f64::max);
        let side_spring = stiffest * 9.81 / self.tyre.relaxation_m * SUBSTEP_S * SUBSTEP_S;
        if lateral * side_spring > 0.5 {
            return Err("tyre.cornering_stiffness_per_rad is too high for this relaxation_m, mass and size"
                .to_owned());
        }
        Ok(())
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.len() <= 100 && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

fn within(name: &str, value: f64, low: f64, high: f64) -> Result<(), String> {
    if value >= low && value <= high {
        Ok(())
    } else {
        Err(format!("{name} must be a number from {low} to {high}, not {value}"))
    }
}

/// Checks a position on the car. Every coordinate must be between −2 m and 2 m.
fn point(name: &str, p: [f64; 3]) -> Result<(), String> {
    p.iter().try_for_each(|&v| within(name, v, -2.0, 2.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_profile_is_valid() {
        let p = Profile::gen1();
        assert_eq!(p.generation, "gen1");
        assert_eq!(p.wheel_position(0), [0.09, 0.08]);
        assert_eq!(p.wheel_position(3), [-0.09, -0.08]);
    }

    #[test]
    fn a_number_out_of_range_is_named_in_the_error() {
        let text = GEN1.replace("\"wheelbase_m\": 0.18", "\"wheelbase_m\": -1");
        let error = Profile::from_json("x.json", text.as_bytes()).expect_err("refused");
        assert_eq!(error.to_string(), "x.json: wheelbase_m must be a number from 0.02 to 2, not -1");
    }

    #[test]
    fn a_car_can_have_other_names() {
        let with = |aliases: &str| {
            let text = GEN1.replace("\"model_name\"", &format!("\"aliases\": {aliases}, \"model_name\""));
            Profile::from_json("x.json", text.as_bytes())
        };
        let profile = with("[\"racer\", \"gen_one\"]").expect("valid");
        assert!(profile.is_named("gen1") && profile.is_named("racer") && !profile.is_named("Racer"));
        assert!(!Profile::gen1().is_named("racer"));
        for bad in ["[\"\"]", "[\"a b\"]", &format!("[{}\"a\"]", "\"a\",".repeat(32))] {
            let error = with(bad).expect_err("refused").message;
            assert_eq!(error, "aliases must be at most 32 names of letters, digits and _", "{bad}");
        }
    }

    #[test]
    fn limits_of_the_yaw_rate_are_optional_and_checked() {
        let with = |rate: &str| GEN1.replace("\"yaw_rate_max\": 3.0", rate);
        let without = GEN1
            .replace(",\n    \"yaw_rate_max\": 3.0", "")
            .replace(",\n    \"yaw_acceleration_max\": 10.0", "");
        let profile = Profile::from_json("x.json", without.as_bytes()).expect("valid");
        assert_eq!((profile.drive.yaw_rate_max, profile.drive.yaw_acceleration_max), (None, None));
        let written = serde_json::to_string(&profile).expect("json");
        assert!(!written.contains("yaw"), "a profile without the limits keeps its bytes");
        let error =
            Profile::from_json("x.json", with("\"yaw_rate_max\": 0").as_bytes()).expect_err("refused");
        assert_eq!(error.message, "drive.yaw_rate_max must be a number from 0.1 to 100, not 0");
    }

    #[test]
    fn too_stiff_suspensions_and_too_large_steering_angles_are_refused() {
        let refused = |from: &str, to: &str| {
            assert!(GEN1.contains(from), "{from}");
            Profile::from_json("x.json", GEN1.replace(from, to).as_bytes()).expect_err("refused").message
        };
        let stiff = "suspension.frequency_hz or damping_ratio is too high for this mass and size";
        let soft = "\"frequency_hz\": 7.0, \"damping_ratio\": 0.7";
        assert_eq!(refused(soft, "\"frequency_hz\": 12.0, \"damping_ratio\": 2.0"), stiff);
        assert_eq!(refused("\"track_m\": 0.16", "\"track_m\": 0.6"), stiff);
        let steering = refused("\"max_steering_rad\": 0.3491", "\"max_steering_rad\": 1.2");
        assert_eq!(steering, "drive.max_steering_rad must be at most 1.112 with this wheelbase and track");
    }

    #[test]
    fn json_errors_have_a_line_and_column() {
        let error = Profile::from_json("x.json", b"{\n \"generation\": \"a\"\n}").expect_err("refused");
        assert!(error.to_string().starts_with("x.json:3:1: missing field `model_name`"), "{error}");
        let error = Profile::from_json("x.json", b"{\n").expect_err("refused");
        assert!(error.to_string().starts_with("x.json:2:1: EOF"), "{error}");
    }
}
