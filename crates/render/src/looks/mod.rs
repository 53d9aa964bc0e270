//! The looks of the built-in things, all made by code.
