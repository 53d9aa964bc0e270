//! Tests that a traffic light shows the lamp that the moment lists for this light.

use crate::support::{camera_looking_at, mean, project, renderer, start};
use chicane_render::looks::Lamp;
use chicane_render::{Moment, Optics};
use chicane_testkit::shipped_world;
use chicane_world::World;
use chicane_world::scene::{Owner, Role};
use glam::DVec3;

/// Mean colours of the red and the green lamp of a traffic light, and of the middle of its screen.
struct SeenColours {
    red: [f64; 3],
    green: [f64; 3],
    middle: [f64; 3],
}

/// The colours of a traffic light, seen from half a metre in front of its screen.
fn lamps(world: &World, name: &str, shows: Option<Lamp>) -> SeenColours {
    let light = world.object(name).unwrap();
    let object = &world.objects[light];
    let panel = object.panel.as_ref().expect("a light has a screen");
    let screen = object.origin.then(&panel.pose);
    let from = screen.point(DVec3::new(0.5, 0.0, 0.0));
    let camera =
        camera_looking_at(from.to_array(), screen.position.to_array(), Optics::pinhole(320, 240, 1.0));
    let moment = Moment { lamps: shows.map(|l| (light, l)).into_iter().collect(), ..start(world) };
    let picture = renderer(world).picture(&camera, &moment);
    let lamp = |role: Role| {
        let own = world.scene.instances.iter().find(|i| i.role == role && i.owner == Owner::Object(light));
        let place = object.origin.then(&own.expect("a lamp").pose).position;
        mean(&picture, project(&camera, place.to_array()), 3.0)
    };
    let middle = mean(&picture, project(&camera, screen.position.to_array()), 3.0);
    SeenColours { red: lamp(Role::LampRed), green: lamp(Role::LampGreen), middle }
}

fn is_dark(c: [f64; 3]) -> bool {
    c.iter().all(|v| *v < 110.0)
}

fn is_red([r, g, b]: [f64; 3]) -> bool {
    r > 200.0 && g < 90.0 && b < 90.0
}

fn is_green([r, g, b]: [f64; 3]) -> bool {
    g > 200.0 && r < 90.0 && b < 150.0
}

fn is_yellow([r, g, b]: [f64; 3]) -> bool {
    r > 200.0 && g > 160.0 && b < 90.0
}

#[test]
fn a_lamp_shows_its_colour_only_while_it_is_lit() {
    for name in ["oval", "field"] {
        let world = shipped_world(name);
        let SeenColours { red, green, middle } = lamps(&world, "signal1", Some(Lamp::Red));
        assert!(is_red(red) && is_dark(green) && !is_yellow(middle), "{name}: {red:?} {green:?} {middle:?}");
        let SeenColours { red, green, middle } = lamps(&world, "signal1", Some(Lamp::Green));
        assert!(
            is_dark(red) && is_green(green) && !is_yellow(middle),
            "{name}: {red:?} {green:?} {middle:?}"
        );
        let SeenColours { red, green, middle } = lamps(&world, "signal1", Some(Lamp::Yellow));
        assert!(
            !is_red(red) && !is_green(green) && is_yellow(middle),
            "{name}: {red:?} {green:?} {middle:?}"
        );
        let SeenColours { red, green, middle } = lamps(&world, "signal1", None);
        assert!(is_dark(red) && is_dark(green) && !is_yellow(middle), "{name}: {red:?} {green:?} {middle:?}");
    }
}
