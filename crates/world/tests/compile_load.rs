//! Tests the loading of whole bundles: the world file, its route, its evaluation and its includes.

mod sdf_support;

use chicane_world::{Assets, MemoryBundle, Route, World, npy, sdf};
use sdf_support::{load, objects_bundle, warnings, world_text};

fn refusal(bundle: &MemoryBundle) -> String {
    World::load(&Assets::of(bundle)).expect_err("refused").to_string()
}

fn route(points: &[[f64; 2]]) -> Vec<u8> {
    let values = points.iter().flatten().copied().collect();
    npy::write(&npy::Array { rows: points.len(), columns: 2, values })
}

#[test]
fn a_bundle_must_have_exactly_one_world_file() {
    let mut bundle = MemoryBundle::default();
    assert_eq!(refusal(&bundle), "worlds: a bundle needs a world file, worlds/<name>.world");
    bundle.insert("worlds/a.world", world_text(""));
    bundle.insert("worlds/readme.txt", "not a world");
    bundle.insert("worlds/old/b.world", world_text(""));
    assert!(World::load(&Assets::of(&bundle)).is_ok());
    bundle.insert("worlds/b.world", world_text(""));
    assert_eq!(
        refusal(&bundle),
        "worlds/b.world: a bundle must have exactly one world file; this is a second one"
    );
    let shared = bundle;
    let empty = MemoryBundle::default();
    let error = World::load(&Assets::with_shared(&empty, &shared)).expect_err("not from the shared assets");
    assert_eq!(error.location.file, "worlds");
}

#[test]
fn the_file_name_gives_the_name_of_the_world() {
    let mut bundle = MemoryBundle::default();
    bundle.insert("worlds/oval.world", world_text(""));
    let world = World::load(&Assets::of(&bundle)).expect("loads");
    assert_eq!(world.name, "oval");
    assert_eq!(
        warnings(&world),
        ["worlds/oval.world: world \"t\" is renamed to \"oval\", the name of its file"]
    );
}

#[test]
fn the_car_starts_on_the_route() {
    let world = load("", &[]).expect("loads");
    assert_eq!((world.spawn, world.route.is_none()), (chicane_world::Pose::IDENTITY, true));
    let points = [[2.0, 1.0], [2.0, 1.0], [2.0, 3.0], [0.0, 3.0], [2.0, 1.0]];
    let ground = "<include><uri>model://ground_plane</uri><pose>0 0 0.25 0 0 0</pose></include>";
    let bytes = route(&points);
    let world = load(ground, &[("routes/t.npy", &bytes)]).expect("loads");
    assert_eq!(world.spawn.position.to_array(), [2.0, 1.0, 0.25]);
    assert!((world.spawn.yaw() - std::f64::consts::FRAC_PI_2).abs() < 1e-12, "the repeated point is skipped");
    assert_eq!(world.route, Some(Route::from_npy("r", &bytes).expect("readable")));
    let error = load("", &[("routes/t.npy", b"nonsense")]).expect_err("unreadable");
    assert_eq!(error.location.file, "routes/t.npy");
    assert!(load("", &[("routes/other.npy", b"nonsense")]).expect("not its route").route.is_none());
}

#[test]
fn an_evaluation_needs_both_files() {
    let json: &[u8] =
        br#"{"version":1,"config":{"description":"d","better":"lower","time_limit_s":60,"robot":"gen1"}}"#;
    let script: &[u8] = b"def evaluate(sim):\n    pass\n";
    let error = load("", &[("evaluations/t.json", json)]).expect_err("no script");
    assert_eq!(error.to_string(), "evaluations/t.json: the evaluation also needs evaluations/t.py");
    let error = load("", &[("evaluations/t.py", script)]).expect_err("no document");
    assert_eq!(error.to_string(), "evaluations/t.py: the evaluation also needs evaluations/t.json");
    let error =
        load("", &[("evaluations/t.json", b"{"), ("evaluations/t.py", script)]).expect_err("unreadable");
    assert_eq!(error.location.file, "evaluations/t.json");
    let both = load("", &[("evaluations/t.json", json), ("evaluations/t.py", script)]).expect("loads");
    assert_eq!(both.evaluation.expect("there").time_limit_s, 60.0);
    assert!(load("", &[]).expect("loads").evaluation.is_none());
}

#[test]
fn an_include_overrides_name_and_pose() {
    let model = "<sdf version='1.7'><model name='own'><static>1</static><pose>1 2 3 0 0 0</pose><link name='l'>
        <collision name='c'><geometry><box><size>1 1 1</size></box></geometry></collision></link></model></sdf>";
    let files: [(&str, &[u8]); 1] = [("models/m/model.sdf", model.as_bytes())];
    let world = load(
        "<include><uri>model://m</uri></include>
         <include><uri>model://models/m</uri><name>second</name><pose>9 0 0 0 0 0</pose></include>
         <include><uri>../models/m/</uri><name>third</name><pose/></include>
         <include><uri>model://m/model.sdf</uri></include>",
        &files,
    )
    .expect("loads");
    let names: Vec<_> = world.fixed_names.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names, ["own", "second", "third", "own_2"]);
    let at: Vec<_> = world.scenery.iter().map(|s| s.pose.position.to_array()).collect();
    assert_eq!(at, [[1.0, 2.0, 3.0], [9.0, 0.0, 0.0], [0.0; 3], [1.0, 2.0, 3.0]]);
}

#[test]
fn a_package_name_before_the_folders_is_ignored() {
    let model: &[u8] = b"<sdf version='1.4'><model name='a'><link name='l'/></model></sdf>";
    let config = sdf::write_config("a", "a_model.sdf", "1.4");
    let files: [(&str, &[u8]); 2] =
        [("models/a/model.config", config.as_bytes()), ("models/a/a_model.sdf", model)];
    let inside = "<include><uri>model://some_package/models/a</uri><name>racetrack</name></include>";
    let world = load(inside, &files).expect("loads");
    assert!(world.fixed_names[0].is_track && world.warnings.is_empty());
}

#[test]
fn relative_uris_start_at_the_folder_of_the_model() {
    let dae = sdf_support::box_mesh([1.0; 3], None);
    let model = "<sdf version='1.7'><model name='own'><link name='l'><visual name='v'><geometry>
        <mesh><uri>meshes/x.dae</uri></mesh></geometry></visual></link></model></sdf>";
    let files: [(&str, &[u8]); 2] =
        [("models/m/model.sdf", model.as_bytes()), ("models/m/meshes/x.dae", &dae)];
    let world = load("<include><uri>model://m</uri></include>", &files).expect("loads");
    assert_eq!((world.scene.meshes.len(), world.warnings.len()), (1, 0));
}

#[test]
fn an_error_in_an_included_model_has_its_file_and_line() {
    let error =
        load("<include><uri>model://m</uri></include>", &[("models/m/model.sdf", b"<sdf>\n<model/></sdf>")])
            .expect_err("refused");
    assert_eq!(error.to_string(), "models/m/model.sdf:2:1: <model> needs a name");
}

#[test]
fn loading_twice_gives_the_same_world() {
    let bundle = objects_bundle();
    let load = || World::load(&Assets::of(&bundle)).expect("loads");
    assert_eq!(format!("{:?}", load()), format!("{:?}", load()));
}
