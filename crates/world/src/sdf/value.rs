//! Readers for the values of SDF elements: numbers, flags, names and poses. Each error has a
//! location, and its message says which value is expected.

use super::{MAX_METRES, MAX_NAME};
use crate::error::{Error, Warnings};
use crate::pose::rpy_from_quat;
use crate::spec::PoseSpec;
use crate::xml::{Document, Element, excerpt};
use glam::DQuat;
use std::collections::BTreeSet;

/// Elements that SDF defines, and that Chicane ignores everywhere or in some places. For example, a
/// `light` is read in a world, but not in a link. The warning for an ignored element of this list
/// does not call it "unknown".
const UNSUPPORTED: &[&str] = &[
    "actor",
    "audio_sink",
    "audio_source",
    "battery",
    "gripper",
    "joint",
    "joint_state",
    "light",
    "particle_emitter",
    "population",
    "projector",
    "road",
    "sensor",
    "state",
];

/// Maximum length of a URI or of a reference to another element, in bytes.
pub(super) const MAX_REFERENCE: usize = 4096;

/// Reads the elements of one SDF document. The methods are in several modules of `sdf`.
pub(super) struct SdfReader<'a> {
    pub(super) doc: &'a Document<'a>,
    pub(super) warnings: &'a mut Warnings,
}

