//! Generates `built_in.rs` with the tables of the built-in worlds: the projects in `worlds/`, the
//! pictures beside them, and a hash of these files and of the code that builds the worlds.
#![allow(clippy::disallowed_methods)]

use std::error::Error;
use std::fmt::Write;
use std::path::{Path, PathBuf};

type Files = Vec<(String, PathBuf)>;

/// Folders of the code that builds worlds from projects, and of the judging scripts that projects
/// can name, relative to this crate.
const BUILDER_SOURCES: [&str; 5] =
    ["../builder/src", "../world/src", "../formats/src", "../vary/src", "../../python/judge/templates"];

fn main() -> Result<(), Box<dyn Error>> {
    let variable = |name: &str| std::env::var_os(name).ok_or(format!("cargo sets {name}"));
    let here = PathBuf::from(variable("CARGO_MANIFEST_DIR")?);
    let root = here.join("../../worlds").canonicalize()?;
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={}", root.display());

    let mut files = Files::new();
    walk(&root, "", &mut files)?;
    let (mut projects, mut pictures) = (String::new(), String::new());
    let mut hash = Fnv::new();
    for (path, file) in &files {
        let shown = file.to_str().ok_or("the path of a built-in world is not UTF-8")?;
        match path.rsplit_once('.') {
            Some((name, "json")) => writeln!(projects, "({name:?}, include_bytes!({shown:?})),")?,
            Some((_, "png" | "jpg")) => writeln!(pictures, "({path:?}, include_bytes!({shown:?})),")?,
            _ => continue,
        }
        hash.file(path, file)?;
    }
    for folder in BUILDER_SOURCES {
        let mut sources = Files::new();
        let folder = here.join(folder).canonicalize()?;
        println!("cargo::rerun-if-changed={}", folder.display());
        walk(&folder, "", &mut sources)?;
        sources.iter().try_for_each(|(path, file)| hash.file(path, file))?;
    }
    let table = format!(
        "static PROJECTS: &[(&str, &[u8])] = &[\n{projects}];\n\
         static PICTURES: &[(&str, &[u8])] = &[\n{pictures}];\n\
         const ASSETS_REV: &str = \"{:012x}\";\n",
        hash.0 >> 16
    );
    std::fs::write(Path::new(&variable("OUT_DIR")?).join("built_in.rs"), table)?;
    Ok(())
}

/// All files below a folder with their relative paths. The entries of each folder are sorted by
/// name. Skips hidden files and folders, and `__pycache__`.
fn walk(folder: &Path, prefix: &str, files: &mut Files) -> Result<(), Box<dyn Error>> {
    let mut entries = Files::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().into_string().map_err(|n| format!("{n:?} is not UTF-8"))?;
        if !name.starts_with('.') && name != "__pycache__" {
            entries.push((name, entry.path()));
        }
    }
    entries.sort();
    for (name, path) in entries {
        if path.is_dir() {
            walk(&path, &format!("{prefix}{name}/"), files)?;
        } else {
            files.push((format!("{prefix}{name}"), path));
        }
    }
    Ok(())
}

/// The hash function FNV-1a with 64 bits.
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

    /// Adds a path and the content of its file. The lengths of both are added too. Otherwise the
    /// same bytes, divided differently into path and content, would give the same hash.
    fn file(&mut self, path: &str, file: &Path) -> Result<(), Box<dyn Error>> {
        let bytes = std::fs::read(file)?;
        for part in [path.as_bytes(), &bytes] {
            self.add(&(part.len() as u64).to_le_bytes());
            self.add(part);
        }
        Ok(())
    }
}
