//! Reads any bytes as a COLLADA mesh. The result is an error that names the file, or a valid model
//! that can be written and read again without a change of its triangles.
#![no_main]

use chicane_world::Warnings;
use chicane_world::collada::{self, Model};
use libfuzzer_sys::fuzz_target;

fn read(bytes: &[u8]) -> Option<Model> {
    let mut warnings = Warnings::default();
    let model = match collada::read("fuzz.dae", bytes, &mut warnings) {
        Ok(model) => Some(model),
        Err(e) => {
            assert_eq!(e.location.file, "fuzz.dae");
            None
        }
    };
    let _ = warnings.into_vec();
    model
}

/// Position, normal and texture coordinates of every triangle corner, as bits.
fn corners(model: &Model) -> Vec<[u32; 8]> {
    let mut all = Vec::new();
    for part in &model.parts {
        let n = part.positions.len();
        assert!(part.normals.len() == n && part.uvs.len() == n && !part.groups.is_empty());
        for group in &part.groups {
            assert!(!group.indices.is_empty() && group.indices.len() % 3 == 0);
            assert!(group.material.is_none_or(|m| m < model.materials.len()));
            for i in group.indices.iter().map(|i| *i as usize) {
                let ([x, y, z], [a, b, c], [u, v]) = (part.positions[i], part.normals[i], part.uvs[i]);
                let corner = [x, y, z, a, b, c, u, v];
                assert!(corner.iter().all(|c| c.is_finite()));
                all.push(corner.map(f32::to_bits));
            }
        }
    }
    all
}

fuzz_target!(|bytes: &[u8]| {
    let Some(first) = read(bytes) else { return };
    let written = collada::write(&first);
    let second = read(written.as_bytes()).expect("a written mesh can be read");
    assert_eq!(corners(&first), corners(&second));
    assert_eq!(first.materials.len(), second.materials.len());
    // The first reading may give vertices that a transform made equal. The second reading merges
    // them, so the third reading has to be identical to the second.
    let third = read(collada::write(&second).as_bytes()).expect("a written mesh can be read");
    assert_eq!(second, third);
});
