//! Query parameters with their limits. Unknown parameters are ignored.

use super::error::RobotError;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Uri, header};
use std::convert::Infallible;

/// The query parameters of a request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Query {
    pairs: Vec<(String, String)>,
    accepts_events: bool,
}

impl<S: Sync> FromRequestParts<S> for Query {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Query, Infallible> {
        Ok(Query::new(&parts.uri, &parts.headers))
    }
}

impl Query {
    fn new(uri: &Uri, headers: &HeaderMap) -> Query {
        let pairs = axum::extract::Query::try_from_uri(uri).map(|axum::extract::Query(p)| p);
        let accepts = headers.get(header::ACCEPT).and_then(|v| v.to_str().ok()).unwrap_or("");
        Query { pairs: pairs.unwrap_or_default(), accepts_events: accepts.contains("text/event-stream") }
    }

    /// All values of a parameter.
    pub(super) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.pairs.iter().filter(move |(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    /// The last value of a parameter. `None` if the parameter is omitted.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.all(name).last()
    }

    /// Whether the client requests a stream, by `stream` or by `Accept`.
    pub(super) fn stream(&self) -> Result<bool, RobotError> {
        let requested = match self.get("stream").map(str::to_ascii_lowercase).as_deref() {
            None | Some("false" | "0") => false,
            Some("true" | "1") => true,
            Some(_) => return Err(RobotError::bad_value("stream must be true or false")),
        };
        Ok(requested || self.accepts_events)
    }

    /// A parameter that must be a whole number from `low` to `high`. `None` if it is omitted.
    pub(super) fn whole(&self, name: &str, low: u64, high: u64) -> Result<Option<u64>, RobotError> {
        let wrong = || RobotError::bad_value(format!("{name} must be a whole number from {low} to {high}"));
        let Some(text) = self.get(name) else { return Ok(None) };
        let value = text.parse().ok().filter(|v| (low..=high).contains(v));
        value.map(Some).ok_or_else(wrong)
    }

    /// A parameter that must be a number from `low` to `high`. `None` if it is omitted.
    pub(super) fn number(&self, name: &str, [low, high]: [f64; 2]) -> Result<Option<f64>, RobotError> {
        let wrong = || RobotError::bad_value(format!("{name} must be a number from {low} to {high}"));
        let Some(text) = self.get(name) else { return Ok(None) };
        let value = text.parse().ok().filter(|v| (low..=high).contains(v));
        value.map(Some).ok_or_else(wrong)
    }
}

#[cfg(test)]
fn query(text: &str) -> Query {
    let uri = format!("/x?{text}").parse().expect("an address");
    Query::new(&uri, &HeaderMap::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_read_and_invalid_values_are_refused() {
        let q = query("width=160&stream=True&x=1&step=2.5&include=odom%2Cimu");
        assert_eq!(q.whole("width", 16, 1920), Ok(Some(160)));
        assert_eq!(q.whole("height", 16, 1080), Ok(None));
        assert_eq!(q.stream(), Ok(true));
        assert_eq!(q.number("step", [0.5, 30.0]), Ok(Some(2.5)));
        assert_eq!(q.get("include"), Some("odom,imu"));
        for bad in ["width=15", "width=1921", "width=x", "width=", "width=1e2"] {
            assert!(query(bad).whole("width", 16, 1920).is_err(), "{bad}");
        }
        for bad in ["step=0.4", "step=30.1", "step=NaN", "step=inf", "step=", "step=1,5"] {
            assert!(query(bad).number("step", [0.5, 30.0]).is_err(), "{bad}");
        }
        for bad in ["stream=maybe", "stream="] {
            assert!(query(bad).stream().is_err(), "{bad}");
        }
    }

    #[test]
    fn accepting_event_streams_requests_a_stream() {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT, "text/event-stream".parse().expect("a value"));
        assert_eq!(Query::new(&Uri::from_static("/x"), &headers).stream(), Ok(true));
    }
}
