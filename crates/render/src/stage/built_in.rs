//! A cache of the built-in textures and models, which all stages share. In most worlds, generating
//! these textures and models would take longer than all other preparation, and they never change.

use crate::looks;
use crate::texture::{MAX_SIDE, Texture};
use chicane_world::scene::{BuiltInMesh, BuiltInTexture, Material, Mesh};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// A built-in model with its textures.
pub(super) struct BuiltInModel {
    /// The triangles; [`chicane_world::scene::Group::material`] is an index in `materials`.
    pub(super) mesh: Mesh,
    /// The materials; their `texture` is an index in `textures`.
    pub(super) materials: Vec<Material>,
    pub(super) textures: Vec<Texture>,
}

/// A built-in texture of full size. Clones share its texels.
pub(super) fn texture(kind: BuiltInTexture) -> Texture {
    static KNOWN: Mutex<BTreeMap<BuiltInTexture, Texture>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.entry(kind).or_insert_with(|| Texture::new(&looks::texture(kind), MAX_SIDE)).clone()
}

/// A built-in model with textures of full size.
pub(super) fn model(kind: BuiltInMesh) -> Arc<BuiltInModel> {
    static KNOWN: Mutex<BTreeMap<BuiltInMesh, Arc<BuiltInModel>>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let make = || {
        let looks::Model { mesh, materials, textures } = looks::object(kind);
        let textures = textures.iter().map(|image| Texture::new(image, MAX_SIDE)).collect();
        Arc::new(BuiltInModel { mesh, materials, textures })
    };
    Arc::clone(known.entry(kind).or_insert_with(make))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_share_the_texels_of_built_in_textures() {
        let first_texel = |texture: &Texture| texture.texels(texture.level(0)).as_ptr();
        for kind in [BuiltInTexture::Road, BuiltInTexture::Grass] {
            assert_eq!(first_texel(&texture(kind)), first_texel(&texture(kind)), "{kind:?}");
        }
        assert_ne!(first_texel(&texture(BuiltInTexture::Road)), first_texel(&texture(BuiltInTexture::Grass)));
        assert!(Arc::ptr_eq(&model(BuiltInMesh::Ball), &model(BuiltInMesh::Ball)));
    }
}
