//! Writers for world files, model files and the elements down to links and joints.
//!
//! Each number is written with enough digits to parse to the same bits. The same spec always gives
//! the same bytes.

use crate::spec::{FrameSpec, IncludeSpec, JointSpec, LightSpec, ModelSpec, PoseSpec, SdfEntry, Spec};
use crate::xml::escape;

/// Writes a world file.
pub fn write(spec: &Spec) -> String {
    let mut w = SdfWriter::start(&spec.version);
    w.open("world", &[("name", &spec.name)]);
    if let Some(gravity) = &spec.gravity {
        w.numbers("gravity", gravity);
    }
    if spec.scene.ambient.is_some() || spec.scene.background.is_some() {
        w.open("scene", &[]);
        w.colour("ambient", &spec.scene.ambient);
        w.colour("background", &spec.scene.background);
        w.close("scene");
    }
    spec.frames.iter().for_each(|f| w.frame(f));
    for entry in &spec.entries {
        match entry {
            SdfEntry::Model(m) => w.model(m),
            SdfEntry::Include(i) => w.include(i),
            SdfEntry::Light(l) => w.light(l),
        }
    }
    w.close("world");
    w.finish()
}

/// Writes a model file.
pub fn write_model(model: &ModelSpec, version: &str) -> String {
    let mut w = SdfWriter::start(version);
    w.model(model);
    w.finish()
}

/// Formats a number in a short form that parses to the same bits.
fn number(x: f64) -> String {
    let small = x != 0.0 && x.abs() < 1e-5;
    if small || x.abs() >= 1e16 { format!("{x:e}") } else { format!("{x}") }
}

/// Writes indented XML. `out` is the text that is written so far. The methods are in several
/// modules of `sdf`.
pub(super) struct SdfWriter {
    out: String,
    depth: usize,
}

impl SdfWriter {
    fn start(version: &str) -> SdfWriter {
        let mut w = SdfWriter { out: "<?xml version=\"1.0\"?>\n".to_owned(), depth: 0 };
        w.open("sdf", &[("version", version)]);
        w
    }

    fn finish(mut self) -> String {
        self.close("sdf");
        self.out
    }

    fn tag(&mut self, name: &str, attributes: &[(&str, &str)], end: &str) {
        self.out.extend(std::iter::repeat_n("  ", self.depth));
        self.out.push('<');
        self.out.push_str(name);
        for (key, value) in attributes {
            self.out.push_str(&format!(" {key}=\"{}\"", escape(value)));
        }
        self.out.push_str(end);
    }

    pub(super) fn open(&mut self, name: &str, attributes: &[(&str, &str)]) {
        self.tag(name, attributes, ">\n");
        self.depth += 1;
    }

    pub(super) fn close(&mut self, name: &str) {
        self.depth -= 1;
        self.out.extend(std::iter::repeat_n("  ", self.depth));
        self.out.push_str(&format!("</{name}>\n"));
    }

    pub(super) fn empty(&mut self, name: &str) {
        self.tag(name, &[], "/>\n");
    }

    fn text_with(&mut self, name: &str, attributes: &[(&str, &str)], text: &str) {
        self.tag(name, attributes, ">");
        self.out.push_str(&escape(text));
        self.out.push_str(&format!("</{name}>\n"));
    }

    pub(super) fn text(&mut self, name: &str, text: &str) {
        self.text_with(name, &[], text);
    }

    pub(super) fn numbers(&mut self, name: &str, numbers: &[f64]) {
        let words: Vec<String> = numbers.iter().map(|x| number(*x)).collect();
        self.text(name, &words.join(" "));
    }

    pub(super) fn flag(&mut self, name: &str, flag: Option<bool>) {
        if let Some(flag) = flag {
            self.text(name, if flag { "true" } else { "false" });
        }
    }

    pub(super) fn colour(&mut self, name: &str, colour: &Option<[f64; 4]>) {
        if let Some(colour) = colour {
            self.numbers(name, colour);
        }
    }

    /// Writes a pose, even if the pose is the zero pose.
    fn pose_always(&mut self, pose: &PoseSpec) {
        let words: Vec<String> = pose.xyz.iter().chain(&pose.rpy).map(|x| number(*x)).collect();
        let attribute = [("relative_to", pose.relative_to.as_str())];
        let attributes: &[(&str, &str)] = if pose.relative_to.is_empty() { &[] } else { &attribute };
        self.text_with("pose", attributes, &words.join(" "));
    }

    /// Writes a pose. The zero pose is omitted if it has the default reference frame.
    pub(super) fn pose(&mut self, pose: &PoseSpec) {
        let zero = pose.xyz.iter().chain(&pose.rpy).all(|x| x.to_bits() == 0);
        if !zero || !pose.relative_to.is_empty() {
            self.pose_always(pose);
        }
    }

    fn frame(&mut self, frame: &FrameSpec) {
        let mut attributes = vec![("name", frame.name.as_str())];
        if !frame.attached_to.is_empty() {
            attributes.push(("attached_to", &frame.attached_to));
        }
        self.open("frame", &attributes);
        self.pose(&frame.pose);
        self.close("frame");
    }

    fn model(&mut self, model: &ModelSpec) {
        let mut attributes = vec![("name", model.name.as_str())];
        if !model.canonical_link.is_empty() {
            attributes.push(("canonical_link", &model.canonical_link));
        }
        if !model.placement_frame.is_empty() {
            attributes.push(("placement_frame", &model.placement_frame));
        }
        self.open("model", &attributes);
        self.flag("static", model.is_static.then_some(true));
        self.pose(&model.pose);
        model.frames.iter().for_each(|f| self.frame(f));
        model.links.iter().for_each(|l| self.link(l));
        model.joints.iter().for_each(|j| self.joint(j));
        model.models.iter().for_each(|m| self.model(m));
        model.includes.iter().for_each(|i| self.include(i));
        self.close("model");
    }

    fn include(&mut self, include: &IncludeSpec) {
        self.open("include", if include.merge { &[("merge", "true")] } else { &[] });
        self.text("uri", &include.uri);
        if let Some(name) = &include.name {
            self.text("name", name);
        }
        if let Some(pose) = &include.pose {
            self.pose_always(pose);
        }
        if !include.placement_frame.is_empty() {
            self.text("placement_frame", &include.placement_frame);
        }
        self.flag("static", include.is_static);
        self.close("include");
    }

    fn light(&mut self, light: &LightSpec) {
        self.open("light", &[("name", &light.name), ("type", &light.kind)]);
        self.pose(&light.pose);
        self.colour("diffuse", &light.diffuse);
        if let Some(direction) = &light.direction {
            self.numbers("direction", direction);
        }
        self.flag("cast_shadows", light.cast_shadows);
        if let Some(intensity) = light.intensity {
            self.numbers("intensity", &[intensity]);
        }
        self.close("light");
    }

    fn joint(&mut self, joint: &JointSpec) {
        self.open("joint", &[("name", &joint.name), ("type", &joint.kind)]);
        self.text("parent", &joint.parent);
        self.text("child", &joint.child);
        self.pose(&joint.pose);
        self.close("joint");
    }
}
