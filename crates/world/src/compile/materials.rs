//! The materials of a scene. Equal materials are stored once.

use super::colours::script_colour;
use super::textures::Textures;
use crate::bundle::Assets;
use crate::collada;
use crate::error::{Error, SourceLocation, Warnings};
use crate::scene::{Material, Texture};
use crate::spec::MaterialSpec;
use crate::xml::excerpt;
use std::collections::BTreeMap;

/// A key for finding equal materials: the bits of colour, emitted light and texture.
type MaterialKey = ([u32; 4], [u32; 3], Option<usize>);

/// The materials and textures of a scene.
pub(super) struct Materials<'a> {
    list: Vec<Material>,
    index: BTreeMap<MaterialKey, usize>,
    textures: Textures<'a>,
}

impl<'a> Materials<'a> {
    pub(super) fn new(assets: Assets<'a>) -> Materials<'a> {
        Materials { list: Vec::new(), index: BTreeMap::new(), textures: Textures::new(assets) }
    }

    /// Returns the collected materials and textures.
    pub(super) fn finish(self) -> (Vec<Material>, Vec<Texture>) {
        (self.list, self.textures.list)
    }

    /// Index of the default material, which is a plain colour.
    pub(super) fn plain(&mut self) -> usize {
        self.insert(Material::default())
    }

    fn insert(&mut self, material: Material) -> usize {
        let key = (material.colour.map(f32::to_bits), material.emissive.map(f32::to_bits), material.texture);
        let list = &mut self.list;
        *self.index.entry(key).or_insert_with(|| {
            list.push(material);
            list.len() - 1
        })
    }

    /// Index of the material that the spec of a visual defines. `file` is the path of the SDF file.
    /// The result is `None` if the spec defines no emitted light, no known colour and no usable
    /// texture.
    pub(super) fn of_visual(
        &mut self,
        spec: &MaterialSpec,
        file: &str,
        warnings: &mut Warnings,
    ) -> Result<Option<usize>, Error> {
        let rgba = |c: [f64; 4]| c.map(|x| x.clamp(0.0, 1.0) as f32);
        let mut colour = spec.diffuse.or(spec.ambient).map(rgba);
        if let (None, Some(script)) = (colour, &spec.script) {
            colour = script_colour(script);
            if colour.is_none() {
                let message =
                    format!("unknown script material \"{}\": a plain colour is used", excerpt(script));
                warnings.add(message, || SourceLocation::file(file));
            }
        }
        let texture = match &spec.albedo_map {
            Some(map) => self.textures.find(map, file, warnings)?,
            None => None,
        };
        if colour.is_none() && spec.emissive.is_none() && texture.is_none() {
            return Ok(None);
        }
        // If there is a texture but no colour, the colour is white. The pixels of the texture are
        // multiplied by the colour, and white leaves the pixels unchanged.
        let plain = if texture.is_some() { [1.0; 4] } else { Material::default().colour };
        let [r, g, b, _] = rgba(spec.emissive.unwrap_or_default());
        let material = Material { colour: colour.unwrap_or(plain), emissive: [r, g, b], texture };
        Ok(Some(self.insert(material)))
    }

    /// Index of the material that a mesh file defines. `path` is the path of the mesh file. If
    /// `material` is `None`, the default material is used.
    pub(super) fn of_mesh(
        &mut self,
        material: Option<&collada::Material>,
        path: &str,
        warnings: &mut Warnings,
    ) -> Result<usize, Error> {
        let Some(material) = material else { return Ok(self.plain()) };
        let texture = match &material.texture {
            Some(name) => self.textures.find(name, path, warnings)?,
            None => None,
        };
        Ok(self.insert(Material { colour: material.colour, emissive: material.emissive, texture }))
    }
}
