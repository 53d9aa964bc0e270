//! Tests of `chicane worlds import` with Gazebo folders.

use crate::program::{Program, TempFolder, command, stderr_of_failure};
use crate::{get, output_of};
use serde_json::json;
use std::path::Path;

fn write(folder: &str, path: &str, text: &str) {
    let file = Path::new(folder).join(path);
    std::fs::create_dir_all(file.parent().expect("a folder")).expect("made");
    std::fs::write(file, text).expect("written");
}

const WORLD: &str = "<?xml version='1.0'?><sdf version='1.6'><world name='office'>
  <physics type='ode'><max_step_size>0.001</max_step_size></physics>
  <plugin name='x' filename='libx.so'/>
  <include><uri>model://sun</uri></include>
  <include><uri>model://ground_plane</uri></include>
  <include><uri>model://desk</uri><name>desk_1</name><pose>2 1 0 0 0 0</pose></include>
  <include><uri>model://nowhere</uri></include>
  <model name='crate'><pose>1 2 0.1 0 0 0</pose><link name='object'>
    <collision name='c'><geometry><box><size>0.2 0.2 0.2</size></box></geometry></collision>
    <visual name='v'><geometry><mesh><uri>model://meshes/missing.dae</uri></mesh></geometry></visual>
  </link></model></world></sdf>";

const DESK: &str = "<?xml version='1.0'?><sdf version='1.6'><model name='desk'><static>true</static><link name='l'>
    <collision name='c'><geometry><box><size>1 0.5 0.7</size></box></geometry></collision></link></model></sdf>";

fn office(folder: &str) {
    write(folder, "worlds/my office.world", WORLD);
    write(
        folder,
        "models/desk/model.config",
        "<model><name>TestFolder</name><sdf version='1.6'>model.sdf</sdf></model>",
    );
    write(folder, "models/desk/model.sdf", DESK);
    write(folder, "launch/office.launch.py", "x");
    write(folder, "meshes/with a blank.dae", "x");
    write(folder, ".git/config", "x");
    write(folder, "README.md", "x");
}

#[test]
fn a_gazebo_folder_is_imported_with_a_report() {
    let (folder, data) = (TempFolder::new("gazebo"), TempFolder::new("gazebo-data"));
    office(folder.path());
    let report = output_of(&["worlds", "--data-dir", data.path(), "import", folder.path()]);
    let name = report.lines().next().expect("a name").to_owned();
    assert!(name.starts_with("custom_") && name.len() == 39, "{report}");
    assert!(report.contains("name       my office"), "{report}");
    for expected in ["nowhere", "missing.dae", "plugin"] {
        assert!(
            report.lines().any(|l| l.starts_with("warning") && l.contains(expected)),
            "{expected} is not in\n{report}"
        );
    }
    // Only the files that the world uses are copied.
    assert!(report.contains("files      3\n"), "{report}");
    let copied = crate::walk(&Path::new(data.path()).join("worlds"));
    assert!(!copied.iter().any(|path| path.contains("blank") || path.contains("README")), "{copied:?}");
    let program = Program::serve(&["--data-dir", data.path(), "--world", &name]);
    let mut client = program.client();
    let objects = get(&mut client, "/objects");
    assert_eq!(objects["objects"][0]["name"], "crate");
    let world = get(&mut client, "/world");
    assert_eq!((&world["display"], &world["world_id"]), (&json!("my office"), &json!(&name[7..])));
    let listed = get(&mut client, "/worlds");
    let entry = listed["worlds"].as_array().expect("worlds").last().expect("worlds").clone();
    assert_eq!((&entry["verified"], &entry["deletable"]), (&json!(true), &json!(true)));
    // The imported world has no track, so it cannot be published.
    let refused = stderr_of_failure(&["publish", folder.path(), "--data-dir", data.path()], &[]);
    assert!(refused.contains("track model"), "{refused}");
}

