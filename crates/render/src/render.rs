//! Draws pictures of a [`Stage`].
//!
//! Each picture takes up to four steps. [`Renderer::set_up`] culls the chunks of the stage and
//! hands their triangles to several [`Setup`]s in parallel. [`raster::draw`] draws the tiles in
//! parallel. If the camera has a [`Lens`], the lens then distorts the rows. Finally, sensor
//! [`Noise`] is added to the rows of on-board pictures.

use crate::Instructions;
use crate::image::Image;
use crate::instructions::Checked;
use crate::lens::{Lens, Optics};
use crate::looks;
use crate::moment::Moment;
use crate::noise::Noise;
use crate::raster::{
    self, Background, Corner, InnerEdges, NEAR, Projection, RenderTarget, Setup, Surface, TileBuffers,
};
use crate::simd::{Floats, Simd};
use crate::stage::{Chunk, Item, ParentFrame, Stage, Visibility, affine, normals};
use chicane_world::Pose;
use glam::{Affine3A, DAffine3, DMat3, DVec3, Mat3A, Vec2, Vec3, Vec3A};
use rayon::prelude::*;
use std::sync::Arc;

/// Limit on the triangles of one picture. A chunk that would exceed the limit is not drawn.
const MAX_TRIANGLES: usize = 4_000_000;
/// Number of [`Setup`]s that share the opaque triangles of a frame and run in parallel. The number
/// is the same on every machine, because it decides which triangles exceed the limits of a setup.
const OPAQUE_PARTS: usize = 4;
/// Number of all setups of a frame: those for opaque triangles, and one for transparent triangles.
const PARTS: usize = OPAQUE_PARTS + 1;
/// Maximum number of lookup tables in the cache of lenses. Each combination of picture size and
/// distortion needs a table.
const MAX_LENSES: usize = 4;

/// A camera in the world.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Camera {
    /// Pose in the world frame; the camera looks along its x axis, and z is up.
    pub pose: Pose,
    /// Picture size, focal length and distortion.
    pub optics: Optics,
}

/// Draws pictures of a stage one after another. All pictures use the same buffers.
pub struct Renderer {
    stage: Arc<Stage>,
    parts: [Setup; PARTS],
    tiles: TileBuffers,
    /// Buffer for the picture before lens distortion.
    undistorted: Vec<[u8; 4]>,
    /// Cache of lenses. The most recently used lens is last.
    lenses: Vec<Lens>,
    instructions: Checked,
}

/// A picture in red, green and blue with 8 bits each. The first row is the top row.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rgb {
    /// Pixels per row.
    pub width: usize,
    /// Number of rows.
    pub height: usize,
    /// Three bytes per pixel, row by row.
    pub bytes: Vec<u8>,
}

/// A picture with a depth and a label for each pixel, without lens distortion.
#[derive(Debug, Clone, PartialEq)]
pub struct Layers {
    /// Colour of each pixel.
    pub colour: Image,
    /// Distance of the nearest opaque surface at each pixel along the view axis, m; infinite where
    /// there is none.
    pub depth: Vec<f32>,
    /// The owner of the nearest opaque surface at each pixel, as a value of [`crate::label`].
    pub labels: Vec<u16>,
}

impl Renderer {
    /// Makes a renderer for a stage.
    pub fn new(stage: Arc<Stage>) -> Renderer {
        Renderer {
            stage,
            parts: Default::default(),
            tiles: TileBuffers::default(),
            undistorted: Vec::new(),
            lenses: Vec::new(),
            instructions: Instructions::best().checked(),
        }
    }

    /// The same renderer with other instructions. The pictures are the same. If the processor does
    /// not have the instructions, the renderer uses the widest narrower set.
    pub fn with_instructions(self, instructions: Instructions) -> Renderer {
        Renderer { instructions: instructions.checked(), ..self }
    }

