//! Projects as worlds: driving in them, and publishing them.

use super::refusal::Refusal;
use super::{PathParts, long, short};
use crate::body::read_json;
use crate::error::ApiError;
use crate::state::App;
use axum::Json;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, header};
use chicane_store::{Access, Cdn, MAX_MANIFEST, Meta, PublishError};
use chicane_studio::{StudioError, access_of};
use chicane_wire::{
    ChangePublishedRequest, ChangePublishedRequestBody, ErrorBody, ErrorCode, FindingLocation,
    InvalidProjectBody, LocationKind, NoFields, PreviewFinding, PreviewSeverity, ProjectId, ProjectPublished,
    PublishRequest, PublishRequestBody, PublishedWorld, PublishedWorlds, Switched, WorldAccess, WorldId,
};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use tokio::sync::Mutex;

/// Held while the simulator is switched to a project, so that two requests can't switch it at the
/// same time.
static DRIVING: Mutex<()> = Mutex::const_new(());

/// Builds the world of a project and switches the simulator to it.
///
/// A later request for the same project builds the world again with the project's changes, and
/// switches to it. If a shipped or installed world has the name of the project, the project's world
/// gets the suffix `_project`.
#[utoipa::path(post, path = "/builder/projects/{id}/drive", tag = "World builder", operation_id = "builder_drive",
    params(("id" = String, Path, description = "Id of a project", pattern = "^[0-9a-f]{16}$")),
    request_body = NoFields, responses(
    (status = 200, body = Switched),
    (status = 404, body = ErrorBody, description = "No such project"),
    (status = 409, body = InvalidProjectBody, description = "The project has errors, a world is being loaded, or an evaluation is in progress"),
    (status = 422, body = ErrorBody, description = "The world can't be loaded; the old one continues"),
))]
pub(super) async fn drive(
    State(app): State<App>,
    path: PathParts,
    request: Request,
) -> Result<Json<Switched>, Refusal> {
    let NoFields {} = read_json(request).await?;
    let id = path.project()?;
    // A separate task does the work. Otherwise a cancelled request could leave the world in the
    // library although the simulator was not switched to it.
    let work = tokio::spawn(async move { switch(&app, id).await });
    work.await.map_err(|e| ApiError::internal(e.to_string()))?
}

async fn switch(app: &App, id: ProjectId) -> Result<Json<Switched>, Refusal> {
    let _turn = DRIVING.lock().await;
    let library = Arc::clone(&app.loader.library);
    let shared = Arc::clone(&library);
    let (name, driven) = long(app, move |studio| {
        let name = shared.project_name(&studio.world_name(&id)?);
        let driven = studio.drivable(&id, &name)?;
        // The project is stored as the driven one before the switch, so that a restarted simulator
        // can build the world of this project again.
        studio.set_driven(&id, &name)?;
        Ok::<_, StudioError>((name, driven))
    })
    .await?;
    let replaced = library.place(&name, &driven.display, &driven.rev, driven.bundle);
    if let Err(failure) = app.loader.switch(&name).await {
        library.put_back(replaced);
        return Err(failure.into());
    }
    library.remove_projects_except(&name);
    Ok(Json(Switched { ok: true, world: format!("{name}.world") }))
}

/// Publishes the world of a project to the CDN of this simulator.
#[utoipa::path(post, path = "/builder/projects/{id}/publish", tag = "World builder", operation_id = "builder_publish",
    params(("id" = String, Path, description = "Id of a project", pattern = "^[0-9a-f]{16}$")),
    request_body = PublishRequestBody, responses(
    (status = 200, body = ProjectPublished),
    (status = 404, body = ErrorBody, description = "No such project"),
    (status = 409, body = InvalidProjectBody, description = "The project has errors, or worlds of this simulator come from another CDN"),
    (status = 422, body = ErrorBody, description = "The world breaks a rule for published worlds"),
))]
pub(super) async fn publish(
    State(app): State<App>,
    path: PathParts,
    headers: HeaderMap,
    request: Request,
) -> Result<Json<ProjectPublished>, Refusal> {
    let request: PublishRequest = read_json(request).await?;
    let id = path.project()?;
    require_own_cdn(&app)?;
    let (finder, profile) = (Arc::clone(app.evaluations.finder()), Arc::clone(&app.profile));
    let (package, revision) = long(&app, move |studio| {
        let packed = studio.package(&id, &request, &profile)?;
        if let Some(script) = studio.own_script(&id)? {
            match finder.fault_of(&script) {
                Ok(None) => {}
                Ok(Some(fault)) => {
                    return Err(Refusal::from(StudioError::Invalid(vec![script_fault(&fault)])));
                }
                Err(error) => tracing::warn!("the script of a published project was not checked: {error}"),
            }
        }
        Ok::<_, Refusal>(packed)
    })
    .await?;
    let link = link(&app, &headers, &package.id);
    let world_id = package.id.to_string();
    let folder = app.published.clone();
    // Publishing waits for the lock of the folder and writes files. Both block, so a blocking
    // thread publishes.
    let runtime = tokio::runtime::Handle::current();
    let published = tokio::task::spawn_blocking(move || {
        runtime.block_on(Cdn::folder(&folder)?.publish(&package, |_| ()))
    });
    published.await.map_err(|e| ApiError::internal(e.to_string()))??;
    tracing::info!(world_id, "a project was published");
    Ok(Json(ProjectPublished { world_id, link, revision }))
}

