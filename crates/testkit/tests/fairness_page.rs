//! Checks the page `docs/fairness.md`, which names the test that proves each of its lines.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The texts of all Rust files in a folder.
fn sources(folder: &Path) -> Vec<String> {
    let mut texts = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            texts.extend(sources(&path));
        } else if path.extension().is_some_and(|end| end == "rs") {
            texts.push(std::fs::read_to_string(path).expect("a text"));
        }
    }
    texts
}

/// Names of the functions that follow `#[test]`.
fn tests(text: &str) -> impl Iterator<Item = &str> {
    let after = text.split("#[test]").skip(1);
    after.filter_map(|rest| rest.split_once("fn ")?.1.split_once('(')).map(|(name, _)| name)
}

#[test]
fn every_test_that_the_page_names_exists() {
    let page = std::fs::read_to_string(root().join("docs/fairness.md")).expect("the page");
    let texts = sources(&root().join("crates"));
    let known: BTreeSet<&str> = texts.iter().flat_map(|text| tests(text)).collect();
    let quoted = page.split('`').skip(1).step_by(2);
    let is_test = |name: &&str| name.matches('_').count() >= 1 && !name.contains(['.', '/', '"', '-', ' ']);
    let named: Vec<&str> = quoted.filter(is_test).filter(|name| *name != "judged_run").collect();
    assert!(named.len() > 30, "{named:?}");
    let missing: Vec<&&str> = named.iter().filter(|name| !known.contains(**name)).collect();
    assert!(missing.is_empty(), "docs/fairness.md names tests that do not exist: {missing:?}");
}
