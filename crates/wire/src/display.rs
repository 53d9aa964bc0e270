//! What is shown to people: brightness and the overlay text.

use crate::fields::{Body, Fields, Invalid};
use crate::num::Num;
use serde::Serialize;
use utoipa::ToSchema;

/// Answer of `GET /brightness`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct Brightness {
    /// Factor of every shown pixel.
    pub value: Num,
}

/// Answer of `POST /brightness`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct BrightnessChanged {
    /// Always true.
    pub ok: bool,
    /// The factor now.
    pub value: Num,
}

/// Body of `POST /brightness`.
#[derive(Debug, Clone, Copy, PartialEq, ToSchema)]
pub struct BrightnessRequest {
    /// Factor of every shown pixel.
    #[schema(minimum = 0.2, maximum = 2.0)]
    pub value: f64,
}

impl BrightnessRequest {
    /// Least factor.
    pub const LOW: f64 = 0.2;
    /// Greatest factor.
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

/// Answer of `GET /overlay`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Overlay {
    /// The text; empty when there is none.
    pub text: String,
    /// Real seconds it was asked to stay.
    pub ttl: Num,
    /// Multiplier of the font size.
    pub size: Num,
    /// Real seconds it will still stay.
    pub remaining_s: Num,
    /// Grows with every request.
    pub seq: u64,
}

/// Answer of `POST /overlay`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct OverlayChanged {
    /// Always true.
    pub ok: bool,
    /// The overlay now.
    #[serde(flatten)]
    pub overlay: Overlay,
}

/// Body of `POST /overlay`.
#[derive(Debug, Clone, PartialEq, ToSchema)]
pub struct OverlayRequest {
    /// The text; empty takes it away.
    #[schema(max_length = 300)]
    pub text: String,
    /// Real seconds to stay; 10 if omitted.
    #[schema(value_type = Option<f64>, minimum = 1, maximum = 3600)]
    pub ttl: f64,
    /// Multiplier of the font size; 1 if omitted.
    #[schema(value_type = Option<f64>, minimum = 0.5, maximum = 4)]
    pub size: f64,
}

impl OverlayRequest {
    /// Longest text, in characters.
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
