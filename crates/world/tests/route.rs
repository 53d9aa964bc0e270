//! Tests the reader of waypoint files, and the distances along and across a route.

use chicane_world::npy::{self, Array};
use chicane_world::{Error, Route};
use glam::DVec2;
use proptest::prelude::*;
use std::f64::consts::{FRAC_PI_2, PI, TAU};

fn read(rows: &[Vec<f64>]) -> Result<Route, Error> {
    let columns = rows.first().map_or(2, |r| r.len());
    let array = Array { rows: rows.len(), columns, values: rows.concat() };
    Route::from_npy("routes/r.npy", &npy::write(&array))
}

fn line(points: &[(f64, f64)]) -> Route {
    read(&points.iter().map(|&(x, y)| vec![x, y]).collect::<Vec<_>>()).expect("route")
}

/// A ring road. Its centre line has a radius of 5 m. Its borders have radii of 4.5 m and 5.6 m.
fn ring(points: usize, closed: bool, clockwise: bool, swapped: bool) -> Vec<Vec<f64>> {
    let n = if closed { points + 1 } else { points };
    (0..n)
        .map(|i| {
            let a = TAU * (i % points) as f64 / points as f64 * if clockwise { -1.0 } else { 1.0 };
            let at = |r: f64| [r * libm::cos(a), r * libm::sin(a)];
            let (inner, outer) = if swapped { (5.6, 4.5) } else { (4.5, 5.6) };
            [at(5.0), at(inner), at(outer)].concat()
        })
        .collect()
}

#[test]
fn all_forms_of_a_ring_give_the_same_road() {
    for closed in [false, true] {
        for clockwise in [false, true] {
            let expected = read(&ring(80, true, clockwise, false)).expect("ring");
            for swapped in [false, true] {
                let route = read(&ring(80, closed, clockwise, swapped)).expect("ring");
                assert_eq!(route, expected, "{closed} {clockwise} {swapped}");
                assert!(route.is_closed());
                assert_eq!(route.centre.len(), 81);
                assert!((route.length() - TAU * 5.0).abs() < 0.02);
                assert!((route.half_width_at(3.0).expect("borders") - 0.55).abs() < 0.01);
                let bounds = route.bounds();
                assert!(
                    (bounds.min + DVec2::splat(5.6)).length() < 1e-9
                        && (bounds.max - DVec2::splat(5.6)).length() < 1e-9
                );
                // The inside of the ring is to the left of a counter-clockwise road, and to the
                // right of a clockwise road.
                let inside = route.project(DVec2::new(4.0, 0.2)).offset;
                assert!(if clockwise { inside < -0.9 } else { inside > 0.9 }, "{inside}");
            }
        }
    }
}

#[test]
fn duplicate_rows_are_removed_with_their_borders() {
    let mut rows = ring(40, true, false, false);
    let expected = read(&rows).expect("ring");
    for i in [40, 40, 20, 7, 7, 0] {
        let row = rows[i].clone();
        rows.insert(i, row);
    }
    assert_eq!(read(&rows).expect("ring"), expected);
    let borders = expected.borders.as_ref().expect("borders");
    assert_eq!((borders.inner.len(), borders.outer.len()), (41, 41));
}

#[test]
fn a_loop_with_a_rounding_error_at_its_end_is_closed_exactly() {
    let mut rows = ring(40, true, false, false);
    rows[40][0] += 1e-7;
    rows[40][3] += 1e-3;
    assert_eq!(read(&rows).expect("ring"), read(&ring(40, true, false, false)).expect("ring"));
}

#[test]
fn open_and_closed_routes_are_told_apart() {
    let closed = |points: &[(f64, f64)]| line(points).is_closed();
    assert!(!closed(&[(0.0, 0.0), (1.0, 0.0)]));
    assert!(!closed(&[(0.0, 0.0), (1.0, 0.0), (2.0, 0.0)]), "a straight of three points");
    assert!(!closed(&[(0.0, 0.0), (1.0, 0.0), (2.0, 0.0), (3.0, 0.0)]), "a straight of four points");
    assert!(!closed(&(0..50).map(|i| (i as f64 * 0.1, libm::sin(i as f64 * 0.1))).collect::<Vec<_>>()));
    let half =
        |n: usize| (0..=n).map(move |i| PI * i as f64 / n as f64).map(|a| (libm::cos(a), libm::sin(a)));
    assert!(!closed(&half(4).collect::<Vec<_>>()), "half a circle");
    assert!(!closed(&half(60).collect::<Vec<_>>()), "half a circle with many points");
    assert!(closed(&[(0.0, 0.0), (1.0, 0.0), (0.5, 0.866)]), "a triangle");
    assert!(closed(&[(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)]), "the four corners of a square");
    assert!(closed(&[(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0), (0.0, 0.0)]));
}

