//! Tests the resolution of frames. The poses must equal the poses that libsdformat 12.3 computes,
//! and invalid frames must be refused.

mod sdf_support;

use chicane_world::{Assets, MemoryBundle, Pose, Warnings, compile, sdf};
use glam::{DQuat, DVec3};
use sdf_support::{fixture_models, load, read};
use std::collections::BTreeMap;

/// Compares all poses of a world file with a golden file. A line of the golden file contains a
/// name, a position and a quaternion.
fn check(file: &str, text: &str, golden: &str, models: &MemoryBundle) {
    let spec = sdf::read(file, text.as_bytes(), &mut Warnings::default()).expect("readable");
    let ours: BTreeMap<String, Pose> =
        compile::poses(&spec, &Assets::of(models)).expect("resolvable").into_iter().collect();
    let mut compared = 0;
    for line in golden.lines() {
        let (name, numbers) = line.split_once(' ').expect("a name");
        let n: Vec<f64> = numbers.split(' ').map(|w| w.parse().expect("a number")).collect();
        let Some(pose) = ours.get(name) else { unreachable!("{file}: no {name}") };
        let distance = (pose.position - DVec3::new(n[0], n[1], n[2])).length();
        let rotation = DQuat::from_xyzw(n[3], n[4], n[5], n[6]);
        // A quaternion and its negative are the same rotation.
        let difference = (pose.rotation - rotation).length().min((pose.rotation + rotation).length());
        assert!(distance < 1e-9 && difference < 1e-9, "{file}: {name}: {pose:?}, should be {line}");
        compared += 1;
    }
    assert_eq!(compared, ours.len(), "{file}: poses are missing in the golden file");
}

#[test]
fn poses_agree_with_libsdformat() {
    let models = fixture_models();
    for (name, text, golden) in [
        ("frames", include_str!("fixtures/sdf/frames.world"), include_str!("fixtures/sdf/frames.golden")),
        ("legacy", include_str!("fixtures/sdf/legacy.world"), include_str!("fixtures/sdf/legacy.golden")),
        ("random", include_str!("fixtures/sdf/random.world"), include_str!("fixtures/sdf/random.golden")),
    ] {
        check(name, text, golden, &models);
    }
}

fn refusal(inside: &str) -> String {
    load(inside, &[]).expect_err("should be refused").to_string()
}

#[test]
fn cyclic_poses_and_attachments_are_refused() {
    let frame =
        |name, to| format!("<frame name='{name}'><pose relative_to='{to}'>0 0 0 0 0 0</pose></frame>");
    assert_eq!(
        refusal(&(frame("a", "b") + &frame("b", "c") + &frame("c", "a"))),
        "worlds/t.world:4:1: the pose of \"a\" depends on itself"
    );
    assert_eq!(refusal(&frame("a", "a")), "worlds/t.world:4:1: the pose of \"a\" depends on itself");
    assert_eq!(
        refusal("<frame name='a' attached_to='b'/><frame name='b' attached_to='a'/>"),
        "worlds/t.world:4:1: frame \"a\" is attached to itself"
    );
    // The pose of this nested model is relative to a frame inside the model itself, so the pose
    // depends on itself.
    assert_eq!(
        refusal(
            "<model name='m'><link name='l'/><model name='n'><pose relative_to='n::f'/>
             <link name='l'/><frame name='f'/></model></model>"
        ),
        "worlds/t.world:4:33: the pose of \"n\" depends on itself"
    );
}

#[test]
fn unknown_frames_are_refused() {
    for (inside, message) in [
        (
            "<model name='m'><pose relative_to='nobody'/><link name='l'/></model>",
            "4:17: no frame named \"nobody\" in the world",
        ),
        (
            "<model name='m'><link name='l'><pose relative_to='x'/></link></model>",
            "4:32: no frame named \"x\" in model \"m\"",
        ),
        (
            "<model name='m'><link name='l'><visual name='v'><pose relative_to='m::x'/><geometry/></visual></link></model>",
            "4:49: no frame named \"m::x\" in model \"m\"",
        ),
        (
            "<model name='m' placement_frame='x'><link name='l'/></model>",
            "4:1: no frame named \"x\" in model \"m\"",
        ),
        ("<frame name='f' attached_to='x'/>", "4:1: no frame named \"x\" in the world"),
        ("<frame name='f'><pose relative_to='f::g'/></frame>", "4:17: no frame named \"f::g\" in the world"),
    ] {
        assert_eq!(refusal(inside), format!("worlds/t.world:{message}"));
    }
}

#[test]
fn a_chain_of_a_hundred_thousand_frames_is_resolved() {
    // The frames are in reverse order, so that the first frame depends on all others.
    let mut inside = String::new();
    for i in 0..99_000 {
        inside += &format!("<frame name='f{i}'><pose relative_to='f{}'>0 0 1 0 0 0</pose></frame>", i + 1);
    }
    inside += "<frame name='f99000'/>";
    let (spec, _) = read(&inside).expect("readable");
    let poses = compile::poses(&spec, &Assets::of(&MemoryBundle::default())).expect("resolvable");
    assert_eq!(poses[0].1.position.z, 99_000.0);
}

#[test]
fn a_long_chain_of_attachments_is_resolved() {
    let mut inside = String::new();
    for i in 0..150_000 {
        inside += &format!("<frame name='f{i}' attached_to='f{}'/>", i + 1);
    }
    inside += "<frame name='f150000'/>";
    let (spec, _) = read(&inside).expect("readable");
    assert_eq!(compile::poses(&spec, &Assets::of(&MemoryBundle::default())).expect("fine").len(), 150_001);
}

#[test]
fn poses_that_add_up_to_a_far_position_are_refused() {
    let inside = "<frame name='a'><pose>9e5 0 0 0 0 0</pose></frame>
                  <frame name='b'><pose relative_to='a'>9e5 0 0 0 0 0</pose></frame>";
    assert_eq!(
        refusal(inside),
        "worlds/t.world:5:19: the poses add up to a position farther than 1000000 m from the origin"
    );
}

#[test]
fn an_error_in_an_included_file_names_that_file() {
    let part: &[u8] =
        b"<sdf version='1.7'>\n<model name='own'>\n<link name='l'>\n<pose relative_to='x'/></link>\n
        <joint name='j' type='fixed'><parent>world</parent><child>l</child></joint></model></sdf>";
    let include = "<include><uri>model://part</uri><name>other</name></include>";
    let error = load(include, &[("models/part/model.sdf", part)]).expect_err("no x");
    assert_eq!(error.to_string(), "models/part/model.sdf:4:1: no frame named \"x\" in model \"other\"");
    // A spec that was edited in memory may have no file on disk. The error then contains the file
    // name but no line.
    let (spec, _) = read("<frame name='f' attached_to='x'/>").expect("readable");
    let error = compile::poses(&spec, &Assets::of(&MemoryBundle::default())).expect_err("no x");
    assert_eq!(error.to_string(), "worlds/t.world: no frame named \"x\" in the world");
}
