//! Compares how other programs and our own code read the files of a world.
//!
//! `readers poses <folder> <name>` reads the output of `readers/poses.cc` from standard input. The
//! output contains the poses that libsdformat found in the world of the folder. Each pose must
//! agree with the pose that our code finds. The output must contain all of our objects.
//!
//! `readers meshes <folder>` prints properties of all COLLADA files below a folder. `web/readers`
//! compares these properties with those that three.js finds.
#![allow(clippy::disallowed_methods)]

use chicane_bench::{BenchError, exit_code};
use chicane_testkit::FolderBundle;
use chicane_world::scene::{Look, Owner};
use chicane_world::{Assets, Bundle, Pose, World, collada};
use glam::{DQuat, DVec3, Vec3};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::process::ExitCode;

/// Tolerance for poses and sizes, m and rad.
const CLOSE: f64 = 1e-6;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match args[..] {
        ["poses", folder, name] => poses(folder, name),
        ["meshes", folder] => meshes(folder),
        _ => Err("usage: readers poses <folder> <name> | readers meshes <folder>".into()),
    };
    exit_code("readers", done)
}

/// The content of a line that `readers/poses.cc` prints, without the kind of the line: names, an
/// optional size, and a pose.
struct PoseLine<'a> {
    names: Vec<&'a str>,
    size: Option<DVec3>,
    pose: Pose,
}

/// Parses a line into its kind and its content. Returns `None` if the line is malformed.
fn parse(line: &str) -> Option<(&str, PoseLine<'_>)> {
    let (kind, rest) = line.split_once(' ')?;
    let words: Vec<&str> = rest.split(' ').collect();
    let names = match kind {
        "model" => 1,
        "collision" | "visual" => 3,
        _ => return None,
    };
    let numbers: Vec<f64> = words.get(names..)?.iter().map(|w| w.parse().ok()).collect::<Option<_>>()?;
    let (size, pose) = numbers.split_at(numbers.len().checked_sub(7)?);
    let &[x, y, z, qw, qx, qy, qz] = pose else { return None };
    let pose = Pose { position: DVec3::new(x, y, z), rotation: DQuat::from_xyzw(qx, qy, qz, qw) };
    let size = <[f64; 3]>::try_from(size).ok().map(DVec3::from_array);
    Some((kind, PoseLine { names: words[..names].to_vec(), size, pose }))
}

/// Reads libsdformat's poses from standard input, and compares them with our poses.
fn poses(folder: &str, name: &str) -> Result<(), BenchError> {
    let world = World::load(&Assets::of(&FolderBundle::new(folder)))?;
    let theirs = std::io::read_to_string(std::io::stdin())?;
    let (mut agreed, mut missing) =
        (0, world.objects.iter().map(|o| o.name.as_str()).collect::<BTreeSet<_>>());
    for text in theirs.lines() {
        let (kind, line) = parse(text).ok_or_else(|| format!("malformed line from libsdformat: {text}"))?;
        let object = world.objects.iter().position(|o| o.name == line.names[0]);
        let ours = match (kind, object) {
            ("model", Some(i)) => {
                missing.remove(line.names[0]);
                Some(world.objects[i].origin)
            }
            ("collision", Some(i)) => {
                let o = &world.objects[i];
                let off = line.size.map_or(f64::INFINITY, |s| (s - o.size).abs().max_element());
                if off > CLOSE {
                    return Err(format!("{name}: our size is {}, libsdformat has: {text}", o.size).into());
                }
                Some(o.origin.then(&Pose { position: o.centre, rotation: DQuat::IDENTITY }))
            }
            ("model" | "collision", None) => Some(Pose::IDENTITY),
            _ => {
                let owner = object.map_or(Owner::Track, Owner::Object);
                let seen = world.scene.instances.iter().find(|s| s.owner == owner && s.name == line.names[2]);
                let seen = seen.ok_or_else(|| format!("{name}: our scene does not have: {text}"))?;
                let within = object.map_or(Pose::IDENTITY, |i| world.objects[i].origin);
                // Built-in looks are not compared, because our code gives a built-in look the pose
                // of the collision shape.
                (!matches!(seen.look, Look::BuiltIn(..))).then(|| within.then(&seen.pose))
            }
        };
        let Some(ours) = ours else { continue };
        let off = (ours.position - line.pose.position).length();
        let turned = ours.rotation.angle_between(line.pose.rotation);
        if off > CLOSE || turned > CLOSE {
            return Err(format!("{name}: poses differ by {off} m and {turned} rad: {text}").into());
        }
        agreed += 1;
    }
    if !missing.is_empty() || agreed == 0 {
        return Err(format!("{name}: libsdformat did not find {missing:?}").into());
    }
    println!("{name:<12} {agreed:>4} poses agree with libsdformat's");
    Ok(())
}

/// Prints the properties of all COLLADA files below a folder as JSON.
fn meshes(folder: &str) -> Result<(), BenchError> {
    let files = FolderBundle::new(folder);
    let mut all = Vec::new();
    for file in files.list("").into_iter().filter(|f| f.ends_with(".dae")) {
        let bytes = files.read(&file).ok_or_else(|| format!("cannot read {file}"))?;
        let model = collada::read(&file, &bytes, &mut Default::default())?;
        let groups: Vec<Value> = model
            .parts
            .iter()
            .flat_map(|part| part.groups.iter().map(move |group| (part, group)))
            .map(|(part, group)| facts(&model, part, group))
            .collect();
        all.push(json!({ "file": file, "groups": groups }));
    }
    println!("{}", serde_json::to_string_pretty(&all)?);
    Ok(())
}

/// Properties of a group of triangles. None of these properties depends on the order of the
/// triangles.
fn facts(model: &collada::Model, part: &collada::MeshPart, group: &collada::Group) -> Value {
    let corner = |i: &u32| Vec3::from_array(part.positions[*i as usize]).as_dvec3();
    let uv = |i: &u32| glam::Vec2::from_array(part.uvs[*i as usize]).as_dvec2();
    let (mut area, mut volume, mut uv_area) = (0.0, 0.0, 0.0);
    for t in group.indices.chunks_exact(3) {
        let [a, b, c] = [corner(&t[0]), corner(&t[1]), corner(&t[2])];
        area += 0.5 * (b - a).cross(c - a).length();
        volume += a.dot(b.cross(c)) / 6.0;
        let [p, q, r] = [uv(&t[0]), uv(&t[1]), uv(&t[2])];
        uv_area += 0.5 * (q - p).perp_dot(r - p);
    }
    let points = || group.indices.iter().map(corner);
    let (low, high) = points().fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(l, h), p| (l.min(p), h.max(p)));
    let material = group.material.map(|m| &model.materials[m]);
    json!({
        "material": material.map(|m| &m.name),
        "texture": material.and_then(|m| m.texture.as_ref()),
        "colour": material.map(|m| m.colour),
        "triangles": group.indices.len() / 3,
        "area": area,
        "volume": volume,
        "uv_area": uv_area,
        "low": low.to_array(),
        "high": high.to_array(),
    })
}
