//! Readers for world files, model files and the elements down to links and joints.

use super::value::{MAX_REFERENCE, SdfReader};
use super::{NEWEST, OLDEST, minor_version};
use crate::error::{Error, Warnings};
use crate::spec::{
    FrameSpec, IncludeSpec, JointSpec, LightSpec, LinkSpec, ModelSpec, SceneSpec, SdfEntry, Spec,
};
use crate::xml::{Document, Element, MAX_SDF, excerpt};
use std::collections::BTreeSet;

/// The SDF version that is assumed if a file has no valid version.
const ASSUMED_VERSION: &str = "1.6";

/// Maximum absolute value of gravity along each axis, in m/s².
const MAX_GRAVITY: f64 = 1e3;

/// Reads a world file.
pub fn read(file: &str, bytes: &[u8], warnings: &mut Warnings) -> Result<Spec, Error> {
    let doc = Document::parse(file, bytes, MAX_SDF)?;
    doc.warn_of_tolerated(warnings);
    let mut reader = SdfReader { doc: &doc, warnings };
    let version = reader.version()?;
    let root = &doc.root;
    reader.warn_of_others(root, &["world"], &[]);
    let mut worlds = root.all("world");
    let Some(world) = worlds.next() else {
        return reader.fail(root, "no <world> in the file");
    };
    if let Some(second) = worlds.next() {
        reader.warn(second, "more than one <world>: only the first is used");
    }
    reader.world(world, version)
}

/// Reads a model file.
pub fn read_model(file: &str, bytes: &[u8], warnings: &mut Warnings) -> Result<ModelSpec, Error> {
    model_in(file, bytes, warnings)?
}

/// Reads the file of an include. The result is `None` if the file has no model. A missing model is
/// not an error, because the file may define a light instead.
pub(crate) fn read_included(
    file: &str,
    bytes: &[u8],
    warnings: &mut Warnings,
) -> Result<Option<ModelSpec>, Error> {
    model_in(file, bytes, warnings).map(Result::ok)
}

/// Reads the model of a file. If the file has no model, the inner result is an error. All other
/// errors are in the outer result.
fn model_in(file: &str, bytes: &[u8], warnings: &mut Warnings) -> Result<Result<ModelSpec, Error>, Error> {
    let doc = Document::parse(file, bytes, MAX_SDF)?;
    doc.warn_of_tolerated(warnings);
    let mut reader = SdfReader { doc: &doc, warnings };
    reader.version()?;
    let root = &doc.root;
    reader.warn_of_others(root, &["model"], &[]);
    let mut models = root.all("model");
    let Some(model) = models.next() else {
        return Ok(reader.fail(root, "no <model> in the file"));
    };
    if let Some(second) = models.next() {
        reader.warn(second, "more than one <model>: only the first is used");
    }
    reader.model(model).map(Ok)
}