#[test]
fn invalid_routes_are_refused() {
    let error = |rows: &[Vec<f64>]| read(rows).expect_err("bad").to_string();
    assert!(error(&[]).contains("the 0 rows have fewer than two different points"));
    assert!(error(&[vec![1.0, 2.0]]).contains("fewer than two different points"));
    assert!(error(&vec![vec![1.0, 2.0]; 9]).contains("the 9 rows have fewer than two different points"));
    assert!(
        error(&[vec![1.0, 2.0, 3.0], vec![2.0, 3.0, 4.0]])
            .contains("the table has 3 columns; waypoints need 2")
    );
    assert!(error(&[vec![0.0, 0.0], vec![0.0, 1e300]]).contains("row 1, column 1 (from 0) is farther than"));
    assert!(
        error(&[vec![0.0, 0.0], vec![f64::NAN, 1.0]]).contains("row 1, column 0 (from 0) is not a finite")
    );
    assert!(error(&[]).starts_with("routes/r.npy: "));
}

#[test]
fn the_borders_of_an_open_straight_are_not_swapped() {
    let rows: Vec<Vec<f64>> = (0..9).map(|i| i as f64 / 3.0).map(|x| vec![x, 0.0, x, 0.5, x, -0.5]).collect();
    let route = read(&rows).expect("straight");
    assert_eq!(route.borders.as_ref().expect("borders").inner[0], DVec2::new(0.0, 0.5));
    assert_eq!(route.half_width_at(1.1), Some(0.5));
    let lateral = route.lateral(DVec2::new(1.0, 0.2)).expect("borders");
    assert!((lateral.inner - 0.3).abs() < 1e-12 && (lateral.outer - 0.7).abs() < 1e-12);
    assert_eq!(line(&[(0.0, 0.0), (1.0, 0.0)]).half_width_at(0.5), None);
}

#[test]
fn points_are_projected_onto_a_square() {
    let square = line(&[(0.0, 0.0), (4.0, 0.0), (4.0, 4.0), (0.0, 4.0)]);
    let on = |x: f64, y: f64| square.project(DVec2::new(x, y));
    let p = on(1.0, 0.5);
    assert_eq!((p.distance_along, p.offset, p.point, p.segment), (1.0, 0.5, DVec2::new(1.0, 0.0), 0));
    assert_eq!((on(1.0, -0.5).offset, on(4.5, 1.0).offset, on(4.5, 1.0).distance_along), (-0.5, -0.5, 5.0));
    assert_eq!(on(2.0, 2.0).segment, 0, "the first of equally near segments");
    // These points are outside a corner. One of them is at the corner where the loop closes.
    for (x, y) in [(5.0, -1.0), (-1.0, -1.0), (-1.0, 5.0)] {
        assert!((on(x, y).offset + 2f64.sqrt()).abs() < 1e-12);
    }
    assert_eq!(on(-1.0, -1.0).distance_along, 0.0);
}

#[test]
fn a_point_outside_a_sharp_corner_has_the_right_side() {
    // The road makes a sharp turn to the left. Every point beyond the tip of the turn is on the
    // outside of the turn, and therefore to the right of the road.
    let route = line(&[(0.0, 0.0), (4.0, 0.0), (0.0, 0.5), (-9.0, 0.5)]);
    for y in [-0.2, -0.05, 0.0, 0.05, 0.2, 0.5] {
        assert!(route.project(DVec2::new(4.5, y)).offset < 0.0, "{y}");
    }
}

