//! Tests of the command line.
#![allow(clippy::disallowed_methods)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn chicane(arguments: &[&str]) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    Command::new(env!("CARGO_BIN_EXE_chicane")).args(arguments).current_dir(root).output().expect("started")
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Runs a command that must fail without standard output, and returns its standard error.
fn refused(arguments: &[&str]) -> String {
    let output = chicane(arguments);
    assert!(!output.status.success() && output.stdout.is_empty(), "{arguments:?}");
    String::from_utf8_lossy(&output.stderr).trim_end().to_owned()
}

/// A temporary folder for one test. The folder is removed on drop.
struct TempFolder(PathBuf);

impl TempFolder {
    fn new(name: &str) -> TempFolder {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        // A killed process with the same id may have left the folder behind.
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(path.join("worlds")).expect("a folder");
        TempFolder(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().expect("UTF-8")
    }
}

impl Drop for TempFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_mistyped_command_or_option_suggests_the_closest() {
    for (words, near) in [
        (&["evalute"][..], "'evaluate'"),
        (&["worlds", "lst"], "'list'"),
        (&["serve", "--wrld", "oval"], "'--world'"),
    ] {
        let output = chicane(words);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(64) && text.contains(near), "{words:?}: {text}");
    }
}

#[test]
fn check_describes_a_world() {
    let output = chicane(&["check", "oval"]);
    assert!(output.status.success());
    let text = out(&output);
    let scratch = TempFolder::new("oval");
    let folder = scratch.0.join("built");
    let folder = folder.to_str().expect("a path");
    assert!(chicane(&["build", "worlds/oval.json", "-o", folder]).status.success());
    assert_eq!(out(&chicane(&["check", folder])), text, "the built-in world and its built files differ");
    for line in [
        "world      oval\n",
        "bounds     (0.00, 0.00) to (8.00, 6.00) m\n",
        "route      372 waypoints, 18.57 m\n",
        "objects    6 (1 box, 1 light, 4 wall)\n",
    ] {
        assert!(text.contains(line), "{line:?} not in\n{text}");
    }
}

