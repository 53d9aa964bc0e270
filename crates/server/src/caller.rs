//! Marks each order to the sim thread with its origin: the judged program, a browser or another
//! program.

use crate::browser::is_from_browser;
use crate::state::App;
use crate::student::FromStudent;
use axum::extract::{FromRequestParts, OriginalUri};
use axum::http::request::Parts;
use chicane_host::Source;
use chicane_host::driver::Simulator;
use std::convert::Infallible;

/// Extracts a handle of the sim thread. Each order that is sent with the handle states who sent the
/// request, and to which path.
pub(crate) struct Commander(pub(crate) Simulator);

impl FromRequestParts<App> for Commander {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Commander, Infallible> {
        let source = match parts.extensions.get::<FromStudent>() {
            Some(FromStudent) => Source::Student,
            None if is_from_browser(&parts.headers) => Source::Viewer,
            None => Source::Api,
        };
        // In a nested router, the path of `parts` lacks the prefix of that router. `OriginalUri`
        // has the whole path.
        let path = parts.extensions.get::<OriginalUri>().map_or(parts.uri.path(), |uri| uri.0.path());
        Ok(Commander(app.simulator.acting_at(source, path)))
    }
}
