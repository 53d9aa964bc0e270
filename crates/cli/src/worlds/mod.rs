//! `chicane worlds`: the worlds of a data folder.
//!
//! The folder may be in use by a simulator. What concerns the running world goes through that
//! simulator's web API, which it has written down in the folder; the rest is done on disk, where
//! every change is whole and locked, and the simulator takes note of it.

mod import;

pub(crate) use import::{read_folder, script_of};

use crate::cli::{DataDir, JudgeBy, Worlds, WorldsWhat};
use crate::progress::Progress;
use crate::publish::{PRIVATE, To, cdn};
use chicane_remote::cdn::{CdnLocation, install_world, list_worlds};
use chicane_remote::{RunningSimulator, call_simulator};
use chicane_store::{
    Access, Cdn, Data, InstalledWorlds, Library, LibraryEntry, Meta, OpenError, PublishError, create_private,
    is_name,
};
use chicane_wire::WorldId;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::runtime::Runtime;

/// How long a simulator that has just started has to say where it is.
const PATIENCE: Duration = Duration::from_secs(3);

pub(crate) fn run(wanted: &Worlds) -> Result<(), String> {
    let data = &wanted.data;
    match &wanted.what {
        WorldsWhat::List { published: false, cdn: None, to: None, .. } => list(data),
        WorldsWhat::List { cdn: Some(url), cdn_token, .. } => {
            let token = crate::serve::cdn_token(cdn_token.as_deref())?;
            print_published(
                &runtime()?.block_on(list_worlds(url, token)).map_err(|e| e.to_string())?["worlds"],
            );
            Ok(())
        }
        WorldsWhat::List { to, .. } => list_published(data, to.as_deref()),
        WorldsWhat::Install { id, cdn, cdn_token, require_verified } => {
            let token = crate::serve::cdn_token(cdn_token.as_deref())?;
            let from = cdn.clone().map(|url| CdnLocation::Web(url, token));
            install(wanted, &parse_id(id)?, from, *require_verified)
        }
        WorldsWhat::Remove { world } => remove(data, world),
        WorldsWhat::Rename { id, name, to } => rename(data, &parse_id(id)?, name, to.as_deref()),
        WorldsWhat::Access { id, level, to } => {
            let meta = change(data, &parse_id(id)?, to.as_deref(), |meta| meta.access = (*level).into());
            let meta = meta?.map_err(|e| e.to_string())?;
            if to.is_some() && meta.access == Access::Private {
                eprintln!("warning: {PRIVATE}");
            }
            println!("{id} is {}", meta.access.word());
            Ok(())
        }
        WorldsWhat::Import { folder, world, name } => {
            let data_dir = folder_of(data)?;
            create_private(&data_dir).map_err(|e| format!("can't write {}: {e}", data_dir.display()))?;
            import::run(&data_dir, Path::new(folder), world.as_deref(), name.clone(), &wanted.judge)
        }
    }
}

pub(crate) fn runtime() -> Result<Runtime, String> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(|e| format!("can't start: {e}"))
}

fn folder_of(data: &DataDir) -> Result<PathBuf, String> {
    let folder = crate::serve::data_dir(data.data_dir.as_deref())?;
    std::path::absolute(&folder).map_err(|e| format!("{}: {e}", folder.display()))
}

fn parse_id(text: &str) -> Result<WorldId, String> {
    let id = text.strip_prefix("custom_").unwrap_or(text).trim_end_matches(".world");
    WorldId::parse(id).ok_or_else(|| format!("{text} is no id of a world: that is 32 of 0-9 and a-f"))
}

/// A data folder: ours for as long as we hold it, or a simulator's.
enum Folder {
    Ours(Box<Data>),
    InUse(RunningSimulator),
}

