//! Draws the plan of a project from above, for lists of projects. The plan is drawn from the
//! document and needs no world, so a project with errors has a plan too.

use chicane_builder::preview::{Preview, RoadPreview, preview};
use chicane_builder::project::{Decal, Ground, ObjectShape, ObstacleBody, Project};
use chicane_render::{Jpeg, Rgb};
use glam::DVec2;

/// Width and height of a plan, in pixels.
pub const THUMBNAIL_SIZE: [usize; 2] = [320, 240];
/// Drawn pixels per pixel of the picture in each direction, for smooth edges.
const FINE: usize = 2;
/// Margin around the field, as a fraction of the picture.
const MARGIN: f64 = 0.03;
/// Quality of the JPEG file, 1 to 100.
const QUALITY: u8 = 85;
/// Length of the start line along the road, m.
const START_M: f64 = 0.15;

const PAPER: [u8; 3] = [238, 238, 240];
const CARPET: [u8; 3] = [128, 132, 140];
const GRASS: [u8; 3] = [104, 146, 86];
const PICTURE: [u8; 3] = [176, 168, 152];
const DECAL: [u8; 3] = [204, 196, 176];
const ROAD: [u8; 3] = [58, 60, 66];
const LINE: [u8; 3] = [236, 236, 232];
const OBJECT: [u8; 3] = [232, 126, 40];
const LIGHT: [u8; 3] = [214, 50, 50];

/// The plan of a project as a JPEG file.
pub(crate) fn draw(project: &Project) -> Vec<u8> {
    let preview = preview(project, None);
    let mut canvas = Canvas::new(DVec2::from_array(project.field.size));
    let [w, h] = project.field.size;
    let ground = match &project.field.ground {
        Ground::Carpet => CARPET,
        Ground::Grass => GRASS,
        Ground::Picture(_) => PICTURE,
    };
    canvas.fill(&rectangle(0.0, 0.0, w, h), ground);
    project.decals.iter().for_each(|decal| canvas.fill(&outline(decal), DECAL));
    if let Some(road) = &preview.road {
        draw_road(&mut canvas, project, road);
    }
    draw_objects(&mut canvas, project, &preview);
    if let Some(fence) = &project.fence {
        // The fence is drawn at least one pixel wide.
        let t = (1.0 / canvas.scale).max(0.03);
        for (x, y, width, height) in
            [(0.0, 0.0, w, t), (0.0, h - t, w, t), (0.0, 0.0, t, h), (w - t, 0.0, t, h)]
        {
            canvas.fill(&rectangle(x, y, width, height), fence.colour.0);
        }
    }
    Jpeg::new(QUALITY).encode(&canvas.reduced()).unwrap_or_default()
}

fn draw_road(canvas: &mut Canvas, project: &Project, road: &RoadPreview) {
    let (left, right) = (&road.left, &road.right);
    let n = left.len();
    let steps = if road.line.closed { n } else { n.saturating_sub(1) };
    let next = |i: usize| (i + 1) % n;
    for i in 0..steps {
        canvas.fill(&[left[i], right[i], right[next(i)], left[next(i)]], ROAD);
    }
    let edge = project.track.outer_line;
    if edge.width > 0.0 {
        let colour = edge.colour.map_or(LINE, |colour| colour.0);
        let width = edge.width.max(1.0 / canvas.scale);
        for i in 0..steps {
            for side in [left, right] {
                let centre = [i, next(i)].map(|i| road.line.samples[i].at);
                let [a, b] = [side[i], side[next(i)]];
                let inwards = |p: DVec2, to: DVec2| p + (to - p).normalize_or_zero() * width;
                canvas.fill(&[a, b, inwards(b, centre[1]), inwards(a, centre[0])], colour);
            }
        }
    }
    if project.track.start_line {
        let ahead = DVec2::from_angle(road.start_yaw) * START_M.max(2.0 / canvas.scale);
        let start = road.line.start;
        let (a, b) = (left[start], right[start]);
        canvas.fill(&[a, b, b + ahead, a + ahead], LINE);
    }
}

fn draw_objects(canvas: &mut Canvas, project: &Project, preview: &Preview) {
    for (object, shown) in project.objects.iter().zip(&preview.objects) {
        let colour = match &object.kind {
            ObjectShape::Box { body, .. }
            | ObjectShape::Cylinder { body, .. }
            | ObjectShape::Sphere { body, .. }
            | ObjectShape::Cone { body, .. } => body_colour(body),
            ObjectShape::Light { .. } => LIGHT,
        };
        canvas.fill(&shown.footprint, colour);
    }
}

fn body_colour(body: &ObstacleBody) -> [u8; 3] {
    body.colour.map_or(OBJECT, |colour| colour.0)
}

fn rectangle(x: f64, y: f64, width: f64, height: f64) -> [DVec2; 4] {
    let corner = |dx: f64, dy: f64| DVec2::new(x + dx, y + dy);
    [corner(0.0, 0.0), corner(width, 0.0), corner(width, height), corner(0.0, height)]
}

