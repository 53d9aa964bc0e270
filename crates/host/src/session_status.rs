//! The evaluation as the live state shows it.

use chicane_wire::{EvaluationState, RunState};

/// The parts of `GET /state` that belong to an evaluation. The session's threads write it and the
/// sim thread publishes it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SessionStatus {
    /// The student's program.
    pub run: RunState,
    /// The session.
    pub evaluation: EvaluationState,
}
