//! Makes changed copies of a world and of a car.

use super::scatter::{models, standing};
use super::{Overlay, ScatteredObject, StartShift, start};
use chicane_world::scene::{BuiltInTexture, Instance, Look, Material, Owner, TextureSource, WorldScene};
use chicane_world::{Pose, Profile, World};

impl Overlay {
    /// The world with this overlay.
    pub fn world(&self, published: &World) -> World {
        let mut world = published.clone();
        if let Some(shift) = &self.start {
            let [x, y, yaw] = start::pose(published, 0.0, shift);
            world.spawn = Pose::from_xyz_yaw(x, y, published.spawn.position.z, yaw);
        }
        for moved in &self.moved {
            if let Some(object) = world.objects.iter_mut().find(|object| object.name == moved.name) {
                object.origin = moved.pose(&object.origin);
            }
        }
        if let Some(tint) = self.road_tint {
            tint_road(&mut world.scene, tint);
        }
        self.scattered.iter().for_each(|scattered| add(&mut world, scattered));
        world
    }

    /// The car with this overlay. A heavier car has the same motor and the same springs. A lighter
    /// car has the same motor but softer springs, because stiff springs under a light car are
    /// numerically unstable.
    pub fn profile(&self, published: &Profile) -> Profile {
        let mut profile = published.clone();
        profile.tyre.friction *= self.friction.unwrap_or(1.0);
        profile.lidar.noise_sd_m *= self.lidar_noise.unwrap_or(1.0);
        profile.camera.noise_sd *= self.camera_noise.unwrap_or(1.0);
        profile.imu.gyro_sd_radps *= self.imu_noise.unwrap_or(1.0);
        profile.imu.accelerometer_sd_mps2 *= self.imu_noise.unwrap_or(1.0);
        if let Some(factor) = self.mass {
            profile.mass_kg *= factor;
            profile.wheel_mass_kg = profile.wheel_mass_kg.min(profile.mass_kg / 8.0);
            profile.drive.max_acceleration_mps2 /= factor;
            let softer = factor.max(1.0).sqrt();
            profile.suspension.frequency_hz /= softer;
            profile.suspension.damping_ratio /= softer;
        }
        profile
    }

    /// The start pose that this overlay gives to a car that would otherwise start `behind` metres
    /// behind waypoint 0: x, y in metres and yaw in radians. `None` if the start is as published.
    pub fn start_pose(&self, published: &World, behind: f64) -> Option<[f64; 3]> {
        self.start.as_ref().map(|shift: &StartShift| start::pose(published, behind, shift))
    }
}

fn tint_road(scene: &mut WorldScene, tint: [f32; 3]) {
    let WorldScene { materials, textures, .. } = scene;
    let is_road = |material: &Material| {
        let texture = material.texture.and_then(|i| textures.get(i));
        texture.is_some_and(|t| matches!(t.source, TextureSource::BuiltIn(BuiltInTexture::Road)))
    };
    for material in materials.iter_mut().filter(|material| is_road(material)) {
        material.colour.iter_mut().zip(tint).for_each(|(channel, factor)| *channel *= factor);
    }
}

/// Adds an object with its look. `Look::Mesh` and textures are left out, because they are indices
/// into the scene of the models. The models need neither, because they use built-in meshes and
/// plain shapes.
fn add(world: &mut World, scattered: &ScatteredObject) {
    let (models, index) = (models(), scattered.kind.model());
    let mut object = models.objects[index].clone();
    object.origin = standing(&object, scattered.at, scattered.yaw, world.ground.z);
    object.name.clone_from(&scattered.name);
    let owner = Owner::Object(world.objects.len());
    let own = models.scene.instances.iter().filter(|instance| instance.owner == Owner::Object(index));
    for instance in own.filter(|instance| !matches!(instance.look, Look::Mesh(_))) {
        let material = instance.material.map(|i| {
            world.scene.materials.push(Material { texture: None, ..models.scene.materials[i].clone() });
            world.scene.materials.len() - 1
        });
        world.scene.instances.push(Instance { owner, material, ..instance.clone() });
    }
    world.objects.push(object);
}
