//! `/sim/api/builder`: the world builder. The crate `studio` does the work; these routes convert
//! requests and responses.

mod files;
mod print;
mod projects;
mod refusal;
mod runs;
mod scene;
mod script;
mod worlds;

pub(crate) use scene::ProjectScenes;

use crate::error::ApiError;
use crate::state::App;
use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::request::Parts;
use chicane_studio::Studio;
use chicane_wire::{ErrorCode, ProjectId};
use refusal::Refusal;
use std::convert::Infallible;
use std::sync::Arc;
use tokio::sync::Semaphore;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// How many short jobs may run at the same time. Saving a document and computing a preview are
/// short jobs.
static SHORT_JOBS: Semaphore = Semaphore::const_new(4);
/// How many long jobs may run at the same time. Building a world and decoding a picture are long
/// jobs.
static LONG_JOBS: Semaphore = Semaphore::const_new(2);

/// All routes of the world builder, with their descriptions.
pub(super) fn resources() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(projects::list, projects::create))
        .routes(routes!(files::import))
        .routes(routes!(projects::read, projects::save, projects::delete))
        .routes(routes!(projects::restore))
        .routes(routes!(projects::events))
        .routes(routes!(files::get, files::put, files::delete))
        .routes(routes!(files::export))
        .routes(routes!(projects::preview))
        .routes(routes!(projects::thumbnail))
        .routes(routes!(projects::waypoints))
        .routes(routes!(scene::scene))
        .routes(routes!(scene::file))
        .routes(routes!(worlds::drive))
        .routes(routes!(worlds::publish))
        .routes(routes!(worlds::published))
        .routes(routes!(worlds::change_published))
        .routes(routes!(script::templates))
        .routes(routes!(script::check))
        .routes(routes!(runs::list))
        .routes(routes!(runs::rejudge))
        .routes(routes!(runs::rejudge_file))
        .routes(routes!(print::size))
        .routes(routes!(print::print))
}

/// The parameters of a path. Handlers check the parameters after they have read the body, because a
/// client that is still sending a body does not read a response.
struct PathParts(Vec<String>);

impl<S: Send + Sync> FromRequestParts<S> for PathParts {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<PathParts, Infallible> {
        let path: Result<RawPathParams, _> = RawPathParams::from_request_parts(parts, state).await;
        Ok(PathParts(path.map(|p| p.iter().map(|(_, v)| v.to_owned()).collect()).unwrap_or_default()))
    }
}

impl PathParts {
    /// The id of the project in the path.
    fn project(&self) -> Result<ProjectId, ApiError> {
        self.0
            .first()
            .and_then(|text| ProjectId::parse(text))
            .ok_or_else(|| chicane_studio::StudioError::NoProject.into())
    }

    /// The second parameter of the path.
    fn second(&self) -> &str {
        self.0.get(1).map_or("", String::as_str)
    }
}

/// Runs a short job of the studio on a blocking thread.
async fn short<T: Send + 'static, E: Into<Refusal> + Send + 'static>(
    app: &App,
    job: impl FnOnce(&Studio) -> Result<T, E> + Send + 'static,
) -> Result<T, Refusal> {
    run(&SHORT_JOBS, app, job).await
}

/// Runs a long job of the studio on a blocking thread.
async fn long<T: Send + 'static, E: Into<Refusal> + Send + 'static>(
    app: &App,
    job: impl FnOnce(&Studio) -> Result<T, E> + Send + 'static,
) -> Result<T, Refusal> {
    run(&LONG_JOBS, app, job).await
}

async fn run<T: Send + 'static, E: Into<Refusal> + Send + 'static>(
    jobs: &'static Semaphore,
    app: &App,
    job: impl FnOnce(&Studio) -> Result<T, E> + Send + 'static,
) -> Result<T, Refusal> {
    let permit = jobs.acquire().await;
    let studio = Arc::clone(&app.studio);
    let done = tokio::task::spawn_blocking(move || {
        // The blocking thread owns the permit. Otherwise a cancelled request would free the permit
        // while the thread still works.
        let _permit = permit;
        job(&studio)
    });
    done.await.map_err(|e| ApiError::new(ErrorCode::Internal, e.to_string()))?.map_err(Into::into)
}
