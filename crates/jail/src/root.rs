//! The judge's root: CPython 3.14 and its packages, prepared once and shared by all data folders.
//!
//! The packages come from the Debian mirror that this machine is configured for. `apt-get` runs
//! with a configuration of its own: lists, cache and status are in a scratch folder, and signatures
//! are checked as usual. `dpkg-deb` unpacks the packages. The machine itself is not changed, and no
//! root privileges are needed. Scripts of the packages do not run, so the certificate bundle is
//! written here. Python's standard library is compiled once, which makes every later start four
//! times faster. The judge's root is built beside its final folder and then renamed.

mod apt;
mod command;
mod error;

pub use error::RootError;

use command::{last_line, run};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The layout version of the folder. A folder with another version is prepared again.
const LAYOUT: &str = "chicane judge root 1\n";
/// The packages that Python and judging scripts need.
const PACKAGES: [&str; 7] =
    ["base-files", "python3.14", "ca-certificates", "tzdata", "netbase", "dash", "coreutils"];
/// The packages that the simulator needs for the judge's network.
const TOOLS: [&str; 1] = ["slirp4netns"];
/// Folders that are removed, because judging scripts do not need them.
const UNUSED: [&str; 5] =
    ["usr/share/doc", "usr/share/man", "usr/share/locale", "usr/share/info", "usr/share/lintian"];

/// The folder that `CHICANE_JUDGE_ROOT` names, or else a folder in the user's cache.
pub fn folder() -> Result<PathBuf, RootError> {
    let path = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    if let Some(folder) = std::env::var_os("CHICANE_JUDGE_ROOT").filter(|f| !f.is_empty()) {
        return std::path::absolute(&folder).map_err(RootError::file(Path::new(&folder)));
    }
    let cache = path("XDG_CACHE_HOME").or_else(|| path("HOME").map(|home| home.join(".cache")));
    let cache = cache.ok_or(RootError::NoCache)?;
    Ok(cache.join("chicane/judge"))
}

/// Returns the root file system in a folder. Fails if the folder was not prepared by a version with
/// this layout.
pub fn ready(folder: &Path) -> Result<PathBuf, RootError> {
    match fs::read_to_string(folder.join("form")) {
        Ok(layout) if layout == LAYOUT => Ok(folder.join("root")),
        Ok(_) => Err(RootError::OtherVersion(folder.to_owned())),
        Err(_) => Err(RootError::NotPrepared(folder.to_owned())),
    }
}

/// The folder of the unpacked tools.
pub fn tools(folder: &Path) -> PathBuf {
    folder.join("tools")
}

/// The dynamic loader of a root. It starts programs of the root with the root's own libraries.
/// `None` if the root has no dynamic loader.
pub fn loader(root: &Path) -> Option<PathBuf> {
    ["lib64/ld-linux-x86-64.so.2", "lib/ld-linux-aarch64.so.1"]
        .iter()
        .flat_map(|name| [root.join("usr").join(name), root.join(name)])
        .find(|path| path.is_file())
}

/// The folders with the libraries of a root, for the option `--library-path` of its loader.
pub fn library_path(root: &Path) -> String {
    let folder = root.join(format!("usr/lib/{}-linux-gnu", std::env::consts::ARCH));
    format!("{}:{}", folder.display(), root.join("usr/lib").display())
}

/// Prepares a folder, unless it is ready. Calls `say` with a text for each step. Returns false if
/// the folder was ready before.
pub fn prepare(folder: &Path, say: &mut dyn FnMut(&str)) -> Result<bool, RootError> {
    if ready(folder).is_ok() {
        return Ok(false);
    }
    let parent = folder.parent().ok_or(RootError::NoParent)?;
    fs::create_dir_all(parent).map_err(|source| RootError::Create { path: parent.to_owned(), source })?;
    let lock = File::create(folder.with_extension("lock")).map_err(RootError::file(parent))?;
    if lock.try_lock().is_err() {
        say("another chicane is preparing it; waiting");
        lock.lock().map_err(RootError::file(parent))?;
    }
    // Another process may have prepared the folder during the wait for the lock.
    if ready(folder).is_ok() {
        return Ok(false);
    }
    let scratch = folder.with_extension(format!("new-{}", std::process::id()));
    let built = build(&scratch, say).and_then(|()| move_into_place(&scratch, folder));
    let _ = fs::remove_dir_all(&scratch);
    built.map(|()| true)
}

fn build(scratch: &Path, say: &mut dyn FnMut(&str)) -> Result<(), RootError> {
    let _ = fs::remove_dir_all(scratch);
    let (root, tools) = (scratch.join("root"), scratch.join("tools"));
    let packages = apt::fetch(&scratch.join("apt"), &PACKAGES, &TOOLS, say)?;
    say("unpacking");
    for (files, into) in [(&packages.main, &root), (&packages.tools, &tools)] {
        fs::create_dir_all(into).map_err(RootError::file(into))?;
        for file in files {
            run(Command::new("dpkg-deb").arg("-x").arg(file).arg(into), "dpkg-deb")?;
        }
        for folder in UNUSED {
            let _ = fs::remove_dir_all(into.join(folder));
        }
    }
    let _ = fs::remove_dir_all(scratch.join("apt"));
    finish(&root)?;
    say("compiling the standard library");
    compile(&root)?;
    say("checking");
    verify(&root)?;
    fs::write(scratch.join("form"), LAYOUT).map_err(RootError::file(scratch))
}

