//! Every kind of Python installation runs in a closed box and can import `chicane`.

use crate::support::{TempFolder, evaluate, output, record};
use std::path::{Path, PathBuf};
use std::process::Command;

const IMPORT: &str = "import chicane, sys; print(chicane.Sim.__name__, sys.prefix)";

/// Creates a virtual environment of the system's Python.
fn environment(at: &Path) {
    let made = Command::new("/usr/bin/python3").args(["-m", "venv", "--without-pip"]).arg(at).status();
    assert!(made.expect("started").success(), "the system's Python can't make an environment");
}

/// Runs a command with a `PATH` and returns the prefix of the Python that imported `chicane`.
fn prefix(workspace: &Path, path: Option<&str>, python: &str) -> String {
    let mut command = evaluate(workspace, &format!("{python} -I -c '{IMPORT}'"));
    if let Some(path) = path {
        command.env("PATH", path);
    }
    let record = record(command);
    let found = output(&record);
    let prefix = found.last().and_then(|line| line.strip_prefix("Sim "));
    prefix.unwrap_or_else(|| panic!("{python}: {found:#?}")).to_owned()
}

#[test]
fn a_python_could_not_import_chicane() {
    let (workspace, other) = (TempFolder::new(), TempFolder::new());
    environment(&workspace.0.join(".venv"));
    environment(&other.0.join("env"));
    let system = "/usr/bin:/bin";
    assert_eq!(prefix(&workspace.0, Some(system), "python3"), "/usr");
    assert_eq!(prefix(&workspace.0, None, "/usr/bin/python3"), "/usr");
    assert_eq!(prefix(&workspace.0, Some(system), ".venv/bin/python"), "/workspace/.venv");
    let outside = other.0.join("env");
    let shown = outside.to_str().expect("UTF-8");
    assert_eq!(prefix(&workspace.0, Some(system), &format!("{shown}/bin/python3")), shown);
    assert_eq!(prefix(&workspace.0, Some(&format!("{shown}/bin:{system}")), "python3"), shown);
    std::os::unix::fs::symlink(&outside, workspace.0.join("linked")).expect("a link");
    assert_eq!(prefix(&workspace.0, Some(system), "linked/bin/python"), "/workspace/linked");
    let program = workspace.file("run.py", &format!("#!/usr/bin/env python3\n{IMPORT}\n"));
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("set");
    let found = output(&record(evaluate(&workspace.0, "cd /workspace && ./run.py")));
    assert!(found.last().is_some_and(|line| line.starts_with("Sim ")), "{found:#?}");
    // The default Python of this machine works too, wherever it is installed.
    prefix(&workspace.0, None, "env python3");
}

#[test]
fn a_python_in_a_private_folder_could_not_be_started() {
    let (workspace, private) = (TempFolder::new(), TempFolder::new());
    let version = "3.99.0";
    let prefix_folder = private.0.join("pyenv/versions").join(version);
    copy_of_python(&prefix_folder);
    private.file("pyenv/shims/python3", "#!/bin/sh\nexit 1\n");
    private.file("pyenv/version", &format!("{version}\n"));
    let set = |path: PathBuf, mode| {
        std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)).expect("set");
    };
    set(private.0.join("pyenv/shims/python3"), 0o755);
    set(private.0.clone(), 0o700);
    let path = format!("{}/pyenv/shims:/usr/bin:/bin", private.text());
    let found = prefix(&workspace.0, Some(&path), "python3");
    assert_eq!(Path::new(&found), prefix_folder);
}

/// Copies the system's Python to the folder `prefix`. The copy finds its library relative to its
/// own folder.
fn copy_of_python(prefix: &Path) {
    let ask = |what: &str| {
        let output =
            Command::new("/usr/bin/python3").args(["-I", "-S", "-c", what]).output().expect("started");
        String::from_utf8(output.stdout).expect("UTF-8").trim().to_owned()
    };
    let name = ask("import sys; print('python%d.%d' % sys.version_info[:2])");
    let library = ask("import os; print(os.path.dirname(os.__file__))");
    std::fs::create_dir_all(prefix.join("bin")).expect("a folder");
    std::fs::create_dir_all(prefix.join("lib")).expect("a folder");
    std::fs::copy(format!("/usr/bin/{name}"), prefix.join("bin").join(&name)).expect("a copy");
    std::os::unix::fs::symlink(&name, prefix.join("bin/python3")).expect("a link");
    let copied = Command::new("cp").arg("-a").arg(library).arg(prefix.join("lib")).status();
    assert!(copied.expect("started").success());
    let packages = prefix.join("lib").join(&name).join("site-packages");
    std::fs::create_dir_all(&packages).expect("a folder");
    // Debian's Python searches this folder, and not `site-packages`.
    let dist = prefix.join("lib/python3/dist-packages");
    std::fs::create_dir_all(dist).expect("a folder");
}
