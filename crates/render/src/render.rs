//! Pictures of a stage.

use crate::image::Image;
use crate::lens::{Lens, Optics};
use crate::looks;
use crate::moment::Moment;
use crate::noise::Noise;
use crate::raster::{self, Corner, Eye, NEAR, Setup, Surface, Target};
use crate::stage::{Chunk, Frame, Item, Paint, Shown, Stage, affine};
use chicane_world::Pose;
use glam::{Affine3A, DAffine3, DMat3, DVec3, Mat3A, Vec2, Vec3, Vec3A};
use rayon::prelude::*;
use std::sync::Arc;
use wide::f32x8;

/// Triangles in sight that are looked at; a world that shows more of them is drawn in part.
const MAX_TRIANGLES: usize = 4_000_000;
/// Parts of a frame that what is solid is set up in, side by side. As many on every machine: where a frame has no
/// room for all of its triangles, they decide which are drawn.
const SOLID_PARTS: usize = 4;
/// And one for what can be seen through.
const PARTS: usize = SOLID_PARTS + 1;
/// Tables of lenses that are kept: for as many sizes of pictures at a time.
const MAX_LENSES: usize = 4;

/// A camera somewhere.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Camera {
    /// Where it is; x is where it looks, z is up.
    pub pose: Pose,
    /// What it does with what it sees.
    pub optics: Optics,
}

/// Draws pictures of a stage, one after another; keeps its room between them.
pub struct Renderer {
    stage: Arc<Stage>,
    parts: [Setup; PARTS],
    straight: Vec<[u8; 4]>,
    /// Tables of the lenses that were used last.
    lenses: Vec<Lens>,
}

/// Red, green and blue, 8 bits each, rows from the top.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rgb {
    /// Pixels in a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Three bytes a pixel.
    pub bytes: Vec<u8>,
}

/// A picture with what lies behind it. Straight lines are straight in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Layers {
    /// Colours.
    pub colour: Image,
    /// Distance along the view axis, m; infinite where nothing is.
    pub depth: Vec<f32>,
    /// What is seen, by [`crate::label`].
    pub labels: Vec<u16>,
}

impl Renderer {
    /// A renderer for a stage.
    pub fn new(stage: Arc<Stage>) -> Renderer {
        Renderer { stage, parts: Default::default(), straight: Vec::new(), lenses: Vec::new() }
    }

    /// What the on-board camera sees in its frame of this number, lens and noise included.
    pub fn on_board(&mut self, moment: &Moment, size: [usize; 2], seed: u64, frame: u64) -> Rgb {
        let profile = Arc::clone(&self.stage.profile);
        let optics = Optics::on_board(&profile, size[0], size[1]);
        let camera = Camera { pose: moment.car.camera(&profile), optics };
        let noise = Noise::new(seed, frame, profile.camera.noise_sd);
        self.shot(&camera, moment, Some(noise))
    }

    /// A picture from anywhere, without noise.
    pub fn picture(&mut self, camera: &Camera, moment: &Moment) -> Rgb {
        self.shot(camera, moment, None)
    }

    /// A picture with depth and labels, without lens and noise.
    pub fn layers(&mut self, camera: &Camera, moment: &Moment) -> Layers {
        let Optics { width, height, .. } = camera.optics;
        let mut colour = vec![[0; 4]; width * height];
        let (mut depth, mut labels) = (vec![f32::INFINITY; width * height], vec![0; width * height]);
        let eye = eye(&camera.optics, width, height);
        self.fill(&camera.pose, &eye, moment);
        let target =
            Target { width, height, colour: &mut colour, depth: Some(&mut depth), labels: Some(&mut labels) };
        raster::draw(&self.parts, &self.stage.textures, &self.sky(&camera.pose, &eye), target);
        Layers { colour: Image { width, height, pixels: colour }, depth, labels }
    }

    fn shot(&mut self, camera: &Camera, moment: &Moment, noise: Option<Noise>) -> Rgb {
        let optics = camera.optics;
        let Optics { width, height, .. } = optics;
        if width == 0 || height == 0 {
            return Rgb::default();
        }
        if !optics.is_straight() {
            self.find_lens(optics);
        }
        let used = if optics.is_straight() { None } else { self.lenses.last() };
        let (w, h) = used.map_or((width, height), |l| (l.width, l.height));
        let eye = eye(&optics, w, h);
        self.fill(&camera.pose, &eye, moment);
        let mut straight = std::mem::take(&mut self.straight);
        straight.resize(w * h, [0; 4]);
        let target = Target { width: w, height: h, colour: &mut straight, depth: None, labels: None };
        raster::draw(&self.parts, &self.stage.textures, &self.sky(&camera.pose, &eye), target);
        let mut bytes = vec![0; width * height * 3];
        let lens = if optics.is_straight() { None } else { self.lenses.last() };
        bytes.par_chunks_mut(width * 3).enumerate().with_min_len(16).for_each_init(
            || vec![[0u8; 4]; width],
            |row, (y, to)| {
                match lens {
                    Some(lens) => lens.row(&straight, y, row),
                    None => row.copy_from_slice(&straight[y * width..(y + 1) * width]),
                }
                finish(row, (y * width) as u32, noise, to);
            },
        );
        self.straight = straight;
        Rgb { width, height, bytes }
    }

