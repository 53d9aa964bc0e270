//! Tests that a picture shows the poses of its own moment, and nothing of the previous moment.

use crate::support::{TestScene, at, camera_looking_at};
use chicane_render::{Optics, label};
use chicane_world::Pose;
use chicane_world::scene::{Look, Owner};

#[test]
fn moving_an_object_moves_exactly_its_pixels() {
    let mut scene = TestScene::new();
    let (grey, red) = (scene.emissive([0.4; 3]), scene.emissive([1.0, 0.0, 0.0]));
    scene.add(Owner::Track, Look::Plane([9.0, 9.0]), Pose::IDENTITY, Some(grey));
    // The block is too high above the ground to have a shadow.
    let block = scene.block([2.0, 0.0, 1.0], 0.3, red);
    let camera = camera_looking_at([0.0, 0.0, 1.2], [2.0, 0.0, 0.9], Optics::pinhole(200, 150, 1.2));
    let mut renderer = scene.renderer();
    let first = scene.moment();
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
        // Pixels at the edges of the block mix the colour of the block with the colour behind it.
        let near = [1, 199, 200, 201].into_iter().flat_map(|d| [i.checked_sub(d), Some(i + d)]);
        let mut labels = near.flatten().filter_map(|i| picture.labels.get(i));
        if labels.all(|label| (*label == mine) == is_mine) {
            let want = if is_mine { [255, 0, 0, 255] } else { empty.colour.pixels[i] };
            assert_eq!(picture.colour.pixels[i], want, "pixel {i}");
        }
        assert!(is_mine || picture.depth[i] == empty.depth[i], "pixel {i}");
        moved += usize::from(is_mine != (before.labels[i] == mine));
    }
    assert!(moved > 100, "{moved}");
    assert!(renderer.layers(&camera, &first) == before, "the renderer keeps no state between moments");
}

#[test]
fn steering_and_camera_pan_change_the_picture_of_the_car() {
    let scene = TestScene::new();
    let mut renderer = scene.renderer();
    let camera = camera_looking_at([0.5, 0.5, 0.3], [0.1, 0.0, 0.05], Optics::pinhole(200, 150, 0.9));
    let mut moment = scene.moment();
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
