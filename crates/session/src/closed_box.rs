//! Decides what a closed box shows of the host.

use crate::box_options::BoxOptions;
use crate::interpreter::{self, Interpreters, normalized};
use crate::student::StudentProgram;
use chicane_jail::package;
use chicane_jail::workspace_copy::Workspace;
use chicane_jail::{Bind, ClosedPlan, HOME, WORKSPACE};
use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path, PathBuf};

/// Folders of the system, which every box shows.
pub(crate) const SYSTEM_FOLDERS: [&str; 7] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];
/// Files and folders of `/etc` that every box shows. They hold no secret, and libraries read them.
const ETC: [&str; 33] = [
    "alternatives",
    "ca-certificates",
    "ca-certificates.conf",
    "crypto-policies",
    "debian_version",
    "fonts",
    "gai.conf",
    "host.conf",
    "inputrc",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "locale.alias",
    "localtime",
    "magic",
    "magic.mime",
    "matplotlibrc",
    "mime.types",
    "networks",
    "os-release",
    "pki/ca-trust/extracted",
    "pki/tls/cert.pem",
    "pki/tls/certs",
    "pki/tls/openssl.cnf",
    "protocols",
    "python3",
    "rpc",
    "services",
    "ssl/certs",
    "ssl/cert.pem",
    "ssl/openssl.cnf",
    "terminfo",
    "timezone",
];
/// The end of the `PATH` inside a box.
const SYSTEM_PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";
/// Paths at which every box has a folder of its own, so the host's folder at such a path, or above
/// it, can't be shown.
const OWN: [&str; 7] = ["/dev", "/etc", HOME, "/proc", "/tmp", "/var/tmp", WORKSPACE];
/// Maximum number of symbolic links that are followed to find a file.
const MAX_LINKS: usize = 40;

/// Why a closed box can't be planned.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ClosedBoxError {
    /// A path of `--student-path` does not exist.
    #[error("--student-path {}: {source}", .path.display())]
    Path {
        /// The path.
        path: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
    /// At or below a path of `--student-path`, every box has a folder of its own.
    #[error("--student-path {} can't be shown, because a box has its own {own}: name a folder below it", .path.display())]
    Own {
        /// The path.
        path: PathBuf,
        /// The path of the folder that the box has of its own.
        own: &'static str,
    },
}

/// What a closed box shows.
#[derive(Debug)]
pub(crate) struct ClosedBox {
    /// The file system.
    pub(crate) plan: ClosedPlan,
    /// All environment variables of the program.
    pub(crate) environment: BTreeMap<String, String>,
    /// What to try if a program is not found.
    pub(crate) hints: Vec<String>,
}

/// Plans the box of a program. `internet` says whether the program has internet access, and
/// therefore a name server.
pub(crate) fn plan(
    program: &StudentProgram,
    workspace: &Workspace,
    internet: bool,
) -> Result<ClosedBox, ClosedBoxError> {
    let mut view = View::new(workspace.path());
    for folder in SYSTEM_FOLDERS {
        view.show(Path::new(folder));
    }
    for name in ETC {
        view.show(&Path::new("/etc").join(name));
    }
    for path in &program.options.paths {
        view.show_asked(path)?;
    }
    let mounted: Vec<PathBuf> =
        workspace.mounted().iter().map(|relative| workspace.path().join(relative)).collect();
    for path in &mounted {
        view.show(path);
    }
    let environments: Vec<PathBuf> =
        mounted.into_iter().filter(|path| path.join("pyvenv.cfg").is_file()).collect();
    let found = interpreter::find(&program.command, workspace.path(), &environments);
    for python in &found.pythons {
        view.show_if(&python.prefix, interpreter::is_python_folder);
    }
    view.link_workspace();
    let packages = found.pythons.iter().filter_map(|python| python.packages.as_ref());
    let packages = packages.filter(|folder| !folder.join(package::NAME).exists());
    let packages = packages.map(|folder| view.inside(folder)).collect();
    let hints = hints(&found, &view);
    let hide = program.hide.iter().filter_map(|folder| std::fs::canonicalize(folder).ok());
    let hide = hide.filter(|folder| view.shows(folder)).collect();
    let environment = environment(program, &found);
    let plan = ClosedPlan {
        file_bytes: program.options.limits.files,
        binds: view.binds.into_values().collect(),
        links: view.links,
        hide,
        packages,
        internet,
    };
    Ok(ClosedBox { plan, environment, hints })
}

/// The folders and files of the host that a box shows.
struct View {
    /// The workspace on the host.
    workspace: PathBuf,
    /// Sorted by path in the box, so a folder comes before its subfolders.
    binds: BTreeMap<PathBuf, Bind>,
    links: BTreeMap<PathBuf, PathBuf>,
}

impl View {
    fn new(workspace: &Path) -> View {
        View { workspace: workspace.to_owned(), binds: BTreeMap::new(), links: BTreeMap::new() }
    }

    /// Whether the box shows a path of the host at the same path.
    fn shows(&self, path: &Path) -> bool {
        path.ancestors().any(|folder| self.binds.contains_key(folder))
    }

