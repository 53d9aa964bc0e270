//! Writes worlds and cars as binary glTF 2.0 files for viewers.
//!
//! In glTF the y axis points up, and in our worlds the z axis points up. All nodes are therefore
//! below one root node. The root node rotates the z axis onto the y axis. The node of an instance
//! has the name of the instance, and `extras.role` holds the role of the instance.

mod writer;

use crate::looks::{self, Joint, Lamp, Model, SkyColours};
use chicane_world::scene::{BuiltInMesh, Instance, Look, Material, Mesh, Owner, Role, Texture};
use chicane_world::world::ObjectType;
use chicane_world::{Pose, Profile, World};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use writer::GlbWriter;

/// Writes a world in its initial state, with all its instances.
pub fn world(world: &World) -> Vec<u8> {
    let mut writer = GlbWriter::default();
    let mut builder = NodeBuilder::new(&mut writer, world);
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); world.objects.len()];
    let mut top = Vec::new();
    for instance in &world.scene.instances {
        let node = builder.instance(instance);
        match instance.owner {
            Owner::Object(i) if i < children.len() => children[i].push(node),
            _ => top.push(node),
        }
    }
    for (object, children) in world.objects.iter().zip(&children) {
        let mut node = placed(&object.name, &object.origin);
        node["extras"] = json!({
            "object": object.name,
            "type": type_name(object.object_type),
            "kind": object.kind.name(),
        });
        top.push(writer.parent(node, children));
    }
    let root = root(&mut writer, &world.name, &top);
    let (sun, sky) = (&world.scene.sun, SkyColours::new(world.scene.background, writer::linear));
    let lamp = |lamp| {
        let colours = looks::lamp_colours(lamp);
        json!({ "unlit": colours.unlit, "lit": colours.lit })
    };
    let extras = json!({
        "ambient": world.scene.ambient,
        "sun": { "direction": sun.direction, "colour": sun.colour },
        "sky": {
            "zenith": sky.zenith.to_array(),
            "horizon": sky.horizon.to_array(),
            "nadir": sky.nadir.to_array(),
        },
        "lamps": { "red": lamp(Lamp::Red), "yellow": lamp(Lamp::Yellow), "green": lamp(Lamp::Green) },
    });
    writer.finish(root, extras)
}

/// Writes the car with all joint angles at zero. Each wheel, the pan joint and the tilt joint are
/// nodes that the viewer rotates.
pub fn car(profile: &Profile) -> Vec<u8> {
    let mut writer = GlbWriter::default();
    let parts = looks::car(profile);
    let mut made: Vec<(&Model, Option<usize>)> = Vec::new();
    let mut below = |joint: Joint| -> Vec<usize> {
        let mut nodes = Vec::new();
        for part in parts.iter().filter(|p| p.joint == joint) {
            let known = made.iter().find(|(model, _)| **model == part.model).map(|(_, mesh)| *mesh);
            let mesh = known.unwrap_or_else(|| {
                let materials = own_materials(&mut writer, &part.model, 1.0);
                let geometry = writer.geometry(&part.model.mesh);
                writer.mesh(part.name, &geometry, |m| materials[m])
            });
            made.push((&part.model, mesh));
            let mut node = placed(part.name, &part.pose);
            set_mesh(&mut node, mesh);
            nodes.push(writer.node(node));
        }
        nodes
    };
    let names = ["joint_front_left", "joint_front_right", "joint_rear_left", "joint_rear_right"];
    let body = below(Joint::Body);
    let wheels = [0, 1, 2, 3].map(|i| below(Joint::Wheel(i)));
    let (pan, tilt) = (below(Joint::Pan), below(Joint::Tilt));
    let pose = |joint| looks::joint_pose(profile, joint, [0.0; 2], [0.0; 4], 0.0, 0.0);
    let mut top = body;
    for (i, (name, children)) in names.into_iter().zip(&wheels).enumerate() {
        let mut node = placed(name, &pose(Joint::Wheel(i)));
        node["extras"] = json!({ "joint": "wheel", "index": i });
        top.push(writer.parent(node, children));
    }
    let mut node = placed("joint_tilt", &Pose::IDENTITY);
    node["extras"] = json!({ "joint": "tilt" });
    let mut in_pan = pan;
    in_pan.push(writer.parent(node, &tilt));
    let mut node = placed("joint_pan", &pose(Joint::Pan));
    node["extras"] = json!({ "joint": "pan" });
    top.push(writer.parent(node, &in_pan));
    let root = root(&mut writer, &profile.generation, &top);
    writer.finish(root, json!({ "model_name": profile.model_name }))
}

