//! Parses elements whose text is a list of numbers, and `<source>` elements.

use crate::error::Error;
use crate::xml::{Document, Element, excerpt};
use std::str::FromStr;

/// Parses the text of an element as finite numbers.
pub(super) fn floats<T: Number>(doc: &Document<'_>, e: &Element) -> Result<Vec<T>, Error> {
    let bad = |i: usize, word: &str, what: &str| {
        doc.error(e, format!("number {} of <{}> is {what}: '{}'", i + 1, excerpt(&e.name), excerpt(word)))
    };
    let mut numbers = Vec::new();
    for (i, word) in e.text.split_ascii_whitespace().enumerate() {
        let number = word.parse::<T>().map_err(|_| bad(i, word, "not a number"))?;
        if !number.is_finite() {
            return Err(bad(i, word, "not finite"));
        }
        numbers.push(number);
    }
    Ok(numbers)
}

/// Parses the text of an element as `N` finite numbers. Any other count is an error.
pub(super) fn exactly<const N: usize>(doc: &Document<'_>, e: &Element) -> Result<[f64; N], Error> {
    let numbers = floats(doc, e)?;
    numbers
        .try_into()
        .map_err(|n: Vec<f64>| doc.error(e, format!("<{}> needs {N} numbers, found {}", e.name, n.len())))
}

/// Parses the text of an element as unsigned integers.
pub(super) fn indices(doc: &Document<'_>, e: &Element) -> Result<Vec<u32>, Error> {
    e.text
        .split_ascii_whitespace()
        .enumerate()
        .map(|(i, word)| {
            word.parse().map_err(|_| {
                let name = excerpt(&e.name);
                doc.error(e, format!("number {} of <{name}> is not an index: '{}'", i + 1, excerpt(word)))
            })
        })
        .collect()
}

/// The float types that `floats` can parse.
pub(super) trait Number: FromStr + Copy {
    fn is_finite(self) -> bool;
}

impl Number for f32 {
    fn is_finite(self) -> bool {
        f32::is_finite(self)
    }
}

impl Number for f64 {
    fn is_finite(self) -> bool {
        f64::is_finite(self)
    }
}

/// The id in a reference to an element of the same file (`#id`). The result is `None` if the
/// reference is to another file.
pub(super) fn local(reference: &str) -> Option<&str> {
    reference.trim().strip_prefix('#')
}

/// Reads a `<source>` as vectors of `N` numbers.
pub(super) fn vectors<const N: usize>(doc: &Document<'_>, source: &Element) -> Result<Vec<[f32; N]>, Error> {
    let Some(array) = source.child("float_array") else {
        return Err(doc.error(source, "<source> has no <float_array>"));
    };
    let numbers = floats::<f32>(doc, array)?;
    let accessor = source.path(&["technique_common", "accessor"]);
    let attribute = |name: &str, default: usize| match accessor.and_then(|a| a.attribute(name)) {
        None => Ok(default),
        Some(text) => text.trim().parse::<usize>().map_err(|_| {
            doc.error(accessor.unwrap_or(source), format!("bad {name} '{}' of an accessor", excerpt(text)))
        }),
    };
    let at = accessor.unwrap_or(source);
    let params = accessor.map_or(0, |a| a.all("param").count());
    let (stride, offset) =
        (attribute("stride", if params > 0 { params } else { N })?, attribute("offset", 0)?);
    let columns = components::<N>(accessor, stride)
        .ok_or_else(|| doc.error(at, format!("a stride of {stride} is too small for vectors of {N}")))?;
    // Compare `count` with the data, because the file may contain a wrong count.
    let available = numbers.len().saturating_sub(offset) / stride.max(1);
    let count = attribute("count", available)?;
    if count > available {
        let message = format!("accessor has a count of {count}, but its array has {available} vectors");
        return Err(doc.error(at, message));
    }
    Ok((0..count).map(|i| columns.map(|c| positive_zero(numbers[offset + i * stride + c]))).collect())
}

/// Turns −0 into +0, so that equal vertices have equal bits.
pub(super) fn positive_zero(number: f32) -> f32 {
    number + 0.0
}

/// The columns of an accessor that form a vector. These are the columns of the first `N` params
/// that have a name. If fewer params have a name, these are the first `N` columns. The result is
/// `None` if a column is outside the stride.
fn components<const N: usize>(accessor: Option<&Element>, stride: usize) -> Option<[usize; N]> {
    let named = accessor.into_iter().flat_map(|a| a.all("param").enumerate());
    let named: Vec<usize> = named
        .filter(|(_, p)| p.attribute("name").is_some_and(|n| !n.is_empty()))
        .map(|(i, _)| i)
        .take(N)
        .collect();
    let mut columns = std::array::from_fn(|i| i);
    if let Ok(named) = <[usize; N]>::try_from(named) {
        columns = named;
    }
    columns.iter().all(|&c| c < stride).then_some(columns)
}
