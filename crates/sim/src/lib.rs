//! The deterministic core.