impl SdfReader<'_> {
    fn version(&mut self) -> Result<String, Error> {
        let root = &self.doc.root;
        if root.name != "sdf" {
            return self
                .fail(root, format!("the root element must be <sdf>, found <{}>", excerpt(&root.name)));
        }
        let Some(version) = root.attribute("version") else {
            self.warn(root, format!("<sdf> has no version: {ASSUMED_VERSION} is assumed"));
            return Ok(ASSUMED_VERSION.to_owned());
        };
        match minor_version(version) {
            Some(OLDEST..=NEWEST) => Ok(version.trim().to_owned()),
            Some(_) => {
                let message = format!(
                    "SDF {} is not supported (1.{OLDEST} to 1.{NEWEST}): some elements may be ignored",
                    version.trim()
                );
                self.warn(root, message);
                Ok(version.trim().to_owned())
            }
            None => {
                let message =
                    format!("unknown SDF version \"{}\": {ASSUMED_VERSION} is assumed", excerpt(version));
                self.warn(root, message);
                Ok(ASSUMED_VERSION.to_owned())
            }
        }
    }

    fn world(&mut self, e: &Element, version: String) -> Result<Spec, Error> {
        self.warn_of_others(
            e,
            &["gravity", "physics", "scene", "frame", "model", "include", "light"],
            &["gui", "magnetic_field", "atmosphere", "wind", "audio", "spherical_coordinates"],
        );
        // Up to SDF 1.5, <gravity> was a child of <physics>.
        let gravity = e.child("gravity").or(e.path(&["physics", "gravity"]));
        let mut spec = Spec {
            version,
            name: self.name(e)?,
            gravity: gravity.map(|g| self.gravity(g)).transpose()?,
            scene: e.child("scene").map_or(Ok(SceneSpec::default()), |s| self.scene(s))?,
            ..Spec::default()
        };
        let mut marked = BTreeSet::new();
        for child in &e.children {
            match child.name.as_str() {
                "frame" => spec.frames.push(self.frame(child)?),
                "model" => {
                    let model = self.model(child)?;
                    if model.marker().is_some() && !marked.insert(model.name.clone()) {
                        let message = format!("a second object is named \"{}\"", excerpt(&model.name));
                        return self.fail(child, message + ": names of objects must be unique");
                    }
                    spec.entries.push(SdfEntry::Model(model));
                }
                "include" => spec.entries.push(SdfEntry::Include(self.include(child, false)?)),
                "light" => spec.entries.push(SdfEntry::Light(self.light(child)?)),
                _ => {}
            }
        }
        self.warn_of_duplicates(e, "frames", spec.frames.iter().map(|f| f.name.as_str()));
        Ok(spec)
    }

    fn gravity(&self, e: &Element) -> Result<[f64; 3], Error> {
        let gravity = self.numbers::<3>(e)?;
        if gravity.iter().any(|g| g.abs() > MAX_GRAVITY) {
            return self.fail(e, format!("<gravity> is stronger than {MAX_GRAVITY} m/s²"));
        }
        Ok(gravity)
    }

    fn scene(&mut self, e: &Element) -> Result<SceneSpec, Error> {
        self.warn_of_others(
            e,
            &["ambient", "background"],
            &["sky", "shadows", "fog", "grid", "origin_visual", "shadow_caster_material_name"],
        );
        Ok(SceneSpec {
            ambient: self.optional_colour(e, "ambient")?,
            background: self.optional_colour(e, "background")?,
        })
    }

    fn light(&mut self, e: &Element) -> Result<LightSpec, Error> {
        self.warn_of_others(
            e,
            &["pose", "diffuse", "direction", "cast_shadows", "intensity"],
            &["specular", "attenuation", "spot", "light_on", "visualize"],
        );
        Ok(LightSpec {
            name: self.name(e)?,
            kind: self.reference(e, "type")?,
            pose: self.pose(e)?,
            diffuse: self.optional_colour(e, "diffuse")?,
            direction: e.child("direction").map(|d| self.numbers(d)).transpose()?,
            cast_shadows: self.optional_flag(e, "cast_shadows")?,
            intensity: e.child("intensity").map(|i| self.intensity(i)).transpose()?,
        })
    }

    fn intensity(&self, e: &Element) -> Result<f64, Error> {
        let intensity = self.number(e)?;
        if intensity < 0.0 {
            return self.fail(e, format!("<intensity> needs a number of at least 0, found {intensity}"));
        }
        Ok(intensity)
    }

    fn frame(&mut self, e: &Element) -> Result<FrameSpec, Error> {
        self.warn_of_others(e, &["pose"], &[]);
        Ok(FrameSpec {
            name: self.name(e)?,
            attached_to: self.reference(e, "attached_to")?,
            pose: self.pose(e)?,
        })
    }

    fn include(&mut self, e: &Element, in_model: bool) -> Result<IncludeSpec, Error> {
        self.warn_of_others(
            e,
            &["uri", "name", "pose", "static", "placement_frame"],
            &["cast_shadows", "attenuation"],
        );
        let merge = e.attribute("merge").is_some_and(|m| m == "true" || m == "1");
        if merge && !in_model {
            self.warn(e, "the merge attribute of an <include> outside a model is ignored");
        }
        let uri = self.required(e, "uri")?;
        if uri.text.is_empty() || uri.text.len() > MAX_REFERENCE {
            return self.fail(uri, "the <uri> of an <include> must be a path such as model://name");
        }
        let name = match e.child("name") {
            Some(n) if !n.text.is_empty() => Some(self.checked_name(n, &n.text)?),
            _ => None,
        };
        let placement = e.child("placement_frame");
        Ok(IncludeSpec {
            uri: uri.text.clone(),
            name,
            pose: self.optional_pose(e)?,
            placement_frame: placement.map_or(Ok(String::new()), |p| self.checked_name(p, &p.text))?,
            is_static: self.optional_flag(e, "static")?,
            merge: merge && in_model,
        })
    }

    /// Reads a model with its nested models. The recursion is limited by `xml::MAX_DEPTH`.
    fn model(&mut self, e: &Element) -> Result<ModelSpec, Error> {
        self.warn_of_others(
            e,
            &["pose", "static", "link", "joint", "frame", "model", "include"],
            &["self_collide", "allow_auto_disable", "enable_wind"],
        );
        let mut model = ModelSpec {
            name: self.name(e)?,
            pose: self.pose(e)?,
            placement_frame: self.reference(e, "placement_frame")?,
            canonical_link: self.reference(e, "canonical_link")?,
            is_static: self.optional_flag(e, "static")?.unwrap_or(false),
            ..ModelSpec::default()
        };
        for child in &e.children {
            match child.name.as_str() {
                "link" => model.links.push(self.link(child)?),
                "joint" => model.joints.push(self.joint(child)?),
                "frame" => model.frames.push(self.frame(child)?),
                "model" => model.models.push(self.model(child)?),
                "include" => model.includes.push(self.include(child, true)?),
                _ => {}
            }
        }
        self.warn_of_duplicates(e, "links", model.links.iter().map(|l| l.name.as_str()));
        self.warn_of_duplicates(e, "joints", model.joints.iter().map(|j| j.name.as_str()));
        self.warn_of_duplicates(e, "frames", model.frames.iter().map(|f| f.name.as_str()));
        self.warn_of_duplicates(e, "models", model.models.iter().map(|m| m.name.as_str()));
        Ok(model)
    }

    fn link(&mut self, e: &Element) -> Result<LinkSpec, Error> {
        self.warn_of_others(
            e,
            &["pose", "inertial", "collision", "visual"],
            &["gravity", "enable_wind", "self_collide", "kinematic", "must_be_base_link", "velocity_decay"],
        );
        let mut link = LinkSpec {
            name: self.name(e)?,
            pose: self.pose(e)?,
            inertial: e.child("inertial").map(|i| self.inertial(i)).transpose()?,
            ..LinkSpec::default()
        };
        for child in &e.children {
            match child.name.as_str() {
                "collision" => link.collisions.push(self.collision(child)?),
                "visual" => link.visuals.push(self.visual(child)?),
                _ => {}
            }
        }
        Ok(link)
    }

    fn joint(&mut self, e: &Element) -> Result<JointSpec, Error> {
        self.warn_of_others(
            e,
            &["pose", "parent", "child"],
            &[
                "axis",
                "axis2",
                "physics",
                "gearbox_ratio",
                "gearbox_reference_body",
                "thread_pitch",
                "screw_thread_pitch",
            ],
        );
        // The text of these elements is the name of a link. Since SDF 1.7, it may also be the name
        // of a frame, possibly with a scope (`model::frame`).
        let text = |name: &str| e.child(name).map_or(String::new(), |c| c.text.clone());
        Ok(JointSpec {
            name: self.name(e)?,
            kind: self.reference(e, "type")?,
            parent: text("parent"),
            child: text("child"),
            pose: self.pose(e)?,
        })
    }
}
