//! Generates worlds like those of other people: bundles that resemble the folders of Gazebo users.
//!
//! No world has a route, or a model with a marker that makes the model an object of Chicane. Each
//! world has some of these features: meshes in which y points up and which a pose turns, a shared
//! model that is included several times, spaces in names, missing values, STL and OBJ meshes, and
//! missing meshes.

use crate::Random;
use chicane_world::MemoryBundle;
use chicane_world::collada::{Group, Material, MeshPart, Model, write};

/// What a generated world contains, so that the message of a failed test can say what is special
/// about the world.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Habits {
    /// The kind of floor.
    pub floor: Floor,
    /// What stands at the origin.
    pub at_origin: AtOrigin,
    /// Number of models without markers that are not static.
    pub loose: u64,
}

/// The floor of a generated world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Floor {
    /// The ground plane of Gazebo.
    GroundPlane,
    /// A thick static box. Its top is at, above or below z = 0.
    Slab,
    /// A COLLADA mesh with y up, turned by the pose of its model.
    TurnedMesh,
    /// A binary STL mesh.
    Stl,
    /// An OBJ mesh with a material file.
    Obj,
}

/// What stands at the origin of a generated world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtOrigin {
    /// Nothing.
    Nothing,
    /// A static box.
    House,
    /// A static mesh.
    Block,
    /// A static table top on four legs.
    Table,
    /// A box that can be pushed.
    Crate,
}

/// Makes a world. The same seed gives the same world. The seed must not be 0, see [`Random`].
pub fn world(seed: u64) -> (MemoryBundle, Habits) {
    let mut maker =
        WorldMaker { random: Random(seed), bundle: MemoryBundle::default(), inside: String::new() };
    // Similar seeds give similar first numbers, so the state of the generator is mixed first.
    (0..8).for_each(|_| maker.random.0 = maker.random.0.rotate_left(17) ^ maker.random.below(u64::MAX));
    let habits = maker.fill();
    (maker.bundle, habits)
}

struct WorldMaker {
    random: Random,
    bundle: MemoryBundle,
    /// Content of the `<world>` element.
    inside: String,
}

impl WorldMaker {
    fn fill(&mut self) -> Habits {
        let floor = self.floor();
        let at_origin = self.at_origin();
        self.shared_models();
        let loose = self.loose_models() + u64::from(at_origin == AtOrigin::Crate);
        self.incomplete_models();
        self.lights();
        let version = 4 + self.random.below(7);
        let name = ["office", "my office", "Büro 2", "race-track.final"][self.random.below(4) as usize];
        let text = format!(
            "<?xml version='1.0'?>\n<sdf version='1.{version}'>\n<world name='default'>\n{}</world>\n</sdf>\n",
            self.inside
        );
        self.bundle.insert(format!("worlds/{name}.world"), text);
        Habits { floor, at_origin, loose }
    }

    fn floor(&mut self) -> Floor {
        let z = [0.0, 0.1, -0.4, 0.0][self.random.below(4) as usize];
        let (floor, text) = match self.random.below(5) {
            0 => (Floor::GroundPlane, "<include><uri>model://ground_plane</uri></include>".to_owned()),
            1 => {
                let middle = z - 0.1;
                let shape = "<box><size>24 18 0.2</size></box>";
                (Floor::Slab, fixed("slab", &format!("0 0 {middle} 0 0 0"), &solid_and_seen(shape)))
            }
            2 => {
                // The plane is in x and z, and faces +y. The pose turns +y up.
                let corners = [[-9.0, 0.0, 7.0], [9.0, 0.0, 7.0], [9.0, 0.0, -7.0], [-9.0, 0.0, -7.0]];
                let dae = quad_mesh(corners).replace("Z_UP", "Y_UP");
                self.bundle.insert("models/big floor/meshes/floor plan.dae", dae);
                let mesh = mesh("model://big%20floor/meshes/floor%20plan.dae", "");
                (
                    Floor::TurnedMesh,
                    fixed("ground", &format!("0 0 {z} 1.5707963 0 0"), &solid_and_seen(&mesh)),
                )
            }
            3 => {
                self.bundle.insert("meshes/floor.STL", stl(&slab_triangles([20.0, 16.0, 0.3])));
                let mesh = mesh("file://meshes/floor.STL", "");
                (Floor::Stl, fixed("floor", &format!("0 0 {z} 0 0 0"), &solid_and_seen(&mesh)))
            }
            _ => {
                let material = "newmtl tiles\nKd 0.7 0.3 0.2\nd 1\n";
                self.bundle.insert("models/tiles/tiles.mtl", material);
                self.bundle.insert("models/tiles/tiles.obj", obj(&slab_triangles([2000.0, 1600.0, 20.0])));
                let mesh = mesh("model://tiles/tiles.obj", "<scale>0.01 0.01 0.01</scale>");
                (Floor::Obj, fixed("tiles", &format!("0 0 {z} 0 0 0"), &solid_and_seen(&mesh)))
            }
        };
        self.inside += &text;
        floor
    }

