//! A map with string keys that keeps its insertion order.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// Key-value pairs, serialized as a JSON object in insertion order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Named<K, T>(pub Vec<(K, T)>);

impl<K: AsRef<str>, T: Serialize> Serialize for Named<K, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name.as_ref(), value)?;
        }
        map.end()
    }
}
