//! Encodes values as postcard bytes.

/// Appends the postcard encoding of `value` to `bytes`.
pub(crate) fn append(value: &impl serde::Serialize, bytes: Vec<u8>) -> Vec<u8> {
    // Postcard fails only for a sequence of unknown length. The state contains no such sequence.
    postcard::to_extend(value, bytes).expect("every sequence in the state has a known length")
}

/// An object-safe form of `Serialize`, so that the engine can pass its parts as `&dyn Encode`.
pub(crate) trait Encode {
    fn encode(&self) -> Vec<u8>;
}

impl<T: serde::Serialize> Encode for T {
    fn encode(&self) -> Vec<u8> {
        append(self, Vec::new())
    }
}
