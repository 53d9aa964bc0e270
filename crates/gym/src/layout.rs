//! Places small objects at random on the road, with enough space beside each for a car to pass.

use crate::error::GymError;
use crate::generator::Generator;
use crate::track::{Track, micro, rounded};
use chicane_world::World;
use chicane_world::world::ObjectType;
use std::f64::consts::PI;

/// Longest diagonal of the base of an object that is placed on the road, m.
const SMALL_M: f64 = 0.4;
/// Width of road that stays free beside an object, m. A car with its wheels is 0.2 m wide.
const PASSAGE_M: f64 = 0.4;
/// Length of road without objects before and after the start, m.
const CLEAR_M: f64 = 1.5;

/// An object and its new pose on the ground.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Placement {
    pub(crate) name: String,
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) yaw: f64,
}

/// Places each small object in a road section of its own. `start` is the start of the car in metres
/// along the road.
pub(crate) fn scatter(
    track: &Track,
    world: &World,
    start: f64,
    random: &mut Generator,
) -> Result<Vec<Placement>, GymError> {
    let objects = world.objects.iter().filter(|o| o.movable && o.object_type == ObjectType::Object);
    let small: Vec<(&str, f64)> = objects
        .map(|o| {
            let (x, y) = (rounded(o.size.x), rounded(o.size.y));
            (o.name.as_str(), (x * x + y * y).sqrt() / 2.0)
        })
        .filter(|(_, radius)| 2.0 * radius <= SMALL_M)
        .collect();
    if small.is_empty() {
        return Err(GymError::NoSmallObjects);
    }
    let mut order: Vec<usize> = (0..small.len()).collect();
    for last in (1..order.len()).rev() {
        order.swap(last, random.below(last + 1));
    }
    let stretch = (track.length() - 2.0 * CLEAR_M) / small.len() as f64;
    let mut places = Vec::with_capacity(small.len());
    for (turn, number) in order.into_iter().enumerate() {
        let (name, radius) = small[number];
        let along = start + CLEAR_M + (turn as f64 + random.between(0.2, 0.8)) * stretch;
        let [left, right] = track.widths(along);
        // Limits of the offset of an object to the left of the centre line, which a car passes on
        // the object's right. At `lowest`, the free road on the object's right is exactly
        // `PASSAGE_M` wide. At `highest`, the object touches the left border. The branch below
        // moves half of the objects to the right of the centre line, with the mirrored limits.
        let (lowest, highest) = (PASSAGE_M + radius - right, left - radius);
        if !(lowest <= highest && highest < f64::INFINITY) {
            return Err(GymError::NarrowRoad { name: name.to_owned() });
        }
        let mut offset = random.between(lowest.max(0.0), highest);
        if random.next_f64() < 0.5 {
            let (lowest, highest) = (radius - right, left - PASSAGE_M - radius);
            offset = random.between(lowest, highest.min(0.0));
        }
        let [x, y, _] = track.at(along, offset);
        let yaw = random.between(-PI, PI);
        places.push(Placement { name: name.to_owned(), x: micro(x), y: micro(y), yaw: micro(yaw) });
    }
    Ok(places)
}
