//! Downloads Debian packages with a separate apt configuration, so that the machine is not changed.

use super::command::run;
use super::error::RootError;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Releases of Debian with Python 3.14, the more stable one first.
const RELEASES: [&str; 2] = ["forky", "sid"];
/// The keyring of Debian.
const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// Paths of the downloaded packages.
pub(super) struct Packages {
    pub(super) main: Vec<PathBuf>,
    pub(super) tools: Vec<PathBuf>,
}

/// A mirror from the apt configuration of this machine, and the key that apt trusts for it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Mirror {
    address: String,
    signed_by: String,
}

pub(super) fn fetch(
    scratch: &Path,
    main: &[&str],
    tools: &[&str],
    say: &mut dyn FnMut(&str),
) -> Result<Packages, RootError> {
    for tool in ["apt-get", "dpkg-deb"] {
        let found = Command::new(tool).arg("--version").output();
        found.map_err(|_| RootError::MissingTool(tool))?;
    }
    let mirror = mirror()?;
    let mut failure = RootError::NothingFetched;
    for release in RELEASES {
        say(&format!("fetching the package list of Debian {release}"));
        match fetch_from(scratch, release, &mirror, main, tools, say) {
            Ok(packages) => return Ok(packages),
            Err(why) => failure = why,
        }
    }
    Err(RootError::NotFetched(Box::new(failure)))
}

fn fetch_from(
    scratch: &Path,
    release: &str,
    mirror: &Mirror,
    main: &[&str],
    tools: &[&str],
    say: &mut dyn FnMut(&str),
) -> Result<Packages, RootError> {
    let folder = scratch.join(release);
    for part in ["lists/partial", "cache/archives/partial", "sources", "state"] {
        fs::create_dir_all(folder.join(part)).map_err(RootError::file(&folder))?;
    }
    let write =
        |name: &str, text: String| fs::write(folder.join(name), text).map_err(RootError::file(&folder));
    write("state/status", String::new())?;
    write("sources/debian.sources", sources(release, mirror))?;
    write("apt.conf", configuration(&folder))?;
    let apt = || {
        let mut command = Command::new("apt-get");
        command
            .env("APT_CONFIG", folder.join("apt.conf"))
            .env("DEBIAN_FRONTEND", "noninteractive")
            .env("LC_ALL", "C");
        command
    };
    run(apt().args(["-qq", "update"]), "apt-get update")?;
    say("fetching Python 3.14");
    let main = download(&apt, &folder, main)?;
    let tools = download(&apt, &folder, tools)?;
    Ok(Packages { main, tools })
}

/// Downloads packages with their dependencies. Returns the paths of the files.
fn download(apt: &dyn Fn() -> Command, folder: &Path, names: &[&str]) -> Result<Vec<PathBuf>, RootError> {
    let archives = folder.join("cache/archives");
    run(apt().args(["-qq", "-y", "--download-only", "install"]).args(names), "apt-get")?;
    let is_package = |path: &PathBuf| path.extension().is_some_and(|e| e == "deb");
    let files = fs::read_dir(&archives).map_err(RootError::file(&archives))?;
    let mut files: Vec<PathBuf> = files.filter_map(|f| Some(f.ok()?.path())).filter(is_package).collect();
    files.sort();
    // The packages are moved to another folder, so that the next download finds only its own
    // packages.
    let apart = folder.join(names[0]);
    fs::create_dir_all(&apart).map_err(RootError::file(&apart))?;
    let mut moved = Vec::new();
    for file in files {
        let to = apart.join(file.file_name().unwrap_or_default());
        fs::rename(&file, &to).map_err(RootError::file(&to))?;
        moved.push(to);
    }
    if moved.is_empty() { Err(RootError::NothingFetched) } else { Ok(moved) }
}

fn sources(release: &str, mirror: &Mirror) -> String {
    let Mirror { address, signed_by } = mirror;
    let signed_by = if signed_by.is_empty() { String::new() } else { format!("Signed-By: {signed_by}\n") };
    format!("Types: deb\nURIs: {address}\nSuites: {release}\nComponents: main\n{signed_by}")
}