/// Writes the certificate bundle and the link `python3`, as the scripts of the packages would do.
fn finish(root: &Path) -> Result<(), RootError> {
    let mut names: Vec<PathBuf> = fs::read_dir(root.join("usr/share/ca-certificates/mozilla"))
        .map_err(RootError::NoCertificates)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    names.sort();
    let mut bundle = Vec::new();
    for name in names {
        bundle.extend(fs::read(&name).map_err(RootError::file(&name))?);
        bundle.push(b'\n');
    }
    let folder = root.join("etc/ssl/certs");
    fs::create_dir_all(&folder).map_err(RootError::file(&folder))?;
    fs::write(folder.join("ca-certificates.crt"), bundle).map_err(RootError::file(&folder))?;
    let python = root.join("usr/bin/python3");
    if !python.exists() {
        std::os::unix::fs::symlink("python3.14", &python).map_err(RootError::file(&python))?;
    }
    Ok(())
}

/// A command that runs the root's Python outside of a jail.
fn python(root: &Path) -> Result<Command, RootError> {
    let mut command = Command::new(loader(root).ok_or(RootError::NoLoader)?);
    command.arg("--library-path").arg(library_path(root)).arg(root.join("usr/bin/python3.14"));
    command.env_clear().env("PYTHONHOME", root.join("usr")).env("PYTHONDONTWRITEBYTECODE", "1");
    Ok(command)
}

fn compile(root: &Path) -> Result<(), RootError> {
    let mut command = python(root)?;
    command.args(["-S", "-m", "compileall", "-q", "-j", "0", "--invalidation-mode", "unchecked-hash", "-s"]);
    command.arg(root).args(["-p", "/"]).arg(root.join("usr/lib/python3.14"));
    // The exit code is ignored, because some test files of the library are invalid on purpose.
    let _ = command.output().map_err(|source| RootError::Start { program: "Python 3.14", source })?;
    Ok(())
}

fn verify(root: &Path) -> Result<(), RootError> {
    let mut command = python(root)?;
    command.args(["-c", "import sys, json, ssl, sqlite3, socket, zoneinfo; print(sys.version_info[:2])"]);
    let output = command.output().map_err(|source| RootError::Start { program: "Python 3.14", source })?;
    let said = String::from_utf8_lossy(&output.stdout);
    if said.trim() == "(3, 14)" {
        return Ok(());
    }
    let why = String::from_utf8_lossy(&output.stderr);
    Err(RootError::Broken(format!("{} {}", said.trim(), last_line(&why))))
}

/// Renames the scratch folder to its final name. If this fails, the old folder gets its name back.
fn move_into_place(scratch: &Path, folder: &Path) -> Result<(), RootError> {
    let old = folder.with_extension(format!("old-{}", std::process::id()));
    // The name contains the id of this process. If the folder exists, an earlier process with the
    // same id left it. No running process uses the folder, because this process holds the lock.
    let _ = fs::remove_dir_all(&old);
    if folder.exists() {
        fs::rename(folder, &old).map_err(|source| RootError::Replace { path: folder.to_owned(), source })?;
    }
    let placed =
        fs::rename(scratch, folder).map_err(|source| RootError::Create { path: folder.to_owned(), source });
    let _ = if placed.is_ok() { fs::remove_dir_all(&old) } else { fs::rename(&old, folder) };
    placed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_root_that_could_not_be_renamed_deleted_the_old_one() {
        let scratch = std::env::temp_dir().join(format!("chicane-root-{}", std::process::id()));
        let _ = fs::remove_dir_all(&scratch);
        let folder = scratch.join("judge");
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join("form"), "chicane judge root 0\n").expect("written");
        let placed = move_into_place(&scratch.join("missing"), &folder);
        assert!(matches!(placed, Err(RootError::Create { .. })), "{placed:?}");
        assert!(matches!(ready(&folder), Err(RootError::OtherVersion(_))), "the old folder is in place");
        fs::remove_dir_all(&scratch).expect("removed");
    }

    #[test]
    fn a_folder_of_a_killed_setup_blocked_the_next_one() {
        let scratch = std::env::temp_dir().join(format!("chicane-root-left-{}", std::process::id()));
        let _ = fs::remove_dir_all(&scratch);
        let folder = scratch.join("judge");
        let left = folder.with_extension(format!("old-{}", std::process::id()));
        for path in [&folder, &left, &scratch.join("new")] {
            fs::create_dir_all(path.join("usr")).expect("a folder");
        }
        move_into_place(&scratch.join("new"), &folder).expect("placed");
        assert!(!left.exists(), "nothing is left");
        fs::remove_dir_all(&scratch).expect("removed");
    }
}
