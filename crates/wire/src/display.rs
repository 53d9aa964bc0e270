//! Brightness and overlay text of the viewer.

use crate::fields::{Body, Fields, Invalid};
use crate::num::Num;
use serde::Serialize;
use utoipa::ToSchema;

/// Response of `GET /brightness`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct Brightness {
    /// Factor applied to every displayed pixel.
    pub value: Num,
}

/// Response of `POST /brightness`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct BrightnessChanged {
    /// Always true.
    pub ok: bool,
    /// The factor after the change.
    pub value: Num,
}

/// Request body of `POST /brightness`.
#[derive(Debug, Clone, Copy, PartialEq, ToSchema)]
pub struct BrightnessRequest {
    /// Factor applied to every displayed pixel.
    #[schema(minimum = 0.2, maximum = 2.0)]
    pub value: f64,
}

impl BrightnessRequest {
    /// Smallest accepted factor.
    pub const LOW: f64 = 0.2;
    /// Largest accepted factor.
    pub const HIGH: f64 = 2.0;
}

impl Body for BrightnessRequest {
    fn parse(fields: &Fields) -> Result<BrightnessRequest, Invalid> {
        let value = fields.number_within("value", Self::LOW, Self::HIGH)?;
        value
            .map(|value| BrightnessRequest { value })
            .ok_or_else(|| Invalid::new("value must be a number from 0.2 to 2"))
    }
}

/// Response of `GET /overlay`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Overlay {
    /// The text; empty when no overlay is shown.
    pub text: String,
    /// Requested display time, real seconds.
    pub ttl: Num,
    /// Multiplier of the font size.
    pub size: Num,
    /// Remaining display time, real seconds.
    pub remaining_s: Num,
    /// Counter of the overlay requests. It increases with every request, even if the text stays the
    /// same.
    pub seq: u64,
}

/// Response of `POST /overlay`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct OverlayChanged {
    /// Always true.
    pub ok: bool,
    /// The overlay after the change.
    #[serde(flatten)]
    pub overlay: Overlay,
}

/// Request body of `POST /overlay`.
#[derive(Debug, Clone, PartialEq, ToSchema)]
pub struct OverlayRequest {
    /// The text; an empty text removes the overlay.
    #[schema(max_length = 300)]
    pub text: String,
    /// Display time, real seconds; 10 if omitted.
    #[schema(value_type = Option<f64>, minimum = 1, maximum = 3600)]
    pub ttl: f64,
    /// Multiplier of the font size; 1 if omitted.
    #[schema(value_type = Option<f64>, minimum = 0.5, maximum = 4)]
    pub size: f64,
}

impl OverlayRequest {
    /// Longest accepted text, in characters.
    pub const MAX_TEXT: usize = 300;
}

impl Body for OverlayRequest {
    fn parse(fields: &Fields) -> Result<OverlayRequest, Invalid> {
        let wrong = "text must be a string of at most 300 characters";
        let text = fields.text("text", wrong)?.ok_or_else(|| Invalid::new(wrong))?;
        if text.chars().count() > Self::MAX_TEXT {
            return Err(Invalid::new(wrong));
        }
        Ok(OverlayRequest {
            text: text.to_owned(),
            ttl: fields.number_within("ttl", 1.0, 3600.0)?.unwrap_or(10.0),
            size: fields.number_within("size", 0.5, 4.0)?.unwrap_or(1.0),
        })
    }
}
