//! Writes everything that a teacher gets: the report, the tables, and the runs by student.

mod html;
mod map;
mod notes;
mod page;
mod plot;
mod students;
mod table;

use crate::exports;
use crate::folder::{self, FolderError, ResultsFolder};
use crate::grades::{self, Grades, Results};
use crate::plan::Plan;
use crate::track::{Road, Track};
use crate::unit_result::RUN;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What the report is made from.
struct Report<'a> {
    plan: &'a Plan,
    grades: &'a Grades,
    results: &'a Results,
    /// The road of each world.
    roads: Vec<Road>,
    /// The driven lines of the best runs, by the hash of their units.
    tracks: BTreeMap<String, Track>,
}

/// Writes the report and the files for other programs, and returns the grades. `jobs` is the number
/// of threads.
pub fn write(plan: &Plan, folder: &ResultsFolder, jobs: usize) -> Result<Grades, FolderError> {
    let results = grades::load_results(plan, folder);
    let grades = Grades::new(plan, &results, &folder.failures());
    link_runs(plan, folder, &results)?;
    exports::write(folder, plan, &grades)?;
    let hashes = best_units(&grades);
    let report = Report {
        plan,
        grades: &grades,
        results: &results,
        roads: plan.worlds.iter().map(|world| Road::of_world(&folder.path().join(&world.folder))).collect(),
        tracks: tracks(&hashes, folder, jobs),
    };
    folder.write("report.html", page::write(&report).as_bytes())?;
    Ok(grades)
}

/// Links the runs of this plan in the folder `runs` under readable names, and removes older links
/// there.
fn link_runs(plan: &Plan, folder: &ResultsFolder, results: &Results) -> Result<(), FolderError> {
    let (runs, new) = (folder.path().join("runs"), folder.path().join("runs.part"));
    folder::remove(&new)?;
    folder::make(&new)?;
    for unit in &plan.units {
        let Some(result) = results.get(&unit.hash).filter(|result| result.run.is_some()) else { continue };
        let name = unit.run_file();
        let to = new.join(name.strip_prefix("runs/").unwrap_or(&name));
        folder::make(to.parent().unwrap_or(&new))?;
        link(&folder.unit(&result.hash).join(RUN), &to)?;
    }
    folder::remove(&runs)?;
    std::fs::rename(&new, &runs).map_err(|source| FolderError::Write { path: runs, source })
}

/// Creates a hard link, or a copy if the hard link can't be created.
fn link(from: &Path, to: &Path) -> Result<(), FolderError> {
    let linked = std::fs::hard_link(from, to).or_else(|_| std::fs::copy(from, to).map(drop));
    linked.map_err(|source| FolderError::Write { path: to.to_owned(), source })
}

/// The hashes of the best run of each student in each world.
fn best_units(grades: &Grades) -> Vec<String> {
    let worlds = grades.students.iter().flat_map(|student| &student.worlds);
    worlds.filter_map(best_unit).map(|unit| unit.hash.clone()).collect()
}

/// The best run of a student in a world: the run with the best result, else the first run that was
/// recorded. `None` if there is neither.
fn best_unit(world: &grades::WorldGrade) -> Option<&grades::UnitGrade> {
    let best = world.best.and_then(|best| world.seeds.iter().find(|unit| unit.result == Some(best)));
    best.or_else(|| world.seeds.iter().find(|unit| unit.run.is_some()))
}

/// Simulates the runs of these units again on several threads, to get their driven lines. A line
/// that is cached is read instead.
fn tracks(hashes: &[String], folder: &ResultsFolder, jobs: usize) -> BTreeMap<String, Track> {
    let (next, found) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    std::thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, hashes.len().max(1)) {
            scope.spawn(|| {
                while let Some(hash) = hashes.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Some(track) = Track::of_unit(&folder.unit(hash)) {
                        let mut found = found.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                        found.insert(hash.clone(), track);
                    }
                }
            });
        }
    });
    found.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
}
