//! Tests that edges are smooth, and that things narrower than a pixel do not appear and disappear
//! while the camera moves.

use crate::support::{TestScene, at, bare_mesh, pixel};
use chicane_render::{Camera, Optics, Rgb};
use chicane_world::Pose;
use chicane_world::scene::{Look, Owner};

const SIZE: [usize; 2] = [480, 360];

/// The sum of the linear light of all pixels.
fn light(picture: &Rgb) -> f64 {
    let (columns, rows) = (0..picture.width, 0..picture.height);
    let all = columns.flat_map(|x| rows.clone().map(move |y| (x, y)));
    all.map(|(x, y)| f64::from(pixel(picture, x, y)[0]) / 255.0).map(|value| value * value).sum()
}

/// A black floor with white marks. Each mark is given by its middle and its size.
fn marks(marks: &[([f64; 2], [f64; 2])]) -> TestScene {
    let mut scene = TestScene::new();
    let (black, white) = (scene.emissive([0.0; 3]), scene.emissive([1.0; 3]));
    scene.add(Owner::Track, Look::Box([60.0, 60.0, 0.1]), at(0.0, 0.0, -0.05), Some(black));
    // The wall hides the sky.
    scene.add(Owner::Scenery, Look::Box([0.1, 60.0, 60.0]), at(20.0, 0.0, 0.0), Some(black));
    for ([x, y], [length, width]) in marks {
        scene.add(Owner::Track, Look::Box([*length, *width, 0.001]), at(*x, *y, 0.001), Some(white));
    }
    scene
}

/// The least and the most light in pictures of a camera that moves forward by 20 steps of 5 mm.
fn range(scene: &TestScene) -> [f64; 2] {
    let mut renderer = scene.renderer();
    let optics = Optics::pinhole(SIZE[0], SIZE[1], 1.4);
    let lights = (0..20).map(|step| {
        let pose = Pose::from_xyz_rpy([0.005 * f64::from(step), 0.0, 0.15], [0.0, 0.1, 0.0]);
        light(&renderer.picture(&Camera { pose, optics }, &scene.moment()))
    });
    lights.fold([f64::MAX, 0.0], |[low, high], light| [low.min(light), high.max(light)])
}

#[test]
fn dashes_farther_than_three_metres_come_and_go() {
    // A dash of 0.1 m at 4 m is 0.27 pixels high. With one sample per pixel, most pictures would
    // not show the dash at all. The test is named after this fault, and passes if the dashes stay
    // visible: their light may vary from picture to picture, but never drops below 40 % of its
    // maximum.
    let dashes: Vec<_> = (0..12).map(|i| ([3.5 + 0.3 * f64::from(i), 0.0], [0.1, 0.04])).collect();
    let [low, high] = range(&marks(&dashes));
    assert!(low > 0.4 * high, "from {low:.2} to {high:.2}");
}

#[test]
fn a_line_across_the_road_comes_and_goes() {
    for distance in [3.0, 4.0, 5.0] {
        let [low, high] = range(&marks(&[([distance, 0.0], [0.2, 3.0])]));
        // The test is named after the fault that it looks for. At 5 m the line is a third of a
        // pixel high, so it covers one or two of the four rows of samples. The light of the line
        // therefore varies by a factor of two, but the line never disappears.
        assert!(low > 0.45 * high, "at {distance} m: from {low:.2} to {high:.2}");
    }
}

#[test]
fn a_narrow_line_along_the_road_is_as_bright_as_its_area() {
    // The camera looks down from a height of 2 m at a line of 1 m × 5 mm. In the picture, the line
    // is 0.7 pixels wide.
    let optics = Optics::pinhole(SIZE[0], SIZE[1], 1.4);
    for step in 0..20 {
        let scene = marks(&[([0.0, 0.0], [1.0, 0.005])]);
        let pose =
            Pose::from_xyz_rpy([0.0, 0.0007 * f64::from(step), 2.0], [0.0, 0.5 * std::f64::consts::PI, 0.0]);
        let light = light(&scene.renderer().picture(&Camera { pose, optics }, &scene.moment()));
        let pixels_per_metre = optics.focal / 2.0;
        let area = 0.005 * pixels_per_metre * pixels_per_metre;
        // Each pixel has four samples in four different columns, so the drawn width of the line
        // changes in steps of a quarter of a pixel.
        assert!((light / area - 1.0).abs() < 0.6, "step {step}: {light:.1} of {area:.1} pixels");
        assert!(light > 0.0);
    }
}

