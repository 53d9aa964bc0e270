//! Writes the glTF container: buffers, accessors, images, materials, meshes and nodes.

use crate::image::{Image, has_transparency};
use chicane_world::scene::{Material, Mesh, Texture, TextureSource};
use image::ImageEncoder;
use image::codecs::png::PngEncoder;
use serde_json::{Value, json};
use std::collections::BTreeMap;

// The numbers that glTF defines for component types and for targets of buffer views.
const FLOAT: u32 = 5126;
const U16: u32 = 5123;
const U32: u32 = 5125;
const VERTICES: u32 = 34962;
const INDICES: u32 = 34963;

/// A mesh in the buffer, without materials.
#[derive(Clone)]
pub(super) struct Geometry {
    attributes: Value,
    /// Index of the geometry's texture coordinates in [`GlbWriter::uvs`].
    uvs: usize,
    pub(super) groups: Vec<Triangles>,
}

/// The triangles of a geometry that share a material.
#[derive(Clone)]
pub(super) struct Triangles {
    pub(super) material: usize,
    accessor: usize,
}

/// Collects the parts of a file, and then writes the file.
#[derive(Default)]
pub(super) struct GlbWriter {
    bytes: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
    /// Texture coordinates of each geometry, and the index of their accessor; `None` until the
    /// coordinates are written.
    uvs: Vec<(Vec<[f32; 2]>, Option<usize>)>,
    images: Vec<Value>,
    /// For each image: whether it has transparent pixels.
    transparent: Vec<bool>,
    /// Index of each image by its encoded bytes, so that equal images are written once.
    known: BTreeMap<Vec<u8>, usize>,
    materials: Vec<Value>,
    meshes: Vec<Value>,
    nodes: Vec<Value>,
}

impl GlbWriter {
    /// Adds bytes to the buffer, aligned to four bytes. Returns the index of the new buffer view.
    fn view(&mut self, bytes: &[u8], target: Option<u32>) -> usize {
        let mut view = json!({ "buffer": 0, "byteOffset": self.bytes.len(), "byteLength": bytes.len() });
        if let Some(target) = target {
            view["target"] = json!(target);
        }
        self.bytes.extend_from_slice(bytes);
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        self.views.push(view);
        self.views.len() - 1
    }

    fn vectors<const N: usize>(&mut self, list: &[[f32; N]], bounds: bool) -> usize {
        let bytes: Vec<u8> = list.iter().flatten().flat_map(|v| v.to_le_bytes()).collect();
        let view = self.view(&bytes, Some(VERTICES));
        let kind = if N == 2 { "VEC2" } else { "VEC3" };
        let mut accessor =
            json!({ "bufferView": view, "componentType": FLOAT, "count": list.len(), "type": kind });
        if bounds {
            let fold = |f: fn(f32, f32) -> f32, from: f32| -> Vec<f64> {
                (0..N).map(|i| f64::from(list.iter().map(|v| v[i]).fold(from, f))).collect()
            };
            accessor["min"] = json!(fold(f32::min, f32::INFINITY));
            accessor["max"] = json!(fold(f32::max, f32::NEG_INFINITY));
        }
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }

    fn indices(&mut self, list: &[u32], corners: usize) -> usize {
        // 16-bit indices must be less than `u16::MAX`, because glTF reserves the highest value of
        // each index type for primitive restart.
        let short = corners < usize::from(u16::MAX);
        let bytes: Vec<u8> = if short {
            list.iter().flat_map(|&i| (i as u16).to_le_bytes()).collect()
        } else {
            list.iter().flat_map(|i| i.to_le_bytes()).collect()
        };
        let view = self.view(&bytes, Some(INDICES));
        let kind = if short { U16 } else { U32 };
        self.accessors.push(
            json!({ "bufferView": view, "componentType": kind, "count": list.len(), "type": "SCALAR" }),
        );
        self.accessors.len() - 1
    }