#[test]
fn a_folder_with_several_worlds_requires_the_option_world() {
    let (folder, data) = (TempFolder::new("several"), TempFolder::new("several-data"));
    office(folder.path());
    write(folder.path(), "worlds/second.sdf", &WORLD.replace("'office'", "'second'"));
    let import = ["worlds", "--data-dir", data.path(), "import", folder.path()];
    let refused = stderr_of_failure(&import, &[]);
    assert!(
        refused.contains("--world") && refused.contains("second") && refused.contains("my office"),
        "{refused}"
    );
    let report = output_of(&[&import[..], &["--world", "second", "--name", "Number two"]].concat());
    assert!(report.contains("name       Number two"), "{report}");
    let all = output_of(&[&import[..], &["--all"]].concat());
    assert!(all.contains("as         my_office\n") && all.contains("as         second\n"), "{all}");
    assert!(all.ends_with("imported   2 of 2 worlds"), "{all}");
    assert!(
        stderr_of_failure(&[&import[..], &["--world", "third"]].concat(), &[])
            .contains("has no world file worlds/third.world")
    );
    let nothing = stderr_of_failure(&["worlds", "--data-dir", data.path(), "import", "no/such/folder"], &[]);
    assert!(nothing.contains("is not a folder"), "{nothing}");
    write(folder.path(), "worlds/torn.world", "<sdf version='1.6'><world");
    let torn = stderr_of_failure(&[&import[..], &["--world", "torn"]].concat(), &[]);
    assert!(torn.contains("can't be imported") && torn.contains(".world"), "{torn}");
    assert!(crate::walk(&Path::new(data.path()).join("staging")).is_empty());
}

/// A typical collection: two valid worlds that share a model, a broken world, names with spaces,
/// files outside of the folders of a bundle, and much that no world uses.
fn collection(folder: &str) {
    let world = |name: &str, uri: &str| {
        format!(
            "<sdf version='1.6'><world name='yard'><include><uri>model://ground_plane</uri></include>
             <include><uri>{uri}</uri><name>{name}</name><pose>4 0 0 0 0 0</pose></include></world></sdf>"
        )
    };
    write(folder, "indoor/worlds/big hall.world", &world("shelf_1", "model://my shelf"));
    write(folder, "outdoor/yard.sdf", &world("shelf_2", "model://my%20shelf"));
    write(folder, "outdoor/broken.world", "<sdf version='1.6'><world name='b'><model/></world></sdf>");
    let model = "<sdf version='1.6'><model name='shelf'><static>1</static><link name='l'>
        <visual name='v'><geometry><mesh><uri>meshes/a board.obj</uri></mesh></geometry></visual>
        <collision name='c'><geometry><mesh><uri>meshes/a board.obj</uri></mesh></geometry></collision>
        </link></model></sdf>";
    write(folder, "my shelf/model.config", "<model><sdf version='1.6'>the shelf.sdf</sdf></model>");
    write(folder, "my shelf/the shelf.sdf", model);
    let board = "mtllib a board.mtl\nusemtl wood\nv 0 0 1\nv 1 0 1\nv 0 1 1\nf 1 2 3\n";
    write(folder, "my shelf/meshes/a board.obj", board);
    write(folder, "my shelf/meshes/a board.mtl", "newmtl wood\nKd 0.6 0.4 0.2\n");
    for i in 0..50 {
        write(folder, &format!("other model {i}/meshes/huge.dae"), &"x".repeat(100_000));
    }
}

