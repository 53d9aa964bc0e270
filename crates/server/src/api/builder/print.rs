//! Prints of a project's floor.

use super::refusal::Refusal;
use super::{PathParts, long};
use crate::api::evaluation::name;
use crate::body::read_json;
use crate::error::ApiError;
use crate::print_queue::{self, PrintQueueBusy};
use crate::state::App;
use axum::Json;
use axum::extract::{Request, State};
use axum::http::{Uri, header};
use axum::response::{IntoResponse, Response};
use chicane_studio::{PrintFormat, PrintJob};
use chicane_wire::{
    Body as _, ErrorBody, ErrorCode, Fields, InvalidProjectBody, Octets, Paper, PrintArea, PrintRequest,
    PrintRequestBody, PrintSize,
};
use serde_json::{Map, Value, json};

/// Returns the size of a print in pixels, the estimated size of its file, and the number of sheets.
#[utoipa::path(post, path = "/builder/projects/{id}/print/size", tag = "World builder", operation_id = "builder_print_size",
    params(("id" = String, Path, description = "Id of a project", pattern = "^[0-9a-f]{16}$")),
    request_body = PrintRequestBody, responses(
    (status = 200, body = PrintSize),
    (status = 400, body = ErrorBody, description = "A value is out of range, or the print would be too large"),
    (status = 404, body = ErrorBody, description = "No such project"),
    (status = 409, body = InvalidProjectBody, description = "The project has errors"),
))]
pub(super) async fn size(
    State(app): State<App>,
    path: PathParts,
    request: Request,
) -> Result<Json<PrintSize>, Refusal> {
    let request: PrintRequest = read_json(request).await?;
    let id = path.project()?;
    let size = long(&app, move |studio| {
        let built = studio.built(&id)?;
        Ok::<_, Refusal>(PrintJob::new(&built, &request)?.size())
    });
    size.await.map(Json)
}

/// Returns the floor of a project for printing, true to scale: one JPEG picture, or a PDF file. The
/// PDF file has cutting marks, labels and one page for each sheet.
///
/// The file is sent while it is drawn. One print is drawn at a time; further requests wait.
#[utoipa::path(get, path = "/builder/projects/{id}/print", tag = "World builder", operation_id = "builder_print",
    params(
        ("id" = String, Path, description = "Id of a project", pattern = "^[0-9a-f]{16}$"),
        ("dpi" = Option<u16>, Query, description = "Pixels per inch; 150 if omitted", minimum = 10, maximum = 600, example = 10),
        ("format" = Option<String>, Query, description = "`jpg` or `pdf`; `jpg` if omitted"),
        ("paper" = Option<Paper>, Query, description = "The sheets of a PDF file; `A4` if omitted"),
        ("area" = Option<String>, Query, description = "The part of the field to print: x, y, width and height in metres, separated by commas"),
    ), responses(
    (status = 200, content((Octets = "image/jpeg"), (Octets = "application/pdf"))),
    (status = 400, body = ErrorBody, description = "A value is out of range, or the print would be too large"),
    (status = 404, body = ErrorBody, description = "No such project"),
    (status = 409, body = InvalidProjectBody, description = "The project has errors"),
    (status = 503, body = ErrorBody, description = "Too many prints are being made"),
))]
pub(super) async fn print(State(app): State<App>, path: PathParts, uri: Uri) -> Result<Response, Refusal> {
    let id = path.project()?;
    let (request, format) = (request(&uri)?, format(&uri)?);
    let permit = app.print_queue.acquire().await.map_err(|PrintQueueBusy| {
        ApiError::new(ErrorCode::Busy, "too many prints are being made; try again")
    })?;
    // The blocking thread owns the permit. Otherwise a cancelled request would free the permit while
    // the thread still works.
    let (job, permit) = long(&app, move |studio| {
        let built = studio.built(&id)?;
        let job = PrintJob::new(&built, &request)?;
        if format == PrintFormat::Pdf {
            job.check_sheets()?;
        }
        Ok::<_, Refusal>((job, permit))
    })
    .await?;
    let content_type = if format == PrintFormat::Jpg { "image/jpeg" } else { "application/pdf" };
    let headers = [
        (header::CONTENT_TYPE, content_type.to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{}\"", job.file_name(format))),
    ];
    Ok((headers, print_queue::body(permit, move |to| job.write(format, to))).into_response())
}

/// Reads the options of a print from a query string. The limits are the same as for the fields of
/// [`PrintRequestBody`].
fn request(uri: &Uri) -> Result<PrintRequest, ApiError> {
    let mut fields = Map::new();
    if let Some(dpi) = name(uri, "dpi") {
        // A text that is not a number stays a text, so that `PrintRequest::parse` refuses it.
        fields.insert("dpi".to_owned(), dpi.parse::<u32>().map_or_else(|_| json!(dpi), |dpi| json!(dpi)));
    }
    if let Some(paper) = name(uri, "paper") {
        fields.insert("paper".to_owned(), Value::String(paper));
    }
    let mut request = PrintRequest::parse(&Fields::from(fields))?;
    if let Some(area) = name(uri, "area") {
        let wrong = "area must be x,y,width,height in metres";
        let numbers: Result<Vec<f64>, _> = area.split(',').map(|n| n.trim().parse::<f64>()).collect();
        let numbers = numbers.ok().and_then(|numbers| <[f64; 4]>::try_from(numbers).ok());
        let area = numbers.and_then(PrintArea::of).ok_or_else(|| ApiError::invalid(wrong))?;
        request.area = Some(area);
    }
    Ok(request)
}

fn format(uri: &Uri) -> Result<PrintFormat, ApiError> {
    match name(uri, "format").as_deref() {
        None | Some("jpg") => Ok(PrintFormat::Jpg),
        Some("pdf") => Ok(PrintFormat::Pdf),
        Some(_) => Err(ApiError::invalid("format must be jpg or pdf")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_options_of_a_print_are_read_from_the_query_string() {
        let read = |query: &str| request(&format!("/x{query}").parse().expect("an address"));
        let usual = read("").expect("read");
        assert_eq!((usual.dpi, usual.paper, usual.area), (150, Paper::A4, None));
        let area = read("?dpi=20&paper=A3&area=1,2,3,4.5").expect("read");
        assert_eq!((area.dpi, area.paper), (20, Paper::A3));
        assert_eq!(area.area, PrintArea::of([1.0, 2.0, 3.0, 4.5]));
        for wrong in [
            "?dpi=9",
            "?dpi=601",
            "?dpi=x",
            "?dpi=-1",
            "?paper=A0",
            "?area=1,2,3",
            "?area=1,2,0,1",
            "?area=NaN,1,1,1",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
