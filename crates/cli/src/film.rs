//! Writes a film of a run with the program `ffmpeg`.

use crate::progress::Progress;
use chicane_replay::{Difference, Film, RecordedRun};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Width and height of the pictures, px.
const SIZE: [usize; 2] = [1280, 720];
/// Pictures per simulated second.
const RATE: u32 = 30;

/// Why no film was written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FilmError {
    #[error("a film needs the program ffmpeg, which is not installed: on Debian, apt-get install ffmpeg")]
    NoEncoder,
    #[error("ffmpeg can't be started: {0}")]
    NotStarted(std::io::Error),
    #[error("{} must end with .mp4 or .webm", file.display())]
    Kind { file: PathBuf },
    #[error("this version simulates the run in another way: {0}")]
    Differs(#[from] Difference),
    #[error("ffmpeg failed: {0}")]
    Failed(String),
}

/// Returns the options of ffmpeg's encoder for a file that ends with `.mp4` or `.webm`.
fn codec(file: &Path) -> Result<&'static [&'static str], FilmError> {
    match file.extension().and_then(|extension| extension.to_str()) {
        Some("mp4") => {
            Ok(&["-c:v", "libx264", "-crf", "20", "-pix_fmt", "yuv420p", "-movflags", "+faststart"])
        }
        Some("webm") => {
            Ok(&["-c:v", "libvpx-vp9", "-crf", "30", "-b:v", "0", "-deadline", "realtime", "-cpu-used", "6"])
        }
        _ => Err(FilmError::Kind { file: file.to_owned() }),
    }
}

/// Writes the film of a run.
pub(crate) fn write(run: &RecordedRun, file: &Path) -> Result<(), FilmError> {
    let codec = codec(file)?;
    let mut film = Film::new(run, SIZE, RATE)?;
    let duration = run.record["elapsed_s"].as_f64().unwrap_or_default().max(1e-3);
    let mut child = start(codec, file)?;
    let mut progress = Progress::new("drawing the film");
    let drawn = draw(&mut film, &mut child, |time_s| progress.set(time_s / duration));
    // The end of the input tells ffmpeg to finish the file.
    drop(child.stdin.take());
    let output = child.wait_with_output().map_err(FilmError::NotStarted)?;
    drawn?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let line = text.lines().last().unwrap_or("it gave no reason");
        return Err(FilmError::Failed(line.to_owned()));
    }
    progress.finish();
    Ok(())
}

fn start(codec: &[&str], file: &Path) -> Result<Child, FilmError> {
    let (size, rate) = (format!("{}x{}", SIZE[0], SIZE[1]), RATE.to_string());
    let input = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", &size, "-r", &rate, "-i", "-"];
    let mut command = Command::new("ffmpeg");
    command.args(["-hide_banner", "-loglevel", "error", "-y"]).args(input).args(codec).arg(file);
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    piped.spawn().map_err(|error| match error.kind() {
        ErrorKind::NotFound => FilmError::NoEncoder,
        _ => FilmError::NotStarted(error),
    })
}

/// Draws all pictures and passes them to ffmpeg.
fn draw(film: &mut Film, child: &mut Child, mut shown: impl FnMut(f64)) -> Result<(), FilmError> {
    let Some(mut input) = child.stdin.take() else { return Ok(()) };
    while let Some(picture) = film.next_picture()? {
        if input.write_all(&picture.bytes).is_err() {
            // The write fails if ffmpeg has ended. The caller then checks ffmpeg's exit status, and
            // reports ffmpeg's last line if ffmpeg has failed.
            return Ok(());
        }
        shown(film.time_s());
    }
    Ok(())
}
