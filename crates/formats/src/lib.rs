//! Readers and writers of the file formats that worlds consist of: XML, the meshes COLLADA, STL and
//! OBJ, and NumPy tables. Errors and warnings name the file. If they are about a place in a text,
//! they also have a line and a column.
//!
//! This crate has no access to disk or network. The files may be hostile, so every parser has
//! limits.
//!
//! # Examples
//!
//! Read a mesh. An error names the file and the position:
//!
//! ```
//! use chicane_formats::{Warnings, stl};
//!
//! let text = "solid ramp
//!     facet normal 0 0 1
//!       outer loop
//!         vertex 0 0 0
//!         vertex 1 0 0
//!         vertex 0 1 0
//!       endloop
//!     endfacet
//!     endsolid ramp";
//! let model = stl::read("meshes/ramp.stl", text.as_bytes(), &mut Warnings::default())?;
//! assert_eq!(model.parts[0].positions.len(), 3);
//!
//! let error = stl::read("meshes/ramp.stl", b"", &mut Warnings::default()).unwrap_err();
//! assert_eq!(error.location.file, "meshes/ramp.stl");
//! # Ok::<(), chicane_formats::Error>(())
//! ```

pub mod collada;
pub mod error;
pub mod npy;
pub mod obj;
pub mod percent;
pub mod stl;
pub mod xml;

pub use error::{Error, SourceLocation, Warning, Warnings};
