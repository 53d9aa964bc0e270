//! `chicane build`, `chicane check`, `chicane new` and `chicane print`: worlds of builder projects, and their floors.

use crate::cli::{JudgeBy, New};
use crate::progress::Progress;
use crate::script;
use chicane_builder::project::{Script, WorldName};
use chicane_builder::{
    Files, Finding, Project, RandomTrackOptions, Severity, TrackLine, build, check, check_files, random,
};
use chicane_render::{Print, thumbnail};
use chicane_store::FolderBundle;
use chicane_world::{Assets, Bundle, MemoryBundle, Profile, World};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The files beside a project on disk. Links are not followed.
struct Beside(FolderBundle);

impl Files for Beside {
    fn read(&self, name: &str) -> Option<Cow<'_, [u8]>> {
        self.0.read(name)
    }
}

/// Reads a project and finds the folder of its files.
fn open(path: &str) -> Result<(Project, Beside), String> {
    let length = match std::fs::metadata(path) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            return Err(format!("there is no {path}: a project is a file, <name>.json"));
        }
        found => found.map_err(|e| format!("{path}: {e}"))?.len(),
    };
    if length > chicane_builder::project::MAX_JSON as u64 {
        return Err(format!("{path} is too large for a project"));
    }
    let bytes = std::fs::read(path).map_err(|e| format!("{path}: {e}"))?;
    let project = Project::read(&bytes).map_err(|e| format!("{path}: {e}"))?;
    let folder = Path::new(path).parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Ok((project, Beside(FolderBundle::new(folder))))
}

/// Says what is in a project and what is wrong with it.
pub(crate) fn check_project(path: &str, judge: &JudgeBy) -> Result<(), String> {
    let (project, files) = open(path)?;
    let mut findings = check(&project);
    findings.extend(check_files(&project, &files));
    let mut text = describe(&project);
    findings.iter().for_each(|f| text += &format!("{f}\n"));
    print!("{text}");
    match errors(&findings) {
        0 => match evaluation_script(&project, &files) {
            Some((name, script)) => {
                print!("{}", script::report(judge, &script).map_err(|why| format!("{path}: {name}: {why}"))?);
                Ok(())
            }
            None => Ok(()),
        },
        1 => Err(format!("{path} has an error")),
        n => Err(format!("{path} has {n} errors")),
    }
}

/// The judging script that lies beside a project, and its name. The template needs no check.
fn evaluation_script(project: &Project, files: &Beside) -> Option<(String, String)> {
    let Some(Script::File(name)) = &project.evaluation.as_ref()?.script else { return None };
    let bytes = files.read(name.as_str())?;
    Some((name.to_string(), String::from_utf8(bytes.into_owned()).ok()?))
}

/// A script that can't judge is refused; one that can't be looked into is passed on with a warning.
fn must_judge(path: &str, project: &Project, files: &Beside, judge: &JudgeBy) -> Result<(), String> {
    let Some((name, script)) = evaluation_script(project, files) else { return Ok(()) };
    script::must_judge(judge, &format!("{path}: {name}"), &script)
}

fn errors(findings: &[Finding]) -> usize {
    findings.iter().filter(|f| f.severity == Severity::Error).count()
}

fn describe(project: &Project) -> String {
    let line = TrackLine::of(&project.track);
    let bend = line.samples.iter().map(|s| s.curvature.abs()).fold(0.0, f64::max);
    let [w, h] = project.field.size;
    let kind = if line.closed { "closed" } else { "open" };
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for object in &project.objects {
        *kinds.entry(object.kind.name()).or_default() += 1;
    }
    let kinds: Vec<String> = kinds.iter().map(|(kind, n)| format!("{n} {kind}")).collect();
    let of_kinds = if kinds.is_empty() { String::new() } else { format!(" ({})", kinds.join(", ")) };
    let radius = if bend > 1e-3 { format!("{:.2} m", 1.0 / bend) } else { "none".to_owned() };
    format!(
        "project    {} ({})\nfield      {w} × {h} m\ntrack      {kind}, {:.2} m, tightest radius {radius}\nobjects    {}{of_kinds}\n",
        project.name,
        project.display_name,
        line.length,
        project.objects.len()
    )
}

/// A project that was made into a world.
pub(crate) struct Made {
    pub(crate) project: Project,
    /// All files of the world, its picture for lists among them.
    pub(crate) bundle: MemoryBundle,
    pub(crate) warnings: Vec<Finding>,
}

/// The world of a project, of which no file is kept, and its name.
pub(crate) fn bundle(path: &str) -> Result<(MemoryBundle, String), String> {
    let (project, files) = open(path)?;
    let (bundle, world) = build_and_load(path, &project, &files)?;
    Ok((bundle, world.name))
}

fn build_and_load(path: &str, project: &Project, files: &Beside) -> Result<(MemoryBundle, World), String> {
    let bundle = build(project, files).map_err(|e| format!("{path} can't be built:\n{e}"))?;
    // Whatever the check lets through must load.
    let world = World::load(&Assets::of(&bundle)).map_err(|e| format!("the world can't be loaded: {e}"))?;
    Ok((bundle, world))
}

