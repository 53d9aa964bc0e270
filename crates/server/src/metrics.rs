//! Counters of the web server, and the text of `/metrics`.

use chicane_host::metrics::{Metrics, head, single};
use std::fmt::Write;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};

/// Counters of connections and responses.
#[derive(Debug, Default)]
pub(crate) struct HttpMetrics {
    /// Open connections.
    pub(crate) connections: AtomicI64,
    /// Number of responses by the first digit of their status. Index 0 counts the statuses 1xx.
    pub(crate) answers: [AtomicU64; 5],
}

impl HttpMetrics {
    /// All counters of the simulator in the text format of Prometheus.
    pub(crate) fn text(&self, host: &Metrics) -> String {
        let mut text = String::with_capacity(4096);
        host.write(&mut text);
        let connections = self.connections.load(Relaxed) as f64;
        single(&mut text, "chicane_connections", "gauge", "Open connections.", connections);
        head(&mut text, "chicane_http_answers_total", "counter", "Responses by class of status.");
        for (class, count) in self.answers.iter().enumerate() {
            let (class, count) = (class + 1, count.load(Relaxed));
            let _ = writeln!(text, "chicane_http_answers_total{{class=\"{class}xx\"}} {count}");
        }
        text
    }
}
