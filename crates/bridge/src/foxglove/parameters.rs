//! The parameters that clients read and change: `brightness`, `speed` and `paused`.

use super::Action;
use super::protocol::text;
use crate::rosbridge::quoted;
use chicane_host::Host;
use chicane_host::driver::{Published, Simulator};
use chicane_wire::{Body, BrightnessRequest, ClockRequest, Fields};
use serde_json::{Value, json};
use std::ops::{BitAnd, BitOr, Sub};
use tokio_tungstenite::tungstenite::Utf8Bytes;

/// A parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Parameter {
    /// Every colour channel of a camera image is multiplied by this factor.
    Brightness,
    /// Requested real-time factor; 0 is as fast as possible.
    Speed,
    /// Whether time is paused.
    Paused,
}

impl Parameter {
    const ALL: [Parameter; 3] = [Parameter::Brightness, Parameter::Speed, Parameter::Paused];

    pub(super) fn name(self) -> &'static str {
        match self {
            Parameter::Brightness => "brightness",
            Parameter::Speed => "speed",
            Parameter::Paused => "paused",
        }
    }

    /// The parameter with this name. A leading slash is accepted, because names of ROS parameters
    /// often have one.
    pub(super) fn by_name(name: &str) -> Result<Parameter, String> {
        let bare = name.strip_prefix('/').unwrap_or(name);
        let found = Parameter::ALL.into_iter().find(|parameter| parameter.name() == bare);
        found.ok_or_else(|| {
            let known = Parameter::ALL.map(Parameter::name).join(", ");
            format!("unknown parameter {}; the parameters are {known}", quoted(name))
        })
    }

    /// The action for which a client needs permission to change the parameter.
    pub(super) fn action(self) -> Action {
        match self {
            Parameter::Brightness => Action::SetBrightness,
            Parameter::Speed | Parameter::Paused => Action::SetClock,
        }
    }

    fn json(self, now: &Published) -> Value {
        match self {
            Parameter::Brightness => json!({"name": self.name(), "value": now.brightness, "type": "float64"}),
            Parameter::Speed => json!({"name": self.name(), "value": now.clock.speed, "type": "float64"}),
            Parameter::Paused => json!({"name": self.name(), "value": now.clock.paused}),
        }
    }

    /// Changes the parameter.
    pub(super) async fn set(self, host: &Host, simulator: &Simulator, value: Value) -> Result<(), String> {
        if value.is_null() {
            return Err(format!("{} can't be removed: send a value", self.name()));
        }
        match self {
            Parameter::Brightness => {
                let (low, high) = (BrightnessRequest::LOW, BrightnessRequest::HIGH);
                let value = value.as_f64().filter(|value| (low..=high).contains(value));
                let value =
                    value.ok_or_else(|| format!("brightness must be a number from {low} to {high}"))?;
                host.keeper.brightness(simulator, value).await.map_err(|error| error.to_string())
            }
            Parameter::Speed | Parameter::Paused => {
                let fields = json!({(self.name()): value}).to_string();
                let fields = Fields::read(fields.as_bytes()).map_err(|invalid| invalid.0)?;
                let request = ClockRequest::parse(&fields).map_err(|invalid| invalid.0)?;
                let set = simulator.clock(request.paused, request.speed).await;
                set.map(drop).map_err(|refused| refused.to_string())
            }
        }
    }
}

/// A set of parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct ParameterSet(u8);

impl ParameterSet {
    pub(super) fn of(parameter: Parameter) -> ParameterSet {
        ParameterSet(1 << parameter as u8)
    }

    /// The parameters with these names, and an error text for each unknown name. No name at all
    /// means all parameters.
    pub(super) fn named(names: &[String]) -> (ParameterSet, Vec<String>) {
        if names.is_empty() {
            return (Parameter::ALL.into_iter().collect(), Vec::new());
        }
        let mut unknown = Vec::new();
        let known = names.iter().filter_map(|name| match Parameter::by_name(name) {
            Ok(parameter) => Some(parameter),
            Err(text) => {
                unknown.push(text);
                None
            }
        });
        (known.collect(), unknown)
    }

    /// The parameters whose values differ between two views.
    pub(super) fn changed(before: &Published, now: &Published) -> ParameterSet {
        let differs = |parameter: &Parameter| match parameter {
            Parameter::Brightness => before.brightness != now.brightness,
            Parameter::Speed => before.clock.speed != now.clock.speed,
            Parameter::Paused => before.clock.paused != now.clock.paused,
        };
        Parameter::ALL.into_iter().filter(differs).collect()
    }

    pub(super) fn is_empty(self) -> bool {
        self == ParameterSet::default()
    }

    /// The message with the values of these parameters. `id` is the id of the client's request.
    pub(super) fn values(self, now: &Published, id: Option<&str>) -> Utf8Bytes {
        let members = Parameter::ALL.into_iter().filter(|one| !(ParameterSet::of(*one) & self).is_empty());
        let values: Vec<Value> = members.map(|parameter| parameter.json(now)).collect();
        let mut message = json!({"op": "parameterValues", "parameters": values});
        if let Some(id) = id {
            message["id"] = id.into();
        }
        text(&message)
    }
}

impl FromIterator<Parameter> for ParameterSet {
    fn from_iter<I: IntoIterator<Item = Parameter>>(parameters: I) -> ParameterSet {
        parameters.into_iter().fold(ParameterSet::default(), |all, one| all | ParameterSet::of(one))
    }
}

impl BitOr for ParameterSet {
    type Output = ParameterSet;

    fn bitor(self, other: ParameterSet) -> ParameterSet {
        ParameterSet(self.0 | other.0)
    }
}

impl BitAnd for ParameterSet {
    type Output = ParameterSet;

    fn bitand(self, other: ParameterSet) -> ParameterSet {
        ParameterSet(self.0 & other.0)
    }
}

impl Sub for ParameterSet {
    type Output = ParameterSet;

    fn sub(self, other: ParameterSet) -> ParameterSet {
        ParameterSet(self.0 & !other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_means_all_parameters() {
        let (all, unknown) = ParameterSet::named(&[]);
        assert_eq!((all, unknown.len()), (Parameter::ALL.into_iter().collect(), 0));
        let names = ["/speed", "paused", "spede"].map(str::to_owned);
        let (some, unknown) = ParameterSet::named(&names);
        assert_eq!(some, ParameterSet::of(Parameter::Speed) | ParameterSet::of(Parameter::Paused));
        assert_eq!(unknown, ["unknown parameter \"spede\"; the parameters are brightness, speed, paused"]);
        assert_eq!(all - some, ParameterSet::of(Parameter::Brightness));
    }
}
