//! The OpenAPI document, and a page that shows it. Everything comes from the binary.

use crate::body::Name;
use crate::error::ApiError;
use axum::Extension;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use std::sync::Arc;
use utoipa::openapi::path::Operation;
use utoipa::openapi::{
    Content, ContentBuilder, InfoBuilder, OpenApi, OpenApiBuilder, Ref, RefOr, Required, ResponseBuilder,
    Schema,
};

type Schemas = std::collections::BTreeMap<String, RefOr<Schema>>;

const PAGE: &str = include_str!("../../assets/docs.html");
const START: &str = include_str!("../../assets/docs.js");

/// Errors that every path can answer with.
const COMMON: [(&str, &str); 9] = [
    ("400", "The request can't be understood"),
    ("401", "A token is needed"),
    ("403", "The request comes from another site, or by a name that is not ours"),
    ("408", "The request did not come in time"),
    ("413", "The body is larger than 1 MiB"),
    ("414", "The address is too long"),
    ("431", "The head is too large"),
    ("500", "Something went wrong inside"),
    ("503", "Not available at the moment"),
];

/// The document without its paths.
pub(super) fn document() -> OpenApi {
    let about = "Controls a Chicane simulator: world, vehicle, objects, lights, time and evaluation. Metres, \
        seconds and radians. A command answers `{\"ok\": true, …}`; every error is `{\"error\": \"<text>\"}`.";
    let info =
        InfoBuilder::new().title("Chicane").version(env!("CARGO_PKG_VERSION")).description(Some(about));
    OpenApiBuilder::new().info(info).build()
}

/// The finished document.
#[derive(Clone)]
pub(super) struct Docs(Arc<str>);

impl Docs {
    pub(super) fn new(mut document: OpenApi) -> Docs {
        let paths = std::mem::take(&mut document.paths.paths);
        let schemas = document.components.as_ref().map(|c| c.schemas.clone()).unwrap_or_default();
        for (path, mut item) in paths {
            for operation in [&mut item.get, &mut item.post, &mut item.delete].into_iter().flatten() {
                add_common_errors(operation);
                let needed = needs_body(operation, &schemas);
                if let Some(RefOr::T(body)) = &mut operation.request_body {
                    body.required = Some(if needed { Required::True } else { Required::False });
                }
            }
            document.paths.paths.insert(format!("/sim/api{path}"), item);
        }
        Docs(Arc::from(document.to_pretty_json().unwrap_or_default()))
    }

    pub(super) fn json(&self) -> String {
        self.0.to_string()
    }
}

/// Whether a body has fields that may not be omitted: if not, the whole of it may be.
fn needs_body(operation: &Operation, schemas: &Schemas) -> bool {
    let Some(RefOr::T(body)) = &operation.request_body else { return false };
    let names = body.content.values().filter_map(|content| match content {
        RefOr::T(Content { schema: Some(RefOr::Ref(to)), .. }) => to.ref_location.rsplit('/').next(),
        _ => None,
    });
    names.filter_map(|name| schemas.get(name)).any(|schema| match schema {
        RefOr::T(Schema::Object(object)) => !object.required.is_empty(),
        _ => true,
    })
}

fn add_common_errors(operation: &mut Operation) {
    for (status, response) in &mut operation.responses.responses {
        if let RefOr::T(response) = response
            && response.description.is_empty()
        {
            let common = COMMON.iter().find(|(s, _)| s == status);
            response.description = common.map_or("Done", |(_, text)| text).to_owned();
        }
    }
    for (status, description) in COMMON {
        operation.responses.responses.entry(status.to_owned()).or_insert_with(|| {
            let schema = RefOr::Ref(Ref::from_schema_name("ErrorBody"));
            let content = ContentBuilder::new().schema(Some(schema)).build();
            RefOr::T(
                ResponseBuilder::new().description(description).content("application/json", content).build(),
            )
        });
    }
}

pub(super) async fn openapi(Extension(docs): Extension<Docs>) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], docs.json()).into_response()
}

pub(super) async fn page() -> Response {
    ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], PAGE).into_response()
}

pub(super) async fn asset(Name(file): Name) -> Result<Response, ApiError> {
    let (kind, bytes, gzipped) = match file.as_str() {
        "start.js" => ("text/javascript".to_owned(), Bytes::from_static(START.as_bytes()), false),
        _ => {
            let config = Arc::new(utoipa_swagger_ui::Config::from("/sim/api/openapi.json"));
            let found = utoipa_swagger_ui::serve(&file, config).ok().flatten();
            let found = found.ok_or_else(|| ApiError::not_found("no such file"))?;
            (found.content_type, Bytes::from(found.bytes.into_owned()), found.gzpipped)
        }
    };
    let mut response = ([(header::CONTENT_TYPE, kind)], bytes).into_response();
    if gzipped {
        response.headers_mut().insert(header::CONTENT_ENCODING, header::HeaderValue::from_static("gzip"));
    }
    Ok(response)
}
