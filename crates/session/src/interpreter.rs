//! Finds the Python installations that a command line uses, so that a closed box can show them.
//!
//! Installations are recognized by their files. A program is executed for this purpose only if it
//! is on the simulator's `PATH` and its installation can't be recognized. No file inside of the
//! workspace is ever executed, because a workspace comes from a student.

use crate::closed_box::SYSTEM_FOLDERS;
use crate::command_line::programs;
use chicane_jail::wake::wait_for;
use rustix::event::PollFlags;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Read;
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// Programs that every closed box offers, because many scripts start them. For a name without a
/// folder, the simulator's `PATH` decides which installation the box gets.
const DEFAULT_PROGRAMS: [&str; 3] = ["python3", "python", "/usr/bin/python3"];
/// How long a Python interpreter may take to print its prefix.
const ASK_TIMEOUT: Duration = Duration::from_secs(30);
/// Maximum number of bytes that are read from an interpreter's output or from a file.
const MAX_TEXT: u64 = 16 << 10;
/// Maximum number of `#!` lines that are followed from a script to its interpreter.
const MAX_STEPS: usize = 8;
/// The code with which a Python interpreter prints its prefix. `ask_now` also passes the option
/// `-S`, which prevents the interpreter from executing files of its packages.
const QUESTION: &str = "import sys; print(sys.base_prefix)";

/// A Python installation or virtual environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Python {
    /// The folder above `bin` and `lib`.
    pub(crate) prefix: PathBuf,
    /// The folder of its installed packages; `None` if this folder does not exist.
    pub(crate) packages: Option<PathBuf>,
}

/// What a closed box has to show for a command line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Interpreters {
    /// The installations and virtual environments, without duplicates.
    pub(crate) pythons: Vec<Python>,
    /// Folders that come first on the `PATH` of the box.
    pub(crate) path: Vec<PathBuf>,
    /// Programs that the command names and that are neither a Python nor in a folder of the system.
    pub(crate) others: Vec<PathBuf>,
}

/// Finds what a command line needs. `environments` are the virtual environments inside of the
/// workspace.
pub(crate) fn find(command: &str, workspace: &Path, environments: &[PathBuf]) -> Interpreters {
    let finder = Finder {
        workspace,
        path: std::env::var_os("PATH").unwrap_or_default(),
        home: std::env::var_os("HOME").map(PathBuf::from),
        pyenv_version: std::env::var("PYENV_VERSION").ok(),
        found: Interpreters::default(),
    };
    finder.find(command, environments)
}

/// The state of a search.
struct Finder<'a> {
    workspace: &'a Path,
    /// The simulator's `PATH`.
    path: OsString,
    /// The home folder of the simulator's user.
    home: Option<PathBuf>,
    /// The version of Python that the simulator's environment selects for pyenv.
    pyenv_version: Option<String>,
    found: Interpreters,
}

