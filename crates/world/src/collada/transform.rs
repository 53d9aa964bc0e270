//! Transforms: of nodes, of the file's unit and up axis, and what they do to a mesh.

use super::geometry::Mesh;
use super::source::{exactly, positive_zero};
use super::{Group, Part};
use crate::error::{Error, Warnings};
use crate::xml::{Document, Element, excerpt};
use glam::{DAffine3, DMat3, DQuat, DVec3};

/// From the file's frame to metres with z up.
pub(super) fn of_asset(doc: &Document<'_>) -> Result<DAffine3, Error> {
    let asset = doc.root.child("asset");
    let mut metres = 1.0;
    if let Some(unit) = asset.and_then(|a| a.child("unit"))
        && let Some(text) = unit.attribute("meter")
    {
        let number = text.trim().parse::<f64>().ok().filter(|m| *m > 0.0 && *m <= 1e6);
        metres = number.ok_or_else(|| doc.error(unit, format!("bad unit of '{}' metres", excerpt(text))))?;
    }
    let axes = match asset.and_then(|a| a.child("up_axis")).map_or("Y_UP", |e| e.text.as_str()) {
        "Z_UP" => DMat3::IDENTITY,
        "X_UP" => DMat3::from_cols(DVec3::Z, DVec3::NEG_X, DVec3::NEG_Y),
        // What the format's own text takes for granted.
        _ => DMat3::from_cols(DVec3::X, DVec3::Z, DVec3::NEG_Y),
    };
    Ok(DAffine3::from_mat3(axes * metres))
}

/// The transform of a node: its elements one after the other.
pub(super) fn of_node(
    doc: &Document<'_>,
    node: &Element,
    warnings: &mut Warnings,
) -> Result<DAffine3, Error> {
    let mut whole = DAffine3::IDENTITY;
    for e in &node.children {
        let step = match e.name.as_str() {
            "matrix" => matrix(doc, e)?,
            "translate" => DAffine3::from_translation(DVec3::from_array(exactly(doc, e)?)),
            "scale" => DAffine3::from_scale(DVec3::from_array(exactly(doc, e)?)),
            "rotate" => {
                let [x, y, z, degrees] = exactly(doc, e)?;
                DAffine3::from_quat(turn(DVec3::new(x, y, z), degrees.to_radians()))
            }
            "lookat" | "skew" => {
                warnings.add(format!("<{}> of a mesh node is passed over", e.name), || doc.place(e));
                continue;
            }
            _ => continue,
        };
        whole *= step;
    }
    Ok(whole)
}

/// A `<matrix>` or `<bind_shape_matrix>`: 16 numbers, row after row; the last row is 0 0 0 1.
pub(super) fn matrix(doc: &Document<'_>, e: &Element) -> Result<DAffine3, Error> {
    let m: [f64; 16] = exactly(doc, e)?;
    let column = |i: usize| DVec3::new(m[i], m[4 + i], m[8 + i]);
    Ok(DAffine3::from_cols(column(0), column(1), column(2), column(3)))
}

fn turn(axis: DVec3, angle: f64) -> DQuat {
    let axis = axis.normalize_or_zero() * libm::sin(0.5 * angle);
    DQuat::from_xyzw(axis.x, axis.y, axis.z, libm::cos(0.5 * angle)).normalize()
}

/// What a transform does to the corners of a mesh.
pub(super) struct Mover {
    affine: DAffine3,
    normals: DMat3,
    /// The transform mirrors: what ran counter-clockwise runs clockwise.
    pub(super) mirrors: bool,
}

impl Mover {
    pub(super) fn new(affine: DAffine3) -> Mover {
        let DMat3 { x_axis: x, y_axis: y, z_axis: z } = affine.matrix3;
        let mirrors = affine.matrix3.determinant() < 0.0;
        // The cofactors turn normals as the inverse transpose does, and need no division.
        let normals = DMat3::from_cols(y.cross(z), z.cross(x), x.cross(y));
        Mover { affine, normals: if mirrors { normals * -1.0 } else { normals }, mirrors }
    }

    /// A corner; `None` where it leaves the range of `f32`.
    pub(super) fn position(&self, p: [f32; 3]) -> Option<[f32; 3]> {
        let moved = self.affine.transform_point3(DVec3::from_array(p.map(f64::from))).to_array();
        let moved = moved.map(|c| positive_zero(c as f32));
        moved.iter().all(|c| c.is_finite()).then_some(moved)
    }

    /// A normal, always of unit length.
    pub(super) fn normal(&self, n: [f32; 3]) -> [f32; 3] {
        let n = self.normals * DVec3::from_array(n.map(f64::from));
        let length = n.length();
        let unit = if (length - 1.0).abs() < 1e-4 {
            // Good enough, and written and read again it stays the same.
            n
        } else if length > 0.0 && length.is_finite() {
            n / length
        } else {
            DVec3::Z
        };
        unit.to_array().map(|c| positive_zero(c as f32))
    }
}

/// Moves a mesh and numbers its vertices by first use. `None` where a corner leaves `f32`.
pub(super) fn move_part(mesh: &Mesh<'_>, mut groups: Vec<Group>, mover: &Mover) -> Option<Part> {
    const NEW: u32 = u32::MAX;
    let from = &mesh.welded;
    let n = from.positions.len();
    let mut part = Part {
        positions: Vec::with_capacity(n),
        normals: Vec::with_capacity(n),
        uvs: Vec::with_capacity(n),
        ..Part::default()
    };
    let mut number = vec![NEW; n];
    for index in groups.iter_mut().flat_map(|g| &mut g.indices) {
        let old = *index as usize;
        if number[old] == NEW {
            number[old] = part.positions.len() as u32;
            part.positions.push(mover.position(from.positions[old])?);
            part.normals.push(mover.normal(from.normals[old]));
            part.uvs.push(from.uvs[old]);
        }
        *index = number[old];
    }
    part.groups = groups;
    Some(part)
}
