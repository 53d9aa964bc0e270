//! Draws pictures from positions on the circle that the car drives.

use chicane_bench::BenchError;
use chicane_render::{Camera, CarMoment, Moment, Optics, Renderer, Rgb, Stage};
use chicane_world::{Pose, Profile, World};
use std::hint::black_box;
use std::sync::Arc;

/// Steering angle of the circle, as in `bench/compare/scene.py`.
const STEERING_RAD: f64 = 0.3;
/// Number of positions on the circle.
const PLACES: usize = 16;

/// Draws pictures. Each picture is taken from the next position on the circle.
pub(crate) struct Pictures {
    renderer: Renderer,
    profile: Arc<Profile>,
    moments: Vec<Moment>,
    pool: rayon::ThreadPool,
    frame: u64,
}

impl Pictures {
    pub(crate) fn new(world: &World, profile: Profile, threads: usize) -> Result<Pictures, BenchError> {
        let radius = profile.wheelbase_m / libm::tan(STEERING_RAD);
        let moments = (0..PLACES).map(|i| {
            let turn = std::f64::consts::TAU * i as f64 / PLACES as f64;
            let (sin, cos) = libm::sincos(turn);
            let pose = Pose::from_xyz_yaw(radius * sin, radius - radius * cos, 0.0, turn);
            let objects = world.objects.iter().map(|o| o.origin).collect();
            Moment { car: CarMoment { pose, ..CarMoment::default() }, objects, lamps: Vec::new() }
        });
        let profile = Arc::new(profile);
        Ok(Pictures {
            renderer: Renderer::new(Arc::new(Stage::new(world, Arc::clone(&profile)))),
            profile: Arc::clone(&profile),
            moments: moments.collect(),
            pool: rayon::ThreadPoolBuilder::new().num_threads(threads).build()?,
            frame: 0,
        })
    }

    /// Draws pictures without lens distortion and noise, as the other simulators do.
    pub(crate) fn pinhole(&mut self, count: u64, size: [usize; 2]) {
        for _ in 0..count {
            black_box(self.one(size));
        }
    }

    /// Draws pictures with lens distortion and noise, like the on-board camera of our robot.
    pub(crate) fn on_board(&mut self, count: u64, size: [usize; 2]) {
        let Pictures { renderer, moments, pool, frame, .. } = self;
        pool.install(|| {
            for _ in 0..count {
                black_box(renderer.on_board(&moments[*frame as usize % PLACES], size, 1, *frame));
                *frame += 1;
            }
        });
    }

    /// Writes the picture from the first position to a file.
    pub(crate) fn keep(&mut self, file: &str, size: [usize; 2]) -> Result<(), BenchError> {
        self.frame = 0;
        let picture = self.one(size);
        let (width, height) = (picture.width as u32, picture.height as u32);
        let picture = image::RgbImage::from_raw(width, height, picture.bytes).ok_or("incomplete picture")?;
        Ok(picture.save(file)?)
    }

    fn one(&mut self, [width, height]: [usize; 2]) -> Rgb {
        let moment = &self.moments[self.frame as usize % PLACES];
        self.frame += 1;
        let optics = Optics::pinhole(width, height, self.profile.camera.horizontal_fov_rad);
        let camera = Camera { pose: moment.car.camera(&self.profile), optics };
        let renderer = &mut self.renderer;
        self.pool.install(|| renderer.picture(&camera, moment))
    }
}
