//! A picture shows the moment it was asked for, and nothing of another one.

use crate::set::{Set, at, look};
use chicane_render::{Optics, label};
use chicane_world::Pose;
use chicane_world::scene::{Look, Owner};

#[test]
fn moving_an_object_moves_exactly_its_pixels() {
    let mut set = Set::new();
    let (grey, red) = (set.glow([0.4; 3]), set.glow([1.0, 0.0, 0.0]));
    set.put(Owner::Track, Look::Plane([9.0, 9.0]), Pose::IDENTITY, Some(grey));
    // Too high for a shadow.
    let block = set.block([2.0, 0.0, 1.0], 0.3, red);
    let camera = look([0.0, 0.0, 1.2], [2.0, 0.0, 0.9], Optics::pinhole(200, 150, 1.2));
    let mut renderer = set.renderer();
    let first = set.moment();
    let (mut second, mut without) = (first.clone(), first.clone());
    second.objects[block] = Pose::from_xyz_rpy([2.0, 0.15, 1.05], [0.0, 0.0, 0.4]);
    without.objects[block] = at(-500.0, 0.0, 1.0);
    let empty = renderer.layers(&camera, &without);
    let mine = label::OBJECTS + block as u16;
    assert!(!empty.labels.contains(&mine));
    let before = renderer.layers(&camera, &first);
    let after = renderer.layers(&camera, &second);
    let mut moved = 0;
    for (picture, i) in [&before, &after].into_iter().flat_map(|l| (0..200 * 150).map(move |i| (l, i))) {
        let is_mine = picture.labels[i] == mine;
        let want = if is_mine { [255, 0, 0, 255] } else { empty.colour.pixels[i] };
        assert_eq!(picture.colour.pixels[i], want, "pixel {i}");
        assert!(is_mine || picture.depth[i] == empty.depth[i], "pixel {i}");
        moved += usize::from(is_mine != (before.labels[i] == mine));
    }
    assert!(moved > 100, "{moved}");
    assert!(renderer.layers(&camera, &first) == before, "nothing is left of the other moment");
}

#[test]
fn turned_wheels_and_the_car_itself_are_seen() {
    let set = Set::new();
    let mut renderer = set.renderer();
    let camera = look([0.5, 0.5, 0.3], [0.1, 0.0, 0.05], Optics::pinhole(200, 150, 0.9));
    let mut moment = set.moment();
    moment.car.pose = Pose::IDENTITY;
    let straight = renderer.picture(&camera, &moment);
    moment.car.front_wheels = [0.4, 0.4];
    let steered = renderer.picture(&camera, &moment);
    moment.car.front_wheels = [0.0; 2];
    moment.car.pan = 0.4;
    let panned = renderer.picture(&camera, &moment);
    moment.car.pan = 0.0;
    assert!(straight != steered && straight != panned && steered != panned);
    assert!(straight == renderer.picture(&camera, &moment));
}