    fn at_origin(&mut self) -> AtOrigin {
        let (kind, text) = match self.random.below(5) {
            0 => (AtOrigin::Nothing, String::new()),
            1 => {
                let house = solid_and_seen("<box><size>3 2.5 2</size></box>");
                (AtOrigin::House, fixed("house", "0.2 0 0.8 0 0 0.4", &house))
            }
            2 => {
                self.bundle.insert("meshes/block.stl", ascii_stl(&slab_triangles([2.0, 2.0, 1.5])));
                let mesh = mesh("model://block.stl", "");
                (AtOrigin::Block, fixed("block", "0 0.3 1.2 0 0 0", &solid_and_seen(&mesh)))
            }
            3 => {
                let mut table = part("top", "0 0 0.9 0 0 0", "<box><size>2 1 0.05</size></box>");
                for (i, (x, y)) in
                    [(0.9, 0.4), (-0.9, 0.4), (0.9, -0.4), (-0.9, -0.4)].into_iter().enumerate()
                {
                    let leg = "<cylinder><radius>0.03</radius><length>1.3</length></cylinder>";
                    table += &part(&format!("leg {i}"), &format!("{x} {y} 0.3 0 0 0"), leg);
                }
                (AtOrigin::Table, fixed("table", "0 0 0 0 0 0", &table))
            }
            _ => {
                let shape = solid_and_seen("<box><size>0.4 0.4 0.4</size></box>");
                (AtOrigin::Crate, loose("crate at the origin", "0 0 0.4 0 0 0", &shape))
            }
        };
        self.inside += &text;
        kind
    }

    /// A model that is included up to five times, with spaces in the names of its files.
    fn shared_models(&mut self) {
        let count = self.random.below(6);
        let config = "<model><name>Shelf</name><sdf version='1.6'>shelf model.sdf</sdf></model>";
        self.bundle.insert("models/my shelf/model.config", config);
        let mesh = mesh("meshes/board.dae", "");
        let model = format!(
            "<sdf version='1.6'><model name='shelf'><static>true</static><link name='link'>{}</link></model></sdf>",
            solid_and_seen(&mesh)
        );
        self.bundle.insert("models/my shelf/shelf model.sdf", model);
        let corners = [[-0.4, -0.2, 0.6], [0.4, -0.2, 0.6], [0.4, 0.2, 0.6], [-0.4, 0.2, 0.6]];
        self.bundle.insert("models/my shelf/meshes/board.dae", quad_mesh(corners));
        for i in 0..count {
            let (x, y) = self.place();
            self.inside += &format!(
                "<include><uri>model://my shelf</uri><name>shelf {i}</name><pose>{x} {y} 0 0 0 {i}</pose></include>\n"
            );
        }
    }

    /// Models without markers that can be pushed.
    fn loose_models(&mut self) -> u64 {
        let count = self.random.below(5);
        for i in 0..count {
            let (x, y) = self.place();
            let shape = match self.random.below(3) {
                0 => "<box><size>0.3 0.2 0.2</size></box>",
                1 => "<cylinder><radius>0.1</radius><length>0.3</length></cylinder>",
                _ => "<sphere><radius>0.15</radius></sphere>",
            };
            let pose = format!("{x} {y} 0.5 0 0 0.3");
            self.inside += &loose(&format!("loose {i}"), &pose, &solid_and_seen(shape));
        }
        count
    }

