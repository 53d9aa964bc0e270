//! OpenAPI documents and the pages that show them. All files are embedded in the program.

use crate::body::PathName;
use crate::error::ApiError;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Extension, Router};
use bytes::Bytes;
use chicane_wire::ErrorCode;
use std::sync::{Arc, LazyLock};
use utoipa::ToSchema;
use utoipa::openapi::path::Operation;
use utoipa::openapi::schema::SchemaType;
use utoipa::openapi::{
    Content, ContentBuilder, InfoBuilder, OpenApi, OpenApiBuilder, Ref, RefOr, Required, ResponseBuilder,
    Schema, Type,
};

type Schemas = std::collections::BTreeMap<String, RefOr<Schema>>;

const PAGE: &str = include_str!("../assets/docs.html");
const START: &str = include_str!("../assets/docs.js");

/// An error that every path can return: its status, its description and the schema of its body.
pub(crate) type CommonError = (&'static str, &'static str, &'static str);

/// Creates a document without paths.
pub(crate) fn document(title: &str, about: &str) -> OpenApi {
    let info = InfoBuilder::new().title(title).version(env!("CARGO_PKG_VERSION")).description(Some(about));
    OpenApiBuilder::new().info(info).build()
}

/// Adds a schema that no path refers to. Also adds every schema that the new schema refers to.
pub(crate) fn add_schema<T: ToSchema>(document: &mut OpenApi) {
    let mut used = Vec::new();
    T::schemas(&mut used);
    let schemas = &mut document.components.get_or_insert_default().schemas;
    schemas.insert(T::name().into_owned(), T::schema());
    for (name, schema) in used {
        schemas.entry(name).or_insert(schema);
    }
}

/// A finished document, and the address where it is served.
#[derive(Clone)]
pub(crate) struct Docs {
    /// The document as JSON. It is written on first use, because a simulator that judges one
    /// program starts faster without it.
    json: Arc<LazyLock<String, Box<dyn FnOnce() -> String + Send>>>,
    title: Arc<str>,
    /// Prefix of the paths of the document.
    base: &'static str,
    /// Makes an error response in the format of the document's paths.
    refuse: fn(ApiError) -> Response,
}

impl Docs {
    /// Finishes a document: adds the prefix and the common errors to the paths of the document.
    pub(crate) fn new(
        mut document: OpenApi,
        base: &'static str,
        common: &[CommonError],
        refuse: fn(ApiError) -> Response,
    ) -> Docs {
        let paths = std::mem::take(&mut document.paths.paths);
        let schemas = document.components.as_ref().map(|c| c.schemas.clone()).unwrap_or_default();
        for (path, mut item) in paths {
            let operations = [&mut item.get, &mut item.post, &mut item.put, &mut item.delete];
            for operation in operations.into_iter().flatten() {
                add_common_errors(operation, common);
                let needed = needs_body(operation, &schemas);
                if let Some(RefOr::T(body)) = &mut operation.request_body {
                    body.required = Some(if needed { Required::True } else { Required::False });
                }
            }
            // A star marks a parameter that takes the rest of the path. OpenAPI has no such mark,
            // so the star is removed.
            document.paths.paths.insert(format!("{base}{}", path.replace("{*", "{")), item);
        }
        let title = Arc::from(document.info.title.as_str());
        let write = move || document.to_pretty_json().unwrap_or_default();
        Docs { json: Arc::new(LazyLock::new(Box::new(write))), title, base, refuse }
    }

    pub(crate) fn json(&self) -> String {
        String::clone(&self.json)
    }

    /// Routes of the document and of the page that shows the document.
    pub(crate) fn routes<S: Clone + Send + Sync + 'static>(self) -> Router<S> {
        Router::new()
            .route("/openapi.json", get(openapi))
            .route("/docs", get(page))
            .route("/docs/{file}", get(asset))
            .layer(Extension(self))
    }

    /// Fills the title and the prefix of this document into a template.
    fn fill(&self, text: &str) -> String {
        text.replace("{title}", &self.title).replace("{base}", self.base)
    }
}

/// Whether the body of an operation is a file or has required fields. Otherwise the client may omit
/// the whole body.
fn needs_body(operation: &Operation, schemas: &Schemas) -> bool {
    let Some(RefOr::T(body)) = &operation.request_body else { return false };
    let names = body.content.values().filter_map(|content| match content {
        RefOr::T(Content { schema: Some(RefOr::Ref(to)), .. }) => to.ref_location.rsplit('/').next(),
        _ => None,
    });
    names.filter_map(|name| schemas.get(name)).any(|schema| match schema {
        RefOr::T(Schema::Object(object)) => {
            matches!(object.schema_type, SchemaType::Type(Type::String)) || !object.required.is_empty()
        }
        _ => true,
    })
}

fn add_common_errors(operation: &mut Operation, common: &[CommonError]) {
    for (status, response) in &mut operation.responses.responses {
        if let RefOr::T(response) = response
            && response.description.is_empty()
        {
            let known = common.iter().find(|(s, ..)| s == status);
            response.description = known.map_or("Done", |(_, text, _)| text).to_owned();
        }
    }
    for (status, description, schema) in common {
        operation.responses.responses.entry((*status).to_owned()).or_insert_with(|| {
            let schema = RefOr::Ref(Ref::from_schema_name(*schema));
            let content = ContentBuilder::new().schema(Some(schema)).build();
            RefOr::T(
                ResponseBuilder::new().description(*description).content("application/json", content).build(),
            )
        });
    }
}

async fn openapi(Extension(docs): Extension<Docs>) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], docs.json()).into_response()
}

async fn page(Extension(docs): Extension<Docs>) -> Response {
    ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], docs.fill(PAGE)).into_response()
}

async fn asset(Extension(docs): Extension<Docs>, PathName(file): PathName) -> Response {
    let (kind, bytes, gzipped) = match file.as_str() {
        "start.js" => ("text/javascript".to_owned(), Bytes::from(docs.fill(START)), false),
        _ => {
            let config = Arc::new(utoipa_swagger_ui::Config::from(format!("{}/openapi.json", docs.base)));
            match utoipa_swagger_ui::serve(&file, config).ok().flatten() {
                Some(found) => (found.content_type, Bytes::from(found.bytes.into_owned()), found.gzpipped),
                None => return (docs.refuse)(ApiError::new(ErrorCode::NotFound, "no such file")),
            }
        }
    };
    let mut response = ([(header::CONTENT_TYPE, kind)], bytes).into_response();
    if gzipped {
        response.headers_mut().insert(header::CONTENT_ENCODING, header::HeaderValue::from_static("gzip"));
    }
    response
}
