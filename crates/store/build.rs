//! Writes the table of the built-in worlds, `built_in.rs`: every file below `worlds/`, and a hash of them.
#![allow(clippy::disallowed_methods)]

use std::error::Error;
use std::fmt::Write;
use std::path::{Path, PathBuf};

type Files = Vec<(String, PathBuf)>;

fn main() -> Result<(), Box<dyn Error>> {
    let variable = |name: &str| std::env::var_os(name).ok_or(format!("cargo sets {name}"));
    let root = Path::new(&variable("CARGO_MANIFEST_DIR")?).join("../../worlds").canonicalize()?;
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={}", root.display());

    let mut table = String::from("static WORLDS: &[(&str, Files)] = &[\n");
    let mut hash = Fnv::new();
    for (world, folder) in sorted(&root)? {
        if !folder.is_dir() {
            continue;
        }
        let mut files = Files::new();
        walk(&folder, "", &mut files)?;
        // By whole path: that is the order in which they are searched.
        files.sort();
        writeln!(table, "({world:?}, &[")?;
        for (path, file) in &files {
            let bytes = std::fs::read(file)?;
            for part in [world.as_bytes(), path.as_bytes(), &bytes] {
                // With the length, so that no two splits of the same bytes are equal.
                hash.add(&(part.len() as u64).to_le_bytes());
                hash.add(part);
            }
            let file = file.to_str().ok_or("the path of a built-in world is not UTF-8")?;
            writeln!(table, "({path:?}, include_bytes!({file:?})),")?;
        }
        table.push_str("]),\n");
    }
    writeln!(table, "];\nconst ASSETS_REV: &str = \"{:012x}\";", hash.0 >> 16)?;
    std::fs::write(Path::new(&variable("OUT_DIR")?).join("built_in.rs"), table)?;
    Ok(())
}

/// All files below a folder with their paths from there.
fn walk(folder: &Path, prefix: &str, files: &mut Files) -> Result<(), Box<dyn Error>> {
    for (name, path) in sorted(folder)? {
        if path.is_dir() {
            walk(&path, &format!("{prefix}{name}/"), files)?;
        } else {
            files.push((format!("{prefix}{name}"), path));
        }
    }
    Ok(())
}

/// What is in a folder, by name. What desktops, editors and Python leave behind is passed over.
fn sorted(folder: &Path) -> Result<Files, Box<dyn Error>> {
    let mut entries = Files::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().into_string().map_err(|n| format!("{n:?} is not UTF-8"))?;
        if !name.starts_with('.') && name != "__pycache__" {
            entries.push((name, entry.path()));
        }
    }
    entries.sort();
    Ok(entries)
}

/// FNV-1a, 64 bits.
struct Fnv(u64);

impl Fnv {
    fn new() -> Fnv {
        Fnv(0xcbf2_9ce4_8422_2325)
    }

    fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}
