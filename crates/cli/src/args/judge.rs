//! The options `--judge` and `--judge-image`: where judging scripts run.

use chicane_session::{EngineKind, EngineOptions};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// The container engine of judging scripts.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Judging scripts")]
pub(crate) struct JudgeArgs {
    /// Container engine of judging scripts
    #[arg(long = "judge", value_enum, value_name = "ENGINE", env = "CHICANE_JUDGE", default_value_t = EngineName::Own)]
    engine: EngineName,
    /// Container image with Python 3.14, for podman and docker [default: python:3.14-slim]
    #[arg(long = "judge-image", value_name = "IMAGE", env = "CHICANE_JUDGE_IMAGE")]
    image: Option<String>,
    /// Another build of `chicane`, which starts the jails. An emulator of another processor can't
    /// create namespaces, so an emulated simulator needs a build for the real processor.
    #[arg(long = "jail-program", value_name = "PROGRAM", hide = true)]
    launcher: Option<PathBuf>,
}

/// An invalid combination of the options.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum JudgeArgsError {
    /// An image was given for the built-in jail, which uses none.
    #[error("--judge-image needs --judge podman or --judge docker")]
    ImageWithoutEngine,
}

impl JudgeArgs {
    /// Returns the options for the engine with this name. An unknown name means the built-in jail.
    pub(crate) fn named(engine: &str, image: Option<String>) -> JudgeArgs {
        let engine = EngineName::from_str(engine, false).unwrap_or(EngineName::Own);
        JudgeArgs { engine, image, launcher: None }
    }

    /// The name of the engine.
    pub(crate) fn name(&self) -> &'static str {
        match self.engine {
            EngineName::Own => "own",
            EngineName::Podman => "podman",
            EngineName::Docker => "docker",
        }
    }

    /// The image, if one was given.
    pub(crate) fn image(&self) -> Option<String> {
        self.image.clone()
    }

    /// The program that starts the jails. `None` stands for this program.
    pub(crate) fn launcher(&self) -> Option<PathBuf> {
        self.launcher.clone()
    }

    /// The options as arguments of this program.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let image = self.image.as_ref().map(|image| format!("--judge-image={image}"));
        let launcher = self.launcher.as_ref().map(|path| format!("--jail-program={}", path.display()));
        std::iter::once(format!("--judge={}", self.name())).chain(image).chain(launcher).collect()
    }

    /// The external engine, or `None` for the built-in jail.
    pub(crate) fn engine(&self) -> Result<Option<EngineOptions>, JudgeArgsError> {
        let kind = match self.engine {
            EngineName::Podman => EngineKind::Podman,
            EngineName::Docker => EngineKind::Docker,
            EngineName::Own if self.image.is_some() => return Err(JudgeArgsError::ImageWithoutEngine),
            EngineName::Own => return Ok(None),
        };
        Ok(Some(EngineOptions { kind, program: None, image: self.image.clone(), loopback_only: true }))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum EngineName {
    /// Built-in jail, which needs `chicane setup` once
    Own,
    /// podman, with an image
    Podman,
    /// docker, with an image
    Docker,
}
