//! Rules for objects and decals: names, positions and overlaps.

use super::finding::{Finding, Location, Rule};
use super::road::free_area;
use crate::footprint::Footprint;
use crate::grid::Grid;
use crate::project::{Object, Project, is_plain};
use crate::track_line::TrackLine;
use glam::DVec2;
use std::collections::BTreeMap;

/// Names that are reserved, in addition to `wall_`, `wall_<number>` and names that start with `__`.
const RESERVED: [&str; 9] =
    ["racetrack", "vehicle", "sun", "sky", "ground", "ground_plane", "world", "default", "camera"];

pub(super) fn check(project: &Project, line: &TrackLine) -> Vec<Finding> {
    let mut found = names(&project.objects);
    let outlines: Vec<Footprint> = project.objects.iter().map(Footprint::of).collect();
    found.extend(outside(project, &outlines));
    found.extend(overlaps(&project.objects, &outlines));
    found.extend(on_road(&project.objects, &outlines, line));
    found.extend(decals(project));
    found
}

fn location(objects: &[Object], index: usize) -> Location {
    Location::Object { index, name: objects[index].name.clone() }
}

fn names(objects: &[Object]) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for (i, object) in objects.iter().enumerate() {
        let name = object.name.as_str();
        let wall = name.strip_prefix("wall_").is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()));
        if !is_plain(name) {
            let message =
                format!("\"{name}\" is not a valid name. Use only the letters A-Z and a-z, digits and _.");
            found.push(Rule::NameCharacters.finding(location(objects, i), message));
        } else if wall || RESERVED.contains(&name) || name.starts_with("__") {
            let message = format!("The name \"{name}\" is reserved for the simulator. Choose another name.");
            found.push(Rule::NameReserved.finding(location(objects, i), message));
        }
        match seen.get(name) {
            Some(first) => {
                let message = format!("Object {first} already has the name \"{name}\". Choose another name.");
                found.push(Rule::NameTaken.finding(location(objects, i), message));
            }
            None => {
                seen.insert(name, i);
            }
        }
    }
    found
}

fn outside(project: &Project, outlines: &[Footprint]) -> Vec<Finding> {
    let (low, high) = free_area(project);
    let what = if project.fence.is_some() {
        "overlaps the fence or is outside of it"
    } else {
        "is not completely on the field"
    };
    let out = outlines.iter().enumerate().filter(|(_, o)| !within(o, low, high));
    out.map(|(i, _)| {
        let message = format!("\"{}\" {what}. Move it inwards.", project.objects[i].name);
        Rule::ObjectOutside.finding(location(&project.objects, i), message)
    })
    .collect()
}

fn within(outline: &Footprint, low: DVec2, high: DVec2) -> bool {
    let extent = outline.extent() - 1e-9;
    (outline.at - extent).cmpge(low).all() && (outline.at + extent).cmple(high).all()
}

/// Finds objects that overlap. The search goes through the objects in the order of their lowest x,
/// so that only objects that overlap along x are compared with each other.
fn overlaps(objects: &[Object], outlines: &[Footprint]) -> Vec<Finding> {
    let left = |i: &usize| outlines[*i].at.x - outlines[*i].extent().x;
    let mut order: Vec<usize> = (0..objects.len()).collect();
    order.sort_by(|a, b| left(a).total_cmp(&left(b)).then(a.cmp(b)));
    let mut pairs = Vec::new();
    for (k, &i) in order.iter().enumerate() {
        let right = outlines[i].at.x + outlines[i].extent().x;
        for &j in order[k + 1..].iter().take_while(|j| left(j) < right) {
            if outlines[i].overlaps(&outlines[j]) {
                pairs.push((i.min(j), i.max(j)));
            }
        }
    }
    pairs.sort_unstable();
    let message = |i: usize, j: usize| {
        format!("\"{}\" and \"{}\" overlap. Move them apart.", objects[i].name, objects[j].name)
    };
    pairs
        .into_iter()
        .map(|(i, j)| Rule::ObjectsOverlap.finding(location(objects, j), message(i, j)))
        .collect()
}

fn on_road(objects: &[Object], outlines: &[Footprint], line: &TrackLine) -> Vec<Finding> {
    let widest = line.samples.iter().map(|s| s.width).fold(0.0, f64::max);
    let points: Vec<DVec2> = line.samples.iter().map(|s| s.at).collect();
    let grid = Grid::of(&points, 0.5 * widest);
    let mut found = Vec::new();
    for (i, outline) in outlines.iter().enumerate() {
        let mut near = grid.near(outline.at, outline.reach() + 0.5 * widest).map(|j| &line.samples[j]);
        if near.any(|s| outline.distance(s.at) < 0.5 * s.width - 1e-9) {
            let message = format!(
                "\"{}\" is on the road, so the car has to drive around it. Move it if this is not intended.",
                objects[i].name
            );
            found.push(Rule::ObjectOnRoad.finding(location(objects, i), message));
        }
    }
    found
}

fn decals(project: &Project) -> Vec<Finding> {
    let size = DVec2::from_array(project.field.size);
    let message = "The picture extends beyond the field, which makes the world larger than the field. Move it inwards or make it smaller.";
    let outlines = project.decals.iter().map(Footprint::of_decal).enumerate();
    let out = outlines.filter(|(_, outline)| !within(outline, DVec2::ZERO, size));
    out.map(|(i, _)| Rule::DecalOutside.finding(Location::Decal(i), message.to_owned())).collect()
}
