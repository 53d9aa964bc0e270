//! Describes the document in words.

use crate::{Count, Noise, Objects, Range, Start, Surface, Vary};

impl Vary {
    /// What a seed may change, in lines of plain text.
    pub fn lines(&self) -> Vec<String> {
        let Start { along, across, yaw } = self.start;
        let Noise { lidar, imu, camera } = self.noise;
        let range = |what: &str, range: Option<Range>, unit: &str| {
            range.map(|Range { least, most }| format!("{what}: {least} to {most}{unit}"))
        };
        let surfaces: Vec<&str> = self.surface.iter().map(|surface: &Surface| surface.name()).collect();
        let lines = [
            range("start along the road", along, " m"),
            range("start across the road", across, " m"),
            range("heading at the start", yaw, " rad"),
            self.objects.jitter_line(),
            self.objects.scatter.map(scatter_line),
            range("lights: red at the start for", self.lights, " s")
                .map(|line| line.replace("for: ", "for ")),
            range("brightness", self.brightness, ""),
            range("grip of the tyres", self.friction, " times"),
            range("mass of the car", self.mass, " times"),
            range("noise of the lidar", lidar, " times"),
            range("noise of the IMU", imu, " times"),
            range("noise of the camera", camera, " times"),
            range("delay of commands", self.latency, " s"),
            (!surfaces.is_empty()).then(|| format!("surface of the road: {}", surfaces.join(" or "))),
        ];
        lines.into_iter().flatten().collect()
    }
}

impl Objects {
    fn jitter_line(&self) -> Option<String> {
        let moved = (self.jitter > 0.0).then(|| format!("moved by up to {} m", self.jitter));
        let turned = (self.turn > 0.0).then(|| format!("turned by up to {} rad", self.turn));
        let parts: Vec<String> = [moved, turned].into_iter().flatten().collect();
        (!parts.is_empty()).then(|| format!("objects: {}", parts.join(", ")))
    }
}

fn scatter_line(Count { least, most }: Count) -> String {
    format!("objects beside the road: {least} to {most} more")
}
