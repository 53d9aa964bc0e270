//! Merges corners with equal position, normal and uv into one vertex.
//!
//! A corner is a triangle's reference to a position, a normal and a uv. Equal corners are found by
//! sorting. With sorting, the result is the same on every machine, and no input makes the search
//! slow. A hash map would not guarantee these two properties.

/// The positions, normals and uvs of a geometry.
#[derive(Default)]
pub(crate) struct Arena {
    pub(crate) positions: Vec<[f32; 3]>,
    pub(crate) normals: Vec<[f32; 3]>,
    pub(crate) uvs: Vec<[f32; 2]>,
}

/// A corner of a triangle: indices into the three lists of an [`Arena`].
#[derive(Clone, Copy)]
pub(crate) struct Corner {
    pub(crate) position: u32,
    pub(crate) normal: u32,
    pub(crate) uv: u32,
}

/// Vertices in the order of first use. `indices` contains the vertex index of every corner.
#[derive(Default)]
pub(crate) struct Welded {
    pub(crate) positions: Vec<[f32; 3]>,
    pub(crate) normals: Vec<[f32; 3]>,
    pub(crate) uvs: Vec<[f32; 2]>,
    pub(crate) indices: Vec<u32>,
}

/// Merges equal corners. The indices of all corners must be in range.
pub(crate) fn weld(arena: &Arena, corners: &[Corner]) -> Welded {
    let firsts = first_equal_corner(arena, corners);
    let mut out = Welded { indices: Vec::with_capacity(corners.len()), ..Welded::default() };
    for (i, c) in corners.iter().enumerate() {
        let first = firsts[i] as usize;
        if first == i {
            out.indices.push(out.positions.len() as u32);
            out.positions.push(arena.positions[c.position as usize]);
            out.normals.push(arena.normals[c.normal as usize]);
            out.uvs.push(arena.uvs[c.uv as usize]);
        } else {
            out.indices.push(out.indices[first]);
        }
    }
    out
}

/// Returns for every corner the index of the first corner with equal position, normal and uv.
fn first_equal_corner(arena: &Arena, corners: &[Corner]) -> Vec<u32> {
    let (positions, normals, uvs) =
        (first_equal(&arena.positions), first_equal(&arena.normals), first_equal(&arena.uvs));
    // A sort key consists of four numbers of 32 bits: position, normal, uv and the index of the
    // corner.
    let mut order: Vec<(u64, u64)> = Vec::with_capacity(corners.len());
    for (i, c) in corners.iter().enumerate() {
        let (p, n, t) = (positions[c.position as usize], normals[c.normal as usize], uvs[c.uv as usize]);
        order.push((u64::from(p) << 32 | u64::from(n), u64::from(t) << 32 | i as u64));
    }
    order.sort_unstable();
    // Drop these lists early to lower the peak memory use, because they may have millions of
    // entries.
    drop((positions, normals, uvs));
    let mut firsts = vec![0u32; corners.len()];
    let mut previous: Option<(u64, u64)> = None;
    let mut first = 0;
    for &(pn, ti) in &order {
        let i = ti as u32;
        if previous != Some((pn, ti >> 32)) {
            previous = Some((pn, ti >> 32));
            first = i;
        }
        firsts[i as usize] = first;
    }
    firsts
}

/// Returns for every vector the index of the first vector with the same bits.
fn first_equal<const N: usize>(vectors: &[[f32; N]]) -> Vec<u32> {
    let key = |v: &[f32; N]| v.iter().fold(0u128, |key, c| key << 32 | u128::from(c.to_bits()));
    // A sort key consists of the two or three numbers of the vector and the index of the vector.
    // Each of them has 32 bits.
    let mut order: Vec<u128> = vectors.iter().enumerate().map(|(i, v)| key(v) << 32 | i as u128).collect();
    order.sort_unstable();
    let mut firsts = vec![0u32; vectors.len()];
    let mut previous = None;
    let mut first = 0;
    for entry in order {
        let (value, i) = (entry >> 32, entry as u32);
        if previous != Some(value) {
            previous = Some(value);
            first = i;
        }
        firsts[i as usize] = first;
    }
    firsts
}
