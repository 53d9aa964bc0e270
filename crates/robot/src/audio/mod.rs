//! The audio player: the sounds that are playing, their start and volume, and the events for
//! clients. [`decode_while`] checks an audio file before it is played.
//!
//! The positions and ends of sounds are computed from ticks, so they do not depend on the speed of
//! the simulation. A client, for example a web page, plays the samples.

mod decode;
mod player;

pub use decode::{Clip, DecodeError, Format, decode_while};
pub use player::{AudioEvent, Files, Player, Playing, Sound, SoundSource, Stream};
