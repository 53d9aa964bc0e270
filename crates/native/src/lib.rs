//! The Python module `chicane.native`: training environments inside the Python process.
//!
//! This crate is a thin layer: it converts arguments, borrows the memory of NumPy arrays through the
//! buffer protocol, and releases the interpreter while a batch works. The environments are in the
//! crate `gym`. The classes that users see are in the Python package, which imports this module.
#![allow(clippy::disallowed_methods)]

mod arguments;
mod batch;
mod memory;
mod worlds;

use pyo3::prelude::*;

/// Training environments inside the Python process. Use `chicane.gym`, which uses this module.
#[pymodule]
mod native {
    use super::*;

    #[pymodule_export]
    use super::batch::Batch;

    /// Names of the built-in worlds.
    #[pyfunction]
    fn worlds() -> Vec<String> {
        super::worlds::names()
    }

    /// Whether `Batch` can load a world: a built-in one, or a folder with a world.
    #[pyfunction]
    fn knows(world: &str) -> bool {
        super::worlds::knows(world)
    }

    /// The angle of a vector, with the same bits on every machine.
    #[pyfunction]
    #[pyo3(signature = (y, x, /))]
    fn atan2(y: f64, x: f64) -> f64 {
        libm::atan2(y, x)
    }

    /// The sine of an angle, with the same bits on every machine.
    #[pyfunction]
    #[pyo3(signature = (angle, /))]
    fn sin(angle: f64) -> f64 {
        libm::sin(angle)
    }

    /// The cosine of an angle, with the same bits on every machine.
    #[pyfunction]
    #[pyo3(signature = (angle, /))]
    fn cos(angle: f64) -> f64 {
        libm::cos(angle)
    }

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("NUMBERS", chicane_gym::Numbers::NAMES.to_vec())?;
        module.add("ENDS", chicane_gym::Numbers::ENDS.to_vec())?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
