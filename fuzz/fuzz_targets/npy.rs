//! Reads any bytes as a NumPy table and as a route. The result is an error that names the file, or
//! a value that can be written and read again without a change.
#![no_main]

use chicane_world::{Route, npy};
use glam::DVec2;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    match npy::read("fuzz.npy", bytes) {
        Ok(array) => {
            assert_eq!(array.values.len(), array.rows * array.columns);
            assert!(array.values.iter().all(|v| v.is_finite()));
            assert_eq!(
                npy::read("fuzz.npy", &npy::write(&array)).expect("a written table can be read"),
                array
            );
        }
        Err(e) => assert_eq!(e.location.file, "fuzz.npy"),
    }
    if let Ok(route) = Route::from_npy("fuzz.npy", bytes) {
        let again = Route::from_npy("fuzz.npy", &route.to_npy()).expect("a written route can be read");
        assert_eq!(again, route);
        let length = route.length();
        assert!(length.is_finite() && length > 0.0);
        let found = route.project(DVec2::new(0.3, -0.2));
        assert!(found.offset.is_finite() && found.segment + 1 < route.centre.len());
        assert!(found.distance_along >= 0.0 && found.distance_along <= length * (1.0 + 1e-9));
        let (point, heading) = route.point_at(found.distance_along);
        assert!(point.is_finite() && heading.is_finite());
        assert_eq!(route.half_width_at(1.0).is_some(), route.borders.is_some());
        let bounds = route.bounds();
        assert!(bounds.min.cmple(bounds.max).all());
    }
});
