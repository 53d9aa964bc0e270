//! A pool of idle connections, which later requests to the same host reuse.

use super::{HttpTarget, WebError, connect, resolve};
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::http1::SendRequest;
use hyper::http::{Request, Response};
use std::sync::{Mutex, PoisonError};

/// Maximum number of idle connections that a pool keeps.
const MAX_IDLE: usize = 8;

/// An open connection to one host.
#[derive(Debug)]
pub struct Connection {
    secure: bool,
    authority: String,
    sender: SendRequest<Full<Bytes>>,
}

/// The idle connections of a client.
#[derive(Debug, Default)]
pub struct ConnectionPool {
    idle: Mutex<Vec<Connection>>,
}

impl ConnectionPool {
    /// Sends a request on an idle connection or a new one. The caller has to read the whole
    /// response and then give the connection back with [`ConnectionPool::give_back`].
    pub async fn send(
        &self,
        target: &HttpTarget,
        request: Request<Full<Bytes>>,
    ) -> Result<(Response<Incoming>, Connection), WebError> {
        while let Some(mut connection) = self.take(target) {
            // The server may have closed the idle connection meanwhile. Then the next connection is
            // tried.
            if connection.sender.ready().await.is_ok()
                && let Ok(response) = connection.sender.send_request(request.clone()).await
            {
                return Ok((response, connection));
            }
        }
        let mut sender = connect(target, resolve(target).await?).await?;
        let response = sender.send_request(request).await;
        let response = response.map_err(|e| WebError::NoResponse(target.host.clone(), e.to_string()))?;
        Ok((response, Connection { secure: target.secure, authority: target.authority.clone(), sender }))
    }

    /// Keeps a connection for the next request. If the pool is full, the connection is closed
    /// instead.
    pub fn give_back(&self, connection: Connection) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < MAX_IDLE {
            idle.push(connection);
        }
    }

    fn take(&self, target: &HttpTarget) -> Option<Connection> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let matches = |c: &Connection| c.secure == target.secure && c.authority == target.authority;
        idle.iter().rposition(matches).map(|at| idle.swap_remove(at))
    }
}
