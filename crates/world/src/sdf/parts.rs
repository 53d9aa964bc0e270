//! Readers for the parts of a link: collisions, visuals, geometry, materials and mass.

use super::MAX_METRES;
use super::value::SdfReader;
use crate::error::Error;
use crate::spec::{CollisionSpec, Geometry, InertialSpec, MaterialSpec, PoseSpec, Submesh, VisualSpec};
use crate::xml::{Element, excerpt};

/// Maximum mass of a link, in kg.
const MAX_MASS: f64 = 1e9;

/// Supported shapes of a `<geometry>`.
const SHAPES: &[&str] =
    &["empty", "box", "cylinder", "capsule", "cone", "sphere", "ellipsoid", "plane", "mesh", "polyline"];

impl SdfReader<'_> {
    pub(super) fn inertial(&mut self, e: &Element) -> Result<InertialSpec, Error> {
        self.warn_of_others(
            e,
            &["mass", "pose", "inertia"],
            &["density", "auto_inertia_params", "fluid_added_mass"],
        );
        let mass = match e.child("mass") {
            None => None,
            Some(m) => {
                let mass = self.number(m)?;
                if mass > MAX_MASS {
                    return self.fail(m, format!("<mass> of {mass} kg is larger than {MAX_MASS} kg"));
                }
                Some(mass)
            }
        };
        let inertia = match e.child("inertia") {
            None => None,
            Some(i) => {
                // The default is the identity matrix: a missing moment is 1, and a missing product
                // of inertia is 0.
                let mut out = [1.0, 1.0, 1.0, 0.0, 0.0, 0.0];
                for (slot, name) in out.iter_mut().zip(["ixx", "iyy", "izz", "ixy", "ixz", "iyz"]) {
                    if let Some(n) = i.child(name) {
                        *slot = self.number(n)?;
                    }
                }
                Some(out)
            }
        };
        Ok(InertialSpec { mass, pose: self.pose(e)?, inertia })
    }

    pub(super) fn collision(&mut self, e: &Element) -> Result<CollisionSpec, Error> {
        self.warn_of_others(e, &["pose", "geometry", "surface"], &["laser_retro", "max_contacts", "density"]);
        let surface = |paths: &[&[&str]]| paths.iter().find_map(|p| e.child("surface")?.path(p));
        let friction = surface(&[
            &["friction", "ode", "mu"],
            &["friction", "bullet", "friction"],
            &["friction", "dart", "mu"],
        ]);
        let restitution = surface(&[&["bounce", "restitution_coefficient"]]);
        Ok(CollisionSpec {
            name: self.name(e)?,
            pose: self.pose(e)?,
            geometry: self.geometry(e)?,
            friction: friction.map(|f| self.number(f)).transpose()?,
            restitution: restitution.map(|r| self.number(r)).transpose()?,
        })
    }

    pub(super) fn visual(&mut self, e: &Element) -> Result<VisualSpec, Error> {
        self.warn_of_others(
            e,
            &["pose", "geometry", "material", "transparency", "cast_shadows"],
            &["laser_retro", "visibility_flags", "meta"],
        );
        Ok(VisualSpec {
            name: self.name(e)?,
            pose: self.pose(e)?,
            geometry: self.geometry(e)?,
            material: e.child("material").map(|m| self.material(m)).transpose()?,
            transparency: e.child("transparency").map_or(Ok(0.0), |t| self.number(t))?,
            cast_shadows: self.optional_flag(e, "cast_shadows")?,
        })
    }

    fn material<'e>(&mut self, e: &'e Element) -> Result<MaterialSpec, Error> {
        self.warn_of_others(
            e,
            &["ambient", "diffuse", "specular", "emissive", "script", "pbr"],
            &["shader", "render_order", "lighting", "double_sided", "shininess"],
        );
        let text = |e: &'e Element| (!e.text.is_empty()).then_some(e);
        // In old SDF versions, the name is the text of <script>, and there is no <name>.
        let script = e.child("script").and_then(|s| s.child("name").map_or_else(|| text(s), text));
        let albedo = ["metal", "specular"].iter().find_map(|w| e.path(&["pbr", w, "albedo_map"]));
        Ok(MaterialSpec {
            ambient: self.optional_colour(e, "ambient")?,
            diffuse: self.optional_colour(e, "diffuse")?,
            specular: self.optional_colour(e, "specular")?,
            emissive: self.optional_colour(e, "emissive")?,
            script: script.map(|s| self.bounded(s)).transpose()?,
            albedo_map: albedo.and_then(text).map(|a| self.bounded(a)).transpose()?,
        })
    }

    /// Reads the shape in the `<geometry>` of a visual or collision. If there are several shapes,
    /// the first supported shape is used. If no shape is supported, the first one becomes an
    /// unsupported shape. If the `<geometry>` is missing or empty, the shape is empty. A value that
    /// is missing gets the default of the SDF standard. A `<mesh>` without a URI becomes an
    /// unsupported shape, and so does a `<polyline>` with fewer than three points.
    fn geometry(&mut self, parent: &Element) -> Result<Geometry, Error> {
        let Some(e) = parent.child("geometry") else {
            self.warn(parent, format!("a <{}> without <geometry> has no shape", parent.name));
            return Ok(Geometry::Empty);
        };
        let known = |c: &&Element| SHAPES.contains(&c.name.as_str());
        let Some(shape) = e.children.iter().find(known).or(e.children.first()) else {
            return Ok(Geometry::Empty);
        };
        self.warn_of_others(e, &[SHAPES, &[&shape.name]].concat(), &[]);
        if let Some(second) = e.children.iter().find(|c| known(c) && c.offset > shape.offset) {
            self.warn(second, "the second shape in a <geometry> is ignored");
        }
        Ok(match shape.name.as_str() {
            "empty" => Geometry::Empty,
            "box" => Geometry::Box { size: self.lengths_or(shape, "size", [1.0; 3])? },
            "cylinder" => {
                let (radius, length) = self.radius_and_length(shape, 1.0)?;
                Geometry::Cylinder { radius, length }
            }
            "capsule" => {
                let (radius, length) = self.radius_and_length(shape, 0.5)?;
                Geometry::Capsule { radius, length }
            }
            "cone" => {
                let (radius, length) = self.radius_and_length(shape, 0.5)?;
                Geometry::Cone { radius, length }
            }
            "sphere" => {
                let [radius] = self.lengths_or(shape, "radius", [1.0])?;
                Geometry::Sphere { radius }
            }
            "ellipsoid" => Geometry::Ellipsoid { radii: self.lengths_or(shape, "radii", [1.0; 3])? },
            "plane" => self.plane(shape)?,
            "mesh" => self.mesh(shape)?,
            "polyline" => self.polyline(shape)?,
            other => {
                let message = format!("shape <{}> is not supported and is ignored", excerpt(other));
                self.warn(shape, message);
                Geometry::Unsupported { element: other.to_owned() }
            }
        })
    }

    /// Radius and length of a round shape. The default length of every round shape is 1 m.
    fn radius_and_length(&mut self, shape: &Element, radius: f64) -> Result<(f64, f64), Error> {
        let [radius] = self.lengths_or(shape, "radius", [radius])?;
        let [length] = self.lengths_or(shape, "length", [1.0])?;
        Ok((radius, length))
    }

    /// Reads lengths. If the element is missing or empty, adds a warning and returns `default`.
    fn lengths_or<const N: usize>(
        &mut self,
        shape: &Element,
        name: &str,
        default: [f64; N],
    ) -> Result<[f64; N], Error> {
        if let Some(e) = shape.child(name).filter(|e| !e.text.is_empty()) {
            return self.lengths(e);
        }
        let used = default.map(|x| x.to_string()).join(" ");
        self.warn(shape, format!("<{}> has no <{name}>: {used} is used", shape.name));
        Ok(default)
    }

    fn plane(&mut self, e: &Element) -> Result<Geometry, Error> {
        let normal = match e.child("normal") {
            None => [0.0, 0.0, 1.0],
            Some(n) => {
                let normal = self.numbers::<3>(n)?;
                let length = normal.iter().map(|x| x * x).sum::<f64>();
                if !(1e-12..1e12).contains(&length) {
                    return self.fail(n, "<normal> needs a direction of length 1");
                }
                normal
            }
        };
        let size = e.child("size").map_or(Ok([1.0, 1.0]), |s| self.lengths(s))?;
        Ok(Geometry::Plane { normal, size })
    }

    fn polyline(&mut self, e: &Element) -> Result<Geometry, Error> {
        let points: Vec<[f64; 2]> = e.all("point").map(|p| self.numbers(p)).collect::<Result<_, _>>()?;
        if points.iter().flatten().any(|x| x.abs() > MAX_METRES) {
            return self.fail(e, format!("<point> is farther than {MAX_METRES} m from the origin"));
        }
        if points.len() < 3 {
            self.warn(e, "a <polyline> with fewer than three points is ignored");
            return Ok(Geometry::Unsupported { element: e.name.clone() });
        }
        let [height] = e.child("height").map_or(Ok([1.0]), |h| self.lengths(h))?;
        Ok(Geometry::Polyline { points, height })
    }

    fn mesh(&mut self, e: &Element) -> Result<Geometry, Error> {
        let Some(uri) = e.child("uri").filter(|uri| !uri.text.is_empty()) else {
            self.warn(e, "a <mesh> without <uri> is ignored");
            return Ok(Geometry::Unsupported { element: e.name.clone() });
        };
        let scale = match e.child("scale") {
            None => [1.0; 3],
            Some(s) => {
                let scale = self.numbers::<3>(s)?;
                // Negative factors are allowed, because they mirror the mesh.
                if scale.iter().any(|x| *x == 0.0 || x.abs() > MAX_METRES) {
                    return self.fail(s, format!("<scale> needs factors other than 0, at most {MAX_METRES}"));
                }
                scale
            }
        };
        let submesh = match e.child("submesh") {
            None => None,
            Some(s) => Some(Submesh {
                name: self.bounded(self.required(s, "name")?)?,
                centred: self.optional_flag(s, "center")?.unwrap_or(false),
            }),
        };
        Ok(Geometry::Mesh { uri: self.bounded(uri)?, scale, submesh })
    }

    /// Reads the `<pose>` of an include. The result is `None` if the include has no pose. The model
    /// then keeps the pose in its file, so `None` is not the same as a zero pose.
    pub(super) fn optional_pose(&self, parent: &Element) -> Result<Option<PoseSpec>, Error> {
        parent.child("pose").map(|e| self.pose_at(e)).transpose()
    }
}