    /// Adds the vertices and triangles of a mesh.
    pub(super) fn geometry(&mut self, mesh: &Mesh) -> Geometry {
        let groups: Vec<_> = mesh.groups.iter().filter(|g| !g.indices.is_empty()).collect();
        if mesh.positions.is_empty() || groups.is_empty() {
            return Geometry { attributes: Value::Null, uvs: 0, groups: Vec::new() };
        }
        let position = self.vectors(&mesh.positions, true);
        let normals: Vec<[f32; 3]> = mesh.normals.iter().map(|n| unit(*n)).collect();
        let attributes = json!({ "POSITION": position, "NORMAL": self.vectors(&normals, false) });
        // The v axis of glTF points down, and ours points up.
        self.uvs.push((mesh.uvs.iter().map(|[u, v]| [*u, 1.0 - v]).collect(), None));
        let uvs = self.uvs.len() - 1;
        let groups = groups
            .iter()
            .map(|g| Triangles {
                material: g.material,
                accessor: self.indices(&g.indices, mesh.positions.len()),
            })
            .collect();
        Geometry { attributes, uvs, groups }
    }

    /// Adds a mesh with the triangles of a geometry. `material` maps a material index of the
    /// geometry to a material index of the file. Returns `None` if the geometry has no triangles.
    pub(super) fn mesh(
        &mut self,
        name: &str,
        geometry: &Geometry,
        material: impl Fn(usize) -> usize,
    ) -> Option<usize> {
        if geometry.groups.is_empty() {
            return None;
        }
        let mut primitives = Vec::new();
        for g in &geometry.groups {
            let material = material(g.material);
            let mut attributes = geometry.attributes.clone();
            if self.materials[material]["pbrMetallicRoughness"]["baseColorTexture"].is_object() {
                attributes["TEXCOORD_0"] = json!(self.uv_accessor(geometry.uvs));
            }
            primitives.push(json!({ "attributes": attributes, "indices": g.accessor, "material": material }));
        }
        self.meshes.push(json!({ "name": name, "primitives": primitives }));
        Some(self.meshes.len() - 1)
    }

    /// The accessor of the texture coordinates of a geometry. The coordinates are written when the
    /// first material with a texture needs them.
    fn uv_accessor(&mut self, geometry: usize) -> usize {
        if let Some(accessor) = self.uvs[geometry].1 {
            return accessor;
        }
        let uvs = std::mem::take(&mut self.uvs[geometry].0);
        let accessor = self.vectors(&uvs, false);
        self.uvs[geometry].1 = Some(accessor);
        accessor
    }

    /// Adds an encoded image in a format that glTF supports. Returns the index of the image.
    fn embed(&mut self, bytes: &[u8], mime: &str, has_transparency: bool) -> usize {
        if let Some(&known) = self.known.get(bytes) {
            return known;
        }
        let view = self.view(bytes, None);
        self.images.push(json!({ "bufferView": view, "mimeType": mime }));
        self.transparent.push(has_transparency);
        self.known.insert(bytes.to_vec(), self.images.len() - 1);
        self.images.len() - 1
    }

    /// Adds a picture as a PNG image. Returns the index of the image. The texture of the image has
    /// the same index.
    pub(super) fn picture(&mut self, picture: &Image) -> usize {
        self.embed(&png(picture), "image/png", has_transparency(&picture.pixels))
    }

    /// Adds a texture of a scene. Returns the index of the texture. PNG and JPEG files are embedded
    /// as they are. Files of other formats are converted to PNG; the result is `None` if such a
    /// file cannot be decoded.
    pub(super) fn texture(&mut self, texture: &Texture) -> Option<usize> {
        match &texture.source {
            TextureSource::BuiltIn(kind) => Some(self.picture(&crate::looks::texture(*kind))),
            TextureSource::File { bytes, .. } if bytes.starts_with(b"\x89PNG\r\n\x1a\n") => {
                let has_transparency =
                    crate::decode::picture(bytes).is_some_and(|image| has_transparency(&image.pixels));
                Some(self.embed(bytes, "image/png", has_transparency))
            }
            TextureSource::File { bytes, .. } if bytes.starts_with(b"\xff\xd8\xff") => {
                Some(self.embed(bytes, "image/jpeg", false))
            }
            TextureSource::File { bytes, .. } => {
                crate::decode::picture(bytes).map(|image| self.picture(&image))
            }
        }
    }

    /// Adds a material. All materials are single-sided, as in our renderer.
    pub(super) fn material(&mut self, material: &Material, texture: Option<usize>, opacity: f64) -> usize {
        let [r, g, b, a] = material.colour.map(f64::from);
        let alpha = (a * opacity).clamp(0.0, 1.0);
        let mut surface = json!({
            "baseColorFactor": [linear(r), linear(g), linear(b), alpha],
            "metallicFactor": 0.0,
            "roughnessFactor": 0.85,
        });
        if let Some(texture) = texture {
            surface["baseColorTexture"] = json!({ "index": texture });
        }
        let mut made = json!({ "pbrMetallicRoughness": surface });
        if material.emissive != [0.0; 3] {
            made["emissiveFactor"] = json!(material.emissive.map(|v| linear(f64::from(v))));
            if let Some(texture) = texture {
                made["emissiveTexture"] = json!({ "index": texture });
            }
        }
        if alpha < 1.0 || texture.is_some_and(|t| self.transparent[t]) {
            made["alphaMode"] = json!("BLEND");
        }
        self.materials.push(made);
        self.materials.len() - 1
    }

