//! The status of the evaluation in the response of `GET /state`.

use chicane_wire::{EvaluationState, RunState};

/// The fields of `GET /state` that belong to an evaluation. The session's threads write them, and
/// the sim thread publishes them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SessionStatus {
    /// Status of the student's program.
    pub run: RunState,
    /// Status of the session.
    pub evaluation: EvaluationState,
}
