//! The clients of both protocols, and the simulator that they use.

use crate::{foxglove, pump, rosbridge};
use chicane_host::Host;
use std::sync::Arc;

/// The clients of `/rosbridge` and `/foxglove`. Clones refer to the same clients.
#[derive(Clone)]
pub struct Bridge {
    pub(crate) host: Arc<Host>,
    pub(crate) rosbridge: Arc<rosbridge::Hub>,
    pub(crate) foxglove: Arc<foxglove::Hub>,
}

impl Bridge {
    /// A bridge without clients.
    pub fn new(host: Arc<Host>) -> Bridge {
        Bridge { host, rosbridge: Arc::default(), foxglove: Arc::default() }
    }

    /// A bridge to the same simulator, with separate clients.
    pub fn with_own_clients(&self) -> Bridge {
        Bridge::new(Arc::clone(&self.host))
    }

    /// Publishes messages while there are subscribers, until the simulator stops.
    pub async fn pump(self) {
        let Bridge { host, rosbridge, foxglove } = &self;
        tokio::join!(
            pump::pump(host, rosbridge),
            pump::pump(host, foxglove),
            foxglove::watch_view(host, foxglove),
        );
    }
}
