//! The parts of the car. Their dimensions come from the profile of the car.

use super::{Model, fittings, wheel};
use chicane_world::{Pose, Profile};
use glam::{DQuat, DVec3};

/// A rigid part of the car.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CarPart {
    /// Name of the part's node in glTF files.
    pub(crate) name: &'static str,
    /// The joint that moves the part.
    pub(crate) joint: Joint,
    /// Pose of the part in the frame of the joint.
    pub(crate) pose: Pose,
    /// Mesh, materials and textures of the part.
    pub(crate) model: Model,
}

/// A joint of the car. Each joint is the coordinate frame of the parts that move with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Joint {
    /// The frame of the car itself. Its parts do not move relative to the car.
    Body,
    /// The centre of a wheel: 0 front left, 1 front right, 2 rear left, 3 rear right. Wheels roll
    /// about the y axis, and the front wheels steer about z.
    Wheel(usize),
    /// The foot of the camera. It rotates about the z axis. The origin of the frame is the centre
    /// of the lens.
    Pan,
    /// The camera. It rotates about the y axis of [`Joint::Pan`]. The origin of the frame is the
    /// centre of the lens. The camera looks along x, and all its parts are behind the origin.
    Tilt,
}

/// Pose of the frame of a joint in the frame of the car. The origin of the car is at ground level
/// midway between the axles, and x points forward.
///
/// All angles are in radians. `steering` holds the angles of the left and the right front wheel.
/// `steering` and `pan` are positive to the left, and `tilt` is positive upwards. `wheel_angles`
/// grow when the car rolls forward.
pub(crate) fn joint_pose(
    profile: &Profile,
    joint: Joint,
    steering: [f64; 2],
    wheel_angles: [f64; 4],
    pan: f64,
    tilt: f64,
) -> Pose {
    match joint {
        Joint::Body => Pose::IDENTITY,
        Joint::Wheel(i) => {
            let [x, y] = profile.wheel_position(i);
            let spin = wheel_angles.get(i).copied().unwrap_or(0.0);
            let steer = steering.get(i).copied().unwrap_or(0.0);
            Pose::from_xyz_rpy([x, y, profile.wheel_radius_m], [0.0, spin, steer])
        }
        Joint::Pan => Pose::from_xyz_rpy(profile.camera.position_m, [0.0, 0.0, pan]),
        Joint::Tilt => Pose::from_xyz_rpy(profile.camera.position_m, [0.0, -tilt, pan]),
    }
}

