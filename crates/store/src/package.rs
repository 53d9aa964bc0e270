//! Packs a bundle, to publish its world or to install the world on this machine. The id of the
//! world is computed from its manifest (see `sum.rs`).

use crate::manifest::{Access, Listed, Manifest, Meta, Rev};
use crate::rules::{self, FilePath, Unfit};
use crate::sum::{RandomError, Sum, ZEROS, neutral, random_hex, replaced};
use crate::summary::summary_of;
use crate::time;
use chicane_wire::WorldId;
use chicane_world::{Assets, Bundle, MemoryBundle, Warning, World};

/// A placeholder for the id while the id is not known. It has 32 random hex digits, so that no
/// other text of the bundle equals it.
#[derive(Debug, Clone)]
pub struct IdPlaceholder(String);

impl IdPlaceholder {
    /// A new placeholder.
    pub fn new() -> Result<IdPlaceholder, RandomError> {
        random_hex().map(IdPlaceholder)
    }

    /// The name of the world in the bundle: `custom_` and the placeholder.
    pub fn world_name(&self) -> String {
        format!("custom_{}", self.0)
    }
}

/// What a publisher says about a world.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// Display name.
    pub name: String,
    /// Who may download the world.
    pub access: Access,
}

/// A world that is ready to be published or installed.
#[derive(Debug, Clone)]
pub struct Package {
    /// Id of the world.
    pub id: WorldId,
    /// The world's `meta.json`.
    pub meta: Meta,
    /// The world's `manifest.json`. The id is computed from it.
    pub manifest: Manifest,
    /// Paths and contents of all files.
    pub files: Vec<(FilePath, Vec<u8>)>,
    /// Whether the world has an evaluation.
    pub evaluation: bool,
    /// The parts of the world that the loader ignored.
    pub warnings: Vec<Warning>,
}

/// What a bundle has to contain. The requirements are lower for a world that is imported on this
/// machine than for a world that is published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// The world has to load and to have a track model. Published worlds require this.
    Track,
    /// The world only has to load.
    World,
}

impl Package {
    /// Packs a bundle. The world of the bundle may have any name. Replaces the placeholder with the
    /// id everywhere.
    pub fn new(
        bundle: &MemoryBundle,
        placeholder: &IdPlaceholder,
        label: &Label,
        need: Need,
    ) -> Result<Package, Unfit> {
        if !crate::manifest::is_name(&label.name) {
            let text = "the name must be one line of 1 to 100 characters";
            return Err(Unfit::Rule(text.to_owned()));
        }
        let bundle = rename(bundle, &placeholder.world_name())?;
        let mut files = Vec::with_capacity(bundle.files.len());
        for (path, bytes) in &bundle.files {
            files.push((FilePath::parse(path)?, bytes));
        }
        rules::check_paths(files.iter().map(|(path, _)| path))?;
        rules::check_sizes(files.iter().map(|(path, bytes)| (path, bytes.len() as u64)))?;
        let world = load(&bundle, need)?;
        let (nonce, created_at) = (random_hex().map_err(|e| Unfit::Rule(e.to_string()))?, time::now());
        let sums: Vec<Sum> = files.iter().map(|(_, bytes)| neutral(bytes, &placeholder.0)).collect();
        let listed = files.iter().zip(&sums).map(|((path, bytes), sum)| Listed {
            path: path.clone(),
            size: bytes.len() as u64,
            sum: *sum,
        });
        let evaluation = world.evaluation.is_some();
        let draft = Manifest::new(listed.collect(), &created_at, &nonce, evaluation);
        let (id, rev) = draft.names(&placeholder.0, &sums);
        let (Some(id), Some(rev)) = (id, Rev::parse(&rev)) else {
            return Err(Unfit::Rule("the checksum of the files is not a world id".to_owned()));
        };
        let put_in = |(path, bytes): &(FilePath, &Vec<u8>)| {
            let path = FilePath::parse(&path.as_str().replace(&placeholder.0, id.as_str()))?;
            Ok((path, replaced(bytes, &placeholder.0, id.as_str()).into_owned()))
        };
        let files: Vec<(FilePath, Vec<u8>)> = files.iter().map(put_in).collect::<Result<_, Unfit>>()?;
        let listed = |(path, bytes): &(FilePath, Vec<u8>)| Listed {
            path: path.clone(),
            size: bytes.len() as u64,
            sum: Sum::of(bytes),
        };
        let manifest = Manifest::new(files.iter().map(listed).collect(), &created_at, &nonce, evaluation);
        let meta = Meta {
            rev,
            name: label.name.trim().to_owned(),
            access: label.access,
            size: summary_of(&world).size,
            seq: 1,
            files: files.iter().map(|(path, _)| path.clone()).collect(),
        };
        Ok(Package { id, meta, manifest, files, evaluation, warnings: world.warnings })
    }
}

/// Renames the world of a bundle.
fn rename(bundle: &MemoryBundle, name: &str) -> Result<MemoryBundle, Unfit> {
    let worlds = bundle.list("worlds/");
    let worlds = worlds.iter().map(|path| FilePath::parse(path)).collect::<Result<Vec<_>, _>>()?;
    let stem = rules::world_stem(worlds.iter())?;
    let mut out = MemoryBundle::default();
    for (path, bytes) in &bundle.files {
        let path = rules::renamed(&FilePath::parse(path)?, &stem, name);
        out.insert(path.as_str(), bytes.clone());
    }
    Ok(out)
}

