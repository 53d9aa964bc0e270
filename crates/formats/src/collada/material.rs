//! Reads materials, their effects, and the paths of their texture pictures.

use super::Material;
use super::source::{floats, local};
use crate::error::{Error, Warnings};
use crate::percent::percent_decoded;
use crate::xml::{Document, Element, excerpt};
use std::collections::BTreeMap;

/// All materials of a file. They can be found by id and by name.
#[derive(Default)]
pub(super) struct Materials<'a> {
    pub(super) list: Vec<Material>,
    by_id: BTreeMap<&'a str, usize>,
    by_name: BTreeMap<&'a str, usize>,
}

impl<'a> Materials<'a> {
    /// Index of the material with the id `name`. If no material has this id, returns the index of
    /// the material with the name `name`. The result is `None` if there is no such material.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.by_id.get(name).or_else(|| self.by_name.get(name)).copied()
    }

    /// Reads the library of materials.
    pub(super) fn read(doc: &'a Document<'a>, warnings: &mut Warnings) -> Result<Materials<'a>, Error> {
        let library = |library: &'static str, item: &'static str| {
            doc.root.all(library).flat_map(move |l| l.all(item)).filter_map(|e| Some((e.attribute("id")?, e)))
        };
        let effects: BTreeMap<&str, &Element> = library("library_effects", "effect").collect();
        let images: BTreeMap<&str, &Element> = library("library_images", "image").collect();
        // Cache: the material of each effect that was already read, by the id of the effect.
        let mut cache: BTreeMap<&str, Material> = BTreeMap::new();
        let mut materials = Materials::default();
        for e in doc.root.all("library_materials").flat_map(|l| l.all("material")) {
            let url = e.child("instance_effect").and_then(|i| i.attribute("url")).unwrap_or("");
            let material = match local(url).and_then(|id| effects.get_key_value(id)) {
                Some((id, effect)) => match cache.get(id) {
                    Some(material) => material.clone(),
                    None => {
                        let material = Effect::new(doc, effect, &images).material(warnings)?;
                        cache.insert(id, material.clone());
                        material
                    }
                },
                None => {
                    let message = format!("no effect '{}' for a material", excerpt(url));
                    warnings.add(message, || doc.location(e));
                    Material::default()
                }
            };
            let (id, name) = (e.attribute("id"), e.attribute("name"));
            let index = materials.list.len();
            if let Some(id) = id {
                materials.by_id.entry(id).or_insert(index);
            }
            if let Some(name) = name {
                materials.by_name.entry(name).or_insert(index);
            }
            materials.list.push(Material { name: name.or(id).unwrap_or("").to_owned(), ..material });
        }
        Ok(materials)
    }
}

/// An `<effect>` with the elements that its textures refer to.
struct Effect<'a> {
    doc: &'a Document<'a>,
    effect: &'a Element,
    /// Images that the effect itself defines, by id.
    images: BTreeMap<&'a str, &'a Element>,
    /// Images of the file's image library, by id.
    library: &'a BTreeMap<&'a str, &'a Element>,
    /// Parameters of the effect (samplers and surfaces), by their `sid` attribute.
    params: BTreeMap<&'a str, &'a Element>,
}

