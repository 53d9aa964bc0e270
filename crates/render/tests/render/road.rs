//! Tests that the road markings are visible far enough in front of the car.

use crate::support::{pixel, project, renderer, start};
use chicane_render::{Camera, Optics, Rgb};
use chicane_testkit::shipped_world;
use chicane_world::{Pose, Profile};

/// The yellowness of a colour: 0 for grey, and 255 for pure yellow.
fn yellowness([r, g, b]: [u8; 3]) -> f64 {
    0.5 * (f64::from(r) + f64::from(g)) - f64::from(b)
}

/// The yellowness of the line minus the yellowness of the road on both sides of the line, in one
/// row of the picture.
fn contrast(picture: &Rgb, column: usize, row: usize) -> f64 {
    let of = |columns: std::ops::Range<usize>| columns.map(|x| yellowness(pixel(picture, x, row)));
    let line = of(column - 3..column + 3).fold(f64::MIN, f64::max);
    let road = of(column - 12..column - 6).chain(of(column + 6..column + 12)).sum::<f64>() / 12.0;
    line - road
}

#[test]
fn the_centre_line_is_visible_ahead() {
    let world = shipped_world("oval");
    let route = world.route.as_ref().unwrap();
    let profile = Profile::gen1();
    let optics = Optics::on_board(&profile, 480, 360);
    let mut renderer = renderer(&world);
    // At three metres a dash of 0.2 m is less than a pixel high, so the dash may miss the row. The
    // test therefore takes the mean of 20 positions of the car.
    for (distance, wanted) in [(1.0, 80.0), (2.0, 45.0), (3.0, 20.0)] {
        let mut sum = 0.0;
        for step in 0..20 {
            let mut moment = start(&world);
            moment.car.pose = world.spawn.then(&Pose::from_xyz_yaw(0.04 * f64::from(step), 0.0, 0.0, 0.0));
            let camera = Camera { pose: moment.car.camera(&profile), optics };
            let picture = renderer.picture(&camera, &moment);
            let here = route.project(moment.car.pose.position.truncate());
            let (place, _) = route.point_at(here.distance_along + distance);
            let [column, row] = project(&camera, [place.x, place.y, world.ground.z]);
            sum += contrast(&picture, column.round() as usize, row as usize);
        }
        println!("{distance} m: {:.1}", sum / 20.0);
        assert!(sum / 20.0 > wanted, "at {distance} m: {:.1}", sum / 20.0);
    }
}