/// Checks the pictures of a bundle, then loads its world.
pub(crate) fn load(bundle: &dyn Bundle, need: Need) -> Result<World, Unfit> {
    let broken = |e: chicane_world::Error| Unfit::Rule(e.to_string());
    for path in bundle.list("").iter().filter(|path| is_picture(path)) {
        if let Some(bytes) = bundle.read(path) {
            chicane_world::picture::check(path, &bytes).map_err(broken)?;
        }
    }
    let world = World::load(&Assets::of(bundle)).map_err(broken)?;
    if need == Need::Track && !world.fixed_names.iter().any(|fixed| fixed.is_track) {
        let text = "the world file includes no track model: include a model named racetrack from models/";
        return Err(Unfit::Rule(text.to_owned()));
    }
    Ok(world)
}

fn is_picture(path: &str) -> bool {
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending).to_ascii_lowercase();
    matches!(ending.as_str(), "png" | "jpg" | "jpeg" | "gif" | "bmp" | "tga" | "webp")
}

/// Whether the id was computed from this manifest. `neutral` contains the checksums of the
/// files' neutral forms (see `sum.rs`), in the order of the manifest.
pub(crate) fn proves(manifest: &Manifest, id: &WorldId, neutral: &[Sum]) -> bool {
    // An id of zeros is refused, because the neutral form would be equal to the original.
    id.as_str() != ZEROS && manifest.names(id.as_str(), neutral).0.as_ref() == Some(id)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use chicane_bundles::BuiltIn;

    /// The files of a built-in world.
    pub(crate) fn shipped(name: &str) -> MemoryBundle {
        let world = BuiltIn::all().find(|w| w.name() == name).expect("a shipped world");
        world.files().clone()
    }

    pub(crate) fn packed(name: &str) -> Package {
        let label = Label { name: format!("The {name}"), access: Access::Public };
        Package::new(&shipped(name), &IdPlaceholder::new().expect("random"), &label, Need::Track)
            .expect("packed")
    }

    #[test]
    fn an_id_is_the_checksum_of_its_files() {
        let package = packed("oval");
        let sums: Vec<Sum> = package.files.iter().map(|(_, b)| neutral(b, package.id.as_str())).collect();
        assert!(proves(&package.manifest, &package.id, &sums));
        for i in 0..sums.len() {
            let mut other = sums.clone();
            other[i] = Sum::of(b"changed");
            assert!(!proves(&package.manifest, &package.id, &other));
        }
        let zero = WorldId::parse(ZEROS).expect("an id");
        assert!(!proves(&package.manifest, &zero, &sums));
        assert_ne!(packed("oval").id, package.id, "every publication has an id of its own");
    }

    #[test]
    fn files_with_the_name_of_the_world_get_the_id() {
        let package = packed("oval");
        let name = format!("custom_{}", package.id);
        let paths: Vec<&str> = package.files.iter().map(|(p, _)| p.as_str()).collect();
        for path in ["worlds/?.world", "routes/?.npy", "evaluations/?.json", "evaluations/?.py"] {
            let path = path.replace('?', &name);
            assert!(paths.contains(&path.as_str()), "{path} is not in {paths:?}");
        }
        assert!(package.evaluation && package.meta.size == [8.0, 6.0], "{:?}", package.meta);
    }

    #[test]
    fn a_bundle_that_breaks_a_rule_is_not_packed() {
        let pack = |change: &dyn Fn(&mut MemoryBundle), need: Need| {
            let mut bundle = shipped("oval");
            change(&mut bundle);
            let label = Label { name: "x".to_owned(), access: Access::Public };
            Package::new(&bundle, &IdPlaceholder::new().expect("random"), &label, need).map(|_| ())
        };
        assert_eq!(pack(&|_| (), Need::Track), Ok(()));
        let odd = |b: &mut MemoryBundle| b.insert("meshes/a b.dae", "x");
        assert!(matches!(pack(&odd, Need::Track), Err(Unfit::Rule(_))));
        let twice = |b: &mut MemoryBundle| b.insert("worlds/b.world", "x");
        assert!(matches!(pack(&twice, Need::Track), Err(Unfit::Rule(_))));
        let torn = |b: &mut MemoryBundle| b.insert("routes/oval.npy", "x");
        assert!(matches!(pack(&torn, Need::Track), Err(Unfit::Rule(_))));
        let half = |b: &mut MemoryBundle| drop(b.files.remove("evaluations/oval.py"));
        assert!(matches!(pack(&half, Need::Track), Err(Unfit::Rule(_))));
        let no_track = |b: &mut MemoryBundle| b.files.retain(|p, _| !p.starts_with("models/"));
        assert!(matches!(pack(&no_track, Need::Track), Err(Unfit::Rule(_))));
        assert_eq!(pack(&no_track, Need::World), Ok(()));
        let bomb = |b: &mut MemoryBundle| b.insert("meshes/x.png", bomb());
        assert!(matches!(pack(&bomb, Need::Track), Err(Unfit::Rule(_))));
        let label = Label { name: "two\nlines".to_owned(), access: Access::Public };
        let placeholder = IdPlaceholder::new().expect("random");
        assert!(Package::new(&shipped("oval"), &placeholder, &label, Need::Track).is_err());
    }

    /// The header of a PNG picture of 60,000 by 60,000 pixels.
    pub(crate) fn bomb() -> Vec<u8> {
        let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        png.extend(60_000u32.to_be_bytes());
        png.extend(60_000u32.to_be_bytes());
        png.extend([8, 2, 0, 0, 0, 0, 0, 0, 0]);
        png
    }
}
