//! Writers for the parts of a link: collisions, visuals, geometry, materials and mass.

use super::write::SdfWriter;
use crate::spec::{CollisionSpec, Geometry, InertialSpec, LinkSpec, MaterialSpec, VisualSpec};

impl SdfWriter {
    pub(super) fn link(&mut self, link: &LinkSpec) {
        self.open("link", &[("name", &link.name)]);
        self.pose(&link.pose);
        if let Some(inertial) = &link.inertial {
            self.inertial(inertial);
        }
        link.collisions.iter().for_each(|c| self.collision(c));
        link.visuals.iter().for_each(|v| self.visual(v));
        self.close("link");
    }

    fn inertial(&mut self, inertial: &InertialSpec) {
        self.open("inertial", &[]);
        self.pose(&inertial.pose);
        if let Some(mass) = inertial.mass {
            self.numbers("mass", &[mass]);
        }
        if let Some(inertia) = &inertial.inertia {
            self.open("inertia", &[]);
            for (name, x) in ["ixx", "iyy", "izz", "ixy", "ixz", "iyz"].iter().zip(inertia) {
                self.numbers(name, &[*x]);
            }
            self.close("inertia");
        }
        self.close("inertial");
    }

    fn collision(&mut self, collision: &CollisionSpec) {
        self.open("collision", &[("name", &collision.name)]);
        self.pose(&collision.pose);
        self.geometry(&collision.geometry);
        if collision.friction.is_some() || collision.restitution.is_some() {
            self.open("surface", &[]);
            if let Some(mu) = collision.friction {
                self.open("friction", &[]);
                self.open("ode", &[]);
                self.numbers("mu", &[mu]);
                self.numbers("mu2", &[mu]);
                self.close("ode");
                self.close("friction");
            }
            if let Some(restitution) = collision.restitution {
                self.open("bounce", &[]);
                self.numbers("restitution_coefficient", &[restitution]);
                self.close("bounce");
            }
            self.close("surface");
        }
        self.close("collision");
    }

    fn visual(&mut self, visual: &VisualSpec) {
        self.open("visual", &[("name", &visual.name)]);
        self.pose(&visual.pose);
        self.geometry(&visual.geometry);
        if let Some(material) = &visual.material {
            self.material(material);
        }
        if visual.transparency.to_bits() != 0 {
            self.numbers("transparency", &[visual.transparency]);
        }
        self.flag("cast_shadows", visual.cast_shadows);
        self.close("visual");
    }

    fn material(&mut self, material: &MaterialSpec) {
        self.open("material", &[]);
        self.colour("ambient", &material.ambient);
        self.colour("diffuse", &material.diffuse);
        self.colour("specular", &material.specular);
        self.colour("emissive", &material.emissive);
        if let Some(script) = &material.script {
            self.open("script", &[]);
            self.text("name", script);
            self.close("script");
        }
        if let Some(map) = &material.albedo_map {
            self.open("pbr", &[]);
            self.open("metal", &[]);
            self.text("albedo_map", map);
            self.close("metal");
            self.close("pbr");
        }
        self.close("material");
    }

    /// Writes a shape with a radius and an optional length. A sphere has no length.
    fn round_shape(&mut self, name: &str, radius: f64, length: Option<f64>) {
        self.open(name, &[]);
        self.numbers("radius", &[radius]);
        if let Some(length) = length {
            self.numbers("length", &[length]);
        }
        self.close(name);
    }

    fn geometry(&mut self, geometry: &Geometry) {
        self.open("geometry", &[]);
        match geometry {
            Geometry::Empty => self.empty("empty"),
            Geometry::Box { size } => {
                self.open("box", &[]);
                self.numbers("size", size);
                self.close("box");
            }
            Geometry::Cylinder { radius, length } => self.round_shape("cylinder", *radius, Some(*length)),
            Geometry::Sphere { radius } => self.round_shape("sphere", *radius, None),
            Geometry::Capsule { radius, length } => self.round_shape("capsule", *radius, Some(*length)),
            Geometry::Cone { radius, length } => self.round_shape("cone", *radius, Some(*length)),
            Geometry::Ellipsoid { radii } => {
                self.open("ellipsoid", &[]);
                self.numbers("radii", radii);
                self.close("ellipsoid");
            }
            Geometry::Plane { normal, size } => {
                self.open("plane", &[]);
                self.numbers("normal", normal);
                self.numbers("size", size);
                self.close("plane");
            }
            Geometry::Mesh { uri, scale, submesh } => {
                self.open("mesh", &[]);
                self.text("uri", uri);
                self.numbers("scale", scale);
                if let Some(part) = submesh {
                    self.open("submesh", &[]);
                    self.text("name", &part.name);
                    self.flag("center", part.centred.then_some(true));
                    self.close("submesh");
                }
                self.close("mesh");
            }
            Geometry::Polyline { points, height } => {
                self.open("polyline", &[]);
                points.iter().for_each(|p| self.numbers("point", p));
                self.numbers("height", &[*height]);
                self.close("polyline");
            }
            Geometry::Unsupported { element } => self.empty(element),
        }
        self.close("geometry");
    }
}
