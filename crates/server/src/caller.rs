//! Who sent a request.

use crate::browser::is_from_browser;
use crate::state::App;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use chicane_host::Source;
use chicane_host::driver::Simulator;
use std::convert::Infallible;

/// The sim thread, for a handler that commands it. Its orders carry the origin of the request.
pub(crate) struct Commander(pub(crate) Simulator);

impl FromRequestParts<App> for Commander {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Commander, Infallible> {
        let source = if is_from_browser(&parts.headers) { Source::Viewer } else { Source::Api };
        Ok(Commander(app.simulator.acting_as(source)))
    }
}