    /// Puts the table of a lens last, made anew if it is not there.
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

    /// Sets up everything that may be seen.
    fn fill(&mut self, from: &Pose, eye: &Eye, moment: &Moment) {
        let stage = &*self.stage;
        let view = view(from);
        let (mut solid, mut clear) = (Vec::new(), Vec::new());
        let (mut left, mut solids) = (MAX_TRIANGLES, 0);
        for item in &stage.items {
            let Some(placed) = stage.place(item, &view, moment) else { continue };
            for chunk in &stage.solids[item.solid].chunks {
                let centre = placed.to_eye.transform_point3a(chunk.centre);
                if left < chunk.triangles.len() || !in_sight(eye, centre, chunk.radius * placed.stretch) {
                    continue;
                }
                left -= chunk.triangles.len();
                let paint = stage.paint(&placed, chunk);
                if paint.blended || paint.opacity * item.opacity < 1.0 {
                    clear.push((centre.z, placed, chunk));
                } else {
                    // How many triangles came before it says where it belongs.
                    solid.push((solids, placed, chunk));
                    solids += chunk.triangles.len();
                }
            }
        }
        // What is seen through is drawn from far to near.
        clear.sort_by(|a, b| b.0.total_cmp(&a.0));
        let (solid, clear) = (&solid, &clear);
        let share = solids / SOLID_PARTS + 1;
        self.parts.par_iter_mut().enumerate().with_max_len(1).for_each(|(part, setup)| {
            setup.clear(eye, PARTS);
            if part == SOLID_PARTS {
                stage.add_shadows(setup, &view, moment, eye);
                clear.iter().for_each(|(_, placed, chunk)| stage.add(setup, placed, chunk, eye));
                return;
            }
            let first = solid.partition_point(|(before, ..)| *before < part * share);
            let own = solid[first..].iter().take_while(|(before, ..)| *before < (part + 1) * share);
            own.for_each(|(_, placed, chunk)| stage.add(setup, placed, chunk, eye));
        });
    }

    /// The sky as seen through eight pixels of a row.
    fn sky(&self, from: &Pose, eye: &Eye) -> impl Fn(f32x8, f32) -> [f32x8; 3] + Sync + use<> {
        let axis = |v: DVec3| (from.rotation * v).as_vec3();
        let (ahead, right, down) = (axis(DVec3::X), axis(DVec3::NEG_Y), axis(DVec3::NEG_Z));
        let (by_focal, centre) = (1.0 / eye.focal, eye.centre);
        let sky = looks::Sky::new(&self.stage.sun_in_sky);
        move |x, y| {
            let u = (x + f32x8::splat(0.5 - centre.x)) * f32x8::splat(by_focal);
            let base = ahead + down * ((y + 0.5 - centre.y) * by_focal);
            let along = |base: f32, right: f32| f32x8::splat(base) + u * f32x8::splat(right);
            sky.colours([along(base.x, right.x), along(base.y, right.y), along(base.z, right.z)])
        }
    }
}

/// An item in front of the eye.
#[derive(Clone, Copy)]
struct Placed<'a> {
    item: &'a Item,
    /// Colour and light of a lamp.
    lamp: Option<(Vec3, Vec3)>,
    to_eye: Affine3A,
    normals: Mat3A,
    stretch: f32,
    mirrored: bool,
}

