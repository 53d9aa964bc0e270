//! Compiles a `Spec` into a `World`. The compiler resolves includes and frames, separates objects
//! from scenery, and builds the collision shapes and the scene.
//!
//! | modules | task |
//! |---|---|
//! | `uri`, `library`, `tree` | find and read included models, and build one tree of all models |
//! | `locate` | finds the line of an error in a file that was read before |
//! | `frames`, `rigid_model` | compute poses in the model and in the world |
//! | `solids`, `extents`, `mass`, `objects`, `ground` | build the data for physics |
//! | `bounds` | finds the field that the road lies on |
//! | `free_space`, `spawn` | find a start pose for a world without a route |
//! | `meshes`, `generated`, `built_in_meshes` | provide the meshes for physics and the scene |
//! | `stand_in` | replaces meshes that are missing |
//! | `textures`, `colours`, `materials`, `scene_builder` | build the scene |
//! | `load` | loads a whole bundle in one call |

mod bounds;
mod built_in_meshes;
mod colours;
mod extents;
mod frames;
mod free_space;
mod generated;
mod ground;
mod library;
mod load;
mod locate;
mod mass;
mod materials;
mod meshes;
mod objects;
mod rigid_model;
mod scene_builder;
mod solids;
mod spawn;
mod stand_in;
mod textures;
mod tree;
mod uri;

use crate::bundle::Assets;
use crate::error::{Error, SourceLocation, Warnings};
use crate::pose::Pose;
use crate::route::RouteFile;
use crate::scene::{Instance, Look, Owner, Role, Sun, WorldScene};
use crate::spec::{LightSpec, Spec};
use crate::world::{FixedName, Ground, ObjectType, World};
use crate::xml::excerpt;
use extents::Extents;
use frames::Frames;
use glam::DVec3;
use library::ModelLibrary;
use meshes::Meshes;
use objects::SimpleShape;
use rigid_model::RigidModel;
use scene_builder::SceneBuilder;
use solids::MeshCollision;
use stand_in::StandIn;
use std::collections::{BTreeMap, BTreeSet};
use tree::TopLevel;

/// The name of the model that is the world's track.
pub const TRACK: &str = "racetrack";
/// Default gravity, in m/s².
const GRAVITY: [f64; 3] = [0.0, 0.0, -9.8];
/// Default ambient light, RGBA.
const AMBIENT: [f64; 4] = [0.4, 0.4, 0.4, 1.0];
/// Edge length of the square that is drawn for the built-in ground plane, in metres.
const GROUND_SIZE: f64 = 100.0;
/// The built-in ground plane is drawn lower than its true height by this distance, in metres.
/// Otherwise a track at the height of the ground plane would flicker.
const GROUND_SINK: f64 = 0.002;

/// Compiles a world without its route and evaluation. `warnings` are the warnings from reading the
/// spec. The world gets these warnings and the warnings of the compiler.
pub fn compile(spec: &Spec, assets: &Assets<'_>, warnings: Warnings) -> Result<World, Error> {
    compile_on(spec, assets, None, warnings)
}

/// Compiles a world with its route, but without its evaluation.
fn compile_on(
    spec: &Spec,
    assets: &Assets<'_>,
    route: Option<RouteFile>,
    warnings: Warnings,
) -> Result<World, Error> {
    let file = format!("worlds/{}.world", spec.name);
    let mut warnings = warnings;
    let library = ModelLibrary::load(spec, &file, assets, &mut warnings)?;
    let frames = Frames::resolve(tree::build(spec, &file, assets, &library)?)?;
    Compiler {
        file: &file,
        frames: &frames,
        meshes: Meshes::new(*assets),
        scene: SceneBuilder::new(*assets),
        warnings,
        names: BTreeSet::new(),
        numbers: BTreeMap::new(),
    }
    .run(spec, route)
}

/// The poses in the world of all models, links, joints, frames, collisions and visuals. Each pose
/// has a full name, such as `model::link::visual`. A merged model has no pose of its own in the
/// list, because its parts count as parts of the enclosing model.
pub fn poses(spec: &Spec, assets: &Assets<'_>) -> Result<Vec<(String, Pose)>, Error> {
    let file = format!("worlds/{}.world", spec.name);
    let library = ModelLibrary::load(spec, &file, assets, &mut Warnings::default())?;
    Frames::resolve(tree::build(spec, &file, assets, &library)?)?.all()
}

struct Compiler<'a> {
    file: &'a str,
    frames: &'a Frames<'a>,
    meshes: Meshes<'a>,
    scene: SceneBuilder<'a>,
    warnings: Warnings,
    /// The names that are already in use.
    names: BTreeSet<String>,
    /// The last number that `free_name` appended, for each preferred name.
    numbers: BTreeMap<String, usize>,
}

/// Top-level models. The key of a model is the index of the scope that the model forms. The keys
/// increase in file order.
type Models<'a> = BTreeMap<usize, (RigidModel<'a>, ModelClass)>;