impl Finder<'_> {
    fn find(mut self, command: &str, environments: &[PathBuf]) -> Interpreters {
        for environment in environments {
            self.add_environment(environment);
        }
        let named = programs(command).into_iter().map(|word| (word, true));
        let defaults = DEFAULT_PROGRAMS.iter().map(|name| ((*name).to_owned(), false));
        for (word, named) in named.chain(defaults) {
            self.add_word(&word, named, 0);
        }
        self.found
    }

    /// Adds what the first word of a simple command needs. `named` is true if the command line
    /// contains the word, and false for one of [`DEFAULT_PROGRAMS`]. `steps` is the number of `#!`
    /// lines that were followed so far.
    fn add_word(&mut self, word: &str, named: bool, steps: usize) {
        if steps > MAX_STEPS {
            return;
        }
        let (program, on_path) = if word.contains('/') {
            (normalized(&self.workspace.join(word)), false)
        } else {
            match self.on_path(word) {
                Some(program) => (program, true),
                None => return,
            }
        };
        if let Some(environment) = environment_of(&program).filter(|_| is_python(&program)) {
            self.add_path(&environment.join("bin"));
            self.add_environment(&environment);
            return;
        }
        if program.starts_with(self.workspace) {
            // A script in the workspace is read, but never executed.
            if let Some(next) = first_line(&program).and_then(|line| interpreter_of(&line)) {
                self.add_word(&next, named, steps + 1);
            }
            return;
        }
        if !is_python(&program) {
            let system = SYSTEM_FOLDERS.iter().any(|folder| program.starts_with(folder));
            if named && !system && program.is_file() {
                self.found.others.push(program);
            }
            return;
        }
        let Some(prefix) = self.installation(&program, on_path) else { return };
        self.add_path(&prefix.join("bin"));
        self.add_installation(prefix);
    }

    /// Adds a folder to the `PATH` of the box. Folders of the system are on it anyway.
    fn add_path(&mut self, folder: &Path) {
        let system = ["/usr/bin", "/bin", "/usr/local/bin"].map(Path::new);
        if !system.contains(&folder) && !self.found.path.iter().any(|other| other == folder) {
            self.found.path.push(folder.to_owned());
        }
    }

    /// Adds a virtual environment and the installation that it is based on.
    fn add_environment(&mut self, environment: &Path) {
        let library = python_folders(environment).into_iter().next();
        let packages = library.map(|folder| folder.join("site-packages")).filter(|folder| folder.is_dir());
        self.push(Python { prefix: environment.to_owned(), packages });
        let home = read_bounded(&environment.join("pyvenv.cfg")).and_then(|text| home_of(&text));
        let base = home.filter(|home| home.is_absolute() && !home.starts_with(self.workspace));
        if let Some(prefix) =
            base.as_deref().and_then(Path::parent).filter(|prefix| self.is_installation(prefix))
        {
            self.add_installation(prefix.to_owned());
        }
    }

    fn add_installation(&mut self, prefix: PathBuf) {
        let packages = packages_of(&prefix);
        self.push(Python { prefix, packages });
    }

    /// Finds a program on the simulator's `PATH`; `None` if no searched folder has it. Relative
    /// folders and folders of the workspace are skipped, because a student could place a program
    /// there. The only exception is the `bin` folder of a virtual environment in the workspace. It
    /// is searched, because a program found there is never executed.
    fn on_path(&self, name: &str) -> Option<PathBuf> {
        let folders = std::env::split_paths(&self.path).filter(|folder| {
            folder.is_absolute()
                && (!folder.starts_with(self.workspace) || folder.join("../pyvenv.cfg").is_file())
        });
        folders.map(|folder| folder.join(name)).find(|file| is_executable(file))
    }

    /// The prefix of the installation that a program belongs to; `None` if it can't be found.
    /// `on_path` says whether the program is on the simulator's `PATH`. Only such a program is
    /// executed to ask for its prefix.
    fn installation(&self, program: &Path, on_path: bool) -> Option<PathBuf> {
        let program = self.shim_target(program).unwrap_or_else(|| program.to_owned());
        let real = std::fs::canonicalize(&program).ok()?;
        let recognized = real.parent().and_then(Path::parent).filter(|prefix| self.is_installation(prefix));
        match recognized {
            Some(prefix) => Some(prefix.to_owned()),
            None if on_path && !real.starts_with(self.workspace) => {
                ask(&program).filter(|prefix| self.is_installation(prefix))
            }
            None => None,
        }
    }

    /// Whether a folder is the prefix of a Python installation, which contains a standard library.
    /// The file system's root, the user's home and the folders above it never count, because a box
    /// would then show all their files.
    fn is_installation(&self, prefix: &Path) -> bool {
        let too_wide =
            prefix == Path::new("/") || self.home.as_ref().is_some_and(|home| home.starts_with(prefix));
        !too_wide && python_folders(prefix).iter().any(|folder| folder.join("os.py").is_file())
    }

    /// The program behind a shim of pyenv; `None` if `program` is not a shim, or if no selected
    /// version has the program. The version comes from the environment, the workspace or the user's
    /// settings, as for pyenv itself.
    fn shim_target(&self, program: &Path) -> Option<PathBuf> {
        let shims = program.parent().filter(|folder| folder.ends_with("shims"))?;
        let root = shims.parent()?;
        let versions = root.join("versions");
        if !versions.is_dir() {
            return None;
        }
        let from_file = |file: &Path| read_bounded(file).map(|text| version_names(&text));
        let from_environment = self.pyenv_version.as_ref().map(|text| version_names(&text.replace(':', " ")));
        let names = from_environment
            .or_else(|| from_file(&self.workspace.join(".python-version")))
            .or_else(|| from_file(&root.join("version")))
            .unwrap_or_default();
        let name = program.file_name()?;
        names
            .iter()
            .map(|version| versions.join(version).join("bin").join(name))
            .find(|file| is_executable(file))
    }

    fn push(&mut self, python: Python) {
        if !self.found.pythons.iter().any(|other| other.prefix == python.prefix) {
            self.found.pythons.push(python);
        }
    }
}