    /// Models with missing values and missing files.
    fn incomplete_models(&mut self) {
        let (x, y) = self.place();
        let parts = "<visual name='empty'/><collision name='empty'/><visual name='ball'><geometry><sphere/></geometry></visual>";
        self.inside += &fixed("incomplete", &format!("{x} {y} 1 0 0 0"), parts);
        if self.random.below(2) == 0 {
            let (x, y) = self.place();
            let mesh = mesh("model://not_here/meshes/statue.dae", "");
            self.inside += &fixed("statue", &format!("{x} {y} 0 0 0 0"), &solid_and_seen(&mesh));
        }
        if self.random.below(2) == 0 {
            self.inside += "<include><uri>model://nobody has this</uri></include>\n";
        }
    }

    fn lights(&mut self) {
        self.inside += match self.random.below(4) {
            0 => "<include><uri>model://sun</uri></include>\n",
            1 => "<light name='lamp' type='point'><pose>1 1 3 0 0 0</pose></light>\n",
            2 => "<scene><ambient>0.6 0.6 0.6 1</ambient><background>0.7 0.7 0.7 1</background></scene>\n",
            _ => {
                "<light name='s' type='directional'><intensity>0.8</intensity><direction>-0.5 0.1 -0.9</direction></light>
                 <light name='spot' type='spot'><pose>0 0 5 0 0 0</pose></light>\n"
            }
        };
    }

    /// A place with 3 m ≤ |x| < 7 m and |y| ≤ 5 m. It is away from the model at the origin, and on
    /// the floor of every generated world.
    fn place(&mut self) -> (f64, f64) {
        let side = if self.random.below(2) == 0 { 1.0 } else { -1.0 };
        let x = side * (3.0 + self.random.below(40) as f64 * 0.1);
        (x, self.random.below(100) as f64 * 0.1 - 5.0)
    }
}

fn fixed(name: &str, pose: &str, link: &str) -> String {
    format!(
        "<model name='{name}'><static>true</static><pose>{pose}</pose><link name='link'>{link}</link></model>\n"
    )
}

fn loose(name: &str, pose: &str, link: &str) -> String {
    format!(
        "<model name='{name}'><pose>{pose}</pose><link name='body'><inertial><mass>2</mass></inertial>{link}</link></model>\n"
    )
}

fn mesh(uri: &str, more: &str) -> String {
    format!("<mesh><uri>{uri}</uri>{more}</mesh>")
}

fn solid_and_seen(shape: &str) -> String {
    part("part", "0 0 0 0 0 0", shape)
}

/// A collision and a visual of the same shape.
fn part(name: &str, pose: &str, shape: &str) -> String {
    format!(
        "<collision name='{name}'><pose>{pose}</pose><geometry>{shape}</geometry></collision>
         <visual name='{name}'><pose>{pose}</pose><geometry>{shape}</geometry>
         <material><script><name>Gazebo/Wood</name></script></material></visual>"
    )
}

/// A COLLADA file with one rectangle. The corners are in counter-clockwise order as seen from its
/// front.
pub fn quad_mesh(corners: [[f32; 3]; 4]) -> String {
    let [a, b, c] = [corners[0], corners[1], corners[2]].map(glam::Vec3::from_array);
    let normal = (b - a).cross(c - a).normalize_or_zero().to_array();
    let part = MeshPart {
        name: "quad".to_owned(),
        positions: corners.to_vec(),
        normals: vec![normal; 4],
        uvs: vec![[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]],
        groups: vec![Group { material: Some(0), indices: vec![0, 1, 2, 0, 2, 3] }],
    };
    let material = Material { name: "green".to_owned(), colour: [0.3, 0.6, 0.3, 1.0], ..Material::default() };
    write(&Model { parts: vec![part], materials: vec![material] })
}

