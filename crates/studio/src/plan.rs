//! Draws the plan of a project from above, for lists of projects. The plan is drawn from the
//! document and needs no world, so a project with errors has a plan too.

mod pictures;

use chicane_builder::Files;
use chicane_builder::preview::{Preview, RoadPreview, preview};
use chicane_builder::project::{Decal, FileName, Ground, ObjectShape, ObstacleBody, Project};
use chicane_render::{Jpeg, Rgb};
use glam::DVec2;
use image::RgbaImage;
use pictures::{Pictures, colour_at};

/// Width and height of the plan's picture, in pixels.
pub const THUMBNAIL_SIZE: [usize; 2] = [320, 240];
/// Fine pixels per pixel in each direction. The plan is drawn with fine pixels, to smooth the
/// edges.
const FINE: usize = 2;
/// Least margin on each side of the field, as a fraction of the picture's width or height.
const MARGIN: f64 = 0.03;
/// Quality of the JPEG file, 1 to 100.
const QUALITY: u8 = 85;
/// Length of the start line along the road, m. It is drawn longer if it has less than two fine
/// pixels.
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
pub(crate) fn draw(project: &Project, files: &dyn Files) -> Vec<u8> {
    let preview = preview(project, None);
    let pictures = Pictures::of(project, files);
    let mut canvas = Canvas::new(DVec2::from_array(project.field.size));
    let [w, h] = project.field.size;
    let (ground, picture) = match &project.field.ground {
        Ground::Carpet => (CARPET, None),
        Ground::Grass => (GRASS, None),
        Ground::Picture(name) => (PICTURE, pictures.get(name)),
    };
    // The picture of a ground repeats every metre, so its texture coordinates are metres.
    canvas.cover(&rectangle(0.0, 0.0, w, h), ground, picture, |at| at);
    if let Some(road) = &preview.road {
        draw_road(&mut canvas, project, road);
    }
    project.decals.iter().for_each(|decal| draw_decal(&mut canvas, decal, &pictures));
    draw_objects(&mut canvas, project, &preview, &pictures);
    if let Some(fence) = &project.fence {
        // The fence is drawn 0.03 m wide, but at least one fine pixel.
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

fn draw_decal(canvas: &mut Canvas, decal: &Decal, pictures: &Pictures) {
    let along = DVec2::from_angle(decal.yaw);
    let (centre, size) = (DVec2::new(decal.x, decal.y), DVec2::new(decal.width, decal.height));
    canvas.cover(&outline(decal), DECAL, pictures.get(&decal.picture), |at| {
        let own = at - centre;
        DVec2::splat(0.5) + DVec2::new(own.dot(along), own.dot(along.perp())) / size
    });
}

fn draw_objects(canvas: &mut Canvas, project: &Project, preview: &Preview, pictures: &Pictures) {
    for (object, shown) in project.objects.iter().zip(&preview.objects) {
        let along = DVec2::from_angle(object.yaw);
        let own = |at: DVec2| {
            let from_centre = at - DVec2::new(object.x, object.y);
            DVec2::new(from_centre.dot(along), from_centre.dot(along.perp()))
        };
        let half = DVec2::splat(0.5);
        match &object.kind {
            ObjectShape::Box { size, body, faces } => {
                // The colour of the box is visible where the picture is transparent.
                canvas.fill(&shown.footprint, body_colour(body));
                // The right side of the picture on top is at the left side (+y) of the box.
                let [x, y, _] = *size;
                canvas.cover(&shown.footprint, body_colour(body), on_face(pictures, &faces[4]), |at| {
                    half + DVec2::new(own(at).y / y, -own(at).x / x)
                });
            }
            ObjectShape::Cylinder { radius, body, faces, .. } => {
                canvas.cover(&shown.footprint, body_colour(body), on_face(pictures, &faces[1]), |at| {
                    half + own(at) / (2.0 * radius)
                });
            }
            ObjectShape::Sphere { body, .. } | ObjectShape::Cone { body, .. } => {
                canvas.fill(&shown.footprint, body_colour(body));
            }
            ObjectShape::Light { .. } => canvas.fill(&shown.footprint, LIGHT),
        }
    }
}

/// The picture on a face. `None` if the face has no picture, or if the picture was not decoded.
fn on_face<'a>(pictures: &'a Pictures, face: &Option<FileName>) -> Option<&'a RgbaImage> {
    pictures.get(face.as_ref()?)
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

/// The fine pixels of a plan.
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
        self.paint(polygon, |_, _| colour);
    }

    /// Covers a polygon with a picture, or with a colour if there is no picture. `to_texture`
    /// converts a point of the field to texture coordinates.
    fn cover(
        &mut self,
        polygon: &[DVec2],
        colour: [u8; 3],
        picture: Option<&RgbaImage>,
        to_texture: impl Fn(DVec2) -> DVec2,
    ) {
        let Some(picture) = picture else { return self.fill(polygon, colour) };
        self.paint(polygon, |at, below| {
            let [r, g, b, alpha] = colour_at(picture, to_texture(at)).map(u32::from);
            let mix = |over: u32, below: u8| ((over * alpha + u32::from(below) * (255 - alpha)) / 255) as u8;
            [mix(r, below[0]), mix(g, below[1]), mix(b, below[2])]
        });
    }

    /// Replaces the pixels of a polygon. `colour` computes the new colour from the point of the
    /// field and the old colour.
    fn paint(&mut self, polygon: &[DVec2], colour: impl Fn(DVec2, [u8; 3]) -> [u8; 3]) {
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
                for column in from..to {
                    let x = (column as f64 + 0.5 - self.corner.x) / self.scale;
                    let at = DVec2::new(x, self.height - (y - self.corner.y) / self.scale);
                    let pixel = &mut self.pixels[row * width + column];
                    *pixel = colour(at, *pixel);
                }
            }
        }
    }

    /// The picture: each pixel is the mean of its fine pixels.
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
    use chicane_world::MemoryBundle;

    fn pixels(project: &Project) -> image::RgbImage {
        pixels_with(project, &MemoryBundle::default())
    }

    fn pixels_with(project: &Project, files: &MemoryBundle) -> image::RgbImage {
        let file = draw(project, files);
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

    /// The colour of a plan at a point of the field.
    fn at(picture: &image::RgbImage, size: [f64; 2], x: f64, y: f64) -> [u8; 3] {
        let canvas = Canvas::new(DVec2::from_array(size));
        let pixel = (canvas.corner + DVec2::new(x, size[1] - y) * canvas.scale) / FINE as f64;
        picture.get_pixel(pixel.x as u32, pixel.y as u32).0
    }

    #[test]
    fn pictures_lie_on_the_floor_and_on_boxes_as_in_the_world() {
        // The quarters of the picture: upper left red, upper right green, lower left blue, lower
        // right transparent.
        let corners = [[255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255], [0, 0, 0, 0]];
        let drawn =
            image::RgbaImage::from_fn(64, 64, |x, y| image::Rgba(corners[(x / 32 + y / 32 * 2) as usize]));
        let mut png = std::io::Cursor::new(Vec::new());
        drawn.write_to(&mut png, image::ImageFormat::Png).expect("encoded");
        let mut files = MemoryBundle::default();
        files.insert("four.png", png.into_inner());
        let document = br#"{"version": 1, "name": "four", "field": {"size": [8, 6]},
            "track": {"closed": false, "nodes": [{"x": 1, "y": 0.5}, {"x": 7, "y": 0.5}]},
            "decals": [{"picture": "four.png", "x": 2, "y": 4, "width": 2, "height": 2}],
            "objects": [{"kind": "box", "name": "box1", "x": 6, "y": 4, "size": [2, 2, 1],
                         "textures": {"top": "four.png"}}]}"#;
        let mut project = Project::read(document).expect("a project");
        let picture = pixels_with(&project, &files);
        let colour = |x, y| at(&picture, [8.0, 6.0], x, y);
        let [red, green, blue] = [[255, 0, 0], [0, 255, 0], [0, 0, 255]];
        for (x, y, expected) in [(1.5, 4.5, red), (2.5, 4.5, green), (1.5, 3.5, blue), (2.5, 3.5, CARPET)] {
            assert!(near(colour(x, y), expected), "decal at {x}, {y}: {:?}", colour(x, y));
        }
        // The upper edge of the picture on top is at the back of the box, which is at -x.
        for (x, y, expected) in [(5.5, 3.5, red), (5.5, 4.5, green), (6.5, 3.5, blue)] {
            assert!(near(colour(x, y), expected), "box at {x}, {y}: {:?}", colour(x, y));
        }
        assert!(near(at(&pixels(&project), [8.0, 6.0], 1.5, 4.5), DECAL), "a missing picture is an area");
        project.decals[0].yaw = std::f64::consts::FRAC_PI_2;
        let turned = pixels_with(&project, &files);
        assert!(near(at(&turned, [8.0, 6.0], 1.5, 3.5), red), "a quarter turn to the left");
    }

    #[test]
    fn a_project_far_outside_of_its_field_is_drawn() {
        let oval = BuiltIn::all().find(|world| world.name() == "oval").expect("shipped");
        let mut project = Project::read(oval.project()).expect("a project");
        project.track.nodes.iter_mut().for_each(|node| node.x += 190.0);
        project.objects.clear();
        // The fence is removed, because its thin lines get colours close to the colour of the road
        // in a JPEG file.
        project.fence = None;
        let picture = pixels(&project);
        let road = picture.pixels().filter(|p| near(p.0, ROAD)).count();
        assert!(road < 20, "{road} pixels of road");
    }
}
