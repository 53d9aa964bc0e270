//! Bodies of requests to the robot: read as everywhere, refused in the robot's own shape.

use super::error::RobotError;
use crate::body::{MAX_BODY, read_json};
use axum::extract::{FromRequest, Request};

/// A request read from a JSON body of at most `LIMIT` bytes.
pub(super) struct Body<T, const LIMIT: usize = MAX_BODY>(pub(super) T);

impl<S: Sync, T: chicane_wire::Body, const LIMIT: usize> FromRequest<S> for Body<T, LIMIT> {
    type Rejection = RobotError;

    async fn from_request(request: Request, _: &S) -> Result<Body<T, LIMIT>, RobotError> {
        Ok(Body(read_json(request, LIMIT).await?))
    }
}
