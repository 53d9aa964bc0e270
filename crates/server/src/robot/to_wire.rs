//! Converts readings of the robot's stack to wire types.

use bytes::Bytes;
use chicane_robot::{Battery, Drive, Imu, Joints, Odom};
use chicane_wire as wire;
use chicane_wire::Num;
use serde::Serialize;

/// Serialises a value as JSON.
pub(super) fn json<T: Serialize>(value: &T) -> Bytes {
    // Serialising can't fail, because wire types contain only numbers, texts and maps with text
    // keys.
    Bytes::from(serde_json::to_vec(value).unwrap_or_default())
}

pub(super) fn odom(odom: &Odom) -> wire::Odometry {
    let (sin, cos) = libm::sincos(odom.yaw / 2.0);
    let quaternion = wire::Quaternion { z: Num(sin), w: Num(cos), ..wire::Quaternion::NONE };
    wire::Odometry {
        position: wire::Xyz { x: Num(odom.x), y: Num(odom.y), z: Num(0.0) },
        orientation: wire::Heading { yaw: Num(odom.yaw.to_degrees()), quaternion },
        velocity: wire::Velocity { linear: Num(odom.forward), angular: Num(odom.turning) },
        frame_id: "odom",
    }
}

pub(super) fn imu(imu: &Imu) -> wire::Inertial {
    wire::Inertial {
        acceleration: chicane_host::view::xyz(imu.acceleration),
        gyro: chicane_host::view::xyz(imu.angular_velocity),
        orientation: wire::Quaternion {
            x: Num(imu.orientation.x),
            y: Num(imu.orientation.y),
            z: Num(imu.orientation.z),
            w: Num(imu.orientation.w),
        },
    }
}

pub(super) fn battery(battery: &Battery) -> wire::Battery {
    wire::Battery {
        voltage: Num(battery.voltage),
        percentage: Num(battery.percentage),
        current: Num(battery.current),
        charging: false,
        present: true,
    }
}

pub(super) fn joints(joints: &Joints) -> wire::JointAngles {
    wire::JointAngles {
        wheel_angles: joints.wheel_angles.map(Num),
        wheel_spins: joints.wheel_spins.map(Num),
        front_wheels: joints.front_wheels.map(Num),
        steering: Num(joints.steering),
        pan: Num(joints.pan),
        tilt: Num(joints.tilt),
    }
}

pub(super) fn command(drive: &Drive) -> wire::DriveCommand {
    wire::DriveCommand {
        speed: Num(drive.speed),
        steering: Num(drive.steering),
        pan: Num(drive.pan),
        tilt: Num(drive.tilt),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_has_degrees_and_a_quaternion() {
        let json = odom(&Odom { yaw: std::f64::consts::FRAC_PI_2, forward: 1.0, ..Odom::default() });
        let json = serde_json::to_value(json).expect("json");
        assert_eq!(json["orientation"]["yaw"], 90.0);
        let half = (json["orientation"]["quaternion"]["z"].as_f64()).expect("a number");
        assert!((half - std::f64::consts::FRAC_1_SQRT_2).abs() < 1e-6);
        assert_eq!(json["velocity"]["linear"], 1.0);
    }
}
