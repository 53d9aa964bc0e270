//! `Spec` → `World`: includes put in place, frames resolved, objects told from scenery, looks
//! gathered.
//!
//! | module | what it does |
//! |---|---|
//! | `uri`, `library`, `tree`, `place` | find and read included models, put them into one tree |
//! | `frames`, `body` | bring every pose into its model, and every model into the world |
//! | `solids`, `extents`, `mass`, `objects`, `ground` | what physics needs |
//! | `meshes`, `made`, `standard`, `textures`, `colours`, `paint`, `looks` | what is seen |
//! | `load` | a whole bundle in one call |

mod body;
mod colours;
mod extents;
mod frames;
mod ground;
mod library;
mod load;
mod looks;
mod made;
mod mass;
mod meshes;
mod objects;
mod paint;
mod place;
mod solids;
mod standard;
mod textures;
mod tree;
mod uri;

use crate::bundle::Assets;
use crate::error::{Error, Place, Warnings};
use crate::pose::Pose;
use crate::scene::{Instance, Look, Owner, Role, Scene, Sun};
use crate::spec::{LightSpec, Spec};
use crate::world::{FixedName, Ground, ObjectType, Shape, World};
use crate::xml::excerpt;
use body::Body;
use extents::Extents;
use frames::Frames;
use glam::DVec3;
use library::Library;
use looks::Looks;
use meshes::Meshes;
use solids::MeshesAs;
use std::collections::{BTreeMap, BTreeSet};
use tree::Top;

/// The name that makes a model the track.
pub const TRACK: &str = "racetrack";
/// Gravity of worlds that don't say.
const GRAVITY: [f64; 3] = [0.0, 0.0, -9.8];
/// Ambient light of worlds that don't say.
const AMBIENT: [f64; 4] = [0.4, 0.4, 0.4, 1.0];
/// Edge of the drawn part of the built-in ground, metres.
const GROUND_SIZE: f64 = 100.0;
/// The built-in ground is drawn this much lower, so that it never shows through a flat track.
const GROUND_SINK: f64 = 0.002;

/// Compiles a world, without its route and evaluation. `warnings` are those from reading it.
pub fn compile(spec: &Spec, assets: &Assets<'_>, warnings: Warnings) -> Result<World, Error> {
    let file = format!("worlds/{}.world", spec.name);
    let mut warnings = warnings;
    let library = Library::load(spec, &file, assets, &mut warnings)?;
    let frames = Frames::resolve(tree::build(spec, &file, assets, &library)?)?;
    Compiler {
        file: &file,
        frames: &frames,
        meshes: Meshes::new(*assets),
        looks: Looks::new(*assets),
        warnings,
        names: BTreeSet::new(),
        numbers: BTreeMap::new(),
    }
    .run(spec)
}

/// The pose of everything that has a name: models, links, joints, frames, collisions and visuals,
/// as `model::link::visual`, in the world.
pub fn poses(spec: &Spec, assets: &Assets<'_>) -> Result<Vec<(String, Pose)>, Error> {
    let file = format!("worlds/{}.world", spec.name);
    let library = Library::load(spec, &file, assets, &mut Warnings::default())?;
    Frames::resolve(tree::build(spec, &file, assets, &library)?)?.all()
}

struct Compiler<'a> {
    file: &'a str,
    frames: &'a Frames<'a>,
    meshes: Meshes<'a>,
    looks: Looks<'a>,
    warnings: Warnings,
    /// Names that are taken.
    names: BTreeSet<String>,
    /// The last number given to models of one name.
    numbers: BTreeMap<String, usize>,
}

/// Models by their scopes, which are in file order.
type Models<'a> = BTreeMap<usize, (Body<'a>, Class)>;

/// What a model is in the world.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Object(ObjectType),
    Track,
    Scenery,
}

impl<'a> Compiler<'a> {
    fn warn(&mut self, message: impl Into<String>) {
        self.warnings.add(message, || Place::file(self.file));
    }

    fn run(mut self, spec: &Spec) -> Result<World, Error> {
        let gravity = DVec3::from_array(spec.gravity.unwrap_or(GRAVITY));
        let mut world = World {
            name: spec.name.clone(),
            gravity,
            ground: ground::DEFAULT,
            route: None,
            spawn: Pose::IDENTITY,
            objects: Vec::new(),
            scenery: Vec::new(),
            fixed_names: Vec::new(),
            scene: Scene::default(),
            evaluation: None,
            warnings: Vec::new(),
        };
        let models = self.models()?;
        world.ground = self.ground(&models);
        for top in &self.frames.tree.tops {
            match top {
                Top::GroundPlane { frame } => self.draw_ground(*frame, &mut world),
                Top::Model { scope, .. } => {
                    if let Some((body, class)) = models.get(scope) {
                        self.place(body, *class, &mut world)?;
                    }
                }
                Top::Light(_) | Top::Sun => {}
            }
        }
        let sun = self.sun();
        world.scene = self.looks.finish();
        world.scene.sun = sun;
        let [r, g, b, _] = spec.scene.ambient.unwrap_or(AMBIENT).map(|x| x.clamp(0.0, 1.0));
        world.scene.ambient = [r, g, b];
        world.ground.bounds = ground::bounds_of(&world.scene, world.ground.z);
        world.spawn.position.z = world.ground.z;
        world.warnings = self.warnings.into_vec();
        Ok(world)
    }