#[test]
fn an_oblique_edge_has_shades() {
    let mut scene = TestScene::new();
    let (black, white) = (scene.emissive([0.0; 3]), scene.emissive([1.0; 3]));
    scene.add(Owner::Scenery, Look::Box([0.1, 60.0, 60.0]), at(3.0, 0.0, 0.0), Some(black));
    let pose = Pose::from_xyz_rpy([2.0, 0.0, 0.0], [0.1, 0.0, 0.0]);
    scene.add(Owner::Scenery, Look::Box([0.1, 1.0, 1.0]), pose, Some(white));
    let camera = Camera { pose: Pose::IDENTITY, optics: Optics::pinhole(SIZE[0], SIZE[1], 1.4) };
    let picture = scene.renderer().picture(&camera, &scene.moment());
    let mut found = std::collections::BTreeMap::<u8, usize>::new();
    for (x, y) in (0..SIZE[0]).flat_map(|x| (0..SIZE[1]).map(move |y| (x, y))) {
        *found.entry(pixel(&picture, x, y)[0]).or_default() += 1;
    }
    // The bytes for no light, a quarter, a half, three quarters and all of the light.
    for shade in [0, 128, 180, 221, 255] {
        assert!(found.get(&shade).is_some_and(|n| *n > 20), "{shade}: {found:?}");
    }
    assert_eq!(found.len(), 5, "{found:?}");
}

#[test]
fn depths_and_labels_of_a_very_fine_mesh_have_holes() {
    // A curved wall with sides of 2 m, at a distance of 2 m. It has 700 × 700 squares, but the
    // picture is only 200 pixels wide. Most triangles therefore cover none of the four samples of a
    // pixel. The test is named after the fault that could follow, and passes if the wall has no
    // hole: every pixel in the middle has the depth and the label of the wall.
    const SQUARES: u32 = 700;
    let side = SQUARES + 1;
    let step = 2.0 / SQUARES as f32;
    let positions = (0..side * side).map(|i| {
        let (y, z) = ((i % side) as f32 * step - 1.0, (i / side) as f32 * step - 1.0);
        [0.1 * (y * y + z * z), y, z]
    });
    let indices = (0..SQUARES * SQUARES).flat_map(|i| {
        let corner = i / SQUARES * side + i % SQUARES;
        [corner, corner + side + 1, corner + 1, corner, corner + side, corner + side + 1]
    });
    let mut scene = TestScene::new();
    let white = scene.emissive([1.0; 3]);
    let wall = scene.mesh(bare_mesh(positions.collect(), indices.collect()));
    scene.add(Owner::Scenery, wall, at(2.0, 0.0, 0.0), Some(white));
    let camera = Camera { pose: Pose::IDENTITY, optics: Optics::pinhole(200, 150, 1.0) };
    let layers = scene.renderer().layers(&camera, &scene.moment());
    let (mut label, mut seen) = (None, 0);
    for (i, (depth, here)) in layers.depth.iter().zip(&layers.labels).enumerate() {
        // The border of the picture may show what is beside the wall.
        let (x, y) = (i % 200, i / 200);
        if !(20..180).contains(&x) || !(20..130).contains(&y) {
            continue;
        }
        assert!((1.99..2.3).contains(depth), "depth {depth} at {x}, {y}");
        assert_eq!(*here, *label.get_or_insert(*here), "label at {x}, {y}");
        seen += 1;
    }
    assert_eq!(seen, 160 * 110);
}