    /// Draws the view of the on-board camera, with lens distortion and sensor noise. The noise of a
    /// pixel depends only on `seed`, the frame number `frame`, the index of the pixel and the car's
    /// profile.
    pub fn on_board(&mut self, moment: &Moment, size: [usize; 2], seed: u64, frame: u64) -> Rgb {
        let profile = Arc::clone(&self.stage.profile);
        let optics = Optics::on_board(&profile, size[0], size[1]);
        let camera = Camera { pose: moment.car.camera(&profile), optics };
        let noise = Noise::new(seed, frame, profile.camera.noise_sd);
        self.take(&camera, moment, Some(noise))
    }

    /// Draws the view of any camera, without sensor noise.
    pub fn picture(&mut self, camera: &Camera, moment: &Moment) -> Rgb {
        self.take(camera, moment, None)
    }

    /// Draws colours, depths and labels, without lens distortion and noise.
    pub fn layers(&mut self, camera: &Camera, moment: &Moment) -> Layers {
        let Optics { width, height, .. } = camera.optics;
        let mut colour = vec![[0; 4]; width * height];
        let (mut depth, mut labels) = (vec![f32::INFINITY; width * height], vec![0; width * height]);
        let projection = projection(&camera.optics, width, height);
        self.set_up(&camera.pose, &projection, moment);
        let target = RenderTarget {
            width,
            height,
            colour: &mut colour,
            depth: Some(&mut depth),
            labels: Some(&mut labels),
            needed: None,
        };
        let sky = self.sky(&camera.pose, &projection);
        raster::draw(&self.parts, &self.stage.textures, &sky, self.instructions, &self.tiles, target);
        Layers { colour: Image { width, height, pixels: colour }, depth, labels }
    }

    fn take(&mut self, camera: &Camera, moment: &Moment, noise: Option<Noise>) -> Rgb {
        let optics = camera.optics;
        let Optics { width, height, .. } = optics;
        if width == 0 || height == 0 {
            return Rgb::default();
        }
        if !optics.is_pinhole() {
            self.find_lens(optics);
        }
        let size = |lens: &Lens| (lens.width, lens.height);
        let (w, h) =
            if optics.is_pinhole() { None } else { self.lenses.last().map(size) }.unwrap_or((width, height));
        let projection = projection(&optics, w, h);
        self.set_up(&camera.pose, &projection, moment);
        let mut undistorted = std::mem::take(&mut self.undistorted);
        undistorted.resize(w * h, [0; 4]);
        let lens = if optics.is_pinhole() { None } else { self.lenses.last() };
        let needed = lens.map(|lens| &lens.needed);
        let target =
            RenderTarget { width: w, height: h, colour: &mut undistorted, depth: None, labels: None, needed };
        let sky = self.sky(&camera.pose, &projection);
        raster::draw(&self.parts, &self.stage.textures, &sky, self.instructions, &self.tiles, target);
        let mut bytes = vec![0; width * height * 3];
        let instructions = self.instructions;
        bytes.par_chunks_mut(width * 3).enumerate().with_min_len(16).for_each_init(
            || vec![[0u8; 4]; width],
            |row, (y, to)| {
                match lens {
                    Some(lens) => lens.row(&undistorted, y, row, instructions),
                    None => row.copy_from_slice(&undistorted[y * width..(y + 1) * width]),
                }
                write_row(row, (y * width) as u32, noise, to, instructions);
            },
        );
        self.undistorted = undistorted;
        Rgb { width, height, bytes }
    }

    /// Moves the lookup table of a lens to the end of the cache. Computes the table if it is not
    /// cached.
    fn find_lens(&mut self, optics: Optics) {
        let lens = match self.lenses.iter().position(|l| l.optics == optics) {
            Some(i) => self.lenses.remove(i),
            None => Lens::new(optics),
        };
        if self.lenses.len() >= MAX_LENSES {
            self.lenses.remove(0);
        }
        self.lenses.push(lens);
    }