#[test]
fn a_world_of_a_collection_brings_the_files_that_it_uses_and_keeps_its_name() {
    let (folder, data) = (TempFolder::new("collection"), TempFolder::new("collection-data"));
    collection(folder.path());
    let import = ["worlds", "--data-dir", data.path(), "import", folder.path()];
    let refused = stderr_of_failure(&import, &[]);
    assert!(refused.contains("big hall, broken, yard") && refused.contains("--all"), "{refused}");
    let taken = stderr_of_failure(&[&import[..], &["--world", "yard", "--as", "oval"]].concat(), &[]);
    assert!(taken.contains("is the name of a built-in world"), "{taken}");
    let wrong = stderr_of_failure(&[&import[..], &["--world", "yard", "--as", "a b"]].concat(), &[]);
    assert!(wrong.contains("letters, digits, dashes and underscores"), "{wrong}");
    let report = output_of(&[&import[..], &["--world", "big hall", "--as", "hall"]].concat());
    assert!(report.contains("name       big hall\nas         hall\nfiles      5"), "{report}");
    let is_other = |line: &&str| line.starts_with("warning") && !line.contains("is renamed to");
    assert_eq!(report.lines().find(is_other), None);
    let id = report.lines().next().expect("a name").to_owned();
    let program = Program::serve(&["--data-dir", data.path(), "--world", "oval"]);
    let mut client = program.client();
    let switched = client.post("/sim/api/switch", r#"{"world":"hall.world"}"#);
    assert_eq!(switched.status, 200, "{}", switched.text());
    assert_eq!(get(&mut client, "/world")["world"], json!(id));
    drop(client);
    drop(program);
    // If two imports use the same name, the name belongs to the world that was imported last.
    let second = output_of(&[&import[..], &["--world", "outdoor/yard.sdf", "--as", "hall"]].concat());
    let found = stderr_of_failure(&["lap", "hall", "--data-dir", data.path()], &[]);
    assert!(found.contains(second.lines().next().expect("a name")), "{found}");
}

#[test]
fn a_broken_world_does_not_stop_the_import_of_the_others() {
    let (folder, data) = (TempFolder::new("many"), TempFolder::new("many-data"));
    collection(folder.path());
    let import = ["worlds", "--data-dir", data.path(), "import", folder.path(), "--all"];
    let output = command(&import, &[]).output().expect("started");
    let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(!output.status.success() && errors.contains("1 of 3 worlds could not be imported"), "{errors}");
    assert!(errors.contains("importing"), "the progress is shown: {errors}");
    assert!(text.contains("failed     ") && text.contains("broken.world"), "{text}");
    assert!(text.contains("as         big_hall\n") && text.contains("as         yard\n"), "{text}");
    assert!(text.ends_with("imported   2 of 3 worlds\n"), "{text}");
}

#[test]
fn a_bare_world_file_is_opened_with_search_paths() {
    let folder = TempFolder::new("bare");
    collection(folder.path());
    let world = format!("{}/outdoor/yard.sdf", folder.path());
    let without = output_of(&["check", &world]);
    assert!(without.contains("my%20shelf\" was not found"), "{without}");
    let with = output_of(&["check", &world, "--resource-path", folder.path()]);
    assert!(with.starts_with("world      yard\n") && !with.contains("warning"), "{with}");
    let paths = format!(":/nowhere:{}", folder.path());
    let found = command(&["check", &world], &[("GZ_SIM_RESOURCE_PATH", &paths)]).output().expect("started");
    assert_eq!(String::from_utf8_lossy(&found.stdout).trim_end(), with);
    let data = TempFolder::new("bare-data");
    let arguments = ["--data-dir", data.path(), "--world", &world, "--resource-path", folder.path()];
    let program = Program::serve(&arguments);
    assert_eq!(get(&mut program.client(), "/world")["world"], json!("yard"));
    let no_route = stderr_of_failure(&["lap", &world, "--resource-path", folder.path()], &[]);
    assert!(no_route.contains("yard has no closed route"), "{no_route}");
    let picture = format!("{}/floor.jpg", folder.path());
    let area = ["print", &world, "-o", &picture, "--dpi", "10", "--area", "-1,-2,3,1"];
    assert!(output_of(&area).contains("4.00 × 3.00 m"), "the area of the option is printed");
    let wrong = stderr_of_failure(&["print", &world, "-o", &picture, "--area", "1,1,1,2"], &[]);
    assert!(wrong.contains("four numbers of metres"), "{wrong}");
}
