//! Request bodies of the robot's API. The checks are the same as for other paths, but errors have
//! the robot's format, except those of the access rules.

use super::error::RobotError;
use crate::body::read_json;
use axum::extract::{FromRequest, Request};

/// Extracts a request of type `T` from a JSON body.
pub(super) struct RobotJsonBody<T>(pub(super) T);

impl<S: Sync, T: chicane_wire::Body> FromRequest<S> for RobotJsonBody<T> {
    type Rejection = RobotError;

    async fn from_request(request: Request, _: &S) -> Result<RobotJsonBody<T>, RobotError> {
        Ok(RobotJsonBody(read_json(request).await?))
    }
}