    /// Gathers the models and says what each is. Names of objects are taken first: they are
    /// what commands and programs refer to.
    fn models(&mut self) -> Result<Models<'a>, Error> {
        let mut models = Models::new();
        let mut has_track = false;
        for top in &self.frames.tree.tops {
            let Top::Model { scope, inline } = top else { continue };
            let Some(body) = Body::gather(self.frames, *scope)? else { continue };
            let class = match body.marker.filter(|_| *inline) {
                Some(object_type) => {
                    if !self.names.insert(body.name.to_owned()) {
                        let message = format!("two objects are named \"{}\"", excerpt(body.name));
                        return Err(Error::file(self.file, message));
                    }
                    Class::Object(object_type)
                }
                None if body.name == TRACK && !has_track => {
                    has_track = true;
                    Class::Track
                }
                None => Class::Scenery,
            };
            if body.has_joints {
                self.warn("joints are taken as fixed");
            }
            models.insert(*scope, (body, class));
        }
        Ok(models)
    }

    /// The first level plane in file order.
    fn ground(&mut self, models: &Models<'a>) -> Ground {
        let mut found = None;
        for top in &self.frames.tree.tops {
            let ground = match top {
                Top::GroundPlane { frame } => {
                    ground::built_in(&self.frames.in_world(*frame), self.file, &mut self.warnings)
                }
                Top::Model { scope, .. } => match models.get(scope) {
                    Some((body, Class::Track | Class::Scenery)) => ground::plane_in(body, &mut self.warnings),
                    _ => None,
                },
                Top::Light(_) | Top::Sun => None,
            };
            found = found.or(ground);
        }
        found.unwrap_or(ground::DEFAULT)
    }

    /// A name that nothing else has.
    fn free_name(&mut self, wanted: &str) -> String {
        if self.names.insert(wanted.to_owned()) {
            return wanted.to_owned();
        }
        self.warn(format!("a second model named \"{}\" gets a number", excerpt(wanted)));
        let last = self.numbers.entry(wanted.to_owned()).or_insert(1);
        loop {
            *last += 1;
            let name = format!("{wanted}_{last}");
            if self.names.insert(name.clone()) {
                return name;
            }
        }
    }

    fn place(&mut self, body: &Body<'a>, class: Class, world: &mut World) -> Result<(), Error> {
        let (meshes, warnings) = (&mut self.meshes, &mut self.warnings);
        if let Class::Object(object_type) = class {
            let object = objects::object_of(body, object_type, self.file, meshes, warnings)?;
            let extents = Some(Extents { centre: object.centre, size: object.size });
            let owner = Owner::Object(world.objects.len());
            world.objects.push(object);
            let is_light = object_type == ObjectType::Light;
            return self.looks.draw(body, owner, extents, is_light, meshes, warnings);
        }
        let is_track = class == Class::Track;
        let solids = solids::solids_of(body, MeshesAs::Triangles, solids::WALL_FRICTION, meshes, warnings)?;
        let plain = solids.iter().filter(|s| !matches!(s.shape, Shape::Mesh(_)));
        let extents = Extents::union(plain.map(|s| Extents::of(&s.pose, &s.shape)));
        let owner = if is_track { Owner::Track } else { Owner::Scenery };
        self.looks.draw(body, owner, extents, false, meshes, warnings)?;
        for mut solid in solids {
            solid.pose = body.origin.then(&solid.pose);
            let kept = if is_track { solids::without_ground(solid, world.ground.z) } else { Some(solid) };
            world.scenery.extend(kept);
        }
        let name = self.free_name(body.name);
        world.fixed_names.push(FixedName { name, is_track });
        Ok(())
    }

    fn draw_ground(&mut self, frame: usize, world: &mut World) {
        let name = self.free_name(self.frames.tree.frames[frame].name);
        let mut pose = self.frames.in_world(frame);
        pose.position.z -= GROUND_SINK;
        let material = Some(self.looks.plain());
        self.looks.push(Instance {
            owner: Owner::Scenery,
            name: name.clone(),
            role: Role::Plain,
            pose,
            scale: [1.0; 3],
            look: Look::Plane([GROUND_SIZE; 2]),
            material,
            opacity: 1.0,
        });
        world.fixed_names.push(FixedName { name, is_track: false });
    }

    /// The first light from infinitely far; others are passed over.
    fn sun(&mut self) -> Sun {
        let mut found = None;
        for top in &self.frames.tree.tops {
            match top {
                Top::Sun => found = found.or(Some(Sun::default())),
                Top::Light(light) if light.kind == "directional" => {
                    let pose = self.frames.placed_in_world(&light.pose);
                    match pose {
                        Ok(pose) => found = found.or_else(|| Some(sun_of(light, &pose))),
                        Err(e) => self.warnings.add(e.message + ": a light is passed over", || e.place),
                    }
                }
                Top::Light(light) => {
                    let message = format!("light \"{}\" is not directional", excerpt(&light.name));
                    self.warnings.add(message + " and was passed over", || Place::file(self.file));
                }
                Top::Model { .. } | Top::GroundPlane { .. } => {}
            }
        }
        found.unwrap_or_default()
    }
}

fn sun_of(light: &LightSpec, pose: &Pose) -> Sun {
    // Straight down is what the format says of lights that don't.
    let along = pose.rotation * DVec3::from_array(light.direction.unwrap_or([0.0, 0.0, -1.0]));
    let direction = along.normalize_or(DVec3::from_array(Sun::default().direction)).to_array();
    let colour = match light.diffuse {
        Some([r, g, b, _]) => [r, g, b].map(|x| x.clamp(0.0, 1.0)),
        None => [1.0; 3],
    };
    Sun { direction, colour }
}
