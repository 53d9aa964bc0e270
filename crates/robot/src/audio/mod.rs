//! The loudspeaker: what plays, since when, how loud; and what happened to it.
//!
//! Positions and ends go by ticks, so that they are the same however fast time runs. The samples
//! themselves are played by whoever listens: a page, or a real loudspeaker.

mod decode;
mod player;

pub use decode::{Clip, DecodeError, Format, decode_while};
pub use player::{Event, Files, Kind, Player, Playing, Sound, Stream};
