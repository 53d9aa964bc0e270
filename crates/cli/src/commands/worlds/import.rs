//! `chicane worlds import`: installs one world or all worlds of a folder, with the files that they
//! use.

use super::{ImportError, WorldsError};
use crate::args::{DataDirArgs, ImportArgs, JudgeArgs};
use crate::progress::Progress;
use crate::world_folder::{self, FoundWorld, STEM, WorldFolder};
use crate::{data_dir, judge_script};
use chicane_store::{Access, CheckedWorld, IdPlaceholder, InstalledWorlds, Label, Library, Need, Package};
use chicane_wire::WorldId;
use std::path::{Path, PathBuf};

pub(super) fn run(data: &DataDirArgs, args: &ImportArgs, judge: &JudgeArgs) -> Result<(), WorldsError> {
    let data_dir = data_dir::resolve_absolute(data.data_dir.as_deref())?;
    data_dir::create(&data_dir)?;
    let import = Import {
        data_dir: &data_dir,
        folder: Path::new(&args.folder),
        resources: args.resources.folders(),
        judge,
    };
    if args.all {
        return import.all();
    }
    let world = world_folder::choose(import.folder, args.world.as_deref()).map_err(ImportError::from)?;
    let report = import.one(&world, args.name.clone(), args.alias.as_deref())?;
    print!("{report}");
    Ok(())
}

struct Import<'a> {
    data_dir: &'a Path,
    folder: &'a Path,
    resources: Vec<PathBuf>,
    judge: &'a JudgeArgs,
}

impl Import<'_> {
    /// Imports every world of the collection. A world that can't be imported does not stop the
    /// others.
    fn all(&self) -> Result<(), WorldsError> {
        let worlds = world_folder::find_worlds(self.folder).map_err(ImportError::from)?;
        if worlds.is_empty() {
            world_folder::choose(self.folder, None).map_err(ImportError::from)?;
        }
        let mut progress = Progress::new(format!("importing {} worlds", worlds.len()));
        let mut failed = 0;
        for (i, world) in worlds.iter().enumerate() {
            progress.set_text(format!("importing {}", world.name));
            progress.set_ended(i, worlds.len());
            // The alias is the name of the world file, with underscores for forbidden characters.
            // If a built-in world has this name, the imported world gets no alias.
            let alias = world_folder::plain_name(&world.name);
            let alias = Some(alias.as_str()).filter(|alias| Library::built_in().entry(alias).is_none());
            let imported = self.one(world, None, alias);
            progress.clear();
            match imported {
                Ok(report) => print!("{report}"),
                Err(error) => {
                    failed += 1;
                    println!("failed     {}: {error}", world.file.display());
                }
            }
        }
        progress.finish();
        println!("imported   {} of {} worlds", worlds.len() - failed, worlds.len());
        if failed > 0 {
            return Err(ImportError::Incomplete { failed, worlds: worlds.len() }.into());
        }
        Ok(())
    }

    /// Imports one world. Returns the report.
    fn one(
        &self,
        world: &FoundWorld,
        name: Option<String>,
        alias: Option<&str>,
    ) -> Result<String, WorldsError> {
        if let Some(alias) = alias.filter(|alias| Library::built_in().entry(alias).is_some()) {
            return Err(ImportError::NameTaken(alias.to_owned()).into());
        }
        let unfit = |error| match error {
            world_folder::WorldFolderError::World(source) => {
                ImportError::Broken { file: world.file.clone(), source }
            }
            other => other.into(),
        };
        let files =
            world_folder::read_used(world, Some(self.folder), &self.resources, STEM).map_err(unfit)?;
        let label = Label { name: name.unwrap_or_else(|| files.name.clone()), access: Access::Unlisted };
        let (package, installed) = self.install(&files, &label)?;
        if let Some((alias, id)) = alias.zip(WorldId::parse(&installed.record.world_id)) {
            let set = InstalledWorlds::of(self.data_dir).set_alias(&id, alias);
            set.map_err(|source| WorldsError::Rename { id, source })?;
        }
        Ok(self.report(&files, &package, &installed, alias))
    }

    fn install(&self, files: &WorldFolder, label: &Label) -> Result<(Package, CheckedWorld), ImportError> {
        let folder = || self.folder.to_owned();
        let package = Package::new(&files.bundle, &IdPlaceholder::new()?, label, Need::World)
            .map_err(|source| ImportError::Unfit { folder: folder(), source })?;
        let installed = InstalledWorlds::of(self.data_dir)
            .install(&package)
            .map_err(|source| ImportError::Install { folder: folder(), source })?;
        Ok((package, installed))
    }

    fn report(
        &self,
        files: &WorldFolder,
        package: &Package,
        installed: &CheckedWorld,
        alias: Option<&str>,
    ) -> String {
        let script = world_folder::script_of(&files.bundle);
        let script_warning = script.and_then(|(_, script)| judge_script::warning(self.judge, &script));
        let record = &installed.record;
        let mut text = format!("{}\nname       {}\n", record.world_name(), record.name);
        text += &alias.map(|alias| format!("as         {alias}\n")).unwrap_or_default();
        text += &format!("files      {}\n", package.files.len());
        let load_warnings = installed.warnings.iter().map(ToString::to_string);
        for warning in files.skipped.iter().cloned().chain(load_warnings).chain(script_warning) {
            text += &format!("warning    {warning}\n");
        }
        text
    }
}
