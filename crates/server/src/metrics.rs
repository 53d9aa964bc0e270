//! The text of `/metrics`.

pub(crate) use chicane_listen::HttpMetrics;

use crate::state::App;
use chicane_host::metrics::{head, single};
use std::fmt::Write;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{SystemTime, UNIX_EPOCH};

/// All metrics of the simulator in the text format of Prometheus.
pub(crate) fn text(app: &App) -> String {
    let mut text = String::with_capacity(8192);
    write_program(&mut text, app);
    app.metrics.write(&mut text);
    let active = f64::from(u8::from(app.evaluations.is_active()));
    single(&mut text, "chicane_evaluations_active", "gauge", "Evaluations that run now.", active);
    let http = &app.http_metrics;
    let connections = http.connections.load(Relaxed) as f64;
    single(&mut text, "chicane_connections", "gauge", "Open connections.", connections);
    head(&mut text, "chicane_http_answers_total", "counter", "Responses by class of status.");
    for (class, count) in http.answers.iter().enumerate() {
        let (class, count) = (class + 1, count.load(Relaxed));
        let _ = writeln!(text, "chicane_http_answers_total{{class=\"{class}xx\"}} {count}");
    }
    text
}

/// Writes the metrics of the program: version, health, start time, memory and free disk space.
fn write_program(text: &mut String, app: &App) {
    head(text, "chicane_info", "gauge", "Version of the program; always 1.");
    let _ = writeln!(text, "chicane_info{{version=\"{}\"}} 1", env!("CARGO_PKG_VERSION"));
    let healthy = f64::from(u8::from(app.evaluations.fault().is_none()));
    let help = "1 if the simulator can evaluate and keep records, 0 if /health says failing.";
    single(text, "chicane_healthy", "gauge", help, healthy);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64());
    let started = (now - app.started.elapsed().as_secs_f64()).round();
    single(text, "process_start_time_seconds", "gauge", "Time of the start since 1970.", started);
    if let Some(bytes) = resident_memory() {
        single(text, "process_resident_memory_bytes", "gauge", "Memory of the simulator.", bytes);
    }
    if let Ok(bytes) = chicane_store::free_space(app.host.data.dir()) {
        let help = "Free space on the disk of the data folder.";
        single(text, "chicane_data_free_bytes", "gauge", help, bytes as f64);
    }
}

/// Memory of this process, bytes. `None` if the system has no `/proc`.
fn resident_memory() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: f64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes * 1024.0)
}
