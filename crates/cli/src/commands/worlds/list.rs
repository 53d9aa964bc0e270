//! `chicane worlds list`.

use super::WorldsError;
use super::data_folder::{DataFolder, request_blocking};
use crate::args::DataDirArgs;
use crate::cdn_target::CdnTarget;
use crate::{data_dir, runtime};
use chicane_remote::Token;
use chicane_remote::cdn::list_worlds;
use chicane_store::{Cdn, Library, LibraryEntry};
use serde_json::Value;

/// Largest number of characters that are printed of a text from a CDN.
const MAX_TEXT: usize = 100;

/// Lists the built-in and the installed worlds.
pub(super) fn available(data: &DataDirArgs) -> Result<(), WorldsError> {
    let mut lines: Vec<[String; 4]> = Vec::new();
    let installed_in = match DataFolder::open_existing(data)? {
        DataFolder::InUse(running) => {
            let all = request_blocking(&running, "GET", "/worlds")?;
            for world in all["worlds"].as_array().into_iter().flatten() {
                let text = |key: &str| world[key].as_str().unwrap_or_default().to_owned();
                let flag = |key: &str| world[key].as_bool().unwrap_or(false);
                let mut origin = origin(flag("official"), flag("deletable"), flag("verified")).to_owned();
                if world["name"] == all["current"] {
                    origin += ", running";
                }
                lines.push([text("name"), text("display"), size(sides(world)), origin]);
            }
            None
        }
        // The folder stays locked while it is read.
        DataFolder::Locked(data) => Some((data.dir().to_owned(), Some(data))),
        DataFolder::Unused(dir) => Some((dir, None)),
    };
    if let Some((dir, _lock)) = &installed_in {
        let library = Library::built_in().with_installed(dir);
        for LibraryEntry { name, display, official, deletable, verified, .. } in library.entries() {
            let sides = library.summary(&name).map_or([0.0; 2], |s| s.size);
            lines.push([name, display, size(sides), origin(official, deletable, verified).to_owned()]);
        }
    }
    print_table(&lines);
    Ok(())
}

/// Lists the worlds that are published in a folder or a bucket. If `to` is `None`, lists the worlds
/// in the CDN folder of the data folder.
pub(super) fn published(data: &DataDirArgs, to: Option<&str>) -> Result<(), WorldsError> {
    let cdn = match to.map(CdnTarget::parse).transpose()? {
        Some(CdnTarget::Bucket(cdn)) => Some(cdn),
        Some(CdnTarget::Folder(folder)) => Some(Cdn::reading(&folder).ok_or(WorldsError::NoFolder(folder))?),
        None => Cdn::reading(&data_dir::resolve_absolute(data.data_dir.as_deref())?.join("cdn")),
    };
    let worlds = match cdn {
        Some(cdn) => runtime::start()?.block_on(cdn.worlds())?,
        None => Vec::new(),
    };
    print_published(&worlds.iter().map(|(id, meta)| meta.json(id)).collect());
    Ok(())
}

/// Lists the worlds that the CDN of another simulator shows for the given token.
pub(super) fn of_cdn(url: &str, token: Option<Token>) -> Result<(), WorldsError> {
    let list = runtime::start()?.block_on(list_worlds(url, token));
    print_published(&list?["worlds"]);
    Ok(())
}

fn print_published(worlds: &Value) {
    let line = |world: &Value| {
        // Control characters are removed, because a text from another machine could contain escape
        // sequences that control the terminal.
        let text = |key: &str| {
            let text = world[key].as_str().unwrap_or_default();
            text.chars().filter(|c| !c.is_control()).take(MAX_TEXT).collect::<String>()
        };
        [text("world_id"), text("name"), size(sides(world)), text("access")]
    };
    print_table(&worlds.as_array().into_iter().flatten().map(line).collect::<Vec<_>>());
}

fn origin(official: bool, deletable: bool, verified: bool) -> &'static str {
    match (official, deletable, verified) {
        (true, ..) => "official",
        (_, false, _) => "built in",
        (_, true, true) => "installed",
        (_, true, false) => "installed, not verified",
    }
}

/// Size of a world along x and along y, in metres. A missing value is 0.
fn sides(world: &Value) -> [f64; 2] {
    [0, 1].map(|i: usize| world["size"][i].as_f64().unwrap_or(0.0))
}

fn size([w, h]: [f64; 2]) -> String {
    format!("{w:.2} × {h:.2} m")
}

fn print_table(lines: &[[String; 4]]) {
    let width = |i: usize| lines.iter().map(|l| l[i].chars().count()).max().unwrap_or(0);
    let widths = [width(0), width(1), width(2)];
    for [a, b, c, d] in lines {
        println!("{a:<0$}  {b:<1$}  {c:<2$}  {d}", widths[0], widths[1], widths[2]);
    }
}
