//! What judging scripts run in.

use chicane_session::{EngineKind, EngineOptions};
use clap::{Args, ValueEnum};

/// Where judging scripts run.
#[derive(Debug, Clone, Args)]
pub(crate) struct JudgeBy {
    /// What judging scripts run in: a container of chicane's own, or one of podman or docker
    #[arg(long = "judge", value_enum, value_name = "ENGINE", env = "CHICANE_JUDGE", default_value_t = EngineName::Own)]
    with: EngineName,
    /// Image of the engine, with Python 3.14 [default: python:3.14-slim]
    #[arg(long = "judge-image", value_name = "IMAGE", env = "CHICANE_JUDGE_IMAGE")]
    image: Option<String>,
}

impl JudgeBy {
    /// The engine that was asked for.
    pub(crate) fn engine(&self) -> Result<Option<EngineOptions>, String> {
        let kind = match self.with {
            EngineName::Podman => EngineKind::Podman,
            EngineName::Docker => EngineKind::Docker,
            EngineName::Own if self.image.is_some() => {
                return Err("--judge-image is for --judge podman and --judge docker".to_owned());
            }
            EngineName::Own => return Ok(None),
        };
        Ok(Some(EngineOptions { kind, program: None, image: self.image.clone(), loopback_only: true }))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum EngineName {
    /// Namespaces of chicane's own, which `chicane setup` prepares
    Own,
    /// podman, with an image
    Podman,
    /// docker, with an image
    Docker,
}
