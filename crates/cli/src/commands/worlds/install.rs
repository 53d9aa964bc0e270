//! `chicane worlds install`.

use super::WorldsError;
use super::data_folder::{DataFolder, request};
use crate::args::{JudgeArgs, WorldsArgs};
use crate::progress::Progress;
use crate::{colour, data_dir, judge_script, runtime};
use chicane_remote::cdn::{CdnLocation, install_world};
use chicane_remote::{RunningSimulator, Token};
use chicane_store::Library;
use chicane_wire::WorldId;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Time between two requests that ask the simulator for the progress of the installation.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// An installed world.
struct Installation {
    /// Name of the world file, `custom_ID.world`.
    world: String,
    /// Whether the world was installed before.
    cached: bool,
    warnings: Vec<String>,
}

/// Installs a world. `cdn` is the address of a CDN, and its token if the CDN needs one. If `cdn` is
/// `None`, the simulator that uses the data folder installs the world from the CDN that it uses. If
/// no simulator uses the data folder, the world is installed from the folder `cdn` in the data
/// folder.
pub(super) fn run(
    args: &WorldsArgs,
    id: &WorldId,
    cdn: Option<(String, Option<Token>)>,
    require_verified: bool,
) -> Result<(), WorldsError> {
    let progress = Progress::new(format!("installing {id}"));
    let dir = data_dir::resolve_absolute(args.data.data_dir.as_deref())?;
    let installed = match (cdn, DataFolder::open(&args.data)?) {
        (None, DataFolder::InUse(running)) => {
            let address = running.address;
            let place = match &running.cdn {
                Some(url) => format!("{url}, the CDN of the simulator at {address}"),
                None => format!("http://{address}/cdn, the simulator's own CDN"),
            };
            let remedy =
                "Start the simulator with --cdn URL, or name the CDN that has the world with --cdn URL";
            let installed = by_simulator(&running, id, progress, require_verified);
            installed.map_err(|error| failed(id, place, remedy, error))?
        }
        (cdn, folder) => {
            // This unlocks the data folder, so that a simulator can start during the installation.
            drop(folder);
            let (place, remedy, from) = match cdn {
                Some((url, token)) => {
                    let remedy = "Check the id and the address, and give --cdn-token for a private world";
                    (format!("the CDN {url}"), remedy, CdnLocation::Web(url, token))
                }
                None => {
                    let folder = dir.join("cdn");
                    let remedy = "Name the CDN that has the world with --cdn URL";
                    (format!("the CDN folder {}", folder.display()), remedy, CdnLocation::Folder(folder))
                }
            };
            let installed = directly(&dir, id, &from, require_verified, progress, &args.judge);
            installed.map_err(|error| failed(id, place, remedy, error))?
        }
    };
    installed.warnings.iter().for_each(colour::warn);
    println!("{}{}", installed.world, if installed.cached { " (was installed already)" } else { "" });
    Ok(())
}

/// Adds to an error where the world was looked for, and what to do.
fn failed(id: &WorldId, place: String, remedy: &'static str, source: WorldsError) -> WorldsError {
    WorldsError::Install { id: id.clone(), place, remedy, source: Box::new(source) }
}

/// Installs a world in this process.
fn directly(
    dir: &Path,
    id: &WorldId,
    from: &CdnLocation,
    require_verified: bool,
    progress: Progress,
    judge: &JudgeArgs,
) -> Result<Installation, WorldsError> {
    // The callback shares the progress bar and may live longer than the installation. Therefore the
    // bar is dropped explicitly after the installation. This removes the bar from the terminal
    // before a warning is printed.
    let progress = Arc::new(Mutex::new(Some(progress)));
    let shown = Arc::clone(&progress);
    let show = move |part| {
        if let Some(progress) = &mut *shown.lock().unwrap_or_else(PoisonError::into_inner) {
            progress.set(part);
        }
    };
    let installed = runtime::start()?.block_on(install_world(dir, id, from, require_verified, show));
    let progress = progress.lock().unwrap_or_else(PoisonError::into_inner).take();
    let mut installed = installed?;
    if let Some(progress) = progress {
        progress.finish();
    }
    let name = installed.record.world_name();
    if !installed.cached {
        installed.warnings.extend(script_warning(dir, &name, judge));
    }
    Ok(Installation {
        world: format!("{name}.world"),
        cached: installed.cached,
        warnings: installed.warnings,
    })
}

/// The warning if the judging script of an installed world is invalid or can't be checked. `None`
/// if the script is valid or the world has no script.
fn script_warning(dir: &Path, name: &str, judge: &JudgeArgs) -> Option<String> {
    let bytes = Library::default().with_installed(dir).file(name, &format!("evaluations/{name}.py"))?;
    judge_script::warning(judge, &String::from_utf8(bytes).ok()?)
}

/// Asks a running simulator to install a world.
fn by_simulator(
    running: &RunningSimulator,
    id: &WorldId,
    progress: Progress,
    require_verified: bool,
) -> Result<Installation, WorldsError> {
    let response = runtime::start()?.block_on(follow_installation(running, id, progress))?;
    if require_verified && response["verified"] != json!(true) {
        return Err(WorldsError::NotVerified);
    }
    Ok(Installation {
        world: response["world"].as_str().unwrap_or_default().to_owned(),
        cached: response["cached"] == json!(true),
        warnings: Vec::new(),
    })
}

/// Requests an installation and shows its progress until the simulator responds.
async fn follow_installation(
    running: &RunningSimulator,
    id: &WorldId,
    mut progress: Progress,
) -> Result<Value, WorldsError> {
    let body = json!({"world_id": id.as_str()});
    let mut installing = std::pin::pin!(request(running, "POST", "/worlds/install", Some(body)));
    loop {
        let poll = async {
            tokio::time::sleep(POLL_INTERVAL).await;
            request(running, "GET", "/state", None).await
        };
        tokio::select! {
            response = &mut installing => {
                if response.is_ok() {
                    progress.finish();
                }
                return response;
            }
            state = poll => {
                let transition = state.map(|s| s["transition"].clone()).unwrap_or_default();
                if transition["target"].as_str().is_some_and(|t| t.contains(id.as_str())) {
                    progress.set(transition["progress"].as_f64().unwrap_or(0.0));
                }
            }
        }
    }
}