/// All parts of the car.
pub(crate) fn car(profile: &Profile) -> Vec<CarPart> {
    let part = |name, joint, pose, model| CarPart { name, joint, pose, model };
    let lidar = Pose { position: DVec3::from_array(profile.lidar.position_m), ..Pose::IDENTITY };
    let mut parts = vec![
        part("body", Joint::Body, Pose::IDENTITY, fittings::body(profile)),
        part("lidar", Joint::Body, lidar, fittings::lidar()),
        part("camera_fork", Joint::Pan, Pose::IDENTITY, fittings::fork()),
        part("camera", Joint::Tilt, Pose::IDENTITY, fittings::head()),
    ];
    let names = ["wheel_front_left", "wheel_front_right", "wheel_rear_left", "wheel_rear_right"];
    let wheel = wheel::model(profile);
    for (i, name) in names.into_iter().enumerate() {
        // Rotate the right wheels by 180°, so that the rims face outwards on both sides.
        let half_turn = Pose { rotation: DQuat::from_xyzw(0.0, 0.0, 1.0, 0.0), ..Pose::IDENTITY };
        let pose = if i.is_multiple_of(2) { Pose::IDENTITY } else { half_turn };
        parts.push(part(name, Joint::Wheel(i), pose, wheel.clone()));
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use super::*;

    /// The position of every vertex in the frame of the car, with the camera at these angles. Each
    /// position comes with the name of its part.
    fn corners(profile: &Profile, pan: f64, tilt: f64) -> Vec<(&'static str, DVec3)> {
        let mut all = Vec::new();
        for part in car(profile) {
            let pose = joint_pose(profile, part.joint, [0.0; 2], [0.0; 4], pan, tilt).then(&part.pose);
            let points = part.model.mesh.positions.iter().map(|p| DVec3::from_array(p.map(f64::from)));
            all.extend(points.map(|p| (part.name, pose.point(p))));
        }
        all
    }

    #[test]
    fn the_meshes_of_all_parts_are_valid() {
        for part in car(&Profile::gen1()) {
            check::mesh(&part.model.mesh, part.model.materials.len());
            assert!(check::volume(&part.model.mesh) > 0.0, "{}", part.name);
        }
    }

    #[test]
    fn the_car_has_the_size_of_its_profile() {
        let p = Profile::gen1();
        let all = corners(&p, 0.0, 0.0);
        let fold = |f: fn(DVec3, DVec3) -> DVec3, from: f64| {
            all.iter().fold(DVec3::splat(from), |a, (_, p)| f(a, *p))
        };
        let (low, high) = (fold(DVec3::min, 9.0), fold(DVec3::max, -9.0));
        assert!((high.x - 0.135).abs() < 0.001 && (low.x + 0.135).abs() < 0.001, "{low} {high}");
        assert!((high.y - 0.098).abs() < 0.003 && (low.y + high.y).abs() < 1e-6, "{low} {high}");
        assert!((0.0..0.001).contains(&low.z) && (0.18..0.21).contains(&high.z), "{low} {high}");
        let triangles: usize =
            car(&p).iter().flat_map(|p| &p.model.mesh.groups).map(|g| g.indices.len() / 3).sum();
        assert!(triangles < 9000, "{triangles}");
    }

    #[test]
    fn the_camera_sees_the_car_only_at_the_lower_edge() {
        let p = Profile::gen1();
        let lens = DVec3::from_array(p.camera.position_m);
        let across = libm::tan(0.5 * p.camera.horizontal_fov_rad);
        let down = across * f64::from(p.camera.height_px) / f64::from(p.camera.width_px);
        for (name, corner) in corners(&p, 0.0, 0.0) {
            let d = corner - lens;
            if d.x <= 0.0 || d.y.abs() > 1.1 * across * d.x {
                continue;
            }
            // Height of the corner in the picture: 0 at the lower edge, 1 at the upper edge.
            let height = 0.5 + 0.5 * d.z / (down * d.x);
            assert!(height < 0.08, "{name} at {corner}: {height}");
        }
    }

    #[test]
    fn no_part_of_the_camera_is_in_front_of_the_lens() {
        for part in car(&Profile::gen1()).iter().filter(|p| p.joint == Joint::Tilt) {
            assert!(part.model.mesh.positions.iter().all(|p| p[0] < 0.0));
        }
    }

    #[test]
    fn unusual_profiles_give_finite_meshes() {
        let mut p = Profile::gen1();
        for (size, z, wheelbase) in
            [([0.5, 0.3, 0.05], 0.1, 0.3), ([0.1, 0.05, 0.3], 0.2, 0.4), ([2.0, 1.0, 1.0], 0.9, 0.2)]
        {
            (p.body.size_m, p.body.centre_m, p.wheelbase_m) = (size, [0.02, 0.0, z], wheelbase);
            for part in car(&p) {
                assert!(part.model.mesh.positions.iter().flatten().all(|v| v.is_finite()));
                assert!(part.model.mesh.normals.iter().flatten().all(|v| v.is_finite()));
            }
        }
    }

    #[test]
    fn joints_rotate_in_the_documented_direction() {
        let p = Profile::gen1();
        let pose = |joint| joint_pose(&p, joint, [0.1, 0.2], [0.3; 4], 0.4, 0.5);
        assert!((pose(Joint::Wheel(0)).rotation * DVec3::Y).x < 0.0, "steers left");
        assert!((pose(Joint::Wheel(2)).rotation * DVec3::Z).x > 0.0, "rolls ahead");
        assert!((pose(Joint::Pan).rotation * DVec3::X).y > 0.0, "looks left");
        let look = pose(Joint::Tilt).rotation * DVec3::X;
        assert!(look.z > 0.4 && look.y > 0.0, "looks up");
        assert_eq!(pose(Joint::Tilt).position.to_array(), p.camera.position_m);
    }
}