    /// Fills the setups with all triangles that may be in the picture.
    fn set_up(&mut self, from: &Pose, projection: &Projection, moment: &Moment) {
        let stage = &*self.stage;
        let view = view(from);
        let (mut opaque, mut transparent) = (Vec::new(), Vec::new());
        let (mut left, mut opaque_triangles) = (MAX_TRIANGLES, 0);
        for item in &stage.items {
            let Some(placed) = stage.place(item, &view, moment) else { continue };
            for (number, chunk) in stage.meshes[item.mesh].chunks.iter().enumerate() {
                let centre = placed.to_camera.transform_point3a(chunk.centre);
                if left < chunk.triangles.len()
                    || !is_sphere_in_sight(projection, centre, chunk.radius * placed.stretch)
                    || !is_box_in_sight(projection, centre, &placed.to_camera.matrix3, chunk.half)
                {
                    continue;
                }
                left -= chunk.triangles.len();
                let visible =
                    VisibleChunk { placed, chunk, lights: item.lights.get(number).map(Vec::as_slice) };
                let paint = stage.paint(item, chunk);
                if paint.blended || paint.opacity * item.opacity < 1.0 {
                    transparent.push((centre.z, visible));
                } else {
                    // The number of triangles before the chunk decides which setup gets the chunk.
                    opaque.push((opaque_triangles, visible));
                    opaque_triangles += chunk.triangles.len();
                }
            }
        }
        // Transparent chunks are blended from far to near.
        transparent.sort_by(|a, b| b.0.total_cmp(&a.0));
        let (opaque, transparent) = (&opaque, &transparent);
        let share = opaque_triangles / OPAQUE_PARTS + 1;
        self.parts.par_iter_mut().enumerate().with_max_len(1).for_each(|(part, setup)| {
            setup.clear(projection, PARTS);
            if part == OPAQUE_PARTS {
                stage.add_shadows(setup, &view, moment, projection);
                transparent.iter().for_each(|(_, visible)| stage.add(setup, visible, projection));
                return;
            }
            let first = opaque.partition_point(|(before, ..)| *before < part * share);
            let own = opaque[first..].iter().take_while(|(before, ..)| *before < (part + 1) * share);
            own.for_each(|(_, visible)| stage.add(setup, visible, projection));
        });
    }

    /// The sky in a picture.
    fn sky(&self, from: &Pose, projection: &Projection) -> SkyInPicture {
        let axis = |v: DVec3| (from.rotation * v).as_vec3();
        SkyInPicture {
            sky: looks::Sky::new(self.stage.sky, &self.stage.sun_in_sky),
            ahead: axis(DVec3::X),
            right: axis(DVec3::NEG_Y),
            down: axis(DVec3::NEG_Z),
            by_focal: 1.0 / projection.focal,
            centre: projection.centre,
        }
    }
}

/// The sky, and the directions of the pixels of a picture.
struct SkyInPicture {
    sky: looks::Sky,
    /// Axes of the camera in the world frame.
    ahead: Vec3,
    right: Vec3,
    down: Vec3,
    /// One divided by the focal length in pixels.
    by_focal: f32,
    centre: Vec2,
}

impl Background for SkyInPicture {
    #[inline(always)]
    fn colours<S: Simd>(&self, columns: S::Floats, row: f32) -> [S::Floats; 3] {
        let u = (columns + S::Floats::splat(0.5 - self.centre.x)) * S::Floats::splat(self.by_focal);
        let base = self.ahead + self.down * ((row + 0.5 - self.centre.y) * self.by_focal);
        self.sky.colours::<S>([
            S::Floats::splat(base.x) + u * S::Floats::splat(self.right.x),
            S::Floats::splat(base.y) + u * S::Floats::splat(self.right.y),
            S::Floats::splat(base.z) + u * S::Floats::splat(self.right.z),
        ])
    }
}

