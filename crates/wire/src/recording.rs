//! Recordings of the simulator.

use crate::fields::{Body, Fields, Invalid};
use crate::num::Num;
use serde::Serialize;
use utoipa::ToSchema;

/// Request body of `POST /recording/start`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ToSchema)]
pub struct RecordingRequest {
    /// Whether to record camera images; true if omitted.
    #[schema(value_type = Option<bool>)]
    pub camera: bool,
    /// Whether to record the state of the simulator as JSON; true if omitted. `ros2 bag play`
    /// accepts no JSON, so it needs a recording without the state.
    #[schema(value_type = Option<bool>)]
    pub state: bool,
}

impl Default for RecordingRequest {
    fn default() -> RecordingRequest {
        RecordingRequest { camera: true, state: true }
    }
}

impl Body for RecordingRequest {
    fn parse(fields: &Fields) -> Result<RecordingRequest, Invalid> {
        let default = RecordingRequest::default();
        Ok(RecordingRequest {
            camera: fields.flag("camera")?.unwrap_or(default.camera),
            state: fields.flag("state")?.unwrap_or(default.state),
        })
    }
}

/// Response of `GET /recording`: the recording in progress, or the last one.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Recording {
    /// Whether a recording is in progress.
    pub active: bool,
    /// Folder of the files, on the machine of the simulator.
    pub folder: String,
    /// Name of the current or last file; null before the first recording.
    pub file: Option<String>,
    /// Number of files of this recording.
    pub files: u64,
    /// Size of all files of this recording, bytes.
    pub bytes: u64,
    /// Recorded simulated time, seconds.
    pub duration: Num,
    /// Number of recorded messages.
    pub messages: u64,
    /// Whether camera images are recorded.
    pub camera: bool,
    /// Whether the state of the simulator is recorded.
    pub state: bool,
    /// Number of ticks that are missing because the simulation was faster than the disk.
    pub dropped_ticks: u64,
    /// Number of images that are missing because they were not drawn in time.
    pub skipped_images: u64,
    /// Why the recording ended by itself; null if it is in progress or was stopped.
    pub failure: Option<String>,
}

/// Response of `POST /recording/start` and `POST /recording/stop`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct RecordingChanged {
    /// Always true.
    pub ok: bool,
    /// The recording after the change.
    pub recording: Recording,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_and_states_are_recorded_unless_switched_off() {
        let parse = |body: &str| {
            let fields = Fields::read(body.as_bytes()).expect("an object");
            RecordingRequest::parse(&fields).map_err(|e| e.0)
        };
        assert_eq!(parse(""), Ok(RecordingRequest { camera: true, state: true }));
        assert_eq!(parse(r#"{"camera": false}"#), Ok(RecordingRequest { camera: false, state: true }));
        assert_eq!(parse(r#"{"state": false}"#), Ok(RecordingRequest { camera: true, state: false }));
        assert_eq!(parse(r#"{"camera": 1}"#), Err("camera must be true or false".to_owned()));
    }
}