    /// The path in the box of a path on the host.
    fn inside(&self, path: &Path) -> PathBuf {
        match path.strip_prefix(&self.workspace) {
            Ok(relative) => Path::new(WORKSPACE).join(relative),
            Err(_) => path.to_owned(),
        }
    }

    /// Shows a path that `--student-path` names.
    fn show_asked(&mut self, path: &Path) -> Result<(), ClosedBoxError> {
        let error = |source| ClosedBoxError::Path { path: path.to_owned(), source };
        let absolute = std::path::absolute(path).map_err(error)?;
        std::fs::metadata(&absolute).map_err(error)?;
        let absolute = normalized(&absolute);
        if let Some(own) = OWN.into_iter().find(|own| Path::new(own).starts_with(&absolute)) {
            return Err(ClosedBoxError::Own { path: path.to_owned(), own });
        }
        // A path inside the workspace is not shown here, because `Workspace::mounted` contains it.
        if !absolute.starts_with(&self.workspace) {
            self.show(&absolute);
        }
        Ok(())
    }

    /// Shows a folder or file, with the symbolic links on the way to it. Does nothing if the path
    /// does not exist.
    fn show(&mut self, path: &Path) {
        self.show_if(path, |_| true);
    }

    /// Resolves the symbolic links of a path, and shows the folder or file there if the resolved
    /// path passes `check`. Does nothing if [`View::resolve`] returns `None`.
    fn show_if(&mut self, path: &Path, check: impl Fn(&Path) -> bool) {
        let Some(real) = self.resolve(path).filter(|real| check(real)) else { return };
        let Ok(metadata) = std::fs::metadata(&real) else { return };
        let target = self.inside(&real);
        self.binds.retain(|other, _| !other.starts_with(&target));
        self.links.retain(|other, _| !other.starts_with(&target));
        self.binds.insert(target.clone(), Bind { source: real, target, folder: metadata.is_dir() });
    }

    /// Resolves the symbolic links of a path, and adds these links to the box. `None` if the box
    /// shows the path already, if the box has a folder of its own at or below the path, or if there
    /// are too many links.
    fn resolve(&mut self, path: &Path) -> Option<PathBuf> {
        let mut path = normalized(path);
        'followed: for _ in 0..MAX_LINKS {
            let mut at = PathBuf::from("/");
            let mut parts = path.components().filter(|part| matches!(part, Component::Normal(_)));
            while let Some(part) = parts.next() {
                at.push(part);
                if self.shows(&self.inside(&at)) {
                    return None;
                }
                let Ok(text) = std::fs::read_link(&at) else { continue };
                let rest: PathBuf = parts.collect();
                let folder = at.parent().unwrap_or(Path::new("/"));
                let next = normalized(&folder.join(&text).join(rest));
                let inside = self.inside(&at);
                // Links inside the workspace are not added, because the copy of the workspace
                // contains them.
                if !inside.starts_with(WORKSPACE) && !OWN.iter().any(|own| at == Path::new(own)) {
                    self.links.insert(inside, text);
                }
                path = next;
                continue 'followed;
            }
            let own = OWN.iter().any(|own| Path::new(own).starts_with(&path));
            return (!own).then_some(path);
        }
        None
    }

    /// Adds a link to the copy of the workspace at the workspace's path on the host, so that
    /// absolute paths in a command line work. Does nothing if the box has something else at, above
    /// or below this path.
    fn link_workspace(&mut self) {
        let at = self.workspace.clone();
        let taken = self.shows(&at)
            || self.links.contains_key(&at)
            || self.binds.keys().any(|target| target.starts_with(&at))
            || OWN.iter().any(|own| Path::new(own).starts_with(&at));
        if !taken {
            self.links.insert(at, WORKSPACE.into());
        }
    }
}

/// Advice for programs that the command names and that the box does not show.
fn hints(found: &Interpreters, view: &View) -> Vec<String> {
    let hidden = found.others.iter().filter(|program| !view.shows(program));
    let hint = |program: &PathBuf| {
        let folder = program.parent().unwrap_or(program);
        let folder = if folder.ends_with("bin") { folder.parent().unwrap_or(folder) } else { folder };
        format!(
            "chicane: {} is not in the box; --student-path {} shows it",
            program.display(),
            folder.display()
        )
    };
    hidden.map(hint).collect()
}

/// The environment variables inside a closed box.
fn environment(program: &StudentProgram, found: &Interpreters) -> BTreeMap<String, String> {
    let own = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let mut path: Vec<String> = found.path.iter().map(|folder| folder.display().to_string()).collect();
    path.push(SYSTEM_PATH.to_owned());
    let mut variables = BTreeMap::from([
        ("HOME".to_owned(), HOME.to_owned()),
        ("LANG".to_owned(), own("LANG").unwrap_or_else(|| "C.UTF-8".to_owned())),
        ("PATH".to_owned(), path.join(":")),
        ("TERM".to_owned(), own("TERM").unwrap_or_else(|| "dumb".to_owned())),
    ]);
    variables.extend(program.environment.clone());
    variables.extend(asked_variables(&program.options));
    variables
}

/// The variables that `--student-env` names, with the simulator's values.
fn asked_variables(options: &BoxOptions) -> impl Iterator<Item = (String, String)> {
    options.environment.iter().filter_map(|name| Some((name.clone(), std::env::var(name).ok()?)))
}