/// Makes the world of a project; with a name, its world and all its files are called otherwise.
pub(crate) fn make(path: &str, name: Option<WorldName>, judge: &JudgeBy) -> Result<Made, String> {
    let (mut project, files) = open(path)?;
    if errors(&check(&project)) == 0 {
        must_judge(path, &project, &files, judge)?;
    }
    let mut progress = Progress::new(format!("building {}", project.name));
    project.name = name.unwrap_or(project.name);
    let (mut bundle, world) = build_and_load(path, &project, &files)?;
    progress.say(format!("drawing {}", project.display_name));
    progress.set(0.4);
    let picture = thumbnail(&world, Arc::new(Profile::gen1()));
    bundle.insert(format!("track_iconography/{}.png", project.name), picture);
    progress.set(1.0);
    let mut warnings = check(&project);
    warnings.extend(check_files(&project, &files));
    Ok(Made { project, bundle, warnings })
}

/// Builds the world of a project into a folder.
pub(crate) fn build_into(path: &str, folder: &Path, judge: &JudgeBy) -> Result<(), String> {
    let Made { project, bundle, warnings } = make(path, None, judge)?;
    make_room(project.name.as_str(), folder)?;
    write(&bundle, folder)?;
    for warning in warnings {
        eprintln!("{warning}");
    }
    println!("{}: {} files of the world {}", folder.display(), bundle.files.len(), project.name);
    Ok(())
}

/// Writes the floor of a world as a picture for printing.
pub(crate) fn print(world: &str, output: &Path, dpi: u16) -> Result<(), String> {
    let world = crate::which::load(world)?;
    let print = Print::new(&world, dpi).map_err(|e| e.to_string())?;
    let wrong = |e: std::io::Error| format!("{}: {e}", output.display());
    // Under another name until it is whole: half a picture is no picture.
    let part = output.with_extension("jpg.part");
    let file = BufWriter::new(std::fs::File::create(&part).map_err(wrong)?);
    let mut progress = Progress::new(format!("printing {}", world.name));
    let written = print.write_jpeg_telling(file, |done| progress.set(done));
    drop(progress);
    written.and_then(|()| std::fs::rename(&part, output)).map_err(|e| {
        let _ = std::fs::remove_file(&part);
        wrong(e)
    })?;
    let metres = |pixels: usize| pixels as f64 / print.pixels_per_metre();
    println!(
        "{}: {} × {} pixels, {:.2} × {:.2} m at {dpi} dpi",
        output.display(),
        print.width(),
        print.height(),
        metres(print.width()),
        metres(print.height())
    );
    Ok(())
}

/// Only an empty folder is written to, or one that holds this very world already; what was made
/// for it before goes.
fn make_room(name: &str, folder: &Path) -> Result<(), String> {
    let wrong = |e: std::io::Error| format!("{}: {e}", folder.display());
    std::fs::create_dir_all(folder).map_err(wrong)?;
    if std::fs::read_dir(folder).map_err(wrong)?.next().is_none() {
        return Ok(());
    }
    let worlds = FolderBundle::new(folder).list("worlds/");
    if worlds != [format!("worlds/{name}.world")] {
        return Err(format!("{} is not empty and holds something else than {name}", folder.display()));
    }
    let meshes = folder.join("meshes").join(name);
    let old = [format!("evaluations/{name}.json"), format!("evaluations/{name}.py")];
    let gone = |done: std::io::Result<()>| match done {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(wrong(e)),
        _ => Ok(()),
    };
    gone(std::fs::remove_dir_all(meshes))?;
    old.iter().try_for_each(|file| gone(std::fs::remove_file(folder.join(file))))
}

fn write(bundle: &MemoryBundle, folder: &Path) -> Result<(), String> {
    for (path, bytes) in &bundle.files {
        let file = folder.join(path);
        let wrong = |e: std::io::Error| format!("{}: {e}", file.display());
        if let Some(parent) = file.parent() {
            std::fs::create_dir_all(parent).map_err(wrong)?;
        }
        std::fs::write(&file, bytes).map_err(wrong)?;
    }
    Ok(())
}

/// Draws a random track and writes its project, to standard output or to a new file.
pub(crate) fn new(wanted: &New) -> Result<(), String> {
    let seed = match wanted.seed {
        Some(seed) => seed,
        None => u64::from(getrandom::u32().map_err(|e| format!("no random number: {e}"))?),
    };
    let wish = RandomTrackOptions {
        seed,
        field: wanted.field,
        width: wanted.width,
        tightness: wanted.tightness,
        length: wanted.length,
    };
    let text = random::track(&wish).map_err(|e| e.to_string())?.to_json();
    let Some(path) = &wanted.output else {
        print!("{text}");
        return Ok(());
    };
    create(path, &text).map_err(|e| match e.kind() {
        std::io::ErrorKind::AlreadyExists => {
            format!("{} is there already: choose another name, or remove it first", path.display())
        }
        _ => format!("{}: {e}", path.display()),
    })?;
    println!("{}: random_{seed}", path.display());
    Ok(())
}

fn create(path: &PathBuf, text: &str) -> std::io::Result<()> {
    std::fs::File::create_new(path)?.write_all(text.as_bytes())
}