/// An item with its transformation for one picture.
#[derive(Clone, Copy)]
struct Placed<'a> {
    item: &'a Item,
    /// Surface colour and emitted light of a lamp; `None` if the item is not a lamp.
    lamp: Option<(Vec3, Vec3)>,
    to_camera: Affine3A,
    /// Transforms normals of the item to the world frame.
    normals: Mat3A,
    /// Largest scale factor of the item. The bounding radius of a chunk is multiplied by this
    /// factor.
    stretch: f32,
    /// Whether the item's scale reverses the winding of its triangles.
    mirrored: bool,
}

/// A chunk of an item that may be in the picture.
#[derive(Clone, Copy)]
struct VisibleChunk<'a> {
    placed: Placed<'a>,
    chunk: &'a Chunk,
    /// The light of each corner, if it is stored in the item.
    lights: Option<&'a [Vec3]>,
}

impl Stage {
    /// Places an item for one picture. Returns `None` if the item is hidden, or if its pose is
    /// missing or not finite.
    fn place<'a>(&self, item: &'a Item, view: &DAffine3, moment: &Moment) -> Option<Placed<'a>> {
        let shows = |object: usize| moment.lamps.iter().find(|(i, _)| *i == object).map(|(_, lamp)| *lamp);
        let mut lamp = None;
        match item.visibility {
            Visibility::Always => {}
            Visibility::Lamp(object, own) => lamp = Some(lamp_light(own, shows(object) == Some(own))),
            Visibility::Disc(object) => {
                if shows(object) != Some(looks::Lamp::Yellow) {
                    return None;
                }
                lamp = Some(lamp_light(looks::Lamp::Yellow, true));
            }
        }
        let world = match item.parent {
            ParentFrame::World => DAffine3::IDENTITY,
            ParentFrame::Object(i) => affine(moment.objects.get(i)?),
            ParentFrame::Car(joint) => affine(&moment.car.joint(&self.profile, joint)),
        };
        let to_world = world * item.local;
        let to_camera = *view * to_world;
        if !to_camera.is_finite() {
            return None;
        }
        let axes = to_world.matrix3;
        let stretch = axes.x_axis.length().max(axes.y_axis.length()).max(axes.z_axis.length());
        Some(Placed {
            item,
            lamp,
            to_camera: Affine3A::from_mat3_translation(
                to_camera.matrix3.as_mat3(),
                to_camera.translation.as_vec3(),
            ),
            normals: normals(&axes),
            stretch: stretch as f32,
            mirrored: axes.determinant() < 0.0,
        })
    }

    fn add(&self, setup: &mut Setup, visible: &VisibleChunk<'_>, projection: &Projection) {
        let VisibleChunk { placed, chunk, lights } = visible;
        let paint = self.paint(placed.item, chunk);
        let (colour, emissive, texture) = match placed.lamp {
            Some((colour, emissive)) => (colour, emissive, None),
            None => (paint.colour, paint.emissive, paint.texture),
        };
        let surface = setup.surface(Surface {
            texture,
            emissive: emissive.to_array(),
            opacity: paint.opacity * placed.item.opacity,
            blended: paint.blended,
            label: placed.item.label,
        });
        let places = chunk.positions.iter().zip(&chunk.uvs);
        let corner = |(position, uv): (&Vec3A, &Vec2), light: Vec3| Corner {
            at: placed.to_camera.transform_point3a(*position).into(),
            uv: *uv,
            light,
        };
        let triangles = (&chunk.triangles[..], &chunk.inner[..]);
        match lights {
            Some(lights) => {
                let corners = places.zip(*lights).map(|(place, light)| corner(place, *light));
                setup.mesh(projection, surface, corners, triangles, placed.mirrored);
            }
            None => {
                let light = |normal: &Vec3A| self.light(colour, &placed.normals, *normal);
                let corners = places.zip(&chunk.normals).map(|(place, normal)| corner(place, light(normal)));
                setup.mesh(projection, surface, corners, triangles, placed.mirrored);
            }
        }
    }

    fn add_shadows(&self, setup: &mut Setup, view: &DAffine3, moment: &Moment, projection: &Projection) {
        /// Height of a shadow above the ground, m. A higher layer would cover the shadow. In worlds
        /// of the builder, the road, its lines and two decals on top of each other are lower.
        const LIFT_M: f64 = 0.0025;
        let paint = &self.paints[self.shadow_paint as usize];
        for shadow in &self.shadows {
            let pose = match shadow.parent {
                ParentFrame::World => continue,
                ParentFrame::Object(i) => moment.objects.get(i).copied(),
                ParentFrame::Car(joint) => Some(moment.car.joint(&self.profile, joint)),
            };
            let Some(pose) = pose.filter(Pose::is_finite) else { continue };
            let foot = pose.point(shadow.foot);
            let height = foot.z - self.ground_z;
            let opacity = (1.0 - height.abs() / crate::stage::SHADOW_FADE_HEIGHT_M) as f32;
            if opacity <= 0.01 {
                continue;
            }
            let surface = setup.surface(Surface {
                texture: paint.texture,
                emissive: [0.0; 3],
                opacity,
                blended: true,
                label: 0,
            });
            let (y, x) = libm::sincos(pose.yaw());
            let (ahead, left) = (DVec3::new(x, y, 0.0), DVec3::new(-y, x, 0.0));
            let middle = DVec3::new(foot.x, foot.y, self.ground_z + LIFT_M);
            let corner = |a: f64, b: f64| Corner {
                at: view
                    .transform_point3(middle + ahead * (a * shadow.half[0]) + left * (b * shadow.half[1]))
                    .as_vec3(),
                uv: Vec2::new(0.5 + 0.499 * a as f32, 0.5 + 0.499 * b as f32),
                light: Vec3::ONE,
            };
            let [p, q, r, s] = [corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)];
            setup.add(projection, [p, q, r], InnerEdges::default(), surface);
            setup.add(projection, [p, r, s], InnerEdges::default(), surface);
        }
    }
}

