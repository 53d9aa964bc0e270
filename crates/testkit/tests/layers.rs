//! Enforces the layers of the workspace. The tests check which crates a crate depends on, that a
//! crate does not use forbidden names, and that no crate has too many lines. `docs/ARCHITECTURE.md`
//! describes the layers.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The crates that each crate may depend on. Dependencies of tests are not checked. A crate that is
/// missing in this list is an error, because every new crate must be assigned to a layer.
const MAY_DEPEND_ON: &[(&str, &[&str])] = &[
    ("vary", &[]),
    ("formats", &[]),
    ("world", &["formats", "vary"]),
    ("wire", &["vary"]),
    ("sim", &["vary", "world"]),
    ("robot", &["world"]),
    ("ros", &["robot", "world"]),
    ("render", &["world"]),
    ("builder", &["vary", "world"]),
    ("bundles", &["builder", "world"]),
    ("store", &["builder", "bundles", "wire", "world"]),
    ("gym", &["builder", "render", "sim", "vary", "world"]),
    ("native", &["builder", "bundles", "gym", "vary", "world"]),
    ("journal", &["robot", "sim"]),
    ("pace", &[]),
    ("shim", &[]),
    ("jail", &["pace", "wire"]),
    ("session", &["jail", "pace", "wire"]),
    ("remote", &["store", "wire"]),
    (
        "host",
        &["journal", "pace", "render", "robot", "ros", "session", "sim", "store", "vary", "wire", "world"],
    ),
    ("dds", &["host", "ros", "world"]),
    ("bridge", &["host", "robot", "ros", "sim", "wire", "world"]),
    ("listen", &["bridge", "pace", "wire"]),
    ("recording", &["host", "ros", "wire", "world"]),
    (
        "replay",
        &["host", "journal", "pace", "render", "robot", "ros", "session", "sim", "store", "wire", "world"],
    ),
    ("grade", &["replay", "session", "store", "wire", "world"]),
    ("leaderboard", &["grade", "replay", "store", "wire", "world"]),
    ("studio", &["builder", "render", "store", "wire", "world"]),
    (
        "server",
        &[
            "bridge",
            "dds",
            "host",
            "leaderboard",
            "listen",
            "pace",
            "recording",
            "remote",
            "render",
            "replay",
            "robot",
            "ros",
            "session",
            "sim",
            "store",
            "studio",
            "wire",
            "world",
        ],
    ),
    (
        "cli",
        &[
            "builder",
            "dds",
            "grade",
            "host",
            "leaderboard",
            "pace",
            "recording",
            "remote",
            "render",
            "replay",
            "server",
            "session",
            "sim",
            "store",
            "studio",
            "wire",
            "world",
        ],
    ),
    ("testkit", &["store", "wire", "world"]),
];

/// Names that may not occur in the sources of a crate.
const MAY_NOT_NAME: &[(&str, &[&str])] = &[
    ("gym", &["axum::", "clap::", "pyo3", "chicane_store"]),
    ("native", &["axum::", "clap::", "chicane_host", "chicane_store"]),
    ("host", &["axum::", "hyper::", "StatusCode", "clap::"]),
    ("grade", &["axum::", "hyper::", "StatusCode", "clap::"]),
    ("remote", &["axum::", "clap::", "chicane_host", "chicane_sim"]),
    ("dds", &["axum::", "StatusCode", "clap::"]),
    ("bridge", &["axum::", "hyper::", "StatusCode", "clap::"]),
    ("recording", &["axum::", "StatusCode", "clap::"]),
    ("replay", &["axum::", "StatusCode", "clap::"]),
    ("leaderboard", &["axum::", "hyper::", "StatusCode", "clap::"]),
    ("studio", &["axum::", "hyper::", "StatusCode", "clap::"]),
    ("server", &["clap::", "rustdds"]),
    ("jail", &["axum::", "StatusCode", "clap::"]),
    ("session", &["axum::", "StatusCode", "clap::"]),
    ("store", &["axum::", "StatusCode", "clap::"]),
    ("wire", &["axum::", "StatusCode", "clap::"]),
];

/// Maximum number of lines in the folder `src` of a crate.
const MAX_LINES: usize = 10_000;

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Names of the crates: the folders below `crates` that have a manifest.
fn names() -> BTreeSet<String> {
    let entries = std::fs::read_dir(crates()).expect("the folder of the crates");
    let names = entries.map(|e| e.expect("an entry").file_name().into_string().expect("a UTF-8 name"));
    names.filter(|name| crates().join(name).join("Cargo.toml").is_file()).collect()
}

/// Returns the crates of this workspace that the crate `name` lists in the section `[dependencies]`
/// of its manifest.
fn dependencies(name: &str) -> BTreeSet<String> {
    let manifest = std::fs::read_to_string(crates().join(name).join("Cargo.toml")).expect("a manifest");
    let section = manifest.split("[dependencies]").nth(1).unwrap_or_default();
    let section = section.split("\n[").next().unwrap_or_default();
    let ours = section.lines().filter_map(|line| line.strip_prefix("chicane-"));
    ours.map(|line| line.split(['.', ' ', '=']).next().unwrap_or_default().to_owned()).collect()
}

/// Returns the path and the text of every Rust file below a folder.
fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            all.extend(sources(&path));
        } else if path.extension().is_some_and(|e| e == "rs") {
            let text = std::fs::read_to_string(&path).expect("a source file");
            all.push((path, text));
        }
    }
    all
}

#[test]
fn a_crate_depends_only_on_crates_of_lower_layers() {
    let allowed: BTreeMap<&str, &[&str]> = MAY_DEPEND_ON.iter().copied().collect();
    for name in names() {
        let Some(allowed) = allowed.get(name.as_str()) else {
            panic!("crates/{name} has no row in MAY_DEPEND_ON of {}", file!());
        };
        for dependency in dependencies(&name) {
            assert!(allowed.contains(&dependency.as_str()), "crates/{name} may not depend on {dependency}");
        }
    }
}

#[test]
fn the_table_of_layers_has_no_cycle() {
    let mut placed: BTreeSet<&str> = BTreeSet::new();
    while placed.len() < MAY_DEPEND_ON.len() {
        let next: Vec<&str> = MAY_DEPEND_ON
            .iter()
            .filter(|(name, uses)| !placed.contains(name) && uses.iter().all(|u| placed.contains(u)))
            .map(|(name, _)| *name)
            .collect();
        assert!(!next.is_empty(), "a cycle, or a dependency without a row; placed so far: {placed:?}");
        placed.extend(next);
    }
}

#[test]
fn a_crate_does_not_use_the_names_of_a_higher_layer() {
    for (name, forbidden) in MAY_NOT_NAME {
        for (path, text) in sources(&crates().join(name).join("src")) {
            for word in *forbidden {
                assert!(!text.contains(word), "{} uses {word}", path.display());
            }
        }
    }
}

#[test]
fn no_crate_grows_beyond_its_limit() {
    for name in names() {
        let lines: usize =
            sources(&crates().join(&name).join("src")).iter().map(|(_, text)| text.lines().count()).sum();
        assert!(lines <= MAX_LINES, "crates/{name}/src has {lines} lines; split it");
    }
}
