//! Borrows the memory of NumPy arrays.
//!
//! A borrowed array must be contiguous and have the right element type. An array that a call fills
//! must also be writable. The buffer protocol keeps the memory of an array in place until the
//! borrow ends, also while the interpreter is released.

// Unsafe code is necessary, because the slices of `Filled` point to memory that NumPy owns.
#![allow(unsafe_code)]

use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

/// A borrowed array that a call fills; `None` for an array without elements.
pub(crate) struct Filled<T: Element>(Option<PyBuffer<T>>);

/// The name of an element type in NumPy.
pub(crate) trait Named: Element {
    const NAME: &'static str;
}

impl Named for f32 {
    const NAME: &'static str = "float32";
}

impl Named for f64 {
    const NAME: &'static str = "float64";
}

impl Named for u8 {
    const NAME: &'static str = "uint8";
}

fn borrow<T: Named>(array: &Bound<'_, PyAny>, name: &str) -> PyResult<PyBuffer<T>> {
    let wrong = || PyTypeError::new_err(format!("{name} must be a NumPy array of {}", T::NAME));
    let buffer = PyBuffer::<T>::get(array).map_err(|_| wrong())?;
    // PyO3 does not check the byte order of the numbers, so this function checks the byte order.
    let foreign = if cfg!(target_endian = "little") { [b'>', b'!'] } else { [b'<', b'<'] };
    if buffer.format().to_bytes().first().is_some_and(|order| foreign.contains(order)) {
        return Err(wrong());
    }
    if !buffer.is_c_contiguous() {
        let text = format!("{name} must be contiguous: use numpy.ascontiguousarray");
        return Err(PyValueError::new_err(text));
    }
    Ok(buffer)
}

impl<T: Named> Filled<T> {
    /// Borrows an array; `None` stands for an array without elements.
    pub(crate) fn new(array: Option<&Bound<'_, PyAny>>, name: &str) -> PyResult<Filled<T>> {
        let Some(array) = array else { return Ok(Filled(None)) };
        let buffer = borrow::<T>(array, name)?;
        if buffer.readonly() {
            return Err(PyValueError::new_err(format!("{name} is read-only: give an array to fill")));
        }
        Ok(Filled(Some(buffer)))
    }

    /// The addresses of the first byte and of the byte after the last one; `None` for an array
    /// without elements.
    fn bounds(&self) -> Option<[usize; 2]> {
        let buffer = self.0.as_ref().filter(|buffer| buffer.len_bytes() > 0)?;
        let start = buffer.buf_ptr() as usize;
        Some([start, start + buffer.len_bytes()])
    }

    /// The elements.
    ///
    /// # Safety
    ///
    /// No other borrow may overlap with this one: see [`check_apart`]. No other code may use the
    /// array as long as the slice exists. The classes of the package create the arrays for a call,
    /// and do not hand them out before the call returns.
    pub(crate) unsafe fn slice(&mut self) -> &mut [T] {
        match self.0.as_ref().filter(|buffer| buffer.item_count() > 0) {
            None => &mut [],
            // SAFETY: the buffer is contiguous, writable, aligned (`PyBuffer::get` checks this), and
            // has this number of elements. Every bit pattern is a valid number.
            Some(buffer) => unsafe {
                std::slice::from_raw_parts_mut(buffer.buf_ptr().cast::<T>(), buffer.item_count())
            },
        }
    }
}

/// Fails if two arrays share memory.
pub(crate) fn check_apart(arrays: &[(&str, Option<[usize; 2]>)]) -> PyResult<()> {
    for (i, (one, a)) in arrays.iter().enumerate() {
        for (other, b) in &arrays[..i] {
            if let (Some(a), Some(b)) = (a, b)
                && a[0] < b[1]
                && b[0] < a[1]
            {
                let text = format!("{one} and {other} share memory: give separate arrays");
                return Err(PyValueError::new_err(text));
            }
        }
    }
    Ok(())
}

/// The memory of the arrays that a call of `reset`, `step` or `observe` fills.
pub(crate) struct Outputs {
    state: Filled<f32>,
    lidar: Filled<f32>,
    camera: Filled<u8>,
    numbers: Filled<f64>,
}

impl Outputs {
    /// Borrows the four arrays: state, lidar, camera, numbers.
    pub(crate) fn new(arrays: [Option<&Bound<'_, PyAny>>; 4]) -> PyResult<Outputs> {
        let [state, lidar, camera, numbers] = arrays;
        let outputs = Outputs {
            state: Filled::new(state, "state")?,
            lidar: Filled::new(lidar, "lidar")?,
            camera: Filled::new(camera, "camera")?,
            numbers: Filled::new(numbers, "numbers")?,
        };
        check_apart(&[
            ("state", outputs.state.bounds()),
            ("lidar", outputs.lidar.bounds()),
            ("camera", outputs.camera.bounds()),
            ("numbers", outputs.numbers.bounds()),
        ])?;
        Ok(outputs)
    }

    /// The arrays as slices.
    pub(crate) fn arrays(&mut self) -> chicane_gym::Arrays<'_> {
        // SAFETY: `new` has checked that the arrays do not overlap. No other code uses the arrays
        // during the call: see `Filled::slice`.
        unsafe {
            chicane_gym::Arrays {
                state: self.state.slice(),
                lidar: self.lidar.slice(),
                camera: self.camera.slice(),
                numbers: self.numbers.slice(),
            }
        }
    }
}

/// Copies the elements of an array.
pub(crate) fn copied<T: Named + Copy>(array: &Bound<'_, PyAny>, name: &str) -> PyResult<Vec<T>> {
    borrow::<T>(array, name)?.to_vec(array.py())
}

/// Fills an array of bytes.
pub(crate) fn fill(array: &Bound<'_, PyAny>, name: &str, bytes: &[u8]) -> PyResult<()> {
    let buffer = borrow::<u8>(array, name)?;
    if buffer.readonly() || buffer.item_count() != bytes.len() {
        let text = format!("{name} must be a writable array of {} bytes", bytes.len());
        return Err(PyValueError::new_err(text));
    }
    buffer.copy_from_slice(array.py(), bytes)
}