/// Surface colour and emitted light of a lamp, linear RGB.
fn lamp_light(lamp: looks::Lamp, is_lit: bool) -> (Vec3, Vec3) {
    let colours = looks::lamp_colours(lamp);
    let own = if is_lit { Vec3::from_array(colours.lit) } else { Vec3::ZERO };
    (Vec3::from_array(colours.unlit), own)
}

fn projection(optics: &Optics, width: usize, height: usize) -> Projection {
    let centre = Vec2::new(0.5 * width as f32, 0.5 * height as f32);
    Projection { focal: optics.focal as f32, centre, width, height }
}

/// The transformation from the world frame to camera coordinates: x right, y down, z forward.
fn view(from: &Pose) -> DAffine3 {
    let axes =
        DMat3::from_cols(DVec3::new(0.0, 0.0, 1.0), DVec3::new(-1.0, 0.0, 0.0), DVec3::new(0.0, -1.0, 0.0));
    DAffine3::from_mat3(axes) * affine(&from.inverse())
}

/// Whether a bounding sphere in camera coordinates may be in the picture.
fn is_sphere_in_sight(projection: &Projection, centre: Vec3A, radius: f32) -> bool {
    if centre.z + radius < NEAR {
        return false;
    }
    let out = |v: f32, half: f32| {
        // Distance of the centre from the side plane of the view frustum.
        let length = (projection.focal * projection.focal + half * half).sqrt();
        (v.abs() * projection.focal - centre.z * half) / length > radius
    };
    !out(centre.x, projection.centre.x) && !out(centre.y, projection.centre.y)
}

