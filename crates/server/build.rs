//! Generates `viewer.rs`, a table of all files of `web/dist` for embedding them in the program.
#![allow(clippy::disallowed_methods)]

use std::error::Error;
use std::fmt::Write;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let variable = |name: &str| std::env::var_os(name).ok_or(format!("cargo sets {name}"));
    let dist = Path::new(&variable("CARGO_MANIFEST_DIR")?).join("../../web/dist");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={}", dist.display());
    let mut table = String::from("static FILES: &[(&str, &[u8])] = &[\n");
    if dist.join("index.html").is_file() {
        let dist = dist.canonicalize()?;
        for path in files(&dist)? {
            let name = path
                .strip_prefix(&dist)?
                .to_str()
                .ok_or("a file of web/dist has a name that is not UTF-8")?;
            let file = path.to_str().ok_or("the path of web/dist is not UTF-8")?;
            writeln!(table, "({name:?}, include_bytes!({file:?})),")?;
        }
    } else {
        println!(
            "cargo::error=web/dist/index.html is missing; run `make viewer` (or `make build`) to build the viewer"
        );
    }
    table.push_str("];\n");
    std::fs::write(Path::new(&variable("OUT_DIR")?).join("viewer.rs"), table)?;
    Ok(())
}

/// All files below a folder, sorted.
fn files(folder: &Path) -> Result<Vec<std::path::PathBuf>, Box<dyn Error>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { found.extend(files(&path)?) } else { found.push(path) }
    }
    found.sort();
    Ok(found)
}
