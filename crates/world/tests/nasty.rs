//! Tests input that respects every limit of a single file, but needs much time or memory in total.
//! Each test checks the peak memory use, if the test runner gives it a process of its own. A test
//! should take at most two seconds in a release build on an idle machine. The test runner shows the
//! times and ends a test that hangs.

mod sdf_support;

use chicane_world::{Error, Route, World, npy};
use sdf_support::load;
use std::fmt::Write;

/// Maximum peak memory use. The tests need about 500 MB. A peak above the maximum is a sign that
/// the code keeps a second copy of large data.
const MAX_MEGABYTES: u64 = 700;

fn measured<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let out = work();
    // The kernel measures the peak memory use of a process. The value is only meaningful if each
    // test has its own process.
    if std::env::var("NEXTEST_EXECUTION_MODE").is_ok_and(|m| m == "process-per-test") {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let peak = status.lines().find_map(|l| l.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
        let megabytes = peak.and_then(|kb| kb.parse::<u64>().ok()).unwrap_or(0) >> 10;
        println!("{what}: at most {megabytes} MB");
        assert!(megabytes < MAX_MEGABYTES, "{what} took {megabytes} MB");
    }
    out
}

fn loaded(what: &str, inside: &str, files: &[(&str, &[u8])]) -> Result<World, Error> {
    measured(what, || load(inside, files))
}

/// Concatenates `piece(0)` to `piece(n - 1)`.
fn many(n: usize, piece: impl Fn(usize) -> String) -> String {
    (0..n).fold(String::new(), |mut all, i| {
        all += &piece(i);
        all
    })
}

fn collision(uri: &str, more: &str, i: usize) -> String {
    format!("<collision name='c{i}'><geometry><mesh><uri>{uri}</uri>{more}</mesh></geometry></collision>")
}

fn visual(uri: &str, more: &str, i: usize) -> String {
    format!("<visual name='v{i}'><geometry><mesh><uri>{uri}</uri>{more}</mesh></geometry></visual>")
}

fn one_link(inside: &str) -> String {
    format!("<model name='m'><link name='l'>{inside}</link></model>")
}

/// A mesh file with one geometry and the given nodes.
fn dae(points: &str, indices: &str, nodes: &str) -> Vec<u8> {
    format!(
        "<COLLADA><asset><up_axis>Z_UP</up_axis></asset><library_geometries><geometry id='g'><mesh>
         <source id='s'><float_array>{points}</float_array></source>
         <vertices id='v'><input semantic='POSITION' source='#s'/></vertices>
         <triangles><input semantic='VERTEX' source='#v' offset='0'/><p>{indices}</p></triangles>
         </mesh></geometry></library_geometries>
         <library_visual_scenes><visual_scene id='x'>{nodes}</visual_scene></library_visual_scenes></COLLADA>"
    )
    .into_bytes()
}

const TRIANGLE: &str = "0 0 1 1 0 1 0 1 2";
const INSTANCE: &str = "<instance_geometry url='#g'/>";

fn parts(n: usize) -> Vec<u8> {
    dae(TRIANGLE, "0 1 2", &many(n, |i| format!("<node name='n{i}'>{INSTANCE}</node>")))
}

/// A mesh file with the maximum number of triangles. The file is smaller than a megabyte, because
/// its node contains 100 instances of the same geometry.
fn two_million_triangles() -> Vec<u8> {
    let points = many(2_100, |i| format!("{i} {} 1 ", (i * i) % 97));
    let mut indices = String::new();
    for i in 0..20_000usize {
        let _ = write!(indices, "{} {} {} ", i % 2_000, i % 2_000 + 1 + i / 2_000, i % 2_000 + 40);
    }
    dae(&points, &indices, &format!("<node>{}</node>", INSTANCE.repeat(100)))
}

#[test]
fn ten_thousand_models() {
    let shape = "<collision name='c'><geometry><box><size>1 1 1</size></box></geometry></collision>";
    let inside = many(10_000, |i| format!("<model name='m{i}'><link name='object'>{shape}</link></model>"));
    assert_eq!(loaded("10,000 models", &inside, &[]).expect("loads").objects.len(), 10_000);
}

#[test]
fn a_hundred_thousand_frames_in_a_chain() {
    let mut inside = many(90_000, |i| {
        format!("<frame name='f{i}'><pose relative_to='f{}'>0 0 1 0 0 0</pose></frame>", i + 1)
    });
    inside += "<frame name='f90000'/>";
    loaded("90,000 frames in a chain", &inside, &[]).expect("loads");
    let inside = many(100_000, |i| format!("<frame name='f{i}' attached_to='f{}'/>", i + 1));
    let error =
        loaded("100,000 attached frames", &inside, &[]).expect_err("the last one is attached to nothing");
    assert!(error.message.starts_with("no frame named \"f100000\""), "{error}");
}

#[test]
fn eight_megabytes_of_elements_and_of_text() {
    loaded("8 MiB of <a/>", &"<a/>".repeat((8 << 20) / 4 - 100), &[]).expect_err("too many");
    loaded("8 MiB of text", &"word ".repeat((8 << 20) / 5 - 100), &[]).expect("text is ignored");
    loaded("8 MiB of references", &"&lt;".repeat((8 << 20) / 4 - 100), &[]).expect("text is ignored");
    let odd = many(190_000, |i| format!("<u{i}/>"));
    loaded("190,000 unknown elements", &odd, &[]).expect("ignored");
}

