//! Marks each order to the sim thread with its origin: a browser or a program.

use crate::browser::is_from_browser;
use crate::state::App;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use chicane_host::Source;
use chicane_host::driver::Simulator;
use std::convert::Infallible;

/// Extracts a handle of the sim thread. Each order that is sent with the handle states whether a
/// browser or a program sent the request.
pub(crate) struct Commander(pub(crate) Simulator);

impl FromRequestParts<App> for Commander {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Commander, Infallible> {
        let source = if is_from_browser(&parts.headers) { Source::Viewer } else { Source::Api };
        Ok(Commander(app.simulator.acting_as(source)))
    }
}