/// The twelve triangles of a box. Its top is at z = 0, and all triangles face outwards.
pub fn slab_triangles(size: [f32; 3]) -> Vec<[[f32; 3]; 3]> {
    let [x, y, z] = [size[0] / 2.0, size[1] / 2.0, size[2]];
    let corner = |i: usize| {
        let sign = |bit: usize| if i >> bit & 1 == 1 { 1.0 } else { -1.0 };
        [x * sign(0), y * sign(1), if i & 4 == 4 { 0.0 } else { -z }]
    };
    let faces = [[4, 5, 7, 6], [0, 2, 3, 1], [0, 1, 5, 4], [1, 3, 7, 5], [3, 2, 6, 7], [2, 0, 4, 6]];
    let split = |[a, b, c, d]: [usize; 4]| [[a, b, c], [a, c, d]];
    faces.into_iter().flat_map(split).map(|t| t.map(corner)).collect()
}

/// A binary STL file.
pub fn stl(triangles: &[[[f32; 3]; 3]]) -> Vec<u8> {
    let mut bytes = b"solid binary files may begin like this".to_vec();
    bytes.resize(80, 0);
    bytes.extend((triangles.len() as u32).to_le_bytes());
    for triangle in triangles {
        bytes.extend([0; 12]);
        bytes.extend(triangle.iter().flatten().flat_map(|c| c.to_le_bytes()));
        bytes.extend([0; 2]);
    }
    bytes
}

/// A text STL file.
pub fn ascii_stl(triangles: &[[[f32; 3]; 3]]) -> String {
    let facets = triangles.iter().map(|t| {
        let corners: String = t.iter().map(|[x, y, z]| format!("      vertex {x} {y} {z}\n")).collect();
        format!("  facet normal 0 0 0\n    outer loop\n{corners}    endloop\n  endfacet\n")
    });
    format!("solid with vertex in its name\n{}endsolid\n", facets.collect::<String>())
}

/// An OBJ file with the material `tiles` of the file `tiles.mtl`.
pub fn obj(triangles: &[[[f32; 3]; 3]]) -> String {
    let mut text = "# a box\nmtllib tiles.mtl\no box\nusemtl tiles\n".to_owned();
    for (i, triangle) in triangles.iter().enumerate() {
        for [x, y, z] in triangle {
            text += &format!("v {x} {y} {z}\n");
        }
        // Half of the faces have negative indices, which OBJ counts backwards from the last vertex.
        let n = 3 * i + 1;
        text += &if i % 2 == 0 { format!("f {n} {} {}\n", n + 1, n + 2) } else { "f -3 -2 -1\n".to_owned() };
    }
    text
}

/// A city: rows of houses as one COLLADA mesh with about `triangles` triangles, on the ground plane
/// of Gazebo.
pub fn city(triangles: usize) -> MemoryBundle {
    let houses = triangles / 12;
    let per_row = (houses as f64).sqrt().ceil() as usize;
    let mut part = MeshPart { name: "city".to_owned(), ..MeshPart::default() };
    let mut indices = Vec::new();
    for house in 0..houses {
        let (column, row) = ((house % per_row) as f32, (house / per_row) as f32);
        let height = 2.0 + ((house * 7) % 5) as f32;
        let origin = [6.0 * column + 4.0, 6.0 * row + 4.0, height];
        for triangle in slab_triangles([3.0, 3.0, height]) {
            let [a, b, c] = triangle.map(glam::Vec3::from_array);
            let normal = (b - a).cross(c - a).normalize_or_zero().to_array();
            for corner in triangle {
                indices.push(part.positions.len() as u32);
                part.positions.push([0, 1, 2].map(|i| corner[i] + origin[i]));
                part.normals.push(normal);
                part.uvs.push([0.0; 2]);
            }
        }
    }
    part.groups.push(Group { material: Some(0), indices });
    let material =
        Material { name: "stone".to_owned(), colour: [0.6, 0.6, 0.55, 1.0], ..Material::default() };
    let mut bundle = MemoryBundle::default();
    bundle.insert("meshes/city.dae", write(&Model { parts: vec![part], materials: vec![material] }));
    let city = fixed("city", "0 0 0 0 0 0", &solid_and_seen(&mesh("model://meshes/city.dae", "")));
    let text = format!(
        "<sdf version='1.7'><world name='city'><include><uri>model://ground_plane</uri></include>{city}</world></sdf>"
    );
    bundle.insert("worlds/city.world", text);
    bundle
}
