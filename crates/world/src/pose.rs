//! Poses of rigid bodies. Angles are in radians. The trigonometric functions come from `libm`, so
//! that every machine computes the same bits.

use glam::{DMat3, DQuat, DVec3};
use serde::{Deserialize, Serialize};

/// Position and orientation of a frame relative to its parent frame.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Pose {
    /// Origin of the frame, in metres.
    pub position: DVec3,
    /// Orientation of the frame, a unit quaternion.
    pub rotation: DQuat,
}

impl Default for Pose {
    fn default() -> Self {
        Pose::IDENTITY
    }
}

impl Pose {
    /// The pose of a frame that coincides with its parent frame.
    pub const IDENTITY: Pose = Pose { position: DVec3::ZERO, rotation: DQuat::IDENTITY };

    /// Creates a pose from a position and three rotations: about the fixed x axis, then y, then z.
    pub fn from_xyz_rpy(xyz: [f64; 3], rpy: [f64; 3]) -> Pose {
        Pose { position: DVec3::from_array(xyz), rotation: quat_from_rpy(rpy) }
    }

    /// Creates a pose from a position and a rotation about z.
    pub fn from_xyz_yaw(x: f64, y: f64, z: f64, yaw: f64) -> Pose {
        Pose { position: DVec3::new(x, y, z), rotation: quat_from_yaw(yaw) }
    }

    /// Composes two poses. `child` is relative to this frame. The result is relative to the parent
    /// of this frame.
    pub fn then(&self, child: &Pose) -> Pose {
        Pose {
            position: self.position + self.rotation * child.position,
            rotation: (self.rotation * child.rotation).normalize(),
        }
    }

    /// The pose of the parent frame relative to this frame.
    pub fn inverse(&self) -> Pose {
        let rotation = self.rotation.conjugate();
        Pose { position: rotation * -self.position, rotation }
    }

    /// Transforms a point from this frame to the parent frame.
    pub fn point(&self, p: DVec3) -> DVec3 {
        self.position + self.rotation * p
    }

    /// Roll, pitch and yaw, in radians.
    pub fn rpy(&self) -> [f64; 3] {
        rpy_from_quat(self.rotation)
    }

    /// Yaw in radians, from −π to π.
    pub fn yaw(&self) -> f64 {
        self.rpy()[2]
    }

    /// Whether every number is finite.
    pub fn is_finite(&self) -> bool {
        self.position.is_finite() && self.rotation.is_finite()
    }
}

/// The rotation by `yaw` about z.
fn quat_from_yaw(yaw: f64) -> DQuat {
    DQuat::from_xyzw(0.0, 0.0, libm::sin(yaw * 0.5), libm::cos(yaw * 0.5))
}

/// The rotation by roll, pitch and yaw about the fixed axes x, then y, then z.
pub(crate) fn quat_from_rpy([roll, pitch, yaw]: [f64; 3]) -> DQuat {
    let (sr, cr) = (libm::sin(roll * 0.5), libm::cos(roll * 0.5));
    let (sp, cp) = (libm::sin(pitch * 0.5), libm::cos(pitch * 0.5));
    let (sy, cy) = (libm::sin(yaw * 0.5), libm::cos(yaw * 0.5));
    DQuat::from_xyzw(
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
        cr * cp * cy + sr * sp * sy,
    )
}

/// Roll, pitch and yaw of a rotation. At a pitch of ±π/2, roll and yaw are ambiguous. In this case,
/// roll is set to 0.
pub(crate) fn rpy_from_quat(q: DQuat) -> [f64; 3] {
    let m = DMat3::from_quat(q);
    let sin_pitch = -m.x_axis.z;
    if sin_pitch.abs() > 1.0 - 1e-12 {
        let yaw = libm::atan2(-m.y_axis.x, m.y_axis.y);
        return [0.0, std::f64::consts::FRAC_PI_2.copysign(sin_pitch), yaw];
    }
    [libm::atan2(m.y_axis.z, m.z_axis.z), libm::asin(sin_pitch), libm::atan2(m.x_axis.y, m.x_axis.x)]
}

/// Wraps an angle into the range from −π to π.
pub fn wrap_angle(a: f64) -> f64 {
    use std::f64::consts::{PI, TAU};
    (a + PI).rem_euclid(TAU) - PI
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rpy_survives_a_round_trip_through_a_quaternion(r in -3.1..3.1f64, p in -1.5..1.5f64, y in -3.1..3.1f64) {
            let got = rpy_from_quat(quat_from_rpy([r, p, y]));
            prop_assert!((got[0] - r).abs() < 1e-9 && (got[1] - p).abs() < 1e-9 && (got[2] - y).abs() < 1e-9, "{got:?}");
        }

        #[test]
        fn a_pose_times_its_inverse_is_the_identity(x in -9.0..9.0f64, r in -3.0..3.0f64, y in -3.0..3.0f64) {
            let p = Pose::from_xyz_rpy([x, 2.0, -x], [r, 0.3, y]);
            let id = p.then(&p.inverse());
            prop_assert!(id.position.length() < 1e-12 && id.rotation.angle_between(DQuat::IDENTITY) < 1e-7);
        }
    }

    #[test]
    fn rpy_at_the_gimbal_pole_gives_the_same_rotation() {
        let q = quat_from_rpy([0.4, std::f64::consts::FRAC_PI_2, 1.0]);
        let back = quat_from_rpy(rpy_from_quat(q));
        assert!(q.dot(back).abs() > 1.0 - 1e-9);
    }

    #[test]
    fn wrap_angle_gives_minus_pi_to_pi() {
        use std::f64::consts::PI;
        assert!((wrap_angle(3.0 * PI / 2.0) + PI / 2.0).abs() < 1e-12);
        assert!(wrap_angle(PI).abs() <= PI && wrap_angle(-PI).abs() <= PI);
    }
}
