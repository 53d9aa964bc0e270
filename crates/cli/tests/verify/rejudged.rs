//! A recorded drive is judged by another script, and written as tracks, as a film and with its
//! program.

use super::{assert_not_verified, assert_verified, record_in, save};
use crate::support::{TempFolder, chicane, last_line, record_of, text};
use chicane_store::run_file;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

const SCRIPT: &str =
    "def evaluate(sim):\n    sim.record(1)\n    if sim.state.time >= 1:\n        sim.finish()\n";

fn run(folder: &TempFolder) -> String {
    let world = folder.project(SCRIPT);
    let drive = folder.file("drive.csv", "0,0.5,0.1\n");
    save(folder, "run", &["--world", &world, "--drive", &drive])
}

#[test]
fn a_new_script_judges_the_same_drive() {
    let folder = TempFolder::new("rejudge");
    let file = run(&folder);
    let script = folder.file(
        "new.py",
        "def initialize(sim):\n    pass\n\ndef evaluate(sim):\n    sim.teleport(x=9, y=9)\n    if sim.state.time >= \
         0.5:\n        print('x', round(sim.state.pose.x, 2))\n        sim.record(7.5)\n        sim.finish()\n",
    );
    let output = chicane(&["rejudge", &file, "--script", &script]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let line = last_line(&output.stdout);
    assert_eq!(line, "finished  record 7.5 (before: finished 1)");
    let json = record_of(&chicane(&["rejudge", "--json", &file, "--script", &script]));
    assert_eq!((&json["record"], &json["before"]["record"]), (&7.5.into(), &1.into()), "{json}");
    // The car is where it was in the recorded run, not where the new script put it.
    let x =
        text(&output.stdout).lines().find_map(|line| line.strip_prefix("judge     x ")?.parse::<f64>().ok());
    assert!(x.is_some_and(|x| x < 8.0), "{output:?}");
}

#[test]
fn a_script_that_does_not_finish_ends_with_the_drive() {
    let folder = TempFolder::new("rejudge-endless");
    let file = run(&folder);
    let script =
        folder.file("new.py", "def initialize(sim):\n    pass\n\ndef evaluate(sim):\n    sim.record(2)\n");
    let output = chicane(&["rejudge", &file, "--script", &script]);
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    assert_eq!(
        last_line(&output.stdout),
        "stopped   record 2 (before: finished 1): the recorded drive is over"
    );
    let broken = folder
        .file("broken.py", "def initialize(sim):\n    raise ValueError('no')\n\ndef evaluate(sim): pass\n");
    assert_eq!(chicane(&["rejudge", &file, "--script", &broken]).status.code(), Some(3));
    assert_eq!(chicane(&["rejudge", &script, "--script", &script]).status.code(), Some(64));
}

#[test]
fn tracks_have_the_poses_of_the_run() {
    let folder = TempFolder::new("tracks");
    let file = run(&folder);
    let output = chicane(&["replay", &file, "--tracks", "-"]);
    assert!(output.status.success(), "{:?}", text(&output.stderr));
    let bytes = output.stdout;
    assert_eq!(&bytes[..8], b"CHTRACK1");
    let length = u32::from_le_bytes(bytes[8..12].try_into().expect("4 bytes")) as usize;
    assert_eq!((12 + length) % 8, 0);
    let header: Value = serde_json::from_slice(&bytes[12..12 + length]).expect("JSON");
    assert_eq!(
        (&header["duration"], &header["samples"], &header["complete"]),
        (&1.0.into(), &51.into(), &true.into())
    );
    let data = &bytes[12 + length..];
    let column = |name: &str| -> Vec<f64> {
        let columns = header["columns"].as_array().expect("columns");
        let column = columns.iter().find(|column| column["name"] == name).expect("a column");
        let (offset, count) = (column["offset"].as_u64(), column["count"].as_u64());
        let (offset, count) = (offset.expect("an offset") as usize, count.expect("a count") as usize);
        let number = |at: usize| match column["type"].as_str() {
            Some("f64") => f64::from_le_bytes(data[offset + 8 * at..][..8].try_into().expect("8 bytes")),
            _ => f64::from(f32::from_le_bytes(data[offset + 4 * at..][..4].try_into().expect("4 bytes"))),
        };
        (0..count).map(number).collect()
    };
    let (times, x, speed) = (column("time"), column("x"), column("speed"));
    assert!(times.iter().enumerate().all(|(i, time)| (time - 0.02 * i as f64).abs() < 1e-9), "{times:?}");
    let (y, moved) = (column("y"), |of: &[f64]| of[50] - of[0]);
    assert!(x.len() == 51 && moved(&x).hypot(moved(&y)) > 0.2, "{x:?} {y:?}");
    assert!(speed[50] > 0.4 && column("command_speed")[50] == 0.5, "{speed:?}");
}

/// The file of a run contains the program only on request, and only if the program is the one that
/// was judged.
#[test]
fn the_file_of_a_run_can_have_the_program() {
    let folder = TempFolder::new("run-program");
    let world = folder.project(SCRIPT);
    let workspace = folder.workspace("run.sh", "sleep 2\n");
    folder.workspace("lib/helper.py", "x = 1\n");
    std::os::unix::fs::symlink("run.sh", Path::new(&workspace).join("link.sh")).expect("a link");
    let data = folder.path("data");
    let common =
        ["--world", &world, "--workspace", &workspace, "--command", "sh run.sh", "--data-dir", &data];
    let plain = save(&folder, "plain", &common);
    let with = save(&folder, "with", &[&common[..], &["--save-program"]].concat());
    assert_verified(&with);
    let (session, exported) = (record_in(&plain)["session"].clone(), folder.path("exported.chicane"));
    let session = session.as_str().expect("an id");
    let export = ["records", "export", "--run", session, "-o", &exported, "--data-dir", &data, "--program"];
    let output = chicane(&[&export[..], &[&workspace]].concat());
    assert!(output.status.success(), "{output:?}");
    assert_verified(&exported);
    let out = folder.path("program");
    assert!(chicane(&["replay", &exported, "--program", &out]).status.success());
    assert_eq!(std::fs::read_to_string(format!("{out}/lib/helper.py")).expect("a file"), "x = 1\n");
    assert_eq!(std::fs::read_link(format!("{out}/link.sh")).expect("a link"), Path::new("run.sh"));
    // An existing folder is not overwritten. For a file without a program, the command reports an
    // error.
    assert!(!chicane(&["replay", &exported, "--program", &out]).status.success());
    let output = chicane(&["replay", &plain, "--program", &folder.path("none")]);
    assert_eq!(output.status.code(), Some(64), "{output:?}");
    folder.workspace("lib/helper.py", "x = 2\n");
    let output = chicane(&[&export[..], &[&workspace]].concat());
    assert!(last_line(&output.stderr).contains("is not the one of this run"), "{output:?}");
    // The verification detects the changed program by its hash in the record. The checksum of the
    // run file does not reveal the change, because `pack` has computed a new checksum.
    let mut parts = run_file::unpack(&std::fs::read(&exported).expect("read")).expect("a run file");
    parts.insert("program/f/lib/helper.py".to_owned(), b"x = 3\n".to_vec());
    std::fs::write(&exported, run_file::pack(&parts)).expect("written");
    assert!(assert_not_verified(&exported).contains("\"program\" in the record"));
}

/// `chicane replay` passes all pictures of the film to the program `ffmpeg`. In this test, `ffmpeg`
/// is a script that counts the bytes of the pictures.
#[test]
fn a_film_has_all_pictures_of_the_run() {
    let folder = TempFolder::new("film");
    let file = run(&folder);
    let ffmpeg = folder.file("bin/ffmpeg", "#!/bin/sh\nfor out; do :; done\nwc -c > \"$out\"\n");
    std::fs::set_permissions(&ffmpeg, std::fs::Permissions::from_mode(0o755)).expect("executable");
    let path = format!("{}:{}", folder.path("bin"), std::env::var("PATH").expect("a path"));
    let film = folder.path("film.mp4");
    let replay = |path: &str, film: &str| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_chicane"));
        command.args(["replay", &file, "--video", film]).env("PATH", path).output().expect("started")
    };
    let output = replay(&path, &film);
    assert!(output.status.success(), "{output:?}");
    let bytes: u64 = std::fs::read_to_string(&film).expect("written").trim().parse().expect("a number");
    // The run takes one second: the film has 30 pictures of this second, and a picture of its end.
    assert_eq!(bytes, 31 * 1280 * 720 * 3);
    let output = replay(&path, &folder.path("film.gif"));
    assert!(last_line(&output.stderr).contains("must end with .mp4 or .webm"), "{output:?}");
    let output = replay("/nowhere", &film);
    assert!(last_line(&output.stderr).contains("needs the program ffmpeg"), "{output:?}");
}
