//! The built-in models of objects. Each model fills the unit box −0.5..0.5. The renderer scales the
//! model to the size of the object.

use super::build::{MeshBuilder, ring};
use super::{Model, ball, cardboard, plain};
use chicane_world::scene::BuiltInMesh;
use glam::DVec3;

/// Generates the built-in model of this kind.
pub(crate) fn object(kind: BuiltInMesh) -> Model {
    match kind {
        BuiltInMesh::BoxObstacle => cardboard::model(),
        BuiltInMesh::Ball => ball::model(),
        BuiltInMesh::Cone => cone(),
    }
}

/// A traffic cone: a black foot, an orange body with two white bands, and a flat top.
fn cone() -> Model {
    const SIDES: usize = 32;
    const ORANGE: usize = 0;
    const WHITE: usize = 1;
    const BLACK: usize = 2;
    /// Height of the top of the foot.
    const FOOT: f64 = -0.44;
    // The height where each band begins, and the colour of the band.
    let marks =
        [(FOOT, ORANGE), (-0.22, WHITE), (-0.05, ORANGE), (0.09, WHITE), (0.23, ORANGE), (0.47, ORANGE)];
    let radius = |z: f64| 0.39 + (0.085 - 0.39) * (z - FOOT) / (0.47 - FOOT);
    let mut b = MeshBuilder::default();
    let mut rings: Vec<Vec<DVec3>> = marks.iter().map(|&(z, _)| ring(SIDES, radius(z), z)).collect();
    // The rim at the top is rounded.
    rings.push(ring(SIDES, radius(0.47) - 0.008, 0.49));
    rings.push(ring(SIDES, radius(0.47) - 0.03, 0.5));
    b.skin(&rings, |i, _| marks.get(i).map_or(ORANGE, |m| m.1));
    if let Some(top) = rings.last() {
        b.fan(ORANGE, top);
    }
    let foot = |half: f64, z: f64| -> Vec<DVec3> {
        let cut = half - 0.09;
        [
            [half, -cut],
            [half, cut],
            [cut, half],
            [-cut, half],
            [-half, cut],
            [-half, -cut],
            [-cut, -half],
            [cut, -half],
        ]
        .map(|[x, y]| DVec3::new(x, y, z))
        .to_vec()
    };
    let plate = [foot(0.48, -0.5), foot(0.5, -0.49), foot(0.5, -0.465), foot(0.47, FOOT)];
    b.skin(&plate, |_, _| BLACK);
    b.fan(BLACK, &plate[3]);
    b.fan_reversed(BLACK, &plate[0]);
    let materials = vec![plain([0.95, 0.36, 0.07]), plain([0.94, 0.94, 0.92]), plain([0.13, 0.13, 0.14])];
    Model { mesh: b.finish(0.6), materials, textures: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use super::*;
    use glam::Vec3;

    #[test]
    fn objects_fill_the_unit_box() {
        for kind in [BuiltInMesh::BoxObstacle, BuiltInMesh::Ball, BuiltInMesh::Cone] {
            let model = object(kind);
            check::mesh(&model.mesh, model.materials.len());
            assert!(check::volume(&model.mesh) > 0.1, "{kind:?}");
            let (low, high) = check::bounds(&model.mesh);
            let half = Vec3::splat(0.5);
            assert!(low.abs_diff_eq(-half, 1e-5) && high.abs_diff_eq(half, 1e-5), "{kind:?} {low} {high}");
            let textures = model.materials.iter().filter_map(|m| m.texture);
            assert!(textures.into_iter().all(|t| t < model.textures.len()));
            assert_eq!(model, object(kind));
        }
    }
}
