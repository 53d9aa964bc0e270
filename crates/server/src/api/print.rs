//! The floor of a world as a JPEG for printing.

use super::worlds::entry;
use crate::body::PathName;
use crate::error::ApiError;
use crate::print_queue::{self, PrintQueueBusy};
use crate::state::App;
use axum::extract::{Query, State};
use axum::http::{Uri, header};
use axum::response::{IntoResponse, Response};
use chicane_render::{Print, PrintError};
use chicane_store::LoadError;
use chicane_wire::{ErrorBody, ErrorCode, Octets};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Allowed pixels per inch.
const DPI: RangeInclusive<u16> = 10..=600;
/// Pixels per inch of a request without `dpi`: the usual resolution of large posters.
const DEFAULT_DPI: u16 = 150;

/// Returns a picture of a world's floor for printing, seen from above and true to scale.
///
/// The picture shows everything that lies flat on the ground, without standing objects. It is sent
/// while it is drawn. One picture is drawn at a time; further requests wait.
#[utoipa::path(get, path = "/worlds/{name}/print.jpg", tag = "World management",
    params(
        ("name" = String, Path, description = "Name of a world", pattern = r"^[A-Za-z0-9_-]+$", example = "oval"),
        ("dpi" = Option<u16>, Query, description = "Pixels per inch; 150 if omitted. No side of the picture may have more than 65,535 pixels",
            minimum = 10, maximum = 600, example = 10),
    ), responses(
    (status = 200, body = Octets, content_type = "image/jpeg"),
    (status = 400, body = ErrorBody, description = "`dpi` is out of range, or the picture would be too large; the text names the largest possible `dpi`"),
    (status = 404, body = ErrorBody, description = "No such world, or it has no floor"),
    (status = 422, body = ErrorBody, description = "The world can't be loaded"),
    (status = 503, body = ErrorBody, description = "Too many prints are being made"),
))]
pub(super) async fn print(
    State(app): State<App>,
    PathName(name): PathName,
    uri: Uri,
) -> Result<Response, ApiError> {
    entry(&app, &name).await?;
    let dpi = dpi(&uri)?;
    let permit = app.print_queue.acquire().await.map_err(|PrintQueueBusy| {
        ApiError::new(ErrorCode::Busy, "too many prints are being made; try again")
    })?;
    let now = app.simulator.now();
    let running =
        now.running.as_ref().filter(|r| *r.served.name == *name).map(|r| Arc::clone(&r.served.world));
    let (library, file) = (Arc::clone(&app.loader.library), name.clone());
    // The blocking thread owns the permit. Otherwise a cancelled request would free the permit
    // while the thread still works.
    let made = tokio::task::spawn_blocking(move || {
        let world = running.map_or_else(|| library.load(&file).map(Arc::new), Ok)?;
        Ok::<_, LoadError>((Print::new(&world, dpi), permit))
    });
    let (print, permit) = made.await.map_err(|e| ApiError::internal(e.to_string()))??;
    let print = print.map_err(|error| match error {
        PrintError::NoFloor => ApiError::new(ErrorCode::NoFloor, error.to_string()),
        PrintError::TooLarge { max_dpi, .. } if max_dpi < *DPI.start() => {
            ApiError::new(ErrorCode::BadWorld, error.to_string())
        }
        PrintError::TooLarge { .. } => ApiError::invalid(error.to_string()),
    })?;
    let headers = [
        (header::CONTENT_TYPE, "image/jpeg".to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{name}-{dpi}dpi.jpg\"")),
    ];
    Ok((headers, print_queue::body(permit, move |to| print.write_jpeg(to))).into_response())
}

/// The last `dpi` of the query string, or [`DEFAULT_DPI`] if there is none.
fn dpi(uri: &Uri) -> Result<u16, ApiError> {
    let wrong =
        || ApiError::invalid(format!("dpi must be a whole number from {} to {}", DPI.start(), DPI.end()));
    let Query(pairs) = Query::<Vec<(String, String)>>::try_from_uri(uri).map_err(|_| wrong())?;
    let Some((_, text)) = pairs.iter().rfind(|(name, _)| name == "dpi") else { return Ok(DEFAULT_DPI) };
    text.parse().ok().filter(|dpi| DPI.contains(dpi)).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dpi_is_read_from_the_query_string() {
        let read = |query: &str| dpi(&format!("/x{query}").parse().expect("an address"));
        assert_eq!(read(""), Ok(150));
        assert_eq!(read("?other=1"), Ok(150));
        assert_eq!(read("?dpi=10"), Ok(10));
        assert_eq!(read("?dpi=20&dpi=600"), Ok(600));
        for wrong in
            ["?dpi=", "?dpi=9", "?dpi=601", "?dpi=1e2", "?dpi=-1", "?dpi=x", "?dpi=70000", "?dpi=%ff"]
        {
            assert_eq!(read(wrong).expect_err(wrong).text, "dpi must be a whole number from 10 to 600");
        }
    }
}
