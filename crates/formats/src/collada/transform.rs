//! Reads the transforms of nodes, and the file's unit. The module also applies transforms to a
//! mesh.

use super::geometry::Mesh;
use super::source::{exactly, positive_zero};
use super::{Group, MeshPart};
use crate::error::{Error, Warnings};
use crate::xml::{Document, Element, excerpt};
use glam::{DAffine3, DMat3, DQuat, DVec3};

/// The transform that converts the file's unit to metres. The `<up_axis>` of the file is ignored,
/// because Gazebo ignores it. In a world that is written for Gazebo, the pose of the visual rotates
/// a mesh whose y axis points up. If this function rotated the mesh too, the mesh would lie on its
/// side.
pub(super) fn of_asset(doc: &Document<'_>) -> Result<DAffine3, Error> {
    let asset = doc.root.child("asset");
    let mut metres = 1.0;
    if let Some(unit) = asset.and_then(|a| a.child("unit"))
        && let Some(text) = unit.attribute("meter")
    {
        let number = text.trim().parse::<f64>().ok().filter(|m| *m > 0.0 && *m <= 1e6);
        metres = number.ok_or_else(|| {
            let message = format!("bad unit: meter=\"{}\" must be a number above 0", excerpt(text));
            doc.error(unit, message)
        })?;
    }
    Ok(DAffine3::from_mat3(DMat3::IDENTITY * metres))
}

/// The transform of a node: the product of its transform elements in file order.
pub(super) fn of_node(
    doc: &Document<'_>,
    node: &Element,
    warnings: &mut Warnings,
) -> Result<DAffine3, Error> {
    let mut product = DAffine3::IDENTITY;
    for e in &node.children {
        let step = match e.name.as_str() {
            "matrix" => matrix(doc, e)?,
            "translate" => DAffine3::from_translation(DVec3::from_array(exactly(doc, e)?)),
            "scale" => DAffine3::from_scale(DVec3::from_array(exactly(doc, e)?)),
            "rotate" => {
                let [x, y, z, degrees] = exactly(doc, e)?;
                DAffine3::from_quat(rotation(DVec3::new(x, y, z), degrees.to_radians()))
            }
            "lookat" | "skew" => {
                warnings.add(format!("<{}> of a mesh node is ignored", e.name), || doc.location(e));
                continue;
            }
            _ => continue,
        };
        product *= step;
    }
    Ok(product)
}

/// Reads a `<matrix>` or `<bind_shape_matrix>`. Such an element has 16 numbers, row by row. The
/// last row is ignored, because it is 0 0 0 1 in a valid file.
pub(super) fn matrix(doc: &Document<'_>, e: &Element) -> Result<DAffine3, Error> {
    let m: [f64; 16] = exactly(doc, e)?;
    let column = |i: usize| DVec3::new(m[i], m[4 + i], m[8 + i]);
    Ok(DAffine3::from_cols(column(0), column(1), column(2), column(3)))
}

fn rotation(axis: DVec3, angle: f64) -> DQuat {
    let axis = axis.normalize_or_zero() * libm::sin(0.5 * angle);
    DQuat::from_xyzw(axis.x, axis.y, axis.z, libm::cos(0.5 * angle)).normalize()
}

/// A transform of the positions and normals of a mesh.
pub(super) struct VertexTransform {
    affine: DAffine3,
    normals: DMat3,
    /// Whether the transform mirrors the mesh. If so, it reverses the orientation of the triangles.
    pub(super) mirrors: bool,
}

impl VertexTransform {
    pub(super) fn new(affine: DAffine3) -> VertexTransform {
        let DMat3 { x_axis: x, y_axis: y, z_axis: z } = affine.matrix3;
        let mirrors = affine.matrix3.determinant() < 0.0;
        // Normals must be transformed by the inverse transpose. The cofactor matrix gives the same
        // directions and needs no division, so it also works for a singular matrix.
        let normals = DMat3::from_cols(y.cross(z), z.cross(x), x.cross(y));
        VertexTransform { affine, normals: if mirrors { normals * -1.0 } else { normals }, mirrors }
    }

    /// Transforms a position. The result is `None` if a coordinate is too large for `f32`.
    pub(super) fn position(&self, p: [f32; 3]) -> Option<[f32; 3]> {
        let moved = self.affine.transform_point3(DVec3::from_array(p.map(f64::from))).to_array();
        let moved = moved.map(|c| positive_zero(c as f32));
        moved.iter().all(|c| c.is_finite()).then_some(moved)
    }

    /// Transforms a normal. The result has unit length to within about 0.0001.
    pub(super) fn normal(&self, n: [f32; 3]) -> [f32; 3] {
        let n = self.normals * DVec3::from_array(n.map(f64::from));
        let length = n.length();
        let unit = if (length - 1.0).abs() < 1e-4 {
            // A normal of about unit length is not normalised again. Otherwise its bits would
            // change each time the mesh is written and read.
            n
        } else if length > 0.0 && length.is_finite() {
            n / length
        } else {
            DVec3::Z
        };
        unit.to_array().map(|c| positive_zero(c as f32))
    }
}

/// Transforms a mesh and numbers its vertices in the order of first use. The result is `None` if a
/// coordinate is too large for `f32`.
pub(super) fn transformed_part(
    mesh: &Mesh<'_>,
    mut groups: Vec<Group>,
    transform: &VertexTransform,
) -> Option<MeshPart> {
    const NEW: u32 = u32::MAX;
    let from = &mesh.welded;
    let n = from.positions.len();
    let mut part = MeshPart {
        positions: Vec::with_capacity(n),
        normals: Vec::with_capacity(n),
        uvs: Vec::with_capacity(n),
        ..MeshPart::default()
    };
    let mut number = vec![NEW; n];
    for index in groups.iter_mut().flat_map(|g| &mut g.indices) {
        let old = *index as usize;
        if number[old] == NEW {
            number[old] = part.positions.len() as u32;
            part.positions.push(transform.position(from.positions[old])?);
            part.normals.push(transform.normal(from.normals[old]));
            part.uvs.push(from.uvs[old]);
        }
        *index = number[old];
    }
    part.groups = groups;
    Some(part)
}
