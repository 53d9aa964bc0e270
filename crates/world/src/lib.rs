//! The data model of a world, and the readers and writers of its files.
//!
//! A world is loaded in two steps. The bytes of a bundle are parsed into a [`Spec`], which has the
//! same structure as the world file and can be edited. A `Spec` is compiled into a [`World`], which
//! is immutable and shared. The writers are [`sdf::write`], [`collada::write`] and [`npy::write`].
//!
//! The crate `chicane-formats` reads and writes XML, meshes and tables. This crate re-exports its
//! modules for meshes and tables. This crate has no access to disk or network, and it does not
//! depend on the physics engine or the renderer. The files of a world may be hostile, so every
//! parser has limits. Every error has a location.
//!
//! # Examples
//!
//! Read a world file, compile it, and write it back:
//!
//! ```
//! use chicane_world::{Assets, MemoryBundle, Warnings, compile, sdf};
//!
//! let text = r#"
//!     <sdf version="1.7">
//!       <world name="yard">
//!         <include><uri>model://ground_plane</uri></include>
//!         <model name="crate">
//!           <pose>1 2 0.1 0 0 0</pose>
//!           <link name="object">
//!             <collision name="collision">
//!               <geometry><box><size>0.2 0.2 0.2</size></box></geometry>
//!             </collision>
//!           </link>
//!         </model>
//!       </world>
//!     </sdf>"#;
//!
//! let mut warnings = Warnings::default();
//! let spec = sdf::read("worlds/yard.world", text.as_bytes(), &mut warnings)?;
//!
//! // Included models, meshes and pictures come from the bundle. This world needs none.
//! let bundle = MemoryBundle::default();
//! let world = compile::compile(&spec, &Assets::of(&bundle), warnings)?;
//! assert_eq!(world.objects[0].name, "crate");
//! assert_eq!(world.objects[0].origin.position.y, 2.0);
//! assert!(world.warnings.is_empty());
//!
//! let written = sdf::write(&spec);
//! assert_eq!(sdf::read("yard.world", written.as_bytes(), &mut Warnings::default())?, spec);
//! # Ok::<(), chicane_world::Error>(())
//! ```
//!
//! Load a whole bundle with its route and evaluation:
//!
//! ```
//! use chicane_world::{Assets, MemoryBundle, World};
//!
//! let mut bundle = MemoryBundle::default();
//! bundle.insert("worlds/yard.world", r#"<sdf version="1.7"><world name="yard"/></sdf>"#);
//! let world = World::load(&Assets::of(&bundle))?;
//! assert_eq!(world.name, "yard");
//! assert!(world.route.is_none());
//! # Ok::<(), chicane_world::Error>(())
//! ```
//!
//! Read the vehicle profile. An error names the file and the field:
//!
//! ```
//! use chicane_world::Profile;
//!
//! let profile = Profile::gen1();
//! assert_eq!(profile.generation, "gen1");
//! assert!(profile.wheelbase_m > profile.wheel_radius_m);
//!
//! let error = Profile::from_json("vehicles/mine.json", b"{}").unwrap_err();
//! assert!(error.to_string().starts_with("vehicles/mine.json:1:2: missing field `generation`"));
//! ```

pub mod bundle;
pub mod compile;
pub mod evaluation;
mod generations;
pub mod picture;
pub mod pose;
pub mod readings;
pub mod route;
pub mod scene;
pub mod sdf;
pub mod spec;
pub mod vehicle;
pub mod world;

pub use bundle::{Assets, Bundle, MemoryBundle};
pub use chicane_formats::{Error, SourceLocation, Warning, Warnings, collada, error, npy, obj, stl};
pub use generations::Generation;
pub use pose::Pose;
pub use route::{Bounds, Route, RouteFile};
pub use scene::WorldScene;
pub use spec::Spec;
pub use vehicle::Profile;
pub use world::World;

use chicane_formats::xml;