impl SdfReader<'_> {
    pub(super) fn fail<T>(&self, e: &Element, message: impl Into<String>) -> Result<T, Error> {
        Err(self.doc.error(e, message))
    }

    pub(super) fn warn(&mut self, e: &Element, message: impl Into<String>) {
        let doc = self.doc;
        self.warnings.add(message, || doc.location(e));
    }

    /// Adds a warning for every child whose name is neither in `handled` nor in `harmless`.
    /// Children in `handled` are read elsewhere. Children in `harmless` are ignored without a
    /// warning.
    pub(super) fn warn_of_others(&mut self, parent: &Element, handled: &[&str], harmless: &[&str]) {
        for child in &parent.children {
            let name = child.name.as_str();
            if handled.contains(&name) || harmless.contains(&name) {
                continue;
            }
            let message = if name == "plugin" {
                let file = child.attribute("filename").or(child.attribute("name")).unwrap_or("");
                format!("plugin \"{}\" is ignored", excerpt(file))
            } else if UNSUPPORTED.contains(&name) {
                format!("<{name}> in <{}> is ignored", parent.name)
            } else {
                format!("unknown element <{}> in <{}> is ignored", excerpt(name), parent.name)
            };
            self.warn(child, message);
        }
    }

    /// Reads exactly `N` finite numbers.
    pub(super) fn numbers<const N: usize>(&self, e: &Element) -> Result<[f64; N], Error> {
        let mut out = [0.0; N];
        let mut found = 0;
        for word in e.text.split_whitespace() {
            if found < N {
                out[found] = self.number_of(e, word)?;
            }
            found += 1;
        }
        if found != N {
            let s = if N == 1 { "" } else { "s" };
            return self.fail(e, format!("<{}> needs {N} number{s}, found {found}", e.name));
        }
        Ok(out)
    }

    pub(super) fn number(&self, e: &Element) -> Result<f64, Error> {
        self.numbers::<1>(e).map(|[x]| x)
    }

    fn number_of(&self, e: &Element, word: &str) -> Result<f64, Error> {
        match word.parse::<f64>() {
            Ok(x) if x.is_finite() => Ok(x),
            Ok(_) => self.fail(e, format!("<{}> needs finite numbers, found \"{}\"", e.name, excerpt(word))),
            Err(_) => self.fail(e, format!("<{}> needs numbers, found \"{}\"", e.name, excerpt(word))),
        }
    }

    /// Reads exactly `N` lengths from 0 to `MAX_METRES`. Zero is allowed, because some shapes are
    /// flat.
    pub(super) fn lengths<const N: usize>(&self, e: &Element) -> Result<[f64; N], Error> {
        let out = self.numbers::<N>(e)?;
        for x in out {
            if x < 0.0 {
                return self.fail(e, format!("<{}> needs numbers of at least 0, found {x}", e.name));
            }
            if x > MAX_METRES {
                return self.fail(e, format!("<{}> of {x} m is larger than {MAX_METRES} m", e.name));
            }
        }
        Ok(out)
    }

    /// Returns a child element. The result is an error if the child is missing.
    pub(super) fn required<'e>(&self, parent: &'e Element, name: &str) -> Result<&'e Element, Error> {
        parent
            .child(name)
            .ok_or_else(|| self.doc.error(parent, format!("<{}> needs a <{name}>", parent.name)))
    }

    /// Reads a colour of three numbers (RGB) or four numbers (RGBA).
    pub(super) fn colour(&self, e: &Element) -> Result<[f64; 4], Error> {
        if e.text.split_whitespace().count() == 3 {
            let [r, g, b] = self.numbers::<3>(e)?;
            return Ok([r, g, b, 1.0]);
        }
        self.numbers::<4>(e)
    }

    pub(super) fn optional_colour(&self, parent: &Element, name: &str) -> Result<Option<[f64; 4]>, Error> {
        parent.child(name).map(|e| self.colour(e)).transpose()
    }

    pub(super) fn flag(&self, e: &Element) -> Result<bool, Error> {
        match e.text.as_str() {
            "1" | "true" | "True" | "TRUE" => Ok(true),
            "0" | "false" | "False" | "FALSE" => Ok(false),
            other => self.fail(e, format!("<{}> needs true or false, found \"{}\"", e.name, excerpt(other))),
        }
    }

    pub(super) fn optional_flag(&self, parent: &Element, name: &str) -> Result<Option<bool>, Error> {
        parent.child(name).map(|e| self.flag(e)).transpose()
    }

    /// Reads the `name` attribute. The result is an error if the name is missing or empty.
    pub(super) fn name(&self, e: &Element) -> Result<String, Error> {
        match e.attribute("name") {
            None | Some("") => self.fail(e, format!("<{}> needs a name", e.name)),
            Some(name) => self.checked_name(e, name),
        }
    }

    /// Checks that a name is not too long and has no control characters.
    pub(super) fn checked_name(&self, e: &Element, name: &str) -> Result<String, Error> {
        if name.len() > 4 * MAX_NAME || name.chars().count() > MAX_NAME {
            return self.fail(e, format!("name \"{}\" is longer than {MAX_NAME} characters", excerpt(name)));
        }
        if name.chars().any(char::is_control) {
            return self.fail(e, format!("name \"{}\" contains a control character", excerpt(name)));
        }
        Ok(name.to_owned())
    }

    /// Reads an optional attribute that refers to another element. The result is empty if the
    /// attribute is missing.
    pub(super) fn reference(&self, e: &Element, attribute: &str) -> Result<String, Error> {
        // A reference may be longer than `MAX_NAME`, because a scoped name (`a::b::c`) consists of
        // several names.
        let name = e.attribute(attribute).unwrap_or("");
        if name.len() > MAX_REFERENCE || name.chars().any(char::is_control) {
            return self.fail(e, format!("{attribute} \"{}\" is not a name", excerpt(name)));
        }
        Ok(name.to_owned())
    }

    /// Reads the text of an element that refers to a file, a submesh or a script material. The
    /// length of the text is limited, because the compiler of this crate copies such texts into
    /// many cache keys.
    pub(super) fn bounded(&self, e: &Element) -> Result<String, Error> {
        if e.text.len() > MAX_REFERENCE {
            return self.fail(e, format!("<{}> is longer than {MAX_REFERENCE} bytes", e.name));
        }
        Ok(e.text.clone())
    }

    /// Reads the `<pose>` of an element. The result is the zero pose if there is no `<pose>`.
    pub(super) fn pose(&self, parent: &Element) -> Result<PoseSpec, Error> {
        parent.child("pose").map_or(Ok(PoseSpec::default()), |e| self.pose_at(e))
    }

    /// Reads a `<pose>` element.
    pub(super) fn pose_at(&self, e: &Element) -> Result<PoseSpec, Error> {
        let relative_to = match (e.attribute("relative_to"), e.attribute("frame")) {
            (Some(_), _) => self.reference(e, "relative_to")?,
            // Before SDF 1.7, the attribute was called `frame`, and its value `world` meant the
            // default frame.
            (None, Some("world") | None) => String::new(),
            (None, Some(_)) => self.reference(e, "frame")?,
        };
        let (xyz, rpy) = if e.text.is_empty() { Default::default() } else { self.pose_numbers(e)? };
        if xyz.iter().any(|x| x.abs() > MAX_METRES) {
            return self.fail(e, format!("<pose> is farther than {MAX_METRES} m from its reference"));
        }
        Ok(PoseSpec { xyz, rpy, relative_to })
    }

    fn pose_numbers(&self, e: &Element) -> Result<([f64; 3], [f64; 3]), Error> {
        match e.attribute("rotation_format") {
            None | Some("euler_rpy") => {}
            Some("quat_xyzw") => {
                let [x, y, z, qx, qy, qz, qw] = self.numbers::<7>(e)?;
                let q = DQuat::from_xyzw(qx, qy, qz, qw);
                // The length should be 1, and the division below corrects a deviation. A length
                // outside these limits is refused, because the file is then probably wrong.
                let length = q.length();
                if !(1e-6..1e6).contains(&length) {
                    return self.fail(e, "<pose> needs a quaternion of length 1");
                }
                return Ok(([x, y, z], rpy_from_quat(q / length)));
            }
            Some(other) => {
                return self.fail(
                    e,
                    format!("rotation_format must be euler_rpy or quat_xyzw, found \"{}\"", excerpt(other)),
                );
            }
        }
        let [x, y, z, mut roll, mut pitch, mut yaw] = self.numbers::<6>(e)?;
        if matches!(e.attribute("degrees"), Some("true" | "1" | "True" | "TRUE")) {
            [roll, pitch, yaw] = [roll, pitch, yaw].map(f64::to_radians);
        }
        Ok(([x, y, z], [roll, pitch, yaw]))
    }

    /// Adds a warning if siblings have the same name, because a reference with this name refers
    /// only to the first of these siblings.
    pub(super) fn warn_of_duplicates<'n>(
        &mut self,
        e: &Element,
        what: &str,
        names: impl Iterator<Item = &'n str>,
    ) {
        let mut seen = BTreeSet::new();
        for name in names {
            if !seen.insert(name) {
                let owner = e.attribute("name").unwrap_or("");
                let message = format!("\"{}\" has two {what} named \"{}\"", excerpt(owner), excerpt(name));
                self.warn(e, message);
            }
        }
    }
}
