//! A track as the files of a bundle.

use super::mesh::{FENCE_HEIGHT_M, fence};
use super::things::Thing;
use super::{Track, mesh};
use chicane_world::spec::{
    CollisionSpec, Entry, Geometry, IncludeSpec, LinkSpec, ModelSpec, PoseSpec, Spec, VisualSpec,
};
use chicane_world::{MemoryBundle, Route, collada, route, sdf};
use glam::DVec2;

/// The judging script of every shipped world.
const LAP_TIME: &str = include_str!("../../../../python/judge/templates/lap_time.py");
const SDF_VERSION: &str = "1.7";

pub(super) fn write(track: &Track) -> MemoryBundle {
    // A road that the car can't drive, or that crosses itself, is a slip of the pen above.
    assert!(track.line.least_radius() > 0.5, "{}: bends of {} m", track.name, track.line.least_radius());
    assert!(track.line.least_gap(2.0 * track.width) > track.width, "{}: the road overlaps", track.name);

    let name = track.name;
    let mut bundle = MemoryBundle::default();
    bundle.insert(format!("worlds/{name}.world"), sdf::write(&world(track)));
    bundle.insert(format!("models/{name}/model.config"), sdf::write_config(name, "model.sdf", SDF_VERSION));
    bundle.insert(format!("models/{name}/model.sdf"), sdf::write_model(&model(track), SDF_VERSION));
    bundle.insert(format!("meshes/{name}/{name}.dae"), collada::write(&mesh::build(track)));
    bundle.insert(format!("routes/{name}.npy"), route(track).to_npy());
    bundle.insert(format!("evaluations/{name}.json"), config(track));
    bundle.insert(format!("evaluations/{name}.py"), LAP_TIME);
    bundle
}

fn world(track: &Track) -> Spec {
    let include = |uri: &str, name: Option<&str>| {
        let name = name.map(str::to_owned);
        Entry::Include(IncludeSpec { uri: uri.to_owned(), name, ..IncludeSpec::default() })
    };
    let mut entries = vec![
        include("model://sun", None),
        include(&format!("model://models/{}", track.name), Some("racetrack")),
    ];
    for (i, (low, high)) in fence(track.size).into_iter().enumerate() {
        let (centre, size) = (0.5 * (low + high), high - low);
        let wall = Thing::wall(i, centre.to_array(), [size.x, size.y, FENCE_HEIGHT_M]);
        entries.push(Entry::Model(wall.model));
    }
    entries.extend(track.things.iter().map(|t| Entry::Model(t.model.clone())));
    Spec { version: SDF_VERSION.to_owned(), name: track.name.to_owned(), entries, ..Spec::default() }
}

/// The track's model: it is seen as one mesh and solid as a plane.
fn model(track: &Track) -> ModelSpec {
    let uri = format!("model://meshes/{0}/{0}.dae", track.name);
    let link = LinkSpec {
        name: "link".to_owned(),
        collisions: vec![CollisionSpec {
            name: "ground".to_owned(),
            geometry: Geometry::Plane { normal: [0.0, 0.0, 1.0], size: track.size },
            ..CollisionSpec::default()
        }],
        visuals: vec![VisualSpec {
            name: "track".to_owned(),
            geometry: Geometry::Mesh { uri, scale: [1.0; 3], submesh: None },
            ..VisualSpec::default()
        }],
        ..LinkSpec::default()
    };
    ModelSpec {
        name: track.name.to_owned(),
        pose: PoseSpec::default(),
        is_static: true,
        links: vec![link],
        ..ModelSpec::default()
    }
}

fn route(track: &Track) -> Route {
    let n = track.line.points.len();
    let side = |offset: f64| -> Vec<DVec2> { (0..=n).map(|i| track.line.beside(i, offset)).collect() };
    let half = 0.5 * track.width;
    // All shipped tracks run counter-clockwise: inside is to the left.
    Route { centre: side(0.0), borders: Some(route::Borders { inner: side(half), outer: side(-half) }) }
}

fn config(track: &Track) -> String {
    format!(
        "{{\n  \"version\": 1,\n  \"config\": {{\n    \"description\": \"{}\",\n    \"better\": \"lower\",\n    \"time_limit_s\": 180,\n    \"robot\": \"gen1\"\n  }}\n}}\n",
        track.description
    )
}