fn open(data: &DataDir) -> Result<Folder, String> {
    let dir = folder_of(data)?;
    let deadline = std::time::Instant::now() + PATIENCE;
    loop {
        let refused = match Data::open(&dir) {
            Ok(data) => return Ok(Folder::Ours(Box::new(data))),
            Err(OpenError::InUse { dir, pid }) => OpenError::InUse { dir, pid },
            Err(e) => return Err(e.to_string()),
        };
        if let OpenError::InUse { pid: Some(pid), .. } = &refused
            && let Some(running) = RunningSimulator::read(&dir, *pid)
        {
            return Ok(Folder::InUse(running));
        }
        // It may be starting, or ending.
        if std::time::Instant::now() > deadline {
            return Err(refused.to_string());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn list(data: &DataDir) -> Result<(), String> {
    let mut lines: Vec<[String; 4]> = Vec::new();
    match open(data)? {
        Folder::InUse(running) => {
            let all = runtime()?
                .block_on(call_simulator(&running, "GET", "/worlds", None))
                .map_err(|e| e.to_string())?;
            for world in all["worlds"].as_array().into_iter().flatten() {
                let text = |key: &str| world[key].as_str().unwrap_or_default().to_owned();
                let flag = |key: &str| world[key].as_bool().unwrap_or(false);
                let side = |i: usize| world["size"][i].as_f64().unwrap_or(0.0);
                let mut kind = kind(flag("official"), flag("deletable"), flag("verified")).to_owned();
                if world["name"] == all["current"] {
                    kind += ", running";
                }
                lines.push([text("name"), text("display"), size([side(0), side(1)]), kind]);
            }
        }
        Folder::Ours(data) => {
            let library = Library::built_in().with_installed(data.dir());
            for LibraryEntry { name, display, official, deletable, verified, .. } in library.entries() {
                let side = library.summary(&name).map_or([0.0; 2], |s| s.size);
                lines.push([name, display, size(side), kind(official, deletable, verified).to_owned()]);
            }
        }
    }
    table(&lines);
    Ok(())
}

fn kind(official: bool, deletable: bool, verified: bool) -> &'static str {
    match (official, deletable, verified) {
        (true, ..) => "official",
        (_, false, _) => "built in",
        (_, true, true) => "installed",
        (_, true, false) => "installed, not verified",
    }
}

fn size([w, h]: [f64; 2]) -> String {
    format!("{w:.2} × {h:.2} m")
}

fn table(lines: &[[String; 4]]) {
    let width = |i: usize| lines.iter().map(|l| l[i].chars().count()).max().unwrap_or(0);
    let widths = [width(0), width(1), width(2)];
    for [a, b, c, d] in lines {
        println!("{a:<0$}  {b:<1$}  {c:<2$}  {d}", widths[0], widths[1], widths[2]);
    }
}

fn list_published(data: &DataDir, to: Option<&str>) -> Result<(), String> {
    let cdn = match to.map(To::parse).transpose()? {
        Some(To::Bucket(cdn)) => Some(cdn),
        Some(To::Folder(folder)) => {
            Some(Cdn::reading(&folder).ok_or_else(|| format!("there is no folder {}", folder.display()))?)
        }
        None => Cdn::reading(&folder_of(data)?.join("cdn")),
    };
    let worlds = match cdn {
        Some(cdn) => runtime()?.block_on(cdn.worlds()).map_err(|e| e.to_string())?,
        None => Vec::new(),
    };
    print_published(&worlds.iter().map(|(id, meta)| meta.json(id)).collect());
    Ok(())
}

fn print_published(worlds: &Value) {
    let line = |world: &Value| {
        let text = |key: &str| {
            let text = world[key].as_str().unwrap_or_default();
            text.chars().filter(|c| !c.is_control()).take(100).collect::<String>()
        };
        let side = |i: usize| world["size"][i].as_f64().unwrap_or(0.0);
        [text("world_id"), text("name"), size([side(0), side(1)]), text("access")]
    };
    table(&worlds.as_array().into_iter().flatten().map(line).collect::<Vec<_>>());
}

fn install(
    wanted: &Worlds,
    id: &WorldId,
    from: Option<CdnLocation>,
    require_verified: bool,
) -> Result<(), String> {
    let data = &wanted.data;
    let progress = Progress::new(format!("installing {id}"));
    let dir = folder_of(data)?;
    let (world, cached, warnings) = match (from, open(data)?) {
        (None, Folder::InUse(running)) => {
            let answer = runtime()?.block_on(install_there(&running, id, progress))?;
            if require_verified && answer["verified"] != json!(true) {
                return Err("the world was installed, but its id does not prove its files".to_owned());
            }
            let world = answer["world"].as_str().unwrap_or_default().to_owned();
            (world, answer["cached"] == json!(true), Vec::new())
        }
        // Nobody needs to be kept from starting a simulator meanwhile.
        (from, folder) => {
            drop(folder);
            let from = from.unwrap_or_else(|| CdnLocation::Folder(dir.join("cdn")));
            let progress = Arc::new(Mutex::new(Some(progress)));
            let shown = Arc::clone(&progress);
            let show = move |part| {
                if let Some(progress) = &mut *shown.lock().unwrap_or_else(PoisonError::into_inner) {
                    progress.set(part);
                }
            };
            let installed = runtime()?.block_on(install_world(&dir, id, &from, require_verified, show));
            progress.lock().unwrap_or_else(PoisonError::into_inner).take();
            let mut installed = installed.map_err(|e| e.to_string())?;
            if !installed.cached {
                installed.warnings.extend(about_script(&dir, &installed.record.world_name(), &wanted.judge));
            }
            (format!("{}.world", installed.record.world_name()), installed.cached, installed.warnings)
        }
    };
    warnings.iter().for_each(|warning| eprintln!("warning: {warning}"));
    println!("{world}{}", if cached { " (was installed already)" } else { "" });
    Ok(())
}

/// What is wrong with the judging script of an installed world.
fn about_script(dir: &Path, name: &str, judge: &JudgeBy) -> Option<String> {
    let bytes = Library::default().with_installed(dir).file(name, &format!("evaluations/{name}.py"))?;
    crate::script::warning(judge, &String::from_utf8(bytes).ok()?)
}

/// Has a simulator install a world, and shows how far it is.
async fn install_there(
    running: &RunningSimulator,
    id: &WorldId,
    mut progress: Progress,
) -> Result<Value, String> {
    let mut installing = std::pin::pin!(call_simulator(
        running,
        "POST",
        "/worlds/install",
        Some(json!({"world_id": id.as_str()}))
    ));
    loop {
        let look = async {
            tokio::time::sleep(Duration::from_millis(100)).await;
            call_simulator(running, "GET", "/state", None).await
        };
        tokio::select! {
            answer = &mut installing => return answer.map_err(|e| e.to_string()),
            state = look => {
                let transition = state.map(|s| s["transition"].clone()).unwrap_or_default();
                if transition["target"].as_str().is_some_and(|t| t.contains(id.as_str())) {
                    progress.set(transition["progress"].as_f64().unwrap_or(0.0));
                }
            }
        }
    }
}

fn remove(data: &DataDir, world: &str) -> Result<(), String> {
    let name = world.trim_end_matches(".world");
    let name = WorldId::parse(name).map_or_else(|| name.to_owned(), |id| format!("custom_{id}"));
    let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
    if !name.bytes().all(plain) {
        return Err(format!("{world} is no name of a world; `chicane worlds list` shows them"));
    }
    match open(data)? {
        Folder::InUse(running) => {
            let path = format!("/worlds/{name}");
            let removed = call_simulator(&running, "DELETE", &path, None);
            runtime()?.block_on(removed).map_err(|e| e.to_string())?;
        }
        Folder::Ours(data) => {
            let library = Library::built_in().with_installed(data.dir());
            let entry = library.entry(&name);
            let entry = entry
                .ok_or_else(|| format!("{name} is not installed; `chicane worlds list` shows what is"))?;
            if !entry.deletable {
                return Err(format!("cannot delete protected world: {name}"));
            }
            library.remove(&name).map_err(|e| format!("{name} can't be removed: {e}"))?;
        }
    }
    println!("{name} is removed");
    Ok(())
}

/// Changes a published world.
fn change(
    data: &DataDir,
    id: &WorldId,
    to: Option<&str>,
    change: impl Fn(&mut Meta) + Send,
) -> Result<Result<Meta, PublishError>, String> {
    let cdn = cdn(to, data.data_dir.as_deref())?;
    Ok(runtime()?.block_on(cdn.change(id, change)))
}

/// Renames a published world, and the installed one of the same data folder.
fn rename(data: &DataDir, id: &WorldId, name: &str, to: Option<&str>) -> Result<(), String> {
    if !is_name(name) {
        return Err("the name must be one line of 1 to 100 characters".to_owned());
    }
    let name = name.trim();
    let published = change(data, id, to, |meta| meta.name = name.to_owned())?;
    let installed = match to {
        None => InstalledWorlds::of(&folder_of(data)?)
            .rename(id, name)
            .map_err(|e| format!("{id} can't be renamed: {e}"))?,
        Some(_) => false,
    };
    match published {
        Ok(_) => {}
        // One that was imported was never published.
        Err(PublishError::NotPublished(_)) if installed => {}
        Err(e) => return Err(e.to_string()),
    }
    println!("{id} is {name}");
    Ok(())
}