fn outline(decal: &Decal) -> [DVec2; 4] {
    let along = DVec2::from_angle(decal.yaw);
    let (x, y) = (along * 0.5 * decal.width, along.perp() * 0.5 * decal.height);
    [-x - y, x - y, x + y, y - x].map(|corner| DVec2::new(decal.x, decal.y) + corner)
}

/// The pixels of a plan, at the fine resolution.
struct Canvas {
    pixels: Vec<[u8; 3]>,
    /// Fine pixels per metre.
    scale: f64,
    /// Position of the field's upper left corner, in fine pixels.
    corner: DVec2,
    /// Height of the field, m.
    height: f64,
}

impl Canvas {
    fn new(size: DVec2) -> Canvas {
        let [width, height] = THUMBNAIL_SIZE.map(|side| (side * FINE) as f64);
        let room = DVec2::new(width, height) * (1.0 - 2.0 * MARGIN);
        let scale = (room / size).min_element();
        Canvas {
            pixels: vec![PAPER; THUMBNAIL_SIZE[0] * THUMBNAIL_SIZE[1] * FINE * FINE],
            scale,
            corner: (DVec2::new(width, height) - size * scale) * 0.5,
            height: size.y,
        }
    }

    /// Fills a polygon, whose corners are in metres.
    fn fill(&mut self, polygon: &[DVec2], colour: [u8; 3]) {
        let [width, height] = THUMBNAIL_SIZE.map(|side| side * FINE);
        let place = |p: &DVec2| self.corner + DVec2::new(p.x, self.height - p.y) * self.scale;
        let corners: Vec<DVec2> = polygon.iter().map(place).collect();
        let low = corners.iter().map(|p| p.y).fold(f64::INFINITY, f64::min);
        let high = corners.iter().map(|p| p.y).fold(f64::NEG_INFINITY, f64::max);
        let first = low.clamp(0.0, height as f64) as usize;
        let last = high.ceil().clamp(0.0, height as f64) as usize;
        for row in first..last {
            let y = row as f64 + 0.5;
            let edges = corners.iter().zip(corners.iter().cycle().skip(1));
            let mut crossings: Vec<f64> = edges
                .filter(|(a, b)| (a.y <= y) != (b.y <= y))
                .map(|(a, b)| a.x + (b.x - a.x) * (y - a.y) / (b.y - a.y))
                .collect();
            crossings.sort_by(f64::total_cmp);
            for pair in crossings.chunks_exact(2) {
                let [from, to] = [pair[0], pair[1]].map(|x| (x + 0.5).clamp(0.0, width as f64) as usize);
                self.pixels[row * width + from..row * width + to].fill(colour);
            }
        }
    }

    /// The picture: each pixel is the mean of the fine pixels.
    fn reduced(&self) -> Rgb {
        let [width, height] = THUMBNAIL_SIZE;
        let mut bytes = Vec::with_capacity(width * height * 3);
        for y in 0..height {
            for x in 0..width {
                for channel in 0..3 {
                    let fine = |i: usize| {
                        let (dx, dy) = (i % FINE, i / FINE);
                        u32::from(self.pixels[(y * FINE + dy) * width * FINE + x * FINE + dx][channel])
                    };
                    let sum: u32 = (0..FINE * FINE).map(fine).sum();
                    bytes.push((sum / (FINE * FINE) as u32) as u8);
                }
            }
        }
        Rgb { width, height, bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chicane_store::BuiltIn;

    fn pixels(project: &Project) -> image::RgbImage {
        let file = draw(project);
        image::load_from_memory(&file).expect("a JPEG file").to_rgb8()
    }

    fn near(a: [u8; 3], b: [u8; 3]) -> bool {
        a.iter().zip(b).all(|(a, b)| a.abs_diff(b) < 40)
    }

    #[test]
    fn every_shipped_project_has_a_plan_with_its_road() {
        for world in BuiltIn::all() {
            let project = Project::read(world.project()).expect("a project");
            let picture = pixels(&project);
            assert_eq!([picture.width(), picture.height()], [320, 240]);
            let road = picture.pixels().filter(|p| near(p.0, ROAD)).count();
            assert!(road > 300, "{}: {road} pixels of road", world.name());
        }
    }

    #[test]
    fn a_project_far_outside_of_its_field_is_drawn() {
        let oval = BuiltIn::all().find(|world| world.name() == "oval").expect("shipped");
        let mut project = Project::read(oval.project()).expect("a project");
        project.track.nodes.iter_mut().for_each(|node| node.x += 190.0);
        project.objects.clear();
        // The thin lines of a fence have colours near that of the road in a JPEG file.
        project.fence = None;
        let picture = pixels(&project);
        let road = picture.pixels().filter(|p| near(p.0, ROAD)).count();
        assert!(road < 20, "{road} pixels of road");
    }
}
