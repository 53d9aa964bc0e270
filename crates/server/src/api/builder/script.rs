//! Judging scripts: the shipped ones, and the check of a script.

use super::refusal::Refusal;
use crate::body::read_json;
use crate::error::ApiError;
use crate::state::App;
use axum::Json;
use axum::extract::{Request, State};
use chicane_wire::{
    ErrorBody, JudgeTemplate, ScriptCheckRequest, ScriptCheckRequestBody, ScriptChecked, ScriptError,
    Templates,
};
use std::sync::Arc;

/// Lists the shipped judging scripts.
#[utoipa::path(get, path = "/builder/templates", tag = "World builder", operation_id = "builder_templates",
    responses((status = 200, body = Templates)))]
pub(super) async fn templates() -> Json<Templates> {
    let templates = chicane_studio::TEMPLATES.iter().map(|template| JudgeTemplate {
        name: template.name.to_owned(),
        description: template.description().to_owned(),
        script: template.script.to_owned(),
    });
    Json(Templates { templates: templates.collect() })
}

/// Checks whether a script can judge. The judge's Python compiles the script and does not run it.
#[utoipa::path(post, path = "/builder/script/check", tag = "World builder", operation_id = "builder_check_script",
    request_body = ScriptCheckRequestBody, responses(
    (status = 200, body = ScriptChecked),
    (status = 503, body = ErrorBody, description = "Judging scripts can't be run on this machine"),
))]
pub(super) async fn check(State(app): State<App>, request: Request) -> Result<Json<ScriptChecked>, Refusal> {
    let request: ScriptCheckRequest = read_json(request).await?;
    let finder = Arc::clone(app.evaluations.finder());
    let checked = tokio::task::spawn_blocking(move || finder.fault_of(&request.script));
    let fault = checked.await.map_err(|e| ApiError::internal(e.to_string()))??;
    let errors: Vec<ScriptError> = fault.map(|fault| script_error(&fault)).into_iter().collect();
    Ok(Json(ScriptChecked { ok: errors.is_empty(), errors }))
}

/// Separates the line number that the judge puts before an error.
fn script_error(fault: &str) -> ScriptError {
    let parted = fault.strip_prefix("line ").and_then(|rest| rest.split_once(": "));
    match parted.and_then(|(line, text)| Some((line.parse().ok()?, text))) {
        Some((line, text)) => ScriptError { line: Some(line), text: text.to_owned() },
        None => ScriptError { line: None, text: fault.to_owned() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_an_error_is_separated() {
        let error = |line, text: &str| ScriptError { line, text: text.to_owned() };
        assert_eq!(script_error("line 3: invalid syntax: here"), error(Some(3), "invalid syntax: here"));
        assert_eq!(
            script_error("it does not define evaluate(sim)"),
            error(None, "it does not define evaluate(sim)")
        );
        assert_eq!(script_error("line x: y"), error(None, "line x: y"));
    }
}
