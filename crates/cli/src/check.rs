//! `chicane check`: what a world holds, and what was passed over while loading it.

use crate::cli::JudgeBy;
use chicane_world::World;
use std::collections::BTreeMap;

pub(crate) fn run(path: &str, judge: &JudgeBy) -> Result<(), String> {
    let world = crate::which::load(path)?;
    print!("{}", describe(&world));
    if let Some(evaluation) = &world.evaluation {
        print!("{}", crate::script::report(judge, &evaluation.script)?);
    }
    Ok(())
}

fn describe(world: &World) -> String {
    let mut text = format!("world      {}\n", world.name);
    let bounds = world.ground.bounds.map_or("none".to_owned(), |b| {
        format!("({:.2}, {:.2}) to ({:.2}, {:.2}) m", b.min.x, b.min.y, b.max.x, b.max.y)
    });
    text += &format!("bounds     {bounds}\n");
    text += &match &world.route {
        Some(r) => format!("route      {} waypoints, {:.2} m\n", r.centre.len(), r.length()),
        None => "route      none\n".to_owned(),
    };
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for object in &world.objects {
        *kinds.entry(object.kind.name()).or_default() += 1;
    }
    let kinds: Vec<String> = kinds.iter().map(|(kind, n)| format!("{n} {kind}")).collect();
    text += &format!("objects    {} ({})\n", world.objects.len(), kinds.join(", "));
    let evaluation = world.evaluation.as_ref().map_or("none", |e| e.description.as_str());
    text += &format!("evaluation {evaluation}\n");
    let corners: usize = world.scene.meshes.iter().map(|m| m.positions.len()).sum();
    text += &format!(
        "scene      {} instances, {} meshes with {corners} corners, {} textures\n",
        world.scene.instances.len(),
        world.scene.meshes.len(),
        world.scene.textures.len()
    );
    for warning in &world.warnings {
        text += &format!("warning    {warning}\n");
    }
    text
}
