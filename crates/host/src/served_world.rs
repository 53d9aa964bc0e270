//! A loaded world, together with the HTTP responses that describe the world and stay the same while
//! the world runs.

use crate::scene::SceneFile;
use crate::variation::SeedVariation;
use crate::view;
use bytes::Bytes;
use chicane_render::Stage;
use chicane_store::LibraryEntry;
use chicane_world::world::ObjectType;
use chicane_world::{Profile, World};
use std::sync::{Arc, OnceLock};

/// A loaded world, as it is served to clients.
pub struct ServedWorld {
    /// Name of the world.
    pub name: Arc<str>,
    /// File name of the world, `<name>.world`.
    pub file: Arc<str>,
    /// The world's entry in the library.
    pub entry: LibraryEntry,
    /// The world.
    pub world: Arc<World>,
    /// Names of the objects, by index.
    pub names: Vec<Arc<str>>,
    /// Indices of the objects that are lights, sorted by name.
    pub(crate) lights: Vec<usize>,
    /// Response of `GET /world`.
    pub world_json: Bytes,
    /// Response of `GET /route`; `None` if the world has no route.
    pub route_json: Option<Bytes>,
    /// Response of `GET /bounds`; `None` if the world has no drivable surface that gives bounds.
    pub bounds_json: Option<Bytes>,
    /// Response of `GET /evaluation`; `None` if the world has no evaluation.
    pub evaluation_json: Option<Bytes>,
    /// SHA-256 over the world's files, hex; `None` if the library no longer had the world when the
    /// checksum was computed.
    pub(crate) sha256: Option<String>,
    /// What a seed changed; `None` if the world is as published.
    pub(crate) variation: Option<SeedVariation>,
    /// The world prepared for the renderer. The first call of `stage` prepares it, for example for
    /// a camera frame.
    stage: OnceLock<Arc<Stage>>,
    /// The world as a file for viewers. The file is made when the first viewer requests it.
    scene: OnceLock<Arc<SceneFile>>,
}

impl std::fmt::Debug for ServedWorld {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ServedWorld({})", self.name)
    }
}

impl ServedWorld {
    /// Prepares the responses that describe a world, as JSON. Fails if the configuration of the
    /// evaluation is not valid JSON.
    pub fn new(
        entry: LibraryEntry,
        world: Arc<World>,
        sha256: Option<String>,
    ) -> Result<ServedWorld, serde_json::Error> {
        let names: Vec<Arc<str>> = world.objects.iter().map(|o| Arc::from(o.name.as_str())).collect();
        let mut lights: Vec<usize> =
            (0..names.len()).filter(|&i| world.objects[i].object_type == ObjectType::Light).collect();
        lights.sort_by_key(|&i| &names[i]);
        let route = world.published_route().map(view::route_lines);
        let bounds = world.ground.bounds.as_ref().map(view::rect);
        let description = view::world(&entry, &world, route.clone(), bounds);
        let named_route = route.map(|lines| chicane_wire::Route { world: world.name.clone(), lines });
        Ok(ServedWorld {
            name: Arc::from(world.name.as_str()),
            file: Arc::from(format!("{}.world", world.name)),
            world_json: json(&description)?,
            route_json: named_route.map(|r| json(&r)).transpose()?,
            bounds_json: bounds.map(|b| json(&b)).transpose()?,
            evaluation_json: view::evaluation(&world)?.map(|e| json(&e)).transpose()?,
            entry,
            world,
            names,
            lights,
            sha256,
            variation: None,
            stage: OnceLock::new(),
            scene: OnceLock::new(),
        })
    }

    /// The world prepared for the renderer. The first call blocks while the world is prepared.
    pub fn stage(&self, profile: &Arc<Profile>) -> Arc<Stage> {
        if let Some(published) = self.variation.as_ref().and_then(SeedVariation::with_same_picture) {
            return published.stage(profile);
        }
        let profile = self.variation.as_ref().map_or(profile, SeedVariation::profile);
        Arc::clone(self.stage.get_or_init(|| Arc::new(Stage::new(&self.world, Arc::clone(profile)))))
    }

    /// The world as a file for viewers. The first call blocks while the file is made.
    pub fn scene(&self) -> Arc<SceneFile> {
        let make = || Arc::new(SceneFile::new(chicane_render::glb::world(&self.world)));
        Arc::clone(self.scene.get_or_init(make))
    }
}

fn json<T: serde::Serialize>(value: &T) -> Result<Bytes, serde_json::Error> {
    serde_json::to_vec(value).map(Bytes::from)
}
