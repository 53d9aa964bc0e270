//! A world as it is served: what does not change while it runs, written out once.

use crate::scene::SceneFile;
use crate::view;
use bytes::Bytes;
use chicane_render::Stage;
use chicane_store::LibraryEntry;
use chicane_world::world::ObjectType;
use chicane_world::{Profile, World};
use std::sync::{Arc, OnceLock};

/// A world that is loaded.
pub struct ServedWorld {
    pub name: Arc<str>,
    /// `<name>.world`.
    pub file: Arc<str>,
    pub entry: LibraryEntry,
    pub world: Arc<World>,
    /// Names of the objects, by index.
    pub names: Vec<Arc<str>>,
    /// Objects that are lights, by name.
    pub lights: Vec<usize>,
    /// Answers that never change.
    pub world_json: Bytes,
    pub route_json: Option<Bytes>,
    pub bounds_json: Option<Bytes>,
    pub evaluation_json: Option<Bytes>,
    /// Made ready for drawing when someone first wants a picture.
    stage: OnceLock<Arc<Stage>>,
    /// For viewers, likewise.
    scene: OnceLock<Arc<SceneFile>>,
}

impl std::fmt::Debug for ServedWorld {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ServedWorld({})", self.name)
    }
}

impl ServedWorld {
    pub fn new(entry: LibraryEntry, world: Arc<World>) -> Result<ServedWorld, serde_json::Error> {
        let names: Vec<Arc<str>> = world.objects.iter().map(|o| Arc::from(o.name.as_str())).collect();
        let mut lights: Vec<usize> =
            (0..names.len()).filter(|&i| world.objects[i].object_type == ObjectType::Light).collect();
        lights.sort_by_key(|&i| &names[i]);
        let route = world.route.as_ref().map(view::route_lines);
        let bounds = world.ground.bounds.as_ref().map(view::rect);
        let whole = view::world(&entry, &world, route.clone(), bounds);
        let named_route = route.map(|lines| chicane_wire::Route { world: world.name.clone(), lines });
        Ok(ServedWorld {
            name: Arc::from(world.name.as_str()),
            file: Arc::from(format!("{}.world", world.name)),
            world_json: json(&whole)?,
            route_json: named_route.map(|r| json(&r)).transpose()?,
            bounds_json: bounds.map(|b| json(&b)).transpose()?,
            evaluation_json: view::evaluation(&world)?.map(|e| json(&e)).transpose()?,
            entry,
            world,
            names,
            lights,
            stage: OnceLock::new(),
            scene: OnceLock::new(),
        })
    }

    /// The world ready to be drawn. The first call takes a while.
    pub fn stage(&self, profile: &Arc<Profile>) -> Arc<Stage> {
        Arc::clone(self.stage.get_or_init(|| Arc::new(Stage::new(&self.world, Arc::clone(profile)))))
    }

    /// The world for viewers. The first call takes a while.
    pub fn scene(&self) -> Arc<SceneFile> {
        let make = || Arc::new(SceneFile::new(chicane_render::glb::world(&self.world)));
        Arc::clone(self.scene.get_or_init(make))
    }
}

fn json<T: serde::Serialize>(value: &T) -> Result<Bytes, serde_json::Error> {
    serde_json::to_vec(value).map(Bytes::from)
}
