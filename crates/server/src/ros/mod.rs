//! The robot's topics.

pub(crate) mod bridge;
