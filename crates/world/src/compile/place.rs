//! Places of errors that are found only after a file was read: a `Spec` keeps no lines, so the
//! file is looked through once more for the element that is meant.

use super::tree::Tree;
use crate::error::Place;
use crate::xml::{Document, Element, MAX_SDF};

/// What an error is about.
#[derive(Debug, Clone, Copy)]
pub(super) enum Sought<'s> {
    /// Whatever refers to a frame of this name.
    Reference(&'s str),
    /// What has this name.
    Named(&'s str),
    /// An include of this URI.
    Include(&'s str),
}

impl Tree<'_> {
    /// Where something in a scope is written; the file as a whole if it is not found.
    pub(super) fn place(&self, scope: usize, sought: Sought<'_>) -> Place {
        let scope = &self.scopes[scope];
        let bytes = self.assets.read(scope.file).map(|(_, bytes)| bytes);
        bytes
            .as_deref()
            .and_then(|bytes| {
                let doc = Document::parse(scope.file, bytes, MAX_SDF).ok()?;
                let model = scope.model.map(|m| m.name.as_str());
                Some(doc.place(find(&doc.root, None, model, sought)?))
            })
            .unwrap_or_else(|| Place::file(scope.file))
    }
}

/// The first element that is meant, in a model of this name or, without one, in none. The depth
/// of the document bounds the recursion.
fn find<'e>(
    e: &'e Element,
    around: Option<&str>,
    model: Option<&str>,
    sought: Sought<'_>,
) -> Option<&'e Element> {
    let own = if e.name == "model" { e.attribute("name") } else { None };
    let meant = if around == model || (model.is_some() && own == model) { meant(e, sought) } else { None };
    meant.or_else(|| e.children.iter().find_map(|child| find(child, own.or(around), model, sought)))
}

/// The element, or the one in it, that is meant.
fn meant<'e>(e: &'e Element, sought: Sought<'_>) -> Option<&'e Element> {
    match sought {
        Sought::Named(name) => {
            let is = e.attribute("name") == Some(name)
                || (e.name == "include" && e.child("name").is_some_and(|n| n.text == name));
            is.then_some(e)
        }
        Sought::Include(uri) => {
            (e.name == "include" && e.child("uri").is_some_and(|u| u.text == uri)).then_some(e)
        }
        Sought::Reference(name) => {
            let has = |e: &Element, attribute: &str| e.attribute(attribute) == Some(name);
            let says = |child: &&Element| child.text == name;
            let pose = e.child("pose").filter(|p| has(p, "relative_to") || has(p, "frame"));
            let child = e.child("child").filter(says).or(e.child("placement_frame").filter(says));
            let own = (has(e, "attached_to") || has(e, "placement_frame")).then_some(e);
            pose.or(child).or(own)
        }
    }
}
