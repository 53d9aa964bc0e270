//! The program as people start it.
#![allow(clippy::disallowed_methods)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn chicane(arguments: &[&str]) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    Command::new(env!("CARGO_BIN_EXE_chicane")).args(arguments).current_dir(root).output().expect("it starts")
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Fails with one line (of help, a few) and gives it.
fn refused(arguments: &[&str]) -> String {
    let output = chicane(arguments);
    assert!(!output.status.success() && output.stdout.is_empty(), "{arguments:?}");
    String::from_utf8_lossy(&output.stderr).trim_end().to_owned()
}

/// A folder for one test, gone afterwards.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        std::fs::create_dir_all(path.join("worlds")).expect("a folder");
        Scratch(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().expect("UTF-8")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn check_says_what_is_in_a_world() {
    let output = chicane(&["check", "worlds/oval"]);
    assert!(output.status.success());
    let text = out(&output);
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
fn a_lap_gives_the_same_time_every_time() {
    let time = || {
        let output = chicane(&["lap", "worlds/technical", "--speed", "1.5"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = out(&output);
        assert!(text.contains("0 objects touched"), "{text}");
        text.split(" s, ").next().map(str::to_owned)
    };
    assert_eq!(time(), time());
}

#[test]
fn mistakes_are_answered_with_what_would_be_right() {
    let unknown = refused(&["fly"]);
    assert!(unknown.contains("'fly'") && unknown.contains("--help"), "{unknown}");
    assert_eq!(
        refused(&["check", "no/such/place"]),
        "chicane: no/such/place is not a folder; a world's folder holds worlds/<name>.world"
    );
    let fast = refused(&["lap", "worlds/oval", "--speed", "fast"]);
    assert!(fast.contains("--speed takes metres a second from 0.1 to 3, not fast"), "{fast}");
}

#[test]
fn a_broken_world_is_named_with_its_place() {
    let scratch = Scratch::new("broken");
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
    let scratch = Scratch::new("link");
    let outside = scratch.0.with_extension("outside");
    std::fs::write(&outside, "<sdf version='1.7'><world name='w'/></sdf>").expect("written");
    std::os::unix::fs::symlink(&outside, scratch.0.join("worlds/w.world")).expect("linked");
    let message = refused(&["check", scratch.path()]);
    std::fs::remove_file(outside).expect("removed");
    assert_eq!(message, "chicane: worlds: a bundle needs a world file, worlds/<name>.world");
}
