//! The page at `/sim`.

use crate::body::Name;
use crate::error::ApiError;
use axum::http::header;
use axum::response::{IntoResponse, Redirect, Response};

const PAGE: &str = include_str!("../../assets/viewer.html");
const SCRIPT: &str = include_str!("../../assets/viewer.js");
const SOUND: &str = include_str!("../../assets/audio.js");
const STYLE: &str = include_str!("../../assets/viewer.css");

pub(super) async fn home() -> Redirect {
    Redirect::temporary("/sim")
}

pub(super) async fn page() -> Response {
    ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], PAGE).into_response()
}

pub(super) async fn asset(Name(file): Name) -> Result<Response, ApiError> {
    let (kind, text) = match file.as_str() {
        "viewer.js" => ("text/javascript; charset=utf-8", SCRIPT),
        "audio.js" => ("text/javascript; charset=utf-8", SOUND),
        "viewer.css" => ("text/css; charset=utf-8", STYLE),
        _ => return Err(ApiError::not_found("no such file")),
    };
    Ok(([(header::CONTENT_TYPE, kind)], text).into_response())
}
