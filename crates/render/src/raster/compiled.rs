//! The functions that are compiled once for each set of instructions, and are not inlined.
//!
//! The code of a tile calls them in several places. With a copy of the functions in each place, the
//! code would not fit into the processor's caches for instructions, and a picture would take about an
//! eighth longer.

use super::Background;
use super::kept::SkyRows;
use super::setup::Setup;
use super::shade::Shader;
use super::tile::Tile;
#[cfg(target_arch = "x86_64")]
use crate::simd::Avx2;
use crate::simd::{Portable, Simd};

/// Linear colours and opacity of eight pixels.
type Shaded<S> = ([<S as Simd>::Floats; 3], <S as Simd>::Floats);

/// A set of instructions with its compiled functions.
pub(super) trait Compiled: Simd {
    /// Calls [`Shader::shaded`].
    fn shaded(shader: &mut Shader<'_>, group: usize, row: usize, mask: u32) -> Shaded<Self>;

    /// Calls [`SkyRows::compute`].
    fn compute_sky<B: Background>(sky: &mut SkyRows<'_, Self, B>, row: usize, group: usize);

    /// Calls [`Tile::update_nearest`].
    fn update_nearest(tile: &mut Tile, parts: &[Setup], id: u32, first: (usize, usize));
}

impl Compiled for Portable {
    #[inline(never)]
    fn shaded(shader: &mut Shader<'_>, group: usize, row: usize, mask: u32) -> Shaded<Portable> {
        shader.shaded::<Portable>(group, row, mask)
    }

    #[inline(never)]
    fn compute_sky<B: Background>(sky: &mut SkyRows<'_, Portable, B>, row: usize, group: usize) {
        sky.compute(row, group);
    }

    #[inline(never)]
    fn update_nearest(tile: &mut Tile, parts: &[Setup], id: u32, first: (usize, usize)) {
        tile.update_nearest::<Portable>(parts, id, first);
    }
}

// SAFETY of all blocks: `Avx2` is used only after the processor was found to have AVX2
// (`raster::draw`).
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
impl Compiled for Avx2 {
    #[inline(always)]
    fn shaded(shader: &mut Shader<'_>, group: usize, row: usize, mask: u32) -> Shaded<Avx2> {
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
        #[inline(never)]
        fn with_avx2(shader: &mut Shader<'_>, group: usize, row: usize, mask: u32) -> Shaded<Avx2> {
            shader.shaded::<Avx2>(group, row, mask)
        }
        unsafe { with_avx2(shader, group, row, mask) }
    }

    #[inline(always)]
    fn compute_sky<B: Background>(sky: &mut SkyRows<'_, Avx2, B>, row: usize, group: usize) {
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
        #[inline(never)]
        fn with_avx2<B: Background>(sky: &mut SkyRows<'_, Avx2, B>, row: usize, group: usize) {
            sky.compute(row, group);
        }
        unsafe { with_avx2(sky, row, group) }
    }

    #[inline(always)]
    fn update_nearest(tile: &mut Tile, parts: &[Setup], id: u32, first: (usize, usize)) {
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
        #[inline(never)]
        fn with_avx2(tile: &mut Tile, parts: &[Setup], id: u32, first: (usize, usize)) {
            tile.update_nearest::<Avx2>(parts, id, first);
        }
        unsafe { with_avx2(tile, parts, id, first) }
    }
}
