//! The judging scripts that are shipped with the program.

/// A shipped judging script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Template {
    /// Name of the template in a project document.
    pub name: &'static str,
    /// The script.
    pub script: &'static str,
}

/// The script that measures the time of a lap.
pub const LAP_TIME: Template =
    Template { name: "lap_time", script: include_str!("../../../python/judge/templates/lap_time.py") };

/// All templates.
pub const TEMPLATES: &[Template] = &[LAP_TIME];

impl Template {
    /// The first line of the script's documentation.
    pub fn description(&self) -> &'static str {
        self.script.lines().next().unwrap_or_default().trim_matches('"').trim()
    }
}