impl Stage {
    /// An item as it is seen, if it is.
    fn place<'a>(&self, item: &'a Item, view: &DAffine3, moment: &Moment) -> Option<Placed<'a>> {
        let shows = |object: usize| moment.lamps.iter().find(|(i, _)| *i == object).map(|(_, lamp)| *lamp);
        let mut lamp = None;
        match item.shown {
            Shown::Always => {}
            Shown::Lamp(object, own) => lamp = Some(lamp_light(own, shows(object) == Some(own))),
            Shown::Disc(object) => {
                if shows(object) != Some(looks::Lamp::Yellow) {
                    return None;
                }
                lamp = Some(lamp_light(looks::Lamp::Yellow, true));
            }
        }
        let world = match item.frame {
            Frame::World => DAffine3::IDENTITY,
            Frame::Object(i) => affine(moment.objects.get(i)?),
            Frame::Car(joint) => affine(&moment.car.joint(&self.profile, joint)),
        };
        let to_world = world * item.local;
        let to_eye = *view * to_world;
        if !to_eye.is_finite() {
            return None;
        }
        let axes = to_world.matrix3;
        let stretch = axes.x_axis.length().max(axes.y_axis.length()).max(axes.z_axis.length());
        Some(Placed {
            item,
            lamp,
            to_eye: Affine3A::from_mat3_translation(to_eye.matrix3.as_mat3(), to_eye.translation.as_vec3()),
            normals: normals(&axes),
            stretch: stretch as f32,
            mirrored: axes.determinant() < 0.0,
        })
    }

    fn paint(&self, placed: &Placed<'_>, chunk: &Chunk) -> &Paint {
        &self.paints[placed.item.paint.unwrap_or(chunk.paint) as usize]
    }

    fn add(&self, setup: &mut Setup, placed: &Placed<'_>, chunk: &Chunk, eye: &Eye) {
        let paint = self.paint(placed, chunk);
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
        let corners = chunk.positions.iter().zip(&chunk.normals).zip(&chunk.uvs);
        let corners = corners.map(|((position, normal), uv)| {
            let normal = (placed.normals * *normal).normalize_or(Vec3A::Z);
            Corner {
                at: placed.to_eye.transform_point3a(*position).into(),
                uv: *uv,
                light: colour * self.light(Vec3::from(normal)),
            }
        });
        setup.mesh(eye, surface, corners, &chunk.triangles, placed.mirrored);
    }

    fn add_shadows(&self, setup: &mut Setup, view: &DAffine3, moment: &Moment, eye: &Eye) {
        /// Above every painted layer of the road.
        const LIFT_M: f64 = 0.0025;
        let paint = &self.paints[self.shadow_paint as usize];
        for shadow in &self.shadows {
            let pose = match shadow.frame {
                Frame::World => continue,
                Frame::Object(i) => moment.objects.get(i).copied(),
                Frame::Car(joint) => Some(moment.car.joint(&self.profile, joint)),
            };
            let Some(pose) = pose.filter(Pose::is_finite) else { continue };
            let foot = pose.point(shadow.foot);
            let height = foot.z - self.ground_z;
            let opacity = (1.0 - height.abs() / crate::stage::SHADOW_REACH_M) as f32;
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
            setup.add(eye, [p, q, r], surface);
            setup.add(eye, [p, r, s], surface);
        }
    }

    /// Light that falls on a surface.
    fn light(&self, normal: Vec3) -> Vec3 {
        let from_sky = 0.7 + 0.3 * normal.z;
        self.ambient * from_sky + self.sun * normal.dot(self.to_sun).max(0.0)
    }
}

/// Colour and own light of a lamp.
fn lamp_light(lamp: looks::Lamp, is_lit: bool) -> (Vec3, Vec3) {
    let colours = looks::lamp_colours(lamp);
    let own = if is_lit { Vec3::from_array(colours.lit) } else { Vec3::ZERO };
    (Vec3::from_array(colours.unlit), own)
}

fn eye(optics: &Optics, width: usize, height: usize) -> Eye {
    let centre = Vec2::new(0.5 * width as f32, 0.5 * height as f32);
    Eye { focal: optics.focal as f32, centre, width, height }
}

/// From the world to x right, y down, z ahead.
fn view(from: &Pose) -> DAffine3 {
    let axes =
        DMat3::from_cols(DVec3::new(0.0, 0.0, 1.0), DVec3::new(-1.0, 0.0, 0.0), DVec3::new(0.0, -1.0, 0.0));
    DAffine3::from_mat3(axes) * affine(&from.inverse())
}

/// Turns normals as the axes turn surfaces.
fn normals(axes: &DMat3) -> Mat3A {
    let determinant = axes.determinant();
    if determinant.abs() < 1e-18 {
        return Mat3A::IDENTITY;
    }
    Mat3A::from(axes.inverse().transpose().as_mat3())
}

/// Whether a sphere may be in the picture.
fn in_sight(eye: &Eye, centre: Vec3A, radius: f32) -> bool {
    if centre.z + radius < NEAR {
        return false;
    }
    let out = |v: f32, half: f32| {
        // Distance to the side plane of the view.
        let length = (eye.focal * eye.focal + half * half).sqrt();
        (v.abs() * eye.focal - centre.z * half) / length > radius
    };
    !out(centre.x, eye.centre.x) && !out(centre.y, eye.centre.y)
}

/// A row on its way out: noise, and three bytes a pixel.
fn finish(row: &[[u8; 4]], first: u32, noise: Option<Noise>, to: &mut [u8]) {
    let (pixels, _) = to.as_chunks_mut::<3>();
    match noise {
        None => {
            for (to, pixel) in pixels.iter_mut().zip(row) {
                *to = [pixel[0], pixel[1], pixel[2]];
            }
        }
        Some(noise) => {
            for (i, (to, pixel)) in pixels.iter_mut().zip(row).enumerate() {
                *to = noise.add(*pixel, first + i as u32);
            }
        }
    }
}
