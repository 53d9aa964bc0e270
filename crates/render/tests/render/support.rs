//! Builds small scenes in code. The objects of these scenes emit their colour, so that lighting
//! does not change the colour.

use chicane_render::{Camera, CarMoment, Moment, Optics, Renderer, Rgb, Stage};
use chicane_testkit::Yard;
use chicane_world::scene::{Group, Instance, Look, Material, Mesh, Owner, Role, Texture, TextureSource};
use chicane_world::world::{ObjectKind, Shape};
use chicane_world::{Pose, Profile, World};
use glam::DVec3;
use std::io::Cursor;
use std::sync::Arc;

/// A world to which tests add instances.
pub struct TestScene {
    /// The world. It has neither ambient light nor a sun.
    pub world: World,
}

impl TestScene {
    pub fn new() -> TestScene {
        let mut world = Arc::unwrap_or_clone(Yard::new().build());
        world.scene.ambient = [0.0; 3];
        world.scene.sun.colour = [0.0; 3];
        TestScene { world }
    }

    /// Adds a material that emits this display colour, 0..1.
    pub fn emissive(&mut self, colour: [f32; 3]) -> usize {
        let material = Material { colour: [0.0, 0.0, 0.0, 1.0], emissive: colour, texture: None };
        self.material(material)
    }

    /// Adds a material that emits the colours of a picture file.
    pub fn textured(&mut self, bytes: Vec<u8>) -> usize {
        let source = TextureSource::File { bytes: bytes.into(), width: 1, height: 1 };
        self.world.scene.textures.push(Texture { path: "a.png".to_owned(), source });
        let texture = Some(self.world.scene.textures.len() - 1);
        self.material(Material { colour: [0.0, 0.0, 0.0, 1.0], emissive: [1.0; 3], texture })
    }

    pub fn material(&mut self, material: Material) -> usize {
        self.world.scene.materials.push(material);
        self.world.scene.materials.len() - 1
    }

    pub fn mesh(&mut self, mesh: Mesh) -> Look {
        self.world.scene.meshes.push(Arc::new(mesh));
        Look::Mesh(self.world.scene.meshes.len() - 1)
    }

    /// Adds an instance and returns it, so that the caller can change its other fields.
    pub fn add(&mut self, owner: Owner, look: Look, pose: Pose, material: Option<usize>) -> &mut Instance {
        self.world.scene.instances.push(Instance {
            owner,
            name: "thing".to_owned(),
            role: Role::Plain,
            pose,
            scale: [1.0; 3],
            look,
            material,
            opacity: 1.0,
        });
        self.world.scene.instances.last_mut().unwrap()
    }

    /// Adds a box to the world's objects, and returns the index of the box.
    pub fn block(&mut self, at: [f64; 3], size: f64, material: usize) -> usize {
        let (pose, half) = (Pose::from_xyz_yaw(at[0], at[1], at[2], 0.0), DVec3::splat(0.5 * size));
        let yard = Yard::new().object("block", ObjectKind::Box, pose, Shape::Box(half), Some(1.0)).build();
        self.world.objects.extend(yard.objects.iter().cloned());
        let index = self.world.objects.len() - 1;
        self.add(Owner::Object(index), Look::Box([size; 3]), Pose::IDENTITY, Some(material));
        index
    }

    pub fn renderer(&self) -> Renderer {
        renderer(&self.world)
    }

    /// A moment with all objects at their initial poses, and the car far outside of the pictures.
    pub fn moment(&self) -> Moment {
        Moment { car: CarMoment { pose: at(-900.0, 0.0, 0.0), ..CarMoment::default() }, ..start(&self.world) }
    }
}

pub fn renderer(world: &World) -> Renderer {
    Renderer::new(Arc::new(Stage::new(world, Arc::new(Profile::gen1()))))
}

/// The initial state of a world.
pub fn start(world: &World) -> Moment {
    let car = CarMoment { pose: world.spawn, ..CarMoment::default() };
    Moment { car, objects: world.objects.iter().map(|o| o.origin).collect(), lamps: Vec::new() }
}

/// A pose without rotation.
pub fn at(x: f64, y: f64, z: f64) -> Pose {
    Pose::from_xyz_yaw(x, y, z, 0.0)
}

/// A camera at `from` that looks at `to`.
pub fn camera_looking_at(from: [f64; 3], to: [f64; 3], optics: Optics) -> Camera {
    let d = DVec3::from_array(to) - DVec3::from_array(from);
    let pitch = -libm::atan2(d.z, libm::hypot(d.x, d.y));
    Camera { pose: Pose::from_xyz_rpy(from, [0.0, pitch, libm::atan2(d.y, d.x)]), optics }
}

/// The pixel position of a world point.
pub fn project(camera: &Camera, point: [f64; 3]) -> [f64; 2] {
    let local = camera.pose.inverse().point(DVec3::from_array(point));
    camera.optics.project(local.to_array()).expect("in front of the camera")
}

pub fn pixel(picture: &Rgb, x: usize, y: usize) -> [u8; 3] {
    let i = 3 * (y * picture.width + x);
    [picture.bytes[i], picture.bytes[i + 1], picture.bytes[i + 2]]
}

/// The largest difference between two colours in any channel.
pub fn max_difference(a: [u8; 3], b: [u8; 3]) -> u8 {
    (0..3).map(|c| a[c].abs_diff(b[c])).max().unwrap()
}

/// The centroid of the pixels that are close to a colour, and their number.
pub fn centroid(picture: &Rgb, colour: [u8; 3]) -> ([f64; 2], usize) {
    let (mut sum, mut n) = ([0.0; 2], 0);
    for y in 0..picture.height {
        for x in 0..picture.width {
            if max_difference(pixel(picture, x, y), colour) < 60 {
                sum = [sum[0] + x as f64 + 0.5, sum[1] + y as f64 + 0.5];
                n += 1;
            }
        }
    }
    (sum.map(|s| s / n as f64), n)
}

/// The mean colour of the pixels within `radius` of a position.
pub fn mean(picture: &Rgb, [x, y]: [f64; 2], radius: f64) -> [f64; 3] {
    let (mut sum, mut n) = ([0.0; 3], 0.0);
    for py in 0..picture.height {
        for px in 0..picture.width {
            let (dx, dy) = (px as f64 + 0.5 - x, py as f64 + 0.5 - y);
            if dx * dx + dy * dy <= radius * radius {
                let p = pixel(picture, px, py);
                (0..3).for_each(|c| sum[c] += f64::from(p[c]));
                n += 1.0;
            }
        }
    }
    assert!(n > 0.0, "no pixels at {x} {y}");
    sum.map(|s| s / n)
}

/// A PNG file whose pixels are `colour(column, row)`.
pub fn png(width: u32, height: u32, colour: impl Fn(u32, u32) -> [u8; 3]) -> Vec<u8> {
    let picture = image::RgbImage::from_fn(width, height, |x, y| image::Rgb(colour(x, y)));
    let mut bytes = Cursor::new(Vec::new());
    picture.write_to(&mut bytes, image::ImageFormat::Png).unwrap();
    bytes.into_inner()
}

/// A mesh with one group. It has neither normals nor texture coordinates.
pub fn bare_mesh(positions: Vec<[f32; 3]>, indices: Vec<u32>) -> Mesh {
    Mesh { positions, groups: vec![Group { material: 0, indices }], ..Mesh::default() }
}
