//! Helpers that the tests share: small projects, and the examples with their files.

use chicane_builder::Project;
use chicane_world::MemoryBundle;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The folder of the example projects.
pub(crate) fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/projects")
}

/// The example projects with their names.
pub(crate) fn example_projects() -> Vec<(String, Vec<u8>)> {
    let mut found: Vec<_> = std::fs::read_dir(examples())
        .expect("a folder")
        .map(|e| e.expect("an entry").path())
        .filter(|p| p.extension().is_some_and(|e| e == "json"))
        .map(|p| (p.display().to_string(), std::fs::read(&p).expect("a file")))
        .collect();
    found.sort();
    assert!(found.len() >= 2);
    found
}

/// The projects of the shipped worlds with their file names, and the pictures that the projects
/// use.
pub(crate) fn shipped_projects() -> (Vec<(String, Vec<u8>)>, MemoryBundle) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../worlds");
    let files_of = |folder: &Path| -> Vec<(String, Vec<u8>)> {
        let entries = std::fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry").path());
        let named = |p: &PathBuf| p.file_name().expect("a name").to_str().expect("UTF-8").to_owned();
        let mut files: Vec<_> = entries
            .filter(|p| p.is_file())
            .map(|p| (named(&p), std::fs::read(&p).expect("a file")))
            .collect();
        files.sort();
        files
    };
    let projects: Vec<_> = files_of(&root).into_iter().filter(|(n, _)| n.ends_with(".json")).collect();
    assert!(projects.len() >= 6);
    let mut pictures = MemoryBundle::default();
    for (name, bytes) in files_of(&root.join("pictures")) {
        pictures.insert(format!("pictures/{name}"), bytes);
    }
    (projects, pictures)
}

/// The files of the examples.
pub(crate) fn example_files() -> MemoryBundle {
    let mut files = MemoryBundle::default();
    for name in ["chequers.png", "points.py"] {
        files.insert(name, std::fs::read(examples().join(name)).expect("a file"));
    }
    files
}

/// Nodes on a circle, counter-clockwise from its rightmost point.
pub(crate) fn circle(x: f64, y: f64, radius: f64, count: u32) -> Value {
    let node = |i: u32| {
        let (s, c) = libm::sincos(std::f64::consts::TAU * f64::from(i) / f64::from(count));
        json!({ "x": x + radius * c, "y": y + radius * s })
    };
    (0..count).map(node).collect()
}

/// A project with a ring road on a field without a fence. The check has no findings for this
/// project.
pub(crate) fn ring() -> Value {
    json!({
        "version": 1,
        "name": "ring",
        "field": { "size": [8, 8] },
        "track": { "width": 0.6, "nodes": circle(4.0, 4.0, 2.5, 12) },
    })
}

pub(crate) fn read(value: &Value) -> Project {
    Project::read(value.to_string().as_bytes()).unwrap_or_else(|e| panic!("{e}"))
}

/// The first bytes of a PNG file. `width` and `height` are in pixels. The check does not read the
/// rest of a file.
pub(crate) fn png(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
    bytes.extend(width.to_be_bytes());
    bytes.extend(height.to_be_bytes());
    bytes.extend([8, 2, 0, 0, 0, 0, 0, 0, 0]);
    bytes
}
