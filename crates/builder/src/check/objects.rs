//! Rules of objects and decals: names, places, nothing inside of anything else.

use super::road::inside_of;
use super::{Finding, Place, Rule};
use crate::footprint::Footprint;
use crate::grid::Grid;
use crate::line::Line;
use crate::project::{Object, Project, is_plain};
use glam::DVec2;
use std::collections::BTreeMap;

/// Names that the simulator uses itself; `wall_0` and so on are too.
const RESERVED: [&str; 9] =
    ["racetrack", "vehicle", "sun", "sky", "ground", "ground_plane", "world", "default", "camera"];

pub(super) fn check(project: &Project, line: &Line) -> Vec<Finding> {
    let mut found = names(&project.objects);
    let outlines: Vec<Footprint> = project.objects.iter().map(Footprint::of).collect();
    found.extend(outside(project, &outlines));
    found.extend(overlaps(&project.objects, &outlines));
    found.extend(on_road(&project.objects, &outlines, line));
    found.extend(decals(project));
    found
}

fn place(objects: &[Object], index: usize) -> Place {
    Place::Object { index, name: objects[index].name.clone() }
}

fn names(objects: &[Object]) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for (i, object) in objects.iter().enumerate() {
        let name = object.name.as_str();
        let wall = name.strip_prefix("wall_").is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()));
        if !is_plain(name) {
            let message = format!("\"{name}\" is no name: letters A-Z and a-z, digits and _ make one.");
            found.push(Rule::NameCharacters.broken(place(objects, i), message));
        } else if wall || RESERVED.contains(&name) || name.starts_with("__") {
            let message = format!("The simulator uses the name \"{name}\" itself. Choose another one.");
            found.push(Rule::NameReserved.broken(place(objects, i), message));
        }
        match seen.get(name) {
            Some(first) => {
                let message = format!("Object {first} is called \"{name}\" too. Names must differ.");
                found.push(Rule::NameTaken.broken(place(objects, i), message));
            }
            None => {
                seen.insert(name, i);
            }
        }
    }
    found
}

fn outside(project: &Project, outlines: &[Footprint]) -> Vec<Finding> {
    let (low, high) = inside_of(project);
    let what = if project.fence.is_some() { "stands in or behind the fence" } else { "stands off the field" };
    let out = outlines.iter().enumerate().filter(|(_, o)| !within(o, low, high));
    out.map(|(i, _)| {
        let message = format!("{} {what}. Move it inwards.", project.objects[i].name);
        Rule::ObjectOutside.broken(place(&project.objects, i), message)
    })
    .collect()
}

fn within(outline: &Footprint, low: DVec2, high: DVec2) -> bool {
    let extent = outline.extent() - 1e-9;
    (outline.at - extent).cmpge(low).all() && (outline.at + extent).cmple(high).all()
}

/// Goes through the objects from left to right: only those whose extents meet are compared.
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
        format!("{} and {} stand in each other. Move them apart.", objects[i].name, objects[j].name)
    };
    pairs.into_iter().map(|(i, j)| Rule::ObjectsOverlap.broken(place(objects, j), message(i, j))).collect()
}

fn on_road(objects: &[Object], outlines: &[Footprint], line: &Line) -> Vec<Finding> {
    let widest = line.samples.iter().map(|s| s.width).fold(0.0, f64::max);
    let points: Vec<DVec2> = line.samples.iter().map(|s| s.at).collect();
    let grid = Grid::of(&points, 0.5 * widest);
    let mut found = Vec::new();
    for (i, outline) in outlines.iter().enumerate() {
        let mut near = grid.near(outline.at, outline.reach() + 0.5 * widest).map(|j| &line.samples[j]);
        if near.any(|s| outline.distance(s.at) < 0.5 * s.width - 1e-9) {
            let message = format!("{} stands on the road. The car must drive round it.", objects[i].name);
            found.push(Rule::ObjectOnRoad.broken(place(objects, i), message));
        }
    }
    found
}

fn decals(project: &Project) -> Vec<Finding> {
    let size = DVec2::from_array(project.field.size);
    let message = "The picture reaches beyond the field, which makes the world larger than the field.";
    let outlines = project.decals.iter().map(Footprint::of_decal).enumerate();
    let out = outlines.filter(|(_, outline)| !within(outline, DVec2::ZERO, size));
    out.map(|(i, _)| Rule::DecalOutside.broken(Place::Decal(i), message.to_owned())).collect()
}
