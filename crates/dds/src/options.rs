//! The options of ROS 2: domain and network.

use std::fmt;

/// Which ROS 2 graph the robot joins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RosOptions {
    /// Number of the ROS 2 domain, at most [`RosOptions::LAST_DOMAIN`].
    pub domain: u16,
    /// Network interface, by name or IPv4 address. With `None`, ROS 2 is announced on this machine
    /// only.
    pub network: Option<String>,
}

/// Error: `ROS_DOMAIN_ID` is not a valid domain. The text is the value of this environment
/// variable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("ROS_DOMAIN_ID is {0:?}, but must be a number from 0 to {max}", max = RosOptions::LAST_DOMAIN)]
pub struct BadDomain(pub String);

impl RosOptions {
    /// Largest domain. The port numbers of larger domains would exceed 65535.
    pub const LAST_DOMAIN: u16 = 232;

    /// The domain that the environment variable `ROS_DOMAIN_ID` requests; 0 if the variable is not
    /// set or is empty. `variable` is the value of this variable.
    pub fn domain_from_environment(variable: Option<&str>) -> Result<u16, BadDomain> {
        let Some(text) = variable.map(str::trim).filter(|text| !text.is_empty()) else { return Ok(0) };
        let domain = text.parse().ok().filter(|domain| *domain <= RosOptions::LAST_DOMAIN);
        domain.ok_or_else(|| BadDomain(text.to_owned()))
    }
}

impl fmt::Display for RosOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "domain {}, ", self.domain)?;
        match &self.network {
            Some(network) => write!(f, "on {network}; every machine on that network can drive the car"),
            None => f.write_str("on this machine only"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_domain_of_the_environment_is_checked() {
        assert_eq!(RosOptions::domain_from_environment(None), Ok(0));
        assert_eq!(RosOptions::domain_from_environment(Some("")), Ok(0));
        assert_eq!(RosOptions::domain_from_environment(Some(" 42 ")), Ok(42));
        for bad in ["233", "-1", "many"] {
            let error = RosOptions::domain_from_environment(Some(bad)).expect_err("refused").to_string();
            assert!(error.contains("from 0 to 232"), "{error}");
        }
    }
}
