//! Scene and camera pose in, pixels out: on the CPU, with the same bytes on every machine.
//!
//! Pure: no clock, no file, no window. A frame may be split over threads; its bytes don't depend on it.
//! [`Stage`] makes a world ready once; a [`Renderer`] takes pictures of it, each at a [`Moment`].

mod decode;
pub mod glb;
pub mod image;
mod lens;
pub mod looks;
mod moment;
mod noise;
mod print;
mod raster;
mod render;
mod stage;
mod texture;
mod thumbnail;

pub use image::Image;
pub use lens::Optics;
pub use moment::{CarMoment, Moment};
pub use print::{MAX_SIDE as MAX_PRINT_SIDE, Print, PrintError, STRIP_ROWS};
pub use render::{Camera, Layers, Renderer, Rgb};
pub use stage::{Stage, label};
pub use thumbnail::{THUMBNAIL_SIZE, thumbnail};
