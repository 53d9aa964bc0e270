//! Connections to other machines that are kept for the next request.

use super::{Target, WebError, connect, resolve};
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::http1::SendRequest;
use hyper::http::{Request, Response};
use std::sync::{Mutex, PoisonError};

/// How many are kept.
const MAX_IDLE: usize = 8;

/// A connection to one host.
#[derive(Debug)]
pub struct Line {
    secure: bool,
    authority: String,
    sender: SendRequest<Full<Bytes>>,
}

/// Those that nobody uses at the moment.
#[derive(Debug, Default)]
pub struct Lines {
    idle: Mutex<Vec<Line>>,
}

impl Lines {
    /// Sends a request on a connection that was kept, or on a new one. That is to be given back once all of the
    /// answer was read.
    pub async fn send(
        &self,
        target: &Target,
        request: Request<Full<Bytes>>,
    ) -> Result<(Response<Incoming>, Line), WebError> {
        while let Some(mut line) = self.take(target) {
            // One that was kept may have been closed meanwhile.
            if line.sender.ready().await.is_ok()
                && let Ok(answer) = line.sender.send_request(request.clone()).await
            {
                return Ok((answer, line));
            }
        }
        let mut sender = connect(target, resolve(target).await?).await?;
        let answer = sender.send_request(request).await;
        let answer = answer.map_err(|e| WebError::NoAnswer(target.host.clone(), e.to_string()))?;
        Ok((answer, Line { secure: target.secure, authority: target.authority.clone(), sender }))
    }

    /// Keeps a connection for the next request.
    pub fn keep(&self, line: Option<Line>) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < MAX_IDLE {
            idle.extend(line);
        }
    }

    fn take(&self, target: &Target) -> Option<Line> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |line: &Line| line.secure == target.secure && line.authority == target.authority;
        idle.iter().rposition(fits).map(|at| idle.swap_remove(at))
    }
}
