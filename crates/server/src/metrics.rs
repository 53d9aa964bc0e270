//! The text of `/metrics`.

pub(crate) use chicane_listen::HttpMetrics;

use chicane_host::metrics::{Metrics, head, single};
use std::fmt::Write;
use std::sync::atomic::Ordering::Relaxed;

/// All counters of the simulator in the text format of Prometheus.
pub(crate) fn text(http: &HttpMetrics, host: &Metrics) -> String {
    let mut text = String::with_capacity(4096);
    host.write(&mut text);
    let connections = http.connections.load(Relaxed) as f64;
    single(&mut text, "chicane_connections", "gauge", "Open connections.", connections);
    head(&mut text, "chicane_http_answers_total", "counter", "Responses by class of status.");
    for (class, count) in http.answers.iter().enumerate() {
        let (class, count) = (class + 1, count.load(Relaxed));
        let _ = writeln!(text, "chicane_http_answers_total{{class=\"{class}xx\"}} {count}");
    }
    text
}
