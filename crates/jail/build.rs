//! Generates `chicane_package.rs` with the files of the Python package `chicane`, which closed
//! boxes show to student programs.
#![allow(clippy::disallowed_methods)]

use std::error::Error;
use std::fmt::Write;
use std::path::{Path, PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    let variable = |name: &str| std::env::var_os(name).ok_or(format!("cargo sets {name}"));
    let here = PathBuf::from(variable("CARGO_MANIFEST_DIR")?);
    let root = here.join("../../python/src/chicane").canonicalize()?;
    println!("cargo::rerun-if-changed=build.rs");
    let mut files = String::new();
    walk(&root, "", &mut files)?;
    let table = format!("static FILES: &[(&str, &[u8])] = &[\n{files}];\n");
    std::fs::write(Path::new(&variable("OUT_DIR")?).join("chicane_package.rs"), table)?;
    Ok(())
}

/// Adds a line to `files` for each file below a folder: its relative path and its bytes, as Rust
/// source text. The files are sorted by name. Skips names that begin with a dot, `__pycache__` and
/// the native module, because these are build results or caches.
fn walk(folder: &Path, prefix: &str, files: &mut String) -> Result<(), Box<dyn Error>> {
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().into_string().map_err(|n| format!("{n:?} is not UTF-8"))?;
        if !name.starts_with('.') && name != "__pycache__" && !name.ends_with(".so") {
            entries.push((name, entry.path()));
        }
    }
    entries.sort();
    for (name, path) in entries {
        if path.is_dir() {
            walk(&path, &format!("{prefix}{name}/"), files)?;
        } else {
            let shown = path.to_str().ok_or("the path of the package is not UTF-8")?;
            // Only the files are listed. If a folder were listed, cargo would watch all files in
            // it. Every build of the native module and every new cache file of Python would then
            // cause cargo to compile this crate again. Cargo therefore does not notice a new file
            // of the package, but a test of this crate does.
            println!("cargo::rerun-if-changed={shown}");
            writeln!(files, "({:?}, include_bytes!({shown:?})),", format!("{prefix}{name}"))?;
        }
    }
    Ok(())
}
