//! `chicane submit`: hands in a program to a leaderboard, and waits for the result.

use crate::args::SubmitArgs;
use crate::evaluation::Verdict;
use crate::file_error::FileError;
use crate::progress::Progress;
use crate::runtime::{self, RuntimeError};
use crate::terminal_text::printable;
use chicane_leaderboard::pack::{self, PackError};
use chicane_remote::web::WebError;
use chicane_remote::{JsonResponse, request_json};
use chicane_wire::MAX_SUBMISSION;
use serde_json::Value;
use std::fmt::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Time between two requests that ask for the state of the submission.
const POLL: Duration = Duration::from_millis(500);
/// How long the simulator may be unreachable before the command gives up waiting for the result.
const OUT_OF_REACH: Duration = Duration::from_secs(60);
/// Longest time in seconds that the command waits in total to repeat a submission, if the student
/// handed in too often.
const MAX_RETRY_S: u64 = 60;

/// Why a program was not handed in, or its result is not known.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SubmitError {
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Pack(#[from] PackError),
    #[error("{} is larger than {} MiB; hand in the program only", path.display(), MAX_SUBMISSION >> 20)]
    TooLarge { path: PathBuf },
    #[error("{} is neither a folder, nor a Python file .py, nor a zip file", path.display())]
    Kind { path: PathBuf },
    #[error(transparent)]
    Web(#[from] WebError),
    /// The simulator refused the submission, or could not judge it.
    #[error("{0}")]
    Refused(String),
    /// The simulator refused to return the result.
    #[error("the result of the submission {id} can't be read: {why}")]
    NoResult { id: String, why: String },
    #[error("the submission {id} is stored, but its result can't be read: {why}")]
    Lost { id: String, why: String },
}

impl SubmitError {
    /// Whether the command line names a file that can't be read, or that is neither a folder, nor a
    /// Python file, nor a zip file.
    pub(crate) fn is_usage(&self) -> bool {
        matches!(self, SubmitError::File(_) | SubmitError::Kind { .. })
    }
}

/// Hands in a program. Returns the first verdict that is not "finished", because it decides the
/// exit status. Returns `None` if all verdicts are "finished", or if the command does not wait for
/// the result.
pub(crate) fn run(args: &SubmitArgs) -> Result<Option<Verdict>, SubmitError> {
    let (content_type, bytes) = read(args)?;
    runtime::start_with_workers(1)?.block_on(submit(args, content_type, bytes))
}

/// The content type and the bytes of what the student hands in.
fn read(args: &SubmitArgs) -> Result<(&'static str, Vec<u8>), SubmitError> {
    let path = &args.program;
    let found = std::fs::metadata(path).map_err(FileError::read(path))?;
    if found.is_dir() {
        return Ok(("application/zip", pack::folder(path, MAX_SUBMISSION)?));
    }
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let content_type = match extension.to_ascii_lowercase().as_str() {
        "zip" => "application/zip",
        "py" => "text/x-python",
        _ => return Err(SubmitError::Kind { path: path.clone() }),
    };
    if found.len() > MAX_SUBMISSION as u64 {
        return Err(SubmitError::TooLarge { path: path.clone() });
    }
    Ok((content_type, std::fs::read(path).map_err(FileError::read(path))?))
}

async fn submit(
    args: &SubmitArgs,
    content_type: &str,
    bytes: Vec<u8>,
) -> Result<Option<Verdict>, SubmitError> {
    let received = hand_in(args, content_type, bytes).await?.body;
    let id = received["id"].as_str().unwrap_or_default().to_owned();
    let shown_as = received["shown_as"].as_str().unwrap_or_default();
    if shown_as != args.student {
        println!("the leaderboard shows you as {}", printable(shown_as));
    }
    println!("handed in, receipt {}", printable(&id));
    if args.no_wait {
        return Ok(None);
    }
    let ended = follow(args, &id).await?;
    if let Some(reason) = ended["reason"].as_str() {
        return Err(SubmitError::Refused(reason.to_owned()));
    }
    let results = ended["results"].as_array().map(Vec::as_slice).unwrap_or_default();
    for result in results {
        println!("{}", printable(&line(result)));
        let output = result["output_tail"].as_array().map(Vec::as_slice).unwrap_or_default();
        let is_shown = result["verdict"] != "finished";
        for text in output.iter().filter(|_| is_shown).filter_map(Value::as_str) {
            println!("  │ {}", printable(text));
        }
    }
    Ok(results.iter().map(verdict).find(|verdict| *verdict != Verdict::Finished))
}

/// Sends the program. If the student handed in too often, waits as long as the simulator says and
/// sends the program again. Returns an error if this would take longer than [`MAX_RETRY_S`].
async fn hand_in(args: &SubmitArgs, content_type: &str, bytes: Vec<u8>) -> Result<JsonResponse, SubmitError> {
    let url = format!("{}/sim/api/submissions?student={}", args.url, encoded(&args.student));
    let bytes = bytes::Bytes::from(bytes);
    let began = Instant::now();
    loop {
        let response = request_json(&url, args.token.as_deref(), Some((content_type, bytes.clone()))).await?;
        if response.is_success() {
            return Ok(response);
        }
        let Some(seconds) = seconds_until_retry(&response, began.elapsed().as_secs()) else {
            return Err(SubmitError::Refused(response.error()));
        };
        eprintln!("{}", printable(&response.error()));
        tokio::time::sleep(Duration::from_secs(seconds)).await;
    }
}

/// How long to wait before a refused submission is sent again, if the command has waited for
/// `waited_s` already. `None` if it is not sent again.
fn seconds_until_retry(response: &JsonResponse, waited_s: u64) -> Option<u64> {
    // The command waits at least 1 s. Otherwise `Retry-After: 0` would make the command send the
    // program again and again without a pause.
    let seconds = response.retry_after_s.filter(|_| response.status == 429)?.max(1);
    (waited_s.saturating_add(seconds) <= MAX_RETRY_S).then_some(seconds)
}

/// Shows the state of a submission until it has been judged, and returns the final state.
async fn follow(args: &SubmitArgs, id: &str) -> Result<Value, SubmitError> {
    let url = format!("{}/sim/api/submissions/{}", args.url, encoded(id));
    let mut progress = Progress::new("waiting");
    let mut reached = Instant::now();
    loop {
        let why = match request_json(&url, args.token.as_deref(), None).await {
            Ok(response) if response.is_success() => {
                reached = Instant::now();
                let now = response.body;
                match now["state"].as_str() {
                    Some("done") => {
                        progress.finish();
                        return Ok(now);
                    }
                    Some("failed") => return Ok(now),
                    Some("running") => {
                        let world = now["world"].as_str().unwrap_or_default();
                        progress.set_text(format!("driving in {}", printable(world)));
                        progress.set(now["progress"].as_f64().unwrap_or(0.0));
                    }
                    _ => {
                        let before = now["position"].as_u64().unwrap_or(0);
                        progress.set_text(format!("waiting, {before} before you"));
                        progress.set(0.0);
                    }
                }
                None
            }
            // Another attempt would get the same response.
            Ok(response) if matches!(response.status, 401 | 403 | 404) => {
                return Err(SubmitError::NoResult { id: id.to_owned(), why: response.error() });
            }
            Ok(response) => Some(response.error()),
            Err(error) => Some(error.to_string()),
        };
        if let Some(why) = why.filter(|_| reached.elapsed() > OUT_OF_REACH) {
            return Err(SubmitError::Lost { id: id.to_owned(), why });
        }
        tokio::time::sleep(POLL).await;
    }
}

/// The line about the result in a world.
fn line(result: &Value) -> String {
    let world = result["world"].as_str().unwrap_or_default();
    let verdict = result["verdict"].as_str().unwrap_or_default().replace('_', " ");
    let mut line = format!("{world:<16}  {verdict:<8}  ");
    if verdict != "finished" {
        return line + result["reason"].as_str().unwrap_or_default();
    }
    let unit = result["unit"].as_str().map(|unit| format!(" {unit}")).unwrap_or_default();
    // Writing to a `String` cannot fail.
    let _ = write!(line, "{}{unit}", result["record"]);
    let _ = match result["rank"].as_u64() {
        Some(rank) => write!(line, ", rank {rank} of {}", result["of"]),
        None => write!(line, ", not better than your best run"),
    };
    line
}

fn verdict(result: &Value) -> Verdict {
    match result["verdict"].as_str().unwrap_or_default() {
        "finished" => Verdict::Finished,
        "failed" => Verdict::Failed,
        "timeout" => Verdict::Timeout,
        "script_error" => Verdict::ScriptError,
        "stopped" => Verdict::Stopped,
        "unsupported" => Verdict::Unsupported,
        _ => Verdict::Fault,
    }
}

/// Percent-encodes a text for an address.
fn encoded(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let mut encoded = String::new();
    for byte in text.bytes() {
        let _ =
            if is_plain(byte) { write!(encoded, "{}", byte as char) } else { write!(encoded, "%{byte:02X}") };
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::io::{Read, Write as _};
    use std::net::TcpListener;

    /// Regression test: a server that responds with `Retry-After: 0` was asked for ever.
    #[test]
    fn a_retry_after_0_s_was_repeated_for_ever() {
        let refused = |status, retry_after_s| JsonResponse { status, retry_after_s, body: Value::Null };
        assert_eq!(seconds_until_retry(&refused(429, Some(0)), 59), Some(1));
        assert_eq!(seconds_until_retry(&refused(429, Some(0)), 60), None);
        assert_eq!(seconds_until_retry(&refused(429, Some(60)), 0), Some(60));
        assert_eq!(seconds_until_retry(&refused(429, Some(60)), 1), None);
        assert_eq!(seconds_until_retry(&refused(429, Some(u64::MAX)), 1), None);
        assert_eq!(seconds_until_retry(&refused(429, None), 0), None);
        assert_eq!(seconds_until_retry(&refused(503, Some(1)), 0), None);
    }

    /// Regression test: the command asked for a result for a minute although the simulator refused
    /// to return it.
    #[test]
    fn a_removed_submission_was_reported_after_a_minute() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a connection");
            let read = stream.read(&mut [0; 4096]).expect("a request");
            let body = r#"{"error": "there is no submission with this id"}"#;
            let head = format!("HTTP/1.1 404 Not Found\r\ncontent-length: {}\r\n\r\n", body.len());
            stream.write_all((head + body).as_bytes()).expect("sent");
            read
        });
        let args = SubmitArgs {
            program: PathBuf::new(),
            student: "Ada".to_owned(),
            url,
            token: None,
            no_wait: false,
        };
        let runtime = runtime::start_with_workers(1).expect("a runtime");
        let error = runtime.block_on(follow(&args, "7f")).expect_err("refused");
        let text = "the result of the submission 7f can't be read: there is no submission with this id";
        assert_eq!(error.to_string(), text);
        assert!(server.join().expect("no panic") > 0);
    }

    #[test]
    fn a_line_tells_record_and_rank_or_the_reason() {
        let finished =
            json!({"world": "oval", "verdict": "finished", "record": 12.5, "unit": "s", "rank": 2, "of": 7});
        assert_eq!(line(&finished), "oval              finished  12.5 s, rank 2 of 7");
        let worse = json!({"world": "oval", "verdict": "finished", "record": 13, "unit": null, "rank": null});
        assert_eq!(line(&worse), "oval              finished  13, not better than your best run");
        let failed = json!({"world": "town", "verdict": "script_error", "reason": "line 3"});
        assert_eq!(line(&failed), "town              script error  line 3");
    }

    #[test]
    fn names_are_encoded_for_an_address() {
        assert_eq!(encoded("Zoë & Co/é"), "Zo%C3%AB%20%26%20Co%2F%C3%A9");
    }
}