    /// Adds a node and returns its index.
    pub(super) fn node(&mut self, node: Value) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// Adds a node with children and returns its index.
    pub(super) fn parent(&mut self, mut node: Value, children: &[usize]) -> usize {
        if !children.is_empty() {
            node["children"] = json!(children);
        }
        self.node(node)
    }

    /// Writes the file and returns its bytes.
    pub(super) fn finish(mut self, root: usize, extras: Value) -> Vec<u8> {
        let textures: Vec<Value> =
            (0..self.images.len()).map(|i| json!({ "sampler": 0, "source": i })).collect();
        let mut document = json!({
            "asset": { "version": "2.0", "generator": "Chicane" },
            "scene": 0,
            "scenes": [{ "nodes": [root], "extras": extras }],
            "nodes": self.nodes,
        });
        // glTF does not allow empty arrays, so empty arrays are left out.
        if !self.images.is_empty() {
            // The sampler filters linearly with mipmaps, and repeats textures in both directions.
            document["samplers"] =
                json!([{ "magFilter": 9729, "minFilter": 9987, "wrapS": 10497, "wrapT": 10497 }]);
        }
        let lists = [
            ("textures", textures),
            ("images", self.images),
            ("materials", self.materials),
            ("meshes", self.meshes),
            ("accessors", self.accessors),
            ("bufferViews", self.views),
        ];
        for (name, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
            document[name] = Value::Array(list);
        }
        if !self.bytes.is_empty() {
            document["buffers"] = json!([{ "byteLength": self.bytes.len() }]);
        }
        let mut text = document.to_string().into_bytes();
        text.resize(text.len().next_multiple_of(4), b' ');
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        let body = if self.bytes.is_empty() { 0 } else { 8 + self.bytes.len() };
        let mut out = Vec::with_capacity(20 + text.len() + body);
        out.extend_from_slice(b"glTF");
        out.extend_from_slice(&2u32.to_le_bytes());
        out.extend_from_slice(&((20 + text.len() + body) as u32).to_le_bytes());
        out.extend_from_slice(&(text.len() as u32).to_le_bytes());
        out.extend_from_slice(b"JSON");
        out.extend_from_slice(&text);
        if body > 0 {
            out.extend_from_slice(&(self.bytes.len() as u32).to_le_bytes());
            out.extend_from_slice(b"BIN\0");
            out.extend_from_slice(&self.bytes);
        }
        out
    }
}

/// Encodes a picture as PNG, without an alpha channel if every pixel is opaque.
fn png(picture: &Image) -> Vec<u8> {
    let solid = picture.pixels.iter().all(|p| p[3] == 255);
    let (bytes, colours): (Vec<u8>, _) = if solid {
        (picture.pixels.iter().flat_map(|p| [p[0], p[1], p[2]]).collect(), image::ExtendedColorType::Rgb8)
    } else {
        (picture.pixels.iter().flatten().copied().collect(), image::ExtendedColorType::Rgba8)
    };
    let mut out = Vec::new();
    let encoder = PngEncoder::new(&mut out);
    // Writing cannot fail: the target is a `Vec`, and `bytes` has the size that is passed.
    let written = encoder.write_image(&bytes, picture.width as u32, picture.height as u32, colours);
    debug_assert!(written.is_ok());
    out
}

fn unit(n: [f32; 3]) -> [f32; 3] {
    let n = n.map(f64::from);
    let length = n.iter().map(|v| v * v).sum::<f64>().sqrt();
    if length > 0.0 { n.map(|v| (v / length) as f32) } else { [0.0, 0.0, 1.0] }
}

/// Converts an sRGB value, 0..1, to linear light.
pub(super) fn linear(v: f64) -> f64 {
    let v = v.clamp(0.0, 1.0);
    if v <= 0.040_45 { v / 12.92 } else { libm::pow((v + 0.055) / 1.055, 2.4) }
}
