//! Finds the commit that the program is built from, for the records.
#![allow(clippy::disallowed_methods)]

use std::path::Path;
use std::process::Command;

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let git = |arguments: &[&str]| {
        let out = Command::new("git").arg("-C").arg(&root).args(arguments).output().ok()?;
        let text = String::from_utf8(out.stdout).ok()?;
        out.status.success().then(|| text.trim().to_owned()).filter(|text| !text.is_empty())
    };
    // A build from an archive has no repository of its own, and the record then names no commit.
    // The unpacked archive may be inside another repository, whose commit must not be used. So the
    // build checks whether the repository contains this file.
    let own = git(&["ls-files", "--error-unmatch", "crates/cli/build.rs"]).is_some();
    if let Some(commit) = git(&["rev-parse", "HEAD"]).filter(|_| own) {
        println!("cargo::rustc-env=CHICANE_COMMIT={commit}");
    }
    // Cargo runs this script again if the log of HEAD changes. The log changes with every commit,
    // checkout and reset.
    println!("cargo::rerun-if-changed=build.rs");
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        let log = root.join(log);
        if log.exists() {
            println!("cargo::rerun-if-changed={}", log.display());
        }
    }
}