/// Adds the root node, which rotates the z axis onto the y axis.
fn root(writer: &mut GlbWriter, name: &str, children: &[usize]) -> usize {
    const HALF: f64 = std::f64::consts::FRAC_1_SQRT_2;
    writer.parent(json!({ "name": name, "rotation": [-HALF, 0.0, 0.0, HALF] }), children)
}

/// A node with a name and a pose.
fn placed(name: &str, pose: &Pose) -> Value {
    let mut node = json!({ "name": name });
    if pose.position != glam::DVec3::ZERO {
        node["translation"] = json!(pose.position.to_array());
    }
    if pose.rotation != glam::DQuat::IDENTITY {
        node["rotation"] = json!(pose.rotation.normalize().to_array());
    }
    node
}

fn set_mesh(node: &mut Value, mesh: Option<usize>) {
    if let Some(mesh) = mesh {
        node["mesh"] = json!(mesh);
    }
}

/// Adds the materials and textures of a model. Returns the index of each material in the file.
fn own_materials(writer: &mut GlbWriter, model: &Model, opacity: f64) -> Vec<usize> {
    let textures: Vec<usize> = model.textures.iter().map(|image| writer.picture(image)).collect();
    let texture = |m: &Material| m.texture.and_then(|t| textures.get(t)).copied();
    let used = |i: usize| model.mesh.groups.iter().any(|g| g.material == i);
    let list = model.materials.iter().enumerate();
    // Unused materials are not written. They get index 0 as a placeholder that is never read.
    list.map(|(i, m)| if used(i) { writer.material(m, texture(m), opacity) } else { 0 }).collect()
}

/// Identifies a geometry by a number for its kind, and by the bits of its dimensions. Geometries
/// without dimensions have an index instead.
type GeometryKey = (usize, [u64; 3]);

/// Makes nodes from instances. Geometries, meshes and materials are cached, so that each is written
/// once.
struct NodeBuilder<'a> {
    writer: &'a mut GlbWriter,
    world: &'a World,
    /// Index in the file of each texture of the scene; `None` if [`GlbWriter::texture`] cannot add
    /// the texture.
    textures: Vec<Option<usize>>,
    geometries: BTreeMap<GeometryKey, writer::Geometry>,
    /// Index in the file of each mesh, or `None` if the mesh has no triangles. The key is the
    /// geometry, the material that replaces the geometry's own materials (if any), and the bits of
    /// the opacity.
    meshes: BTreeMap<(GeometryKey, Option<usize>, u64), Option<usize>>,
    /// Index in the file of each material. The key is the material's index in the scene, and the
    /// bits of the opacity.
    materials: BTreeMap<(usize, u64), usize>,
    built_in: BTreeMap<BuiltInMesh, Model>,
}

