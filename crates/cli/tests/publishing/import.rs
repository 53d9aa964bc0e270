//! Tests of `chicane worlds import` with Gazebo folders.

use crate::program::{Program, TempFolder, stderr_of_failure};
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
    for expected in ["nowhere", "missing.dae", "plugin", "with a blank.dae", "README.md", "office.launch.py"]
    {
        assert!(
            report.lines().any(|l| l.starts_with("warning") && l.contains(expected)),
            "{expected} is not in\n{report}"
        );
    }
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
    assert!(
        report.contains("name       Number two") && report.contains("another world of the folder"),
        "{report}"
    );
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