/// The function of a top-level model in the world.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ModelClass {
    Object(ObjectType),
    /// An object without a marker, in a world that was not written for Chicane.
    Unmarked,
    Track,
    Scenery,
}

impl<'a> Compiler<'a> {
    fn warn(&mut self, message: impl Into<String>) {
        self.warnings.add(message, || SourceLocation::file(self.file));
    }

    fn run(mut self, spec: &Spec, route: Option<RouteFile>) -> Result<World, Error> {
        let gravity = DVec3::from_array(spec.gravity.unwrap_or(GRAVITY));
        let mut world = World {
            name: spec.name.clone(),
            gravity,
            ground: ground::DEFAULT,
            route: None,
            route_rows: None,
            spawn: Pose::IDENTITY,
            objects: Vec::new(),
            scenery: Vec::new(),
            fixed_names: Vec::new(),
            scene: WorldScene::default(),
            evaluation: None,
            warnings: Vec::new(),
        };
        let models = self.models()?;
        let plane = self.ground(&models);
        world.ground = plane.unwrap_or(ground::DEFAULT);
        for top in &self.frames.tree.tops {
            match top {
                TopLevel::GroundPlane { frame } => self.draw_ground(*frame, &mut world),
                TopLevel::Model { scope, .. } => {
                    if let Some((body, class)) = models.get(scope) {
                        self.add_model(body, *class, &mut world)?;
                    }
                }
                TopLevel::Light(_) | TopLevel::Sun => {}
            }
        }
        let sun = self.sun();
        let (scene, stand_ins) = self.scene.finish();
        world.scene = scene;
        world.scene.sun = sun;
        world.scene.ambient = rgb(spec.scene.ambient.unwrap_or(AMBIENT));
        world.scene.background = spec.scene.background.map(rgb);
        let line = route.as_ref().map(|r| &r.route);
        let track = models.values().find(|(_, class)| *class == ModelClass::Track);
        let field = track.and_then(|(body, _)| bounds::plane_of(body));
        world.ground.bounds = bounds::of_track(&world.scene, world.ground.z, &stand_ins, field, line);
        match route {
            Some(RouteFile { route, rows }) => {
                world.spawn = spawn::on_route(&route, world.ground.z);
                (world.route, world.route_rows) = (Some(route), Some(rows));
            }
            None => spawn::without_route(&mut world, plane.is_some(), self.file, &mut self.warnings),
        }
        world.warnings = self.warnings.into_vec();
        Ok(world)
    }