fn script_fault(fault: &str) -> PreviewFinding {
    PreviewFinding {
        rule: "evaluation-incomplete".to_owned(),
        severity: PreviewSeverity::Error,
        text: format!("The evaluation script can't judge: {fault}"),
        location: FindingLocation {
            kind: LocationKind::Evaluation,
            index: None,
            name: None,
            x: None,
            y: None,
        },
    }
}

fn require_own_cdn(app: &App) -> Result<(), ApiError> {
    if app.is_own_cdn {
        return Ok(());
    }
    let text = "worlds of this simulator come from another CDN, which it can't publish to; \
                export the project and use `chicane publish --to`, or start the simulator without --cdn";
    Err(ApiError::new(ErrorCode::NoPublishTarget, text))
}

/// The address of the `meta.json` of a published world, with the host name that the client uses.
fn link(app: &App, headers: &HeaderMap, id: &WorldId) -> String {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let cdn = host.map_or_else(|| app.cdn.clone(), |host| format!("http://{host}/cdn"));
    format!("{cdn}/worlds/{id}/meta.json")
}

/// Lists the worlds that are published at this simulator, including the private ones.
///
/// If the simulator has tokens, only the teacher's token permits this request.
#[utoipa::path(get, path = "/builder/published", tag = "World builder", operation_id = "builder_published",
    responses((status = 200, body = PublishedWorlds)))]
pub(super) async fn published(
    State(app): State<App>,
    headers: HeaderMap,
) -> Result<Json<PublishedWorlds>, Refusal> {
    let Some(cdn) = Cdn::reading(&app.published) else {
        return Ok(Json(PublishedWorlds { worlds: Vec::new() }));
    };
    let found = cdn.worlds().await?;
    let folder = app.published.clone();
    let dated = short(&app, move |_| {
        let date = |(id, meta): (WorldId, Meta)| (published_at(&folder, &id, &meta), id, meta);
        Ok::<_, StudioError>(found.into_iter().map(date).collect::<Vec<_>>())
    });
    let worlds = dated.await?.into_iter();
    let worlds = worlds.map(|(at, id, meta)| entry(&app, &headers, at, &id, meta)).collect();
    Ok(Json(PublishedWorlds { worlds }))
}

fn entry(
    app: &App,
    headers: &HeaderMap,
    published: Option<String>,
    id: &WorldId,
    meta: Meta,
) -> PublishedWorld {
    let access = match meta.access {
        Access::Public => WorldAccess::Public,
        Access::Unlisted => WorldAccess::Unlisted,
        Access::Private => WorldAccess::Private,
    };
    PublishedWorld {
        world_id: id.to_string(),
        name: meta.name,
        access,
        published,
        link: link(app, headers, id),
    }
}

/// The time of a publication, from the manifest of the world. `None` if the manifest can't be read
/// or has no time.
fn published_at(folder: &Path, id: &WorldId, meta: &Meta) -> Option<String> {
    let path = folder.join("worlds").join(id.as_str()).join(meta.rev.as_str()).join("manifest.json");
    let mut bytes = Vec::new();
    std::fs::File::open(path).ok()?.take(MAX_MANIFEST as u64).read_to_end(&mut bytes).ok()?;
    let manifest: serde_json::Value = serde_json::from_slice(&bytes).ok()?;
    manifest.get("created_at")?.as_str().map(str::to_owned)
}

/// Changes the name or the access of a published world.
#[utoipa::path(post, path = "/builder/published/{world_id}", tag = "World builder", operation_id = "builder_change_published",
    params(("world_id" = String, Path, description = "Id of a published world", pattern = "^[0-9a-f]{32}$")),
    request_body = ChangePublishedRequestBody, responses(
    (status = 200, body = PublishedWorld),
    (status = 404, body = ErrorBody, description = "The world is not published at this simulator"),
))]
pub(super) async fn change_published(
    State(app): State<App>,
    path: PathParts,
    headers: HeaderMap,
    request: Request,
) -> Result<Json<PublishedWorld>, Refusal> {
    let request: ChangePublishedRequest = read_json(request).await?;
    let id = ChangePublishedRequest::world(path.0.first().map_or("", String::as_str))?;
    if request.is_empty() {
        return Err(ApiError::invalid("give name or access").into());
    }
    let (folder, world) = (app.published.clone(), id.clone());
    let runtime = tokio::runtime::Handle::current();
    let changed = tokio::task::spawn_blocking(move || {
        let cdn = Cdn::reading(&folder).ok_or_else(|| PublishError::NotPublished(world.clone()))?;
        let change = |meta: &mut Meta| {
            meta.name = request.name.clone().unwrap_or_else(|| meta.name.clone());
            meta.access = request.access.map_or(meta.access, access_of);
        };
        let meta = runtime.block_on(cdn.change(&world, change))?;
        Ok::<_, PublishError>((published_at(&folder, &world, &meta), meta))
    });
    let (at, meta) = changed.await.map_err(|e| ApiError::internal(e.to_string()))??;
    Ok(Json(entry(&app, &headers, at, &id, meta)))
}
