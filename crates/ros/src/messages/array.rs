//! Serializes and deserializes covariances. They are arrays of 36 numbers, but serde supports
//! arrays of at most 32 elements.

use serde::de::{Error, SeqAccess, Visitor};
use serde::ser::SerializeTuple;
use serde::{Deserializer, Serializer};

const LENGTH: usize = 36;

pub(super) fn serialize<S: Serializer>(array: &[f64; LENGTH], serializer: S) -> Result<S::Ok, S::Error> {
    let mut tuple = serializer.serialize_tuple(LENGTH)?;
    array.iter().try_for_each(|value| tuple.serialize_element(value))?;
    tuple.end()
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<[f64; LENGTH], D::Error> {
    struct Numbers;

    impl<'de> Visitor<'de> for Numbers {
        type Value = [f64; LENGTH];

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            write!(f, "{LENGTH} numbers")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
            let mut array = [0.0; LENGTH];
            for (i, value) in array.iter_mut().enumerate() {
                *value = seq.next_element()?.ok_or_else(|| A::Error::invalid_length(i, &self))?;
            }
            Ok(array)
        }
    }

    deserializer.deserialize_tuple(LENGTH, Numbers)
}
