//! Scene and camera pose in, pixels out: on the CPU, with the same bytes on every machine.
//!
//! Pure: no clock, no file, no window. A frame may be split over threads; its bytes don't depend on it.

pub mod image;
pub mod looks;

pub use image::Image;