    /// Collects and classifies the top-level models. The names of marked objects are reserved
    /// before all other names, so that a marked object always keeps its name. The name matters,
    /// because commands and programs refer to objects by name.
    fn models(&mut self) -> Result<Models<'a>, Error> {
        let mut models = Models::new();
        let mut has_track = false;
        for top in &self.frames.tree.tops {
            let TopLevel::Model { scope, inline } = top else { continue };
            let Some(body) = RigidModel::collect(self.frames, *scope)? else { continue };
            let class = match body.marker.filter(|_| *inline) {
                Some(object_type) => {
                    if !self.names.insert(body.name.to_owned()) {
                        let message = format!("two objects are named \"{}\"", excerpt(body.name));
                        return Err(Error::file(self.file, message));
                    }
                    ModelClass::Object(object_type)
                }
                None if body.name == TRACK && !has_track => {
                    has_track = true;
                    ModelClass::Track
                }
                None => ModelClass::Scenery,
            };
            if body.has_joints {
                self.warn("joints are treated as fixed");
            }
            models.insert(*scope, (body, class));
        }
        self.free_unmarked_models(&mut models);
        Ok(models)
    }

    /// Turns models of simple shape without `<static>` into objects, because such models can move
    /// in other simulators. A world with a track or a marker is not changed, because its author
    /// wrote the world for Chicane and could mark an object.
    fn free_unmarked_models(&mut self, models: &mut Models<'a>) {
        if models.values().any(|(_, class)| *class != ModelClass::Scenery) {
            return;
        }
        let mut fixed = 0;
        for (body, class) in models.values_mut().filter(|(body, _)| !body.is_static) {
            match objects::is_simple(body) {
                SimpleShape::Yes => *class = ModelClass::Unmarked,
                SimpleShape::No => fixed += 1,
                // A model without collisions, for example a light, is no obstacle.
                SimpleShape::Nothing => {}
            }
        }
        if fixed > 0 {
            let models = if fixed == 1 { "model" } else { "models" };
            self.warn(format!(
                "{fixed} {models} without <static> cannot move here, because only simple shapes of up to 5 m \
                 become objects"
            ));
        }
    }

    /// The ground of the world. The first level plane in file order defines the ground. The plane
    /// is the built-in ground plane or a collision shape of the track or of scenery. The result is
    /// `None` if there is no such plane.
    fn ground(&mut self, models: &Models<'a>) -> Option<Ground> {
        let mut found = None;
        for top in &self.frames.tree.tops {
            let ground = match top {
                TopLevel::GroundPlane { frame } => {
                    ground::built_in(&self.frames.in_world(*frame), self.file, &mut self.warnings)
                }
                TopLevel::Model { scope, .. } => match models.get(scope) {
                    Some((body, ModelClass::Track | ModelClass::Scenery)) => {
                        ground::plane_in(body, &mut self.warnings)
                    }
                    _ => None,
                },
                TopLevel::Light(_) | TopLevel::Sun => None,
            };
            found = found.or(ground);
        }
        found
    }

    /// Reserves and returns a unique name. The name is `preferred`, with a number appended if
    /// `preferred` is already in use.
    fn free_name(&mut self, preferred: &str) -> String {
        if self.names.insert(preferred.to_owned()) {
            return preferred.to_owned();
        }
        self.warn(format!("a second model named \"{}\" gets a number as suffix", excerpt(preferred)));
        let last = self.numbers.entry(preferred.to_owned()).or_insert(1);
        loop {
            *last += 1;
            let name = format!("{preferred}_{last}");
            if self.names.insert(name.clone()) {
                return name;
            }
        }
    }

    /// Adds a model to the world. The collision shapes are added to the objects or the scenery. The
    /// visuals are added to the scene.
    fn add_model(
        &mut self,
        body: &RigidModel<'a>,
        class: ModelClass,
        world: &mut World,
    ) -> Result<(), Error> {
        let object_type = match class {
            ModelClass::Object(object_type) => Some((object_type, body.name.to_owned())),
            ModelClass::Unmarked => Some((ObjectType::Object, self.free_name(body.name))),
            ModelClass::Track | ModelClass::Scenery => None,
        };
        let (meshes, warnings) = (&mut self.meshes, &mut self.warnings);
        if let Some((object_type, name)) = object_type {
            let mut object = objects::object_of(body, object_type, self.file, meshes, warnings)?;
            object.name = name;
            let extents = Some(Extents { centre: object.centre, size: object.size });
            let owner = Owner::Object(world.objects.len());
            world.objects.push(object);
            let is_light = object_type == ObjectType::Light;
            return self.scene.add_visuals(body, owner, extents, is_light, meshes, warnings);
        }
        let is_track = class == ModelClass::Track;
        let mut solids =
            solids::solids_of(body, MeshCollision::Triangles, solids::WALL_FRICTION, meshes, warnings)?;
        let StandIn { drawn, solid } = stand_in::stand_in(body, is_track, &solids, meshes, warnings)?;
        solids.extend(solid.map(|extents| solids::boxed(extents, solids::WALL_FRICTION)));
        let owner = if is_track { Owner::Track } else { Owner::Scenery };
        self.scene.add_visuals(body, owner, drawn, false, meshes, warnings)?;
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
        let material = Some(self.scene.materials.plain());
        self.scene.push(Instance {
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

    /// The first directional light or included built-in sun, or the default sun if there is
    /// neither. Other lights are ignored.
    fn sun(&mut self) -> Sun {
        let mut found = None;
        for top in &self.frames.tree.tops {
            match top {
                TopLevel::Sun => found = found.or(Some(Sun::default())),
                TopLevel::Light(light) if light.kind == "directional" => {
                    let pose = self.frames.placed_in_world(&light.pose);
                    match pose {
                        Ok(pose) if found.is_none() => found = Some(sun_of(light, &pose)),
                        Ok(_) => {
                            let name = excerpt(&light.name);
                            let message = format!("light \"{name}\" is ignored: there is one sun already");
                            self.warnings.add(message, || SourceLocation::file(self.file));
                        }
                        Err(e) => self.warnings.add(e.message + ": the light is ignored", || e.location),
                    }
                }
                TopLevel::Light(light) => {
                    let name = excerpt(&light.name);
                    let message = format!("light \"{name}\" is not directional and is ignored");
                    self.warnings.add(message, || SourceLocation::file(self.file));
                }
                TopLevel::Model { .. } | TopLevel::GroundPlane { .. } => {}
            }
        }
        found.unwrap_or_default()
    }
}

/// The RGB values of a colour, clamped to 0..1.
fn rgb(colour: [f64; 4]) -> [f64; 3] {
    let [r, g, b, _] = colour.map(|x| x.clamp(0.0, 1.0));
    [r, g, b]
}

fn sun_of(light: &LightSpec, pose: &Pose) -> Sun {
    // The SDF standard defines straight down as the default direction.
    let along = pose.rotation * DVec3::from_array(light.direction.unwrap_or([0.0, 0.0, -1.0]));
    let direction = along.normalize_or(DVec3::from_array(Sun::default().direction)).to_array();
    let colour = match light.diffuse {
        Some([r, g, b, _]) => [r, g, b].map(|x| x.clamp(0.0, 1.0)),
        None => [1.0; 3],
    };
    let intensity = light.intensity.unwrap_or(1.0);
    Sun { direction, colour: colour.map(|x| (x * intensity).min(1.0)) }
}
