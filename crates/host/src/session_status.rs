//! The status of the evaluation in the live state.

use chicane_wire::{EvaluationState, RunState};

/// The fields of `GET /state` that belong to an evaluation. The session's threads write them, and
/// the sim thread publishes them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct SessionStatus {
    /// The student's program.
    pub(crate) run: RunState,
    /// The session.
    pub(crate) evaluation: EvaluationState,
}
