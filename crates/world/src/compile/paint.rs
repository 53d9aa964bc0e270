//! Materials: what visuals and meshes are painted with, each kept once.

use super::body::Part;
use super::colours::script_colour;
use super::looks::Looks;
use crate::collada;
use crate::error::{Error, Place, Warnings};
use crate::scene::Material;
use crate::spec::{MaterialSpec, VisualSpec};
use crate::xml::excerpt;

/// What tells one material from another: colour, own light, texture.
pub(super) type MaterialKey = ([u32; 4], [u32; 3], Option<usize>);

impl Looks<'_> {
    /// The material of what does not say.
    pub(super) fn plain(&mut self) -> usize {
        self.keep(Material::default())
    }

    fn keep(&mut self, material: Material) -> usize {
        let key = (material.colour.map(f32::to_bits), material.emissive.map(f32::to_bits), material.texture);
        let list = &mut self.scene.materials;
        *self.materials.entry(key).or_insert_with(|| {
            list.push(material);
            list.len() - 1
        })
    }

    pub(super) fn material_of(
        &mut self,
        spec: &MaterialSpec,
        part: &Part<'_, VisualSpec>,
        warnings: &mut Warnings,
    ) -> Result<Option<usize>, Error> {
        let rgba = |c: [f64; 4]| c.map(|x| x.clamp(0.0, 1.0) as f32);
        let mut colour = spec.diffuse.or(spec.ambient).map(rgba);
        if let (None, Some(script)) = (colour, &spec.script) {
            colour = script_colour(script);
            if colour.is_none() {
                let message =
                    format!("script material \"{}\" is not known: a plain look is used", excerpt(script));
                warnings.add(message, || Place::file(part.file));
            }
        }
        let texture = match &spec.albedo_map {
            Some(map) => self.textures.find(map, part.file, warnings)?,
            None => None,
        };
        if colour.is_none() && spec.emissive.is_none() && texture.is_none() {
            return Ok(None);
        }
        // A picture alone is shown as it is.
        let plain = if texture.is_some() { [1.0; 4] } else { Material::default().colour };
        let [r, g, b, _] = rgba(spec.emissive.unwrap_or_default());
        let material = Material { colour: colour.unwrap_or(plain), emissive: [r, g, b], texture };
        Ok(Some(self.keep(material)))
    }

    pub(super) fn mesh_material(
        &mut self,
        own: Option<&collada::Material>,
        path: &str,
        warnings: &mut Warnings,
    ) -> Result<usize, Error> {
        let Some(own) = own else { return Ok(self.plain()) };
        let texture = match &own.texture {
            Some(name) => self.textures.find(name, path, warnings)?,
            None => None,
        };
        Ok(self.keep(Material { colour: own.colour, emissive: own.emissive, texture }))
    }
}