/// Removes `.` and `..` from an absolute path without looking at the file system.
pub(crate) fn normalized(path: &Path) -> PathBuf {
    let mut normal = PathBuf::from("/");
    for part in path.components() {
        match part {
            Component::ParentDir => drop(normal.pop()),
            Component::Normal(name) => normal.push(name),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    normal
}

fn is_executable(file: &Path) -> bool {
    file.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

/// Whether a program has the name of a Python interpreter.
fn is_python(program: &Path) -> bool {
    let name = program.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let version = name.strip_prefix("python").or_else(|| name.strip_prefix("pypy"));
    version.is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || c == '.' || c == 't'))
}

/// The virtual environment that a program belongs to: the folder above the program's folder. `None`
/// if it has no `pyvenv.cfg`.
fn environment_of(program: &Path) -> Option<PathBuf> {
    let folder = program.parent()?.parent()?;
    folder.join("pyvenv.cfg").is_file().then(|| folder.to_owned())
}

/// Whether a folder is a virtual environment, or has the standard library of a Python. A box shows
/// no other folder for an interpreter.
pub(crate) fn is_python_folder(folder: &Path) -> bool {
    folder.join("pyvenv.cfg").is_file()
        || python_folders(folder).iter().any(|folder| folder.join("os.py").is_file())
}

/// The folders of standard libraries below a prefix: `python3.*` and `pypy3.*` in `lib` and
/// `lib64`, sorted.
fn python_folders(prefix: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for library in ["lib", "lib64"] {
        for entry in std::fs::read_dir(prefix.join(library)).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name.starts_with("python3.") || name.starts_with("pypy3.") {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    found
}

/// The folder of installed packages that the Python of a prefix searches; `None` if there is none.
fn packages_of(prefix: &Path) -> Option<PathBuf> {
    // Debian's Python searches this folder instead of `site-packages`.
    let of_debian = prefix.join("lib/python3/dist-packages");
    if of_debian.is_dir() {
        return Some(of_debian);
    }
    let libraries = python_folders(prefix).into_iter().filter(|folder| folder.join("os.py").is_file());
    libraries.map(|folder| folder.join("site-packages")).find(|folder| folder.is_dir())
}

/// The version names in a text, without names that could lead to another folder.
fn version_names(text: &str) -> Vec<String> {
    let allowed = |name: &&str| {
        !name.starts_with('.') && name.chars().all(|c| c.is_ascii_alphanumeric() || ".-_+".contains(c))
    };
    text.split_whitespace().filter(allowed).map(str::to_owned).collect()
}

/// The value of `home` in a `pyvenv.cfg`.
fn home_of(text: &str) -> Option<PathBuf> {
    text.lines().find_map(|line| {
        let (key, value) = line.split_once('=')?;
        (key.trim() == "home").then(|| PathBuf::from(value.trim()))
    })
}

/// The first [`MAX_TEXT`] bytes of a regular file as text. `None` if the file can't be read, or is
/// not a regular file, for example a symbolic link.
fn read_bounded(file: &Path) -> Option<String> {
    if !file.symlink_metadata().ok()?.is_file() {
        return None;
    }
    let mut text = Vec::new();
    std::fs::File::open(file).ok()?.take(MAX_TEXT).read_to_end(&mut text).ok()?;
    Some(String::from_utf8_lossy(&text).into_owned())
}

/// The first line of a file.
fn first_line(file: &Path) -> Option<String> {
    read_bounded(file)?.lines().next().map(str::to_owned)
}

/// The program that a line `#!…` names; for `env`, the program that `env` is to start. `None` for
/// any other line.
fn interpreter_of(line: &str) -> Option<String> {
    let mut words = line.strip_prefix("#!")?.split_whitespace();
    let first = words.next()?;
    if Path::new(first).file_name()? != "env" {
        return Some(first.to_owned());
    }
    words.find(|word| !word.starts_with('-') && !word.contains('=')).map(str::to_owned)
}

/// Executes a Python interpreter to get its prefix. `None` if it prints no absolute path in time.
/// The answer is cached until the program's file changes.
fn ask(program: &Path) -> Option<PathBuf> {
    static ANSWERS: Mutex<BTreeMap<(PathBuf, SystemTime), Option<PathBuf>>> = Mutex::new(BTreeMap::new());
    let modified = program.metadata().and_then(|metadata| metadata.modified()).ok()?;
    let mut answers = ANSWERS.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (program.to_owned(), modified);
    if let Some(known) = answers.get(&key) {
        return known.clone();
    }
    let answer = ask_now(program);
    answers.insert(key, answer.clone());
    answer
}

fn ask_now(program: &Path) -> Option<PathBuf> {
    let mut command = Command::new(program);
    command.args(["-I", "-S", "-c", QUESTION]).current_dir("/");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let mut output = child.stdout.take()?;
    let deadline = Instant::now() + ASK_TIMEOUT;
    let mut text = Vec::new();
    while !text.contains(&b'\n') && (text.len() as u64) < MAX_TEXT {
        let left = deadline.saturating_duration_since(Instant::now());
        let mut piece = [0; 1024];
        if left.is_zero() || wait_for(&[(output.as_fd(), PollFlags::IN)], left) != [true] {
            break;
        }
        match output.read(&mut piece) {
            Ok(0) | Err(_) => break,
            Ok(n) => text.extend_from_slice(&piece[..n]),
        }
    }
    let _ = child.kill();
    let _ = child.wait();
    let line = String::from_utf8(text).ok()?.lines().next()?.to_owned();
    Some(PathBuf::from(line)).filter(|prefix| prefix.is_absolute())
}

#[cfg(test)]
#[path = "interpreter_tests.rs"]
mod tests;
