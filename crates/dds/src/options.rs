//! Which ROS 2 graph the robot joins.

use std::fmt;

/// Where ROS 2 is spoken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RosOptions {
    /// Domain, up to [`RosOptions::LAST_DOMAIN`].
    pub domain: u16,
    /// Network interface, by name or IPv4 address; this machine alone if omitted.
    pub network: Option<String>,
}

impl RosOptions {
    /// Higher ones have no ports.
    pub const LAST_DOMAIN: u16 = 232;

    /// The domain that the environment of ROS 2 programs says.
    pub fn usual_domain(variable: Option<&str>) -> Result<u16, String> {
        let Some(text) = variable.map(str::trim).filter(|text| !text.is_empty()) else { return Ok(0) };
        let domain = text.parse().ok().filter(|domain| *domain <= RosOptions::LAST_DOMAIN);
        domain.ok_or_else(|| {
            format!("ROS_DOMAIN_ID is {text:?}, but must be a number from 0 to {}", RosOptions::LAST_DOMAIN)
        })
    }
}

impl fmt::Display for RosOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "domain {}, ", self.domain)?;
        match &self.network {
            Some(network) => write!(f, "on {network}, where anyone can drive the car"),
            None => f.write_str("on this machine alone"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_domain_of_the_environment_is_checked() {
        assert_eq!(RosOptions::usual_domain(None), Ok(0));
        assert_eq!(RosOptions::usual_domain(Some("")), Ok(0));
        assert_eq!(RosOptions::usual_domain(Some(" 42 ")), Ok(42));
        for bad in ["233", "-1", "many"] {
            let error = RosOptions::usual_domain(Some(bad)).expect_err("refused");
            assert!(error.contains("from 0 to 232"), "{error}");
        }
    }
}