#[test]
fn sixty_four_megabytes_of_attributes() {
    let tag = format!("<a{}/>", " b=''".repeat(64));
    let text = format!("<COLLADA>{}</COLLADA>", tag.repeat((64 << 20) / tag.len() - 1));
    let inside = one_link(&visual("model://meshes/a.dae", "", 0));
    loaded("64 MiB of attributes", &inside, &[("meshes/a.dae", text.as_bytes())]).expect_err("too many");
}

#[test]
fn one_mesh_used_a_hundred_thousand_times() {
    let mesh = parts(1_000);
    let model = one_link(&many(1_000, |i| visual("model://meshes/a.dae", "", i)));
    let model = format!("<sdf version='1.7'>{model}</sdf>");
    let inside = many(100, |i| format!("<include><uri>model://m</uri><name>m{i}</name></include>"));
    let files: [(&str, &[u8]); 2] = [("meshes/a.dae", &mesh), ("models/m/model.sdf", model.as_bytes())];
    let world = loaded("100,000 visuals of one mesh", &inside, &files).expect("loads");
    assert_eq!((world.scene.meshes.len(), world.scene.instances.len()), (1, 100_000));
}

#[test]
fn one_collision_mesh_used_many_times() {
    let files = parts(60_000);
    let solid = one_link(&many(48_000, |i| collision("model://meshes/a.dae", "", i)));
    loaded("48,000 collisions of a mesh of 60,000 parts", &solid, &[("meshes/a.dae", &files)])
        .expect("loads");
}

#[test]
fn every_part_of_a_mesh_by_name() {
    let files = parts(60_000);
    let part = |i: usize| format!("<submesh><name>n{}</name></submesh>", i * 2);
    let inside = one_link(&many(32_000, |i| visual("model://meshes/a.dae", &part(i), i)));
    loaded("32,000 parts of a mesh by name, of 60,000", &inside, &[("meshes/a.dae", &files)]).expect("loads");
}

#[test]
fn two_million_triangles_in_one_file() {
    let file = {
        let points = many(2_000_001, |i| format!("{} {} 1 ", i % 1000, i / 1000));
        let corner = |i: usize| i % 2_000_000;
        let indices = many(2_000_000, |i| format!("{i} {} {} ", corner(i + 1), corner(i + 1000)));
        dae(&points, &indices, &format!("<node>{INSTANCE}</node>"))
    };
    let inside = one_link(&visual("model://meshes/a.dae", "", 0));
    let world = loaded("2,000,000 triangles in one file", &inside, &[("meshes/a.dae", &file)]);
    assert_eq!(world.expect("within the limit").scene.meshes[0].groups[0].indices.len(), 6_000_000);
}

#[test]
fn a_large_mesh_mirrored_along_all_combinations_of_axes() {
    let file = two_million_triangles();
    let scale = |i: usize| {
        let sign = |bit: usize| if i >> bit & 1 == 1 { -1 } else { 1 };
        format!("<scale>{} {} {}</scale>", sign(0), sign(1), sign(2))
    };
    let inside = one_link(&many(8, |i| visual("model://meshes/a.dae", &scale(i), i)));
    let world = loaded("8 mirror images of 2,000,000 triangles", &inside, &[("meshes/a.dae", &file)]);
    assert_eq!(world.expect("few vertices").scene.meshes.len(), 8);
}

#[test]
fn many_meshes_of_two_million_triangles() {
    let file = two_million_triangles();
    let names: Vec<String> = (0..20).map(|i| format!("meshes/a{i}.dae")).collect();
    let files: Vec<(&str, &[u8])> = names.iter().map(|n| (n.as_str(), file.as_slice())).collect();
    let inside = one_link(&many(20, |i| visual(&format!("model://meshes/a{i}.dae"), "", i)));
    let error = loaded("20 files of 2,000,000 triangles", &inside, &files).expect_err("too many");
    assert_eq!(error.to_string(), "meshes/a3.dae: more than 9000000 triangles and vertices in all meshes");
}

#[test]
fn model_files_full_of_models() {
    let model =
        format!("<sdf version='1.7'><model name='m'>{}</model></sdf>", "<model name='n'/>".repeat(199_000));
    let names: Vec<String> = (0..30).map(|i| format!("models/m{i}/model.sdf")).collect();
    let files: Vec<(&str, &[u8])> = names.iter().map(|n| (n.as_str(), model.as_bytes())).collect();
    let inside = many(30, |i| format!("<include><uri>model://m{i}</uri></include>"));
    loaded("30 model files of 199,000 models", &inside, &files).expect_err("too many");
}

#[test]
fn a_long_route() {
    let values = (0..200_000).flat_map(|i| {
        let a = f64::from(i) * 1e-5;
        [50.0, 49.0, 51.0].map(|r| [r * libm::cos(a), r * libm::sin(a)])
    });
    let array = npy::Array { rows: 200_000, columns: 6, values: values.flatten().collect() };
    let bytes = npy::write(&array);
    let route = measured("a route of 200,000 rows", || Route::from_npy("r", &bytes)).expect("reads");
    assert_eq!(route.centre.len(), 200_000);
    let same = npy::write(&npy::Array { values: vec![1.0; 1_200_000], ..array });
    measured("200,000 rows of one point", || Route::from_npy("r", &same)).expect_err("no route");
}