fn configuration(folder: &Path) -> String {
    let folder = folder.display();
    format!(
        "Dir::State \"{folder}/state\";\nDir::State::lists \"{folder}/lists\";\n\
         Dir::State::status \"{folder}/state/status\";\nDir::Cache \"{folder}/cache\";\n\
         Dir::Etc::sourcelist \"/dev/null\";\nDir::Etc::sourceparts \"{folder}/sources\";\n\
         Dir::Etc::preferences \"/dev/null\";\nDir::Etc::preferencesparts \"/dev/null\";\n\
         Dir::Log \"{folder}\";\nAPT::Sandbox::User \"\";\nAPT::Install-Recommends \"false\";\n\
         APT::Update::Post-Invoke {{ }};\nAPT::Update::Post-Invoke-Success {{ }};\n\
         DPkg::Post-Invoke {{ }};\nAcquire::Languages \"none\";\nAcquire::Check-Valid-Until \"false\";\n\
         Acquire::Retries \"3\";\nDebug::NoLocking \"true\";\n"
    )
}

/// The Debian mirror of this machine.
fn mirror() -> Result<Mirror, RootError> {
    let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
    let field = |name: &str| {
        let line = release.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        line.unwrap_or_default().trim_matches('"').to_owned()
    };
    if field("ID") != "debian" {
        return Err(RootError::NotDebian(field("NAME")));
    }
    let mut command = Command::new("apt-get");
    command.args(["indextargets", "--format", "$(CREATED_BY)|$(REPO_URI)|$(SUITE)|$(RELEASE)|$(SIGNED_BY)"]);
    let targets = run(command.env("LC_ALL", "C"), "apt-get indextargets")?;
    choose(&targets, &field("VERSION_CODENAME"))
}

/// The first mirror with this release of Debian, or the first mirror with any release if the
/// codename is not known. `apt-get indextargets` lists only the mirrors whose package lists are on
/// this machine, so an empty text means that the lists are missing.
fn choose(targets: &str, codename: &str) -> Result<Mirror, RootError> {
    let rows = targets.lines().map(|line| line.split('|').collect::<Vec<_>>());
    let mut mirrors = rows.filter(|row| row.first() == Some(&"Packages")).peekable();
    if mirrors.peek().is_none() {
        return Err(RootError::NoLists);
    }
    let mut mirrors = mirrors.filter_map(|row| {
        let [_, address, suite, release, signed_by] = row[..] else { return None };
        let ours = [suite, release].contains(&codename) || codename.is_empty() && !release.is_empty();
        // Older versions of apt do not know `$(SIGNED_BY)` and return it unchanged.
        let signed_by = if signed_by.starts_with("$(") { KEYRING } else { signed_by };
        ours.then(|| Mirror { address: address.to_owned(), signed_by: signed_by.to_owned() })
    });
    mirrors.next().ok_or_else(|| RootError::NoMirror(codename.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_mirror_of_the_release_is_chosen() {
        let targets = "Packages|https://tools.example/apt|nodistro|nodistro|/k.gpg\n\
                       Translations|http://mirror.example/debian/|stable|bookworm|/d.gpg\n\
                       Packages|http://mirror.example/debian/|oldstable|bookworm|/d.gpg\n\
                       Packages|http://other.example/debian/|oldstable|bookworm|/d.gpg\n";
        let mirror = choose(targets, "bookworm").expect("one");
        assert_eq!(
            (mirror.address.as_str(), mirror.signed_by.as_str()),
            ("http://mirror.example/debian/", "/d.gpg")
        );
    }

    #[test]
    fn without_a_mirror_the_error_says_what_to_do() {
        let error = |targets| choose(targets, "bookworm").expect_err("no mirror").to_string();
        assert_eq!(error(""), "apt has no package lists yet: run `apt-get update` as root, then try again");
        assert_eq!(error("Translations|x|stable|bookworm|\n"), error(""));
        assert_eq!(
            error("Packages|x|nodistro|nodistro|\n"),
            "apt has no package list of Debian bookworm: add a Debian mirror to /etc/apt/sources.list.d, run \
             `apt-get update` as root, then try again"
        );
    }
}
