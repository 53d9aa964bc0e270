//! Renders worlds on the CPU: turns a world and a camera pose into pixels.
//!
//! The crate is pure: it uses no clock, file or window. The same input gives the same bytes on
//! every machine and with any number of threads.
//!
//! [`Stage::new`] decodes the textures and meshes of a world once. A [`Renderer`] then draws
//! pictures of that stage. A [`Moment`] gives the poses of the car and the objects for each
//! picture.
//!
//! ```
//! use chicane_render::looks::Lamp;
//! use chicane_render::{CarMoment, Moment, Renderer, Stage};
//! use chicane_world::Profile;
//! use std::sync::Arc;
//!
//! let world = chicane_testkit::shipped_world("oval");
//! let stage = Arc::new(Stage::new(&world, Arc::new(Profile::gen1())));
//! let mut renderer = Renderer::new(stage);
//!
//! let moment = Moment {
//!     car: CarMoment { pose: world.spawn, ..CarMoment::default() },
//!     objects: world.objects.iter().map(|object| object.origin).collect(),
//!     lamps: world.lights().map(|(index, _)| (index, Lamp::Red)).collect(),
//! };
//! // The seed and the frame number select the sensor noise.
//! let picture = renderer.on_board(&moment, [160, 120], 7, 0);
//! assert_eq!(picture.bytes.len(), 160 * 120 * 3);
//! assert_eq!(picture, renderer.on_board(&moment, [160, 120], 7, 0));
//! ```
//!
//! A [`Print`] shows the floor of a world from above, to scale. The JPEG file of a print is written
//! strip by strip, because a large print does not fit into memory:
//!
//! ```
//! use chicane_render::Print;
//!
//! let world = chicane_testkit::shipped_world("oval");
//! let print = Print::new(&world, 5).expect("the oval has a floor");
//! // The field of the oval is 8 m by 6 m, and 5 dpi are 5 pixels per 25.4 mm.
//! assert_eq!((print.width(), print.height()), (1575, 1181));
//!
//! let mut file = Vec::new();
//! print.write_jpeg(&mut file).expect("a Vec accepts every write");
//! assert!(file.starts_with(&[0xff, 0xd8]));
//! ```

mod decode;
pub mod glb;
pub mod image;
mod instructions;
mod jpeg;
mod lens;
pub mod looks;
mod moment;
mod noise;
mod print;
mod raster;
mod render;
mod simd;
mod stage;
mod texture;
mod thumbnail;

pub use image::Image;
pub use instructions::Instructions;
pub use jpeg::{Jpeg, JpegError};
pub use lens::Optics;
pub use moment::{CarMoment, Moment};
pub use print::{MAX_SIDE as MAX_PRINT_SIDE, Print, PrintError, STRIP_ROWS};
pub use render::{Camera, Layers, Renderer, Rgb};
pub use stage::{Stage, label};
pub use thumbnail::{THUMBNAIL_SIZE, thumbnail};