#[test]
fn point_at_wraps_on_closed_routes_and_clamps_on_open_ones() {
    let square = line(&[(0.0, 0.0), (4.0, 0.0), (4.0, 4.0), (0.0, 4.0)]);
    assert_eq!(square.length(), 16.0);
    assert_eq!(square.point_at(1.0), (DVec2::new(1.0, 0.0), 0.0));
    assert_eq!(square.point_at(4.0), (DVec2::new(4.0, 0.0), FRAC_PI_2));
    assert_eq!(square.point_at(17.0), square.point_at(1.0));
    assert_eq!(square.point_at(-1.0), (DVec2::new(0.0, 1.0), -FRAC_PI_2));
    assert_eq!(square.point_at(16.0), square.point_at(0.0));
    assert_eq!(square.point_at(-1e-30), square.point_at(0.0));
    assert_eq!(square.point_at(f64::NAN), square.point_at(0.0));
    let open = line(&[(0.0, 0.0), (1.0, 0.0), (1.0, 2.0)]);
    assert_eq!(open.point_at(-5.0), (DVec2::ZERO, 0.0));
    assert_eq!(open.point_at(9.0), (DVec2::new(1.0, 2.0), FRAC_PI_2));
    assert_eq!(open.project(DVec2::new(1.0, 3.0)).distance_along, 3.0);
}

#[test]
fn routes_without_distinct_points_do_not_panic() {
    for centre in [vec![], vec![DVec2::ONE], vec![DVec2::ONE; 4]] {
        let route = Route { centre, borders: None };
        let _ = (route.length(), route.bounds(), route.to_npy());
        let _ = (route.project(DVec2::ZERO), route.point_at(1.0), route.half_width_at(1.0));
    }
}

#[test]
fn a_file_truncated_at_any_byte_is_an_error() {
    let whole = read(&ring(3, true, false, false)).expect("ring").to_npy();
    for end in 0..whole.len() {
        assert!(Route::from_npy("r", &whole[..end]).is_err(), "{end}");
    }
}

fn points() -> impl Strategy<Value = Vec<(f64, f64)>> {
    let coordinate = || prop_oneof![(-9i32..9).prop_map(f64::from), -9.0..9.0f64];
    proptest::collection::vec((coordinate(), coordinate()), 2..30)
}

proptest! {
    #[test]
    fn a_route_survives_writing_and_reading(points in points(), offset in 0.1..1.0f64, six in any::<bool>()) {
        let row = |&(x, y): &(f64, f64)| if six { vec![x, y, x * (1.0 - offset), y, x, y * (1.0 + offset)] } else { vec![x, y] };
        if let Ok(route) = read(&points.iter().map(row).collect::<Vec<_>>()) {
            let again = Route::from_npy("r", &route.to_npy()).expect("again");
            prop_assert_eq!(again, route);
        }
    }

    #[test]
    fn the_projection_is_the_nearest_point(points in points(), x in -12.0..12.0f64, y in -12.0..12.0f64) {
        if let Ok(route) = read(&points.iter().map(|&(x, y)| vec![x, y]).collect::<Vec<_>>()) {
            let p = DVec2::new(x, y);
            let found = route.project(p);
            prop_assert!((found.offset.abs() - p.distance(found.point)).abs() < 1e-12);
            prop_assert!((route.point_at(found.distance_along).0.distance(found.point)) < 1e-9);
            let length = route.length();
            prop_assert!(found.distance_along >= 0.0 && found.distance_along <= length + 1e-9);
            for i in 0..200 {
                let (q, _) = route.point_at(length * f64::from(i) / 199.0);
                prop_assert!(p.distance(q) >= found.offset.abs() - 1e-9);
            }
        }
    }

    #[test]
    fn the_offset_from_a_smooth_road_is_the_lateral_distance(s in 0.0..31.0f64, offset in -1.0..1.0f64) {
        let route = read(&ring(400, true, false, false)).expect("ring");
        let (at, heading) = route.point_at(s);
        let left = DVec2::new(-libm::sin(heading), libm::cos(heading));
        let found = route.project(at + left * offset);
        prop_assert!((found.offset - offset).abs() < 1e-3, "{found:?}");
        prop_assert!((found.distance_along - s).abs() < 0.05, "{found:?}");
    }

    #[test]
    fn changed_bytes_never_panic(changes in proptest::collection::vec((0usize..320, any::<u8>()), 1..8)) {
        let mut bytes = read(&ring(3, true, false, false)).expect("ring").to_npy();
        for (at, byte) in changes {
            bytes[at] = byte;
        }
        if let Ok(route) = Route::from_npy("r", &bytes) {
            prop_assert!(route.length().is_finite() && route.length() > 0.0);
            let _ = (route.project(DVec2::ONE), route.point_at(1.0), route.half_width_at(2.0));
        }
    }
}
