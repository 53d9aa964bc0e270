//! Finds the location of an error that is detected after the file was parsed.
//!
//! A `Spec` has no line numbers. This module therefore parses the file again after such an error,
//! and searches for the element that caused the error.

use crate::bundle::Assets;
use crate::error::SourceLocation;
use crate::xml::{Document, Element, MAX_SDF};

/// The element that an error is about.
#[derive(Debug, Clone, Copy)]
pub(super) enum ErrorSubject<'s> {
    /// The first element that refers to a frame with this name.
    Reference(&'s str),
    /// The first element with this name.
    Named(&'s str),
    /// The first include with this URI.
    Include(&'s str),
}

/// The location of an element in the model `model` of `file`. If `model` is `None`, the element is
/// outside of all models. If the element is not found, the location is the file as a whole.
pub(super) fn locate(
    assets: &Assets<'_>,
    file: &str,
    model: Option<&str>,
    subject: ErrorSubject<'_>,
) -> SourceLocation {
    let bytes = assets.read(file).map(|(_, bytes)| bytes);
    bytes
        .as_deref()
        .and_then(|bytes| {
            let doc = Document::parse(file, bytes, MAX_SDF).ok()?;
            Some(doc.location(find(&doc.root, None, model, subject)?))
        })
        .unwrap_or_else(|| SourceLocation::file(file))
}

/// Searches `e` and its descendants for the subject of an error. `around` is the name of the model
/// that encloses `e`; `None` if no model encloses `e`. The recursion is limited by
/// `xml::MAX_DEPTH`.
fn find<'e>(
    e: &'e Element,
    around: Option<&str>,
    model: Option<&str>,
    subject: ErrorSubject<'_>,
) -> Option<&'e Element> {
    let own = if e.name == "model" { e.attribute("name") } else { None };
    let in_model = around == model || (model.is_some() && own == model);
    let matched = if in_model { matching(e, subject) } else { None };
    matched.or_else(|| e.children.iter().find_map(|child| find(child, own.or(around), model, subject)))
}

/// Returns the subject of the error if it is `e` or a child of `e`. Otherwise the result is `None`.
fn matching<'e>(e: &'e Element, subject: ErrorSubject<'_>) -> Option<&'e Element> {
    match subject {
        ErrorSubject::Named(name) => {
            let matches = e.attribute("name") == Some(name)
                || (e.name == "include" && e.child("name").is_some_and(|n| n.text == name));
            matches.then_some(e)
        }
        ErrorSubject::Include(uri) => {
            (e.name == "include" && e.child("uri").is_some_and(|u| u.text == uri)).then_some(e)
        }
        ErrorSubject::Reference(name) => {
            let has = |e: &Element, attribute: &str| e.attribute(attribute) == Some(name);
            let has_text = |child: &&Element| child.text == name;
            let pose = e.child("pose").filter(|p| has(p, "relative_to") || has(p, "frame"));
            let child = e.child("child").filter(has_text).or(e.child("placement_frame").filter(has_text));
            let own = (has(e, "attached_to") || has(e, "placement_frame")).then_some(e);
            pose.or(child).or(own)
        }
    }
}
