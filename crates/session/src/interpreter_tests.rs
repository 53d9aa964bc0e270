use super::*;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicU64, Ordering};

/// A machine with Python installations, in a temporary folder.
struct Machine(PathBuf);

impl Machine {
    fn new() -> Machine {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("chicane-interpreter-test-{}-{number}", std::process::id());
        let root = std::env::temp_dir().join(name);
        let _ = std::fs::remove_dir_all(&root);
        std::fs::create_dir_all(root.join("workspace")).expect("a folder");
        Machine(std::fs::canonicalize(root).expect("a folder"))
    }

    fn file(&self, path: &str, text: &str) -> PathBuf {
        let path = self.0.join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(&path, text).expect("written");
        path
    }

    fn program(&self, path: &str, text: &str) -> PathBuf {
        let path = self.file(path, text);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("executable");
        path
    }

    /// An installation of Python below a prefix.
    fn install(&self, prefix: &str) -> PathBuf {
        self.program(&format!("{prefix}/bin/python3.12"), "");
        let _ = symlink("python3.12", self.0.join(prefix).join("bin/python3"));
        self.file(&format!("{prefix}/lib/python3.12/os.py"), "");
        self.file(&format!("{prefix}/lib/python3.12/site-packages/README"), "");
        self.0.join(prefix)
    }

    fn environment(&self, path: &str, home: &Path) -> PathBuf {
        self.file(&format!("{path}/pyvenv.cfg"), &format!("home = {}\nversion = 3.12.1\n", home.display()));
        self.file(&format!("{path}/lib/python3.12/site-packages/README"), "");
        std::fs::create_dir_all(self.0.join(path).join("bin")).expect("a folder");
        symlink(home.join("python3"), self.0.join(path).join("bin/python")).expect("a link");
        self.0.join(path)
    }

    fn find(&self, path: &[&str], command: &str, environments: &[PathBuf]) -> Interpreters {
        let workspace = self.0.join("workspace");
        let folders = path.iter().map(|folder| self.0.join(folder));
        let finder = Finder {
            workspace: &workspace,
            path: std::env::join_paths(folders).expect("a PATH"),
            home: Some(self.0.join("home")),
            pyenv_version: None,
            found: Interpreters::default(),
        };
        let mut found = finder.find(command, environments);
        // The Python of the machine that runs the test is always found, so it is removed from the
        // result.
        found.pythons.retain(|python| python.prefix.starts_with(&self.0));
        found
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn prefixes(found: &Interpreters) -> Vec<&Path> {
    found.pythons.iter().map(|python| python.prefix.as_path()).collect()
}

#[test]
fn a_python_on_the_path_or_named_by_its_path_is_found() {
    let machine = Machine::new();
    let conda = machine.install("opt/conda");
    let found = machine.find(&["opt/conda/bin"], "cd a && ./run.sh", &[]);
    assert_eq!(prefixes(&found), [&conda]);
    assert_eq!(found.path, [conda.join("bin")]);
    let packages = conda.join("lib/python3.12/site-packages");
    assert_eq!(found.pythons[0].packages.as_deref(), Some(packages.as_path()));
    let command = format!("{}/bin/python3 x.py", conda.display());
    assert_eq!(prefixes(&machine.find(&[], &command, &[])), [&conda]);
}

#[test]
fn a_shim_of_pyenv_leads_to_the_version_of_the_workspace_or_the_user() {
    let machine = Machine::new();
    let (old, new) =
        (machine.install("home/.pyenv/versions/3.11.7"), machine.install("home/.pyenv/versions/3.12.1"));
    machine.program("home/.pyenv/shims/python3", "#!/bin/sh\nexit 1\n");
    machine.file("home/.pyenv/version", "3.11.7\n");
    let find = || machine.find(&["home/.pyenv/shims"], "python3 x.py", &[]);
    assert_eq!(prefixes(&find()), [&old]);
    machine.file("workspace/.python-version", "3.12.1\n");
    assert_eq!(prefixes(&find()), [&new]);
    machine.file("workspace/.python-version", "../../../workspace/evil ..\n");
    assert!(find().pythons.is_empty(), "a version name led to another folder");
}

#[test]
fn an_environment_in_the_workspace_brings_its_base() {
    let machine = Machine::new();
    let base = machine.install("opt/python");
    let environment = machine.environment("workspace/.venv", &base.join("bin"));
    let found = machine.find(&[], ".venv/bin/python x.py", std::slice::from_ref(&environment));
    assert_eq!(prefixes(&found), [&environment, &base]);
    assert_eq!(found.path, [environment.join("bin")]);
}

#[test]
fn a_workspace_cannot_name_a_folder_that_is_no_installation_of_python() {
    let machine = Machine::new();
    machine.file("home/.ssh/id", "secret");
    machine.program("home/.ssh/bin/python3", "");
    machine.install("home");
    machine.install("workspace/own");
    for home in ["home/.ssh/bin", "home/bin", "workspace/own/bin", "nowhere/bin"] {
        let environment = machine.environment("workspace/.venv", &machine.0.join(home));
        let found = machine.find(&[], "true", std::slice::from_ref(&environment));
        assert_eq!(prefixes(&found), [&environment], "{home}");
        std::fs::remove_dir_all(environment).expect("removed");
    }
}

#[test]
fn a_script_of_the_workspace_is_read_and_never_executed() {
    let machine = Machine::new();
    let base = machine.install("opt/python");
    let mark = machine.0.join("executed");
    let evil = format!("#!/bin/sh\ntouch {}\n", mark.display());
    machine.program("workspace/python3", &evil);
    machine.program("workspace/bin/python3", &evil);
    let found = machine.find(&["workspace", "workspace/bin"], "./python3; bin/python3; python3", &[]);
    assert!(found.pythons.is_empty(), "{found:?}");
    machine.program("workspace/run", &format!("#!/usr/bin/env -S {}/bin/python3\n", base.display()));
    assert_eq!(prefixes(&machine.find(&[], "./run", &[])), [&base]);
    assert!(!mark.exists(), "a program of the workspace was executed");
}

#[test]
fn a_wrapper_on_the_path_is_asked_for_its_installation() {
    let machine = Machine::new();
    let base = machine.install("opt/python");
    machine.program("wrappers/python3", &format!("#!/bin/sh\necho {}\n", base.display()));
    assert_eq!(prefixes(&machine.find(&["wrappers"], "python3 x.py", &[])), [&base]);
    machine.program("silent/python3", "#!/bin/sh\nexec sleep 100\n");
    let asked = Instant::now();
    assert!(machine.find(&["silent"], "python3", &[]).pythons.is_empty());
    assert!(asked.elapsed() < 3 * ASK_TIMEOUT, "{:?}", asked.elapsed());
    let command = format!("{}/wrappers/python3 x.py", machine.0.display());
    assert!(
        machine.find(&[], &command, &[]).pythons.is_empty(),
        "a program that is not on PATH was executed"
    );
}

#[test]
fn other_programs_outside_of_the_system_are_listed() {
    let machine = Machine::new();
    let node = machine.program("opt/node/bin/node", "");
    let found = machine.find(&["opt/node/bin"], "node x.js && ls", &[]);
    assert_eq!(found.others, [node]);
}