/// Whether a bounding box may be in the picture. `centre` is its centre in camera coordinates,
/// `half` is half its size, and `axes` turns its axes into directions in camera coordinates. This
/// test is stricter than the one for spheres: most of the car's own chunks surround the camera or
/// are just behind it, so their spheres reach into the picture.
fn is_box_in_sight(projection: &Projection, centre: Vec3A, axes: &Mat3A, half: Vec3A) -> bool {
    let sides = [axes.x_axis * half.x, axes.y_axis * half.y, axes.z_axis * half.z];
    // Whether the whole box is on the positive side of the plane with this normal at a distance.
    let is_beyond = |normal: Vec3A, distance: f32| {
        let reach: f32 = sides.iter().map(|side| normal.dot(*side).abs()).sum();
        normal.dot(centre) - reach > distance
    };
    let focal = projection.focal;
    // The picture is extended by one pixel on every side, because corners are rounded to subpixels.
    let (x, y) = (projection.centre.x + 1.0, projection.centre.y + 1.0);
    !(is_beyond(Vec3A::new(0.0, 0.0, -1.0), -NEAR)
        || is_beyond(Vec3A::new(focal, 0.0, -x), 0.0)
        || is_beyond(Vec3A::new(-focal, 0.0, -x), 0.0)
        || is_beyond(Vec3A::new(0.0, focal, -y), 0.0)
        || is_beyond(Vec3A::new(0.0, -focal, -y), 0.0))
}

/// Writes a row as three bytes per pixel and adds the noise. `first` is the index of the row's
/// first pixel in the picture.
fn write_row(row: &[[u8; 4]], first: u32, noise: Option<Noise>, to: &mut [u8], instructions: Checked) {
    match noise {
        Some(noise) => noise.add_to_row(row, first, to, instructions),
        None => {
            for (to, pixel) in to.as_chunks_mut::<3>().0.iter_mut().zip(row) {
                *to = [pixel[0], pixel[1], pixel[2]];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chicane_testkit::Random;

    /// Boxes in camera coordinates. The camera is inside of the bounding spheres of many of them.
    #[test]
    fn a_box_in_the_picture_is_never_skipped() {
        let mut random = Random(1);
        let mut number =
            move |low: f32, high: f32| low + (high - low) * (random.below(1 << 20) as f32 / (1 << 20) as f32);
        let projection = Projection { focal: 120.0, centre: Vec2::new(80.0, 60.0), width: 160, height: 120 };
        let (mut seen, mut skipped) = (0, 0);
        for _ in 0..20_000 {
            let centre = Vec3A::new(number(-1.0, 1.0), number(-1.0, 1.0), number(-1.0, 2.0));
            let half = Vec3A::new(number(0.0, 0.5), number(0.0, 0.5), number(0.0, 0.5));
            let turn = glam::Quat::from_euler(
                glam::EulerRot::XYZ,
                number(-3.0, 3.0),
                number(-3.0, 3.0),
                number(-3.0, 3.0),
            );
            let axes = Mat3A::from_quat(turn) * number(0.2, 2.0);
            let is_visible = (0..100).any(|_| {
                let inside = Vec3A::new(number(-1.0, 1.0), number(-1.0, 1.0), number(-1.0, 1.0)) * half;
                let at = centre + axes * inside;
                let place = Vec2::new(at.x, at.y) * (projection.focal / at.z) + projection.centre;
                let end = Vec2::new(160.0, 120.0);
                at.z >= NEAR && place.cmpge(Vec2::ZERO).all() && place.cmple(end).all()
            });
            let is_drawn = is_box_in_sight(&projection, centre, &axes, half);
            assert!(is_drawn || !is_visible, "centre {centre}, half {half}, axes {axes}");
            seen += u32::from(is_visible);
            let stretch = axes.x_axis.length();
            skipped +=
                u32::from(!is_drawn && is_sphere_in_sight(&projection, centre, half.length() * stretch));
        }
        assert!(seen > 1_000 && skipped > 1_000, "{seen} boxes seen, {skipped} skipped");
    }
}