impl<'a> NodeBuilder<'a> {
    fn new(writer: &'a mut GlbWriter, world: &'a World) -> NodeBuilder<'a> {
        let textures = world.scene.textures.iter().map(|t: &Texture| writer.texture(t)).collect();
        NodeBuilder {
            writer,
            world,
            textures,
            geometries: BTreeMap::new(),
            meshes: BTreeMap::new(),
            materials: BTreeMap::new(),
            built_in: BTreeMap::new(),
        }
    }

    fn instance(&mut self, instance: &Instance) -> usize {
        let mut node = placed(&instance.name, &instance.pose);
        let mut scale = instance.scale;
        if let Look::BuiltIn(_, size) = instance.look {
            scale = std::array::from_fn(|i| scale[i] * size[i]);
        }
        if scale != [1.0; 3] {
            node["scale"] = json!(scale);
        }
        node["extras"] = json!({ "role": role_name(instance.role), "owner": owner_name(instance.owner) });
        set_mesh(&mut node, self.mesh(instance));
        self.writer.node(node)
    }

    fn mesh(&mut self, instance: &Instance) -> Option<usize> {
        let key = key_of(&instance.look);
        let whole = (key, instance.material, instance.opacity.to_bits());
        if let Some(&mesh) = self.meshes.get(&whole) {
            return mesh;
        }
        let model = match instance.look {
            Look::BuiltIn(kind, _) => {
                Some(self.built_in.entry(kind).or_insert_with(|| looks::object(kind)).clone())
            }
            _ => None,
        };
        if !self.geometries.contains_key(&key) {
            let shape: Mesh;
            let source = match (&instance.look, &model) {
                (_, Some(model)) => &model.mesh,
                (Look::Mesh(i), _) => self.world.scene.meshes.get(*i)?.as_ref(),
                (look, _) => {
                    shape = looks::shape(look)?;
                    &shape
                }
            };
            let geometry = self.writer.geometry(source);
            self.geometries.insert(key, geometry);
        }
        let geometry = self.geometries.get(&key)?.clone();
        let mut of: BTreeMap<usize, usize> = BTreeMap::new();
        for group in &geometry.groups {
            let material = match (instance.material, &model) {
                (Some(material), _) => self.material(material, instance.opacity),
                (None, Some(model)) => {
                    let all = own_materials(self.writer, model, instance.opacity);
                    of.extend(all.into_iter().enumerate());
                    break;
                }
                (None, None) => self.material(group.material, instance.opacity),
            };
            of.insert(group.material, material);
        }
        let mesh = self.writer.mesh(&instance.name, &geometry, |m| of.get(&m).copied().unwrap_or(0));
        self.meshes.insert(whole, mesh);
        mesh
    }

    /// The index in the file of a material of the scene. The material is written on first use.
    fn material(&mut self, index: usize, opacity: f64) -> usize {
        let key = (index, opacity.to_bits());
        if let Some(&material) = self.materials.get(&key) {
            return material;
        }
        let material = self.world.scene.materials.get(index).cloned().unwrap_or_default();
        let texture = material.texture.and_then(|t| self.textures.get(t).copied().flatten());
        let made = self.writer.material(&material, texture, opacity);
        self.materials.insert(key, made);
        made
    }
}

fn key_of(look: &Look) -> GeometryKey {
    let bits = |v: [f64; 3]| v.map(f64::to_bits);
    match *look {
        Look::Mesh(i) => (0, [i as u64, 0, 0]),
        Look::Box(size) => (1, bits(size)),
        Look::Cylinder(r, l) => (2, bits([r, l, 0.0])),
        Look::Sphere(r) => (3, bits([r, 0.0, 0.0])),
        Look::Capsule(r, l) => (4, bits([r, l, 0.0])),
        Look::Cone(r, l) => (5, bits([r, l, 0.0])),
        Look::Ellipsoid(half) => (6, bits(half)),
        Look::Plane([w, h]) => (7, bits([w, h, 0.0])),
        Look::BuiltIn(kind, _) => (8, [kind as u64, 0, 0]),
    }
}

fn role_name(role: Role) -> &'static str {
    match role {
        Role::Plain => "plain",
        Role::LampRed => "lamp_red",
        Role::LampGreen => "lamp_green",
        Role::Screen => "screen",
    }
}

fn owner_name(owner: Owner) -> &'static str {
    match owner {
        Owner::Track => "track",
        Owner::Scenery => "scenery",
        Owner::Object(_) => "object",
    }
}

fn type_name(object_type: ObjectType) -> &'static str {
    match object_type {
        ObjectType::Object => "object",
        ObjectType::Wall => "wall",
        ObjectType::Light => "light",
    }
}

#[cfg(test)]
mod tests;