impl<'a> Effect<'a> {
    fn new(
        doc: &'a Document<'a>,
        effect: &'a Element,
        library: &'a BTreeMap<&'a str, &'a Element>,
    ) -> Effect<'a> {
        let profile = effect.child("profile_COMMON");
        let technique = profile.and_then(|p| p.child("technique"));
        let levels = [Some(effect), profile, technique];
        let all = |name: &'static str| levels.into_iter().flatten().flat_map(move |e| e.all(name));
        let images = all("image").filter_map(|i| Some((i.attribute("id")?, i))).collect();
        let params = all("newparam").filter_map(|p| Some((p.attribute("sid")?, p))).collect();
        Effect { doc, effect, images, library, params }
    }

    fn material(&self, warnings: &mut Warnings) -> Result<Material, Error> {
        let mut material = Material::default();
        let technique = self.effect.path(&["profile_COMMON", "technique"]);
        let shader = technique.and_then(|t| {
            t.children.iter().find(|c| matches!(c.name.as_str(), "phong" | "lambert" | "blinn" | "constant"))
        });
        let Some(shader) = shader else {
            warnings.add("an effect without a supported shader is shown in grey", || {
                self.doc.location(self.effect)
            });
            return Ok(material);
        };
        let constant = shader.name == "constant";
        if let Some(emission) = self.colour(shader.child("emission"))? {
            material.emissive = [emission[0], emission[1], emission[2]];
        }
        // In the COLLADA standard, the `constant` shader has an emission but no diffuse colour. If
        // the shader has no diffuse colour, a texture is therefore taken from the emission. Without
        // a texture, the surface is black and emits the emission colour.
        let base =
            shader.child(if constant && shader.child("diffuse").is_none() { "emission" } else { "diffuse" });
        if let Some(texture) = base.and_then(|b| b.child("texture")) {
            material.texture = self.texture(texture, warnings);
            material.colour = [1.0; 4];
        } else if constant && shader.child("diffuse").is_none() {
            material.colour = [0.0, 0.0, 0.0, 1.0];
        } else if let Some([r, g, b, _]) = self.colour(base)? {
            material.colour = [r, g, b, 1.0];
        }
        material.colour[3] = self.alpha(shader)?;
        // `collada::write` stores the colour of a textured material in this extension element.
        let extension = technique.and_then(|t| t.path(&["extra", "technique"]));
        if let Some(tint) =
            extension.filter(|t| t.attribute("profile") == Some("CHICANE")).and_then(|t| t.child("tint"))
        {
            let [r, g, b, _] = self.numbers(tint)?;
            material.colour = [r, g, b, material.colour[3]];
        }
        Ok(material)
    }

    /// The `<color>` of a shader parameter such as `<diffuse>`. The result is `None` if the
    /// parameter is missing or has no `<color>`.
    fn colour(&self, slot: Option<&Element>) -> Result<Option<[f32; 4]>, Error> {
        slot.and_then(|s| s.child("color")).map(|c| self.numbers(c)).transpose()
    }

    /// Parses a colour of three or four numbers and clamps each number to 0..1.
    fn numbers(&self, e: &Element) -> Result<[f32; 4], Error> {
        let numbers = floats::<f32>(self.doc, e)?;
        let (rgb, alpha) = match numbers.as_slice() {
            [r, g, b] => ([*r, *g, *b], 1.0),
            [r, g, b, a] => ([*r, *g, *b], *a),
            other => {
                let message = format!("a colour must have 3 or 4 numbers, found {}", other.len());
                return Err(self.doc.error(e, message));
            }
        };
        Ok([rgb[0], rgb[1], rgb[2], alpha].map(|c| c.clamp(0.0, 1.0)))
    }

    /// Opacity of a surface: 1 means opaque. A computed opacity of 0 or less is replaced by 1,
    /// because some exporters write 0 for an opaque surface.
    fn alpha(&self, shader: &Element) -> Result<f32, Error> {
        let transparent = shader.child("transparent");
        let [r, g, b, a] = self.colour(transparent)?.unwrap_or([1.0; 4]);
        let factor = match shader.path(&["transparency", "float"]) {
            Some(e) => match floats::<f32>(self.doc, e)?.as_slice() {
                [factor] => factor.clamp(0.0, 1.0),
                _ => return Err(self.doc.error(e, "<float> must have one number")),
            },
            None => 1.0,
        };
        let luminance = 0.212_671 * r + 0.715_16 * g + 0.072_169 * b;
        let has_colour = transparent.is_some_and(|t| t.child("color").is_some());
        let alpha = match transparent.and_then(|t| t.attribute("opaque")) {
            Some("RGB_ZERO") if has_colour => 1.0 - luminance * factor,
            Some("RGB_ONE") if has_colour => luminance * factor,
            Some("A_ZERO") if has_colour => 1.0 - a * factor,
            _ => a * factor,
        };
        Ok(if alpha > 0.0 { alpha.min(1.0) } else { 1.0 })
    }

    /// The path of the picture of a `<texture>`. A texture refers to a sampler, the sampler to a
    /// surface, and the surface to an image. Some exporters omit the sampler, the surface or both.
    /// If no picture is found, a warning is added and the result is `None`.
    fn texture(&self, texture: &Element, warnings: &mut Warnings) -> Option<String> {
        let name = texture.attribute("texture").unwrap_or("").trim();
        let image = self.image(name).or_else(|| {
            let sampler = self.params.get(name)?.child("sampler2D")?;
            if let Some(instance) = sampler.child("instance_image") {
                return self.image(local(instance.attribute("url")?)?);
            }
            let source = sampler.child("source")?.text.as_str();
            let surface = self.params.get(source).and_then(|p| p.child("surface"));
            self.image(surface.and_then(|s| s.child("init_from")).map_or(source, |i| i.text.as_str()))
        });
        let path = image.and_then(|image| {
            let from = image.child("init_from")?;
            picture_path(&from.child("ref").unwrap_or(from).text)
        });
        if path.is_none() {
            let message = format!("no picture for texture '{}'", excerpt(name));
            warnings.add(message, || self.doc.location(texture));
        }
        path
    }

    fn image(&self, id: &str) -> Option<&'a Element> {
        self.images.get(id).or_else(|| self.library.get(id)).copied()
    }
}

/// Turns the URI of a picture into a path relative to the mesh file. If the path is absolute, only
/// its file name is kept, because the folder exists only on the exporter's machine. The result is
/// `None` if no path remains.
pub(crate) fn picture_path(uri: &str) -> Option<String> {
    let uri = uri.trim();
    let (is_file, path) = match uri.strip_prefix("file:") {
        Some(rest) => (true, rest.strip_prefix("//").unwrap_or(rest)),
        None => (false, uri),
    };
    let path = percent_decoded(path).replace('\\', "/");
    let drive = path.trim_start_matches('/').as_bytes();
    let absolute =
        path.starts_with('/') || matches!(drive, [letter, b':', ..] if letter.is_ascii_alphabetic());
    let path = match path.rsplit_once('/') {
        Some((_, name)) if absolute => name,
        _ if is_file => path.trim_start_matches("./"),
        _ => &path,
    };
    (!path.is_empty()).then(|| path.to_owned())
}