#[test]
fn a_lap_gives_the_same_time_in_every_run() {
    let time = || {
        let output = chicane(&["lap", "worlds/technical.json", "--speed", "1.5"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = out(&output);
        assert!(text.contains("0 objects touched"), "{text}");
        text.split(" s, ").next().map(str::to_owned)
    };
    assert_eq!(time(), time());
}

#[test]
fn invalid_arguments_are_refused_with_the_valid_ones() {
    let unknown = refused(&["fly"]);
    assert!(unknown.contains("'fly'") && unknown.contains("--help"), "{unknown}");
    assert_eq!(
        refused(&["check", "no/such/place"]),
        "chicane: Unknown world \"no/such/place\". Give a project file, a folder, the id of an installed \
         world, or one of: field, oval, riverside, slalom, speedway, technical, town"
    );
    let fast = refused(&["lap", "oval", "--speed", "fast"]);
    assert!(fast.contains("'fast' for '--speed <SPEED>': must be a speed from 0.1 to 3 m/s"), "{fast}");
}

#[test]
fn an_invalid_world_is_reported_with_file_and_line() {
    let scratch = TempFolder::new("broken");
    let file = scratch.0.join("worlds/bad.world");
    std::fs::write(
        file,
        "<sdf version='1.7'>\n<world name='bad'>\n <gravity>0 0 nan</gravity>\n</world></sdf>",
    )
    .expect("written");
    let message = refused(&["check", scratch.path()]);
    assert!(message.starts_with("chicane: worlds/bad.world:3:2: "), "{message}");
    assert_eq!(message.lines().count(), 1, "{message}");
}

#[test]
fn a_link_out_of_the_bundle_is_not_followed() {
    let scratch = TempFolder::new("link");
    let outside = scratch.0.with_extension("outside");
    std::fs::write(&outside, "<sdf version='1.7'><world name='w'/></sdf>").expect("written");
    std::os::unix::fs::symlink(&outside, scratch.0.join("worlds/w.world")).expect("linked");
    let message = refused(&["check", scratch.path()]);
    std::fs::remove_file(outside).expect("removed");
    assert_eq!(message, "chicane: worlds: a bundle needs a world file, worlds/<name>.world");
}

#[test]
fn a_random_project_is_checked_built_and_driven() {
    let scratch = TempFolder::new("project");
    let (project, world) = (scratch.0.join("seven.json"), scratch.0.join("seven"));
    let (project, world) = (project.to_str().expect("UTF-8"), world.to_str().expect("UTF-8"));
    let made = chicane(&["new", "--random", "--seed", "7", "-o", project]);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    assert_eq!(out(&made), format!("{project}: random_7\n"));
    let again = chicane(&["new", "--random", "--seed", "7"]);
    assert_eq!(out(&again), std::fs::read_to_string(project).expect("a project"));

    let checked = chicane(&["check", project]);
    assert!(checked.status.success());
    assert!(out(&checked).starts_with("project    random_7 (Random track 7)\n"), "{}", out(&checked));

    // The second build replaces the files of the first one.
    for _ in 0..2 {
        let built = chicane(&["build", project, "-o", world]);
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        assert_eq!(out(&built), format!("{world}: 8 files of the world random_7\n"));
    }
    assert!(out(&chicane(&["check", world])).contains("objects    4 (4 wall)\n"));
    let lap = chicane(&["lap", world]);
    assert!(lap.status.success(), "{}", String::from_utf8_lossy(&lap.stderr));
    assert!(out(&lap).contains("0 objects touched"), "{}", out(&lap));
}

#[test]
fn an_example_with_images_is_built_with_them() {
    let scratch = TempFolder::new("everything");
    let world = scratch.0.join("built");
    let built =
        chicane(&["build", "examples/projects/everything.json", "-o", world.to_str().expect("UTF-8")]);
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let shipped = std::fs::read(world.join("meshes/everything/textures/field.png")).expect("a picture");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/projects/chequers.png");
    assert_eq!(shipped, std::fs::read(root).expect("a picture"));
}

#[test]
fn mistakes_in_projects_are_reported_with_their_place() {
    let scratch = TempFolder::new("mistakes");
    let path = scratch.0.join("bad.json");
    let bad = path.to_str().expect("UTF-8");
    std::fs::write(&path, "{\"version\": 1, \"nmae\": \"x\"}").expect("written");
    assert_eq!(
        refused(&["check", bad]),
        format!("chicane: {bad}: nmae is not a known field; did you mean \"name\"?")
    );
    let text = std::fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/projects/loop.json"),
    );
    let text = text.expect("a project").replace("\"cone1\"", "\"racetrack\"");
    std::fs::write(&path, text).expect("written");
    let checked = chicane(&["check", bad]);
    assert!(!checked.status.success());
    assert!(out(&checked).contains("error name-reserved: objects[1] (racetrack): "), "{}", out(&checked));
    assert!(String::from_utf8_lossy(&checked.stderr).ends_with("bad.json has an error\n"));
    let message = refused(&["build", bad, "-o", scratch.0.join("out").to_str().expect("UTF-8")]);
    assert!(message.contains("can't be built") && message.contains("name-reserved"), "{message}");
    assert!(!scratch.0.join("out").exists());
    // The target folder contains other files, so the build must be refused.
    let message = refused(&["build", "examples/projects/loop.json", "-o", scratch.path()]);
    assert!(message.ends_with("is not empty and contains something other than loop"), "{message}");
    let message = refused(&["new", "--random", "--width", "7"]);
    assert_eq!(message, "chicane: width must be from 0.2 to 3");
    assert!(refused(&["new", "--random", "--field", "big"]).contains("must be two numbers, such as 8x6"));
    assert!(refused(&["new", "--random", "-o", bad]).contains("bad.json already exists"));
}

#[test]
fn print_writes_a_floor_to_a_file() {
    let scratch = TempFolder::new("print");
    let file = scratch.0.join("floor.jpg");
    let path = file.to_str().expect("a path");
    let output = chicane(&["print", "worlds/oval.json", "-o", path, "--dpi", "10"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(
        out(&output).ends_with("floor.jpg: 3150 × 2362 pixels, 8.00 × 6.00 m at 10 dpi\n"),
        "{}",
        out(&output)
    );
    let progress = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(progress.contains("printing oval: 5") && progress.contains("printing oval: 100 %"), "{progress}");
    let picture = image::open(&file).expect("a picture");
    assert_eq!((picture.width(), picture.height()), (3150, 2362));
    assert!(refused(&["print", "oval", "-o", path, "--dpi", "9"]).contains("10..=600"));
    assert_eq!(
        refused(&["print", "oval", "-o", path, "--dpi", "600"]),
        "chicane: a floor of 8.0 × 6.0 m exceeds the JPEG limit of 65535 pixels per side: use at most 208 dpi"
    );
    assert!(refused(&["print", "oval", "-o", "/no/such/place.jpg"]).contains("/no/such/place.jpg"));
    let left: Vec<_> =
        std::fs::read_dir(&scratch.0).expect("a folder").map(|e| e.expect("e").file_name()).collect();
    assert!(left.iter().all(|n| !n.to_string_lossy().contains("part")), "{left:?}");
}
