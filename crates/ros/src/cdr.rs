//! The binary form of messages: CDR, as ROS 2 nodes, recorders and viewers exchange it.
//!
//! A DDS middleware writes the same bytes. Four bytes before the message name the byte order. We
//! write little-endian and read both orders.

use byteorder::{BigEndian, LittleEndian};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The bytes before a little-endian message.
const LITTLE_ENDIAN: [u8; 4] = [0, 1, 0, 0];
/// The bytes before a big-endian message.
const BIG_ENDIAN: [u8; 4] = [0, 0, 0, 0];

/// The reason why bytes are not a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CdrError {
    /// The first four bytes do not name a byte order.
    Header,
    /// The bytes after the header are not a message of the expected type. The text is the reason.
    Content(String),
}

impl std::fmt::Display for CdrError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            CdrError::Header => f.write_str("a message must start with the bytes 0 1 0 0 or 0 0 0 0"),
            CdrError::Content(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for CdrError {}

/// Encodes a message, with the header that names the byte order.
pub fn encode(message: &impl Serialize) -> Vec<u8> {
    let mut bytes = LITTLE_ENDIAN.to_vec();
    // CDR aligns values relative to the end of the header. The writer counts from the first byte
    // that it writes, so it gets the message without the header. Writing can't fail: the output is
    // a vector, and the length of every sequence of our messages is known.
    let written = cdr_encoding::to_writer::<_, LittleEndian, _>(&mut bytes, message);
    debug_assert!(written.is_ok());
    bytes
}

/// Decodes a message. Bytes after the message are ignored, because some writers add padding.
pub fn decode<M: DeserializeOwned>(bytes: &[u8]) -> Result<M, CdrError> {
    let (header, content) = bytes.split_first_chunk::<4>().ok_or(CdrError::Header)?;
    // The last two bytes of the header are options that readers have to ignore.
    let decoded = match [header[0], header[1], 0, 0] {
        LITTLE_ENDIAN => cdr_encoding::from_bytes::<M, LittleEndian>(content),
        BIG_ENDIAN => cdr_encoding::from_bytes::<M, BigEndian>(content),
        _ => return Err(CdrError::Header),
    };
    decoded.map(|(message, _)| message).map_err(|error| CdrError::Content(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::{Float64, Header, Message, Time, Twist, Vector3};

    #[test]
    fn a_message_is_encoded_with_alignment() {
        let header = Header { stamp: Time { sec: 1, nanosec: 2 }, frame_id: "odom".to_owned() };
        let bytes = [&[0, 1, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 5, 0, 0, 0][..], b"odom\0"].concat();
        assert_eq!(encode(&header), bytes);
        // The bytes of the enum `Message` do not contain the name of the variant.
        let number = Float64 { data: 1.5 };
        assert_eq!(encode(&Message::from(number)), [&[0, 1, 0, 0][..], &1.5f64.to_le_bytes()].concat());
    }

    #[test]
    fn a_message_is_decoded_in_both_byte_orders() {
        let linear = Vector3 { x: 0.5, y: 0.0, z: 0.0 };
        let twist = Twist { linear, ..Twist::default() };
        assert_eq!(decode::<Twist>(&encode(&twist)), Ok(twist));
        let big = [&[0, 0, 0, 0][..], &(-2.5f64).to_be_bytes()].concat();
        assert_eq!(decode(&big), Ok(Float64 { data: -2.5 }));
    }

    #[test]
    fn bytes_that_are_no_message_are_refused() {
        let whole = encode(&Twist::default());
        for end in 0..4 {
            assert_eq!(decode::<Twist>(&whole[..end]), Err(CdrError::Header), "{end}");
        }
        for end in 4..whole.len() {
            assert!(matches!(decode::<Twist>(&whole[..end]), Err(CdrError::Content(_))), "{end}");
        }
        assert_eq!(decode::<Float64>(&[0, 3, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]), Err(CdrError::Header));
    }
}
